"""A run as a JSON object, and back: what a store keeps of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import ProposedCall
from loopcheck.reference_loop.machine import TABLE, Run
from loopcheck.reference_loop.store.interface import StoreError

# What a user sets is not kept: a resumed run goes by the limits of the loop that resumes it.
_COUNTS: Final = ("rounds", "tool_calls", "failures", "retried", "tokens", "context")
_TEXTS: Final = ("phase", "reason", "text")
_MEASURES: Final = ("cost", "elapsed")
_CALL_FIELDS: Final = ("call_id", "name", "arguments_text")


def dump(run: Run, calls: tuple[ProposedCall, ...] | None) -> JsonObject:
    """The run, with the calls of a response that have no results in the conversation yet."""
    state: JsonObject = {name: getattr(run, name) for name in _TEXTS + _COUNTS + _MEASURES}
    state["invalid"] = dict(run.invalid)
    state["recent"] = list(run.recent)
    state["calls"] = None if calls is None else [_call(call) for call in calls]
    return state


def load(state: Mapping[str, object], settings: Run) -> tuple[Run, tuple[ProposedCall, ...] | None]:
    """The run, under the limits of `settings`, and its open calls. Raises StoreError."""
    kept: dict[str, Any] = {name: _read(state, name, str) for name in _TEXTS}
    kept |= {name: _read(state, name, int) for name in _COUNTS}
    kept |= {name: _read(state, name, (int, float)) for name in _MEASURES}
    if kept["phase"] not in TABLE:
        raise StoreError(f"the stored run is in an unknown phase, {kept['phase']!r}")
    invalid: dict[str, int] = _read(state, "invalid", dict)
    recent: list[str] = _read(state, "recent", list)
    run = replace(settings, invalid=tuple(invalid.items()), recent=tuple(recent), **kept)
    if state.get("calls") is None:
        return run, None
    return run, tuple(_proposed(call) for call in _read(state, "calls", list))


def _call(call: ProposedCall) -> JsonObject:
    return {name: getattr(call, name) for name in _CALL_FIELDS}


def _proposed(value: object) -> ProposedCall:
    if not isinstance(value, dict):
        raise StoreError("the stored run has a call that is no JSON object")
    return ProposedCall(**{name: _read(value, name, str) for name in _CALL_FIELDS})


# Any: each caller says which type it wants, and gets that or an error.
def _read(state: Mapping[str, object], name: str, wanted: type | tuple[type, ...]) -> Any:
    value = state.get(name)
    if not isinstance(value, wanted):
        raise StoreError(f"the stored run has no proper {name!r}: {value!r}")
    return value
