"""Each oddity of a chunk stream, over plain chunks."""

from __future__ import annotations

import json

import pytest

from loopcheck.reference_loop.adapters.chat import interpret
from loopcheck.reference_loop.adapters.chat_assembly import ChatAssembly, ChatTurn, whole_turn
from loopcheck.reference_loop.adapters.chat_calls import ChatCall
from loopcheck.reference_loop.adapters.conversation import ResponseRecord, begin
from loopcheck.reference_loop.adapters.interface import TaskInfo
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

TALK = begin(TaskInfo(prompt="Go."), "chat")


def entry(
    index: object = None, *, call_id: object = None, name: object = None, args: object = None
) -> dict[str, object]:
    """One entry of a delta's `tool_calls`, without what is None."""
    function = {
        key: value for key, value in (("name", name), ("arguments", args)) if value is not None
    }
    whole = {"index": index, "id": call_id, "function": function or None}
    return {key: value for key, value in whole.items() if value is not None}


def chunk(*entries: dict[str, object], **choice: object) -> dict[str, object]:
    delta = {"tool_calls": list(entries)} if entries else {}
    return {"choices": [{"index": 0, "delta": delta, **choice}]}


FINISH = chunk(finish_reason="tool_calls")


def assemble(*chunks: object) -> ChatTurn:
    assembly = ChatAssembly()
    for one in chunks:
        assembly.feed(one)
        assert not assembly.is_over
    return assembly.turn()


def calls(*entries: dict[str, object]) -> tuple[ChatCall, ...] | None:
    """The calls of a stream of one entry a chunk; None where they cannot be told apart."""
    turn = assemble(*(chunk(one) for one in entries), FINISH)
    return None if turn.unattributed else turn.calls


A = ChatCall("a", "look", '{"n":1}')
B = ChatCall("b", "book", '{"n":2}')


def test_the_service_own_stream() -> None:
    assert calls(
        entry(0, call_id="a", name="look", args=""),
        entry(0, args='{"n"'),
        entry(0, args=":1}"),
        entry(1, call_id="b", name="book", args=""),
        entry(1, args='{"n":2}'),
    ) == (A, B)


def test_interleaved_calls_go_by_index() -> None:
    assert calls(
        entry(0, call_id="a", name="look"),
        entry(1, call_id="b", name="book"),
        entry(0, args='{"n"'),
        entry(1, args='{"n"'),
        entry(0, args=":1}"),
        entry(1, args=":2}"),
    ) == (A, B)


def test_several_entries_in_one_chunk() -> None:
    turn = assemble(
        chunk(entry(0, call_id="a", name="look", args='{"n"'), entry(0, args=":1}")),
        chunk(entry(1, call_id="b", name="book"), entry(1, args='{"n":2}')),
        FINISH,
    )
    assert turn.calls == (A, B)


def test_no_index_at_all() -> None:
    assert calls(
        entry(call_id="a", name="look"),
        entry(args='{"n"'),
        entry(args=":1}"),
        entry(call_id="b", name="book", args='{"n":2}'),
    ) == (A, B)


def test_no_index_and_the_id_again_on_every_delta() -> None:
    assert calls(
        entry(call_id="a", name="look"),
        entry(call_id="b", name="book"),
        entry(call_id="a", args='{"n":1}'),
        entry(call_id="b", args='{"n":2}'),
    ) == (A, B)


def test_one_index_for_all_and_a_new_id_for_each() -> None:
    assert calls(
        entry(0, call_id="a", name="look", args='{"n"'),
        entry(0, args=":1}"),
        entry(0, call_id="b", name="book", args='{"n"'),
        entry(0, call_id="", args=":2}"),
    ) == (A, B)


def test_one_index_for_all_and_no_ids() -> None:
    assert calls(entry(0, name="look", args='{"n":1}'), entry(0, name="book", args='{"n":2}')) == (
        ChatCall("", "look", '{"n":1}'),
        ChatCall("", "book", '{"n":2}'),
    )


