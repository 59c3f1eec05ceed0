"""The adapters with the real SDKs: what goes out, what comes back, and what breaks."""

from __future__ import annotations

import json
from collections.abc import Mapping

import httpx2
import pytest
from sdk_replies import Answer, Cut, JsonObject, Service, data_only, history, typed

from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Failed,
    Final,
    ProviderAdapter,
    Reply,
    TaskInfo,
    ToolOffer,
    Usage,
)
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.adapters.conversation import Conversation
from loopcheck.reference_loop.adapters.messages import MessagesAdapter
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter

pytestmark = pytest.mark.asyncio

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
LOOK = ToolOffer(name="look", description="Looks.", parameters=SCHEMA)
TASK = TaskInfo(prompt="Go.", tools=(LOOK,))
DIALECTS = ("chat", "responses", "messages")


def adapter(dialect: str, service: Service, *, stream: bool) -> ProviderAdapter[Conversation]:
    if dialect == "chat":
        return ChatAdapter(client=service.openai(), model="m", stream=stream)
    if dialect == "responses":
        return ResponsesAdapter(client=service.openai(), model="m", stream=stream)
    return MessagesAdapter(client=service.anthropic(), model="m", stream=stream)


async def ask(dialect: str, answer: Answer, *, stream: bool) -> Reply:
    service = Service([answer])
    speaker = adapter(dialect, service, stream=stream)
    return await speaker.request(speaker.start(TASK))


# What each dialect says for: a text, and one call with two results expected for it.

