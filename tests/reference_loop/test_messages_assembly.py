"""Content blocks from raw events."""

from __future__ import annotations

import pytest

from loopcheck.reference_loop.adapters.conversation import ResponseRecord, begin
from loopcheck.reference_loop.adapters.interface import TaskInfo
from loopcheck.reference_loop.adapters.messages import interpret
from loopcheck.reference_loop.adapters.messages_assembly import (
    MessagesAssembly,
    MessagesBlock,
    MessagesTurn,
    whole_turn,
)
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import (
    Calls,
    Failed,
    Final,
    Incomplete,
    ProposedCall,
    Refused,
    Reply,
    Usage,
)

TALK = begin(TaskInfo(prompt="Go."), "messages")


def tool_use(name: str = "a", **more: object) -> JsonObject:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "look", "input": {}, **more}


def start(index: int, block: JsonObject) -> JsonObject:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: object) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def json_delta(index: int, text: str) -> JsonObject:
    return delta(index, "input_json_delta", partial_json=text)


def end(stop: str | None = "tool_use") -> list[JsonObject]:
    return [{"type": "message_delta", "delta": {"stop_reason": stop}}, {"type": "message_stop"}]


def assemble(*events: JsonObject) -> MessagesTurn:
    assembly = MessagesAssembly()
    for event in events:
        assert not assembly.is_over
        assembly.feed(event)
    return assembly.turn()


A = MessagesBlock(tool_use("a"), '{"n":1}')
B = MessagesBlock(tool_use("b"), '{"n":2}')


def test_the_service_own_stream() -> None:
    assert assemble(
        {"type": "message_start", "message": {"content": []}},
        start(0, {"type": "text", "text": ""}),
        delta(0, "text_delta", text="Let me "),
        {"type": "ping"},
        delta(0, "text_delta", text="see."),
        {"type": "content_block_stop", "index": 0},
        start(1, tool_use("a")),
        json_delta(1, ""),
        json_delta(1, '{"n"'),
        json_delta(1, ":1}"),
        {"type": "content_block_stop", "index": 1},
        *end(),
    ) == MessagesTurn(
        blocks=(MessagesBlock({"type": "text", "text": "Let me see."}), A), stop="tool_use"
    )


def test_interleaved_blocks_go_by_index() -> None:
    assert assemble(
        start(0, tool_use("a")),
        start(1, tool_use("b")),
        json_delta(0, '{"n"'),
        json_delta(1, '{"n"'),
        json_delta(0, ":1}"),
        json_delta(1, ":2}"),
        *end(),
    ).blocks == (A, B)


def test_an_index_that_is_used_again_begins_another_block() -> None:
    assert assemble(
        start(0, tool_use("a")),
        json_delta(0, '{"n":1}'),
        start(0, tool_use("b")),
        json_delta(0, '{"n":2}'),
        *end(),
    ).blocks == (A, B)


def test_input_in_the_start_counts_unless_deltas_come() -> None:
    given = tool_use("a", input={"n": "é"})
    assert assemble(start(0, given), *end()).blocks == (MessagesBlock(given, '{"n": "é"}'),)
    assert assemble(start(0, given), json_delta(0, '{"n":1}'), *end()).blocks == (
        MessagesBlock(given, '{"n":1}'),
    )


@pytest.mark.parametrize("events", [[], [json_delta(0, "")]])
def test_no_input_at_all(events: list[JsonObject]) -> None:
    assert assemble(start(0, tool_use("a")), *events, *end()).blocks == (
        MessagesBlock(tool_use("a"), ""),
    )


def test_thinking_signatures_and_unknown_blocks_are_kept() -> None:
    turn = assemble(
        start(0, {"type": "thinking", "thinking": "", "signature": ""}),
        delta(0, "thinking_delta", thinking="Hm"),
        delta(0, "thinking_delta", thinking="m."),
        delta(0, "signature_delta", signature="c2ln"),
        start(1, {"type": "redacted_thinking", "data": "ZGF0YQ=="}),
        start(2, {"type": "brand_new", "payload": [1]}),
        delta(2, "brand_new_delta", payload=2),
        *end("end_turn"),
    )
    assert [block.content for block in turn.blocks] == [
        {"type": "thinking", "thinking": "Hmm.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "brand_new", "payload": [1]},
    ]


def test_citations_are_kept() -> None:
    cited = {"type": "web", "url": "https://example.invalid"}
    turn = assemble(
        start(0, {"type": "text", "text": "", "citations": []}),
        delta(0, "citations_delta", citation=cited),
        delta(0, "text_delta", text="So."),
        *end("end_turn"),
    )
    assert turn.blocks[0].content == {"type": "text", "text": "So.", "citations": [cited]}


@pytest.mark.parametrize(("text", "sent"), [('{"q":1}', {"q": 1}), ('{"q":', {})])
def test_input_of_the_service_own_tools_is_kept_for_it(text: str, sent: object) -> None:
    own: JsonObject = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {},
    }
    turn = assemble(start(0, own), json_delta(0, text), *end("pause_turn"))
    assert turn.blocks[0].content == own | {"input": sent}
    assert not turn.blocks[0].is_call


