"""How many commits a round takes, and that what was done is saved whatever comes after it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from crashing import (
    ASKING,
    DONE,
    RUN,
    CrashStore,
    Fuse,
    Life,
    Played,
    Script,
    SimulatedDeath,
    World,
    turn,
)
from sdk_replies import Answer, JsonObject, Service
from watched_runs import calls

from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Checkpoint,
    Lease,
    Policy,
    ProviderAdapter,
    ReferenceLoop,
    Retries,
    Settlement,
    SqliteStore,
    StorableAdapter,
    StoreError,
)
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.adapters.conversation import Conversation
from loopcheck.reference_loop.adapters.messages import MessagesAdapter
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter


def commits(folder: Path, *wanted: str, policy: Policy | None = None) -> list[str]:
    """Those of the second round, which asks for these calls; the third one ends the run."""
    turns = (turn("look 1"), turn(*wanted), DONE)
    script = Script(turns, policy=policy or Policy(), asks_in_process=policy is not None)
    life = Life(script, folder)
    outcome = asyncio.run(life.live(Fuse()))
    assert (outcome.state, outcome.rounds) == ("completed", 3)
    began = life.checkpoints.index("request_started")  # since the first answer to it broke off
    assert life.checkpoints[:began] == ["run_started", "response_received", "results_saved"]
    assert life.checkpoints[-1] == "finished"
    return life.checkpoints[began + 1 : -1]


@pytest.mark.parametrize("writes", [0, 1, 2, 4, 5, 20, 50])
def test_a_round_takes_two_commits_and_at_most_four_for_writes(writes: int, tmp_path: Path) -> None:
    """One of the seven is spent already, on a request that broke off."""
    wanted = ["look 1", *(f"book {n}" for n in range(writes))]
    assert commits(tmp_path, *wanted) == [
        "response_received",
        *["effect_about_to_run"] * min(writes, 4),
        "results_saved",
    ]


@pytest.mark.parametrize("writes", [1, 2, 3, 20])
def test_an_approval_takes_two_more(writes: int, tmp_path: Path) -> None:
    wanted = ["look 1", *(f"book {n}" for n in range(writes))]
    assert commits(tmp_path, *wanted, policy=ASKING) == [
        "response_received",
        "approval_requested",
        "approval_decided",
        *["effect_about_to_run"] * min(writes, 2),
        "results_saved",
    ]


def test_what_was_written_is_saved_before_reads_that_follow(tmp_path: Path) -> None:
    wanted = ("book 1", "look 1", "look 2", "book 2", "look 3")
    assert commits(tmp_path, *wanted) == [
        "response_received",
        "effect_about_to_run",
        "effect_committed",
        "effect_about_to_run",
        "effect_committed",
        "results_saved",
    ]


def test_it_is_not_where_that_leaves_a_write_no_commit(tmp_path: Path) -> None:
    wanted = ("book 1", "look 1", "book 2", "look 2", "book 3", "look 3", "book 4", "look 4")
    assert commits(tmp_path, *wanted) == [
        "response_received",
        *["effect_about_to_run"] * 4,
        "results_saved",
    ]


def test_a_call_that_cannot_run_is_no_read_that_follows(tmp_path: Path) -> None:
    assert commits(tmp_path, "book 1", "unheard-of 2") == [
        "response_received",
        "effect_about_to_run",
        "results_saved",
    ]


@dataclass
class Failing(Played):
    """Fails at the results of the first batch, in one of two ways, once."""

    at: str = ""
    failed: list[str] = field(default_factory=list)

    def append(
        self, conversation: tuple[object, ...], calls: Calls, results: Sequence[CallResult]
    ) -> tuple[object, ...]:
        self._fail("append")
        return super().append(conversation, calls, results)

    def dump(self, conversation: tuple[object, ...], turn: object = None) -> object:
        if len(conversation) > 1:
            self._fail("dump")
        return super().dump(conversation, turn)

    def _fail(self, at: str) -> None:
        if at == self.at and not self.failed:
            self.failed.append(at)
            raise LookupError(at)


class FailingStore(CrashStore):
    """Fails at the results of the first batch, once."""

    def commit(self, lease: Lease, checkpoint: Checkpoint) -> None:
        if checkpoint.name == "results_saved" and "effect_committed" not in self.checkpoints:
            raise StoreError("the disk is full")
        super().commit(lease, checkpoint)


@pytest.mark.parametrize("at", ["append", "dump", "commit"])
def test_where_results_cannot_be_saved_what_was_done_is(at: str, tmp_path: Path) -> None:
    """`pay` can neither be looked up nor repeated: only the record says that it was done."""
    world = World(tmp_path / "ledger", Fuse())
    inner = SqliteStore(tmp_path / "runs.sqlite3")
    store = (FailingStore if at == "commit" else CrashStore)(inner, Fuse())
    adapter = Failing((turn("pay 1"), DONE), broke_off=True, at=at)
    loop = ReferenceLoop(adapter, world.tools(), retries=Retries(first_seconds=0.0), store=store)
    with pytest.raises((LookupError, StoreError)):
        asyncio.run(loop.run("Go.", run_id=RUN))
    assert store.checkpoints[-2:] == ["effect_about_to_run", "effect_committed"]
    outcome = asyncio.run(loop.resume(RUN))
    inner.close()
    assert (outcome.state, outcome.text) == ("completed", "Done.")
    assert [record.outcome for record in outcome.calls] == ["done"]
    assert world.effects() == [("pay", 1)]


def test_a_store_that_fails_altogether_says_so(tmp_path: Path) -> None:
    class Full(CrashStore):
        def commit(self, lease: Lease, checkpoint: Checkpoint) -> None:
            if checkpoint.name in ("results_saved", "effect_committed"):
                raise StoreError(f"the disk is full at {checkpoint.name}")
            super().commit(lease, checkpoint)

    world, inner = World(tmp_path / "ledger", Fuse()), SqliteStore(tmp_path / "runs.sqlite3")
    loop = ReferenceLoop(
        Played((turn("pay 1"), DONE), broke_off=True), world.tools(), store=Full(inner, Fuse())
    )
    with pytest.raises(StoreError, match="full at results_saved"):
        asyncio.run(loop.run("Go.", run_id=RUN))
    outcome = asyncio.run(loop.resume(RUN))
    inner.close()
    assert (outcome.state, outcome.reason) == ("paused", "outcome_unknown")


BEGUN = ("effect_about_to_run", False)


@dataclass
class Kept(CrashStore):
    """Remembers which checkpoints had the conversation with them."""

    kept: list[tuple[str, bool]] = field(default_factory=list)

    def create(self, lease: Lease, checkpoint: Checkpoint) -> None:
        self.kept.append((checkpoint.name, checkpoint.conversation is not None))
        super().create(lease, checkpoint)

    def commit(self, lease: Lease, checkpoint: Checkpoint) -> None:
        self.kept.append((checkpoint.name, checkpoint.conversation is not None))
        super().commit(lease, checkpoint)


TURNS: dict[str, JsonObject] = {
    "chat": calls(("c1", "pay", '{"n": 1}')),
    "responses": {
        "id": "resp_1",
        "status": "completed",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"},
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c1",
                "name": "pay",
                "arguments": '{"n": 1}',
            },
        ],
    },
    "messages": {
        "id": "msg_1",
        "stop_reason": "tool_use",
        "container": {"id": "container_1"},
        "content": [{"type": "tool_use", "id": "c1", "name": "pay", "input": {"n": 1}}],
    },
}


def adapter(dialect: str, service: Service) -> StorableAdapter[Conversation]:
    match dialect:
        case "chat":
            return ChatAdapter(client=service.openai(), model="m", stream=False)
        case "responses":
            return ResponsesAdapter(client=service.openai(), model="m", stream=False)
    return MessagesAdapter(client=service.anthropic(), model="m", stream=False)


@pytest.mark.parametrize("dialect", TURNS)
def test_a_response_is_saved_without_the_conversation_that_it_belongs_to(
    dialect: str, tmp_path: Path
) -> None:
    """The process dies while it pays; another one goes on from what was saved."""
    store = Kept(SqliteStore(tmp_path / "runs.sqlite3", wall=lambda: 1000.0), Fuse())
    world = World(tmp_path / "ledger", Fuse(at=1))

    def loop(*answers: Answer) -> tuple[ReferenceLoop[Conversation], Service]:
        service = Service(list(answers))
        speaks = cast("ProviderAdapter[Conversation]", adapter(dialect, service))
        return ReferenceLoop(speaks, world.tools(), store=store), service

    async def die() -> None:
        dying, _ = loop(TURNS[dialect])
        with pytest.raises(SimulatedDeath):
            await dying.run("Go.", run_id=RUN)

    async def go_on() -> list[JsonObject]:
        living, service = loop({"error": {"message": "No.", "type": "invalid_request_error"}})
        [question] = (await living.resume(RUN)).questions
        settled = Settlement(digest=question.digest, answer="found", text="paid")
        await living.resume(RUN, decisions=[settled])
        return service.requests

    asyncio.run(die())
    assert store.kept == [("run_started", True), ("response_received", False), BEGUN]
    [request] = asyncio.run(go_on())
    store.inner.close()
    undisturbed = Service([TURNS[dialect], {"error": {"type": "invalid_request_error"}}])
    speaks = cast("ProviderAdapter[Conversation]", adapter(dialect, undisturbed))
    paying = World(tmp_path / "other", Fuse())
    asyncio.run(ReferenceLoop(speaks, paying.tools()).run("Go."))
    assert request == undisturbed.requests[1]
