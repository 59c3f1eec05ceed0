"""The page about quirks, made from their registry: `python -m` this module prints it."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.quirks.entry import Entry
from loopcheck.fake_providers.quirks.registry import QUIRKS
from loopcheck.fake_providers.script import DIALECTS, MODES

_HEAD: Final = """\
# Quirks

A quirk is something odd that gateways and local servers were seen to send, while the model meant
nothing odd. A scenario names them for the whole file, for a turn or for an attempt; they are
applied in the order written:

```yaml
quirks: [args-in-head, {index: 0}]
```

They can be written by dialect:

```yaml
quirks: {chat: [{index: absent}], responses: [{drop: args-delta}]}
```

A quirk stands alone, or with one value. What a call proposed stays what the scenario says; no quirk
loses a part of it. A response with a quirk is *odd*: what it asks of a loop is mostly *should*.

The linter refuses a quirk that does nothing in one of the file's dialects and modes.
"""


def document() -> str:
    """The whole page."""
    rows = [_row(entry) for entry in QUIRKS.values()]
    table = ["| quirk | where | takes | what it does | grounds |", "|---|---|---|---|---|", *rows]
    return "\n".join([_HEAD, *table, ""])


def _row(entry: Entry) -> str:
    grounds = ", ".join(entry.grounds)
    name, takes = f"`{entry.name}`", entry.takes.replace("|", "\\|")
    return f"| {name} | {_places(entry)} | {takes} | {entry.sentence} | {grounds} |"


def _places(entry: Entry) -> str:
    """The dialects, with the mode where it is not both."""
    places = []
    for dialect in DIALECTS:
        strikes = {"stream": dialect in entry.frames, "whole": dialect in entry.bodies}
        modes = [mode for mode in MODES if strikes[mode]]
        if modes:
            places.append(dialect if len(modes) == len(MODES) else f"{dialect} ({modes[0]})")
    return ", ".join(places)


if __name__ == "__main__":
    print(document(), end="")