def test_neither_index_nor_ids() -> None:
    assert calls(entry(name="look", args='{"n":1}'), entry(name="book", args='{"n":2}')) == (
        ChatCall("", "look", '{"n":1}'),
        ChatCall("", "book", '{"n":2}'),
    )


@pytest.mark.parametrize("again", ["", "a"])
def test_an_empty_or_repeated_id_opens_no_call(again: str) -> None:
    assert calls(
        entry(0, call_id="a", name="look"),
        entry(0, call_id=again, args='{"n"'),
        entry(0, call_id=again, name="look", args=":1}"),
    ) == (A,)


@pytest.mark.parametrize("index", [0, None])
def test_a_late_id(index: int | None) -> None:
    assert calls(
        entry(index, name="look", args='{"n"'),
        entry(index, call_id="a", args=":1}"),
    ) == (A,)


def test_a_late_id_of_an_interleaved_call() -> None:
    assert calls(
        entry(0, call_id="a", name="look"),
        entry(1, name="book"),
        entry(0, args='{"n":1}'),
        entry(1, call_id="b", args='{"n":2}'),
    ) == (A, B)


def test_equal_ids_on_different_indices_are_different_calls() -> None:
    assert calls(
        entry(0, call_id="a", name="look", args='{"n":1}'),
        entry(1, call_id="a", name="book", args='{"n":2}'),
    ) == (A, ChatCall("a", "book", '{"n":2}'))


def test_a_split_name() -> None:
    assert calls(
        entry(0, call_id="a", name="lo"), entry(0, name="ok"), entry(0, args='{"n":1}')
    ) == (A,)


def test_the_index_is_missing_on_some_deltas() -> None:
    assert calls(
        entry(0, call_id="a", name="look"),
        entry(args='{"n":1}'),
        entry(call_id="b", name="book"),
        entry(1, args='{"n"'),
        entry(args=":2}"),
    ) == (A, B)


def test_the_index_comes_late() -> None:
    assert calls(
        entry(call_id="a", name="look"),
        entry(0, call_id="a", name="look", args='{"n":1}'),
        entry(1, call_id="b", name="book", args='{"n":2}'),
    ) == (A, B)


def test_an_indexed_call_after_one_without_index_and_ids() -> None:
    assert calls(entry(name="look", args='{"n":1}'), entry(1, name="book", args='{"n":2}')) == (
        ChatCall("", "look", '{"n":1}'),
        ChatCall("", "book", '{"n":2}'),
    )


def test_a_fragment_without_index_among_calls_that_take_turns_is_not_guessed() -> None:
    assert (
        calls(
            entry(0, call_id="a", name="look", args='{"n":1'),
            entry(1, call_id="b", name="book", args='{"n":3'),
            entry(args="2}"),
            entry(0, args="4}"),
        )
        is None
    )


def test_a_growing_index_on_the_only_call() -> None:
    assert calls(
        entry(0, call_id="a", name="look"), entry(1, args='{"n"'), entry(2, args=":1}")
    ) == (A,)


def test_a_growing_index_with_two_calls_is_not_guessed() -> None:
    assert (
        calls(
            entry(0, call_id="a", name="look", args='{"n":1}'),
            entry(1, call_id="b", name="book"),
            entry(2, args='{"n":2}'),
        )
        is None
    )


@pytest.mark.parametrize("index", [0, None])
def test_fragments_that_may_be_of_an_earlier_call_are_not_guessed(index: int | None) -> None:
    """One call with nothing and one with two texts: the fragments took turns."""
    assert (
        calls(
            entry(index, call_id="a", name="look"),
            entry(index, call_id="b", name="book"),
            entry(index, args='{"n"'),
            entry(index, args='{"n"'),
            entry(index, args=":1}"),
            entry(index, args=":2}"),
        )
        is None
    )


@pytest.mark.parametrize("index", [0, None])
def test_a_call_without_arguments_before_one_that_has_some(index: int | None) -> None:
    assert calls(
        entry(index, call_id="a", name="look"),
        entry(index, call_id="b", name="book"),
        entry(index, args='{"n"'),
        entry(index, args=":2}"),
    ) == (ChatCall("a", "look", ""), B)


