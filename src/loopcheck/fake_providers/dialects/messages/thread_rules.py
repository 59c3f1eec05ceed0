"""Rules about message threads. Clients act on the error codes, so each has its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.messages import state
from loopcheck.fake_providers.dialects.messages.errors import thread_error
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_UNSUPPORTED: Final = "thread_unsupported_request"
_FEATURES: Final = ("context_management", "fallbacks")
_MOST_CACHE_CONTROLS: Final = 3
_CACHED: Final = "cache_control"


def _not_held(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    if body.get("thread") is None:
        return None
    message = "threads are not available to this organization"
    return thread_error(_UNSUPPORTED, message, unsupported=["hipaa"])


def _unsupported(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    names = [name for name in _FEATURES if body.get(name) is not None]
    if body.get("thread") is None or not names:
        return None
    message = f"{', '.join(names)} cannot be used when thread is set"
    return thread_error(_UNSUPPORTED, message, unsupported=names)


def _cache_controls(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    parts = [body.get(name) for name in ("messages", "system", "tools")]
    if body.get("thread") is None or _controls(parts) <= _MOST_CACHE_CONTROLS:
        return None
    message = (
        f"a maximum of {_MOST_CACHE_CONTROLS} blocks with cache_control may be provided when "
        "thread is set"
    )
    return thread_error(_UNSUPPORTED, message, unsupported=[_CACHED])


def _not_found(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    previous = state.previous_id(body)
    if previous is None or previous in memory.conversations:
        return None
    message = f"no thread was found for previous_message_id {previous}"
    return thread_error("thread_not_found", message, status=404)


def _continued(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    previous = state.previous_id(body)
    if previous is None or not state.is_continued(previous, memory):
        return None
    message = f"the response {previous} has already been continued"
    return thread_error("thread_already_continued", message)


def _changed(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    previous = state.previous_id(body)
    if previous is None or previous not in memory.conversations:
        return None
    kept = memory.settings.get(previous, {})
    for name in state.THREAD_SETTINGS:
        sent = body.get(name)
        if sent is not None and _uncached(sent) != _uncached(kept.get(name)):
            message = f"`{name}` differs from the value stored with the thread"
            return thread_error("thread_fingerprint_mismatch", message)
    return None


def _controls(value: object) -> int:
    if isinstance(value, list):
        return sum(_controls(entry) for entry in value)
    if not isinstance(value, dict):
        return 0
    return (value.get(_CACHED) is not None) + _controls(value.get("content"))


def _uncached(value: object) -> object:
    """The same without its marks for caching, which may move from turn to turn."""
    if isinstance(value, list):
        return [_uncached(entry) for entry in value]
    if isinstance(value, dict):
        return {key: entry for key, entry in value.items() if key != _CACHED}
    return value


RULES: Final = (
    Rule(
        id="M38-organization",
        grade="unsure",
        summary="the organization has no threads at all",
        check=_not_held,
    ),
    Rule(
        id="M38-unsupported",
        grade="D",
        summary="no context_management and no fallbacks in a thread",
        check=_unsupported,
    ),
    Rule(
        id="M39",
        grade="S",
        summary="at most 3 blocks with cache_control in a thread",
        check=_cache_controls,
    ),
    Rule(
        id="M38-not-found",
        grade="S",
        summary="the response that is continued is held in a thread",
        check=_not_found,
    ),
    Rule(
        id="M38-continued",
        grade="S",
        summary="a response is continued only once",
        check=_continued,
    ),
    Rule(
        id="M38-fingerprint",
        grade="S",
        summary="system and tools stay the same in a thread",
        check=_changed,
    ),
)
