"""Responses: what is read, what is rendered, and that the official SDK agrees."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import jsonschema
import pytest
import responses_grammar
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import APIError
from openai.lib.streaming.responses import (
    ResponseFunctionCallArgumentsDeltaEvent,
    ResponseTextDeltaEvent,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFailedEvent,
    ResponseIncompleteEvent,
    ResponseStreamEvent,
)
from openai_answers import (
    RESPONSES_TOOL,
    STOPS,
    Streamed,
    answering,
    call,
    hosted,
    in_order,
    lines,
    question,
    read,
    reply,
    said,
    specification,
    spoken_calls,
    streamed,
    streaming,
    thought,
)
from pydantic import TypeAdapter
from syrupy.assertion import SnapshotAssertion

from loopcheck.fake_providers.delivery import wire_text
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.dialects.responses import DIALECT
from loopcheck.fake_providers.script import ErrorName, Refuse, Say, Stop
from loopcheck.fake_providers.wire import (
    Answer,
    Fragment,
    Frame,
    IssuedCall,
    IssuedThought,
    JsonObject,
    Open,
    Piece,
)

INCOMPLETE = {
    "length": "max_output_tokens",
    "context": "max_output_tokens",
    "filter": "content_filter",
}
TWO_CALLS: list[Piece] = [
    Say("Booking both."),
    call("responses", "first", "book", '{"seat":12}'),
    call("responses", "second", "book", '{"seat":13}'),
]
THOUGHT: list[Piece] = [
    thought("Two seats."),
    thought("", redacted=True, number=1),
    call("responses", "sql", "query", "SELECT 1", "custom"),
]
SEARCH = hosted("web_search_call", '{"query":"seats"}', [{"type": "url", "url": "http://a.b"}])
HOSTED: list[Piece] = [
    SEARCH,
    hosted("mcp_call", '{"q":1}', "Found.", name="ask", label="mcp"),
    hosted("code_interpreter_call", "print(1)", "1\n", label="code"),
    hosted("program", "print(1)", None, label="program"),
]
EVENTS: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)
# Fields of the recorded wire that the SDK has no name for.
UNTYPED = {"frequency_penalty", "presence_penalty", "store"}


def stream(answer: Answer, size: int = 6) -> list[Frame]:
    return DIALECT.frames(answer, in_order(answer.content, size))


def data(frame: Frame) -> JsonObject:
    assert isinstance(frame.data, dict)
    return frame.data


def status_only(event: JsonObject) -> JsonObject:
    """The event with its response object cut down to what changes in a stream."""
    response = event.get("response")
    if not isinstance(response, dict):
        return event
    kept = ("status", "incomplete_details", "output", "service_tier", "usage")
    return {**event, "response": {key: response[key] for key in kept}}


class TestStreams:
    @given(streamed("responses"))
    @settings(deadline=None, max_examples=60)
    def test_every_event_is_what_the_sdk_expects(self, case: Streamed) -> None:
        frames = DIALECT.frames(case.answer, case.steps)
        for sequence, frame in enumerate(frames):
            if is_untyped(frame):
                continue
            event = EVENTS.validate_python(frame.data, strict=True)
            assert (event.type, event.sequence_number) == (frame.event, sequence)
            assert set(event.model_extra or {}) <= {"obfuscation"}
            assert event.to_dict(exclude_unset=True) == frame.data

    @given(streamed("responses"))
    @settings(deadline=None, max_examples=60)
    def test_events_come_in_the_order_of_the_service(self, case: Streamed) -> None:
        responses_grammar.check(DIALECT.frames(case.answer, case.steps))

    @given(streamed("responses"))
    @settings(deadline=None, max_examples=50)
    def test_the_sdk_gathers_what_was_scripted(self, case: Streamed) -> None:
        frames = DIALECT.frames(case.answer, case.steps)
        with (
            streaming(frames, strict=not any(map(is_untyped, frames))) as api,
            api.responses.stream(model="m", input="Go.") as received,
        ):
            events = list(received)
        assert isinstance(events[-1], ResponseCompletedEvent | ResponseIncompleteEvent)
        check_response(events[-1].response, case.answer)
        gathered = {}
        for event in events:
            if isinstance(event, ResponseFunctionCallArgumentsDeltaEvent | ResponseTextDeltaEvent):
                gathered[event.output_index] = event.snapshot
        assert gathered == {
            index: text
            for index, piece in enumerate(case.answer.content)
            if isinstance(piece, Say)
            or (isinstance(piece, IssuedCall) and piece.form == "function")
            if (text := wire_text(piece))
        }

    def test_two_calls(self, snapshot: SnapshotAssertion) -> None:
        answer = reply("responses", TWO_CALLS, "calls")
        assert lines(stream(answer), status_only) == snapshot

    def test_refusal(self, snapshot: SnapshotAssertion) -> None:
        answer = reply("responses", [Refuse("I will not.")], "refusal")
        assert lines(stream(answer), status_only) == snapshot

    def test_truncated_call(self, snapshot: SnapshotAssertion) -> None:
        cut = call("responses", "second", "book", '{"seat":1')
        answer = reply("responses", [TWO_CALLS[1], cut], "length")
        assert lines(stream(answer), status_only) == snapshot

    def test_thinking_and_a_custom_call(self, snapshot: SnapshotAssertion) -> None:
        assert lines(stream(reply("responses", THOUGHT, "calls")), status_only) == snapshot

    def test_hosted_calls(self, snapshot: SnapshotAssertion) -> None:
        pieces = [*HOSTED, hosted("unheard_of", "{}", [1], label="new")]
        assert lines(stream(reply("responses", pieces)), status_only) == snapshot

    def test_only_the_encrypted_content_at_the_end_is_the_one_to_send_back(self) -> None:
        piece = thought("Hm.")
        items = [item for f in stream(reply("responses", [piece])) if (item := data(f).get("item"))]
        begun, ended = (item["encrypted_content"] for item in items if isinstance(item, dict))
        assert ended == piece.seal
        assert begun != ended
        assert len(begun) == len(ended)
        assert begun.startswith("gAAAAAB")

    def test_a_failed_mcp_call_says_so(self) -> None:
        frames = stream(reply("responses", [hosted("mcp_call", "{}", {"error": "No."})]))
        assert frames[-3].event == "response.mcp_call.failed"
        item = data(frames[-2])["item"]
        assert isinstance(item, dict)
        assert (item["status"], item["output"]) == ("failed", None)
        assert "No." in json.dumps(item["error"])

    def test_a_hosted_call_that_the_limit_cut_is_not_completed(self) -> None:
        frames = stream(reply("responses", [SEARCH], "length"))
        assert "response.web_search_call.completed" not in [frame.event for frame in frames]
        item = data(frames[-2])["item"]
        assert isinstance(item, dict)
        assert item["status"] == "incomplete"

    def test_mcp_calls_name_the_server_of_the_request(self) -> None:
        server = {"type": "mcp", "server_label": "wiki"}
        call_there = hosted("mcp_call", "{}", "Found.")
        (item,) = output_of(reply("responses", [call_there], tools=[server]))
        assert item["server_label"] == "wiki"

    def test_a_call_of_a_tool_in_a_namespace_names_it(self) -> None:
        inner = {"type": "function", "name": "book"}
        tools = [{"type": "namespace", "name": "seats", "tools": [inner]}]
        (item,) = output_of(reply("responses", TWO_CALLS[1:2], tools=tools))
        assert item["namespace"] == "seats"
        (item,) = output_of(reply("responses", TWO_CALLS[1:2], tools=[*tools, RESPONSES_TOOL]))
        assert "namespace" not in item

    def test_a_call_without_arguments_has_no_delta(self) -> None:
        answer = reply("responses", [call("responses", "a", "book", "")], "calls")
        frames = DIALECT.frames(answer, [Open(0), Fragment(0, "")])
        assert [frame.part for frame in frames] == ["head", "head", "open", "terminal"]

    def test_usage_and_tier_are_settled_at_the_end(self) -> None:
        frames = stream(reply("responses", [Say("Hi")]))
        responses = [
            response
            for frame in frames
            if isinstance(response := data(frame).get("response"), dict)
        ]
        assert [(r["usage"] is None, r["service_tier"]) for r in responses] == [
            (True, "auto"),
            (True, "auto"),
            (False, "default"),
        ]

    def test_the_terminal_event_repeats_the_whole_body(self) -> None:
        answer = reply("responses", TWO_CALLS, "calls")
        assert data(stream(answer)[-1])["response"] == DIALECT.whole(answer)

    def test_obfuscation_evens_out_the_sizes_unless_switched_off(self) -> None:
        def sizes(**options: bool) -> set[int]:
            answer = reply("responses", TWO_CALLS, "calls", stream_options=options)
            padded = [f for f in stream(answer) if "obfuscation" in data(f)]
            return {len(f.text) + len(str(data(f)["obfuscation"])) for f in padded}

        assert sizes() == {16}
        assert sizes(include_obfuscation=False) == set()

    def test_frames_are_labelled_for_faults(self) -> None:
        frames = stream(reply("responses", TWO_CALLS, "calls"))
        texts = {
            label: "".join(frame.text for frame in frames if frame.label == label)
            for label in ("say", "first", "second")
        }
        assert texts == {"say": "Booking both.", "first": '{"seat":12}', "second": '{"seat":13}'}


def is_untyped(frame: Frame) -> bool:
    """Whether this event is one that the SDK's types do not know as the service sends it: a
    search begins without its action."""
    item = data(frame).get("item")
    return isinstance(item, dict) and item["type"] == "web_search_call" and "action" not in item


def check_response(response: Response, answer: Answer) -> None:
    reason = INCOMPLETE.get(answer.stop)
    assert response.status == ("incomplete" if reason else "completed")
    found = response.incomplete_details
    assert (found.reason if found else None) == reason
    calls = [
        (item.call_id, item.name, item.arguments)
        for item in response.output
        if item.type == "function_call"
    ]
    calls += [
        (item.call_id, item.name, item.input)
        for item in response.output
        if item.type == "custom_tool_call"
    ]
    assert sorted(calls) == sorted(spoken_calls(answer))
    thoughts = [
        (item.id, item.encrypted_content, "".join(part.text for part in item.summary))
        for item in response.output
        if item.type == "reasoning"
    ]
    assert thoughts == [
        (piece.item_id, piece.seal, "" if piece.redacted else piece.text)
        for piece in answer.content
        if isinstance(piece, IssuedThought)
    ]
    # The streaming helper adds what it has parsed.
    for item, made in zip(response.output, output_of(answer), strict=True):
        assert made.items() <= item.to_dict().items() or made["type"] == "message"
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    assert [p.text for p in parts if p.type == "output_text"] == said(answer, Say)
    assert [p.refusal for p in parts if p.type == "refusal"] == said(answer, Refuse)
    cut = answer.stop in ("length", "context")
    for position, (item, piece) in enumerate(zip(response.output, answer.content, strict=True)):
        if isinstance(piece, Say | Refuse | IssuedCall):
            last = position == len(answer.content) - 1
            whole = "in_progress" if "caller" in item.to_dict() else "completed"
            assert item.to_dict()["status"] == ("incomplete" if cut and last else whole)
    assert response.usage is not None
    assert response.usage.total_tokens == answer.usage.input + answer.usage.output
    assert response.usage.output_tokens_details.reasoning_tokens == answer.usage.reasoning


def output_of(answer: Answer) -> list[JsonObject]:
    items = DIALECT.whole(answer)["output"]
    assert isinstance(items, list)
    return items


class TestWhole:
    @given(streamed("responses"))
    @settings(deadline=None, max_examples=50)
    def test_the_sdk_reads_what_was_scripted(self, case: Streamed) -> None:
        body = DIALECT.whole(case.answer)
        parsed = Response.model_validate(body, strict=True)
        assert set(parsed.model_extra or {}) == UNTYPED
        assert parsed.to_dict(exclude_unset=True) == body
        with answering(body) as api:
            check_response(api.responses.create(model="m", input="Go."), case.answer)

    @pytest.mark.parametrize("stop", STOPS)
    def test_the_public_schemas_hold(self, stop: Stop) -> None:
        for file, name in (
            ("openai-chat-and-responses.openapi.json", "Response"),
            ("openresponses-2026-04-24.openapi.json", "ResponseResource"),
        ):
            schema = {"$ref": f"#/components/schemas/{name}", **specification(file)}
            contents: list[list[Piece]] = [[Say("Hi")], [Refuse("No")], TWO_CALLS, [], THOUGHT[:2]]
            if name == "Response":
                contents += [THOUGHT, HOSTED]
            for content in contents:
                body = DIALECT.whole(reply("responses", content, stop, tools=[RESPONSES_TOOL]))
                # The service sends null for an absent user, whatever its document says.
                assert body.pop("user") is None
                jsonschema.validate(body, schema)

    def test_two_calls(self, snapshot: SnapshotAssertion) -> None:
        answer = reply("responses", TWO_CALLS, "calls", tools=[RESPONSES_TOOL])
        assert json.dumps(DIALECT.whole(answer), indent=1) == snapshot

    def test_refusal(self, snapshot: SnapshotAssertion) -> None:
        answer = reply("responses", [Refuse("I will not.")], "refusal")
        assert json.dumps(DIALECT.whole(answer)["output"], indent=1) == snapshot

    def test_the_request_is_echoed(self) -> None:
        asked: JsonObject = {
            "instructions": "Be brief.",
            "max_output_tokens": 99,
            "metadata": {"a": "b"},
            "parallel_tool_calls": False,
            "store": False,
            "temperature": 0.5,
            "tool_choice": {"type": "function", "name": "book"},
            "user": "u",
        }
        whole = DIALECT.whole(
            reply(
                "responses",
                [],
                "end",
                reasoning={"effort": "low"},
                text={"verbosity": "low"},
                conversation="conv_1",
                **asked,
            )
        )
        assert {key: whole[key] for key in asked} == asked
        assert whole["conversation"] == {"id": "conv_1"}
        assert whole["text"] == {"format": {"type": "text"}, "verbosity": "low"}
        assert whole["reasoning"] == {
            "context": "current_turn",
            "effort": "low",
            "mode": "standard",
            "summary": None,
        }

    @pytest.mark.parametrize(
        ("model", "effort"),
        [
            ("gpt-4.1", None),
            ("gpt-4o-mini-2024-07-18", None),
            ("ft:gpt-4o-mini:org::1", None),
            ("gpt-5.5", "medium"),
            ("o4-mini", "medium"),
        ],
    )
    def test_a_model_that_does_not_reason_makes_no_effort(
        self, model: str, effort: str | None
    ) -> None:
        for asked in ({}, {"background": True}):
            body = DIALECT.whole(replace(reply("responses", [], "end", **asked), model=model))
            assert isinstance(body["reasoning"], dict)
            assert body["reasoning"]["effort"] == effort

    @pytest.mark.parametrize(
        ("strict", "schema", "resolved"),
        [
            (True, {}, True),
            (False, {"additionalProperties": False}, False),
            (None, {"properties": {"a": {}}, "additionalProperties": False}, False),
            (
                None,
                {"properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
                True,
            ),
            (None, {"properties": {}}, False),
        ],
    )
    def test_tools_are_echoed_with_strictness_resolved(
        self, strict: bool | None, schema: JsonObject, resolved: bool
    ) -> None:
        tool = {"type": "function", "name": "f", "parameters": schema, "strict": strict}
        hosted = {"type": "code_interpreter", "container": {"type": "auto"}}
        whole = DIALECT.whole(reply("responses", [], tools=[tool, hosted]))
        assert whole["tools"] == [{**tool, "description": None, "strict": resolved}, hosted]


class TestErrors:
    def test_an_unknown_model_is_a_400_here(self) -> None:
        reading = read("responses", question("responses", model="gpt-x"))
        error = DIALECT.named_error("not_found", reading)
        assert error.status == 400
        assert DIALECT.error_body(error, "req_1") == {
            "error": {
                "message": "The requested model 'gpt-x' does not exist.",
                "type": "invalid_request_error",
                "param": "model",
                "code": "model_not_found",
            }
        }

    def test_a_conversation_that_is_too_long_has_words_of_its_own(self) -> None:
        error = DIALECT.named_error("context", None)
        assert error.status == 400
        assert DIALECT.error_body(error, "req_1") == {
            "error": {
                "message": "Your input exceeds the context window of this model. Please adjust "
                "your input and try again.",
                "type": "invalid_request_error",
                "param": "input",
                "code": "context_length_exceeded",
            }
        }

    def test_a_failed_response_repeats_codes_that_the_sdk_does_not_list(self) -> None:
        answer = reply("responses", TWO_CALLS, "calls")
        names: tuple[ErrorName, ...] = ("quota", "context")
        for name in names:
            error = DIALECT.named_error(name, None)
            _, failed = DIALECT.error_frames(error, 7, answer=answer)
            assert isinstance(failed.data, dict)
            response = failed.data["response"]
            assert isinstance(response, dict)
            assert response["error"] == {"code": error.code, "message": error.message}

    def test_other_errors_are_those_of_openai(self) -> None:
        names: tuple[ErrorName, ...] = ("auth", "rate_limit", "quota", "server", "overloaded")
        for name in names:
            assert DIALECT.named_error(name, None) == dialect("chat").named_error(name, None)

    def test_the_sdk_raises_what_the_stream_reports(self) -> None:
        answer = reply("responses", TWO_CALLS, "calls")
        error = DIALECT.named_error("rate_limit", None)
        frames = [*stream(answer)[:4], *DIALECT.error_frames(error, 4)]
        assert [(frame.part, frame.event) for frame in frames[4:]] == [("error", "error")]
        with streaming(frames) as api:
            received = api.responses.create(model="m", input="Go.", stream=True)
            with pytest.raises(APIError) as caught:
                list(received)
        assert (caught.value.message, caught.value.code) == (error.message, error.code)

    @pytest.mark.parametrize(
        ("name", "code"),
        [("rate_limit", "rate_limit_exceeded"), ("overloaded", "server_error")],
    )
    def test_a_known_response_is_reported_as_failed(self, name: ErrorName, code: str) -> None:
        answer = reply("responses", TWO_CALLS, "calls")
        error = DIALECT.named_error(name, None)
        _, failed = DIALECT.error_frames(error, 7, answer=answer)
        event = EVENTS.validate_python(failed.data, strict=True)
        assert isinstance(event, ResponseFailedEvent)
        assert event.type == failed.event
        assert (event.sequence_number, event.response.status) == (8, "failed")
        assert event.response.error is not None
        assert (event.response.error.code, event.response.error.message) == (code, error.message)
        assert (event.response.output, event.response.usage) == ([], None)


class TestManners:
    def test_what_is_served(self) -> None:
        assert DIALECT is dialect("responses")
        assert DIALECT.base_url("http://127.0.0.1:1/c/k") == "http://127.0.0.1:1/c/k/v1"
        assert DIALECT.serves("POST", "/v1/responses") == "generate"
        assert DIALECT.serves("POST", "/v1/chat/completions") is None

    @given(st.from_regex(r"[0-9a-f]{64}", fullmatch=True))
    def test_ids_have_the_shapes_of_the_service(self, digest: str) -> None:
        assert re.fullmatch(r"resp_[0-9a-f]{50}", DIALECT.response_id(digest))
        assert re.fullmatch(r"fc_[0-9a-f]{50}", DIALECT.item_id("call", digest))
        assert re.fullmatch(r"msg_[0-9a-f]{50}", DIALECT.item_id("say", digest))
        assert re.fullmatch(r"msg_[0-9a-f]{50}", DIALECT.item_id("refuse", digest))
