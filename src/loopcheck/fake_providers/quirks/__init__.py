"""What gateways and local servers were seen to send: named deviations from a dialect.

A quirk is a function from events to events. Those of a response are applied in the order in
which they were written, after the dialect has rendered the events and before they become bytes.
A response with a quirk is odd: what it asks of a loop is said by its scenario, mostly as should.

No quirk changes what the model meant. Where one moves the text of arguments from one event to
another, the events' own record of it (`Frame.text`) moves along; what comes twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from loopcheck.fake_providers.quirks import responses
from loopcheck.fake_providers.quirks.entry import Entry
from loopcheck.fake_providers.quirks.registry import QUIRKS
from loopcheck.fake_providers.script import Quirk
from loopcheck.fake_providers.wire import Answer, Frame, JsonObject

__all__ = ["QUIRKS", "Entry", "apply", "apply_whole", "told_end", "wrong_value"]

Told: TypeAlias = Literal["well", "marked", "unmarked"]

# Stop reasons that say that the answer is not whole.
_CUT_WORDS: Final = frozenset(
    {"length", "content_filter", "max_tokens", "refusal", "model_context_window_exceeded"}
)


def apply(frames: Sequence[Frame], answer: Answer, quirks: Sequence[Quirk]) -> list[Frame]:
    """The events of a stream with these quirks. The given events are left as they are."""
    if not quirks:
        return list(frames)
    dialect = answer.reading.dialect
    changed = [replace(frame, data=deepcopy(frame.data)) for frame in frames]
    for quirk in quirks:
        function = QUIRKS[quirk.name].frames.get(dialect)
        if function is not None:
            changed = function(changed, answer, quirk.value)
    return responses.renumbered(changed) if dialect == "responses" else changed


def apply_whole(body: JsonObject, answer: Answer, quirks: Sequence[Quirk]) -> JsonObject:
    """The body of a whole response with those of these quirks that make sense there."""
    if not quirks:
        return body
    changed = deepcopy(body)
    for quirk in quirks:
        function = QUIRKS[quirk.name].bodies.get(answer.reading.dialect)
        if function is not None:
            function(changed, answer, quirk.value)
    return changed


def told_end(quirks: Iterable[Quirk], *, otherwise: Told) -> Told:
    """What the stop reason that is sent says of the answer: that it is whole (`well`), that it
    is not (`marked`), or nothing, where none is sent."""
    words = [quirk.value for quirk in quirks if quirk.name == "finish"]
    if not words:
        return otherwise
    if words[-1] in (None, "none"):
        return "unmarked"
    return "marked" if words[-1] in _CUT_WORDS else "well"


def wrong_value(quirk: Quirk) -> str | None:
    """Why this quirk of the registry cannot take its value; None where it can."""
    entry = QUIRKS[quirk.name]
    if entry.accepts(quirk.value):
        return None
    given = "no value" if quirk.value is True else repr(quirk.value)
    return f"the quirk {quirk.name!r} takes {entry.takes}; not {given}"
