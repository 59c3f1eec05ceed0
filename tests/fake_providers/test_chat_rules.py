"""The chat service's rules about histories: a request that breaks each, and one that does not."""

from __future__ import annotations

import pytest
from openai_answers import judged, refusal

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.chat import DIALECT
from loopcheck.fake_providers.wire import JsonObject, ServiceError

USER: JsonObject = {"role": "user", "content": "Go."}


def asked(*ids: str) -> JsonObject:
    calls = [
        {"id": name, "type": "function", "function": {"name": "book", "arguments": "{}"}}
        for name in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(call_id: str | None) -> JsonObject:
    message: JsonObject = {"role": "tool", "content": "done"}
    return message if call_id is None else {**message, "tool_call_id": call_id}


def body(*messages: JsonObject) -> JsonObject:
    return {"model": "gpt-4.1", "messages": list(messages)}


def error(rule: str, message: str, param: str, code: str | None = None) -> ServiceError:
    return ServiceError(
        status=400,
        type="invalid_request_error",
        message=message,
        param=param,
        code=code,
        rule=rule,
    )


def unanswered(ids: str, gap: int) -> ServiceError:
    return error(
        "C1",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: " + ids,
        f"messages.[{gap}].role",
    )


def orphan(position: int) -> ServiceError:
    return error(
        "C2",
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
        "message with 'tool_calls'.",
        f"messages.[{position}].role",
    )


def stranger(call_id: str, position: int) -> ServiceError:
    return error(
        "C3",
        f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous "
        "message.",
        f"messages.[{position}].tool_call_id",
    )


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((USER, asked("a", "b"), USER), unanswered("a, b", 2)),
        ((USER, asked("a", "b"), told("b"), USER), unanswered("a", 3)),
        ((USER, asked("a", "b"), told("b")), unanswered("a", 3)),
        ((USER, asked("a"), USER, told("a")), orphan(3)),
        ((USER, asked("a"), asked("b"), told("b")), unanswered("a", 2)),
        ((USER, told("a")), orphan(1)),
        ((USER, {"role": "assistant", "content": "Hi"}, told("a")), orphan(2)),
        ((USER, asked("a"), told("a"), USER, told("a")), orphan(4)),
        ((USER, asked("a"), told("x")), stranger("x", 2)),
        ((USER, asked("a"), told("a"), asked("b"), told("a")), stranger("a", 4)),
        (
            (USER, asked("a"), told(None)),
            error(
                "C4",
                "Missing parameter 'tool_call_id': messages with role 'tool' must have a "
                "'tool_call_id'.",
                "messages.[2].tool_call_id",
            ),
        ),
        (
            (),
            error(
                "C7",
                "Invalid 'messages': empty array. Expected an array with minimum length 1, but "
                "got an empty array instead.",
                "messages",
                "empty_array",
            ),
        ),
    ],
)
def test_what_the_service_refuses(messages: tuple[JsonObject, ...], expected: ServiceError) -> None:
    assert refusal("chat", body(*messages)) == expected


@pytest.mark.parametrize(
    "messages",
    [
        (USER, asked("a", "b"), told("a"), told("b")),
        (USER, asked("a", "b"), told("b"), told("a"), USER),
        (USER, asked("a"), told("a"), asked("b"), told("b"), asked("a"), told("a")),
        (USER, asked(""), told("")),
        # Two results for one call are another rule's business.
        (USER, asked("a"), told("a"), told("a")),
        ({"role": "assistant", "content": "Hi", "tool_calls": None}, USER),
    ],
)
def test_what_the_service_accepts(messages: tuple[JsonObject, ...]) -> None:
    assert judged("chat", body(*messages)).history == list(messages)


def test_ids_that_the_service_repeated_are_not_held_against_the_client() -> None:
    memory = Memory(repeated={"a"})
    judged("chat", body(USER, asked("a", "a"), told("a")), memory)
    judged("chat", body(USER, asked("a", "b"), told("b"), USER), memory)
    judged("chat", body(USER, asked("b"), told("b"), told("a")), memory)
    assert refusal("chat", body(USER, asked("a", "b"), told("a")), memory) == unanswered("b", 3)


def test_grades() -> None:
    assert {rule.id: rule.grade for rule in DIALECT.rules} == {
        "C1": "I",
        "C2": "I",
        "C3": "I",
        "C4": "S",
        "C7": "S",
    }
