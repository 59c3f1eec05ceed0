from __future__ import annotations

import pytest
from conducted import CANCELLED, DONE, Conducted, pending
from hypothesis import given, settings
from hypothesis import strategies as st

from loopcheck.harness.legs import Leg
from loopcheck.harness.task import Decision, Resume, paused


def decided(leg: Leg | None) -> list[tuple[str, str, dict[str, object]]]:
    """Call, word and arguments of the decisions that a leg brings."""
    assert leg is not None
    assert leg.resume is not None
    return [(d.call_id, d.decide, d.arguments) for d in leg.resume.decisions]


def test_without_anything_to_do_a_case_is_one_leg() -> None:
    case = Conducted()
    assert case.leg == Leg(prompt="Book seat 12.")
    case.asked("book")
    assert case.pauses("book") is None
    assert case.entries("decision", "label") == []


class TestDecisions:
    def test_an_approval_resumes_the_paused_run(self) -> None:
        case = Conducted("{when: book.waiting, do: approve}")
        case.asked("book")
        assert case.pauses("book") == Leg(
            number=2,
            how="resume",
            run="r1",
            prompt="Book seat 12.",
            resume=Resume(
                run="r-17",
                decisions=(
                    Decision(
                        call_id="id-book",
                        tool="reserve",
                        arguments={"seat": 12},
                        decide="approve",
                    ),
                ),
            ),
        )
        assert case.entries("decision", "decide", "label", "pending") == [("approve", "book", True)]
        case.started("book")
        assert case.ends(DONE) is None

    def test_the_journal_tells_of_a_decision_before_the_leg_that_brings_it(self) -> None:
        case = Conducted("{when: book.waiting, do: {deny: book, reason: too dear}}")
        case.asked("book")
        case.pauses("book")
        kinds = [entry["kind"] for entry in case.journal]
        assert kinds == ["case", "response", "outcome", "decision", "leg"]
        assert case.entries("decision", "decide", "reason") == [("deny", "too dear")]

    def test_what_a_person_answers(self) -> None:
        case = Conducted("{when: sure.waiting, do: {answer: {yes: true}, to: sure}}")
        case.asked("sure")
        leg = case.pauses("sure")
        assert leg is not None
        assert leg.resume == Resume(
            run="r-17",
            decisions=(
                Decision(
                    call_id="id-sure",
                    tool="confirm",
                    arguments={"text": "Sure?"},
                    decide="answer",
                    value={"yes": True},
                ),
            ),
        )

    def test_two_calls_that_wait_together_are_decided_together(self) -> None:
        case = Conducted("{when: book.waiting, do: approve}", "{when: more.waiting, do: deny}")
        case.asked("book", "more")
        assert decided(case.pauses("book", "more")) == [
            ("id-book", "approve", {"seat": 12}),
            ("id-more", "deny", {"seat": 13}),
        ]

    def test_of_an_id_that_was_issued_again_the_latest_call_is_meant(self) -> None:
        case = Conducted("{when: more.waiting, do: approve}")
        case.asked("book", call_id="call_1")
        case.asked("more", call_id="call_1")
        leg = case.ends(paused(pending=pending("more", call_id="call_1")))
        assert decided(leg) == [("call_1", "approve", {"seat": 13})]

    def test_equal_ids_of_one_response_are_told_apart_by_their_order(self) -> None:
        case = Conducted("{when: more.waiting, do: deny}", "{when: book.waiting, do: approve}")
        case.asked("book", "more", call_id="")
        leg = case.ends(paused(pending=pending("book", "more", call_id="")))
        assert decided(leg) == [("", "deny", {"seat": 13}), ("", "approve", {"seat": 12})]

    def test_a_target_may_have_ids_of_its_own(self) -> None:
        case = Conducted("{when: more.waiting, do: approve}")
        case.asked("book", "more")
        leg = case.ends(paused(pending=pending("more", call_id="tool-use-9")))
        assert decided(leg) == [("tool-use-9", "approve", {"seat": 13})]

    def test_what_waits_may_be_named_without_its_arguments(self) -> None:
        case = Conducted("{when: book.waiting, do: approve}")
        case.asked("book")
        (call,) = pending("book")
        bare = type(call)(call_id=call.call_id, tool=call.tool, arguments={})
        assert decided(case.ends(paused(pending=[bare]))) == [("id-book", "approve", {"seat": 12})]

    def test_arguments_may_be_changed(self) -> None:
        case = Conducted("{when: book.waiting, do: {approve: book, args: {seat: 14}}}")
        case.asked("book")
        assert decided(case.pauses("book")) == [("id-book", "approve", {"seat": 14})]

    def test_a_decision_about_a_call_that_does_not_wait_says_so(self) -> None:
        case = Conducted("{when: book.waiting, do: {approve: more}}")
        case.asked("book", "more")
        assert decided(case.pauses("book")) == [("id-more", "approve", {"seat": 13})]
        assert case.entries("decision", "label", "pending") == [("more", False)]

    def test_a_decision_is_about_the_call_that_waits_where_nobody_could_tell(self) -> None:
        case = Conducted("{when: more.waiting, do: {approve: book}}")
        case.asked("book", call_id="same")
        case.asked("more", call_id="same")
        waiting = pending("more", call_id="same")
        assert decided(case.ends(paused(pending=waiting))) == [("same", "approve", {"seat": 12})]
        assert case.entries("decision", "label", "pending") == [("more", True)]

    def test_a_decision_that_comes_early_is_kept_until_the_run_pauses(self) -> None:
        case = Conducted("{when: book.asked, do: {approve: book}}")
        case.asked("book")
        assert case.entries("decision", "label") == []
        assert decided(case.pauses("book")) == [("id-book", "approve", {"seat": 12})]
        assert case.entries("decision", "pending") == [(True,)]

    def test_a_second_thought_is_for_the_next_pause(self) -> None:
        case = Conducted(
            "{when: book.waiting, do: deny}", "{when: book.denied, do: {approve: book}}"
        )
        case.asked("book")
        assert decided(case.pauses("book")) == [("id-book", "deny", {"seat": 12})]
        case.asked("more")
        assert decided(case.pauses("more")) == [("id-book", "approve", {"seat": 12})]
        assert case.entries("decision", "decide", "pending") == [
            ("deny", True),
            ("approve", False),
        ]

    def test_without_a_further_pause_a_resume_brings_it(self) -> None:
        case = Conducted("{when: run.ended, do: [{approve: book}, resume]}")
        case.asked("book")
        leg = case.ends(DONE)
        assert decided(leg) == [("id-book", "approve", {"seat": 12})]
        assert case.entries("decision", "pending") == [(False,)]

    def test_a_decision_is_sent_twice_at_once(self) -> None:
        case = Conducted("{when: book.waiting, do: {approve: book, at_once: 2}}")
        case.asked("book")
        assert not case.conductor.has_rivals
        leg = case.pauses("book")
        assert leg is not None
        assert leg.copies == 2
        assert case.conductor.has_rivals
        assert case.entries("decision", "label") == [("book",)]
        assert case.ends(DONE, DONE) is None

    def test_time_passes_before_what_is_done(self) -> None:
        case = Conducted(
            "{when: book.waiting, after: 2 hours, do: approve}",
            "{when: more.waiting, after: 3 days, do: approve}",
        )
        case.asked("book", "more")
        leg = case.pauses("book")
        assert leg is not None
        assert leg.clock_seconds == 2 * 3600
        assert case.conductor.takes_time()
        assert not case.conductor.takes_time()
        leg = case.pauses("more")
        assert leg is not None
        assert leg.clock_seconds == 2 * 3600 + 3 * 86400


