from __future__ import annotations

import pytest
from scenario_texts import HEAD, TURNS, problems

CALL = "{as: seat, tool: reserve, args: {event: E1, seat: 12}}"


def test_a_right_file_has_no_problems() -> None:
    assert problems(TURNS) == []


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("needs: [aproval]", ["11:9: 'aproval' is no capability | did you mean 'approval'?"]),
        ("needs: [resume, resume]", ["11:17: 'resume' stands twice in 'needs'"]),
        ("dialects: [chat, chat]", ["11:18: 'chat' stands twice in 'dialects'"]),
        (
            "limits: {rounds: 3}",
            [
                "11:1: 'limits' wants needs: [limits] | a target that cannot be given limits is "
                "then not declared"
            ],
        ),
        ("needs: [limits]\nlimits: {rounds: 3}", []),
        (
            "tool_choice: reserv",
            ["11:14: tool_choice 'reserv' is no tool of this file | did you mean 'reserve'?"],
        ),
        ("tool_choice: reserve", []),
        (
            "dialects: [chat]\nrules: {off: [C1, CC1]}",
            ["12:19: 'CC1' is no request rule of these dialects | did you mean 'C1'?"],
        ),
        (
            'delivery: {fragments: {seat: [\'{"event":\', \'"E1","seat":1}\']}}',
            [
                '11:30: the pieces join to {"event":"E1","seat":1}, the arguments are '
                '{"event":"E1","seat":12}'
            ],
        ),
        ('delivery: {fragments: {seat: [\'{"event":\', \'"E1","seat":12}\']}}', []),
        (
            "delivery: {fragments: {saet: []}}",
            ["11:24: 'saet' is no call | did you mean 'seat'?"],
        ),
        (
            "delivery: {interleave: {chat: [seat, saet]}}",
            ["11:38: 'saet' is no call | did you mean 'seat'?"],
        ),
    ],
)
def test_the_whole_file(tail: str, expected: list[str]) -> None:
    assert problems(TURNS + tail + "\n") == expected


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (
            f"[{{calls: [{CALL}]}}, {{calls: [{CALL}]}}]",
            ["8:90: label 'seat' is taken by another call"],
        ),
        (
            f"[{{calls: [{CALL}, {CALL}]}}]",
            ["8:79: label 'seat' is taken by another call"],
        ),
        (f"[{{calls: [{CALL}], attempts: [{{fault: eof}}, {{calls: [{CALL}]}}]}}]", []),
        (
            "[{calls: [{as: turn2, tool: look, args: {}}]}]",
            ["8:23: 'turn2' is no label | letters, digits, - and _; not run, say, think or turn1"],
        ),
        (
            "[{calls: [{as: a.b, tool: look, args: {}}]}]",
            ["8:23: 'a.b' is no label | letters, digits, - and _; not run, say, think or turn1"],
        ),
        (
            "[{calls: [{as: a, tool: look}]}]",
            ["8:18: call 'a' has neither args nor raw_args"],
        ),
        (
            "[{calls: [{as: a, tool: look, args: {}, meant: {}}]}]",
            ["8:48: call 'a' has meant beside args, which say what is meant themselves"],
        ),
        (
            "[{calls: [{as: a, tool: look, args: {}, raw_args: '{}'}]}]",
            ["8:48: call 'a' has both args and raw_args"],
        ),
        (
            "[{calls: [{as: a, tool: look, raw_args: '{\"x\":'}]}]",
            [
                "8:48: a whole response of messages cannot hold these raw_args: no JSON object | "
                "narrow with modes: [stream], or with dialects"
            ],
        ),
        ("[{calls: [{as: a, tool: look, raw_args: '[1]'}]}]\nmodes: [stream]", []),
        ("[{calls: [{as: a, tool: look, raw_args: '[1]'}]}]\ndialects: [chat]", []),
        ("[{calls: [{as: a, tool: look, raw_args: ''}]}]", []),
        (
            "[{items: [{say: x, refuse: y}, {}], say: z}]",
            [
                "8:17: 'items' stands instead of think, say, calls and refuse",
                "8:18: an item is one of think, redacted, say, refuse, call",
                "8:39: an item is one of think, redacted, say, refuse, call",
            ],
        ),
        (
            "[{say: x, optional: true, must_reach: true}]",
            ["8:34: a turn is not both optional and must_reach"],
        ),
        ("[{stop: pause}]", ["8:16: only messages has the stop 'pause'"]),
        ("[{stop: pause}]\ndialects: [messages]", []),
        ("[{stop: {chat: pause}}]", ["8:16: only messages has the stop 'pause'"]),
        ("[{stop: {messages: pause}}]", []),
        ("[]\notherwise: {calls: [{as: a, tool: look}]}", ["9:21: call 'a' has neither args nor"]),
    ],
)
def test_turns_and_calls(turns: str, expected: list[str]) -> None:
    found = problems(f"turns: {turns}\n")

    assert [text[: len(start)] for text, start in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ("[normal, {fault: eof}]", "9:24: no request reaches this attempt: the one before it"),
        ("[{times: 2}, normal]", None),
        ("[{say: x}, normal]", None),
        ("[{at: start}]", "9:17: 'at' does nothing with an attempt without fault"),
        ("[{fault: http, at: start}]", "9:30: 'at' does nothing with the fault 'http'"),
        ("[{fault: eof, status: 500}]", "9:29: 'status' does nothing with the fault 'eof'"),
        ("[{fault: eof, then: reset}]", "9:29: 'then' does nothing with the fault 'eof'"),
        ("[{fault: headers-only, then: reset}]", None),
        ("[{fault: close, retry_after: 1 s}]", "9:31: 'retry_after' does nothing with the fault"),
        ("[{fault: error-event}]", "9:24: error-event strikes only in streams | narrow with"),
        ("[{fault: eof, at: end}]", "9:33: eof at the end leaves nothing out | use reset or"),
        ("[{fault: reset, at: end}]", None),
        ("[{fault: eof, at: {in: seat}}]", "9:33: in is no place | one of frame; frame and"),
        ("[{fault: eof, at: {}}]", "9:33: nothing is no place"),
        ("[{fault: eof, at: {frame: 2, before: seat}}]", "9:33: before and frame is no place"),
        ("[{fault: eof, at: {frame: 2, bytes: 3}}]", None),
        ("[{fault: eof, at: {bytes: 3}}]", None),
        ("[{fault: eof, at: {before: saet}}]", "9:42: 'saet' is no call of this attempt; calls"),
        ("[{fault: eof, at: {after: saet}}]", "9:41: 'saet' is no call of this attempt; calls h"),
        ("[{fault: eof, at: {in: saet, after: x}}]", "9:38: 'saet' is no call of this attempt"),
        ("[{fault: eof, at: {in: say, after: x}}]", "9:38: 'say' is no call of this attempt"),
        ("[{fault: eof, at: {chat: {in: saet, after: x}}}]", "9:45: 'saet' is no call of this"),
        (
            "[{fault: eof, at: {in: seat, after: seta}}]",
            '9:51: \'seta\' does not stand in the arguments of \'seat\': {"event":"E1","seat":12}',
        ),
        (
            "[{fault: eof, at: {in: seat, bytes: 25}}]",
            "9:51: the arguments of 'seat' have only 24 bytes",
        ),
        ("[{fault: eof, at: {in: seat, bytes: 24}}]", None),
    ],
)
def test_attempts_and_faults(attempts: str, expected: str | None) -> None:
    found = problems(f"turns: [{{calls: [{CALL}],\n    attempts: {attempts}}}]\n")

    assert [text[: len(expected or "")] for text in found] == ([expected] if expected else [])


