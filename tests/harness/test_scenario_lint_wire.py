"""What lint says of quirks, raw responses, and what a dialect cannot carry."""

from __future__ import annotations

import pytest
from scenario_texts import HEAD, TURNS, problems

CALL = "calls: [{as: seat, tool: reserve, args: {event: E1, seat: 12}}]"
NARROW = "narrow the file with dialects or modes, or write the quirks by dialect"
CHAT = "dialects: [chat]\nmodes: [stream]\n"
HOSTED = (
    HEAD + "  search: {kind: hosted, type: {responses: web_search_call, messages: web_search}}\n"
)
STREAM = "dialects: [responses, messages]\nmodes: [stream]\n"


@pytest.mark.parametrize(
    ("quirks", "expected"),
    [
        ("[{index: absent}, args-in-head]", []),
        ("[indx]", ["13:10: 'indx' is no quirk | did you mean 'index'?"]),
        (
            "[late-id]",
            ["13:10: the quirk 'late-id' takes a number from 2; not no value"],
        ),
        (
            "[{filter-frames: betwen}]",
            [
                "13:10: the quirk 'filter-frames' takes one or a list of `first`, `between`, "
                "`after`; not 'betwen' | did you mean 'between'?"
            ],
        ),
        ("[{index: 0, late-id: 2}]", ["13:10: a quirk is a name, or one name with its value"]),
        (
            "[bare-ping]",
            [f"13:10: the quirk 'bare-ping' does nothing in chat-stream | {NARROW}"],
        ),
        (
            "{chat: [unknown-event], messages: [{index: 0}]}",
            [f"13:44: the quirk 'index' does nothing in messages-stream | {NARROW}"],
        ),
        (
            "{chat: [{split-name: [re, serve]}]}",
            [],
        ),
        (
            "[{split-name: [re, serves]}]",
            ["13:10: the pieces join to 'reserves', which is no called tool"],
        ),
        ("[1]", ["13:10: an item of 'quirks' must be text or a mapping, not a whole number"]),
    ],
)
def test_quirks(quirks: str, expected: list[str]) -> None:
    assert problems(f"{TURNS}{CHAT}quirks: {quirks}\n") == expected


def test_quirks_that_do_nothing_in_one_mode_or_without_a_call() -> None:
    assert problems("dialects: [chat]\n" + TURNS + "quirks: [args-in-head]\n") == [
        f"12:10: the quirk 'args-in-head' does nothing in chat-whole | {NARROW}"
    ]
    assert problems("turns: [{say: x, quirks: {chat: [id-in-function]}}]\n") == [
        "8:34: the quirk 'id-in-function' does nothing without a call"
    ]
    odd = "{messages: [{arguments: object}]}"
    assert problems(f"{TURNS}quirks: {odd}\n") == [
        "11:21: the quirk 'arguments' does nothing in messages-whole, messages-stream | " + NARROW
    ]


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (f"modes: [stream]\nturns: [{{{CALL}, raw: 'data: x'}}]\n", []),
        (
            f"turns: [{{{CALL}, raw: 'data: x'}}]\n",
            [
                "8:75: 'raw' writes streams only | narrow with modes: [stream], or write "
                "raw_body, too"
            ],
        ),
        (f"turns: [{{{CALL}, raw: [{{type: x}}, '[DONE]'], raw_body: {{}}}}]\n", []),
        (
            f"modes: [whole]\nturns: [{{{CALL}, raw: x, raw_body: x}}]\n",
            ["9:75: 'raw' does nothing: the file has no stream responses"],
        ),
        (
            f"modes: [stream]\nturns: [{{{CALL}, raw: x, quirks: [unknown-event]}}]\n",
            ["9:83: quirks do not change what 'raw' writes out"],
        ),
        (
            f"modes: [stream]\nturns: [{{{CALL}, raw: {{chat: {{base64: '!'}}}}}}]\n",
            ["9:96: not base64"],
        ),
        (
            f"turns: [{{{CALL}, raw: {{base64: aGk=}}, raw_body: {{base64: '!'}}}}]\n",
            ["8:115: not base64"],
        ),
        (
            f"modes: [stream]\nturns: [{{{CALL}, raw: {{bytes: x}}}}]\n",
            [
                "9:80: turn 1 has no 'base64'",
                "9:81: unknown key 'bytes' in turn 1 | known: base64",
            ],
        ),
    ],
)
def test_raw_responses(tail: str, expected: list[str]) -> None:
    assert problems(tail) == expected


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (
            "needs: [thinking]\nturns: [{think: x}]\n",
            ["9:17: chat has no thinking | narrow the file with dialects"],
        ),
        (
            STREAM + "turns: [{items: [{redacted: true}]}]\n",
            [
                "10:18: thinking wants needs: [thinking] | a target that does not carry it back "
                "is then not declared"
            ],
        ),
        (
            "turns: [{calls: [{as: a, tool: look, raw_args: x, form: custom}]}]\n",
            [
                "8:18: messages has no custom calls | narrow the file with dialects",
                "8:48: a whole response of messages cannot hold these raw_args: no JSON object | "
                "narrow with modes: [stream], or with dialects",
            ],
        ),
        (
            "dialects: [chat]\nturns: [{calls: [{as: a, tool: look, args: {}, form: custom}]}]\n",
            ["9:54: the custom call 'a' wants raw_args: its input is a text"],
        ),
        (
            "turns: [{say: x, attempts: [{fault: error-event, form: finish}]}]\nmodes: [stream]\n"
            "dialects: [chat, messages]\n",
            ["8:56: messages has no error of the form 'finish' | known: error"],
        ),
        (
            "turns: [{say: x, attempts: [{fault: eof, form: {chat: error}, terminal: true}]}]\n"
            "modes: [stream]\n",
            [
                "8:42: 'form' does nothing with the fault 'eof'",
                "8:63: 'terminal' does nothing with the fault 'eof'",
            ],
        ),
        (
            "turns: [{say: x, attempts: [{fault: empty, terminal: true}, normal]}]\n",
            ["8:54: only streams have a terminal event | narrow with modes: [stream]"],
        ),
        (
            "turns: [{say: x, attempts: [{fault: http, until: seat.ended, times: 2}, normal]}]\n",
            [
                "8:50: 'seat.ended' names no call; calls here: none",
                "8:62: 'until' stands instead of 'times'",
            ],
        ),
        (
            "turns: [{say: abc}]\ndelivery: {pauses: [{at: {in: saying, after: b}, for: 5 ms}]}\n",
            ["9:31: 'saying' is no call of this attempt; calls here: none"],
        ),
        ("turns: [{say: abc}]\ndelivery: {pauses: [{at: {in: say, after: b}, for: 5 ms}]}\n", []),
        (
            "turns: [{say: x, think: y, items: [{say: z, think: w}]}]\nneeds: [thinking]\n"
            "dialects: [messages]\n",
            [
                "8:35: 'items' stands instead of think, say, calls and refuse",
                "8:36: an item is one of think, redacted, say, refuse, call, hosted_result",
            ],
        ),
    ],
)
def test_what_a_dialect_or_a_fault_has_no_place_for(tail: str, expected: list[str]) -> None:
    assert problems(tail) == expected


