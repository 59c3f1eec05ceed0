from __future__ import annotations

import json

import pytest
from sample_answers import answer, call, hosted, read, thought
from syrupy.assertion import SnapshotAssertion

from loopcheck.fake_providers import delivery
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.script import Attempt, Call, Delivery, Hosted, Say, Think
from loopcheck.fake_providers.wire import Answer, IssuedCall, JsonObject, Piece

QUERY = '{"query":"weather"}'
FOUND = {
    "type": "web_search_result",
    "title": "Sunny",
    "url": "https://example.org/",
    "encrypted_content": '"Sunny"',
    "page_age": None,
}


def content_of(*pieces: Piece, to: Answer | None = None) -> object:
    return DIALECT.whole(to or answer(pieces))["content"]


def events(to: Answer, how: Delivery | None = None) -> str:
    frames = DIALECT.frames(to, delivery.steps(to.content, how or Delivery(fragments=8), seed=1))
    return "\n".join(f"{f.label} {json.dumps(f.data)}" for f in frames)


def test_a_stream_with_thinking_and_calls_of_the_service(snapshot: SnapshotAssertion) -> None:
    to = answer(
        [
            thought("a", "I look it up."),
            thought("b", redacted=True),
            hosted("look", arguments=QUERY, result="Sunny"),
            thought("c"),
            call("book", '{"seat":12}'),
        ]
    )
    assert events(to) == snapshot
    assert DIALECT.whole(to) == snapshot(name="whole")


def test_a_call_of_the_service_without_result_waits_for_it() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_look", "name": "web_search"}
    assert content_of(hosted("look", arguments=QUERY)) == [{**use, "input": {"query": "weather"}}]
    assert content_of(hosted("look"), Say("Hm."), hosted("found", result="Sunny", of="look")) == [
        {**use, "input": {}},
        {"type": "text", "text": "Hm."},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_look", "content": [FOUND]},
    ]


@pytest.mark.parametrize(
    ("kind", "result", "block"),
    [
        (
            "web_search",
            {"type": "web_search_tool_result_error", "error_code": "unavailable"},
            {
                "type": "web_search_tool_result",
                "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
            },
        ),
        ("web_search", [], {"type": "web_search_tool_result", "content": []}),
        (
            "tool_search_tool_bm25",
            {"type": "tool_search_tool_search_result", "tool_references": []},
            {
                "type": "tool_search_tool_result",
                "content": {"type": "tool_search_tool_search_result", "tool_references": []},
            },
        ),
        (
            "code_execution",
            "42",
            {
                "type": "code_execution_tool_result",
                "content": {
                    "type": "code_execution_result",
                    "return_code": 0,
                    "stdout": "42",
                    "stderr": "",
                    "content": [],
                },
            },
        ),
        ("advisor", "Ship it.", {"type": "advisor_tool_result", "content": "Ship it."}),
    ],
)
def test_results_have_the_form_of_their_kind(kind: str, result: object, block: JsonObject) -> None:
    content = content_of(hosted("look", kind=kind, result=result))
    assert isinstance(content, list)
    assert content[1:] == [{**block, "tool_use_id": "srvtoolu_look"}]


@pytest.mark.parametrize(
    ("result", "is_error", "content"),
    [
        ("Done.", False, [{"type": "text", "text": "Done."}]),
        ({"is_error": True, "content": "no"}, True, "no"),
    ],
)
def test_calls_over_mcp(result: object, is_error: bool, content: object) -> None:
    assert content_of(hosted("ask", kind="mcp", name="ask_question", result=result)) == [
        {
            "type": "mcp_tool_use",
            "id": "mcptoolu_ask",
            "name": "ask_question",
            "server_name": "loopcheck",
            "input": {},
        },
        {
            "type": "mcp_tool_result",
            "tool_use_id": "mcptoolu_ask",
            "is_error": is_error,
            "content": content,
        },
    ]


