"""How a target is run: every end that a run can have, and what is kept of it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from stdlib_loop import ask, honest
from trial_cases import HEAD, RESERVES, STALLS, case

import loopcheck
from loopcheck.fake_providers.script import Mode
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.trial import put_on_trial
from loopcheck.harness.config import TargetSource
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.journal import load
from loopcheck.harness.legs import Leg
from loopcheck.harness.results import CaseResult, TargetCard
from loopcheck.harness.runner import (
    Broken,
    RunOptions,
    Skipped,
    arun_case,
    play,
    run_case,
    run_target,
)
from loopcheck.harness.scenario.model import AttemptModel, PlaceModel, TurnModel
from loopcheck.harness.stage import OpenCase, Stage
from loopcheck.harness.target import Target, TargetError
from loopcheck.harness.task import Outcome, Task

DEFAULT = RunOptions()
BRIEF = RunOptions(case_seconds=0.2)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


def target(
    function: Callable[[Task], Outcome] | Callable[[Task], Awaitable[Outcome]], **declared: object
) -> Target:
    return Target(
        **{"name": "tried", "dialects": ("chat",), "modes": ("whole", "stream"), **declared},  # type: ignore[arg-type]
        function=function,
    )


def tried(one: Target, spec: CaseSpec, stage: Stage, options: RunOptions = DEFAULT) -> CaseResult:
    with InProcess(one) as driver:
        return run_case(driver, one.card(), spec, stage, options)


def ended(one: Target, spec: CaseSpec, stage: Stage) -> dict[str, object]:
    """The entry of how it ended."""
    with InProcess(one) as driver:
        entries, _ = play(driver, one.card(), spec, stage, RunOptions())
    (outcome,) = [entry for entry in entries if entry["kind"] == "outcome"]
    return outcome


def hung(result: CaseResult) -> bool:
    return any("hung: it did not end within 0.2 s" in line for line in result.lines)


class OfACard:
    """A driver that has a card, and runs nothing unless it is told how."""

    def __init__(self, card: TargetCard, drive: Callable[[OpenCase], Outcome] | None = None):
        self._card, self._drive = card, drive

    def card(self) -> TargetCard:
        return self._card

    @property
    def has_process(self) -> bool:
        return False

    def drive(self, case: OpenCase, leg: Leg, folder: Path, seconds: float) -> tuple[Outcome, ...]:
        assert self._drive is not None, "nothing is to be run"
        return (self._drive(case),)

    def linger(self, case: OpenCase) -> None:
        raise AssertionError("there is nothing to wait for")


class TestEnds:
    def test_an_honest_run_passes(self, stage: Stage) -> None:
        result = tried(honest, case(), stage)
        assert (result.verdict, result.outcome, result.summary) == (
            "pass",
            "completed/final_answer",
            "2 requests, 1 execution, 1 effect",
        )
        assert result.seconds > 0

    def test_a_stalled_stream_is_cut_at_the_bound(self, stage: Stage) -> None:
        def waiting(task: Task) -> Outcome:
            return loopcheck.final(ask(task, [{"role": "user", "content": task.prompt}])["message"])

        result = tried(target(waiting), case(STALLS, mode="stream"), stage, BRIEF)
        assert result.verdict == "fail"
        assert [finding.check for finding in result.findings] == ["limits.kept"]
        assert hung(result)

    def test_a_tool_that_waits_is_let_go_at_the_bound(self) -> None:
        gated = HEAD.replace("lookup: found", "lookup: found, returns_after: other.ended")
        turns = RESERVES.replace("}}]", "}}, {as: other, tool: reserve, args: {seat: 13}}]", 1)
        with Stage(quiet_seconds=60.0) as patient:
            result = tried(honest, case(turns, head=gated), patient, BRIEF)
        assert hung(result)

    @pytest.mark.parametrize("gives_in", [True, False])
    def test_an_async_target_that_hangs_is_cancelled(self, stage: Stage, gives_in: bool) -> None:
        async def hanging(task: Task) -> Outcome:
            await asyncio.to_thread(ask, task, [{"role": "user", "content": task.prompt}])
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if gives_in:
                    raise
            return loopcheck.final("late")

        result = tried(target(hanging), case(), stage, BRIEF)
        assert hung(result)
        assert result.outcome is None

    def test_a_target_that_returns_no_outcome_is_broken(self, stage: Stage) -> None:
        def forgetful(task: Task) -> Outcome:
            honest(task)
            return "Done."  # type: ignore[return-value]

        result = tried(target(forgetful), case(), stage)
        assert (result.verdict, result.reason) == (
            "target broken",
            "target 'tried' returned str; return loopcheck.final(text) or another Outcome",
        )

    def test_an_exception_is_a_named_end(self, stage: Stage) -> None:
        def raising(task: Task) -> Outcome:
            raise KeyError("no such setting")

        entry = ended(target(raising, ends={LookupError: "limit"}), case(), stage)
        assert (entry["state"], entry["reason"]) == ("limit", "KeyError")

    def test_a_target_that_ends_the_process_ends_its_run(self, stage: Stage) -> None:
        def leaving(task: Task) -> Outcome:
            sys.exit("enough")

        async def aleaving(task: Task) -> Outcome:
            sys.exit("enough")

        for one in (target(leaving), target(aleaving)):
            entry = ended(one, case(), stage)
            assert (entry["state"], entry["exception"]) == ("failed", "SystemExit")

    def test_a_target_that_cancels_itself_has_failed(self, stage: Stage) -> None:
        async def cancelling(task: Task) -> Outcome:
            own = asyncio.ensure_future(asyncio.Event().wait())
            own.cancel()
            await own
            return loopcheck.final("never")

        entry = ended(target(cancelling), case(), stage)
        assert (entry["state"], entry["exception"]) == ("failed", "CancelledError")

    def test_a_target_built_wrongly_is_broken(self, stage: Stage) -> None:
        def wrong(task: Task) -> Outcome:
            raise TargetError("it has no request()")

        async def awrong(task: Task) -> Outcome:
            raise TargetError("it has no request()")

        for one in (target(wrong), target(awrong)):
            result = tried(one, case(), stage)
            assert (result.verdict, result.reason) == ("target broken", "it has no request()")

    def test_a_fault_that_cannot_strike_is_an_error_of_the_harness(self, stage: Stage) -> None:
        spec = case()
        attempt = AttemptModel(fault="eof", at=PlaceModel(frame=999))
        turn = TurnModel(say="Done.", attempts=(attempt,))
        impossible = spec.scenario.model_copy(update={"entries": (turn,)})
        result = tried(honest, CaseSpec(impossible, "chat", "stream"), stage)
        assert result.verdict == "harness error"
        assert result.reason == (
            "FaultError: the fault eof cannot strike: there is no {frame: 999} in 4 frames"
        )

    def test_a_case_whose_needs_are_not_declared_is_not_run(self, stage: Stage) -> None:
        spec = case(head=HEAD + "needs: [resume, cancel, limits]\n")
        driver = OfACard(TargetCard(name="x", can=("limits",)))
        result = run_case(driver, driver.card(), spec, stage, RunOptions())
        assert (result.verdict, result.reason) == ("not declared", "needs resume, cancel")

    def test_a_case_that_the_target_declines_is_not_declared(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        def declining(case: OpenCase) -> Outcome:
            raise Skipped("chat is not offered on Mondays")

        driver = OfACard(TargetCard(name="x"), declining)
        options = RunOptions(journal_folder=tmp_path)
        result = run_case(driver, driver.card(), case(), stage, options)
        assert (result.verdict, result.reason, result.journal) == (
            "not declared",
            "chat is not offered on Mondays",
            None,
        )

    def test_a_journal_that_cannot_be_written_is_left_out(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        file = tmp_path / "full"
        file.write_text("", encoding="utf-8")
        with InProcess(honest) as driver:
            options = RunOptions(journal_folder=file / "journals")
            result = run_case(driver, honest.card(), case(), stage, options)
        assert (result.verdict, result.journal) == ("pass", None)


class TestAsync:
    @pytest.mark.asyncio
    @pytest.mark.parametrize("mode", ["whole", "stream"])
    async def test_a_sync_target_within_a_loop(self, stage: Stage, mode: Mode) -> None:
        with InProcess(honest) as driver:
            result = await arun_case(driver, honest.card(), case(mode=mode), stage, RunOptions())
        assert result.verdict == "pass"

    @pytest.mark.asyncio
    async def test_an_async_target_that_hangs_does_not_take_the_loop_with_it(
        self, stage: Stage
    ) -> None:
        async def hanging(task: Task) -> Outcome:
            await asyncio.to_thread(ask, task, [{"role": "user", "content": task.prompt}])
            await asyncio.Event().wait()
            return loopcheck.final("never")

        one = target(hanging)
        with InProcess(one) as driver:
            result = await arun_case(driver, one.card(), case(), stage, BRIEF)
        assert hung(result)

    @pytest.mark.asyncio
    async def test_who_cancels_the_test_is_obeyed(self, stage: Stage) -> None:
        entered = asyncio.Event()

        async def waiting(task: Task) -> Outcome:
            entered.set()
            await asyncio.Event().wait()
            return loopcheck.final("never")

        one = target(waiting)
        with InProcess(one) as driver:
            run = asyncio.ensure_future(arun_case(driver, one.card(), case(), stage, RunOptions()))
            wait = asyncio.ensure_future(entered.wait())
            await asyncio.wait({run, wait}, return_when=asyncio.FIRST_COMPLETED)
            assert wait.done()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run

    @pytest.mark.asyncio
    async def test_needs_and_declined_cases_are_not_declared(self, stage: Stage) -> None:
        class Declining:
            async def adrive(
                self, case: OpenCase, leg: Leg, folder: Path, seconds: float
            ) -> tuple[Outcome, ...]:
                raise Skipped("not today")

            async def alinger(self, case: OpenCase) -> None:
                raise AssertionError("there is nothing to wait for")

        card = TargetCard(name="x")
        needy = case(head=HEAD + "needs: [resume]\n")
        reasons = [
            (await arun_case(Declining(), card, spec, stage, RunOptions())).reason
            for spec in (case(), needy)
        ]
        assert reasons == ["not today", "needs resume"]


class TestTargets:
    def test_a_target_runs_smoke_and_then_what_it_speaks(self, stage: Stage) -> None:
        specs = [case(), case(mode="stream"), case(dialect="messages")]
        seen: list[str] = []
        with InProcess(honest) as driver:
            result = run_target(
                driver,
                specs,
                stage,
                RunOptions(),
                progress=lambda case: seen.append(case.case),
                started=lambda card: seen.append(card.name),
            )
        assert result.broken is None
        assert result.smoke is not None
        assert seen == ["honest", "once/seat[chat-whole]", "once/seat[chat-stream]"]
        assert [case.verdict for case in result.cases] == ["pass", "pass"]

    def test_a_driver_without_a_target_is_broken(self, stage: Stage) -> None:
        class Missing(OfACard):
            def card(self) -> TargetCard:
                raise Broken("target", "no such module")

        result = run_target(Missing(TargetCard(name="x")), [case()], stage, RunOptions())
        assert (result.broken, result.cases) == ("no such module", ())

    def test_the_first_complaint_of_the_smoke_case_breaks_the_target(self, stage: Stage) -> None:
        def whole_only(task: Task) -> Outcome:
            if task.stream:
                raise ValueError("cannot stream")
            return honest.function(task)  # type: ignore[return-value]

        with InProcess(target(whole_only)) as driver:
            result = run_target(driver, [case()], stage, RunOptions())
        line = whole_only.__code__.co_firstlineno + 2
        assert result.broken is not None
        assert result.broken.startswith(
            "chat, stream: it sent no request to task.base_url; ValueError: cannot stream ("
        )
        assert result.broken.endswith(f"test_runner.py:{line})")
        assert result.cases == ()

    def test_a_target_that_declines_its_smoke_case_declines_its_cases(self, stage: Stage) -> None:
        def declining(case: OpenCase) -> Outcome:
            raise Skipped("not today")

        card = TargetCard(name="x", dialects=("chat",), modes=("whole",))
        result = run_target(OfACard(card, declining), [case()], stage, RunOptions())
        assert result.broken is None
        assert [(c.verdict, c.reason) for c in result.cases] == [("not declared", "not today")]

    @pytest.mark.parametrize(
        ("declared", "complaint"),
        [
            (
                {"dialects": ("chatt",), "modes": ("whole",)},
                "its card names an unknown dialect 'chatt'; did you mean 'chat'?",
            ),
            (
                {"dialects": ("chat",), "modes": ("whole", "socket")},
                "its card names an unknown mode 'socket'; known: stream, whole",
            ),
            (
                {"dialects": ("chat",), "modes": ("whole",), "can": ("paralel",)},
                "its card names an unknown capability 'paralel'; did you mean 'parallel'?",
            ),
            (
                {"dialects": (), "modes": ("whole",)},
                "its card names no dialect; known: responses, chat, messages",
            ),
            (
                {"dialects": ("chat",), "modes": ()},
                "its card names no mode; known: whole, stream",
            ),
        ],
    )
    def test_a_card_that_makes_no_sense_breaks_the_target(
        self, stage: Stage, declared: dict[str, tuple[str, ...]], complaint: str
    ) -> None:
        card = TargetCard(name="x", **declared)  # type: ignore[arg-type]
        result = run_target(OfACard(card), [case()], stage, RunOptions())
        assert (result.broken, result.card, result.cases) == (complaint, card, ())


DECLINES = """
import json, sys
card = {"name": "x", "dialects": ["chat"], "modes": ["whole"]}
for line in sys.stdin:
    command = json.loads(line)
    if command["cmd"] == "hello":
        print(json.dumps({"card": card, "protocol": 1}), flush=True)
    elif command["cmd"] == "run":
        print(json.dumps({"seq": command["seq"], "skipped": "not on this machine"}), flush=True)
    else:
        break