CHAT_TEXT = {"choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}]}
CHAT_WORD = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi."}}]}
CHAT_STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
CHAT_TEXT_STREAM = data_only(CHAT_WORD, CHAT_STOP, {"choices": [], "usage": {"total_tokens": 3}})
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hi.", "annotations": []}],
}
RESPONSES_TEXT = {"id": "resp_1", "status": "completed", "output": [MESSAGE]}
RESPONSES_TEXT_STREAM = typed(
    {"type": "response.created", "response": {"id": "resp_1", "output": []}},
    {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE},
    {"type": "response.completed", "response": RESPONSES_TEXT},
)
MESSAGES_TEXT = {"content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}
MESSAGES_TEXT_STREAM = typed(
    {"type": "message_start", "message": {"id": "msg_1", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "Hi."},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
)
TEXTS: Mapping[str, Mapping[str, object]] = {
    "chat": CHAT_TEXT,
    "responses": RESPONSES_TEXT,
    "messages": MESSAGES_TEXT,
}
STREAMS = {
    "chat": CHAT_TEXT_STREAM,
    "responses": RESPONSES_TEXT_STREAM,
    "messages": MESSAGES_TEXT_STREAM,
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_final_answer(dialect: str, stream: bool) -> None:
    answer: Answer = STREAMS[dialect] if stream else TEXTS[dialect]
    assert await ask(dialect, answer, stream=stream) == Final("Hi.")


async def test_the_first_request_in_each_dialect() -> None:
    sent = {}
    for dialect in DIALECTS:
        service = Service([TEXTS[dialect]])
        speaker = adapter(dialect, service, stream=False)
        await speaker.request(speaker.start(TASK))
        sent[dialect] = service.requests[0]
    function = {"name": "look", "description": "Looks.", "parameters": SCHEMA}
    user = {"role": "user", "content": "Go."}
    assert sent == {
        "chat": {
            "model": "m",
            "messages": [user],
            "tools": [{"type": "function", "function": function}],
        },
        "responses": {
            "model": "m",
            "input": [user],
            "tools": [{"type": "function", "strict": False, **function}],
        },
        "messages": {
            "model": "m",
            "max_tokens": 4096,
            "messages": [user],
            "tools": [{"name": "look", "description": "Looks.", "input_schema": SCHEMA}],
        },
    }


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_streaming_is_asked_for(dialect: str) -> None:
    service = Service([STREAMS[dialect]])
    speaker = adapter(dialect, service, stream=True)
    await speaker.request(speaker.start(TASK))
    assert service.requests[0]["stream"] is True


CHOICES: dict[tuple[str, str], object] = {
    ("chat", "required"): "required",
    ("chat", "none"): "none",
    ("chat", "look"): {"type": "function", "function": {"name": "look"}},
    ("responses", "required"): "required",
    ("responses", "none"): "none",
    ("responses", "look"): {"type": "function", "name": "look"},
    ("messages", "required"): {"type": "any"},
    ("messages", "none"): {"type": "none"},
    ("messages", "look"): {"type": "tool", "name": "look"},
}


@pytest.mark.parametrize(("dialect", "choice"), CHOICES)
async def test_a_forced_choice_holds_for_the_first_response(dialect: str, choice: str) -> None:
    service = Service([TEXTS[dialect], TEXTS[dialect]])
    speaker = adapter(dialect, service, stream=False)
    talk = speaker.start(TaskInfo(prompt="Go.", tools=(LOOK,), tool_choice=choice))
    await speaker.request(talk)
    await speaker.request(talk.extended([]))
    sent = [request.get("tool_choice") for request in service.requests]
    wanted = CHOICES[dialect, choice]
    assert sent == [wanted, wanted if choice == "none" else None]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_without_tools_nothing_is_said_about_tools(dialect: str) -> None:
    service = Service([TEXTS[dialect]])
    speaker = adapter(dialect, service, stream=False)
    await speaker.request(speaker.start(TaskInfo(prompt="Go.", tool_choice="required")))
    assert service.requests[0].keys() & {"tools", "tool_choice"} == set()


def results(calls: Calls, arguments: JsonObject | None) -> list[CallResult]:
    bad = arguments is None
    return [
        CallResult(
            call_id=call.call_id,
            text=f"result {position}",
            is_error=bad,
            arguments=arguments,
        )
        for position, call in enumerate(calls.calls)
    ]


async def second_request(
    dialect: str, answer: Answer, arguments: JsonObject | None, *, stream: bool
) -> list[object]:
    """What the next request adds to the prompt, after these calls got these results."""
    service = Service([answer, STREAMS[dialect] if stream else TEXTS[dialect]])
    speaker = adapter(dialect, service, stream=stream)
    talk = speaker.start(TASK)
    calls = await speaker.request(talk)
    assert isinstance(calls, Calls)
    await speaker.request(speaker.append(talk, calls, results(calls, arguments)))
    return list(history(service.requests[1], "input" if dialect == "responses" else "messages"))[1:]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [False, True])
async def test_tokens_are_counted(dialect: str, stream: bool) -> None:
    counts = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "input_tokens": 9,
        "output_tokens": 5,
    }
    if stream:
        whole = {**TEXTS[dialect], "usage": counts}
        events = {
            "chat": data_only(CHAT_WORD, CHAT_STOP, {"choices": [], "usage": counts}),
            "responses": typed({"type": "response.completed", "response": whole}),
            "messages": MESSAGES_TEXT_STREAM.replace(
                '"type": "message_delta"', f'"type": "message_delta", "usage": {json.dumps(counts)}'
            ),
        }
        answer: Answer = events[dialect]
    else:
        answer = {**TEXTS[dialect], "usage": counts}
    service = Service([answer])
    speaker = adapter(dialect, service, stream=stream)
    reply = await speaker.request(speaker.start(TASK))
    assert reply == Final("Hi.", usage=Usage(input_tokens=9, output_tokens=5))
    asked = {"include_usage": True} if (dialect, stream) == ("chat", True) else None
    assert service.requests[0].get("stream_options") == asked


def chat_calls(arguments: str, *, name: str = "look") -> JsonObject:
    calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id in ("c1", "c1")
    ]
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": calls}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize(
    ("written", "arguments", "replayed"),
    [
        ('{"n" : 1}', {"n": 1}, '{"n" : 1}'),
        ('{"n":1', None, "{}"),
        ("", {}, "{}"),
    ],
)
async def test_chat_history(written: str, arguments: JsonObject | None, replayed: str) -> None:
    function = {"name": "look", "arguments": replayed}
    call = {"id": "c1", "type": "function", "function": function}
    assert await second_request("chat", chat_calls(written), arguments, stream=False) == [
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "tool_call_id": "c1", "content": "result 0"},
        {"role": "tool", "tool_call_id": "c1", "content": "result 1"},
    ]


async def test_chat_history_of_a_stream_with_text_and_an_ill_formed_name() -> None:
    head = {"index": 0, "id": "c1", "function": {"name": "no such!", "arguments": "{}"}}
    stream = data_only(
        {"choices": [{"index": 0, "delta": {"content": "Let me see.", "tool_calls": [head]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    )
    function = {"name": "invalid_tool_name", "arguments": "{}"}
    assert await second_request("chat", stream, {}, stream=True) == [
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "result 0"},
    ]


async def test_chat_history_of_a_custom_call() -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "look", "input": "not JSON"}}
    message = {"content": "Let me see.", "tool_calls": [custom]}
    answer = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert await second_request("chat", answer, None, stream=False) == [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c1", "content": "result 0"},
    ]


async def test_responses_history_of_a_custom_call_between_what_the_service_did() -> None:
    custom: JsonObject = {
        "id": "ctc_1",
        "type": "custom_tool_call",
        "call_id": "call_2",
        "name": "look",
        "input": "not JSON",
    }
    search = {"id": "ws_1", "type": "web_search_call", "action": {"query": "x"}}
    answer = {"status": "completed", "output": [search, custom, function_call('{"n":1}')]}
    assert await second_request("responses", answer, {"n": 1}, stream=False) == [
        search,
        custom,
        function_call('{"n":1}'),
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "result 0"},
        {"type": "function_call_output", "call_id": "call_1", "output": "result 1"},
    ]


