"""Each oddity of an event stream, over plain events."""

from __future__ import annotations

import pytest

from loopcheck.reference_loop.adapters.conversation import ResponseRecord, begin
from loopcheck.reference_loop.adapters.interface import TaskInfo
from loopcheck.reference_loop.adapters.responses import interpret
from loopcheck.reference_loop.adapters.responses_assembly import (
    ResponsesAssembly,
    ResponsesTurn,
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

TALK = begin(TaskInfo(prompt="Go."), "responses")


def call_item(name: str = "a", arguments: object = '{"n":1}', **more: object) -> JsonObject:
    item = {
        "id": f"fc_{name}",
        "type": "function_call",
        "call_id": f"call_{name}",
        "name": "look",
        "arguments": arguments,
    }
    return {key: value for key, value in {**item, **more}.items() if value != "absent"}


def message(text: str = "Hello.", item_id: str = "msg_1") -> JsonObject:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": item_id, "type": "message", "role": "assistant", "content": [part]}


def added(index: object, item: JsonObject) -> JsonObject:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: object, item: JsonObject) -> JsonObject:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(index: object, text: str, **more: object) -> JsonObject:
    kind = "response.function_call_arguments.delta"
    return {"type": kind, "output_index": index, "delta": text, **more}


def args_done(index: object, text: object) -> JsonObject:
    kind = "response.function_call_arguments.done"
    return {"type": kind, "output_index": index, "arguments": text}


def completed(*output: JsonObject) -> JsonObject:
    return {"type": "response.completed", "response": {"output": list(output)}}


BEGUN = call_item(arguments="", status="in_progress")
A = call_item("a", '{"n":1}')
B = call_item("b", '{"n":2}')


def assemble(*events: JsonObject) -> ResponsesTurn:
    assembly = ResponsesAssembly()
    for event in events:
        assert not assembly.is_over
        assembly.feed(event)
    return assembly.turn()


def items(*events: JsonObject) -> list[JsonObject]:
    turn = assemble(*events)
    assert turn.status == "completed"
    assert not turn.unattributed
    return list(turn.items)


def test_the_service_own_stream() -> None:
    assert items(
        {"type": "response.created", "response": {"output": []}},
        added(0, BEGUN),
        delta(0, '{"n"'),
        delta(0, ":1}"),
        args_done(0, '{"n":1}'),
        done(0, A),
        completed(A),
    ) == [A]


def test_interleaved_calls_go_by_index() -> None:
    first, second = call_item("a", ""), call_item("b", "")
    assert items(
        added(0, first),
        added(1, second),
        delta(0, '{"n"'),
        delta(1, '{"n"'),
        delta(0, ":1}"),
        delta(1, ":2}"),
        completed(),
    ) == [A, B]


@pytest.mark.parametrize(
    "events",
    [
        [added(0, BEGUN), delta(0, '{"n":1}')],
        [added(0, BEGUN), args_done(0, '{"n":1}')],
        [added(0, BEGUN), delta(0, '{"n":'), args_done(0, '{"n":1}')],
        [added(0, BEGUN), done(0, A)],
        [added(0, BEGUN), delta(0, '{"n":7}'), args_done(0, '{"n":8}'), done(0, A)],
        [added(0, A)],
        [delta(0, '{"n":1}'), done(0, call_item(arguments=""))],
        [added(0, BEGUN), done(0, A), done(0, call_item(arguments=""))],
        [added(0, BEGUN), added(0, BEGUN), done(0, A), done(0, A)],
        [added(0, BEGUN), done(0, A), done(1, call_item(arguments=""))],
        [added(0, BEGUN), done(0, A), done(1, A)],
        [added(0, BEGUN), done(0, call_item(id="absent"))],
        [added(None, BEGUN), delta(None, '{"n":1}', item_id="fc_a")],
        [added(None, BEGUN), delta(None, '{"n":1}', item_id="unknown")],
        [added(None, BEGUN), done(None, A)],
    ],
)
@pytest.mark.parametrize(
    "output", [[], [A], [call_item(arguments="")], [message("", "m") | {"content": []}]]
)
def test_whatever_is_left_out_or_said_twice_the_call_is_there_once(
    events: list[JsonObject], output: list[JsonObject]
) -> None:
    [item] = items(*events, completed(*output))
    assert {key: value for key, value in item.items() if key != "status"} == A


def test_a_call_of_the_snapshot_alone() -> None:
    assert items(completed(A)) == [A]


