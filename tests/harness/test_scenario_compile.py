from __future__ import annotations

from dataclasses import replace

import pytest
from scenario_texts import TURNS, scenario

from loopcheck.fake_providers.script import (
    Attempt,
    Call,
    Delivery,
    DialectName,
    Fault,
    Hosted,
    Mode,
    Place,
    Quirk,
    Refuse,
    Say,
    Script,
    Stop,
    Think,
    Turn,
    Usage,
)
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.duration import milliseconds
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.yaml_source import read

FULL = """\
delivery: {fragments: 3, comments: 2, segments: byte, interleave: {messages: true}}
turns:
  - say: Let me see.
    calls:
      - {as: seat, tool: reserve, args: {seat: 12, event: "Zoë <1>"}, id: {chat: "", messages: m}}
      - {as: cut, tool: nosuch, raw_args: '{"a":1'}
    stop: {responses: length}
    usage: {input: 7, output: 9}
    delivery: {comments: 0, fragments: {cut: ['{"a"', ':1']}}
    attempts:
      - {fault: http, error: rate_limit, retry_after: 20 ms, headers: {x-a: b}, times: 2}
      - {fault: eof, at: {chat: {in: cut, after: a}, messages: {before: cut}}}
      - {calls: [{as: cut, tool: look, raw_args: '{"a":1'}], delivery: {keep_alive: false}}
      - normal
    optional: true
  - items: [{say: a}, {call: {as: mid, tool: look, args: {}}}, {say: b}]
    must_reach: true
  - refuse: ""
otherwise:
  - say: Bye.
  - {say: "", stop: length}
"""


def full(dialect: DialectName, mode: Mode = "stream") -> Script:
    return compile_script(scenario(FULL, head=HEAD_STREAM), dialect, mode)


HEAD_STREAM = """\
format: 1
title: T
rule: R
prompt: P
modes: [stream]
tools: {reserve: {kind: write}, look: {kind: read}}
"""


BENT = """\
needs: [hosted, thinking]
dialects: [responses, messages]
quirks: [unknown-event]
turns:
  - think: Hm.
    say: Now.
    calls: [{as: seat, tool: reserve, args: {seat: 12}}]
    quirks: {messages: [{finish: null}, bare-ping]}
    attempts:
      - {fault: empty, terminal: true, until: run.ended}
      - {fault: http, retry_after: {date: 2 s}}
      - {fault: error-event, form: {responses: failed}, items: [{redacted: true}, {say: No.}]}
      - {quirks: [], delivery: {pauses: [{at: {in: seat, after: 1}, for: 20 ms}]}}
  - items:
      - {call: {as: find, tool: search, args: {query: q}}}
      - {hosted_result: {of: find, value: found}}
      - {say: So.}
  - say: Raw.
    raw: {responses: ["x", {type: a}], messages: {base64: aGk=}}
    raw_body: {responses: {output: []}, messages: text}
"""
BENT_HEAD = """\
format: 1
title: T
rule: R
prompt: P
tools:
  reserve: {kind: write, args: {seat: integer}}
  search: {kind: hosted, type: {responses: web_search_call, messages: web_search}}
"""


def bent(dialect: DialectName) -> Script:
    # Half of this file does nothing in whole responses, so that the linter has its say elsewhere.
    source = read((BENT_HEAD + BENT.replace("after: 1", 'after: "1"')).encode(), "x.yaml")
    return compile_script(Scenario.model_validate(source.data), dialect, "stream")


def test_quirks_are_those_of_the_nearest_level_that_names_any() -> None:
    first, second, _ = (turn.attempts for turn in bent("messages").turns)

    own = (Quirk("finish", None), Quirk("bare-ping"))
    assert [attempt.quirks for attempt in first] == [own, own, own, ()]
    assert second[0].quirks == (Quirk("unknown-event"),)
    # A dialect that the turn's mapping leaves out gets none, not those of the file.
    assert [attempt.quirks for attempt in bent("responses").turns[0].attempts] == [()] * 4


def test_thinking_and_hosted_calls() -> None:
    seat = Call(label="seat", tool="reserve", arguments='{"seat":12}')
    find = Hosted(label="find", kind="web_search", name="search", arguments='{"query":"q"}')
    first, second, _ = (turn.attempts for turn in bent("messages").turns)

    assert first[0].content == (Think("Hm."), Say("Now."), seat)
    assert first[2].content == (Think(redacted=True), Say("No."))
    result = replace(find, label="find-result", of="find", result="found")
    assert second[0].content == (find, result, Say("So."))
    # On responses the call and its result are one item.
    whole = replace(find, kind="web_search_call", result="found")
    assert bent("responses").turns[1].attempts[0].content == (whole, Say("So."))
    assert bent("responses").tools == ("reserve",)


def test_what_else_an_attempt_may_say() -> None:
    empty, http, event, last = bent("responses").turns[0].attempts

    assert (empty.until, empty.fault) == ("run.ended", Fault(kind="empty", terminal=True))
    assert http.fault == Fault(kind="http", retry_after_ms=2000, retry_after_date=True)
    assert event.fault == Fault(kind="error-event", form="failed")
    assert bent("messages").turns[0].attempts[2].fault == Fault(kind="error-event")
    assert last.delivery.pauses == ((Place(inside="seat", after="1"), 20),)


def test_raw_responses() -> None:
    responses, messages = bent("responses").turns[2], bent("messages").turns[2]

    assert responses.attempts[0].raw == ("x", {"type": "a"})
    assert responses.attempts[0].raw_body == {"output": []}
    assert messages.attempts[0].raw == b"hi"
    assert messages.attempts[0].raw_body == b"text"


