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
from typing import Final

from loopcheck.fake_providers.quirks import responses
from loopcheck.fake_providers.quirks.entry import Entry
from loopcheck.fake_providers.quirks.registry import QUIRKS
from loopcheck.fake_providers.script import Quirk
from loopcheck.fake_providers.wire import Answer, Frame, JsonObject

__all__ = ["QUIRKS", "Entry", "apply", "apply_whole", "says_whole", "wrong_value"]

# Stop reasons that say that the answer is not whole.
_CUT_WORDS: Final = frozenset(
    {"length", "content_filter", "max_tokens", "refusal", "model_context_window_exceeded"}
)


def apply(frames: Sequence[Frame], answer: Answer, quirks: Iterable[Quirk]) -> list[Frame]:
    """The events of a stream with these quirks. The given events are left as they are."""
    dialect = answer.reading.dialect
    changed = [replace(frame, data=deepcopy(frame.data)) for frame in frames]
    for quirk in quirks:
        function = QUIRKS[quirk.name].frames.get(dialect)
        if function is not None:
            changed = function(changed, answer, quirk.value)
    return responses.renumbered(changed) if dialect == "responses" else changed


def apply_whole(body: JsonObject, answer: Answer, quirks: Iterable[Quirk]) -> JsonObject:
    """The body of a whole response with those of these quirks that make sense there."""
    changed = deepcopy(body)
    for quirk in quirks:
        function = QUIRKS[quirk.name].bodies.get(answer.reading.dialect)
        if function is not None:
            function(changed, answer, quirk.value)
    return changed


def says_whole(quirks: Iterable[Quirk], *, otherwise: bool) -> bool:
    """Whether the stop reason that is sent says that the answer is whole."""
    words = [quirk.value for quirk in quirks if quirk.name == "finish"]
    return words[-1] not in _CUT_WORDS if words else otherwise


def wrong_value(quirk: Quirk) -> str | None:
    """Why this quirk of the registry cannot take its value; None where it can."""
    entry = QUIRKS[quirk.name]
    if entry.accepts(quirk.value):
        return None
    given = "no value" if quirk.value is True else repr(quirk.value)
    return f"the quirk {quirk.name!r} takes {entry.takes}; not {given}"