class TestCancelling:
    def test_while_it_runs(self) -> None:
        case = Conducted("{when: book.started, do: cancel}")
        case.started("book")
        assert case.done == ["cancel"]
        assert case.entries("action", "do", "when") == [("cancel", ["book.started"])]
        assert case.conductor.takes_time()
        assert case.ends(CANCELLED) is None

    def test_while_it_is_paused(self) -> None:
        case = Conducted("{when: book.waiting, do: cancel}")
        case.asked("book")
        leg = case.pauses("book")
        assert leg is not None
        assert (leg.how, leg.cancelled, leg.resume) == ("resume", True, Resume(run="r-17"))
        assert case.done == []
        assert case.ends(CANCELLED) is None

    def test_before_it_has_begun(self) -> None:
        case = Conducted("{when: run.started, do: cancel}")
        assert case.leg == Leg(prompt="Book seat 12.", cancelled=True)
        assert case.done == []

    def test_a_run_that_pauses_all_the_same_is_told_once_more(self) -> None:
        case = Conducted("{when: book.asked, do: cancel}")
        case.asked("book")
        assert case.done == ["cancel"]
        leg = case.pauses("book")
        assert leg is not None
        assert leg.cancelled
        assert case.pauses("book") is None

    def test_one_whose_process_died_is_told_once_more(self) -> None:
        case = Conducted("{when: book.started, do: [cancel, kill, resume]}")
        case.started("book")
        assert case.done == ["cancel", "kill"]
        leg = case.ends()
        assert leg is not None
        assert (leg.how, leg.cancelled) == ("resume", True)

    def test_it_is_forgotten_with_the_run(self) -> None:
        case = Conducted("{when: book.started, do: cancel}", messages=("{run: Again.}",))
        case.started("book")
        assert case.ends(CANCELLED) == Leg(number=2, run="r2", prompt="Again.")
        assert case.pauses("book") is None


