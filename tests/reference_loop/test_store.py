"""The file that runs are kept in: what it keeps, who may write, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from crashing import RUN, SCRIPTS, Fuse, Life, Played, turn

from loopcheck.reference_loop import (
    CallRecord,
    Checkpoint,
    Final,
    Lease,
    LeaseLostError,
    ReferenceLoop,
    RunExistsError,
    RunTakenError,
    SqliteStore,
    StoreBusyError,
    StoredRun,
    StoreError,
    StoreVersionError,
    UnknownRunError,
)
from loopcheck.reference_loop.checkpoints import CHECKPOINTS
from loopcheck.reference_loop.store import codec

ONE, OTHER = Lease("r", "one"), Lease("r", "other")
BEGIN = Checkpoint(name="run_started", state={"phase": "ready"}, conversation={"a": 1})
RECORD = CallRecord(
    round=1,
    position=0,
    call_id="c\ud800",
    tool="book",
    arguments={"seat": ["12", None, 1.5]},
    outcome="done",
    text="§ € \ud83d",
    ended_at=1.5,
)


@dataclass
class File:
    """A store file and the time."""

    path: Path
    now: float = 1000.0
    stores: list[SqliteStore] = field(default_factory=list)

    def open(self) -> SqliteStore:
        store = SqliteStore(self.path, lease_seconds=10.0, busy_seconds=0.0, wall=lambda: self.now)
        self.stores.append(store)
        return store


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    file = File(tmp_path / "runs.sqlite3")
    yield file
    for store in file.stores:
        store.close()


def test_what_is_saved_is_there_in_another_process(file: File) -> None:
    store = file.open()
    store.create(ONE, BEGIN)
    store.commit(ONE, Checkpoint(name="paused", state={"phase": "paused"}, records=(RECORD,)))
    store.release(ONE)
    stored = file.open().acquire(OTHER)
    assert stored == StoredRun(state={"phase": "paused"}, conversation={"a": 1}, records=(RECORD,))


def test_a_checkpoint_changes_what_it_names(file: File) -> None:
    store = file.open()
    store.create(ONE, BEGIN)
    store.commit(ONE, Checkpoint(name="paused", state={}, records=(RECORD,)))
    changed = replace(RECORD, text="else")
    store.commit(
        ONE, Checkpoint(name="finished", state={}, conversation={"b": 2}, records=(changed,))
    )
    stored = store.acquire(ONE)
    assert (stored.conversation, stored.records) == ({"b": 2}, (changed,))


def test_a_run_is_made_once(file: File) -> None:
    store = file.open()
    store.create(ONE, BEGIN)
    with pytest.raises(RunExistsError, match="there is a run 'r'"):
        file.open().create(OTHER, BEGIN)


def test_a_run_that_is_not_there(file: File) -> None:
    with pytest.raises(UnknownRunError, match="there is no run 'r'"):
        file.open().acquire(ONE)


def ways(store: SqliteStore) -> list[Callable[[], None]]:
    """How a lease is renewed."""
    return [lambda: store.commit(ONE, BEGIN), lambda: store.renew(ONE)]


def test_a_lease_is_renewed_by_every_commit_and_runs_out(file: File) -> None:
    first, second = file.open(), file.open()
    first.create(ONE, BEGIN)
    for renew in ways(first):
        file.now += 9.5
        renew()
    file.now += 9.5
    with pytest.raises(RunTakenError, match="one works on run 'r'"):
        second.acquire(OTHER)
    file.now += 0.5
    second.acquire(OTHER)
    for late in ways(first):
        with pytest.raises(LeaseLostError, match="one no longer holds run 'r'"):
            late()
    first.release(ONE)
    with pytest.raises(RunTakenError):
        first.acquire(ONE)


def test_a_commit_that_comes_too_late_saves_nothing(file: File) -> None:
    store = file.open()
    store.create(ONE, BEGIN)
    file.now += 10
    store.acquire(OTHER)
    with pytest.raises(LeaseLostError):
        store.commit(ONE, Checkpoint(name="paused", state={"late": 1}, records=(RECORD,)))
    stored = store.acquire(OTHER)
    assert (stored.state, stored.records) == (BEGIN.state, ())


@pytest.mark.parametrize(
    "unfit", [{"x": float("nan")}, {"x": object()}, {"x": [[]]}], ids=["nan", "object", "deep"]
)
def test_what_is_no_json_is_not_stored(file: File, unfit: dict[str, object]) -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    unfit = {"x": deep} if unfit == {"x": [[]]} else unfit
    store = file.open()
    store.create(ONE, BEGIN)
    with pytest.raises(StoreError, match="cannot be stored as JSON"):
        store.commit(ONE, Checkpoint(name="paused", state={"fine": 1}, conversation=unfit))
    assert store.acquire(ONE).state == BEGIN.state
    while deep:
        deep = deep.pop()  # type: ignore[assignment]


def test_another_process_may_have_the_store_locked(file: File) -> None:
    store = file.open()
    store.create(ONE, BEGIN)
    with sqlite3.connect(file.path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="locked by another process"):
            store.commit(ONE, BEGIN)
        other.execute("ROLLBACK")
    store.commit(ONE, BEGIN)
    other.close()


def broken_files(whole: bytes) -> dict[str, bytes]:
    """Files that are no store, or one that something happened to."""
    return {
        "no database": b"This is a shopping list, not a database. " * 99,
        "cut in a page": whole[: len(whole) // 2 + 100],
        "cut after a page": whole[:4096],
        "cut in the header": whole[:60],
        "overwritten": whole[:4096] + b"\xa5" * 4096 + whole[8192:],
    }


@pytest.mark.parametrize("kind", broken_files(b""))
def test_a_damaged_file_is_refused_and_left_as_it_is(file: File, kind: str) -> None:
    store = file.open()
    store.create(ONE, BEGIN)
    store.commit(ONE, Checkpoint(name="paused", state={"x": "y" * 9999}, records=(RECORD,)))
    store.close()
    file.path.write_bytes(broken_files(file.path.read_bytes())[kind])
    before = file.path.read_bytes()
    with pytest.raises(StoreError):
        file.open()
    assert file.path.read_bytes() == before
    assert [path.name for path in file.path.parent.iterdir()] == [file.path.name]


def test_a_newer_file_is_refused_and_left_as_it_is(file: File) -> None:
    file.open().close()
    with sqlite3.connect(file.path) as db:
        db.execute("PRAGMA user_version = 3")
    db.close()
    before = file.path.read_bytes()
    with pytest.raises(StoreVersionError, match="has format 3; this version knows up to 2"):
        file.open()
    assert file.path.read_bytes() == before


def test_a_database_of_something_else_is_refused(file: File) -> None:
    with sqlite3.connect(file.path) as db:
        db.execute("CREATE TABLE shopping (item TEXT)")
    db.close()
    with pytest.raises(StoreError, match="no store of runs"):
        file.open()


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open"):
        SqliteStore(tmp_path)


def test_two_processes_may_make_the_file_at_once(file: File) -> None:
    # Both have seen an empty file; the second to come finds it made.
    class Late(SqliteStore):
        def _bring_up(self) -> None:
            SqliteStore(file.path).close()
            super()._bring_up()

    late = Late(file.path)
    late.create(ONE, BEGIN)
    late.close()


@pytest.mark.parametrize("text", ["", "[]", "{", None, "[" * 100_000])
def test_text_that_is_no_object_is_refused(text: object) -> None:
    with pytest.raises(StoreError):
        codec.loads(text)


def test_a_record_of_a_later_version_loses_what_is_unknown() -> None:
    later = json.loads(codec.dump_record(RECORD)) | {"mood": "good"}
    assert codec.load_record(json.dumps(later)) == RECORD
    with pytest.raises(StoreError, match="incomplete record"):
        codec.load_record('{"round": 1}')


@pytest.mark.parametrize(
    "state",
    [
        {"phase": "dancing"},
        {"rounds": "three"},
        {"calls": 1},
        {"calls": [1]},
        {"calls": [{"call_id": "c"}]},
    ],
)
def test_a_state_that_makes_no_sense_is_refused(file: File, state: dict[str, object]) -> None:
    async def work() -> None:
        store = file.open()
        loop = ReferenceLoop(Played((Final("Done."),)), store=store)
        await loop.run("Go.", run_id="r")
        stored = store.acquire(ONE)
        store.commit(ONE, Checkpoint(name="finished", state={**stored.state, **state}))
        store.release(ONE)
        for _ in range(2):  # it is not kept from anybody afterwards
            with pytest.raises(StoreError, match="the stored run"):
                await loop.resume("r")

    asyncio.run(work())


def test_a_conversation_that_the_adapter_cannot_read(file: File) -> None:
    async def work() -> None:
        store = file.open()
        store.create(ONE, BEGIN)
        stored = await ReferenceLoop(Played((Final("Done."),)), store=store).run("Go.", run_id="s")
        lease = Lease("s", "me")
        state = store.acquire(lease).state
        store.commit(lease, Checkpoint(name="finished", state=state, conversation={"adapter": {}}))
        store.release(lease)
        with pytest.raises(StoreError, match="Played cannot read the stored conversation"):
            await ReferenceLoop(Played(()), store=store).resume("s")
        assert stored.state == "completed"

    asyncio.run(work())


def test_a_run_that_is_over_stays_over(file: File) -> None:
    async def work() -> None:
        store = file.open()
        loop = ReferenceLoop(Played((Final("Done."),)), store=store)
        outcome = await loop.run("Go.", run_id="r")
        assert await loop.resume("r") == outcome
        with pytest.raises(RunExistsError):
            await loop.run("Go.", run_id="r")

    asyncio.run(work())


def test_a_loop_without_store_resumes_nothing() -> None:
    with pytest.raises(StoreError, match="without a store"):
        asyncio.run(ReferenceLoop(Played(())).resume("r"))


def test_what_cannot_be_stored_is_said_at_the_door(file: File) -> None:
    class Forgetful:
        start = request = append = None

    with pytest.raises(TypeError, match=r"Forgetful has no dump\(\) and load\(\)"):
        ReferenceLoop(Forgetful(), store=file.open())  # type: ignore[arg-type]


def rounds_of(checkpoints: list[str]) -> list[list[str]]:
    """The commits of each round, which ends when its results are saved."""
    rounds: list[list[str]] = [[]]
    for name in checkpoints:
        rounds[-1].append(name)
        if name == "results_saved":
            rounds.append([])
    return rounds


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_round_takes_at_most_seven_commits(name: str, tmp_path: Path) -> None:
    life = Life(SCRIPTS[name], tmp_path)
    asyncio.run(life.live(Fuse()))
    started, *others = life.checkpoints
    assert started == "run_started"
    assert max(map(len, rounds_of(others))) <= 7
    assert set(life.checkpoints) <= set(CHECKPOINTS)


def test_the_commits_of_a_run(tmp_path: Path) -> None:
    life = Life(SCRIPTS["approved while it waits"], tmp_path)
    asyncio.run(life.live(Fuse()))
    assert life.checkpoints == [
        "run_started",
        "response_received",
        "approval_requested",
        "approval_decided",
        "effect_about_to_run",
        "results_saved",
        "request_started",  # once more, since the first answer broke off
        "finished",
    ]


def test_a_lease_is_renewed_while_a_tool_runs(file: File) -> None:
    class Watched(SqliteStore):
        renewals = 0
        failures = iter([StoreBusyError("busy"), None, LeaseLostError("gone")])

        def renew(self, lease: Lease) -> None:
            self.renewals += 1
            failure = next(self.failures)
            if failure is not None:
                raise failure
            super().renew(lease)

    class Slow(Played):
        async def request(self, conversation: tuple[object, ...]) -> Final:
            for _ in range(1000):
                await asyncio.sleep(0.001)
                if store.renewals == 3:
                    break
            await asyncio.sleep(0.01)
            return Final("Done.")

    store = Watched(file.path, lease_seconds=0.003)
    file.stores.append(store)
    outcome = asyncio.run(ReferenceLoop(Slow(()), store=store).run("Go.", run_id=RUN))
    assert outcome.state == "completed"
    assert store.renewals == 3


def test_a_run_that_was_taken_over_runs_nothing_more(file: File) -> None:
    """The write is about to begin when it turns out that the lease is gone."""

    class Stolen(Played):
        async def request(self, conversation: tuple[object, ...]) -> object:  # type: ignore[override]
            file.now += 11
            other.acquire(Lease("r", "thief"))
            return turn("book 1")

    store, other = file.open(), file.open()
    loop: ReferenceLoop[tuple[object, ...]]
    loop = ReferenceLoop(Stolen(()), store=store)  # type: ignore[arg-type]
    with pytest.raises(LeaseLostError):
        asyncio.run(loop.run("Go.", run_id="r"))
    with pytest.raises(RunTakenError):
        store.acquire(ONE)
