"""What a service keeps of its responses: made when it is first asked for, which it seldom is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TypeVar

from loopcheck.fake_providers.wire import Answer

Value = TypeVar("Value")


class Kept(MutableMapping[str, Value]):
    """A dictionary of JSON, of which values may be made later. What makes them is the same for
    all, and must not depend on when it is called."""

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        self._make: Callable[[Answer], Value] | None = None
        # An object around each of them would be one more for the garbage collector to visit.
        self._entries: dict[str, Value | Answer] = {}
        self.update(values or {})

    def later(self, key: str, make: Callable[[Answer], Value], answer: Answer) -> None:
        """Keeps what this makes of the answer, once, as soon as somebody looks at it."""
        assert self._make in (None, make)
        self._make = make
        self._entries[key] = answer

    def __getitem__(self, key: str) -> Value:
        entry = self._entries[key]
        if isinstance(entry, Answer):
            assert self._make is not None
            entry = self._entries[key] = self._make(entry)
        return entry

    def __setitem__(self, key: str, value: Value) -> None:
        self._entries[key] = value

    def __delitem__(self, key: str) -> None:
        del self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
