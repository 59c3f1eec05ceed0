"""Questions to people: what is asked, what an answer holds for, and what does not pass."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from crashing import Played, SimulatedDeath, turn

from loopcheck.reference_loop import (
    AnswerError,
    Approval,
    Calls,
    Clock,
    Final,
    LoopTool,
    Policy,
    ProposedCall,
    Question,
    ReferenceLoop,
    Settlement,
    SqliteStore,
)
from loopcheck.reference_loop.approvals import PersonsAnswer
from loopcheck.reference_loop.arguments import JsonObject

pytestmark = pytest.mark.asyncio

SCHEMA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
ASK = Policy(permissions={"book": "ask"})
REPLIES = (turn("look 1", "book 1 a", "book 2 b"), Final("Done."))


@dataclass
class Office:
    """A loop whose bookings people decide about, over one store."""

    path: Path
    policy: Policy = ASK
    now: float = 100.0
    version: str = "1"
    log: list[str] = field(default_factory=list)
    adapter: Played = field(default_factory=lambda: Played(REPLIES, broke_off=True))
    dies: bool = False

    def __post_init__(self) -> None:
        self.store = SqliteStore(self.path, synchronous="normal")

    def loop(self, **options: object) -> ReferenceLoop[tuple[object, ...]]:
        tools = [self.tool("look"), self.tool("book")]
        clock = Clock(wall=lambda: self.now)
        return ReferenceLoop(
            self.adapter,
            tools,
            policy=self.policy,
            store=self.store,
            clock=clock,
            **options,  # type: ignore[arg-type]
        )

    def tool(self, name: str) -> LoopTool:
        async def invoke(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
            self.log.append(f"{name} {arguments['n']}")
            if self.dies and name == "book":
                raise SimulatedDeath
            return "ok"

        return LoopTool(
            name=name,
            description="",
            parameters=SCHEMA,
            kind="read" if name == "look" else "write",
            invoke=invoke,
            version=self.version,
        )


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path / "runs.sqlite3")


def yes(question: Question) -> Approval:
    return Approval(digest=question.digest, approved=True, by="Ada")


async def test_nothing_runs_before_the_decision(office: Office) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    assert (paused.state, paused.reason) == ("paused", "awaiting_approval")
    assert office.log == []
    assert [(q.about, q.call_id, q.tool, q.arguments) for q in paused.questions] == [
        ("approval", "a", "book", {"n": 1}),
        ("approval", "b", "book", {"n": 2}),
    ]
    done = await office.loop().resume("r", decisions=[yes(q) for q in paused.questions])
    assert done.state == "completed"
    assert office.log == ["look 1", "book 1", "book 2"]
    assert [(call.decision, call.decided_by) for call in done.calls] == [
        ("allowed", ""),
        ("approved", "Ada"),
        ("approved", "Ada"),
    ]


async def test_one_decision_of_two_is_kept_and_is_not_enough(office: Office) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    first, second = paused.questions
    paused = await office.loop().resume("r", decisions=[yes(first)])
    assert paused.questions == (second,)
    assert office.log == []
    assert (await office.loop().resume("r", decisions=[yes(second)])).state == "completed"
    assert office.log == ["look 1", "book 1", "book 2"]


async def test_a_denial_is_told_to_the_model(office: Office) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    first, second = paused.questions
    denial = Approval(digest=first.digest, approved=False, by="Ada", reason="Too dear.")
    plain = Approval(digest=second.digest, approved=False)
    done = await office.loop().resume("r", decisions=[denial, plain])
    assert office.log == ["look 1"]
    errors = [json.loads(call.text)["error"] for call in done.calls[1:]]
    assert errors[0] == {"code": "denied", "message": "Too dear.", "retryable": False}
    assert errors[1]["message"] == "A person decided against it."


@pytest.mark.parametrize("kind", ["unknown", "twice", "wrong kind"])
async def test_an_answer_that_fits_no_question_changes_nothing(office: Office, kind: str) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    first, second = paused.questions
    answers: dict[str, list[PersonsAnswer]] = {
        "unknown": [yes(first), replace(yes(second), digest="0" * 64)],
        "twice": [yes(first), yes(first)],
        "wrong kind": [yes(first), Settlement(digest=second.digest, answer="found")],
    }
    with pytest.raises(AnswerError):
        await office.loop().resume("r", decisions=answers[kind])
    assert (await office.loop().resume("r")).questions == (first, second)
    assert office.log == []


async def test_an_answer_holds_for_one_run_only(office: Office) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    await office.loop().run("Go.", run_id="s")
    with pytest.raises(AnswerError):
        await office.loop().resume("s", decisions=[yes(paused.questions[0])])


async def test_an_answer_is_given_once(office: Office) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    answer = yes(paused.questions[0])
    await office.loop().resume("r", decisions=[answer])
    with pytest.raises(AnswerError):
        await office.loop().resume("r", decisions=[answer])


async def test_an_approval_holds_for_one_version_of_the_tool(office: Office) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    office.version = "2"
    again = await office.loop().resume("r", decisions=[yes(q) for q in paused.questions])
    assert again.state == "paused"
    assert office.log == []
    assert {q.digest for q in again.questions}.isdisjoint(q.digest for q in paused.questions)


@pytest.mark.parametrize(("later", "state"), [(60.0, "completed"), (60.5, None)])
async def test_a_question_grows_stale(office: Office, later: float, state: str | None) -> None:
    office.policy = replace(ASK, approval_seconds=60.0)
    paused = await office.loop().run("Go.", run_id="r")
    answers = [yes(question) for question in paused.questions]
    office.now += later
    if state is None:
        with pytest.raises(AnswerError):
            await office.loop().resume("r", decisions=answers)
        again = await office.loop().resume("r")
        assert [question.asked_at for question in again.questions] == [office.now] * 2
        assert office.log == []
    else:
        assert (await office.loop().resume("r", decisions=answers)).state == state


async def test_what_was_approved_may_be_forbidden_by_now(office: Office) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    office.policy = Policy(permissions={"book": "disabled"})
    done = await office.loop().resume("r", decisions=[yes(q) for q in paused.questions])
    assert office.log == ["look 1"]
    assert [call.outcome for call in done.calls] == ["done", "rejected", "rejected"]


async def test_what_was_denied_stays_denied_and_the_rest_needs_no_question(
    office: Office,
) -> None:
    paused = await office.loop().run("Go.", run_id="r")
    office.policy = Policy()
    denial = Approval(digest=paused.questions[0].digest, approved=False)
    await office.loop().resume("r", decisions=[denial])
    assert office.log == ["look 1", "book 2"]


async def test_people_may_be_asked_while_the_run_waits(office: Office) -> None:
    asked: list[int] = []

    async def ask(questions: Sequence[Question]) -> Sequence[PersonsAnswer]:
        asked.append(len(questions))
        return [yes(questions[0])]

    assert (await office.loop(ask=ask).run("Go.")).state == "completed"
    assert asked == [2, 1]


async def test_nobody_answers(office: Office) -> None:
    async def ask(questions: Sequence[Question]) -> Sequence[PersonsAnswer]:
        return ()

    assert (await office.loop(ask=ask).run("Go.")).reason == "awaiting_approval"


@pytest.mark.parametrize(
    ("policy", "outcomes"),
    [
        (Policy(), ["done", "done", "done"]),
        (ASK, ["waiting", "waiting", "waiting"]),
        (Policy(permissions={"book": "disabled"}), ["waiting", "rejected", "rejected"]),
    ],
)
async def test_what_may_become_of_an_interrupted_write_by_now(
    office: Office, policy: Policy, outcomes: list[str]
) -> None:
    office.policy = Policy()
    office.dies = True
    with pytest.raises(SimulatedDeath):
        await office.loop().run("Go.", run_id="r")
    office.dies = False
    office.policy = policy
    paused = await office.loop().resume("r")
    assert paused.reason == ("awaiting_approval" if policy is ASK else "outcome_unknown")
    interrupted = next(question for question in paused.questions if question.about == "outcome")
    absent = Settlement(digest=interrupted.digest, answer="absent", by="Ada")
    after = await office.loop().resume("r", decisions=[absent])
    assert [call.outcome for call in after.calls][1:] == outcomes[1:]


async def test_a_paused_run_can_be_cancelled(office: Office) -> None:
    await office.loop().run("Go.", run_id="r")
    stop = asyncio.Event()
    stop.set()
    outcome = await office.loop().resume("r", stop=stop)
    assert (outcome.state, outcome.reason) == ("cancelled", "cancelled_by_user")
    assert outcome.conversation == (["user", "Go."],)
    assert office.log == []
    assert await office.loop().resume("r") == outcome


async def test_what_was_done_before_a_death_is_in_the_history_of_a_cancelled_run(
    office: Office,
) -> None:
    office.policy = Policy()
    office.dies = True
    with pytest.raises(SimulatedDeath):
        await office.loop().run("Go.", run_id="r")
    stop = asyncio.Event()
    stop.set()
    outcome = await office.loop().resume("r", stop=stop)
    assert outcome.state == "cancelled"
    assert [call.outcome for call in outcome.calls] == ["done", "unknown", "cancelled"]
    assert isinstance(outcome.conversation, tuple)
    assert len(outcome.conversation) == 2


HOSTILE = {
    "duplicate_member": '{"n": 1, "n": 2}',
    "invalid_number": '{"n": NaN}',
    "too_large": '{"n": "' + "x" * 10_000_000 + '"}',
    "too_deep": '{"n": ' + "[" * 10_000 + "]" * 10_000 + "}",
}


async def test_hostile_arguments_are_answered_and_stored(office: Office) -> None:
    calls = [
        ProposedCall(call_id=code, name="book", arguments_text=text)
        for code, text in HOSTILE.items()
    ]
    office.adapter = Played((Calls(tuple(calls), None), Final("Done.")), broke_off=True)
    outcome = await office.loop().run("Go.", run_id="r")
    assert outcome.state == "completed"
    codes = [json.loads(call.text)["error"]["code"] for call in outcome.calls]
    assert codes == list(HOSTILE)
    assert (await office.loop().resume("r")).calls == outcome.calls
    assert office.log == []
