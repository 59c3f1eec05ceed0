"""outcome.named and limits.kept: on journals written by hand."""

from __future__ import annotations

import pytest
from controlled import leg
from journals import Json, Written, call, honest, levels, one_round, scenario

from loopcheck.fake_providers.script import DialectName
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.judge import judge

pytestmark = pytest.mark.usefixtures("every_word")
CUT = '{"event":"E1","seat":1'


def last(
    *calls: Json,
    told: str = "completed",
    final: str = "",
    dialect: DialectName = "chat",
    text: str = "",
    stop: str | None = None,
    ends: str = "well",
    fault: str | None = None,
    refusal: str | None = None,
) -> Written:
    """A run of one request whose only response is as given."""
    journal = Written(dialect=dialect)
    journal.ask()
    journal.answer(*calls, text=text, stop=stop, ends=ends, fault=fault, refusal=refusal)
    journal.end(told, text=final)
    return journal


def named(journal: Written) -> list[str]:
    return levels(journal.check("outcome.named"))


def test_an_honest_end_passes() -> None:
    assert honest().check("outcome.named").status == "pass"


def test_a_cut_turn_as_a_plain_success_fails() -> None:
    journal = last(call("book", arguments=CUT), ends="marked", stop="length")
    (finding,) = journal.check("outcome.named").findings
    assert finding.level == "must"
    assert finding.seen == (
        "completed, text '' (1 request, 0 executions; the last answer: stop length, 1 call)"
    )
    assert finding.entries == (4, 3)


@pytest.mark.parametrize("told", ["failed", "refused", "limit", "cancelled", "paused"])
def test_any_other_state_shows_it(told: str) -> None:
    assert named(last(call("book"), ends="failed", fault="reset", told=told)) == []


@pytest.mark.parametrize(
    ("ends", "stop", "calls", "text", "expected"),
    [
        ("well", "end", 0, "Done.", []),
        ("well", "end", 0, "", []),
        ("well", "calls", 1, "", []),
        ("marked", "length", 0, "Do", ["should"]),
        ("marked", "length", 0, "", ["must"]),
        ("marked", "length", 1, "Do", ["must"]),
        ("marked", "filter", 1, "", ["must"]),
        ("unmarked", "end", 0, "Do", ["should"]),
        ("unmarked", "end", 0, "", ["must"]),
        ("unmarked", "calls", 1, "Do", ["must"]),
        ("failed", "end", 0, "Do", ["must"]),
    ],
)
def test_how_the_last_response_ended_decides(
    ends: str, stop: str, calls: int, text: str, expected: list[str]
) -> None:
    made = [call(f"c{place}") for place in range(calls)]
    assert named(last(*made, ends=ends, stop=stop, text=text, final=text)) == expected


def test_a_cut_text_that_the_caller_does_not_get_whole_fails() -> None:
    assert named(last(ends="marked", stop="length", text="Do not", final="Do")) == ["must"]


def test_a_call_that_does_not_parse_and_is_dropped_in_silence_fails() -> None:
    assert named(last(call("book", arguments=CUT))) == ["must"]


@pytest.mark.parametrize(
    ("dialect", "refusal", "final", "expected"),
    [
        ("chat", "I cannot.", "I cannot.", ["should"]),
        ("chat", "I cannot.", "Refused: I cannot.", ["should"]),
        ("chat", "I cannot.", "", ["must"]),
        ("chat", "", "", ["should"]),
        ("responses", "", "", ["should"]),
        ("messages", "", "", ["must"]),
    ],
)
def test_a_refusal_may_be_handed_on(
    dialect: DialectName, refusal: str, final: str, expected: list[str]
) -> None:
    journal = last(dialect=dialect, refusal=refusal, final=final, stop="refusal", ends="marked")
    assert named(journal) == expected


@pytest.mark.parametrize(("can", "expected"), [(("hosted",), ["must"]), ((), ["should"])])
def test_a_turn_that_the_service_paused_is_no_end(
    can: tuple[str, ...], expected: list[str]
) -> None:
    journal = Written(dialect="messages")
    journal.ask()
    journal.answer(text="I will look it up.", stop="pause")
    journal.end(text="I will look it up.")
    assert levels(journal.check("outcome.named", *can)) == expected


def test_what_came_before_a_further_request_was_told_to_the_model() -> None:
    journal = Written()
    journal.ask()
    journal.answer(call("book", arguments=CUT), ends="marked", stop="length")
    journal.ask(1, 2)
    journal.answer(text="Done.")
    journal.end(text="Done.")
    assert journal.check("outcome.named").status == "pass"


def test_a_refused_request_is_no_success() -> None:
    journal = one_round()
    journal.ask(2, role="refused")
    journal.note("refused", request=2, rule="C1", grade="I", status=400, message="No.", param=None)
    journal.end()
    (finding,) = journal.check("outcome.named").findings
    assert finding.seen.endswith("the last answer: status 400: No.)")