class TestDeaths:
    def test_the_process_is_killed_and_the_run_goes_on(self) -> None:
        case = Conducted("{when: book.started, do: [kill, resume]}")
        case.started("book")
        assert case.done == ["kill"]
        assert case.conductor.death == "killed"
        assert case.ends() == Leg(
            number=2,
            how="resume",
            prompt="Book seat 12.",
            resume=Resume(run=None),
        )
        assert case.conductor.death is None

    def test_an_orderly_end(self) -> None:
        case = Conducted("{when: book.started, do: restart}")
        case.started("book")
        assert case.done == ["restart"]
        assert case.conductor.death == "restarted"
        assert case.ends() is None

    def test_a_process_that_runs_nothing_is_no_death_of_the_run(self) -> None:
        case = Conducted("{when: book.waiting, do: [kill, approve]}")
        case.asked("book")
        leg = case.pauses("book")
        assert case.done == ["kill"]
        assert case.conductor.death is None
        assert decided(leg) == [("id-book", "approve", {"seat": 12})]

    def test_two_processes_go_on_at_once(self) -> None:
        case = Conducted("{when: book.started, do: [kill, {resume: 2}]}")
        case.started("book")
        leg = case.ends()
        assert leg is not None
        assert leg.copies == 2

    def test_nothing_is_lost_or_done_twice_at_one_point(self) -> None:
        """What an action makes due is done behind the actions that were due before."""
        case = Conducted(
            "{when: book.started, do: cancel}",
            "{when: book.started, do: kill}",
            "{when: run.cancelling, do: restart}",
        )
        case.started("book")
        assert case.done == ["cancel", "kill", "restart"]


class TestParts:
    def test_the_user_says_more_when_the_run_has_ended(self) -> None:
        case = Conducted(messages=("{user: And 13?}", "{user: Thanks.}"))
        assert case.conductor.begun == 1
        second = Leg(number=2, how="follow_up", prompt="And 13?", follows=True)
        assert case.ends(DONE) == second
        assert case.conductor.begun == 2
        third = Leg(number=3, how="follow_up", prompt="Thanks.", follows=True)
        assert case.ends(DONE) == third
        assert case.conductor.begun == 3
        assert case.ends(DONE) is None

    def test_another_run_has_a_name_of_its_own(self) -> None:
        case = Conducted(messages=("{run: Again.}", "{user: And 13?}", "{run: Once more.}"))
        legs = [case.ends(DONE), case.ends(DONE), case.ends(DONE)]
        assert [(leg.run, leg.how) for leg in legs if leg] == [
            ("r2", "run"),
            ("r2", "follow_up"),
            ("r3", "run"),
        ]

    def test_a_further_message_is_resumed_as_one(self) -> None:
        case = Conducted("{when: book.waiting, do: approve}", messages=("{user: And 13?}",))
        case.ends(DONE)
        case.asked("book")
        leg = case.pauses("book")
        assert leg is not None
        assert (leg.how, leg.follows, leg.prompt) == ("resume", True, "And 13?")

    def test_another_run_is_not_resumed_under_the_id_of_the_one_before(self) -> None:
        case = Conducted("{when: more.started, do: [kill, resume]}", messages=("{run: Again.}",))
        case.asked("book")
        case.pauses("book")
        case.started("more")
        leg = case.ends()
        assert leg is not None
        assert (leg.run, leg.resume) == ("r2", Resume(run=None))

    def test_what_nobody_waited_for_is_forgotten_with_the_part(self) -> None:
        case = Conducted("{when: book.asked, do: {approve: book}}", messages=("{run: Again.}",))
        case.asked("book")
        case.ends(DONE)
        assert case.pauses("more") is None
        assert case.entries("decision", "label") == []


