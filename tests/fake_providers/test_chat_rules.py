"""The chat service's rules: for each a request that breaks it, and one that just does not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from bound_cases import METADATA, bound
from openai_answers import call, error, judged, question, refusal, refused_by, reply

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.chat import DIALECT
from loopcheck.fake_providers.wire import JsonObject, ServiceError

USER: JsonObject = {"role": "user", "content": "Go."}
OPEN: JsonObject = {"type": "object", "properties": {"seat": {"type": "integer"}}}
CLOSED: JsonObject = {**OPEN, "required": ["seat"], "additionalProperties": False}


def asked(*ids: str, name: str = "book") -> JsonObject:
    calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for call_id in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(call_id: str | None, content: object = "done") -> JsonObject:
    message: JsonObject = {"role": "tool", "content": content}
    return message if call_id is None else {**message, "tool_call_id": call_id}


def body(*messages: JsonObject, **more: object) -> JsonObject:
    return {"model": "gpt-4.1", "messages": list(messages), **more}


def tool(name: str = "book", parameters: object = None, **more: object) -> JsonObject:
    function = {"name": name, **({} if parameters is None else {"parameters": parameters}), **more}
    return {"type": "function", "function": function}


def with_tools(*tools: JsonObject, **more: object) -> JsonObject:
    return question("chat", tools=list(tools), **more)


def nested(inner: JsonObject) -> JsonObject:
    """A strict tool whose only argument is of this type."""
    schema = {
        "type": "object",
        "properties": {"seat": inner},
        "required": ["seat"],
        "additionalProperties": False,
    }
    return with_tools(tool(parameters=schema, strict=True))


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


def empty(rule: str, path: str) -> ServiceError:
    return error(
        rule,
        f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        path,
        "empty_array",
    )


def too_long(rule: str, path: str, limit: int) -> ServiceError:
    return error(
        rule,
        f"Invalid '{path}': string too long. Expected a string with maximum length {limit}, but "
        f"got a string with length {limit + 1} instead.",
        path,
        "string_above_max_length",
    )


def ill_named(path: str) -> ServiceError:
    return error(
        "C12",
        f"Invalid '{path}': string does not match pattern. Expected a string that matches the "
        "pattern '^[a-zA-Z0-9_-]+$'.",
        path,
        "invalid_value",
    )


def needs_tools(rule: str, key: str) -> ServiceError:
    message = f"Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified."
    return error(rule, message, key)


def schema(rule: str, complaint: str) -> ServiceError:
    return error(
        rule,
        f"Invalid schema for function 'book': {complaint}",
        "tools[0].function.parameters",
        "invalid_function_parameters",
    )


def wrong_block(rule: str, position: int) -> ServiceError:
    return error(
        rule,
        f"Invalid 'messages[{position}]'. Content blocks are expected to be either text or "
        "image_url type.",
        f"messages[{position}]",
        "invalid_value",
    )


@dataclass(frozen=True)
class Case:
    """A request that breaks one rule, and its neighbour that keeps it."""

    breaks: JsonObject
    expected: ServiceError
    keeps: JsonObject
    memory: Memory = field(default_factory=Memory)


AUDIO = [{"type": "text", "text": "Hear:"}, {"type": "input_audio", "input_audio": {}}]
IMAGE = [{"type": "text", "text": "See:"}, {"type": "image_url", "image_url": {"url": "u"}}]
LOGGED: JsonObject = {"logprobs": True}
BOUNDS: list[tuple[str, str, float, object, JsonObject]] = [
    ("C24", "n", 1, 0, {}),
    ("C24", "n", 128, 200, {}),
    ("C24", "n", 1, "2", {}),
    ("C24", "n", 1, True, {}),
    ("C25", "max_tokens", 1, 0, {}),
    ("C25", "max_completion_tokens", 1, -3, {}),
    ("C25", "max_completion_tokens", 1, "abc", {}),
    ("C28", "temperature", 0, -1, {}),
    ("C28", "temperature", 2, 2.5, {}),
    ("C28", "top_p", 1, 5, {}),
    ("C28", "presence_penalty", -2, -3, {}),
    ("C28", "frequency_penalty", 2, 3, {}),
    ("C29", "top_logprobs", 0, -1, LOGGED),
    ("C29", "top_logprobs", 0, "few", LOGGED),
]
CASES = [
    Case(
        body(USER, asked("a", "b"), USER),
        unanswered("a, b", 2),
        body(USER, asked("a", "b"), told("b"), told("a"), USER),
    ),
    Case(
        body(USER, asked("a", "b"), told("b"), USER),
        unanswered("a", 3),
        body(USER, asked("a", "b"), told("a"), told("b")),
    ),
    Case(
        body(USER, asked("a"), asked("b"), told("b")),
        unanswered("a", 2),
        body(USER, asked("a"), told("a"), asked("b"), told("b"), asked("a"), told("a")),
    ),
    Case(
        body(USER, asked("a"), USER, told("a")),
        orphan(3),
        body(USER, asked("a"), told("a"), USER),
    ),
    Case(
        body(USER, asked("a"), told("a"), USER, told("a")),
        orphan(4),
        body(USER, asked(""), told("")),
    ),
    Case(
        body(USER, {"role": "assistant", "content": "Hi"}, told("a")),
        orphan(2),
        body({"role": "assistant", "content": "Hi", "tool_calls": None}, USER),
    ),
    Case(body(USER, asked("a"), told("x")), stranger("x", 2), body(USER, asked("a"), told("a"))),
    Case(
        body(USER, asked("a"), told("a"), asked("b"), told("a")),
        stranger("a", 4),
        body(USER, asked("a"), told("a"), asked("b"), told("b")),
    ),
    Case(
        body(USER, asked("a"), told(None)),
        error(
            "C4",
            "Missing parameter 'tool_call_id': messages with role 'tool' must have a "
            "'tool_call_id'.",
            "messages.[2].tool_call_id",
        ),
        body(USER, asked("a"), told("a")),
    ),
    Case(
        body(USER, asked("a"), told("a"), told("a")),
        error("C5", "Duplicate value for 'tool_call_id' of a in message[3]", None),
        body(USER, asked("a"), told("a"), asked("a"), told("a")),
    ),
    Case(
        body(USER, {"role": "assistant", "content": "Hi", "tool_calls": []}),
        empty("C6", "messages[1].tool_calls"),
        body(USER, {"role": "assistant", "content": "Hi"}),
    ),
    Case(body(), empty("C7", "messages"), body(USER)),
    Case(with_tools(), empty("C8", "tools"), question("chat", tools=None)),
    Case(
        with_tools(*(tool(f"f{n}") for n in range(129))),
        error(
            "C9",
            "Invalid 'tools': array too long. Expected an array with maximum length 128, but got "
            "an array with length 129 instead.",
            "tools",
            "array_above_max_length",
        ),
        with_tools(*(tool(f"f{n}") for n in range(128))),
    ),
    Case(
        body(USER, asked("c" * 41), told("c" * 41)),
        too_long("C10", "messages[1].tool_calls[0].id", 40),
        body(USER, asked("c" * 40), told("c" * 40)),
    ),
    Case(
        body(USER, asked("c"), told("c" * 41)),
        too_long("C11", "messages[2].tool_call_id", 40),
        body(USER, asked("c"), told("c")),
    ),
    Case(
        with_tools(tool("book a seat")),
        ill_named("tools[0].function.name"),
        with_tools(tool("Book_a-seat_2")),
    ),
    Case(
        body(USER, asked("a", name="book.seat"), told("a")),
        ill_named("messages[1].tool_calls[0].function.name"),
        body(USER, asked("a", name="book_seat"), told("a")),
    ),
    Case(
        question("chat", tool_choice="auto"),
        needs_tools("C13", "tool_choice"),
        with_tools(tool(), tool_choice="auto"),
    ),
    Case(
        question("chat", parallel_tool_calls=False),
        needs_tools("C14", "parallel_tool_calls"),
        with_tools(tool(), parallel_tool_calls=False),
    ),
    Case(
        with_tools(tool(parameters={**OPEN, "required": ["seat"]}, strict=True)),
        schema(
            "C15",
            "In context=(), 'additionalProperties' is required to be supplied and to be false.",
        ),
        with_tools(tool(parameters=CLOSED, strict=True)),
    ),
    Case(
        with_tools(tool(parameters={**CLOSED, "required": []}, strict=True)),
        schema(
            "C15",
            "In context=(), 'required' is required to be supplied and to be an array including "
            "every key in properties. Missing 'seat'.",
        ),
        with_tools(tool(parameters={**CLOSED, "required": []}, strict=False)),
    ),
    Case(
        nested({"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "object"}]}}),
        schema(
            "C15",
            "In context=('properties', 'seat', 'items', 'anyOf', '1'), 'additionalProperties' is "
            "required to be supplied and to be false.",
        ),
        nested({"type": "array", "items": {"anyOf": [{"type": "null"}, CLOSED]}}),
    ),
    Case(
        with_tools(tool(parameters={"anyOf": [OPEN]})),
        schema("C16", "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."),
        with_tools(tool(parameters={}), tool("b"), tool("c", OPEN)),
    ),
    Case(
        body({"role": "user", "content": AUDIO}),
        wrong_block("C17", 0),
        body({"role": "user", "content": AUDIO}, model="gpt-4o-audio-preview"),
    ),
    Case(
        body(USER, asked("a"), told("a", AUDIO)),
        wrong_block("C23", 2),
        body(USER, asked("a"), told("a", IMAGE)),
    ),
    Case(
        body({"role": "system", "content": "Be brief."}, USER, model="o1-mini"),
        error(
            "C18",
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role",
            "unsupported_value",
        ),
        body({"role": "system", "content": "Be brief."}, USER, model="o1"),
    ),
    Case(
        question("chat", model="gpt-5-mini", max_tokens=9),
        error(
            "C19",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        ),
        question("chat", model="gpt-5-chat-latest", max_tokens=9),
    ),
    Case(
        question("chat", model="gpt-x"),
        error(
            "C20",
            "The model `gpt-x` does not exist or you do not have access to it.",
            None,
            "model_not_found",
            404,
        ),
        question("chat", model="gpt-y"),
        Memory(models=frozenset({"gpt-y"})),
    ),
    Case(
        question("chat", stream_options={"include_usage": True}),
        error(
            "C21",
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        ),
        question("chat", stream=True, stream_options={"include_usage": True}),
    ),
    Case(
        with_tools(tool("f" * 65)),
        too_long("C22", "tools[0].function.name", 64),
        with_tools(tool("f" * 64)),
    ),
    *(
        Case(
            question("chat", **{name: wrong}, **more),
            replace(bound(name, limit, wrong), rule=rule),
            question("chat", **{name: limit}, **more),
        )
        for rule, name, limit, wrong, more in BOUNDS
    ),
    Case(
        question("chat", stop=list("abcde")),
        error(
            "C26",
            "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an "
            "array with length 5 instead.",
            "stop",
            "array_above_max_length",
        ),
        question("chat", stop=list("abcd")),
    ),
    *(
        Case(question("chat", metadata=wrong), replace(told_of, rule="C27"), question("chat"))
        for wrong, told_of in METADATA
    ),
    Case(
        question("chat", logprobs=True, top_logprobs=21),
        error(
            "C29",
            "Invalid value for 'top_logprobs': must be less than or equal to 20.",
            "top_logprobs",
        ),
        question("chat", logprobs=True, top_logprobs=20),
    ),
    Case(
        question("chat", top_logprobs=1),
        error(
            "C29",
            "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
            "top_logprobs",
        ),
        question("chat", logprobs=True, top_logprobs=1),
    ),
]
IDS = [f"{case.expected.rule}-{number}" for number, case in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_what_the_service_refuses(case: Case) -> None:
    assert refusal("chat", case.breaks, case.memory, on={str(case.expected.rule)}) == case.expected


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_what_the_service_accepts(case: Case) -> None:
    reading = judged("chat", case.keeps, case.memory, on={str(case.expected.rule)})
    assert reading.history == case.keeps["messages"]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_rule_can_be_switched_off(case: Case) -> None:
    rules = frozenset(rule.id for rule in DIALECT.rules)
    on = frozenset({str(case.expected.rule)})
    kept = refused_by("chat", case.breaks, on=on, models=case.memory.models)
    assert kept == case.expected.rule
    off = refused_by("chat", case.breaks, on=on, off=rules, models=case.memory.models)
    assert off is None


def test_every_rule_has_its_case() -> None:
    ids = [rule.id for rule in DIALECT.rules]
    assert len(ids) == len(set(ids))
    assert {case.expected.rule for case in CASES} == set(ids)


def test_any_model_exists_unless_some_are_named() -> None:
    assert judged("chat", question("chat", model="gpt-x"), Memory()).model == "gpt-x"


def test_ids_that_the_service_repeated_are_not_held_against_the_client() -> None:
    memory = Memory(repeated={"a"})
    judged("chat", body(USER, asked("a", "a"), told("a")), memory)
    judged("chat", body(USER, asked("a", "b"), told("b"), USER), memory)
    judged("chat", body(USER, asked("b"), told("b"), told("a")), memory)
    judged("chat", body(USER, asked("a", "a"), told("a"), told("a")), memory, on={"C5"})
    assert refusal("chat", body(USER, asked("a", "b"), told("a")), memory) == unanswered("b", 3)


def test_ids_and_names_that_the_service_made_are_not_held_against_the_client() -> None:
    memory = Memory()
    odd = call("chat", "odd", "book a seat", "{}")
    long_id = "c" * 41
    DIALECT.remember(reply("chat", [odd], "calls"), memory)
    memory.issued.add(long_id)
    judged("chat", body(USER, asked(odd.call_id, name="book a seat"), told(odd.call_id)), memory)
    judged("chat", body(USER, asked(long_id), told(long_id)), memory)


def test_grades() -> None:
    grades: dict[str, list[str]] = {}
    for rule in DIALECT.rules:
        grades.setdefault(rule.grade, []).append(rule.id)
    assert {grade: " ".join(ids) for grade, ids in grades.items()} == {
        "R": "C20 C17",
        "I": "C27 C2 C3 C1",
        "S": "C7 C6 C8 C9 C10 C11 C12 C22 C24 C25 C26 C28 C21 C13 C14 C16 C15 C29 C4",
        "D": "C23",
        "unsure": "C18 C19 C5",
    }