def test_a_custom_call() -> None:
    tail = "dialects: [chat]\nturns: [{calls: [{as: a, tool: look, raw_args: go, form: custom}]}]\n"
    (call,) = compile_script(scenario(tail), "chat", "stream").turns[0].calls

    assert call == Call(label="a", tool="look", arguments="go", form="custom")


def test_a_scenario_becomes_a_script() -> None:
    assert compile_script(scenario(TURNS), "chat", "stream") == Script(
        turns=(
            Turn(
                number=1,
                attempts=(
                    Attempt(
                        content=(
                            Call(
                                label="seat",
                                tool="reserve",
                                arguments='{"event":"E1","seat":12}',
                            ),
                        ),
                        stop="calls",
                    ),
                ),
            ),
            Turn(number=2, attempts=(Attempt(content=(Say("Done."),), stop="end"),)),
        ),
        otherwise=(Turn(number=3, attempts=(Attempt(content=(Say("Finished."),), stop="end"),)),),
        prompt="P",
        tools=("reserve", "look"),
    )


def test_every_key_finds_its_place() -> None:
    seat = Call(label="seat", tool="reserve", arguments='{"seat":12,"event":"Zoë <1>"}', wire_id="")
    cut = Call(label="cut", tool="nosuch", arguments='{"a":1')
    pieces = (("cut", ('{"a"', ":1")),)
    usage = Usage(input=7, output=9)
    own = Delivery(fragments=3, pieces=pieces, segments="byte")
    outer = Delivery(fragments=3, comments=2, segments="byte")
    first = (Say("Let me see."), seat, cut)
    wait = Fault(kind="http", error="rate_limit", retry_after_ms=20, headers=(("x-a", "b"),))
    script = full("chat")

    assert script.turns[0] == Turn(
        number=1,
        optional=True,
        attempts=(
            Attempt(content=first, stop="calls", usage=usage, delivery=own, fault=wait, times=2),
            Attempt(
                content=first,
                stop="calls",
                usage=usage,
                delivery=own,
                fault=Fault(kind="eof", at=Place(inside="cut", after="a")),
            ),
            Attempt(
                content=(
                    Say("Let me see."),
                    Call(label="cut", tool="look", arguments='{"a":1'),
                ),
                stop="calls",
                usage=usage,
                delivery=Delivery(fragments=3, pieces=pieces, segments="byte", keep_alive=False),
            ),
            Attempt(content=first, stop="calls", usage=usage, delivery=own),
        ),
    )
    mid = Call(label="mid", tool="look", arguments="{}")
    assert script.turns[1] == Turn(
        number=2,
        must_reach=True,
        attempts=(Attempt(content=(Say("a"), mid, Say("b")), stop="calls", delivery=outer),),
    )
    assert script.turns[2].attempts == (
        Attempt(content=(Refuse(""),), stop="refusal", delivery=outer),
    )
    assert [turn.attempts[0] for turn in script.otherwise] == [
        Attempt(content=(Say("Bye."),), stop="end", delivery=outer),
        Attempt(content=(), stop="length", delivery=outer),
    ]


@pytest.mark.parametrize(
    ("dialect", "wire_id", "stop", "interleave", "place"),
    [
        ("chat", "", "calls", False, Place(inside="cut", after="a")),
        ("responses", None, "length", False, Place(frame="finish")),
        ("messages", "m", "calls", True, Place(before="cut")),
    ],
)
def test_values_per_dialect_are_chosen_or_default(
    dialect: DialectName, wire_id: str | None, stop: Stop, interleave: bool, place: Place
) -> None:
    turn = full(dialect).turns[0]
    fault = turn.attempts[1].fault

    assert turn.attempts[3].calls[0].wire_id == wire_id
    assert turn.attempts[3].stop == stop
    assert turn.attempts[3].delivery.interleave == interleave
    assert fault is not None
    assert fault.at == place


def test_a_whole_response_keeps_only_the_delivery_that_applies_to_it() -> None:
    attempts = full("chat", "whole").turns[0].attempts

    assert attempts[3].delivery == Delivery(pieces=(("cut", ('{"a"', ":1")),), segments="byte")
    assert attempts[2].delivery.keep_alive is False


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("start", Place(edge="start")),
        ("{frame: 3}", Place(frame=3)),
        ("{frame: terminal, bytes: 4}", Place(frame="terminal", size=4)),
        ("{in: seat, bytes: 4}", Place(inside="seat", size=4)),
        ("{in: seat, after: E}", Place(inside="seat", after="E")),
        ("{before: seat}", Place(before="seat")),
        ("{after: seat}", Place(behind="seat")),
        ("{bytes: 9}", Place(size=9)),
    ],
)
def test_places(at: str, place: Place) -> None:
    tail = TURNS.replace("  - say", f"    attempts: [{{fault: eof, at: {at}}}, normal]\n  - say")
    fault = compile_script(scenario(tail), "chat", "stream").turns[0].attempts[0].fault

    assert fault == Fault(kind="eof", at=place)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 s", 0),
        ("300 ms", 300),
        ("300ms", 300),
        ("2 s", 2000),
        ("1.5 seconds", 1500),
        ("5 min", 300_000),
        ("2 hours", 7_200_000),
        ("1 day", 86_400_000),
        ("3 days", 259_200_000),
    ],
)
def test_durations(text: str, expected: int) -> None:
    assert milliseconds(text) == expected


@pytest.mark.parametrize("text", ["", "2", "s", "-1 s", "2 sec", "1e3 s", "2  s", "1_0 s", "2 s "])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration such as '300 ms', '2 s' or '5 min'"):
        milliseconds(text)
