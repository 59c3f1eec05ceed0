"""Writes that are on record before their turn: what becomes of them when it does not come."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from loopcheck.reference_loop.clock import Clock
from loopcheck.reference_loop.events import CheckedCall, ProposedCall
from loopcheck.reference_loop.execution import Bench
from loopcheck.reference_loop.executor import Executor
from loopcheck.reference_loop.limits import ToolLimits
from loopcheck.reference_loop.records import CallRecord, Records
from loopcheck.reference_loop.tools import LookUp, LoopTool
from loopcheck.reference_loop.writes import Unsettled

WRITES = 6


@dataclass
class Office:
    """Six letters are to be sent; the store has room for two commits until the batch is over."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    records: Records = field(default_factory=Records)
    sent: list[int] = field(default_factory=list)
    commits: list[dict[int, str]] = field(default_factory=list)
    bench: Bench = field(init=False)
    strikes_at: int | None = None
    stops_at: int | None = None

    async def send(self, arguments: dict[str, object], **ids: str | None) -> str:
        number = int(str(arguments["n"]))
        self.sent.append(number)
        if number == self.strikes_at:
            raise OSError("the line is dead")
        if number == self.stops_at:
            self.stop.set()
        return f"sent {number}"

    async def look_up(self, operation: str) -> LookUp:
        return LookUp("inconclusive")

    def save(self, name: str) -> None:
        assert name == "effect_about_to_run"
        self.bench.commits += 1
        self.commits.append({r.position: r.outcome for r in self.records.all()})

    def work(self) -> list[str]:
        tool = LoopTool(
            name="send",
            description="Sends a letter.",
            parameters={"type": "object"},
            kind="write",
            invoke=self.send,
            look_up=self.look_up,
        )
        self.bench = Bench(
            self.records, ToolLimits(), Clock(), self.stop, save=self.save, commits=4
        )
        checked = [self._checked(number) for number in range(WRITES)]
        asyncio.run(Executor({"send": tool}, self.bench).answer(checked, 1))
        return self.outcomes()

    def outcomes(self) -> list[str]:
        return [record.outcome for record in self.records.all()]

    def _checked(self, number: int) -> CheckedCall:
        call = ProposedCall(call_id=f"c{number}", name="send", arguments_text=f'{{"n": {number}}}')
        arguments: dict[str, object] = {"n": number}
        self.records.put(
            CallRecord(
                round=1,
                position=number,
                call_id=call.call_id,
                tool="send",
                arguments=arguments,
                operation_id=f"op{number}",
            )
        )
        return CheckedCall(call=call, verdict="allowed", arguments=arguments)


def test_two_commits_cover_six_writes() -> None:
    office = Office()
    assert office.work() == ["done"] * WRITES
    assert office.sent == list(range(WRITES))
    assert [list(commit.values()).count("begun") for commit in office.commits] == [3, 3]
    assert list(office.commits[1].values()) == ["done"] * 3 + ["begun"] * 3


def test_what_did_not_begin_is_open_again_behind_an_outcome_that_nobody_knows() -> None:
    office = Office(strikes_at=1)
    with pytest.raises(Unsettled):
        office.work()
    assert office.sent == [0, 1]
    assert office.outcomes() == ["done", "begun", *["waiting"] * 4]


def test_what_did_not_begin_when_the_user_stopped_is_cancelled() -> None:
    office = Office(stops_at=1)
    assert office.work() == ["done", "done", *["cancelled"] * 4]
    assert office.sent == [0, 1]
