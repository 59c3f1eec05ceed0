"""A loop that can die at any boundary, and a world beside it that remembers what was done.

A boundary is the moment before or after a commit of the store, and before or after an effect.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loopcheck.reference_loop import (
    Approval,
    CallResult,
    Calls,
    Checkpoint,
    Clock,
    Content,
    Failed,
    Final,
    ImagePart,
    Lease,
    Limits,
    LookUp,
    LoopOutcome,
    LoopTool,
    Policy,
    ProposedCall,
    Question,
    ReferenceLoop,
    Reply,
    Retries,
    Settlement,
    SqliteStore,
    StoredRun,
    TaskInfo,
    TextPart,
    UnknownRunError,
    content,
)
from loopcheck.reference_loop.approvals import PersonsAnswer

JsonObject = dict[str, object]
Conversation = tuple[object, ...]

RUN = "run-1"
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


class SimulatedDeath(BaseException):
    """The process is gone: nothing that runs may catch this."""


def die() -> None:
    raise SimulatedDeath


@dataclass
class Fuse:
    """Counts boundaries, and ends the process at one of them."""

    at: int | None = None
    end: Callable[[], None] = die
    passed: int = 0
    is_dead: bool = False

    def boundary(self) -> None:
        self.passed += 1
        if self.passed == self.at:
            self.is_dead = True
            self.end()


@dataclass
class CrashStore:
    """A store in a process that may die at each commit."""

    inner: SqliteStore
    fuse: Fuse
    checkpoints: list[str] = field(default_factory=list)

    @property
    def lease_seconds(self) -> float:
        return self.inner.lease_seconds

    def create(self, lease: Lease, checkpoint: Checkpoint) -> None:
        self.fuse.boundary()
        self.inner.create(lease, checkpoint)
        self.checkpoints.append(checkpoint.name)
        self.fuse.boundary()

    def acquire(self, lease: Lease) -> StoredRun:
        return self.inner.acquire(lease)

    def commit(self, lease: Lease, checkpoint: Checkpoint) -> None:
        self.fuse.boundary()
        self.inner.commit(lease, checkpoint)
        self.checkpoints.append(checkpoint.name)
        self.fuse.boundary()

    def renew(self, lease: Lease) -> None:
        self.inner.renew(lease)

    def release(self, lease: Lease) -> None:
        if not self.fuse.is_dead:
            self.inner.release(lease)


@dataclass
class World:
    """Tools whose effects are lines of a file that outlives every process.

    `book` is known by its operation and can be looked up, `note` and `scan` deduplicate, and of
    `pay` nobody can find out anything. `show` and `scan` give images.
    """

    ledger: Path
    fuse: Fuse

    def tools(self) -> list[LoopTool]:
        return [
            LoopTool(name="look", description="", parameters=SCHEMA, kind="read", invoke=self.look),
            LoopTool(name="show", description="", parameters=SCHEMA, kind="read", invoke=self.show),
            LoopTool(
                name="scan",
                description="",
                parameters=SCHEMA,
                kind="write",
                invoke=self.scan,
                operation=("n",),
                deduplicates=True,
            ),
            LoopTool(
                name="book",
                description="",
                parameters=SCHEMA,
                kind="write",
                invoke=self.book,
                operation=("n",),
                look_up=self.look_up,
            ),
            LoopTool(
                name="lose",
                description="",
                parameters=SCHEMA,
                kind="write",
                invoke=self.lose,
                operation=("n",),
                look_up=self.look_up,
            ),
            LoopTool(
                name="note",
                description="",
                parameters=SCHEMA,
                kind="write",
                invoke=self.note,
                deduplicates=True,
            ),
            LoopTool(
                name="pay",
                description="",
                parameters=SCHEMA,
                kind="write",
                invoke=self.pay,
            ),
        ]

    def effects(self) -> list[tuple[str, int]]:
        if not self.ledger.exists():
            return []
        lines = [json.loads(line) for line in self.ledger.read_text().splitlines()]
        return [(line["tool"], line["n"]) for line in lines]

    def found(self, operation_id: str) -> bool:
        return self.ledger.exists() and operation_id in self.ledger.read_text()

    async def look(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        return f"saw {arguments['n']}"

    async def book(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        self._commit("book", arguments, operation_id)
        return "done"

    async def lose(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        self._commit("lose", arguments, operation_id)
        raise ConnectionError("the answer was lost")

    async def note(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        assert operation_id is not None
        if not self.found(operation_id):
            self._commit("note", arguments, operation_id)
        return "noted"

    async def show(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        return picture(arguments["n"])

    async def scan(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        assert operation_id is not None
        if not self.found(operation_id):
            self._commit("scan", arguments, operation_id)
        return picture(arguments["n"])

    async def pay(self, arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        self._commit("pay", arguments, operation_id)
        return "paid"

    async def look_up(self, operation_id: str) -> LookUp:
        return LookUp("found", "done") if self.found(operation_id) else LookUp("absent")

    def _commit(self, tool: str, arguments: JsonObject, operation_id: str | None) -> None:
        self.fuse.boundary()
        line = json.dumps({"tool": tool, "n": arguments["n"], "operation": operation_id})
        file = os.open(self.ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{line}\n".encode())
        os.close(file)
        self.fuse.boundary()


def picture(n: object) -> Content:
    return Content([TextPart(f"scan {n}"), ImagePart(f"pixels of {n}".encode())])


@dataclass
class Played:
    """An adapter that answers from the conversation alone, so that any process answers alike.

    The second turn breaks off the first time that it is asked for.
    """

    turns: Sequence[Reply]
    broke_off: bool = False

    def start(self, task: TaskInfo) -> Conversation:
        return (["user", task.prompt],)

    async def request(self, conversation: Conversation) -> Reply:
        turn = sum(1 for item in conversation if isinstance(item, list) and item[0] == "turn")
        if turn == 1 and not self.broke_off:
            self.broke_off = True
            return Failed("reset", retryable=True)
        return self.turns[turn]

    def append(
        self, conversation: Conversation, calls: Calls, results: Sequence[CallResult]
    ) -> Conversation:
        asked = [call.call_id for call in calls.calls]
        answered = [
            [result.call_id, result.text, *content.dump(result.parts)] for result in results
        ]
        return (*conversation, ["turn", calls.turn, asked, answered])

    def dump(self, conversation: Conversation, turn: object = None) -> object:
        return {"items": list(conversation), "turn": turn}

    def load(self, value: object) -> tuple[Conversation, object]:
        assert isinstance(value, dict)
        return tuple(value["items"]), value["turn"]


def call(tool: str, n: int, call_id: str) -> ProposedCall:
    return ProposedCall(call_id=call_id, name=tool, arguments_text=json.dumps({"n": n}))


def turn(*wanted: str) -> Calls:
    """Calls written as `tool n id`; an id alone may be left out."""
    calls = []
    for position, words in enumerate(wanted):
        tool, n, *call_id = words.split()
        calls.append(call(tool, int(n), call_id[0] if call_id else f"c{position}"))
    return Calls(tuple(calls), {"said": list(wanted)})


@dataclass(frozen=True)
class Script:
    """A conversation with writes, and who decides about them."""

    turns: tuple[Reply, ...]
    policy: Policy = field(default_factory=Policy)
    asks_in_process: bool = False
    approves: bool = True
    judged: bool = False


ASKING = Policy(permissions={"book": "ask"})
DONE = Final("Done.")

SCRIPTS: dict[str, Script] = {
    "one booking": Script((turn("book 1"), DONE)),
    "a look and a booking": Script((turn("look 1"), turn("book 1"), DONE)),
    "two bookings at once": Script((turn("book 1", "book 2"), DONE)),
    "reads around writes": Script(
        (turn("look 1", "look 2", "book 1", "look 3", "book 2", "look 4"), DONE)
    ),
    "five writes of all kinds at once": Script(
        (turn("book 1", "note 2", "lose 3", "pay 4", "book 5"), DONE)
    ),
    "more writes than commits": Script(
        (
            turn(
                *("book 1 a", "note 2", "look 3", "lose 4", "pay 5", "book 1 b", "note 6", "pay 7"),
                *("book 8", "look 9", "book 10"),
            ),
            DONE,
        )
    ),
    "more approved writes than commits": Script(
        (turn("book 1", "pay 2", "note 3", "book 4", "lose 5"), DONE), policy=ASKING
    ),
    "asked again under a new id": Script((turn("book 1 a"), turn("book 1 b"), DONE)),
    "asked twice in one batch": Script((turn("book 1 a", "book 1 b"), DONE)),
    "equal ids": Script((turn("book 1 a", "book 2 a"), turn("book 3 a"), DONE)),
    "an answer that is lost": Script((turn("lose 1"), turn("book 2"), DONE)),
    "a system that deduplicates": Script((turn("note 1"), turn("note 2", "note 3"), DONE)),
    "nobody can find out": Script((turn("look 1", "pay 1"), turn("pay 2"), DONE)),
    "with calls that cannot run": Script((turn("lok 1", "book 1", "book_ 2"), DONE)),
    "three rounds": Script((turn("book 1"), turn("book 2"), turn("book 3", "look 1"), DONE)),
    "approved while it waits": Script(
        (turn("look 1", "book 1"), DONE), policy=ASKING, asks_in_process=True
    ),
    "approved after a pause": Script((turn("look 1", "book 1", "book 2"), DONE), policy=ASKING),
    "denied after a pause": Script((turn("book 1", "note 2"), DONE), policy=ASKING, approves=False),
    "results with images": Script(
        (turn("show 1", "scan 1 a", "book 1", "show 2", "scan 2"), turn("scan 1 b"), DONE)
    ),
    "an answer that is judged": Script((turn("book 1"), DONE), judged=True),
}


@dataclass
class Life:
    """One process after another works on the run of a script, in a folder."""

    script: Script
    folder: Path
    lives: int = 0
    checkpoints: list[str] = field(default_factory=list)

    async def live(self, fuse: Fuse) -> LoopOutcome:
        """Works on the run to its end, or until the fuse goes off."""
        self.lives += 1
        # Each process comes so much later that the lease of the last one has run out.
        wall = float(1000 * self.lives)
        world = World(self.folder / "ledger", fuse)
        inner = SqliteStore(
            self.folder / "runs.sqlite3", synchronous="normal", wall=lambda: wall, lease_seconds=99
        )
        store = CrashStore(inner, fuse, self.checkpoints)
        try:
            loop = self._loop(world, store, wall)
            try:
                outcome = await loop.resume(RUN)
            except UnknownRunError:
                outcome = await loop.run("Go.", run_id=RUN)
            while outcome.state == "paused":
                answers = [self._answer(question, world) for question in outcome.questions]
                outcome = await loop.resume(RUN, decisions=answers)
            return outcome
        finally:
            inner.close()

    def effects(self) -> list[tuple[str, int]]:
        return World(self.folder / "ledger", Fuse()).effects()

    def _loop(self, world: World, store: CrashStore, wall: float) -> ReferenceLoop[Conversation]:
        async def ask(questions: Sequence[Question]) -> Sequence[PersonsAnswer]:
            return [self._answer(question, world) for question in questions]

        async def accept(text: str) -> str | None:
            return None

        async def sleep(seconds: float) -> None:
            return None

        script = self.script
        return ReferenceLoop(
            Played(script.turns),
            world.tools(),
            Limits(rounds=10),
            retries=Retries(count=9, first_seconds=0.0),
            policy=script.policy,
            ask=ask if script.asks_in_process else None,
            accept=accept if script.judged else None,
            store=store,
            clock=Clock(wall=lambda: wall, running=lambda: 0.0, sleep=sleep),
        )

    def _answer(self, question: Question, world: World) -> PersonsAnswer:
        if question.about == "approval":
            return Approval(digest=question.digest, approved=self.script.approves, by="Ada")
        # Of a payment, only a person can find out; this one reads the bank statement. Others that
        # were begun when it was asked about are asked about as well.
        assert question.arguments is not None
        is_done = (question.tool, question.arguments["n"]) in world.effects()
        text = {"pay": "paid", "note": "noted"}.get(question.tool, "done")
        return Settlement(
            digest=question.digest, answer="found" if is_done else "absent", text=text, by="Ada"
        )