SEARCH = "{as: find, tool: search, args: {query: q}}"


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (
            STREAM + f"needs: [hosted]\nturns: [{{items: [{{call: {SEARCH}}}, "
            "{hosted_result: {of: find, value: 1}}, {say: x}]}]\n"
            "expect: {must: {executions: {search: 0}}}\n",
            [],
        ),
        (
            STREAM + f"turns: [{{calls: [{SEARCH}]}}]\n",
            [
                "8:18: a hosted tool wants needs: [hosted] | a target that does not know such "
                "tools is then not declared"
            ],
        ),
        (
            f"needs: [hosted]\nturns: [{{calls: [{SEARCH}]}}]\n",
            ["10:18: chat has no hosted tools | narrow the file with dialects"],
        ),
        (
            STREAM + "needs: [hosted]\nturns: [{items: [{hosted_result: {of: fynd, value: 1}}, "
            f"{{call: {SEARCH}}}]}}]\n",
            ["12:39: 'fynd' is no call of a hosted tool | did you mean 'find'?"],
        ),
        (
            STREAM + f"needs: [hosted]\nturns: [{{calls: [{SEARCH}]}}]\n"
            "expect: {must: {results: {find: own}, order: [find.ended < run.ended]}}\n",
            [
                "13:27: 'find' is no call of this file",
                "13:47: 'find.ended' names no call; calls here: none",
            ],
        ),
        (
            STREAM
            + f"needs: [hosted]\nturns: [{{calls: [{SEARCH}], quirks: [{{item-id: null}}]}}]\n",
            [
                "12:72: the quirk 'item-id' does nothing in messages-stream | " + NARROW,
            ],
        ),
    ],
)
def test_hosted_tools(tail: str, expected: list[str]) -> None:
    assert problems(tail, head=HOSTED) == expected


def test_the_keys_of_a_hosted_tool() -> None:
    head = HEAD + "  search: {kind: hosted, type: {messages: web_search}, returns: 1, args: {}}\n"
    tail = "needs: [hosted]\ndialects: [responses, messages]\nturns: []\ntool_choice: search\n"

    assert problems(tail, head=head) == [
        "8:3: a hosted tool has a type on the wire, also in responses | such as type: "
        "{responses: web_search_call, messages: web_search}",
        "8:56: 'returns' does nothing: a hosted tool never gets here",
        "8:68: 'args' does nothing: a hosted tool never gets here",
        "12:14: tool_choice 'search' is no tool of this file | known: auto, look, none, required, "
        "reserve",
    ]
    odd = HEAD + "  other: {kind: read, type: x}\n"
    assert problems("turns: []\n", head=odd) == ["8:23: 'type' is for hosted tools"]