async def test_an_id_that_no_item_can_have_is_left_out() -> None:
    odd = function_call('{"n":1}') | {"id": "call_1"}
    answer = {"status": "completed", "output": [odd]}
    [item, _] = await second_request("responses", answer, {"n": 1}, stream=False)
    del odd["id"]
    assert item == odd


REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "opaque",
}


def function_call(arguments: str) -> JsonObject:
    return {
        "id": "fc_1",
        "type": "function_call",
        "status": "completed",
        "call_id": "call_1",
        "name": "look",
        "arguments": arguments,
        "brand_new": {"kept": None},
    }


EMPTY_MESSAGE = {**MESSAGE, "id": "msg_0", "content": []}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("written", "arguments", "replayed"),
    [('{"n" : 1}', {"n": 1}, '{"n" : 1}'), ('{"n":1', None, "{}"), ("", {}, "{}")],
)
async def test_responses_history(
    stream: bool, written: str, arguments: JsonObject | None, replayed: str
) -> None:
    output = [REASONING, MESSAGE, EMPTY_MESSAGE, function_call(written)]
    whole = {"id": "resp_1", "status": "completed", "output": output}
    answer: Answer = typed({"type": "response.completed", "response": whole}) if stream else whole
    assert await second_request("responses", answer, arguments, stream=stream) == [
        REASONING,
        MESSAGE,
        function_call(replayed),
        {"type": "function_call_output", "call_id": "call_1", "output": "result 0"},
    ]


THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


def tool_use(given: object) -> JsonObject:
    return {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "look",
        "input": given,
        "caller": {"type": "direct"},
    }


@pytest.mark.parametrize(
    ("written", "arguments", "replayed"),
    [({"n": 1}, {"n": 1}, {"n": 1}), ({}, {}, {}), ([], None, {})],
)
async def test_messages_history(
    written: object, arguments: JsonObject | None, replayed: object
) -> None:
    blank = {"type": "text", "text": ""}
    message = {"content": [THINKING, blank, tool_use(written)], "stop_reason": "tool_use"}
    answer: JsonObject = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "result 0"}
    if arguments is None:
        answer = answer | {"is_error": True}
    assert await second_request("messages", message, arguments, stream=False) == [
        {"role": "assistant", "content": [THINKING, tool_use(replayed)]},
        {"role": "user", "content": [answer]},
    ]


async def test_messages_history_of_a_stream() -> None:
    stream = typed(
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "Hm."},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": "c2ln"},
        },
        {"type": "content_block_start", "index": 1, "content_block": tool_use({})},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"n":1}'},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
        {"type": "message_stop"},
    )
    assert await second_request("messages", stream, {"n": 1}, stream=True) == [
        {"role": "assistant", "content": [THINKING, tool_use({"n": 1})]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "result 0"}],
        },
    ]


async def test_messages_history_of_what_the_service_did_itself() -> None:
    content = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        tool_use({"n": 1}),
    ]
    message = {"content": content, "stop_reason": "tool_use"}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "result 0"}
    assert await second_request("messages", message, {"n": 1}, stream=False) == [
        {"role": "assistant", "content": content},
        {"role": "user", "content": [answer]},
    ]


@pytest.mark.parametrize("stream", [False, True])
async def test_the_container_of_a_response_is_named_in_the_next_request(stream: bool) -> None:
    stop = {"stop_reason": "pause_turn", "container": {"id": "container_1"}}
    paused: Answer = {"content": [], **stop}
    if stream:
        paused = typed({"type": "message_delta", "delta": stop}, {"type": "message_stop"})
    service = Service([paused, STREAMS["messages"] if stream else TEXTS["messages"]])
    speaker = adapter("messages", service, stream=stream)
    talk = speaker.start(TASK)
    calls = await speaker.request(talk)
    assert isinstance(calls, Calls)
    await speaker.request(speaker.append(talk, calls, []))
    assert [request.get("container") for request in service.requests] == [None, "container_1"]