def test_a_place_in_text_needs_text() -> None:
    assert (
        problems("turns: [{say: xyz, attempts: [{fault: eof, at: {in: say, after: x}}]}]\n") == []
    )


def test_a_fault_of_streams_is_right_where_only_streams_are_asked_for() -> None:
    tail = "modes: [stream]\nturns: [{say: x, attempts: [{fault: error-event}, normal]}]\n"

    assert problems(tail) == []


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("bad name: {kind: read}", "7:3: 'bad name' is no tool name | letters, digits, - and _"),
        (
            "a: {kind: read, args: {x: strng}}",
            "7:29: not a JSON Schema: 'strng' is no type | did you mean 'string'?",
        ),
        ("a: {kind: read, args: {x: {type: array, items: 3}}}", "7:50: not a JSON Schema: 3 is"),
        ("a: {kind: read, schema: {type: array}}", "7:27: the schema of a tool has type: object"),
        (
            "a: {kind: read, schema: {type: object, required: 3}}",
            "7:52: not a JSON Schema: 3 is not of type 'array'",
        ),
        (
            "a: {kind: read, args: {x: string}, schema: {type: object}}",
            "7:38: 'schema' stands instead of 'args'",
        ),
        (
            "a: {kind: write, args: {event: string}, operation: [evnt]}",
            "7:55: operation names 'evnt', which is no argument | did you mean 'event'?",
        ),
        ("a: {kind: write, lookup: found}", "7:20: 'lookup' needs 'operation', which says what"),
        ("a: {kind: write, deduplicates: true}", "7:20: 'deduplicates' needs 'operation', which"),
        ("a: {kind: write, operation: [], lookup: absent, deduplicates: true}", None),
        ("a: {kind: read, behaves: {saet: [raises]}}", "7:29: 'saet' is no call of a"),
        ("a: {kind: read, returns_after: seat}", "7:34: 'seat' is no point | points are written"),
        (
            "a: {kind: read, returns_after: [seat.ended, saet.ended]}",
            "7:47: 'saet.ended' names no call; calls here: seat",
        ),
        ("a: {kind: read, returns_after: seat.edned}", "7:34: 'seat.edned' is no point of 'seat'"),
        (
            "a: {kind: read, returns_after: seat.waitin}",
            "7:34: 'seat.waitin' is no point of 'seat'",
        ),
        ("a: {kind: read, returns_after: turn0.asked}", "7:34: 'turn0.asked': turns are numbered"),
        ("a: {kind: read, returns_after: [seat.waiting, turn2.closed, run.cancelling]}", None),
        ("a: {kind: read, returns_after: turn2.ended}", "7:34: 'turn2.ended' is no point of 't"),
        ("a: {kind: read, returns_after: run.asked}", "7:34: 'run.asked' is no point of 'run'"),
        ("a: {kind: read, returns_after: seat.ended.1}", "7:34: 'seat.ended.1': the first time"),
        ("a: {kind: read, returns_after: [seat.ended.2, turn1.sent, run.started]}", None),
    ],
)
def test_tools(tool: str, expected: str | None) -> None:
    head = HEAD.replace("  look: {kind: read}\n", f"  {tool}\n")

    found = problems(TURNS, head)

    assert [text[: len(expected or "")] for text in found] == ([expected] if expected else [])