"""


def test_a_worker_that_declines_a_case_has_not_declared_it() -> None:
    source = TargetSource(name="foreign", worker=(sys.executable, "-c", DECLINES))
    result = put_on_trial(
        source, [case()], RunOptions(), progress=lambda case: None, started=lambda card: None
    )
    assert result.broken is None
    (judged,) = result.cases
    assert (judged.verdict, judged.reason) == ("not declared", "not on this machine")


class TestJournals:
    def kept(self, name: str, spec: CaseSpec, stage: Stage, folder: Path) -> Path:
        one = target(honest.function, name=name)
        result = tried(one, spec, stage, RunOptions(journal_folder=folder))
        assert result.journal is not None
        return Path(result.journal)

    def test_a_journal_is_kept_and_can_be_read_again(self, stage: Stage, tmp_path: Path) -> None:
        path = self.kept("booking", case(), stage, tmp_path)
        assert path == tmp_path / "booking" / "once.seat.chat-whole.jsonl"
        kinds = [entry["kind"] for entry in load(path)]
        assert kinds[0] == "case"
        assert kinds.count("outcome") == 1
        assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "*\n"

    @pytest.mark.parametrize(
        ("name", "folder"),
        [
            ("qa.booking:loop", "qa.booking%3Aloop"),
            ("../x", "%2E.%2Fx"),
            ("..", "%2E."),
            ("/etc/x", "%2Fetc%2Fx"),
            ("a\\b c\0", "a%5Cb%20c%00"),
            ("", "%"),
        ],
    )
    def test_no_name_leads_out_of_the_folder(
        self, stage: Stage, tmp_path: Path, name: str, folder: str
    ) -> None:
        path = self.kept(name, case(name="../../up"), stage, tmp_path / "last")
        assert path.parent == tmp_path / "last" / folder
        assert path.name == "%2E.....up.chat-whole.jsonl"
        assert [p.name for p in tmp_path.iterdir()] == ["last"]

    def test_nothing_is_kept_unless_it_is_asked_for(self, stage: Stage) -> None:
        assert tried(honest, case(), stage).journal is None

    def test_the_folder_of_a_run_is_gone_when_it_has_ended(self, stage: Stage) -> None:
        folders: list[Path] = []

        def keeping(task: Task) -> Outcome:
            folders.append(task.folder)
            (task.folder / "notes.txt").write_text("x", encoding="utf-8")
            return loopcheck.final("")

        tried(target(keeping), case(), stage)
        assert len(folders) == 1
        assert not folders[0].exists()
