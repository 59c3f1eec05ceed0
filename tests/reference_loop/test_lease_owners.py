"""The end of a lease's owner is seen at once, where it is certain."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopcheck.reference_loop.store.interface import Checkpoint, Lease, RunTakenError
from loopcheck.reference_loop.store.owners import has_ended, new_owner
from loopcheck.reference_loop.store.sqlite import SqliteStore

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/ns/pid").exists(), reason="only Linux says which process it is"
)
NAMED = (
    "from loopcheck.reference_loop.store.owners import new_owner; print(new_owner(), flush=True)"
)
STARTED = Checkpoint(name="run_started", state={}, conversation={})


class Other:
    """Another process, which tells its name and waits."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"{NAMED}; input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.owner = self._process.stdout.readline().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def other() -> Iterator[Other]:
    process = Other()
    yield process
    process.kill()


def test_a_process_has_ended_once_it_is_killed(other: Other) -> None:
    assert not has_ended(other.owner)
    other.kill()
    assert has_ended(other.owner)


def test_a_later_process_with_the_same_id_is_another_one() -> None:
    place, pid, start, unique = new_owner().split("/")
    assert pid == str(os.getpid())
    assert not has_ended(f"{place}/{pid}/{start}/{unique}")
    assert has_ended(f"{place}/{pid}/{int(start) - 1}/{unique}")


@pytest.mark.parametrize(
    "owner",
    ["", "worker-7", "a/1/2", "elsewhere.1/1/2/x", "//1/", "{place}/x/1/u", "{place}/-1/1/u"],
)
def test_what_cannot_be_known_is_taken_for_alive(owner: str) -> None:
    assert not has_ended(owner.replace("{place}", new_owner().split("/")[0]))


def test_no_two_owners_have_one_name() -> None:
    assert new_owner() != new_owner()


def test_a_run_is_taken_over_at_once_from_a_process_that_has_ended(
    tmp_path: Path, other: Other
) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite", lease_seconds=3600)
    store.create(Lease("r1", other.owner), STARTED)
    mine = Lease("r1", new_owner())
    with pytest.raises(RunTakenError):
        store.acquire(mine)
    other.kill()
    assert store.acquire(mine).state == {}
    with pytest.raises(RunTakenError):  # I live
        store.acquire(Lease("r1", new_owner()))
    store.close()


def test_where_nothing_tells_which_process_it_is_everything_is_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = new_owner()

    def unreadable(path: Path, *_: object, **__: object) -> str:
        raise PermissionError(path)

    monkeypatch.setattr(Path, "read_text", unreadable)
    assert "/" not in new_owner()
    assert not has_ended(owner)


def test_a_process_that_cannot_be_asked_is_taken_for_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", forbidden)
    assert not has_ended(new_owner())


def test_a_process_that_does_not_tell_when_it_began_is_taken_for_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner, read_text = new_owner(), Path.read_text

    def without_stat(path: Path, encoding: str | None = None, errors: str | None = None) -> str:
        if path.name == "stat":
            raise FileNotFoundError(path)
        return read_text(path, encoding, errors)

    monkeypatch.setattr(Path, "read_text", without_stat)
    assert not has_ended(owner)
