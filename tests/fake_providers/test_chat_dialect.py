"""Chat Completions: what is read, what is rendered, and that the official SDK agrees."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import APIError
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai_answers import (
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
from syrupy.assertion import SnapshotAssertion

from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.dialects.chat import DIALECT
from loopcheck.fake_providers.dialects.chat.form import CALL_TEXT
from loopcheck.fake_providers.script import ErrorName, Refuse, Say, Stop
from loopcheck.fake_providers.wire import (
    Answer,
    Fragment,
    Frame,
    HttpRequest,
    JsonObject,
    Open,
    Piece,
)

FINISH = {
    "end": "stop",
    "calls": "tool_calls",
    "length": "length",
    "filter": "content_filter",
    "refusal": "stop",
    "context": "length",
    "pause": "stop",
}
TWO_CALLS: list[Piece] = [
    Say("Booking both."),
    call("chat", "first", "book", '{"seat":12}'),
    call("chat", "second", "book", '{"seat":13}'),
]


def chunks(answer: Answer, size: int = 8) -> list[JsonObject]:
    frames = DIALECT.frames(answer, in_order(answer.content, size))
    return [frame.data for frame in frames if isinstance(frame.data, dict)]


def deltas(answer: Answer) -> list[object]:
    found = []
    for chunk in chunks(answer):
        choices = chunk["choices"]
        assert isinstance(choices, list)
        found += [choice["delta"] for choice in choices]
    return found


def choices_and_usage(chunk: JsonObject) -> JsonObject:
    return {key: chunk[key] for key in ("choices", "usage") if key in chunk}


class TestStreams:
    @given(streamed("chat", ["function"]))
    @settings(deadline=None, max_examples=60)
    def test_every_chunk_is_what_the_sdk_expects(self, case: Streamed) -> None:
        frames = DIALECT.frames(case.answer, case.steps)
        assert [frame.data for frame in frames[-1:]] == ["[DONE]"]
        for frame in frames[:-1]:
            chunk = ChatCompletionChunk.model_validate(frame.data, strict=True)
            assert frame.event is None
            assert set(chunk.model_extra or {}) <= {"obfuscation"}
            assert chunk.to_dict(exclude_unset=True) == frame.data

    @given(streamed("chat", ["function"]))
    @settings(deadline=None, max_examples=50)
    def test_the_sdk_gathers_what_was_scripted(self, case: Streamed) -> None:
        frames = DIALECT.frames(case.answer, case.steps)
        state = ChatCompletionStreamState()
        with streaming(frames) as api:
            for chunk in api.chat.completions.create(model="m", messages=[], stream=True):
                state.handle_chunk(chunk)
        completion = state.current_completion_snapshot
        choice = completion.choices[0]
        found = [
            (c.id, c.function.name, c.function.arguments)
            for c in choice.message.tool_calls or []
            if c.type == "function"
        ]
        assert found == spoken_calls(case.answer)
        assert (choice.message.content or "") == streamed_text(case, Say)
        assert (choice.message.refusal or "") == streamed_text(case, Refuse)
        assert choice.finish_reason == FINISH[case.answer.stop]
        assert (completion.usage is not None) == case.answer.reading.include_usage
        if completion.usage is not None:
            check_usage(completion.usage, case.answer)

    @given(streamed("chat"))
    @settings(deadline=None, max_examples=50)
    def test_raw_chunks_join_to_every_call_custom_ones_included(self, case: Streamed) -> None:
        """The SDK's own accumulator fails on custom calls, as it does with the service."""
        frames = DIALECT.frames(case.answer, case.steps)
        with streaming(frames, strict=False) as api:
            received = list(api.chat.completions.create(model="m", messages=[], stream=True))
        heads: dict[object, list[object]] = {}
        texts: dict[object, str] = {}
        for chunk in received:
            for entry in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
                fragment = entry.to_dict(exclude_unset=True)
                index, form = fragment["index"], "custom" if "custom" in fragment else "function"
                inner = fragment[form]
                assert isinstance(inner, dict)
                if index not in heads:
                    assert fragment["type"] == form
                    heads[index] = [fragment["id"], inner["name"]]
                texts[index] = texts.get(index, "") + inner[CALL_TEXT[form]]
        found = [(*heads[index], texts[index]) for index in sorted(heads, key=str)]
        assert found == spoken_calls(case.answer)

    def test_a_custom_call(self, snapshot: SnapshotAssertion) -> None:
        answer = reply("chat", [call("chat", "sql", "query", "SELECT 1", "custom")], "calls")
        assert lines(stream(answer), choices_and_usage) == snapshot

    def test_two_calls(self, snapshot: SnapshotAssertion) -> None:
        assert lines(stream(reply("chat", TWO_CALLS, "calls")), choices_and_usage) == snapshot

    def test_refusal(self, snapshot: SnapshotAssertion) -> None:
        answer = reply("chat", [Refuse("I will not.")], "refusal")
        assert lines(stream(answer), choices_and_usage) == snapshot

    def test_truncated_call(self, snapshot: SnapshotAssertion) -> None:
        cut = call("chat", "first", "book", '{"seat":1')
        answer = reply("chat", [cut], "length", stream=True, stream_options={"include_usage": True})
        assert lines(stream(answer), choices_and_usage) == snapshot

    def test_a_call_without_arguments_is_a_head_only(self) -> None:
        answer = reply("chat", [call("chat", "a", "book", "")], "calls")
        frames = DIALECT.frames(answer, [Open(0), Fragment(0, "")])
        assert [frame.part for frame in frames] == ["head", "open", "finish", "terminal"]

    @pytest.mark.parametrize(
        ("content", "first"),
        [
            ([Say("Hi")], {"role": "assistant", "content": "", "refusal": None}),
            ([], {"role": "assistant", "content": "", "refusal": None}),
            ([Refuse("No")], {"role": "assistant", "content": None, "refusal": ""}),
            ([call("chat", "a", "book", "")], {"role": "assistant", "content": None}),
        ],
    )
    def test_the_first_delta_tells_what_comes(
        self, content: list[Piece], first: JsonObject
    ) -> None:
        assert deltas(reply("chat", content))[0] == first

    def test_usage_is_null_until_the_chunk_without_choices(self) -> None:
        answer = reply("chat", [Say("Hi")], stream=True, stream_options={"include_usage": True})
        *others, last = chunks(answer)
        assert all(chunk["usage"] is None for chunk in others)
        assert last["choices"] == []
        assert last["usage"] == DIALECT.whole(answer)["usage"]

    def test_the_envelope_is_the_same_in_all_chunks(self) -> None:
        answer = reply("chat", TWO_CALLS, "calls")
        varying = ("choices", "obfuscation")
        envelopes = [
            {key: value for key, value in chunk.items() if key not in varying}
            for chunk in chunks(answer)
        ]
        assert envelopes == [envelopes[0]] * len(envelopes)
        assert {
            key: value for key, value in DIALECT.whole(answer).items() if key in envelopes[0]
        } == {**envelopes[0], "object": "chat.completion"}

    def test_obfuscation_evens_out_the_sizes_unless_switched_off(self) -> None:
        def sizes(**options: bool) -> set[int]:
            answer = reply("chat", [Say("Hello you")], stream_options=options)
            frames = DIALECT.frames(answer, in_order(answer.content, 2))
            padding = [f.data.get("obfuscation") for f in frames if isinstance(f.data, dict)]
            return {
                len(frame.text) + len(pad)
                for frame, pad in zip(frames, padding, strict=False)
                if isinstance(pad, str)
            }

        assert sizes() == {16}
        assert sizes(include_obfuscation=False) == set()

    def test_frames_are_labelled_for_faults(self) -> None:
        frames = stream(reply("chat", TWO_CALLS, "calls"))
        texts = {
            label: "".join(frame.text for frame in frames if frame.label == label)
            for label in ("say", "first", "second")
        }
        assert texts == {"say": "Booking both.", "first": '{"seat":12}', "second": '{"seat":13}'}