def test_all_points_have_to_pass() -> None:
    case = Conducted("{when: [book.started, {in: say, after: Fin}, turn1.asked], do: cancel}")
    case.journal.record("place", request=1, place="in say after 'Fin'")
    case.started("book")
    assert case.done == []
    case.journal.record("request", request=1, role="turn", turn=1)
    assert case.done == ["cancel"]


def test_the_call_is_found_among_several_points() -> None:
    case = Conducted("{when: [turn1.asked, run.paused, book.waiting], do: approve}")
    case.journal.record("request", request=1, role="turn", turn=1)
    case.asked("book")
    assert decided(case.pauses("book")) == [("id-book", "approve", {"seat": 12})]


POINTS = (
    "book.asked",
    "book.started",
    "book.waiting",
    "more.waiting",
    "run.ended",
    "run.cancelling",
)
ACTIONS = ("cancel", "kill", "restart", "resume", "{approve: book}", "{deny: more}")


@settings(max_examples=50, deadline=None)
@given(
    rules=st.lists(
        st.tuples(st.sampled_from(POINTS), st.lists(st.sampled_from(ACTIONS), min_size=1)),
        max_size=6,
    ),
    steps=st.lists(st.sampled_from(("ask", "start", "pause", "end", "die")), max_size=12),
)
def test_no_action_is_lost_or_done_twice(
    rules: list[tuple[str, list[str]]], steps: list[str]
) -> None:
    whole = Conducted(*(f"{{when: {point}, do: [{', '.join(do)}]}}" for point, do in rules))
    for number, step in enumerate(steps, 1):
        match step:
            case "ask":
                whole.asked("book", "more")
            case "start":
                whole.started("book", number)
            case "pause":
                whole.pauses("book", "more")
            case "end":
                whole.ends(DONE)
            case _:
                whole.ends()
    whole.pauses("book", "more")  # what was decided and not told yet is told now

    passed = {"book.asked": "ask" in steps, "book.started": "start" in steps}
    passed |= {"book.waiting": "ask" in steps, "more.waiting": "ask" in steps}
    passed["run.ended"] = "end" in steps
    cancels = [do.count("cancel") for point, do in rules if passed.get(point)]
    passed["run.cancelling"] = any(cancels)
    due = [word for point, do in rules if passed[point] for word in do]
    words = [str(word) for (word,) in whole.entries("action", "do")]
    for word in ("cancel", "kill", "restart"):
        assert words.count(word) == due.count(word)
    told = [str(word) for (word,) in whole.entries("decision", "decide")]
    assert told.count("approve") == due.count("{approve: book}")
    assert told.count("deny") == due.count("{deny: more}")
    brought = [d.decide for leg in whole.legs if leg.resume for d in leg.resume.decisions]
    assert brought == told


def test_a_mistake_in_a_hold_is_not_swallowed() -> None:
    case = Conducted("{when: book.started, do: cancel}", "{when: book.ended, do: kill}")

    def broken() -> None:
        raise BrokenPipeError

    case.held.cancel = broken  # type: ignore[method-assign]
    with pytest.raises(BrokenPipeError):
        case.started("book")
    case.journal.record("ended", execution=1, how="result")
    assert case.done == ["kill"]
