"""Tells when two conversations go on at once although nobody said that there would be two.

A turn that is asked for twice has two attempts. A loop that repeats a request, or starts over, goes
on from one of them and leaves the other behind. Where both are gone on from in turns, each has
somebody who works with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from loopcheck.fake_providers.dialects.interface import drop_oldest
from loopcheck.fake_providers.wire import Item

_Attempt: TypeAlias = tuple[int, int]


class Branches:
    """The attempts of all turns, by the call ids that they issued, and when each was continued."""

    def __init__(self) -> None:
        self._by_id: dict[str, set[_Attempt]] = {}
        self._issued: dict[_Attempt, int] = {}
        self._continued: dict[int, dict[int, int]] = {}
        self._count = 0

    def issue(self, turn: int, attempt: int, call_ids: Iterable[str]) -> None:
        """An attempt of a turn was given, with calls under these ids."""
        self._count += 1
        self._issued[turn, attempt] = self._count
        for call_id in call_ids:
            self._by_id.setdefault(call_id, set()).add((turn, attempt))

    def forget(self, keep: int) -> None:
        """Drops the oldest until so much is left."""
        drop_oldest(self._by_id, keep)
        drop_oldest(self._issued, keep)
        drop_oldest(self._continued, keep)

    def fork(self, turn: int, items: Sequence[Item]) -> tuple[int, int] | None:
        """The two attempts of the turn that are both being continued, where the conversation goes
        on from one of them and another has been gone on from since that one was given."""
        called = [item.call_id for item in items if item.kind == "call" and item.call_id]
        held = {
            attempt
            for call_id in called
            for of, attempt in self._by_id.get(call_id, ())
            if of == turn
        }
        if len(held) != 1:  # under an id that several attempts share nobody can tell
            return None
        (mine,) = held
        continued = self._continued.setdefault(turn, {})
        since = self._issued.get((turn, mine), 0)
        rivals = [one for one, when in continued.items() if one != mine and when > since]
        self._count += 1
        continued[mine] = self._count
        return (min(rivals[0], mine), max(rivals[0], mine)) if rivals else None
