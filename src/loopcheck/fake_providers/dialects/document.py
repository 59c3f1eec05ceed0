"""The page about request rules, made from the dialects: `python -m` this module prints it."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.dialects.interface import Rule
from loopcheck.fake_providers.script import DIALECTS, DialectName

_TITLES: Final[dict[DialectName, str]] = {
    "responses": "Responses",
    "chat": "Chat Completions",
    "messages": "Messages",
}
_HEAD: Final = """\
# Request rules

The rules by which the fake refuses requests, in the order in which they are applied; the first one
that is broken is told, in the words of the service. A scenario switches them by their names,
`rules: {on: [R34], off: [C1]}`; `loopcheck run --lenient C1` and `loopcheck serve --lenient C1`
leave them out.

`evidence` is R for a recorded body, I for the exact text in public issues, S for the exact text in
public code, D for documentation, or unsure. Rules of D and unsure are off unless a scenario turns
them on. A loop that breaks a rule of R or I breaks a *must*, one of the others a *should*
([Checks](checks.md), `history.valid`).
"""


def document() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(_section(name) for name in DIALECTS)])


def _section(name: DialectName) -> str:
    rows = [_row(rule) for rule in dialect(name).rules]
    return "\n".join(
        [f"## {_TITLES[name]}\n", "| rule | says | evidence |", "|---|---|---|", *rows, ""]
    )


def _row(rule: Rule) -> str:
    return f"| `{rule.id}` | {rule.summary} | {rule.grade} |"


if __name__ == "__main__":
    print(document(), end="")
