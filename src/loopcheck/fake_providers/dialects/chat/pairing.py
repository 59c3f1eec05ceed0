"""Rules about calls and the tool messages that answer them.

Path style of these checks: `messages.[0].role`, with a dot that newer checks do not have.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.dialects.openai_rules import Asked, listed
from loopcheck.fake_providers.wire import JsonObject, ServiceError


def calls_unanswered(asked: Asked) -> Iterator[ServiceError]:
    """Calls without a tool message right behind them."""
    history = asked.history
    for position, message in enumerate(history):
        behind = position + 1
        open_ids = [name for name in _call_ids(message) if name not in asked.memory.repeated]
        while behind < len(history) and history[behind].get("role") == "tool":
            answered = history[behind].get("tool_call_id")
            open_ids = [name for name in open_ids if name != answered]
            behind += 1
        if open_ids:
            yield invalid(
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each 'tool_call_id'. The following tool_call_ids did not have "
                f"response messages: {', '.join(open_ids)}",
                param=f"messages.[{behind}].role",
            )


def result_without_calls(asked: Asked) -> Iterator[ServiceError]:
    """Tool messages that follow no call."""
    for position, _, open_ids in _results(asked):
        if not open_ids:
            yield invalid(
                "Invalid parameter: messages with role 'tool' must be a response to a "
                "preceeding message with 'tool_calls'.",
                param=f"messages.[{position}].role",
            )


def result_of_no_call(asked: Asked) -> Iterator[ServiceError]:
    """Tool messages whose id none of the calls before them has."""
    for position, message, open_ids in _results(asked):
        named = message.get("tool_call_id")
        known = {*open_ids, *asked.memory.repeated}
        if isinstance(named, str) and open_ids and named not in known:
            yield invalid(
                f"Invalid parameter: 'tool_call_id' of '{named}' not found in 'tool_calls' "
                "of previous message.",
                param=f"messages.[{position}].tool_call_id",
            )


def result_without_id(asked: Asked) -> Iterator[ServiceError]:
    """Tool messages without an id."""
    for position, message, _ in _results(asked):
        if not isinstance(message.get("tool_call_id"), str):
            yield invalid(
                "Missing parameter 'tool_call_id': messages with role 'tool' must have a "
                "'tool_call_id'.",
                param=f"messages.[{position}].tool_call_id",
            )


def second_result(asked: Asked) -> Iterator[ServiceError]:
    """Tool messages for a call that has one already."""
    answered: set[str] = set()
    for position, message in enumerate(asked.history):
        if message.get("role") != "tool":
            answered = set()
            continue
        named = str(message.get("tool_call_id"))
        if named in answered and named not in asked.memory.repeated:
            yield invalid(f"Duplicate value for 'tool_call_id' of {named} in message[{position}]")
        answered.add(named)


def _call_ids(message: JsonObject) -> list[str]:
    if message.get("role") != "assistant":
        return []
    return [str(call.get("id")) for call in listed(message.get("tool_calls"))]


def _results(asked: Asked) -> Iterator[tuple[int, JsonObject, list[str]]]:
    """Each tool message with its index and the ids that it may answer."""
    open_ids: list[str] = []
    for position, message in enumerate(asked.history):
        if message.get("role") == "tool":
            yield position, message, open_ids
        else:
            open_ids = _call_ids(message)
