"""Approvals, answers, cancelling and further messages on the frameworks' own features."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from loopcheck.fake_providers.script import Mode
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.journal import Entry
from loopcheck.harness.legs import Leg
from loopcheck.harness.runner import RunOptions, play
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target
from loopcheck.harness.task import Outcome, Resume

NEEDS = {
    "langchain": ("langchain", "langchain_openai", "langchain_anthropic", "aiosqlite"),
    "openai_agents": ("agents",),
    "pydantic_ai": ("pydantic_ai",),
}
# What these packages warn of at import and leave unclosed is theirs, and no news here.
pytestmark = pytest.mark.filterwarnings("ignore")

HEAD = "format: 1\ntitle: t\nrule: r\nneeds: [approval, input, resume, cancel, follow_up]\n"
ASKS = """\
prompt: Book seat 12 of E1.
tools:
  look_up: {kind: read, args: {event: string}}
  reserve_seat: {kind: write, args: {event: string, seat: integer}, approval: ask}
"""
BOOKS = """\
turns:
  - calls: [{as: book, tool: reserve_seat, args: {event: E1, seat: 12}}]
  - say: Done.
"""


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


@pytest.fixture(scope="module", params=NEEDS)
def on_trial(request: pytest.FixtureRequest) -> Iterator[tuple[Target, InProcess]]:
    target = the_target(request.param)
    with InProcess(target) as driver:
        yield target, driver


def the_target(name: str) -> Target:
    for package in NEEDS[name]:
        pytest.importorskip(package, reason=f"{package} is not installed")
    target = getattr(import_module(f"loopcheck.harness.targets.{name}"), name)
    assert isinstance(target, Target)
    return target


def a_case(text: str, *, mode: Mode = "whole") -> CaseSpec:
    return CaseSpec(load_text((HEAD + text).encode(), file="t.yaml", id="t"), "chat", mode)


def played(on_trial: tuple[Target, InProcess], spec: CaseSpec, stage: Stage) -> list[Entry]:
    target, driver = on_trial
    entries, _ = play(driver, target.card(), spec, stage, RunOptions(case_seconds=10))
    return list(entries)


def ends(entries: Sequence[Entry]) -> list[object]:
    return [entry["state"] for entry in entries if entry["kind"] == "outcome"]


def seats(entries: Sequence[Entry]) -> list[object]:
    """The seats that were reserved."""
    ran = [e["arguments"] for e in entries if e["kind"] == "execution"]
    return [arguments["seat"] for arguments in ran if "seat" in arguments]  # type: ignore[index, operator]


def said(entries: Sequence[Entry], kind: str) -> list[str]:
    """The texts of this kind in the last request."""
    last = [entry for entry in entries if entry["kind"] == "request"][-1]
    return [item["text"] for item in last["conversation"] if item["kind"] == kind]  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_an_approved_call_runs_once(
    on_trial: tuple[Target, InProcess], stage: Stage, mode: Mode
) -> None:
    rule = "meanwhile:\n  - {when: book.waiting, do: approve}\n"
    entries = played(on_trial, a_case(ASKS + BOOKS + rule, mode=mode), stage)
    assert ends(entries) == ["paused", "completed"]
    assert seats(entries) == [12]
    (waited,) = [e["pending"] for e in entries if e.get("state") == "paused"]
    (asked,) = [e["calls"][0] for e in entries if e["kind"] == "response" and e["calls"]]  # type: ignore[index]
    assert waited == [
        {
            "call_id": asked["call_id"],
            "tool": "reserve_seat",
            "arguments": {"event": "E1", "seat": 12},
        }
    ]


def test_the_model_is_told_why_a_call_was_denied(
    on_trial: tuple[Target, InProcess], stage: Stage
) -> None:
    rule = "meanwhile:\n  - {when: book.waiting, do: {deny: book, reason: Too dear.}}\n"
    entries = played(on_trial, a_case(ASKS + BOOKS + rule), stage)
    assert (ends(entries), seats(entries)) == (["paused", "completed"], [])
    (result,) = said(entries, "result")
    assert "Too dear." in result


def test_other_arguments_are_what_runs_where_the_framework_can(
    on_trial: tuple[Target, InProcess], stage: Stage
) -> None:
    rule = """\
meanwhile:
  - {when: book.waiting, do: {approve: book, args: {event: E1, seat: 14}}}
"""
    entries = played(on_trial, a_case(ASKS + BOOKS + rule), stage)
    if on_trial[0].name == "openai-agents":
        assert (ends(entries), seats(entries)) == (["paused", "paused"], [])
    else:
        assert (ends(entries), seats(entries)) == (["paused", "completed"], [14])


def test_each_of_several_calls_gets_its_own_decision(
    on_trial: tuple[Target, InProcess], stage: Stage
) -> None:
    turns = """\
turns:
  - calls:
      - {as: one, tool: reserve_seat, args: {event: E1, seat: 12}}
      - {as: look, tool: look_up, args: {event: E1}}
      - {as: two, tool: reserve_seat, args: {event: E1, seat: 13}}
  - say: Done.