def check_usage(usage: CompletionUsage, answer: Answer) -> None:
    assert (usage.prompt_tokens, usage.completion_tokens) == (
        answer.usage.input,
        answer.usage.output,
    )
    assert usage.total_tokens == answer.usage.input + answer.usage.output
    details = usage.completion_tokens_details
    assert details is not None
    assert details.reasoning_tokens == answer.usage.reasoning


def stream(answer: Answer) -> list[Frame]:
    return DIALECT.frames(answer, in_order(answer.content, 6))


def streamed_text(case: Streamed, kind: type[Say] | type[Refuse]) -> str:
    """The text of the answer in the order in which its fragments went out."""
    return "".join(
        step.text
        for step in case.steps
        if isinstance(step, Fragment) and isinstance(case.answer.content[step.index], kind)
    )


class TestWhole:
    @given(streamed("chat"))
    @settings(deadline=None, max_examples=50)
    def test_the_sdk_reads_what_was_scripted(self, case: Streamed) -> None:
        body = DIALECT.whole(case.answer)
        parsed = ChatCompletion.model_validate(body, strict=True)
        assert parsed.to_dict(exclude_unset=True) == body
        with answering(body) as api:
            completion = api.chat.completions.create(model="m", messages=[])
        message = completion.choices[0].message
        found = [
            (c.id, c.function.name, c.function.arguments)
            if c.type == "function"
            else (c.id, c.custom.name, c.custom.input)
            for c in message.tool_calls or []
        ]
        assert found == spoken_calls(case.answer)
        assert completion.usage is not None
        check_usage(completion.usage, case.answer)
        assert (message.content or "") == "".join(said(case.answer, Say))
        assert (message.refusal or "") == "".join(said(case.answer, Refuse))
        assert completion.choices[0].finish_reason == FINISH[case.answer.stop]

    @pytest.mark.parametrize("stop", STOPS)
    def test_the_public_schema_holds(self, stop: Stop) -> None:
        document = specification("openai-chat-and-responses.openapi.json")
        schema = {"$ref": "#/components/schemas/CreateChatCompletionResponse", **document}
        custom = call("chat", "sql", "query", "SELECT 1", "custom")
        contents: list[list[Piece]] = [
            [Say("Hi")],
            [Refuse("No")],
            TWO_CALLS,
            TWO_CALLS[1:],
            [custom],
            [],
        ]
        for content in contents:
            jsonschema.validate(DIALECT.whole(reply("chat", content, stop)), schema)

    def test_two_calls(self, snapshot: SnapshotAssertion) -> None:
        answer = reply("chat", TWO_CALLS[1:], "calls")
        assert json.dumps(DIALECT.whole(answer), indent=1) == snapshot

    def test_refusal(self, snapshot: SnapshotAssertion) -> None:
        answer = reply("chat", [Refuse("I will not.")], "refusal")
        assert json.dumps(DIALECT.whole(answer), indent=1) == snapshot

    def test_content_is_null_only_where_something_else_is_said(self) -> None:
        def content(*pieces: Say) -> object:
            choices = DIALECT.whole(reply("chat", pieces))["choices"]
            assert isinstance(choices, list)
            return choices[0]["message"]["content"]

        assert content() == ""
        assert content(Say("")) == ""
        assert content(Say("a"), Say("b")) == "ab"


