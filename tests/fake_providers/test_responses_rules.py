"""The Responses service's rules: for each a request that breaks it, and one that just does not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from bound_cases import METADATA, bound
from openai.types import responses as sdk
from openai_answers import (
    RESPONSES_TOOL,
    call,
    error,
    judged,
    question,
    refusal,
    refused_by,
    reply,
    thought,
)

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.kept import Kept
from loopcheck.fake_providers.dialects.responses import DIALECT, shape
from loopcheck.fake_providers.script import Say
from loopcheck.fake_providers.wire import JsonObject, Piece, ServiceError

USER: JsonObject = {"role": "user", "content": "Go."}
OPEN: JsonObject = {"type": "object", "properties": {"seat": {"type": "integer"}}}
CLOSED: JsonObject = {**OPEN, "required": ["seat"], "additionalProperties": False}
SPACE: JsonObject = {"type": "namespace", "name": "seats", "tools": [RESPONSES_TOOL]}
MP3 = "data:audio/mpeg;base64,SUQz"


def asked(call_id: str, **more: object) -> JsonObject:
    made = {"type": "function_call", "call_id": call_id, "name": "book", "arguments": "{}"}
    return {**made, **more}


def told(call_id: str, output: object = "done", kind: str = "function_call") -> JsonObject:
    return {"type": f"{kind}_output", "call_id": call_id, "output": output}


def custom(call_id: str) -> JsonObject:
    return {"type": "custom_tool_call", "call_id": call_id, "name": "run", "input": "ls"}


def shell(call_id: str) -> JsonObject:
    return {"type": "shell_call", "call_id": call_id, "action": {"commands": ["ls"]}}


def body(*items: JsonObject, **more: object) -> JsonObject:
    return {"model": "gpt-4.1", "input": list(items), **more}


def with_tool(**more: object) -> JsonObject:
    return question("responses", tools=[{**RESPONSES_TOOL, **more}])


def unanswered(call_id: str) -> ServiceError:
    return error("R1", f"No tool output found for function call {call_id}.", "input")


def orphan(call_id: str) -> ServiceError:
    message = f"No tool call found for function call output with call_id {call_id}."
    return error("R2", message, "input")


def missing(param: str) -> ServiceError:
    message = f"Missing required parameter: '{param}'."
    return error("R13", message, param, "missing_required_parameter")


def unknown(param: str) -> ServiceError:
    return error("R20", f"Unknown parameter: '{param}'.", param, "unknown_parameter")


def ill_spelt(param: str, value: str, prefix: str) -> ServiceError:
    message = f"Invalid '{param}': '{value}'. Expected an ID that begins with '{prefix}'."
    return error("R12", message, param, "invalid_value")


def too_long(rule: str, path: str, limit: int) -> ServiceError:
    return error(
        rule,
        f"Invalid '{path}': string too long. Expected a string with maximum length {limit}, but "
        f"got a string with length {limit + 1} instead.",
        path,
        "string_above_max_length",
    )


def schema(rule: str, complaint: str) -> ServiceError:
    return error(
        rule,
        f"Invalid schema for function 'book': {complaint}",
        "tools[0].parameters",
        "invalid_function_parameters",
    )


def file_output(data: str) -> JsonObject:
    return told("a", [{"type": "input_file", "file_data": data}])


def file_address(address: str) -> JsonObject:
    return {"role": "user", "content": [{"type": "input_file", "file_url": address}]}


@dataclass(frozen=True)
class Case:
    """A request that breaks one rule, and its neighbour that keeps it."""

    breaks: JsonObject
    expected: ServiceError
    keeps: JsonObject
    memory: Memory = field(default_factory=Memory)


BOUNDS: list[tuple[str, str, float, object]] = [
    ("R37", "temperature", 2, 2.5),
    ("R37", "top_p", 0, -1),
    ("R37", "top_p", 1, 1.5),
    ("R38", "top_logprobs", 20, 50),
    ("R38", "top_logprobs", 0, "few"),
    ("R38", "max_tool_calls", 1, 0),
]
CASES = [
    Case(
        body(USER, asked("a"), asked("b"), told("a")),
        unanswered("b"),
        body(USER, asked("a"), asked("b"), told("b"), told("a")),
    ),
    Case(
        body(USER, asked("a"), USER),
        unanswered("a"),
        body(USER, asked("a"), USER, told("a")),
    ),
    Case(
        body(USER, asked("a"), told("a"), told("x")),
        orphan("x"),
        body(USER, asked("a"), told("a"), asked("a"), told("a")),
    ),
    Case(body(USER, told("a"), asked("a")), orphan("a"), body(USER, asked("a"), told("a"))),
    Case(
        body(USER, told("s", [], "shell_call")),
        error("R3", "No tool call found for shell call output with call_id s.", "input"),
        body(USER, shell("s"), told("s", [], "shell_call")),
    ),
    Case(
        body(USER, told("c", "ok", "custom_tool_call")),
        error("R4", "No tool call found for custom tool call output with call_id c.", "input"),
        body(USER, custom("c"), told("c", "ok", "custom_tool_call")),
    ),
    Case(
        body(USER, custom("c")),
        error("R31", "No tool output found for custom tool call c.", "input"),
        body(USER, custom("c"), told("c", "ok", "custom_tool_call")),
    ),
    Case(
        question("responses", previous_response_id="resp_x"),
        error(
            "R9",
            "Previous response with id 'resp_x' not found.",
            "previous_response_id",
            "previous_response_not_found",
        ),
        question("responses", previous_response_id="resp_y"),
        Memory(conversations=Kept({"resp_y": []})),
    ),
    Case(
        question("responses", previous_response_id="resp x"),
        error(
            "R10",
            "Invalid 'previous_response_id': 'resp x'. Expected an ID that contains letters, "
            "numbers, underscores, or dashes, but this value contained additional characters.",
            "previous_response_id",
            "invalid_value",
        ),
        question("responses", previous_response_id="resp-_9"),
        Memory(conversations=Kept({"resp-_9": []})),
    ),
    Case(
        body({"type": "function_call", "call_id": "a", "name": "f"}),
        missing("input[0].arguments"),
        body(asked("a"), told("a")),
    ),
    Case(body({"type": "item_reference"}), missing("input[0].id"), body(USER)),
    Case(body({"content": "Go."}), missing("input[0].role"), body(USER)),
    Case(body({"role": "user"}), missing("input[0].content"), body({**USER, "content": []})),
    Case(
        body(USER, {"type": "function_call_output", "output": ""}),
        missing("input[1].call_id"),
        body(USER, asked("a"), told("a")),
    ),
    Case(
        body(asked("a", id="call_a"), told("a")),
        ill_spelt("input[0].id", "call_a", "fc"),
        body(asked("a", id="fc_a"), told("a")),
    ),
    Case(
        body({**USER, "id": "item_1"}),
        ill_spelt("input[0].id", "item_1", "msg"),
        body({**USER, "id": "msg_1"}),
    ),
    Case(
        body(asked("a"), told("a"), tools=[SPACE]),
        error(
            "R14",
            "Missing namespace for function_call 'book'. It does not exist in the default "
            "namespace. Round-trip the model's function_call item with its namespace field "
            "included.",
            "input[0].namespace",
        ),
        body(asked("a", namespace="seats"), told("a"), tools=[SPACE]),
    ),
    Case(
        body(asked("a"), told("a"), tools=[{**RESPONSES_TOOL, "output_schema": OPEN}]),
        error(
            "R15",
            "Invalid function_call_output.output: expected a JSON string because the function "
            "declares output_schema.",
            "input",
            "invalid_value",
        ),
        body(asked("a"), told("a", '"done"'), tools=[{**RESPONSES_TOOL, "output_schema": OPEN}]),
    ),
    Case(
        body(asked("a"), file_output(MP3)),
        error(
            "R17",
            "Invalid file data: 'input[1].output[0].file_data'. Expected a base64-encoded data "
            "URL with a valid file MIME type (e.g. 'data:text/plain;base64,"
            "SGVsbG8sIFdvcmxkIQ=='), but got unsupported MIME type 'audio/mpeg'. Please see "
            "https://platform.openai.com/docs/assistants/tools/file-search#supported-files for "
            "supported file types.",
            "input[1].output[0].file_data",
            "invalid_value",
        ),
        body(asked("a"), file_output("data:application/pdf;base64,JVBERi0=")),
    ),
    Case(
        body(file_address("https://a.b/sound.mp3?x=1")),
        error(
            "R18",
            "The file type you uploaded is not supported. Please try again with a pdf",
            "input",
            "unsupported_file",
        ),
        body(file_address("https://a.b/mp3/paper.pdf?x=1")),
    ),
    Case(
        body(USER, {"role": "tool", "content": "done"}),
        error(
            "R19",
            "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', "
            "and 'user'.",
            "input[1]",
            "invalid_value",
        ),
        body(USER, {"role": "developer", "content": "done"}),
    ),
    Case(
        body({"role": "assistant", "content": "", "tool_calls": []}),
        unknown("input[0].tool_calls"),
        body({"role": "assistant", "content": "", "phase": "commentary", "status": "completed"}),
    ),
    Case(
        body(asked("a", parsed_arguments=None), told("a")),
        unknown("input[0].parsed_arguments"),
        body(asked("a", status="completed", caller={"type": "direct"}), told("a")),
    ),
    Case(
        body(asked("c" * 65), told("c" * 65)),
        too_long("R21", "input[0].call_id", 64),
        body(asked("c" * 64), told("c" * 64)),
    ),
    Case(
        body(asked("a", id="fc_" + "9" * 62), told("a")),
        too_long("R21", "input[0].id", 64),
        body(asked("a", id="fc_" + "9" * 61), told("a")),
    ),
    Case(
        question("responses", context_management=[]),
        error(
            "R22",
            "Invalid 'context_management': empty array. Expected an array with minimum length 1, "
            "but got an empty array instead.",
            "context_management",
            "empty_array",
        ),
        question("responses", context_management=None),
    ),
    Case(
        question("responses", temperature=-1),
        error(
            "R23",
            "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got "
            "-1 instead.",
            "temperature",
            "decimal_below_min_value",
        ),
        question("responses", temperature=0),
    ),
    Case(
        question("responses", model="gpt-5.5", temperature=1),
        error(
            "R24",
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature",
        ),
        question("responses", model="gpt-5.5"),
    ),
    Case(
        question("responses", model="gpt-x"),
        error("R25", "The requested model 'gpt-x' does not exist.", "model", "model_not_found"),
        question("responses", model="gpt-y"),
        Memory(models=frozenset({"gpt-y"})),
    ),
    Case(
        question("responses", tool_choice="required"),
        error(
            "R26",
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified.",
            "tool_choice",
        ),
        question("responses", tool_choice="auto"),
    ),
    Case(
        question("responses", previous_response_id="resp_y", conversation={"id": "conv_y"}),
        error(
            "R27",
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure "
            "you are only providing one of: 'previous_response_id' or 'conversation'.",
            None,
            "mutually_exclusive_parameters",
        ),
        question("responses", conversation="conv_y"),
        Memory(conversations=Kept({"resp_y": [], "conv_y": []})),
    ),
    Case(
        question("responses", conversation="conv_x"),
        error("R29", "Conversation with id 'conv_x' not found.", None, status=404),
        question("responses", conversation={"id": "conv_y"}),
        Memory(conversations=Kept({"conv_y": []})),
    ),
    Case(
        question("responses", max_output_tokens=15),
        error(
            "R30",
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, "
            "but got 15 instead.",
            "max_output_tokens",
            "integer_below_min_value",
        ),
        question("responses", max_output_tokens=16),
    ),
    *(
        Case(
            question("responses", **{name: wrong}),
            replace(bound(name, limit, wrong), rule=rule),
            question("responses", **{name: limit}),
        )
        for rule, name, limit, wrong in BOUNDS
    ),
    *(
        Case(
            question("responses", metadata=wrong),
            replace(told_of, rule="R39"),
            question("responses", metadata={"k" * 64: "v" * 512}),
        )
        for wrong, told_of in METADATA
    ),
    Case(
        question(
            "responses", tools=[RESPONSES_TOOL], tool_choice={"type": "function", "name": "fly"}
        ),
        error("R32", "Tool choice 'fly' not found in 'tools' parameter.", "tool_choice"),
        question("responses", tools=[SPACE], tool_choice={"type": "function", "name": "book"}),
    ),
    Case(
        with_tool(name="book a seat"),
        error(
            "R33",
            "Invalid 'tools[0].name': string does not match pattern. Expected a string that "
            "matches the pattern '^[a-zA-Z0-9_-]+$'.",
            "tools[0].name",
            "invalid_value",
        ),
        with_tool(name="Book_a-seat_2"),
    ),
    Case(
        with_tool(name="b" * 129),
        too_long("R34", "tools[0].name", 128),
        with_tool(name="b" * 128),
    ),
    Case(
        with_tool(parameters=OPEN, strict=True),
        schema(
            "R35",
            "In context=(), 'additionalProperties' is required to be supplied and to be false.",
        ),
        with_tool(parameters=CLOSED, strict=True),
    ),
    Case(
        with_tool(parameters={"type": "array"}),
        schema("R36", "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'."),
        with_tool(parameters=OPEN),
    ),
]
IDS = [f"{case.expected.rule}-{number}" for number, case in enumerate(CASES)]
# These need what was stored before; see test_responses_state.py.
STATEFUL = {"R5", "R6", "R7", "R8", "R11", "R16"}


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_what_the_service_refuses(case: Case) -> None:
    on = {str(case.expected.rule)}
    assert refusal("responses", case.breaks, case.memory, on=on) == case.expected


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_what_the_service_accepts(case: Case) -> None:
    judged("responses", case.keeps, case.memory, on={str(case.expected.rule)})


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_rule_can_be_switched_off(case: Case) -> None:
    rules = frozenset(rule.id for rule in DIALECT.rules)
    on = frozenset({str(case.expected.rule)})
    models = case.memory.models
    kept = refused_by("responses", case.breaks, on=on, models=models)
    assert kept == case.expected.rule
    assert refused_by("responses", case.breaks, on=on, off=rules, models=models) is None


def test_every_rule_has_its_case() -> None:
    ids = [rule.id for rule in DIALECT.rules]
    assert len(ids) == len(set(ids))
    assert {case.expected.rule for case in CASES} | STATEFUL == set(ids)


def test_every_field_that_the_sdk_sends_is_known() -> None:
    sent = {
        "message": (sdk.EasyInputMessageParam, sdk.ResponseOutputMessageParam),
        "function_call": (sdk.ResponseFunctionToolCallParam,),
        "custom_tool_call": (sdk.ResponseCustomToolCallParam,),
        "custom_tool_call_output": (sdk.ResponseCustomToolCallOutputParam,),
        "reasoning": (sdk.ResponseReasoningItemParam,),
    }
    for kind, shapes in sent.items():
        for shape_of in shapes:
            keys = shape_of.__required_keys__ | shape_of.__optional_keys__
            assert keys <= shape.known_fields(kind)


def test_ids_that_the_service_repeated_are_not_held_against_the_client() -> None:
    memory = Memory(repeated={"a"})
    judged("responses", body(USER, asked("a")), memory)
    judged("responses", body(USER, told("a")), memory)
    assert refusal("responses", body(USER, asked("b")), memory) == unanswered("b")


def test_ids_that_the_service_made_are_not_held_against_the_client() -> None:
    long_id = "c" * 65
    memory = Memory(issued={long_id})
    judged("responses", body(USER, asked(long_id), told(long_id)), memory)


def test_what_was_said_can_be_sent_back_as_it_is() -> None:
    memory = Memory()
    calls = [call("responses", "one", "book", "{}"), call("responses", "two", "run", "", "custom")]
    pieces: list[Piece] = [
        thought("Two."),
        Say("I book."),
        thought("", redacted=True, number=1),
        *calls,
    ]
    answer = reply("responses", pieces, "calls", store=False)
    DIALECT.remember(answer, memory)
    output = DIALECT.whole(answer)["output"]
    assert isinstance(output, list)
    results = [told(calls[0].call_id), told(calls[1].call_id, "ok", "custom_tool_call")]
    judged("responses", body(USER, *output, *results, store=False), memory)


def test_grades() -> None:
    grades: dict[str, list[str]] = {}
    for rule in DIALECT.rules:
        grades.setdefault(rule.grade, []).append(rule.id)
    assert {grade: " ".join(ids) for grade, ids in grades.items()} == {
        "R": "R25 R13 R17 R18 R23 R8 R14 R2 R3 R15 R5",
        "I": "R39 R10 R9 R11 R1",
        "S": "R19 R20 R12 R21 R22 R37 R38 R30 R33 R26 R32 R36 R35 R4 R31 R16 R6 R7",
        "D": "R34 R27",
        "unsure": "R24 R29",
    }