meanwhile:
  - {when: one.waiting, do: {approve: two}}
  - {when: two.waiting.2, do: {deny: one}}
  - {when: one.waiting.2, do: {deny: one}}
"""
    entries = played(on_trial, a_case(ASKS + turns), stage)
    assert ends(entries) == ["paused", "paused", "completed"]
    assert seats(entries) == [13]
    assert len(said(entries, "result")) == 3


def test_a_person_answers(on_trial: tuple[Target, InProcess], stage: Stage) -> None:
    target, _ = on_trial
    if "input" not in target.can:
        pytest.skip(f"{target.name} has nothing for it")
    text = """\
prompt: Book.
tools:
  ask_user: {kind: ask, args: {question: string}}
turns:
  - calls: [{as: ask, tool: ask_user, args: {question: Where?}}]
  - say: Done.
meanwhile:
  - {when: ask.waiting, do: {answer: aisle, to: ask}}
"""
    entries = played(on_trial, a_case(text), stage)
    assert ends(entries) == ["paused", "completed"]
    assert said(entries, "result") == ["aisle"]


def test_a_disabled_tool_never_runs(on_trial: tuple[Target, InProcess], stage: Stage) -> None:
    text = ASKS.replace("approval: ask", "approval: disabled") + BOOKS
    assert seats(played(on_trial, a_case(text), stage)) == []


@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_a_further_message_goes_on_with_the_conversation(
    on_trial: tuple[Target, InProcess], stage: Stage, mode: Mode
) -> None:
    turns = BOOKS + "  - user: And now?\n  - say: Nothing.\n"
    text = ASKS.replace(", approval: ask", "") + turns
    entries = played(on_trial, a_case(text, mode=mode), stage)
    assert ends(entries) == ["completed", "completed"]
    assert said(entries, "user") == ["Book seat 12 of E1.", "And now?"]
    assert (len(said(entries, "result")), said(entries, "say")) == (1, ["Done."])


@pytest.mark.parametrize("mode", ["whole", "stream"])
def test_a_cancelled_run_asks_nothing_more(
    on_trial: tuple[Target, InProcess], stage: Stage, mode: Mode
) -> None:
    text = """\
prompt: Look.
tools:
  look_up: {kind: read, args: {event: string}, returns_after: run.cancelling}
turns:
  - calls: [{as: look, tool: look_up, args: {event: E1}}]
  - calls: [{as: more, tool: look_up, args: {event: E2}}]
meanwhile:
  - {when: look.started, do: cancel}
"""
    entries = played(on_trial, a_case(text, mode=mode), stage)
    assert ends(entries) == ["cancelled"]
    assert len([entry for entry in entries if entry["kind"] == "request"]) == 1


def test_a_paused_run_can_be_cancelled(on_trial: tuple[Target, InProcess], stage: Stage) -> None:
    rule = "meanwhile:\n  - {when: book.waiting, do: cancel}\n"
    entries = played(on_trial, a_case(ASKS + BOOKS + rule), stage)
    assert (ends(entries), seats(entries)) == (["paused", "cancelled"], [])


def test_langchain_goes_on_from_the_last_checkpoint_of_a_run_that_died(
    stage: Stage, tmp_path: Path
) -> None:
    target = the_target("langchain")
    spec = a_case(ASKS.replace(", approval: ask", "") + BOOKS)
    leg = Leg(prompt=spec.scenario.prompt)
    with stage.open(spec, target=target.name) as case:
        task = case.task(leg, blocking=False, folder=tmp_path)
        task.folder.mkdir()
        asked, booking = task.specs
        entered = asyncio.Event()

        async def reserve_seat(event: str, seat: int) -> str:
            """Reserves a seat."""
            entered.set()
            return await asyncio.Future()

        async def run_twice() -> Outcome:
            dying = replace(task, specs=(asked, replace(booking, function=reserve_seat)))
            first = asyncio.ensure_future(ended(target, dying))
            await entered.wait()
            first.cancel()
            await asyncio.wait({first})
            return await ended(target, replace(task, resume=Resume(run=None)))

        outcome = asyncio.run(run_twice())
        entries = list(case.journal)
    assert (outcome.state, outcome.text) == ("completed", "Done.")
    assert seats(entries) == [12]
    assert len([entry for entry in entries if entry["kind"] == "request"]) == 2


async def ended(target: Target, task: object) -> Outcome:
    made = target.function(task)  # type: ignore[arg-type]
    assert not isinstance(made, Outcome)
    return await made


def test_the_session_in_a_file_is_one(tmp_path: Path) -> None:
    pytest.importorskip("agents", reason="agents is not installed")
    from loopcheck.harness.targets.file_session import FileSession

    session = FileSession("s", tmp_path / "session.json")
    items = [{"role": "user", "content": str(number)} for number in range(3)]

    async def use() -> None:
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items(items[:2])  # type: ignore[arg-type]
        await session.add_items(items[2:])  # type: ignore[arg-type]
        assert await session.get_items(limit=2) == items[1:]
        assert await session.pop_item() == items[2]
        assert await FileSession("s", tmp_path / "session.json").get_items() == items[:2]
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(use())