def test_a_snapshot_with_other_item_ids_is_no_second_call() -> None:
    other = A | {"id": "fc_other"}
    assert items(added(0, BEGUN), done(0, A), completed(other)) == [other]


def test_a_snapshot_at_another_place_is_no_second_call() -> None:
    moved = A | {"id": "fc_other"}
    taken = items(done(0, message()), done(1, A), completed(moved, message("Hello.", "msg_2")))
    assert [item["type"] for item in taken].count("function_call") == 1


def test_calls_that_the_snapshot_adds_stand_where_it_has_them() -> None:
    assert items(done(0, A), completed(A, B)) == [A, B]
    assert items(done(0, A), completed(B)) == [A, B]


def test_calls_without_item_ids_are_told_apart_by_their_place() -> None:
    first, second = call_item("a", id="absent"), call_item("a", '{"n":2}', id="absent")
    assert items(done(0, first), done(1, second), completed(first, second)) == [first, second]


def test_equal_ids_with_other_arguments_are_another_call() -> None:
    second = A | {"arguments": '{"n":2}'}
    assert items(done(0, A), done(1, second), completed()) == [A, second]


def test_items_without_an_index_follow_each_other() -> None:
    first, second = call_item("a", ""), call_item("b", "")
    assert items(
        added(None, first),
        added(None, second),
        delta(None, '{"n":2}', item_id="fc_b"),
        delta(None, '{"n":1}', item_id="fc_a"),
        completed(),
    ) == [A, B]


@pytest.mark.parametrize(
    ("sent", "text"), [(None, ""), ({"n": "é"}, '{"n": "é"}'), ("absent", ""), ([], "[]")]
)
def test_arguments_of_another_type(sent: object, text: str) -> None:
    item = call_item(arguments=sent)
    assert items(done(0, {k: v for k, v in item.items() if v is not None}), completed()) == [
        call_item(arguments=text)
    ]


def test_reasoning_stays_in_its_place_and_only_the_done_form_counts() -> None:
    begun: JsonObject = {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [],
        "encrypted_content": "early",
    }
    final: JsonObject = {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [],
        "encrypted_content": "late",
    }
    assert items(added(0, begun), done(0, final), done(1, A), completed()) == [final, A]
    without: JsonObject = {"id": "rs_1", "type": "reasoning", "summary": []}
    assert items(added(0, begun), done(0, without), completed()) == [without]


def test_text_and_refusal_of_which_only_the_deltas_came() -> None:
    begun: JsonObject = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    text: JsonObject = {"type": "response.output_text.delta", "output_index": 0}
    refusal: JsonObject = {"type": "response.refusal.delta", "output_index": 0}
    assert items(
        added(0, begun), text | {"delta": "Hel"}, text | {"delta": "lo."}, completed()
    ) == [message()]
    [item] = items(
        added(0, begun),
        refusal | {"delta": "N"},
        {"type": "response.refusal.done", "output_index": 0, "refusal": "No."},
        completed(),
    )
    assert item["content"] == [{"type": "refusal", "refusal": "No."}]


def custom_item(text: object, **more: object) -> JsonObject:
    item = {"id": "ctc_a", "type": "custom_tool_call", "call_id": "call_a", "name": "note"}
    return {**item, "input": text, **more}