def test_one_index_for_all_and_the_id_again_on_every_delta() -> None:
    assert calls(
        entry(0, call_id="a", name="look"),
        entry(0, call_id="b", name="book"),
        entry(0, call_id="a", args='{"n":1}'),
        entry(0, call_id="b", args='{"n":2}'),
    ) == (A, B)


def test_the_rest_of_a_name_after_arguments() -> None:
    assert calls(
        entry(0, call_id="a", name="lo", args='{"n"'), entry(0, name="ok"), entry(0, args=":1}")
    ) == (A,)


def test_a_late_id_under_a_growing_index() -> None:
    assert calls(
        entry(0, name="look"), entry(1, call_id="a", args='{"n"'), entry(2, args=":1}")
    ) == (A,)


@pytest.mark.parametrize("index", [2, None])
def test_a_late_id_that_may_be_of_either_call_is_not_guessed(index: int | None) -> None:
    assert (
        calls(
            entry(0, name="look", args='{"n":1}'),
            entry(1, name="book", args='{"n":2}'),
            entry(index, call_id="a"),
        )
        is None
    )


@pytest.mark.parametrize("index", [1, None])
def test_an_id_before_its_name(index: int | None) -> None:
    assert calls(
        entry(0, call_id="a", name="look", args='{"n":1}'),
        entry(index, call_id="b"),
        entry(index, name="book", args='{"n":2}'),
    ) == (A, B)


def test_two_that_began_without_an_index_and_one_fragment_with() -> None:
    assert (
        calls(
            entry(call_id="a", name="look"),
            entry(call_id="b", name="book"),
            entry(0, args='{"n":1}'),
        )
        is None
    )


def test_a_custom_call() -> None:
    head = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "note", "input": "not "}}
    more = {"index": 0, "custom": {"input": "JSON"}}
    assert calls(head, more) == (ChatCall("a", "note", "not JSON", "custom"),)


@pytest.mark.parametrize("index", [0, None])
def test_a_fragment_before_any_call_is_not_guessed(index: int | None) -> None:
    assert calls(entry(index, args="1}"), entry(index, call_id="a", name="look")) is None


def test_an_empty_entry_before_any_call_is_nothing() -> None:
    assert calls(entry(0, args=""), entry(0, call_id="a", name="look", args='{"n":1}')) == (A,)


def test_the_id_inside_the_function() -> None:
    odd = {"index": 0, "function": {"id": "a", "name": "look", "arguments": '{"n":1}'}}
    assert calls(odd) == (A,)


def test_an_object_for_the_arguments_and_null() -> None:
    assert calls(entry(0, call_id="a", name="look", args={"n": "é"})) == (
        ChatCall("a", "look", '{"n": "é"}'),
    )
    null = {"index": 0, "id": "a", "function": {"name": "look", "arguments": None}}
    assert calls(null) == (ChatCall("a", "look", ""),)


def test_arguments_that_come_twice_stay_as_they_came() -> None:
    assert calls(entry(0, call_id="a", name="look", args='{"n":1}'), entry(0, args='{"n":1}')) == (
        ChatCall("a", "look", '{"n":1}{"n":1}'),
    )


def test_chunks_that_say_nothing_of_the_first_choice() -> None:
    turn = assemble(
        {"choices": [], "prompt_filter_results": []},
        {"choices": None},
        {"choices": [{"index": 0}]},
        {"choices": [{"delta": None}]},
        {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "length"}]},
        {"choices": [{"index": True, "delta": {"content": "odd"}}]},
        {"id": "chatcmpl-1", "usage": {"total_tokens": 3}},
        {"id": "chatcmpl-2", "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        {},
    )
    usage = Usage(input_tokens=3, output_tokens=2)
    assert turn == ChatTurn(text="odd", response_id="chatcmpl-1", usage=usage)