def test_a_divergent_request_is_no_success() -> None:
    journal = one_round()
    journal.ask(2, role="divergent", why="never issued")
    journal.end()
    (finding,) = journal.check("outcome.named").findings
    assert finding.seen.endswith("the last answer: an error for history that was never issued)")


def test_without_an_outcome_nothing_can_be_said() -> None:
    assert one_round().check("outcome.named").status == "not observable"


def test_without_a_request_nothing_was_exercised() -> None:
    journal = Written()
    journal.end("failed")
    assert journal.check("outcome.named").status == "not exercised"


def loops(rounds: int, limit: int | None, *, told: str = "limit") -> Written:
    """A model that asks for ever, and a loop that took so many responses."""
    limits = {} if limit is None else {"limits": {"rounds": limit}}
    journal = Written(scenario(**limits))
    for turn in range(1, rounds + 1):
        journal.ask(turn)
        journal.answer(call(f"c{turn}"))
        journal.carry()
        journal.result(f"call_c{turn}", journal.execute())
    journal.end(told)
    return journal


@pytest.mark.parametrize(
    ("rounds", "told", "expected"),
    [
        (3, "limit", []),
        (3, "failed", []),
        (2, "limit", ["should"]),
        (4, "limit", ["should"]),
        (6, "completed", ["should"]),
        (7, "limit", ["must"]),
    ],
)
def test_rounds_are_held_against_the_limit(rounds: int, told: str, expected: list[str]) -> None:
    assert levels(loops(rounds, 3, told=told).check("limits.kept", "limits")) == expected


def test_what_was_done_beyond_the_limit_is_the_proof() -> None:
    (finding,) = loops(3, 1).check("limits.kept", "limits").findings
    assert finding.seen == "3 rounds"
    assert finding.expected == "1 round, or twice as many at most"
    assert finding.entries == (8, 13)


@pytest.mark.parametrize(("how", "expected"), [("run", []), ("resume", ["should"])])
def test_each_run_has_its_own_limit(how: str, expected: list[str]) -> None:
    journal = loops(3, 3)
    leg(journal, how, run="r2")
    for turn in (4, 5):
        journal.ask(turn)
        journal.answer(call(f"c{turn}"))
        journal.carry()
        journal.result(f"call_c{turn}", journal.execute())
    journal.ask(6)
    journal.answer(text="Done.")
    journal.end(text="Done.")
    assert levels(journal.check("limits.kept", "limits")) == expected


@pytest.mark.parametrize(
    ("limit", "can", "told", "status"),
    [
        (None, ("limits",), "completed", "not exercised"),
        (9, ("limits",), "completed", "not exercised"),
        (3, (), "limit", "not declared"),
        (3, ("limits",), "limit", "pass"),
    ],
)
def test_limits_that_say_nothing(
    limit: int | None, can: tuple[str, ...], told: str, status: str
) -> None:
    assert loops(3, limit, told=told).check("limits.kept", *can).status == status


def test_failed_attempts_are_no_rounds() -> None:
    journal = Written(scenario(limits={"rounds": 1}))
    for attempt in (1, 2):
        journal.ask(1, attempt)
        journal.answer(status=500, ends="failed", fault="http")
    journal.ask(1, 3)
    journal.answer(call("book"))
    journal.end("limit")
    assert journal.check("limits.kept", "limits").status == "pass"


def test_a_hung_run_never_stopped() -> None:
    journal = one_round()
    journal.note("broken", fault="hung", what="it did not end within 30 s")
    result = journal.check("limits.kept")
    assert result.status == "fail"
    (finding,) = result.findings
    assert finding.sentence == "the loop stops"
    assert finding.seen == "it did not end within 30 s; 1 request until then"
    assert finding.entries == (4,)


@pytest.mark.parametrize(
    ("unit", "limit", "expected"),
    [
        ("rounds", 4, []),
        ("tool_rounds", 3, []),
        ("tool_rounds", 4, ["should"]),
        ("requests", 5, []),
        ("requests", 4, ["should"]),
        ("graph steps", 4, []),
        ("graph steps", 1, ["must"]),
    ],
)
def test_a_limit_is_exact_in_the_targets_own_unit(
    unit: str, limit: int, expected: list[str]
) -> None:
    journal = loops(3, limit)
    journal.entries.pop()
    journal.ask(4)
    journal.answer(status=500, ends="failed", fault="http")
    journal.ask(4, 2)
    journal.answer(text="Done.")
    journal.end("limit")
    spec = CaseSpec(journal.scenario, "chat", "stream")
    result = judge(journal.entries, spec, frozenset({"limits"}), unit)
    kept = next(one for one in result.checks if one.check == "limits.kept")
    assert levels(kept) == expected
    if unit == "graph steps" and not expected:
        assert (kept.status, kept.reason) == (
            "not observable",
            "the target's limit counts graph steps",
        )