def test_a_behaviour_belongs_to_a_call_of_its_own_tool() -> None:
    head = HEAD.replace("look: {kind: read}", "look: {kind: read, behaves: {seat: [raises]}}")

    assert problems(TURNS, head) == ["7:32: 'seat' is no call of look"]


@pytest.mark.parametrize(
    ("expect", "expected"),
    [
        (
            "{must: {executions: {reserv: 1}}}",
            "11:30: 'reserv' is no tool of this file | did you mean 'reserve'?",
        ),
        ("{may: {effects: {lock: 0}}}", "11:26: 'lock' is no tool of this file | did you mean"),
        ("{should: {results: {set: own}}}", "11:29: 'set' is no call of this file | did you mean"),
        ("{must: {order: [seat.ended]}}", "11:25: 'seat.ended' is no chain such as 'a.ended < b"),
        ("{must: {order: [seat.ended < set.started]}}", "11:25: 'set.started' names no call; cal"),
        ("{must: {order: [seat.asked < seat.ended < run.ended]}}", None),
        ("{must: {requests: {turn1: 1, turn01: 1}}}", "11:38: 'turn01' is no kind of request"),
        ("{must: {requests: {total: 2, otherwise: 0, side: {at_most: 1}}}}", None),
    ],
)
def test_expectations(expect: str, expected: str | None) -> None:
    found = problems(f"{TURNS}expect: {expect}\n")

    assert [text[: len(expected or "")] for text in found] == ([expected] if expected else [])


MAY_STOP = "this is too much for must: an honest loop may stop here instead"
ADD_NONE = f"{MAY_STOP} | add none: {{any_of: [error, none]}}"
ADD_FAILED = f"{MAY_STOP} | add failed: {{any_of: [completed, failed]}}"


@pytest.mark.parametrize(
    ("calls", "behaves"),
    [
        ("{as: a, tool: look, args: {}}", "[raises]"),
        ("{as: a, tool: look, args: {}}", "[normal, commit-then-lose-response]"),
        ("{as: a, tool: look, args: {}}", "{a: [rejects]}"),
        ("{as: a, tool: nosuch, args: {}}", "[normal]"),
        ("{as: a, tool: look, args: {x: 1}}", "[normal]"),
        ("{as: a, tool: look, raw_args: '{\"x\"'}", "[normal]"),
        ("{as: a, tool: look, args: {}}, {as: b, tool: nosuch, args: {}}", "[normal]"),
    ],
)
def test_must_leaves_room_to_stop_where_a_call_goes_wrong(calls: str, behaves: str) -> None:
    head = HEAD.replace("look: {kind: read}", f"look: {{kind: read, behaves: {behaves}}}")
    turns = f"dialects: [chat]\nturns: [{{calls: [{calls}]}}]\n"

    demanding = "expect: {must: {results: {a: error}, outcome: completed}}\n"
    assert problems(turns + demanding, head) == [f"10:30: {ADD_NONE}", f"10:47: {ADD_FAILED}"]
    fair = (
        "expect: {must: {results: {a: {any_of: [error, none]}}, "
        "outcome: {any_of: [completed, failed]}}, should: {results: {a: error}}}\n"
    )
    assert problems(turns + fair, head) == []


@pytest.mark.parametrize(
    "turn",
    ["{say: x, stop: length}", "{say: x, stop: {chat: filter}}", "{attempts: [{fault: empty}]}"],
)
def test_must_leaves_room_for_failure_where_a_response_is_disturbed(turn: str) -> None:
    tail = f"turns: [{turn}]\nexpect: {{must: {{outcome: completed}}}}\n"

    assert problems(tail) == [f"9:26: {ADD_FAILED}"]


def test_an_error_result_does_not_stop_an_honest_loop() -> None:
    head = HEAD.replace("look: {kind: read}", "look: {kind: read, behaves: [error-result]}")
    tail = (
        "turns: [{calls: [{as: a, tool: look, args: {}}]}]\n"
        "expect: {must: {results: {a: error}, outcome: completed}}\n"
    )

    assert problems(tail, head) == []