def test_both_end_signals_are_needed() -> None:
    stop_reason, message_stop = end("end_turn")
    text = start(0, {"type": "text", "text": "Hi."})
    assert assemble(text, stop_reason).stop is None
    assert assemble(text, message_stop).stop is None
    assert assemble(text, *end(None)).stop is None
    assert assemble(text, stop_reason, message_stop).stop == "end_turn"


def test_ids_containers_and_counts() -> None:
    message = {
        "id": "msg_1",
        "usage": {"input_tokens": 7, "cache_read_input_tokens": 20, "output_tokens": 1},
    }
    counts = {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}
    stop = {"stop_reason": "end_turn", "container": {"id": "container_1"}}
    turn = assemble(
        {"type": "message_start", "message": message},
        {"type": "message_delta", "delta": stop, "usage": counts},
        {"type": "message_stop"},
    )
    usage = Usage(input_tokens=27, output_tokens=9, reasoning_tokens=4)
    wanted = MessagesTurn(
        stop="end_turn", response_id="msg_1", container="container_1", usage=usage
    )
    assert turn == wanted
    whole = {**message, **stop, "usage": {**message["usage"], **counts}}  # type: ignore[dict-item]
    assert whole_turn(whole) == wanted


def test_a_later_message_delta_without_reason_takes_nothing_back() -> None:
    usage: JsonObject = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}}
    stop_reason, message_stop = end("end_turn")
    assert assemble(stop_reason, usage, message_stop).stop == "end_turn"


def test_fragments_of_a_block_that_never_began() -> None:
    assert assemble(json_delta(3, '{"n":1}'), *end()).unattributed
    assert not assemble(json_delta(3, ""), *end()).unattributed


def test_whole_messages() -> None:
    text: JsonObject = {"type": "text", "text": "Hi."}
    message = {"content": [text, tool_use("a", input={"n": 1})], "stop_reason": "tool_use"}
    assert whole_turn(message) == MessagesTurn(
        blocks=(MessagesBlock(text), MessagesBlock(tool_use("a", input={"n": 1}), '{"n": 1}')),
        stop="tool_use",
    )
    assert whole_turn({"content": [tool_use("a", input=[])]}).blocks[0].arguments == "[]"
    assert whole_turn("<html>") == MessagesTurn()


TEXT = MessagesBlock({"type": "text", "text": "Hi."})
CALL = ProposedCall(call_id="toolu_a", name="look", arguments_text='{"n":1}')


def record(*blocks: MessagesBlock) -> ResponseRecord:
    return ResponseRecord(provider="messages", items=tuple(block.item() for block in blocks))


@pytest.mark.parametrize(
    ("blocks", "stop", "reply"),
    [
        ((TEXT,), "end_turn", Final("Hi.")),
        ((TEXT,), "stop_sequence", Final("Hi.")),
        ((TEXT,), "strange", Final("Hi.")),
        ((TEXT,), "tool_use", Final("Hi.")),
        ((), "end_turn", Incomplete("empty")),
        ((TEXT, A), "tool_use", Calls((CALL,), record(TEXT, A))),
        ((A,), "end_turn", Calls((CALL,), record(A))),
        ((TEXT,), "pause_turn", Calls((), record(TEXT))),
        ((TEXT,), "compaction", Calls((), record(TEXT))),
        ((TEXT, A), "max_tokens", Incomplete("length")),
        ((TEXT, A), "model_context_window_exceeded", Incomplete("context")),
        ((TEXT, A), "refusal", Refused("Hi.")),
        ((), "refusal", Refused("")),
        (
            (TEXT,),
            None,
            Failed("the response ended without stop reason and message_stop", retryable=True),
        ),
    ],
)
def test_what_a_turn_means(
    blocks: tuple[MessagesBlock, ...], stop: str | None, reply: Reply
) -> None:
    assert interpret(MessagesTurn(blocks=blocks, stop=stop), TALK) == reply


def test_unattributed_fragments_make_the_turn_unusable() -> None:
    reply = interpret(MessagesTurn(blocks=(A,), stop="tool_use", unattributed=True), TALK)
    assert reply == Failed("argument fragments belong to no call", retryable=True)


def test_calls_without_id_get_ids_that_stay() -> None:
    blocks = (MessagesBlock(tool_use("a", id="")), A)
    reply = interpret(MessagesTurn(blocks=blocks, stop="tool_use"), TALK)
    assert isinstance(reply, Calls)
    assert [call.call_id for call in reply.calls] == ["call_local_1_0", "toolu_a"]
