"""What goes wrong with responses: faults at places, and quirks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from loopcheck.fake_providers.quirks.registry import QUIRKS
from loopcheck.fake_providers.script import DialectName, ErrorName, Mode
from loopcheck.harness.strategies.features import Feature

Document = dict[str, object]

_ERRORS: Final[tuple[ErrorName, ...]] = (
    "server",
    "overloaded",
    "rate_limit",
    "unavailable",
    "timeout",
    "conflict",
    "invalid",
    "auth",
    "quota",
)
_FORMS: Final[dict[DialectName, tuple[str, ...]]] = {
    "chat": ("error", "with-choices", "finish"),
    "responses": ("failed", "error"),
    "messages": ("error",),
}
# A value or two for each quirk that takes one; the others stand alone.
_VALUES: Final[dict[str, tuple[object, ...]]] = {
    "index": ("absent", None, 0, {"from": 1}, "growing", "mixed"),
    "continuation": (
        {"id": ""},
        {"id": "same"},
        {"name": ""},
        {"type": "function"},
    ),
    "late-id": (2,),
    "batch-deltas": (2, [1, 2]),
    "split-name": (2, 3),
    "drop": ("item-added", "args-delta", "args-done", "item-done", "final-output"),
    "item-id": (None, "absent", "call-id"),
    "repeat-item": (True, "empty"),
    "item-status": ("in_progress", "incomplete"),
    "arguments": ("object", None, "absent", "empty"),
    "finish": ("stop", "end_turn", "other", None, "none"),
    "filter-frames": ("first", "between", "after"),
}
# Which frames there are does not depend on what the response says.
_FIRST_FRAMES: Final = 2


@dataclass(frozen=True, slots=True)
class Where:
    """The kind of response that something goes wrong with. Of an odd one only the first frames
    are sure to be there."""

    dialect: DialectName
    mode: Mode
    features: Collection[Feature]
    odd: bool

    def fault(self, draw: DrawFn, calls: Sequence[tuple[str, str]]) -> Document:
        """An attempt that fails. `calls` are label and argument text of each call of its
        response."""
        kind = draw(st.sampled_from(_kinds(self.mode, self.features)))
        attempt: Document = {"fault": kind}
        if kind in ("http", "error-event", "error-body"):
            error = draw(st.sampled_from(_ERRORS))
            if error != "server":
                attempt["error"] = error
        if kind == "http":
            attempt["retry_after"] = "1 ms"
        if kind == "error-event":
            form = draw(st.sampled_from([None, *_FORMS[self.dialect]]))
            attempt |= {} if form is None else {"form": form}
        if kind == "headers-only" and draw(st.booleans()):
            attempt["then"] = "reset"
        if kind in ("eof", "half-chunk", "reset", "stall", "error-event"):
            attempt["at"] = draw(self._places(calls, with_end=kind != "eof"))
        return attempt

    def _places(
        self, calls: Sequence[tuple[str, str]], *, with_end: bool
    ) -> SearchStrategy[object]:
        edges: list[object] = ["start", "end"] if with_end else ["start"]
        if self.mode == "whole":
            return st.one_of(st.sampled_from(edges), st.integers(1, 60).map(_bytes))
        frames = st.integers(1, _FIRST_FRAMES).map(lambda n: {"frame": n})
        if self.odd:
            return st.one_of(st.sampled_from(edges), frames)
        fixed = st.sampled_from([{"frame": "finish"}, {"frame": "terminal"}, *edges])
        inside = [place for label, text in calls for place in _inside(label, text)]
        return st.one_of(fixed, frames, *inside)


def _bytes(size: int) -> Document:
    return {"bytes": size}


def _kinds(mode: Mode, features: Collection[Feature]) -> list[str]:
    kinds = ["http", "close", "headers-only", "empty", "error-body", "eof", "half-chunk", "reset"]
    if mode == "stream":
        kinds.append("error-event")
    if "stalls" in features:
        kinds.append("stall")
    return kinds


def _inside(label: str, text: str) -> list[SearchStrategy[object]]:
    around = st.sampled_from([{"before": label}, {"after": label}])
    size = len(text.encode())
    return [around, st.integers(1, size).map(lambda n: {"in": label, "bytes": n})]


def quirks(dialect: DialectName, mode: Mode, *, with_calls: bool) -> SearchStrategy[list[object]]:
    """One or two quirks that do something in this dialect and mode."""
    known = [
        name if value is True else {name: value}
        for name, entry in QUIRKS.items()
        if with_calls or not entry.of_calls
        for value in _VALUES.get(name, (True,))
        if entry.strikes(dialect, mode, value)
    ]
    if not known:
        return st.just([])
    return st.lists(st.sampled_from(known), min_size=1, max_size=2, unique_by=_name)


def _name(quirk: object) -> str:
    return quirk if isinstance(quirk, str) else next(iter(_keys(quirk)))


def _keys(quirk: object) -> list[str]:
    return list(quirk) if isinstance(quirk, dict) else []
