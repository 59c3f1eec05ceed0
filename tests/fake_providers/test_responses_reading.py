"""Responses: what a request says, stored state included, and what is wrong with a malformed one."""

from __future__ import annotations

import pytest
from openai_answers import RESPONSES_TOOL, call, judged, question, read, refusal, reply

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.responses import DIALECT
from loopcheck.fake_providers.script import Say
from loopcheck.fake_providers.wire import Answer, Item, JsonObject, OfferedTool


class TestReading:
    def test_a_conversation_becomes_neutral_items(self) -> None:
        reading = read(
            "responses",
            {
                "model": "gpt-4.1",
                "stream": True,
                "tools": [RESPONSES_TOOL],
                "tool_choice": "required",
                "input": [
                    {"role": "developer", "content": "Be brief."},
                    {"role": "user", "content": [{"type": "input_text", "text": "Go"}]},
                    {
                        "type": "reasoning",
                        "id": "rs_1",
                        "summary": [{"type": "summary_text", "text": "Hmm"}],
                    },
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [
                            {"type": "output_text", "text": "On "},
                            {"type": "output_text", "text": "it."},
                        ],
                    },
                    {
                        "type": "function_call",
                        "id": "fc_1",
                        "call_id": "call_1",
                        "name": "book",
                        "arguments": '{"a":1}',
                    },
                    {
                        "type": "custom_tool_call",
                        "call_id": "call_2",
                        "name": "run",
                        "input": "ls",
                    },
                    {"type": "web_search_call", "id": "ws_1"},
                    {"type": "custom_tool_call_output", "call_id": "call_2", "output": "files"},
                    {
                        "type": "function_call_output",
                        "call_id": "call_1",
                        "output": [
                            {"type": "input_text", "text": "do"},
                            {"type": "input_image", "image_url": "data:"},
                            {"type": "input_text", "text": "ne"},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": [{"type": "refusal", "refusal": "I will not."}],
                    },
                    {"role": "user", "content": "Why?"},
                    {"role": "assistant", "content": ""},
                ],
            },
        )
        assert reading.items == (
            Item(kind="system", path="input[0]", text="Be brief."),
            Item(kind="user", path="input[1]", text="Go"),
            Item(kind="think", path="input[2]", text="Hmm", reply=0, item_id="rs_1"),
            Item(kind="say", path="input[3]", text="On it.", reply=0),
            Item(
                kind="call",
                path="input[4]",
                call_id="call_1",
                name="book",
                arguments='{"a":1}',
                reply=0,
                item_id="fc_1",
            ),
            Item(
                kind="call",
                path="input[5]",
                call_id="call_2",
                name="run",
                arguments="ls",
                reply=0,
            ),
            Item(kind="other", path="input[6]", reply=0),
            Item(kind="result", path="input[7]", call_id="call_2", text="files"),
            Item(kind="result", path="input[8]", call_id="call_1", text="done"),
            Item(kind="refusal", path="input[9]", text="I will not.", reply=1),
            Item(kind="user", path="input[10]", text="Why?"),
            Item(kind="say", path="input[11]", reply=2),
        )
        assert reading.stream
        assert reading.tool_choice == "required"
        assert reading.tools == (
            OfferedTool(name="book", schema={"type": "object", "properties": {}}),
        )

    def test_a_bare_string_is_what_the_user_says(self) -> None:
        reading = read("responses", {"model": "m", "input": "Go."})
        assert reading.items == (Item(kind="user", path="input", text="Go."),)
        assert reading.history == [{"type": "message", "role": "user", "content": "Go."}]

    @pytest.mark.parametrize(
        ("item", "reply"),
        [
            ({"type": "mcp_call", "id": "mcp_1"}, 1),
            ({"type": "program_output", "call_id": "c"}, 1),
            ({"type": "tool_search_output", "execution": "server"}, 1),
            ({"type": "tool_search_output", "execution": "client"}, None),
            ({"type": "shell_call_output", "call_id": "c"}, None),
            ({"type": "mcp_approval_response", "approve": True}, None),
        ],
    )
    def test_whose_the_other_items_are(self, item: JsonObject, reply: int | None) -> None:
        before = [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
        reading = read("responses", {"model": "m", "input": [*before, item]})
        assert reading.items[-1] == Item(kind="other", path="input[2]", reply=reply)

    def test_tools_of_any_legal_form(self) -> None:
        tools = [
            {"type": "function", "name": "plain", "parameters": None},
            {"type": "custom", "name": "free", "format": {"type": "text"}},
            {"type": "namespace", "name": "group", "tools": [RESPONSES_TOOL]},
            {"type": "web_search"},
        ]
        choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}
        reading = judged("responses", question("responses", tools=tools, tool_choice=choice))
        assert reading.tools == (
            OfferedTool(name="plain", schema={}),
            OfferedTool(name="free", schema={}),
            OfferedTool(name="book", schema={"type": "object", "properties": {}}),
        )
        assert reading.tool_choice == choice

    def test_a_stored_response_comes_first(self) -> None:
        memory = Memory()
        book = call("responses", "book", "book", "{}")
        answer = reply("responses", [Say("On it."), book], "calls")
        DIALECT.remember(answer, memory)
        result = {"type": "function_call_output", "call_id": book.call_id, "output": "done"}
        reading = read(
            "responses",
            {"model": "m", "previous_response_id": answer.response_id, "input": [result]},
            memory,
        )
        stored = answer.response_id
        assert reading.previous == stored
        assert reading.items == (
            Item(kind="user", path=f"{stored}[0]", origin="stored", text="Go."),
            Item(kind="say", path=f"{stored}[1]", origin="stored", text="On it.", reply=0),
            Item(
                kind="call",
                path=f"{stored}[2]",
                origin="stored",
                call_id=book.call_id,
                name="book",
                arguments="{}",
                reply=0,
                item_id=book.item_id,
            ),
            Item(kind="result", path="input[0]", call_id=book.call_id, text="done"),
        )
        assert reading.history == [*memory.conversations[stored], result]

    def test_a_reference_is_replaced_by_the_stored_item(self) -> None:
        memory = Memory()
        book = call("responses", "book", "book", "{}")
        answer = reply("responses", [book], "calls")
        DIALECT.remember(answer, memory)
        reading = read(
            "responses",
            {"model": "m", "input": [{"type": "item_reference", "id": book.item_id}]},
            memory,
        )
        assert reading.history == [memory.conversations[answer.response_id][1]]
        assert [(item.call_id, item.origin, item.path) for item in reading.items] == [
            (book.call_id, "stored", f"{answer.response_id}[1]")
        ]

    def test_a_chain_of_stored_responses(self) -> None:
        memory = Memory()
        first = reply("responses", [Say("One.")])
        DIALECT.remember(first, memory)
        body = {"model": "m", "previous_response_id": first.response_id, "input": "More."}
        reading = read("responses", body, memory)
        second = Answer(
            response_id="resp_2",
            item_ids=("msg_2",),
            model="m",
            created=1,
            content=(Say("Two."),),
            stop="end",
            usage=first.usage,
            reading=reading,
        )
        DIALECT.remember(second, memory)
        body = {"model": "m", "previous_response_id": "resp_2"}
        items = read("responses", body, memory).items
        assert [(item.text, item.reply) for item in items] == [
            ("Go.", None),
            ("One.", 0),
            ("More.", None),
            ("Two.", 1),
        ]


