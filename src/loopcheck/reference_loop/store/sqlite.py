"""Runs in an SQLite file, in write-ahead mode."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Literal

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.records import CallRecord
from loopcheck.reference_loop.store import codec
from loopcheck.reference_loop.store.interface import (
    Checkpoint,
    Lease,
    LeaseLostError,
    RunExistsError,
    RunTakenError,
    StoreBusyError,
    StoredRun,
    StoreError,
    StoreVersionError,
    UnknownRunError,
)
from loopcheck.reference_loop.store.layout import APPLICATION_ID, FORMAT, STEPS
from loopcheck.reference_loop.store.owners import has_ended

_PUT_CONVERSATION: Final = (
    "INSERT INTO conversations VALUES (?, ?) "
    "ON CONFLICT DO UPDATE SET conversation = excluded.conversation"
)
_PUT_CALL: Final = (
    "INSERT INTO calls VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET record = excluded.record"
)


class SqliteStore:
    """Keeps runs in this file, which is made if it is not there.

    Raises StoreError when the file is no store or is damaged, StoreVersionError when it is newer
    than this version, StoreBusyError when another process holds it for longer than
    `busy_seconds`. The file is left as it is then.

    `lease_seconds` is after how long a run whose process says nothing may be taken over; one
    whose process is certain to have ended, at once.
    `synchronous`: `full` survives a power cut, `normal` only the end of the process.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        lease_seconds: float = 60.0,
        busy_seconds: float = 5.0,
        synchronous: Literal["full", "normal"] = "full",
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._path = str(path)
        self._lease_seconds = lease_seconds
        self._wall = wall
        with self._words():
            self._db = sqlite3.connect(self._path, timeout=busy_seconds, isolation_level=None)
            try:
                self._open(synchronous)
            except BaseException:
                self._db.close()
                raise

    @property
    def lease_seconds(self) -> float:
        return self._lease_seconds

    def close(self) -> None:
        self._db.close()

    def create(self, lease: Lease, checkpoint: Checkpoint) -> None:
        with self._transaction():
            try:
                self._db.execute(
                    "INSERT INTO runs VALUES (?, ?, ?, ?, ?)",
                    (
                        lease.run_id,
                        checkpoint.name,
                        codec.dumps(checkpoint.state),
                        lease.owner,
                        self._expiry(),
                    ),
                )
                self._put_conversation(lease.run_id, checkpoint.conversation or {})
            except sqlite3.IntegrityError:
                raise RunExistsError(f"{self._path}: there is a run {lease.run_id!r}") from None

    def acquire(self, lease: Lease) -> StoredRun:
        with self._transaction():
            row = self._db.execute(
                "SELECT state, conversation, owner, expires "
                "FROM runs JOIN conversations USING (run_id) WHERE run_id = ?",
                (lease.run_id,),
            ).fetchone()
            if row is None:
                raise UnknownRunError(f"{self._path}: there is no run {lease.run_id!r}")
            state, conversation, owner, expires = row
            is_held = owner not in (None, lease.owner) and expires > self._wall()
            if is_held and not has_ended(str(owner)):
                raise RunTakenError(
                    f"{self._path}: {owner} works on run {lease.run_id!r} and has to say so "
                    f"again within {expires - self._wall():.0f} seconds"
                )
            self._db.execute(
                "UPDATE runs SET owner = ?, expires = ? WHERE run_id = ?",
                (lease.owner, self._expiry(), lease.run_id),
            )
            return StoredRun(
                state=codec.loads(state),
                conversation=codec.loads(conversation),
                records=tuple(self._records(lease.run_id)),
            )

    def commit(self, lease: Lease, checkpoint: Checkpoint) -> None:
        with self._transaction():
            changed = self._db.execute(
                "UPDATE runs SET checkpoint = ?, state = ?, expires = ? "
                "WHERE run_id = ? AND owner = ?",
                (
                    checkpoint.name,
                    codec.dumps(checkpoint.state),
                    self._expiry(),
                    lease.run_id,
                    lease.owner,
                ),
            )
            self._check_held(lease, changed)
            if checkpoint.conversation is not None:
                self._put_conversation(lease.run_id, checkpoint.conversation)
            self._db.executemany(
                _PUT_CALL,
                [
                    (lease.run_id, record.round, record.position, codec.dump_record(record))
                    for record in checkpoint.records
                ],
            )

    def renew(self, lease: Lease) -> None:
        with self._transaction():
            changed = self._db.execute(
                "UPDATE runs SET expires = ? WHERE run_id = ? AND owner = ?",
                (self._expiry(), lease.run_id, lease.owner),
            )
            self._check_held(lease, changed)

    def release(self, lease: Lease) -> None:
        with self._transaction():
            self._db.execute(
                "UPDATE runs SET owner = NULL WHERE run_id = ? AND owner = ?",
                (lease.run_id, lease.owner),
            )

    def _put_conversation(self, run_id: str, conversation: JsonObject) -> None:
        self._db.execute(_PUT_CONVERSATION, (run_id, codec.dumps(conversation)))

    def _records(self, run_id: str) -> Iterator[CallRecord]:
        rows = self._db.execute(
            "SELECT record FROM calls WHERE run_id = ? ORDER BY round, position", (run_id,)
        )
        for (record,) in rows:
            yield codec.load_record(record)

    def _check_held(self, lease: Lease, changed: sqlite3.Cursor) -> None:
        if changed.rowcount != 1:
            raise LeaseLostError(
                f"{self._path}: {lease.owner} no longer holds run {lease.run_id!r}"
            )

    def _expiry(self) -> float:
        return self._wall() + self._lease_seconds

    def _open(self, synchronous: str) -> None:
        version, application = self._pragma("user_version"), self._pragma("application_id")
        is_empty = self._pragma("schema_version") == 0
        if not is_empty and application != APPLICATION_ID:
            raise StoreError(f"{self._path} is an SQLite file, but no store of runs")
        if version > FORMAT:
            raise StoreVersionError(
                f"{self._path} has format {version}; this version knows up to {FORMAT}"
            )
        if not is_empty:
            self._check_whole()
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute(f"PRAGMA synchronous = {synchronous}")
        if version < FORMAT:
            self._bring_up()

    def _bring_up(self) -> None:
        with self._transaction():
            # Another process may have done it meanwhile.
            for statement in STEPS.get(self._pragma("user_version"), ()):
                self._db.execute(statement)

    def _check_whole(self) -> None:
        (answer,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise StoreError(f"{self._path} is damaged: {answer}")

    def _pragma(self, name: str) -> int:
        with closing(self._db.execute(f"PRAGMA {name}")) as cursor:
            value: int = cursor.fetchone()[0]
        return value

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._words():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._db.rollback()
                raise

    @contextmanager
    def _words(self) -> Iterator[None]:
        """Puts what SQLite says into the store's own errors."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                message = f"{self._path} is locked by another process: {error}"
                raise StoreBusyError(message) from error
            raise StoreError(f"{self._path}: {error}") from error
        except sqlite3.Error as error:
            raise StoreError(f"{self._path} is no usable store: {error}") from error
