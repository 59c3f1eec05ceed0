"""Verdicts, the order of findings, and the journal as lines."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from controlled import cancel
from journals import Written, call, honest, one_round, primary, scenario

from loopcheck.harness.checks import CHECKS
from loopcheck.harness.journal import load, to_lines
from loopcheck.harness.lines import lines

DOCS = Path(__file__).parents[3] / "docs" / "checks.md"
CUT = '{"event":"E1","seat":1'


def truncated() -> Written:
    """A cut call is carried out and the run told as a success."""
    expect = {"must": {"executions": {"reserve_seat": 0}, "outcome": "failed"}}
    journal = Written(scenario(expect=expect))
    journal.ask()
    journal.answer(call("book", arguments=CUT), ends="marked", stop="length")
    journal.execute(arguments={"event": "E1", "seat": 1}, label="book")
    journal.end("completed", "final_answer")
    return journal


def test_every_check_has_an_id_a_sentence_a_rank_and_advice_of_its_own() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS) == 17
    assert len({check.rank for check in CHECKS}) == len(CHECKS)
    assert all(check.sentence and check.advice for check in CHECKS)


@pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not part of this tree")
def test_every_check_has_a_section_in_the_docs() -> None:
    headings = re.findall(r"^## ([a-z]+\.[a-z-]+)$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [check.id for check in CHECKS]


def test_an_honest_run_passes() -> None:
    result = honest().judged()
    assert (result.verdict, result.reason, result.findings) == ("pass", None, ())
    assert result.case == "tests/one[chat-stream]"
    assert result.outcome == "completed"
    assert result.summary == "2 requests, 1 execution, 1 effect"
    assert [check.check for check in result.checks] == [check.id for check in CHECKS]


def test_findings_stand_in_the_order_of_the_journal_and_of_cause() -> None:
    result = truncated().judged()
    assert result.verdict == "fail"
    assert [(found.check, found.entries[0]) for found in result.findings] == [
        ("execution.complete-only", 4),
        ("scenario.expects", 4),
        ("outcome.named", 7),
        ("scenario.expects", 7),
    ]


def test_a_must_comes_before_any_should() -> None:
    journal = one_round(call("book", arguments={"event": "E1", "seat": "12"}))
    journal.execute()
    journal.execute()
    journal.end("failed", "ValueError")
    result = journal.judged()
    assert [(found.level, found.check) for found in result.findings] == [
        ("must", "execution.once"),
        ("should", "execution.exact-arguments"),
        ("should", "correlation.answered"),
    ]
    assert primary(result) == "execution.once"


def test_findings_below_must_do_not_fail_a_case() -> None:
    journal = one_round()
    journal.end("failed", "KeyError")
    result = journal.judged()
    assert (result.verdict, len(result.findings)) == ("pass", 1)


def test_a_target_without_what_is_needed_is_not_judged() -> None:
    result = Written(scenario(needs=["approval", "resume"])).judged("resume")
    assert (result.verdict, result.reason, result.checks) == ("not declared", "needs approval", ())


def test_a_broken_target_is_no_finding() -> None:
    journal = one_round()
    journal.note("broken", fault="target", what="TypeError: unexpected keyword argument")
    result = journal.judged()
    assert (result.verdict, result.reason, result.findings) == (
        "target broken",
        "TypeError: unexpected keyword argument",
        (),
    )


def test_an_error_of_the_harness_comes_before_anything_else() -> None:
    journal = truncated()
    journal.note("broken", fault="target", what="it broke")
    journal.note("broken", fault="harness", what="FaultError: nothing to cut")
    result = journal.judged()
    assert (result.verdict, result.reason) == ("harness error", "FaultError: nothing to cut")
    assert len(result.lines) == len(journal.entries)


def test_a_hung_run_fails_by_its_check() -> None:
    journal = Written()
    journal.note("broken", fault="hung", what="it did not end within 30 s")
    result = journal.judged()
    assert (result.verdict, primary(result)) == ("fail", "limits.kept")


def test_a_run_that_was_given_up_before_it_asked_is_not_broken() -> None:
    journal = Written(scenario(needs=["cancel"]))
    cancel(journal)
    journal.end("cancelled", "cancelled_by_user")
    assert journal.judged("cancel").verdict != "target broken"


def test_a_target_that_never_asks_is_broken() -> None:
    journal = Written()
    journal.end("failed", "TypeError")
    assert journal.judged().reason == "it sent no request; it ended as failed/TypeError"
    journal.ask(role="side")
    result = journal.judged()
    assert result.verdict == "target broken"
    assert result.reason == (
        "no request held the prompt together with a tool of the task; it ended as failed/TypeError"
    )


def test_a_stream_that_was_declared_and_not_asked_for_is_the_descriptions_fault() -> None:
    journal = honest()
    for entry in journal.entries:
        if entry["kind"] == "request":
            entry["body"] = {"stream": False}
    assert journal.judged().verdict == "target broken"
    journal.mode = "whole"
    journal.entries[0]["mode"] = "whole"
    assert journal.judged().verdict == "pass"


def test_a_saved_journal_gets_the_same_verdict(tmp_path: Path) -> None:
    journal = truncated()
    saved = tmp_path / "journal.jsonl"
    saved.write_text(to_lines(journal.entries), encoding="utf-8")
    live = journal.judged()
    journal.entries = list(load(saved))
    assert journal.judged() == live


def test_lines_are_one_an_entry() -> None:
    journal = one_round()
    result = journal.execute(label="book")
    journal.note("sent", request=1, frames=["a", "b"], how="client-closed")
    journal.carry()
    journal.result("call_book", result)
    journal.ask(2, 2)
    journal.answer(status=500, ends="failed", fault="http")
    journal.note("lookup", tool="reserve_seat", operation_id="op-1", answer="absent")
    journal.note("gate", gate="book.ended waits for turn2.asked", how="forced")
    journal.ask(role="divergent", why="never issued")
    journal.note("refused", request=3, rule="C1", grade="I", status=400, message="No.", param=None)
    journal.note("broken", fault="hung", what="it did not end")
    journal.end("failed", "KeyError", "x" * 200)
    assert list(lines(journal.entries)) == [
        "   1  case                 tests/one[chat-stream], target tested, seed 0",
        "   2  request 1            asks for turn 1",
        '   3  response             turn 1: book reserve_seat({"event": "E1", "seat": 12}), '
        "stop calls",
        "   4  execution   book     reserve_seat(event=E1, seat=12)",
        "   5  effect      book     reserve_seat(event=E1, seat=12) committed",
        '   6  ended       book     result: {"ok": true, "token": "tok-001"}',
        "   7  sent                 2 frames to request 1, the client closed",
        "   8  request 2            asks for turn 2 again (attempt 2); result call_book: "
        '\'{"ok": true, "token": "tok-001"}\'',
        "   9  response             turn 2: nothing, fault http 500",
        "  10  look-up              reserve_seat op-1: absent",
        "  11  gate                 book.ended waits for turn2.asked: forced",
        "  12  request 3            divergent: never issued; result call_book: "
        '\'{"ok": true, "token": "tok-001"}\'',
        "  13  refused              status 400 (rule C1): No.",
        "  14  broken               hung: it did not end",
        f"  15  outcome              failed/KeyError, text '{'x' * 27} ... {'x' * 27}'",
    ]


def test_a_line_stays_one_line() -> None:
    journal = one_round(call("book", arguments=json.dumps({"event": "a\nb" * 500, "seat": 1})))
    assert all("\n" not in line and len(line) < 130 for line in lines(journal.entries))


def test_thinking_is_told_without_its_words() -> None:
    journal = one_round()
    journal.entries[-1]["carry"] = [{"kind": "think", "text": "Hm.", "seal": "s"}]
    journal.items.append({"kind": "think", "path": "input[1]", "text": "Hm.", "seal": "s"})
    journal.carry()
    journal.ask(2)
    *_, response, request = lines(journal.entries)
    assert response.startswith("   3  response             turn 1: thinking, book reserve_seat(")
    assert request == "   4  request 2            asks for turn 2; 1 call, 1 of thinking"


def test_behind_an_odd_response_only_safety_is_a_must() -> None:
    """What no service sends obliges to nothing else; the scenario's own words stay as they are."""
    journal = truncated()
    response = next(entry for entry in journal.entries if entry["kind"] == "response")
    response["odd"] = True
    found = {(finding.check, finding.level) for finding in journal.judged().findings}
    assert ("execution.complete-only", "must") in found
    assert ("scenario.expects", "must") in found
    assert ("outcome.named", "should") in found
    assert ("outcome.named", "must") not in found


