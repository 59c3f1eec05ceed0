"""Saves a run at its checkpoints and holds its lease; without a store, it does neither."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.checkpoints import CheckpointName
from loopcheck.reference_loop.records import Records
from loopcheck.reference_loop.store.interface import (
    Checkpoint,
    Lease,
    LeaseLostError,
    Store,
    StoreError,
)


@dataclass(frozen=True, slots=True)
class Keeper:
    """Everything that a run tells its store."""

    store: Store | None
    lease: Lease
    records: Records

    def create(self, state: JsonObject, conversation: JsonObject) -> None:
        """The first commit. Only with a store."""
        checkpoint = Checkpoint(name="run_started", state=state, conversation=conversation)
        cast("Store", self.store).create(self.lease, checkpoint)

    def save(
        self, name: CheckpointName, state: JsonObject, conversation: JsonObject | None
    ) -> None:
        """One more. Raises LeaseLostError when another process has taken over."""
        checkpoint = Checkpoint(
            name=name,
            state=state,
            conversation=conversation,
            records=self.records.changed(),
        )
        cast("Store", self.store).commit(self.lease, checkpoint)
        self.records.saved()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Renews the lease while the run is worked on, and gives it back afterwards."""
        if self.store is None:
            yield
            return
        renewing = asyncio.ensure_future(_renew(self.store, self.lease))
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.wait({renewing})
            self.store.release(self.lease)


async def _renew(store: Store, lease: Lease) -> None:
    held = True
    while held:
        await asyncio.sleep(store.lease_seconds / 3)
        try:
            store.renew(lease)
        except LeaseLostError:
            held = False  # the next commit says so
        except StoreError:
            pass
