"""What a service keeps of its responses: made when it is first asked for, which it seldom is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from loopcheck.fake_providers.wire import Answer

Value = TypeVar("Value")


@dataclass(slots=True)
class _Now(Generic[Value]):
    value: Value


@dataclass(slots=True)
class _Later(Generic[Value]):
    make: Callable[[Answer], Value]
    answer: Answer


class Kept(MutableMapping[str, Value]):
    """A dictionary, of which values may be made later. What makes one must not depend on when
    it is called."""

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        self._entries: dict[str, _Now[Value] | _Later[Value]] = {}
        self.update(values or {})

    def later(self, key: str, make: Callable[[Answer], Value], answer: Answer) -> None:
        """Keeps what this makes of the answer, once, as soon as somebody looks at it."""
        self._entries[key] = _Later(make, answer)

    def __getitem__(self, key: str) -> Value:
        entry = self._entries[key]
        if isinstance(entry, _Later):
            entry = self._entries[key] = _Now(entry.make(entry.answer))
        return entry.value

    def __setitem__(self, key: str, value: Value) -> None:
        self._entries[key] = _Now(value)

    def __delitem__(self, key: str) -> None:
        del self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