def test_text_refusal_and_a_finish_that_rides_on_a_delta() -> None:
    said = assemble(
        {"choices": [{"delta": {"content": "Hel", "refusal": None}}]},
        {"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]},
        {"choices": [{"delta": {}, "finish_reason": None}]},
    )
    assert said == ChatTurn(text="Hello", finish="stop")
    refused = assemble(
        {"choices": [{"delta": {"refusal": ""}}]},
        {"choices": [{"delta": {"refusal": "No"}}]},
        {"choices": [{"delta": {"refusal": "."}, "finish_reason": "stop"}]},
    )
    assert refused == ChatTurn(refusal="No.", finish="stop")


def test_a_whole_response() -> None:
    message = {
        "role": "assistant",
        "content": "Let me see.",
        "refusal": None,
        "tool_calls": [
            {"id": "a", "function": {"name": "look", "arguments": '{"n":1}'}},
            {"id": "b", "function": {"name": "book", "arguments": {"n": 2}}},
            {"id": "c", "type": "custom", "custom": {"name": "note", "input": "free"}},
        ],
    }
    completion = {
        "id": "chatcmpl-1",
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 5,
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    }
    assert whole_turn(completion) == ChatTurn(
        text="Let me see.",
        calls=(
            A,
            ChatCall("b", "book", json.dumps({"n": 2})),
            ChatCall("c", "note", "free", "custom"),
        ),
        finish="tool_calls",
        response_id="chatcmpl-1",
        usage=Usage(input_tokens=9, output_tokens=5, reasoning_tokens=3),
    )
    refusal = {"choices": [{"message": {"refusal": "No."}, "finish_reason": "stop"}]}
    assert whole_turn(refusal) == ChatTurn(refusal="No.", finish="stop")
    assert whole_turn("<html>") == whole_turn({"choices": []}) == ChatTurn()


CALLS = Calls(
    (ProposedCall(call_id="a", name="look", arguments_text='{"n":1}'),),
    ResponseRecord(
        provider="chat",
        items=({"role": "assistant", "content": None, "tool_calls": [A.item()]},),
    ),
)


@pytest.mark.parametrize(
    ("turn", "reply"),
    [
        (ChatTurn(text="Hi.", finish="stop"), Final("Hi.")),
        (ChatTurn(text="Hi.", finish="strange"), Final("Hi.")),
        (ChatTurn(text="Hi.", refusal="", finish="stop"), Final("Hi.")),
        (ChatTurn(finish="stop"), Incomplete("empty")),
        (ChatTurn(finish="tool_calls"), Incomplete("empty")),
        (ChatTurn(calls=(A,), finish="tool_calls"), CALLS),
        (ChatTurn(calls=(A,), finish="stop"), CALLS),
        (ChatTurn(calls=(A,), refusal="", finish="strange"), CALLS),
        (ChatTurn(calls=(A,), finish="length"), Incomplete("length")),
        (ChatTurn(calls=(A,), finish="content_filter"), Incomplete("content_filter")),
        (ChatTurn(text="I", refusal="No.", calls=(A,), finish="stop"), Refused("No.")),
        (ChatTurn(refusal="", finish="stop"), Refused("")),
        (
            ChatTurn(calls=(A,)),
            Failed("the response ended without a finish_reason", retryable=True),
        ),
        (
            ChatTurn(text="Hi.", finish="error"),
            Failed("the provider ended the response with an error", retryable=True),
        ),
        (
            ChatTurn(calls=(A,), finish="tool_calls", unattributed=True),
            Failed("argument fragments belong to no call", retryable=True),
        ),
    ],
)
def test_what_a_turn_means(turn: ChatTurn, reply: Reply) -> None:
    assert interpret(turn, TALK) == reply


def test_calls_without_id_get_ids_that_stay() -> None:
    turn = ChatTurn(calls=(ChatCall("", "x", ""), A, ChatCall("", "y", "")), finish="stop")
    reply = interpret(turn, TALK)
    assert isinstance(reply, Calls)
    assert [call.call_id for call in reply.calls] == ["call_local_1_0", "a", "call_local_1_2"]
    assert interpret(turn, TALK) == reply
    later = interpret(turn, TALK.extended([{"role": "assistant"}]))
    assert isinstance(later, Calls)
    assert later.calls[0].call_id == "call_local_2_0"
