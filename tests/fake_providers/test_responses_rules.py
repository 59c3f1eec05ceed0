"""The Responses service's rules: a request that breaks each, and one that does not."""

from __future__ import annotations

import pytest
from openai_answers import call, judged, read, refusal, reply

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.responses import DIALECT
from loopcheck.fake_providers.script import Say
from loopcheck.fake_providers.wire import JsonObject, ServiceError

USER: JsonObject = {"role": "user", "content": "Go."}
BOOK = call("responses", "book", "book", "{}")


def asked(call_id: str) -> JsonObject:
    return {"type": "function_call", "call_id": call_id, "name": "book", "arguments": "{}"}


def told(call_id: str) -> JsonObject:
    return {"type": "function_call_output", "call_id": call_id, "output": "done"}


def body(*items: JsonObject, **more: object) -> JsonObject:
    return {"model": "gpt-4.1", "input": list(items), **more}


def error(rule: str, message: str, param: str = "input", code: str | None = None) -> ServiceError:
    return ServiceError(
        status=400,
        type="invalid_request_error",
        message=message,
        param=param,
        code=code,
        rule=rule,
    )


def unanswered(call_id: str) -> ServiceError:
    return error("R1", f"No tool output found for function call {call_id}.")


def orphan(call_id: str) -> ServiceError:
    return error("R2", f"No tool call found for function call output with call_id {call_id}.")


def missing(param: str) -> ServiceError:
    return error(
        "R13", f"Missing required parameter: '{param}'.", param, "missing_required_parameter"
    )


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((USER, asked("a")), unanswered("a")),
        ((USER, asked("a"), asked("b"), told("a")), unanswered("b")),
        ((USER, asked("a"), {**told("x"), "type": "custom_tool_call_output"}), unanswered("a")),
        ((USER, told("a")), orphan("a")),
        ((USER, asked("a"), told("a"), told("x")), orphan("x")),
        ((USER, told("a"), asked("a")), orphan("a")),
        (({"type": "function_call", "call_id": "a", "name": "f"},), missing("input[0].arguments")),
        ((USER, {"type": "function_call_output", "output": ""}), missing("input[1].call_id")),
        (({"content": "Go."},), missing("input[0].role")),
        (({"role": "user"},), missing("input[0].content")),
        (({"type": "item_reference"},), missing("input[0].id")),
        (
            (USER, {"role": "tool", "tool_call_id": "a", "content": "done"}),
            error(
                "R19",
                "Invalid value: 'tool'. Supported values are: 'assistant', 'system', "
                "'developer', and 'user'.",
                "input[1]",
                "invalid_value",
            ),
        ),
    ],
)
def test_what_the_service_refuses(items: tuple[JsonObject, ...], expected: ServiceError) -> None:
    assert refusal("responses", body(*items)) == expected


@pytest.mark.parametrize(
    "items",
    [
        (USER, asked("a"), asked("b"), told("b"), told("a")),
        (USER, asked("a"), USER, told("a")),
        (USER, asked("a"), told("a"), asked("a"), told("a")),
        (USER, {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "ls"}),
        (USER, {"type": "web_search_call", "id": "ws_1"}),
    ],
)
def test_what_the_service_accepts(items: tuple[JsonObject, ...]) -> None:
    assert judged("responses", body(*items)).history == list(items)


def test_ids_that_the_service_repeated_are_not_held_against_the_client() -> None:
    memory = Memory(repeated={"a"})
    judged("responses", body(USER, asked("a")), memory)
    judged("responses", body(USER, told("a")), memory)
    assert refusal("responses", body(USER, asked("b")), memory) == unanswered("b")


class TestStoredResponses:
    def test_its_calls_are_answered_in_the_next_request(self) -> None:
        memory = Memory()
        answer = reply("responses", [BOOK], "calls")
        DIALECT.remember(answer, memory)
        behind = {"previous_response_id": answer.response_id}
        judged("responses", body(told(BOOK.call_id), **behind), memory)
        assert refusal("responses", body(USER, **behind), memory) == unanswered(BOOK.call_id)
        assert refusal("responses", body(told("x"), **behind), memory) == orphan("x")

    def test_an_unknown_one(self) -> None:
        assert refusal("responses", body(USER, previous_response_id="resp_x")) == error(
            "R9",
            "Previous response with id 'resp_x' not found.",
            "previous_response_id",
            "previous_response_not_found",
        )

    def test_one_that_was_not_stored(self) -> None:
        memory = Memory()
        answer = reply("responses", [Say("Hi")], store=False)
        DIALECT.remember(answer, memory)
        assert memory == Memory()
        again = body(USER, previous_response_id=answer.response_id)
        assert refusal("responses", again, memory).rule == "R9"

    def test_a_reference_to_an_item_that_is_not_stored(self) -> None:
        assert refusal("responses", body({"id": "fc_x"})) == ServiceError(
            status=404,
            type="invalid_request_error",
            message="Item with id 'fc_x' not found. Items are not persisted when `store` is set "
            "to false. Try again with `store` set to true, or remove this item from your input.",
            param="input",
            rule="R11",
        )

    def test_a_reference_counts_as_the_item(self) -> None:
        memory = Memory()
        DIALECT.remember(reply("responses", [BOOK], "calls"), memory)
        named: JsonObject = {"type": "item_reference", "id": BOOK.item_id}
        judged("responses", body(USER, named, told(BOOK.call_id)), memory)
        assert refusal("responses", body(USER, named), memory) == unanswered(BOOK.call_id)


def test_a_broken_rule_is_found_whatever_was_read_before() -> None:
    reading = read("responses", body(USER, asked("a")))
    broken = [rule.check(reading.history, reading.body, Memory()) for rule in DIALECT.rules]
    assert [found.rule for found in broken if found] == ["R1"]


def test_grades() -> None:
    assert {rule.id: rule.grade for rule in DIALECT.rules} == {
        "R1": "I",
        "R2": "R",
        "R9": "I",
        "R11": "I",
        "R13": "R",
        "R19": "S",
    }