def test_what_happens_from_outside_is_told_in_lines() -> None:
    call = {"tool": "reserve_seat", "arguments": {"seat": 12}}
    told: dict[str, object] = {"label": "book", "decide": "approve", "pending": True, **call}
    entries: list[dict[str, object]] = [
        {"kind": "outcome", "state": "paused", "reason": "awaiting_approval", "pending": [call]},
        {"kind": "decision", **told},
        {"kind": "decision", **told, "decide": "deny", "reason": "no", "pending": False},
        {"kind": "decision", **told, "decide": "answer", "value": {"yes": True}},
        {"kind": "leg", "how": "resume", "run": "r1", "copies": 2, "clock": 7200.0},
        {"kind": "leg", "how": "resume", "run": "r1", "copies": 1, "cancelled": True},
        {"kind": "action", "do": "kill", "when": ["book.committed", "turn1.sent"]},
        {"kind": "died", "how": "killed"},
        {"kind": "place", "place": "in book after '1'", "request": 2},
    ]
    assert [line[6:] for line in lines([{"n": 1, **entry} for entry in entries])] == [
        "outcome              paused/awaiting_approval, waiting for reserve_seat(seat=12)",
        "decision    book     approve reserve_seat(seat=12)",
        "decision    book     deny reserve_seat(seat=12): no, which does not wait",
        "decision    book     answer reserve_seat(seat=12): {'yes': True}",
        "leg                  resume r1 in 2 processes at once, clock 7200 s ahead",
        "leg                  resume r1, to be cancelled",
        "action               kill at book.committed and turn1.sent",
        "died                 killed",
        "place                in book after '1', of request 2",
    ]
