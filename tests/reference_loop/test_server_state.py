"""Conversations that the service keeps: what is sent, what is lost, and what a death leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

import pytest
from crashing import CrashStore as Store
from crashing import Fuse, SimulatedDeath, World
from remembering import Remembering, Spoken, Wanted
from sdk_replies import JsonObject, Service, history

from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Clock,
    Failed,
    LoopOutcome,
    ReferenceLoop,
    Retries,
    SqliteStore,
    TaskInfo,
    UnknownRunError,
    switch,
)
from loopcheck.reference_loop.adapters.conversation import Conversation, begin
from loopcheck.reference_loop.adapters.held import StateAt
from loopcheck.reference_loop.adapters.messages import MessagesAdapter
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter

SPOKEN: tuple[Spoken, ...] = get_args(Spoken)
INPUT = {"responses": "input", "messages": "messages"}
BETA = "message-threads-2026-08-12"

each = pytest.mark.parametrize("spoken", SPOKEN)


def adapter(
    service: Service, spoken: Spoken, *, state: StateAt = "server", stream: bool = False
) -> ResponsesAdapter | MessagesAdapter:
    if spoken == "responses":
        return ResponsesAdapter(client=service.openai(), model="m", stream=stream, state=state)
    return MessagesAdapter(client=service.anthropic(), model="m", stream=stream, state=state)


def loop_of(
    service: Remembering,
    folder: Path,
    *,
    state: StateAt = "server",
    stream: bool = False,
    fuse: Fuse | None = None,
) -> ReferenceLoop[Conversation]:
    speaker = adapter(service, service.spoken, state=state, stream=stream)
    world = World(folder / "ledger", fuse or Fuse())
    return ReferenceLoop(speaker, world.tools(), retries=Retries(first_seconds=0.0))


def previous_of(request: JsonObject) -> object:
    """The response that a request goes on from."""
    thread = cast("JsonObject", request.get("thread") or {})
    return request.get("previous_response_id") or thread.get("previous_message_id")


def said(request: JsonObject, spoken: Spoken) -> list[str]:
    """What a request itself brings: the user, calls and results."""
    kinds: list[str] = []
    for item in cast("Sequence[JsonObject]", history(request, INPUT[spoken])):
        content = item.get("content")
        for entry in content if isinstance(content, list) else [item]:
            kinds.append(str(entry.get("type", "user")))
    names = {"function_call": "call", "tool_use": "call"}
    names |= {"function_call_output": "result", "tool_result": "result"}
    return [names.get(kind, kind) for kind in kinds]


@each
@pytest.mark.parametrize("stream", [False, True])
def test_a_request_names_the_latest_response_and_brings_what_is_new(
    spoken: Spoken, stream: bool, tmp_path: Path
) -> None:
    service = Remembering(spoken=spoken)
    loop = loop_of(service, tmp_path, stream=stream)

    async def work() -> tuple[LoopOutcome, LoopOutcome]:
        first = await loop.run("Go.")
        return first, await loop.run("And then?", after=first.conversation)

    first, second = asyncio.run(work())
    assert (first.text, second.text) == ("Done.", "Done.")
    name = "resp" if spoken == "responses" else "msg"
    assert [previous_of(one) for one in service.requests] == [
        None,
        f"{name}_1",
        f"{name}_2",
        f"{name}_3",
    ]
    assert [said(one, spoken) for one in service.requests] == [
        ["user"],
        ["result", "result"],
        ["result"],
        ["user"],
    ]
    if spoken == "responses":
        assert all(one["store"] is True for one in service.requests)
    else:
        assert service.requests[0]["thread"] == {"type": "create"}
        assert service.headers == [BETA] * 4
    assert all("tools" in one for one in service.requests)


@each
def test_on_the_client_nothing_is_said_of_what_the_service_keeps(
    spoken: Spoken, tmp_path: Path
) -> None:
    service = Remembering(spoken=spoken)
    outcome = asyncio.run(loop_of(service, tmp_path, state="client").run("Go."))
    assert outcome.state == "completed"
    assert not any(
        {"store", "thread", "previous_response_id"} & one.keys() for one in service.requests
    )
    assert service.headers == [""] * 3
    assert said(service.requests[1], spoken) == ["user", "call", "call", "result", "result"]
    assert cast("Conversation", outcome.conversation).held == 0


@dataclass
class Forgetting(Remembering):
    """Has forgotten everything each time that it is asked to go on."""

    def _refusal(self, body: JsonObject, previous: str) -> str:
        self.held.clear()
        return super()._refusal(body, previous)


@each
def test_what_the_service_has_lost_is_sent_again(spoken: Spoken, tmp_path: Path) -> None:
    service = Forgetting(spoken=spoken)
    outcome = asyncio.run(loop_of(service, tmp_path).run("Go."))
    assert (outcome.state, outcome.rounds) == ("completed", 3)
    assert len(service.refusals) == 2
    assert [said(one, spoken) for one in service.requests] == [
        ["user"],
        ["result", "result"],
        ["user", "call", "call", "result", "result"],
        ["result"],
        ["user", "call", "call", "result", "result", "call", "result"],
    ]
    assert World(tmp_path / "ledger", Fuse()).effects() == [("book", 1), ("book", 2)]


@each
def test_other_refusals_are_failures(spoken: Spoken, tmp_path: Path) -> None:
    @dataclass
    class Refusing(Remembering):
        def _refusal(self, body: JsonObject, previous: str) -> str:
            return "invalid_value" if previous else ""

    service = Refusing(spoken=spoken)
    outcome = asyncio.run(loop_of(service, tmp_path).run("Go."))
    assert (outcome.state, outcome.reason) == ("failed", "provider_failure")
    assert "refused: invalid_value" in outcome.text
    assert len(service.requests) == 2


@each
@pytest.mark.parametrize("stream", [False, True])
def test_a_service_without_names_for_its_responses_is_sent_everything(
    spoken: Spoken, stream: bool, tmp_path: Path
) -> None:
    service = Remembering(spoken=spoken, nameless=True)
    outcome = asyncio.run(loop_of(service, tmp_path, stream=stream).run("Go."))
    assert outcome.state == "completed"
    assert [previous_of(one) for one in service.requests] == [None] * 3
    assert said(service.requests[2], spoken)[0] == "user"


EMPTY_ID: Wanted = [("", "look", {"n": 1})]


@each
def test_a_call_that_has_another_id_there_is_sent_again_with_everything(
    spoken: Spoken, tmp_path: Path
) -> None:
    service = Remembering(spoken=spoken, turns=[EMPTY_ID, [("c", "book", {"n": 2})]])
    outcome = asyncio.run(loop_of(service, tmp_path).run("Go."))
    assert outcome.state == "completed"
    name = "resp" if spoken == "responses" else "msg"
    assert [previous_of(one) for one in service.requests] == [None, None, f"{name}_2"]
    assert [said(one, spoken) for one in service.requests] == [
        ["user"],
        ["user", "call", "result"],
        ["result"],
    ]


@pytest.mark.asyncio
@each
async def test_a_stored_conversation_says_how_much_the_service_has(spoken: Spoken) -> None:
    service = Remembering(spoken=spoken)
    speaker = adapter(service, spoken)
    talk = begin(TaskInfo(prompt="Go."), spoken)
    calls = await speaker.request(talk)
    assert isinstance(calls, Calls)
    results = [CallResult(call_id=one.call_id, text="x", arguments={}) for one in calls.calls]
    after = speaker.append(talk, calls, results)
    assert after.held == len(after.history) - (2 if spoken == "responses" else 1)
    stored = json.loads(json.dumps(speaker.dump(after)))
    assert speaker.load(stored) == (after, None)
    for held in (-1, len(after.history) + 1):
        with pytest.raises(ValueError, match="its service holds more than there is"):
            speaker.load({**stored, "held": held})
    other = switch(after, "chat")
    assert other.dropped == ("previous_response_id" if spoken == "responses" else "thread",)
    assert (other.conversation.held, other.conversation.state) == (0, {})


@pytest.mark.asyncio
@each
async def test_what_failed_leaves_the_service_nothing_to_go_on_from(spoken: Spoken) -> None:
    service = Service([{"error": {"message": "no"}}])
    failed = await adapter(service, spoken).request(begin(TaskInfo(prompt="Go."), spoken))
    assert isinstance(failed, Failed)


@dataclass
class Life:
    """One process after another works on a run whose conversation the service keeps."""

    folder: Path
    service: Remembering
    lives: int = 0
    checkpoints: list[str] = field(default_factory=list)

    def live(self, fuse: Fuse) -> LoopOutcome | None:
        """The outcome, or None if the process died."""
        self.lives += 1
        self.service.boundary = fuse.boundary
        wall = float(1000 * self.lives)
        with closing(
            SqliteStore(self.folder / "runs", synchronous="normal", wall=lambda: wall)
        ) as inner:
            world = World(self.folder / "ledger", fuse)
            loop = ReferenceLoop(
                adapter(self.service, self.service.spoken),
                world.tools(),
                store=Store(inner, fuse, self.checkpoints),
                clock=Clock(wall=lambda: wall, running=lambda: 0.0),
            )
            try:
                return asyncio.run(_work(loop))
            except SimulatedDeath:
                return None


async def _work(loop: ReferenceLoop[Conversation]) -> LoopOutcome:
    try:
        return await loop.resume("run")
    except UnknownRunError:
        return await loop.run("Go.", run_id="run")


def lived(folder: Path, spoken: Spoken, at: int | None) -> tuple[Life, Fuse, LoopOutcome]:
    folder.mkdir()
    life, fuse = Life(folder, Remembering(spoken=spoken)), Fuse(at)
    outcome = life.live(fuse)
    if outcome is None:
        outcome = life.live(Fuse())
    assert outcome is not None
    return life, fuse, outcome


@each
def test_a_run_goes_on_from_the_last_response_that_is_on_record(
    spoken: Spoken, tmp_path: Path
) -> None:
    """Dies at every boundary: around each commit, each effect and each answer of the service."""
    expected, whole, outcome = lived(tmp_path / "undisturbed", spoken, None)
    assert outcome.state == "completed"
    replays = 0
    for at in range(1, whole.passed + 1):
        life, fuse, resumed = lived(tmp_path / str(at), spoken, at)
        assert fuse.is_dead
        assert resumed == outcome
        assert World(life.folder / "ledger", Fuse()).effects() == [("book", 1), ("book", 2)]
        assert life.service.seen[-1] == expected.service.seen[-1]
        assert set(life.service.refusals) <= {"thread_already_continued"}
        replays += len(life.service.refusals)
        # Every request goes on from a response whose calls it answers: the service checks that.
        assert len(life.service.requests) <= len(expected.service.requests) + 2
    # A thread goes on from each response once; where it has, all of it is sent anew.
    assert (replays > 0) == (spoken == "messages")


@pytest.mark.asyncio
async def test_a_beta_of_the_client_itself_stays() -> None:
    service = Remembering(spoken="messages")
    client = service.anthropic().with_options(default_headers={"anthropic-beta": "own"})
    speaker = MessagesAdapter(client=client, model="m", stream=False, state="server")
    await speaker.request(begin(TaskInfo(prompt="Go."), "messages"))
    assert service.headers == [f"own,{BETA}"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_service_without_threads_is_asked_for_one_once(stream: bool, tmp_path: Path) -> None:
    service = Remembering(spoken="messages", threads=False)
    outcome = asyncio.run(loop_of(service, tmp_path, stream=stream).run("Go."))
    assert outcome.state == "completed"
    assert service.refusals == ["thread_unsupported_request"]
    assert ["thread" in one for one in service.requests] == [True, False, False, False]
    assert service.headers == [BETA, "", "", ""]
    assert said(service.requests[-1], "messages")[0] == "user"


PAUSED: JsonObject = {
    "id": "msg_1",
    "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}],
    "stop_reason": "pause_turn",
}
ENDED: JsonObject = {
    "id": "msg_2",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
}


def test_work_that_was_handed_back_goes_on_with_nothing_new() -> None:
    service = Service([PAUSED, ENDED])
    loop = ReferenceLoop(adapter(service, "messages"))
    outcome = asyncio.run(loop.run("Go."))
    assert outcome.text == "Done."
    _, second = service.requests
    assert second["messages"] == []
    assert previous_of(second) == "msg_1"