class TestMalformed:
    @pytest.mark.parametrize(
        ("body", "param", "message"),
        [
            ({"input": "Go."}, "model", "Missing required parameter: 'model'."),
            (
                {"model": 7, "input": "Go."},
                "model",
                "Invalid type for 'model': expected a string, but got an integer instead.",
            ),
            ({"model": "m"}, "input", "Missing required parameter: 'input'."),
            (
                {"model": "m", "input": {"role": "user"}},
                "input",
                "Invalid type for 'input': expected an array of objects, but got an object "
                "instead.",
            ),
            (
                {"model": "m", "input": [None]},
                "input[0]",
                "Invalid type for 'input[0]': expected an object, but got null instead.",
            ),
            (
                {"model": "m", "input": [{"type": 1}]},
                "input[0].type",
                "Invalid type for 'input[0].type': expected a string, but got an integer instead.",
            ),
            (
                {"model": "m", "input": [{"role": "user", "content": None}]},
                "input[0].content",
                "Invalid type for 'input[0].content': expected one of an array of objects or "
                "string, but got null instead.",
            ),
            (
                {
                    "model": "m",
                    "input": [
                        {"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}
                    ],
                },
                "input[0].arguments",
                "Invalid type for 'input[0].arguments': expected a string, but got an object "
                "instead.",
            ),
            (
                {
                    "model": "m",
                    "input": [{"type": "function_call_output", "call_id": "c", "output": {}}],
                },
                "input[0].output",
                "Invalid type for 'input[0].output': expected one of an array of objects or "
                "string, but got an object instead.",
            ),
            (
                {"model": "m", "input": "Go.", "previous_response_id": 1},
                "previous_response_id",
                "Invalid type for 'previous_response_id': expected a string, but got an integer "
                "instead.",
            ),
            (
                question("responses", tools=[{"type": "function", "function": {"name": "f"}}]),
                "tools[0].name",
                "Missing required parameter: 'tools[0].name'.",
            ),
        ],
    )
    def test_bodies(self, body: object, param: str, message: str) -> None:
        error = refusal("responses", body)
        assert (error.status, error.type) == (400, "invalid_request_error")
        assert (error.param, error.message) == (param, message)