@pytest.mark.parametrize("content", [[{"type": "text", "text": "Wait."}], []])
async def test_a_paused_turn_is_sent_back_alone(content: list[JsonObject]) -> None:
    paused = {"content": content, "stop_reason": "pause_turn"}
    turn = [{"role": "assistant", "content": content}] if content else []
    assert await second_request("messages", paused, {}, stream=False) == turn


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [False, True])
async def test_what_fails_before_a_response_is_left_to_the_loop(dialect: str, stream: bool) -> None:
    """The client that was handed over would try twice more."""
    headers = {"retry-after-ms": "20"}
    busy = httpx2.Response(429, headers=headers, json={"error": {"type": "x", "message": "Busy."}})
    service = Service([busy], retries=2)
    speaker = adapter(dialect, service, stream=stream)
    reply = await speaker.request(speaker.start(TASK))
    assert isinstance(reply, Failed)
    assert reply.error.startswith("RateLimitError: ")
    assert (reply.status, reply.retry_after, reply.retryable) == (429, 0.02, True)
    assert len(service.requests) == 1
    lost = await ask(dialect, httpx2.ConnectError("no route"), stream=stream)
    assert lost == Failed("APIConnectionError: Connection error.", retryable=True)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_whole_response_that_cannot_be_read_may_go_better(dialect: str) -> None:
    headers = {"content-type": "application/json"}
    reply = await ask(
        dialect, httpx2.Response(200, headers=headers, content=b'{"id": '), stream=False
    )
    assert isinstance(reply, Failed)
    assert reply.retryable
    html = httpx2.Response(200, headers={"content-type": "text/html"}, content=b"<html>")
    reply = await ask(dialect, html, stream=False)
    assert isinstance(reply, Failed)
    assert reply.retryable


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("kind", "retryable"), [("server_error", True), ("invalid_request_error", False)]
)
async def test_an_error_object_instead_of_a_response(
    dialect: str, kind: str, retryable: bool
) -> None:
    body = {"error": {"type": kind, "message": "Sorry."}}
    assert await ask(dialect, body, stream=False) == Failed("Sorry.", retryable=retryable)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_stream_that_ends_early_is_no_response(dialect: str) -> None:
    frames = STREAMS[dialect].split("\n\n")[:-1]
    needed = {"chat": 2, "responses": 3, "messages": 6}[dialect]
    for kept in range(len(frames) + 1):
        body = "".join(frame + "\n\n" for frame in frames[:kept])
        reply = await ask(dialect, body, stream=True)
        if kept < needed:
            assert isinstance(reply, Failed)
            assert reply.retryable
        else:
            assert reply == Final("Hi.")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_connection_that_breaks(dialect: str) -> None:
    frames = STREAMS[dialect].split("\n\n")[:-1]
    last = {"chat": 4, "responses": 3, "messages": 6}[dialect]  # chat ends with [DONE]
    for kept in range(len(frames) + 1):
        body = "".join(frame + "\n\n" for frame in frames[:kept])
        reply = await ask(dialect, Cut(body), stream=True)
        if kept < last:
            assert isinstance(reply, Failed)
            assert reply.retryable
        else:
            assert reply == Final("Hi.")


CHAT_ERROR = data_only({"error": {"type": "server_error", "message": "Sorry."}})
RESPONSES_ERROR = typed(
    {"type": "error", "error": {"type": "server_error", "message": "Sorry."}},
    {"type": "response.failed", "response": {"status": "failed"}},
)
MESSAGES_ERROR = typed({"type": "error", "error": {"type": "api_error", "message": "Sorry."}})


@pytest.mark.parametrize(
    ("dialect", "stream"),
    [("chat", CHAT_ERROR), ("responses", RESPONSES_ERROR), ("messages", MESSAGES_ERROR)],
)
async def test_an_error_inside_a_stream(dialect: str, stream: str) -> None:
    assert await ask(dialect, stream, stream=True) == Failed("Sorry.", retryable=True)
    hopeless = stream.replace("server_error", "insufficient_quota")
    hopeless = hopeless.replace("api_error", "invalid_request_error")
    assert await ask(dialect, hopeless, stream=True) == Failed("Sorry.", retryable=False)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_frame_that_is_no_json_breaks_the_response(dialect: str) -> None:
    broken = STREAMS[dialect].replace("}\n\n", "\n\n", 1)
    reply = await ask(dialect, broken, stream=True)
    assert isinstance(reply, Failed)
    assert reply.retryable


async def test_history_is_json_of_its_own() -> None:
    """What is sent back is what came, also where the SDK has no field for it."""
    answer = {"id": "r", "status": "completed", "output": [function_call('{"n":1}')]}
    [item, _] = await second_request("responses", answer, {"n": 1}, stream=False)
    assert json.loads(json.dumps(item)) == function_call('{"n":1}')