def test_the_usage_counts_what_the_service_ran() -> None:
    to = answer(
        [
            hosted("a", result="Sunny"),
            hosted("b", kind="web_fetch", result="A page."),
            hosted("c"),
            hosted("d", result="Rainy", of="c"),
        ]
    )
    counts = {"web_search_requests": 2, "web_fetch_requests": 1}
    usage = DIALECT.whole(to)["usage"]
    assert isinstance(usage, dict)
    assert usage["server_tool_use"] == counts
    [finish] = [f for f in DIALECT.frames(to, []) if f.part == "finish"]
    assert isinstance(finish.data, dict)
    assert '"server_tool_use": ' + json.dumps(counts) in json.dumps(finish.data)
    assert "server_tool_use" not in json.dumps(DIALECT.whole(answer([call("book", "{}")])))


def test_the_usage_counts_a_search_where_its_result_is() -> None:
    """As recorded of a turn that paused: the eleventh search waited, and ten were counted."""
    searched = [{"web_search_requests": count, "web_fetch_requests": 0} for count in (0, 1)]
    waiting, found = hosted("look"), hosted("found", result="Sunny", of="look")
    usages = [DIALECT.whole(answer([piece]))["usage"] for piece in (waiting, found)]
    assert [isinstance(u, dict) and u["server_tool_use"] for u in usages] == searched


def test_a_paused_turn_gets_its_result_under_the_id_that_was_issued() -> None:
    first = read("messages", {"model": "m", "messages": [{"role": "user", "content": "x"}]})
    pause = Attempt(content=(Hosted(label="look", kind="web_search", name="web_search"),))
    paused = prepare(first, pause, turn=1, asked=1, seed=1, number=1)
    content = DIALECT.whole(paused)["content"]
    assert isinstance(content, list)
    history = [*first.history, {"role": "assistant", "content": content}]
    again = read("messages", {"model": "m", "messages": history})
    found = Hosted(label="found", kind="web_search", name="web_search", result="Sunny", of="look")
    resumed = prepare(again, Attempt(content=(found,)), turn=2, asked=1, seed=1, number=2)
    results = DIALECT.whole(resumed)["content"]
    assert isinstance(results, list)
    assert [result["tool_use_id"] for result in results] == [content[0]["id"]]
    assert content[0]["id"].startswith("srvtoolu_01look")


@pytest.mark.parametrize(
    ("content", "output", "reasoning"),
    [
        ((Think("x" * 40), Say("y" * 8)), 13, 10),
        ((Think("No."),), 1, 1),
        ((Think(redacted=True), Say("y" * 8)), 67, 64),
        ((Say("y" * 8),), 3, 0),
    ],
)
def test_thinking_counts_as_thinking(
    content: tuple[Think | Say, ...], output: int, reasoning: int
) -> None:
    asked = read("messages", {"model": "m", "messages": []})
    counted = prepare(asked, Attempt(content=content), turn=1, asked=1, seed=1, number=1)
    usage = DIALECT.whole(counted)["usage"]
    assert isinstance(usage, dict)
    assert usage["output_tokens"] == output
    assert usage["output_tokens_details"] == {"thinking_tokens": reasoning}


def test_thinking_gets_a_seal_that_stays_the_same() -> None:
    asked = read("messages", {"model": "m", "messages": []})
    think = Attempt(content=(Think("Hm."), Think(redacted=True)))
    first, second = (prepare(asked, think, turn=1, asked=1, seed=s, number=1) for s in (1, 1))
    other = prepare(asked, think, turn=1, asked=2, seed=1, number=1)
    assert first.content == second.content
    assert first.content != other.content
    plain, redacted = (DIALECT.seal(digest(1), redacted=r) for r in (False, True))
    assert plain.startswith("E")
    assert len(redacted) > len(plain)


@pytest.mark.parametrize("streamed", [True, False])
def test_messages_has_no_custom_calls(streamed: bool) -> None:
    custom = IssuedCall(
        label="patch", tool="apply", arguments="x", call_id="c", item_id="", form="custom"
    )
    to = answer([custom])
    with pytest.raises(ValueError, match="'patch' is a custom one"):
        DIALECT.frames(to, delivery.steps(to.content, Delivery(), seed=1)) if (
            streamed
        ) else DIALECT.whole(to)


def test_what_the_fake_made_is_remembered() -> None:
    memory = Memory()
    asked = read("messages", {"model": "m", "messages": []})
    attempt = Attempt(content=(Call(label="book", tool="bad name", arguments="{}", wire_id=""),))
    DIALECT.remember(prepare(asked, attempt, turn=1, asked=1, seed=1, number=1), memory)
    assert memory.issued == {"", "bad name"}
