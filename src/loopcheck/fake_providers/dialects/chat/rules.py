"""Rules of the service about chat histories, one entry each.

Path style of these checks: `messages.[0].role`, with a dot that newer checks do not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.wire import JsonObject, ServiceError


def _call_ids(message: JsonObject) -> list[str]:
    calls = message.get("tool_calls") if message.get("role") == "assistant" else None
    entries = calls if isinstance(calls, list) else []
    return [str(call["id"]) for call in entries if isinstance(call, dict)]


def _results(history: Sequence[JsonObject]) -> Iterator[tuple[int, JsonObject, list[str]]]:
    """Each tool message with its index and the ids that it may answer."""
    asked: list[str] = []
    for position, message in enumerate(history):
        if message.get("role") == "tool":
            yield position, message, asked
        else:
            asked = _call_ids(message)


def _calls_unanswered(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for position, message in enumerate(history):
        behind = position + 1
        open_ids = [name for name in _call_ids(message) if name not in memory.repeated]
        while behind < len(history) and history[behind].get("role") == "tool":
            answered = history[behind].get("tool_call_id")
            open_ids = [name for name in open_ids if name != answered]
            behind += 1
        if open_ids:
            return invalid(
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each 'tool_call_id'. The following tool_call_ids did not have "
                f"response messages: {', '.join(open_ids)}",
                param=f"messages.[{behind}].role",
                rule="C1",
            )
    return None


def _result_without_calls(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for position, _, asked in _results(history):
        if not asked:
            return invalid(
                "Invalid parameter: messages with role 'tool' must be a response to a "
                "preceeding message with 'tool_calls'.",
                param=f"messages.[{position}].role",
                rule="C2",
            )
    return None


def _result_of_no_call(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for position, message, asked in _results(history):
        named = message.get("tool_call_id")
        if isinstance(named, str) and asked and named not in {*asked, *memory.repeated}:
            return invalid(
                f"Invalid parameter: 'tool_call_id' of '{named}' not found in 'tool_calls' "
                "of previous message.",
                param=f"messages.[{position}].tool_call_id",
                rule="C3",
            )
    return None


def _result_without_id(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for position, message, _ in _results(history):
        if not isinstance(message.get("tool_call_id"), str):
            return invalid(
                "Missing parameter 'tool_call_id': messages with role 'tool' must have a "
                "'tool_call_id'.",
                param=f"messages.[{position}].tool_call_id",
                rule="C4",
            )
    return None


def _no_messages(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    if history:
        return None
    return invalid(
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        param="messages",
        code="empty_array",
        rule="C7",
    )


# Rules that a request is held to before it can be read.
FORM: tuple[Rule, ...] = (
    Rule(id="C7", grade="S", summary="messages are not empty", check=_no_messages),
)
# In the order in which the service is thought to look.
RULES: tuple[Rule, ...] = (
    *FORM,
    Rule(
        id="C4",
        grade="S",
        summary="a tool message has a tool_call_id",
        check=_result_without_id,
    ),
    Rule(
        id="C2",
        grade="I",
        summary="tool messages follow an assistant message with tool_calls",
        check=_result_without_calls,
    ),
    Rule(
        id="C3",
        grade="I",
        summary="a tool message answers a call of the message before it",
        check=_result_of_no_call,
    ),
    Rule(
        id="C1",
        grade="I",
        summary="every tool call is answered by the tool messages that directly follow it",
        check=_calls_unanswered,
    ),
)
