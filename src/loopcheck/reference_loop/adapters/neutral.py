"""A history free of any protocol: who said what, which calls were made, how they were answered.

Reading one drops what only its own provider understands, and names it. Writing one makes ids that
the other provider takes: its rules of form differ, and an id must not stand for two calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from loopcheck.reference_loop.content import Part

_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,40}")  # 40 is the least that one of them allows


Role: TypeAlias = Literal["user", "assistant"]
CallKind: TypeAlias = Literal["function", "custom"]


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the user or of the model; what has images has `parts`, which are the whole."""

    role: Role
    text: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of the model; `arguments` is text, free text where `kind` is custom."""

    call_id: str
    name: str
    arguments: str
    kind: CallKind = "function"


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a call; one with images has `parts`, which are the whole."""

    call_id: str
    text: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that only its own provider understands."""

    kind: str


Entry: TypeAlias = Said | Asked | Answered
Item: TypeAlias = Entry | Opaque


class SwitchError(ValueError):
    """The conversation cannot go on with another provider here. The message says why."""


def rounds(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The entries as messages: what one side says between two words of the other."""
    message: list[Entry] = []
    for entry in entries:
        if message and _side(entry) != _side(message[0]):
            yield message
            message = []
        message.append(entry)
    yield message


def with_own_ids(entries: Iterable[Entry]) -> list[Entry]:
    """The entries with ids that any provider takes. Raises SwitchError for an open call."""
    renamed: list[Entry] = []
    taken: set[str] = set()
    open_calls: dict[str, list[str]] = {}
    for entry in entries:
        if isinstance(entry, Asked):
            fits = _ID.fullmatch(entry.call_id) and entry.call_id not in taken
            own = entry.call_id if fits else f"call_switched_{len(renamed)}"
            taken.add(own)
            open_calls.setdefault(entry.call_id, []).append(own)
            renamed.append(replace(entry, call_id=own))
        elif isinstance(entry, Answered):
            if not open_calls.get(entry.call_id):
                raise SwitchError(f"there is a result for {entry.call_id!r}, and no open call")
            # Equal ids are answered in the order in which they were asked.
            renamed.append(replace(entry, call_id=open_calls[entry.call_id].pop(0)))
        else:
            renamed.append(entry)
    if still := [call_id for call_id, own in open_calls.items() if own]:
        raise SwitchError(f"there are calls without a result: {', '.join(still)}")
    return renamed


def _side(entry: Entry) -> str:
    if isinstance(entry, Said):
        return entry.role
    return "assistant" if isinstance(entry, Asked) else "results"