NAMED: dict[ErrorName, tuple[int, str, str | None, str]] = {
    "invalid": (400, "invalid_request_error", "decimal_below_min_value", "temperature"),
    "auth": (401, "invalid_request_error", "invalid_api_key", "sk-loop*****heck"),
    "not_found": (404, "invalid_request_error", "model_not_found", "The model `gpt-x` does not"),
    "conflict": (409, "invalid_request_error", "conflict", "another request"),
    "timeout": (408, "timeout", "request_timeout", "timed out"),
    "rate_limit": (429, "tokens", "rate_limit_exceeded", "Rate limit reached for gpt-x in"),
    "quota": (429, "insufficient_quota", "insufficient_quota", "exceeded your current quota"),
    "server": (500, "server_error", "server_error", "The server had an error"),
    "unavailable": (503, "service_unavailable", None, "temporarily unavailable"),
    "overloaded": (503, "server_error", None, "overloaded with other requests"),
    "context": (400, "invalid_request_error", "context_length_exceeded", "maximum context length"),
}
PARAMS: dict[ErrorName, str] = {"invalid": "temperature", "context": "messages"}


class TestErrors:
    @pytest.mark.parametrize("name", NAMED)
    def test_each_kind_has_the_words_of_the_service(self, name: ErrorName) -> None:
        status, kind, code, words = NAMED[name]
        error = DIALECT.named_error(name, read("chat", question("chat", model="gpt-x")))
        assert (error.status, error.type, error.code) == (status, kind, code)
        assert words in error.message
        assert DIALECT.error_body(error, "req_1") == {
            "error": {
                "message": error.message,
                "type": kind,
                "param": PARAMS.get(name),
                "code": code,
            }
        }

    def test_before_a_request_was_read_the_model_is_a_guess(self) -> None:
        assert "`gpt-4.1`" in DIALECT.named_error("not_found", None).message

    def test_the_sdk_raises_what_the_stream_reports(self) -> None:
        error = DIALECT.named_error("server", None)
        frames = [*stream(reply("chat", TWO_CALLS, "calls"))[:4], *DIALECT.error_frames(error, 4)]
        assert [frame.part for frame in frames[4:]] == ["error"]
        with streaming(frames) as api:
            received = api.chat.completions.create(model="m", messages=[], stream=True)
            with pytest.raises(APIError) as caught:
                list(received)
        assert (caught.value.message, caught.value.code) == (error.message, "server_error")


