"""A journal's lines as the steps of a sequence."""

from __future__ import annotations

from loopcheck.reports.sequence import Gap, Step, shown, steps

LINES = (
    "   1  case                 once/lost[chat-stream], target booking, seed 0",
    "   2  request 1            asks for turn 1",
    "   3  response             turn 1: book reserve_seat({}), stop calls",
    "   4  sent                 7 frames to request 1",
    "   5  execution   book     reserve_seat()",
    "   6  effect      book     reserve_seat() committed",
    "   7  ended       book     result: ok",
    "   8  gate                 book.done: opened",
    "   9  outcome              completed/final_answer, text 'Done.'",
)


def test_each_line_is_a_step_with_its_direction() -> None:
    read = [(step.number, step.kind, step.label, step.way) for step in steps(LINES)]
    assert read == [
        (1, "case", "", "note"),
        (2, "request 1", "", "ask"),
        (3, "response", "", "tell"),
        (4, "sent", "", "tell"),
        (5, "execution", "book", "do"),
        (6, "effect", "book", "world"),
        (7, "ended", "book", "return"),
        (8, "gate", "", "note"),
        (9, "outcome", "", "loop"),
    ]
    assert steps(LINES)[4].text == "reserve_seat()"


def test_the_first_mismatch_is_the_first_entry_of_the_proof_wherever_it_stands() -> None:
    marked = [(s.number, s.first) for s in steps(LINES, (6, 3)) if s.proof]
    assert marked == [(3, False), (6, True)]


def test_a_line_that_is_none_is_a_note() -> None:
    assert steps(("lost",)) == [Step(None, "", "", "lost", "note")]


def test_a_long_journal_is_shown_around_its_proof_and_gaps_are_counted() -> None:
    lines = [f"{n:>4}  request {n:<11}  turn" for n in range(1, 5001)]
    picked = shown(steps(lines, (2000, 4000)), lead=2, most=10)
    told = [one.steps if isinstance(one, Gap) else f"#{one.number}" for one in picked]
    assert told == ["#1", 1996, "#1998", "#1999", "#2000", 1997, "#3998", "#3999", "#4000", 1000]


def test_a_long_journal_without_proof_is_shown_from_its_end() -> None:
    picked = shown(steps([f"{n:>4}  sent" for n in range(1, 101)]), lead=3, most=10)
    told = [one.steps if isinstance(one, Gap) else f"#{one.number}" for one in picked]
    assert told == ["#1", 95, "#97", "#98", "#99", "#100"]


def test_proofs_without_end_are_bounded() -> None:
    picked = shown(steps([f"{n:>4}  sent" for n in range(1, 5001)], range(1, 5001)))
    assert len(picked) < 100