@pytest.mark.parametrize("last", [[], [done(0, custom_item(""))], [done(0, custom_item("Hi."))]])
def test_custom_calls_are_put_together_alike(last: list[JsonObject]) -> None:
    fragment: JsonObject = {
        "type": "response.custom_tool_call_input.delta",
        "output_index": 0,
    }
    assert items(
        added(0, custom_item("")),
        fragment | {"delta": "H"},
        fragment | {"delta": "i."},
        {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": "Hi."},
        *last,
        completed(custom_item("Hi.")),
    ) == [custom_item("Hi.")]
    assert assemble(fragment | {"delta": "H"}, completed()).unattributed


def test_ids_and_counts() -> None:
    usage = {
        "input_tokens": 9,
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    response = {"id": "resp_1", "status": "completed", "usage": usage}
    counted = Usage(input_tokens=9, output_tokens=5, reasoning_tokens=3)
    wanted = ResponsesTurn(status="completed", response_id="resp_1", usage=counted)
    assert whole_turn(response) == wanted
    turn = assemble(
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.completed", "response": {"usage": usage}},
    )
    assert (turn.response_id, turn.usage) == ("resp_1", counted)


def test_unknown_events_are_passed_over() -> None:
    assert items({"type": "keepalive"}, {}, added(0, BEGUN), done(0, A), completed(A)) != []


def test_fragments_of_a_call_that_never_began() -> None:
    assert assemble(delta(0, '{"n":1}'), completed()).unattributed
    assert not assemble(delta(0, ""), completed()).unattributed


def test_a_stream_without_terminal_event() -> None:
    assert assemble(added(0, BEGUN), done(0, A)).status is None


def test_whole_responses() -> None:
    assert whole_turn({"status": "completed", "output": [A, message()]}) == ResponsesTurn(
        items=(A, message()), status="completed"
    )
    assert whole_turn({"output": [call_item(arguments={"n": 1})]}) == ResponsesTurn(
        items=(call_item(arguments='{"n": 1}'),), status="completed"
    )
    assert whole_turn({"error": {"code": "server_error"}}) == ResponsesTurn(
        error={"code": "server_error"}
    )
    assert whole_turn("<html>") == ResponsesTurn()


def turn(*given: JsonObject, status: str = "completed", **more: object) -> ResponsesTurn:
    return ResponsesTurn(items=given, status=status, **more)  # type: ignore[arg-type]


def record(*given: JsonObject) -> ResponseRecord:
    return ResponseRecord(provider="responses", items=given)


HOSTED: JsonObject = {"id": "ws_1", "type": "web_search_call", "status": "completed"}
SHELL_OF_THE_SERVICE: list[JsonObject] = [
    {"type": "shell_call", "call_id": "call_s"},
    {"type": "shell_call_output", "call_id": "call_s", "output": []},
]
CALL_A = Calls(
    (ProposedCall(call_id="call_a", name="look", arguments_text='{"n":1}'),),
    record(A, HOSTED, message()),
)
NOTE = ProposedCall(call_id="call_a", name="note", arguments_text="Hi.")
REFUSAL = message() | {"content": [{"type": "refusal", "refusal": ""}]}


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        (turn(message()), Final("Hello.")),
        (turn(), Incomplete("empty")),
        (turn(A, REFUSAL), Refused("")),
        (turn(A, status="incomplete", why="max_output_tokens"), Incomplete("length")),
        (turn(A, status="incomplete", why="content_filter"), Incomplete("content_filter")),
        (turn(A, call_item("b", status="incomplete")), Incomplete("length")),
        (turn(A, HOSTED, message()), CALL_A),
        (turn(custom_item("Hi.")), Calls((NOTE,), record(custom_item("Hi.")))),
        (
            turn(A, {"type": "mcp_approval_request", "id": "mcpr_1", "name": "x"}),
            Failed(
                "the response waits for an answer to mcp_approval_request, "
                "which is not offered here",
                retryable=False,
            ),
        ),
        (
            turn({"type": "shell_call", "call_id": "call_s"}),
            Failed(
                "the response waits for an answer to shell_call, which is not offered here",
                retryable=False,
            ),
        ),
        (turn(*SHELL_OF_THE_SERVICE, message()), Final("Hello.")),
        (
            turn(A, unattributed=True),
            Failed("argument fragments belong to no call", retryable=True),
        ),
        (ResponsesTurn(), Failed("no response.completed", retryable=True)),
        (turn(A, status="cancelled"), Failed("the response ended as cancelled", retryable=True)),
        (
            turn(status="failed", error={"code": "server_error", "message": "Sorry."}),
            Failed("Sorry.", retryable=True),
        ),
        (
            turn(status="failed", error={"code": "invalid_prompt", "message": "Bad."}),
            Failed("Bad.", retryable=False),
        ),
    ],
)
def test_what_a_turn_means(given: ResponsesTurn, reply: Reply) -> None:
    assert interpret(given, TALK) == reply


def test_calls_carry_the_call_id_never_the_item_id() -> None:
    given = turn(A, call_item("b", call_id=""))
    assert interpret(given, TALK) == Calls(
        (
            ProposedCall(call_id="call_a", name="look", arguments_text='{"n":1}'),
            ProposedCall(call_id="call_local_1_1", name="look", arguments_text='{"n":1}'),
        ),
        ResponseRecord(provider="responses", items=given.items),
    )


def test_what_failed_is_read_from_the_terminal_event() -> None:
    failed: JsonObject = {"type": "response.failed", "response": {"error": {"message": "Sorry."}}}
    assert interpret(assemble(done(0, A), failed), TALK) == Failed("Sorry.", retryable=True)
    flat: JsonObject = {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down."}
    assert interpret(assemble(flat), TALK) == Failed("Slow down.", retryable=True)