def test_a_refusal_is_one_whatever_the_stop_reason() -> None:
    assert named(last(refusal="I cannot.", final="")) == ["must"]
    assert named(last(stop="refusal", dialect="messages")) == ["must"]


def test_errors_and_texts_are_shown_in_short() -> None:
    journal = one_round()
    journal.ask(2, role="refused")
    journal.note(
        "refused", request=2, rule="C1", grade="I", status=400, message="x" * 90, param=None
    )
    journal.end(text="y" * 90)
    (finding,) = journal.check("outcome.named").findings
    assert finding.seen == (
        f"completed, text '{'y' * 27} ... {'y' * 27}' (2 requests, 0 executions; "
        f"the last answer: status 400: {'x' * 37} ... {'x' * 37})"
    )


def test_calls_that_were_never_sent_are_not_counted() -> None:
    journal = last(call("book", sent="none"), ends="failed", fault="reset")
    (finding,) = journal.check("outcome.named").findings
    assert finding.seen.endswith("the last answer: a failure (reset))")


def test_what_one_run_takes_is_not_held_against_the_next() -> None:
    """Two runs, each with a limit of its own: of rounds, and in requests of calls."""
    journal = loops(2, 2)
    leg(journal, "run", run="r2")
    for turn in (3, 4, 5):
        journal.ask(turn)
        journal.answer(call(f"c{turn}"))
        journal.carry()
        journal.result(f"call_c{turn}", journal.execute())
    journal.end("limit")
    (finding,) = journal.check("limits.kept", "limits").findings
    assert (finding.level, finding.expected, finding.seen) == ("should", "2 rounds", "3 rounds")
    assert finding.entries == (25,)


def test_requests_and_calls_are_counted_in_each_run() -> None:
    journal = loops(2, 3)
    journal.scenario = scenario(limits={"rounds": 2, "tool_calls": 2})
    leg(journal, "run", run="r2")
    for turn in (3, 4):
        journal.ask(turn)
        journal.answer(call(f"c{turn}"))
        journal.carry()
        journal.result(f"call_c{turn}", journal.execute())
    journal.end("limit")
    result = journal.judged("limits", "tool_call_limit", limit_unit="requests")
    kept = next(one for one in result.checks if one.check == "limits.kept")
    assert (kept.status, kept.findings) == ("pass", ())


def test_a_run_that_left_no_outcome_was_not_stopped() -> None:
    """The first ended at its limit, the second before it."""
    journal = loops(3, 3)
    leg(journal, "run", run="r2")
    journal.ask(4)
    journal.answer(text="Done.")
    result = journal.check("limits.kept", "limits")
    assert (result.status, result.findings) == ("pass", ())


def test_a_limit_that_was_reached_too_early_is_proven_by_the_end() -> None:
    (finding,) = loops(2, 3).check("limits.kept", "limits").findings
    assert (finding.sentence, finding.expected, finding.seen, finding.entries) == (
        "the limit is kept exactly, in the target's own unit",
        "3 rounds",
        "2 rounds",
        (12,),
    )


def test_a_run_that_ended_with_its_last_round_had_reached_the_limit() -> None:
    assert loops(3, 3, told="failed").check("limits.kept", "limits").status == "pass"


@pytest.mark.parametrize(("ends", "expected"), [("failed", []), ("marked", ["should"])])
def test_a_last_response_that_failed_is_no_round(ends: str, expected: list[str]) -> None:
    journal = loops(2, 2)
    journal.entries.pop()
    journal.ask(3)
    journal.answer(text="Do", ends=ends)
    journal.end("limit")
    assert levels(journal.check("limits.kept", "limits")) == expected


def test_a_run_without_a_response_took_no_round() -> None:
    journal = Written(scenario(limits={"rounds": 1}))
    journal.ask()
    journal.end("failed")
    result = journal.check("limits.kept", "limits")
    assert (result.status, result.reason) == ("not exercised", "the run ended before 1 round")


def further_run(journal: Written, rounds: int) -> None:
    """Another run of so many rounds."""
    leg(journal, "run", run="r2")
    for turn in range(11, 11 + rounds):
        journal.ask(turn)
        journal.answer(call(f"c{turn}"))
        journal.carry()
        journal.result(f"call_c{turn}", journal.execute())


def test_a_run_that_was_broken_off_counts_to_its_last_entry() -> None:
    journal = loops(3, 3)
    further_run(journal, 3)
    journal.ask(14)
    journal.answer(text="Done.")
    (finding,) = journal.check("limits.kept", "limits").findings
    assert finding.seen == "4 rounds"


def test_each_run_may_be_stopped_too_early() -> None:
    journal = loops(3, 3)
    further_run(journal, 1)
    journal.end("limit")
    (finding,) = journal.check("limits.kept", "limits").findings
    assert finding.seen == "1 round"