class TestManners:
    def test_what_is_served(self) -> None:
        assert DIALECT is dialect("chat")
        assert DIALECT.base_url("http://127.0.0.1:1/c/k") == "http://127.0.0.1:1/c/k/v1"
        assert DIALECT.serves("POST", "/v1/chat/completions") == "generate"
        assert DIALECT.serves("GET", "/v1/models") == "side"
        assert DIALECT.serves("GET", "/v1/models/gpt-4.1") == "side"
        assert DIALECT.serves("GET", "/v1/chat/completions") == "side"
        assert DIALECT.serves("PUT", "/v1/chat/completions") is None
        assert DIALECT.serves("POST", "/v1/responses") is None

    @pytest.mark.parametrize(
        ("header", "key"),
        [
            ("Bearer sk-1", "sk-1"),
            ("bearer  sk-1 ", "sk-1"),
            ("Bearer ", None),
            ("Basic sk-1", None),
            ("", None),
        ],
    )
    def test_the_key_is_a_bearer_token(self, header: str, key: str | None) -> None:
        assert DIALECT.authenticate({"authorization": header}) == key
        assert DIALECT.authenticate({}) is None

    def test_models(self) -> None:
        listed = DIALECT.side(HttpRequest(method="GET", path="/v1/models"))
        one = DIALECT.side(HttpRequest(method="GET", path="/v1/models/gpt-x"))
        with answering(listed) as api:
            assert "gpt-4.1" in [model.id for model in api.models.list()]
        with answering(one) as api:
            assert api.models.retrieve("gpt-x").id == "gpt-x"

    def test_headers(self) -> None:
        headers = dict(DIALECT.headers("req_1", streamed=True))
        assert headers["x-request-id"] == "req_1"
        assert headers["openai-version"] == "2020-10-01"
        assert {"openai-organization", "openai-processing-ms"} <= set(headers)
        assert sum(name.startswith("x-ratelimit-") for name in headers) == 6

    @given(st.from_regex(r"[0-9a-f]{64}", fullmatch=True))
    def test_ids_have_the_shapes_of_the_service(self, digest: str) -> None:
        assert re.fullmatch(r"chatcmpl-[0-9A-Za-z]{29}", DIALECT.response_id(digest))
        assert re.fullmatch(r"req_[0-9a-f]{32}", DIALECT.request_id(digest))
        assert DIALECT.item_id("call", digest) == DIALECT.seal(digest, redacted=False) == ""

    @given(st.from_regex(r"[0-9a-f]{64}", fullmatch=True), st.text(max_size=20))
    def test_call_ids_show_their_label(self, digest: str, label: str) -> None:
        call_id = DIALECT.call_id(label, digest)
        assert re.fullmatch(r"call_[0-9A-Za-z_]{24}", call_id)
        if re.fullmatch(r"[A-Za-z0-9_]+", label):
            assert call_id.startswith(f"call_{label[:12]}_")

    def test_nothing_is_stored_but_what_the_ids_and_names_were(self) -> None:
        memory = Memory()
        answer = reply("chat", TWO_CALLS, "calls")
        DIALECT.remember(answer, memory)
        assert memory == Memory(issued={"book", *(piece.call_id for piece in answer.calls)})


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        (thought("Hm."), "thinking: 'Hm.'"),
        (hosted("web_search_call", "{}", None, label="find"), "'find' (web_search_call)"),
    ],
)
def test_what_this_protocol_has_no_place_for(piece: Piece, words: str) -> None:
    answer = reply("chat", [Say("Hi"), piece])
    with pytest.raises(ValueError, match=re.escape(words)):
        DIALECT.whole(answer)
    with pytest.raises(ValueError, match=re.escape(words)):
        stream(answer)
