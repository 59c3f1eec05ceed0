"""Puts writes on record before they begin: each by itself, as long as few enough commits do.

What is on record as begun when its process dies has an outcome that nobody knows. So one write at
a time is best; a batch of more writes than a round has commits left is put on record in groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from loopcheck.reference_loop.execution import Bench, ToCall
from loopcheck.reference_loop.records import CallRecord, Place

MOST_COMMITS: Final = 7
"""How many commits a round takes at most, those of repeated requests left out."""


@dataclass(slots=True)
class Intents:
    """The writes of one batch, in their order, and which of them are on record already."""

    bench: Bench
    writes: Sequence[ToCall]
    _ahead: dict[Place, CallRecord] = field(default_factory=dict)

    def begin(self, item: ToCall) -> CallRecord:
        """The record of the write that begins now, which the store has then."""
        record = self.bench.began(item.record)
        if self._ahead.pop(record.place, None) is None:
            self._put_ahead(item)
            self.bench.save("effect_about_to_run")
        return record

    def has_ahead(self, record: CallRecord) -> bool:
        """Whether the call is on record as begun although it is yet to begin."""
        return record.place in self._ahead

    def settle(self) -> None:
        """Saves what writes gave, where the round has a commit to spare for it."""
        if self._commits_left > len(self._following(None)):
            self.bench.save("effect_committed")

    def take_back(self) -> None:
        """What was put on record and will not begin now is open again."""
        for place, before in self._ahead.items():
            if self.bench.records[place].outcome == "begun":
                self.bench.records.put(before)
        self._ahead.clear()

    @property
    def _commits_left(self) -> int:
        return MOST_COMMITS - 1 - self.bench.commits  # the last one saves the results

    def _put_ahead(self, item: ToCall) -> None:
        following = self._following(item)
        size = ceil((1 + len(following)) / max(1, self._commits_left))
        for other in following[: size - 1]:
            self._ahead[other.record.place] = other.record
            self.bench.began(other.record)

    def _following(self, item: ToCall | None) -> list[ToCall]:
        """The writes that are to begin, and not on record yet; all behind this one."""
        start = 0 if item is None else self.writes.index(item) + 1
        return list(self._new(self.writes[start:]))

    def _new(self, writes: Sequence[ToCall]) -> Iterator[ToCall]:
        """Those whose operation nobody has begun: the others may have nothing to begin."""
        records = self.bench.records
        seen: set[str] = set()
        for item in writes:
            operation = item.record.operation_id
            known = operation is not None and (operation in seen or records.operation(operation))
            if records[item.record.place].outcome == "waiting" and item.may_begin and not known:
                yield item
            if operation is not None:
                seen.add(operation)
