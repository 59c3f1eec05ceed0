"""Requests that came before, and what follows from them alone.

Loops retry, and load tests ask for one thing a thousand times. Whatever depends on nothing but a
request is found out once: how it reads, that it keeps the rules, and what the journal says of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from loopcheck.fake_providers.dialects.interface import Memory, drop_oldest
from loopcheck.fake_providers.turns import Recognised
from loopcheck.fake_providers.wire import HttpRequest, Item, Reading

_MOST_KEPT: Final = 64
_LARGEST_KEPT: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for: the turn with this number, or None where it is beside the task.
    `found` is the latest turn that it continues, `invented` a call that was never issued."""

    found: Recognised
    turn: int | None
    invented: Item | None


@dataclass(slots=True)
class Known:
    """A request that was read. `passes` says that it keeps the rules, whatever the service
    remembers; `fields` are those of its journal entry that are the same each time it comes.
    `asked` is what it asked for when as much was given as `asked_at` says."""

    request: HttpRequest
    reading: Reading
    passes: bool = False
    fields: dict[str, object] | None = None
    asked: Asked | None = None
    asked_at: tuple[int, int] = (0, 0)
    _told: tuple[Asked, Mapping[str, object]] | None = None

    def told(self, asked: Asked, fields: Mapping[str, object]) -> Mapping[str, object]:
        """These fields and what was recognised, in one mapping while both are the same."""
        if self._told is None or self._told[0] is not asked:
            recognised = {"turn": asked.found.turn, "by": asked.found.by}
            self._told = asked, {**fields, "recognised": recognised}
        return self._told[1]


@dataclass(frozen=True, slots=True)
class KnownRequests:
    """The latest requests whose reading does not depend on what the service remembers."""

    _by_body: dict[bytes, Known] = field(default_factory=dict)

    def find(self, request: HttpRequest) -> Known | None:
        """What is known of just this request."""
        known = self._by_body.get(request.body)
        return known if known is not None and known.request == request else None

    def keep(self, request: HttpRequest, reading: Reading) -> Known:
        """Begins to know it; for good only where that is right, and cheap."""
        known = Known(request, reading)
        if reading.self_contained and len(request.body) <= _LARGEST_KEPT:
            self._by_body.pop(request.body, None)
            self._by_body[request.body] = known
            drop_oldest(self._by_body, _MOST_KEPT)
        return known


class Watched:
    """A memory that tells whether anybody looked at what changes in it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.models = memory.models
        self.was_needed = False

    def __getattr__(self, name: str) -> object:
        self.was_needed = True
        return getattr(self._memory, name)

    @classmethod
    def over(cls, memory: Memory) -> tuple[Memory, Watched]:
        """The same memory for whoever reads it, and what tells whether that happened."""
        watched = cls(memory)
        return cast(Memory, watched), watched
