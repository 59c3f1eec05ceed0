"""Chat Completions: what a request says, and what is wrong with a malformed one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai_answers import CHAT_TOOL, judged, question, read, refusal

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.chat import DIALECT
from loopcheck.fake_providers.wire import HttpRequest, Item, JsonObject, OfferedTool, ServiceError


class TestReading:
    def test_a_conversation_becomes_neutral_items(self) -> None:
        reading = read(
            "chat",
            {
                "model": "gpt-4.1",
                "stream": True,
                "tools": [CHAT_TOOL],
                "tool_choice": {"type": "function", "function": {"name": "book"}},
                "messages": [
                    {"role": "developer", "content": "Be brief."},
                    {"role": "user", "content": [{"type": "text", "text": "Go"}, {"type": "x"}]},
                    {
                        "role": "assistant",
                        "content": "On it.",
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "book", "arguments": '{"a":1}'},
                            },
                            {
                                "id": "call_2",
                                "type": "custom",
                                "custom": {"name": "run", "input": "ls"},
                            },
                        ],
                    },
                    {
                        "role": "tool",
                        "tool_call_id": "call_2",
                        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": "done"},
                    {"role": "assistant", "content": None, "refusal": "I will not."},
                ],
            },
        )
        path = "messages[2].tool_calls"
        assert reading.items == (
            Item(kind="system", path="messages[0]", text="Be brief."),
            Item(kind="user", path="messages[1]", text="Go"),
            Item(kind="say", path="messages[2].content", text="On it.", reply=0),
            Item(
                kind="call",
                path=f"{path}[0]",
                call_id="call_1",
                name="book",
                arguments='{"a":1}',
                reply=0,
            ),
            Item(
                kind="call",
                path=f"{path}[1]",
                call_id="call_2",
                name="run",
                arguments="ls",
                reply=0,
            ),
            Item(kind="result", path="messages[3]", call_id="call_2", text="ab"),
            Item(kind="result", path="messages[4]", call_id="call_1", text="done"),
            Item(kind="refusal", path="messages[5].refusal", text="I will not.", reply=1),
        )
        assert reading.stream
        assert reading.tools == (
            OfferedTool(name="book", schema={"type": "object", "properties": {}}),
        )
        assert reading.tool_choice == {"type": "function", "function": {"name": "book"}}

    def test_an_assistant_message_without_a_word_is_still_a_reply(self) -> None:
        body = question("chat")
        body["messages"] = [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": ""},
            {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": ""}},
            {"role": "function", "name": "f", "content": None},
        ]
        assert read("chat", body).items[1:] == (
            Item(kind="say", path="messages[1]", reply=0),
            Item(kind="call", path="messages[2].function_call", name="f", arguments="", reply=1),
            Item(kind="result", path="messages[3]", name="f"),
        )

    def test_tools_of_any_legal_form(self) -> None:
        tools = [
            {"type": "function", "function": {"name": "plain"}},
            {"type": "custom", "custom": {"name": "free", "format": {"type": "text"}}},
            {"type": "web_search"},
        ]
        legacy = [{"name": "old", "parameters": {"type": "object"}}]
        choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}}
        reading = judged(
            "chat", question("chat", tools=tools, functions=legacy, tool_choice=choice)
        )
        assert reading.tools == (
            OfferedTool(name="plain", schema={}),
            OfferedTool(name="free", schema={}),
            OfferedTool(name="old", schema={"type": "object"}),
        )
        assert reading.tool_choice == choice

    @pytest.mark.parametrize("tools", [None, []])
    def test_no_tools(self, tools: object) -> None:
        assert read("chat", question("chat", tools=tools)).tools == ()

    @given(st.binary(max_size=20))
    def test_a_body_that_is_no_json_object(self, body: bytes) -> None:
        with pytest.raises(ServiceError) as caught:
            DIALECT.read(HttpRequest(method="POST", path="", body=b"[" + body), Memory())
        assert (caught.value.status, caught.value.param) == (400, None)
        assert caught.value.message.startswith("We could not parse the JSON body of your request.")


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def with_call(**changes: object) -> JsonObject:
    entry = {key: value for key, value in {**CALL, **changes}.items() if value is not None}
    return {"role": "assistant", "content": None, "tool_calls": [entry]}


class TestMalformed:
    @pytest.mark.parametrize(
        ("message", "param", "code", "text"),
        [
            ({}, "messages[0].role", "missing_required_parameter", "Missing required parameter"),
            ({"role": "robot"}, "messages[0].role", "invalid_value", "Invalid value: 'robot'."),
            (7, "messages[0]", "invalid_type", "expected an object, but got an integer"),
            (
                {"role": "tool", "tool_call_id": "c", "content": {"a": 1}},
                "messages[0].content",
                "invalid_type",
                "expected one of a string or array of objects, but got an object",
            ),
            (
                {"role": "tool", "tool_call_id": "c", "content": None},
                "messages.[0].content",
                None,
                "Invalid value for 'content': expected a string, got null.",
            ),
            (
                {"role": "assistant"},
                "messages.[0].content",
                None,
                "Invalid value for 'content': expected a string, got null.",
            ),
            (
                {"role": "assistant", "tool_calls": "c"},
                "messages[0].tool_calls",
                "invalid_type",
                "expected an array of objects, but got a string",
            ),
            (
                {"role": "assistant", "tool_calls": [None]},
                "messages[0].tool_calls[0]",
                "invalid_type",
                "but got null",
            ),
            (
                with_call(id=None),
                "messages[0].tool_calls[0].id",
                "missing_required_parameter",
                "Missing required parameter: 'messages[0].tool_calls[0].id'.",
            ),
            (
                with_call(type=None),
                "messages[0].tool_calls[0].type",
                "missing_required_parameter",
                "Missing",
            ),
            (
                with_call(type="mcp"),
                "messages[0].tool_calls[0].type",
                "invalid_value",
                "Invalid value: 'mcp'. Supported values are: 'function' and 'custom'.",
            ),
            (
                with_call(function=None),
                "messages[0].tool_calls[0].function",
                "missing_required_parameter",
                "Missing",
            ),
            (
                with_call(function=[]),
                "messages[0].tool_calls[0].function",
                "invalid_type",
                "expected an object, but got an array",
            ),
            (
                with_call(function={"name": "f", "arguments": {"a": 1}}),
                "messages[0].tool_calls[0].function.arguments",
                "invalid_type",
                "expected a string, but got an object instead.",
            ),
        ],
    )
    def test_messages(self, message: object, param: str, code: str | None, text: str) -> None:
        error = refusal("chat", {"model": "m", "messages": [message]})
        assert (error.status, error.type) == (400, "invalid_request_error")
        assert (error.param, error.code) == (param, code)
        assert text in error.message

    @pytest.mark.parametrize(
        ("body", "param", "message"),
        [
            ({"messages": []}, None, "you must provide a model parameter"),
            ({"model": "m"}, "messages", "Missing required parameter: 'messages'."),
            (
                {"model": "m", "messages": "hi"},
                "messages",
                "Invalid type for 'messages': expected an array of objects, but got a string "
                "instead.",
            ),
            (
                question("chat", tools=[{"function": {}}]),
                "tools[0].type",
                "Missing required parameter: 'tools[0].type'.",
            ),
            (
                question("chat", tools=[{"type": "function", "name": "f"}]),
                "tools[0].function",
                "Missing required parameter: 'tools[0].function'.",
            ),
            (
                question("chat", tools=[{"type": "function", "function": {}}]),
                "tools[0].function.name",
                "Missing required parameter: 'tools[0].function.name'.",
            ),
        ],
    )
    def test_bodies(self, body: object, param: str | None, message: str) -> None:
        error = refusal("chat", body)
        assert (error.status, error.param, error.message) == (400, param, message)
