"""What the loop asks of a store. Anyone can write one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.checkpoints import CheckpointName
from loopcheck.reference_loop.records import CallRecord


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a run, as long as it is renewed. `owner` is unique to the process."""

    run_id: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What one commit changes: the state, the conversation unless None, and these records."""

    name: CheckpointName
    state: JsonObject
    conversation: JsonObject | None = None
    records: tuple[CallRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """What the store has of a run."""

    state: JsonObject
    conversation: JsonObject
    records: tuple[CallRecord, ...]


class StoreError(Exception):
    """The store cannot do what was asked. The message says which file and why."""


class StoreVersionError(StoreError):
    """The store was written in a format that this version does not know."""


class StoreBusyError(StoreError):
    """Another process has the store locked, and did not let go in time."""


class UnknownRunError(StoreError):
    """There is no run with this id."""


class RunExistsError(StoreError):
    """There is a run with this id already."""


class RunTakenError(StoreError):
    """Another process works on this run."""


class LeaseLostError(StoreError):
    """The run was taken over, since its lease was not renewed in time. Nothing was saved."""


class Store(Protocol):
    """Keeps runs. Every method is one transaction: it happens as a whole or not at all.

    A lease runs out by itself when nobody renews it for `lease_seconds`; a commit renews it.
    """

    @property
    def lease_seconds(self) -> float: ...

    def create(self, lease: Lease, checkpoint: Checkpoint, /) -> None:
        """A new run, leased to its creator. Raises RunExistsError."""
        ...

    def acquire(self, lease: Lease, /) -> StoredRun:
        """Leases a run that nobody works on. Raises UnknownRunError and RunTakenError."""
        ...

    def commit(self, lease: Lease, checkpoint: Checkpoint, /) -> None:
        """Saves a checkpoint. Raises LeaseLostError, with nothing saved."""
        ...

    def renew(self, lease: Lease, /) -> None:
        """Extends the lease. Raises LeaseLostError."""
        ...

    def release(self, lease: Lease, /) -> None:
        """Gives the run free, if it is still leased so."""
        ...
