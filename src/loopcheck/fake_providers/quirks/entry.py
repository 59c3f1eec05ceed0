"""What a quirk is: a named function from events to events, with what it takes and why it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.fake_providers.wire import Answer, Frame, JsonObject

FramesQuirk: TypeAlias = Callable[[Sequence[Frame], Answer, object], list[Frame]]
BodyQuirk: TypeAlias = Callable[[JsonObject, Answer, object], None]
Accepts: TypeAlias = Callable[[object], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One quirk. `frames` has its function for the streams of each dialect, `bodies` for whole
    responses where that makes sense; both may change the data they are given, which is theirs.

    `takes` says in words which values `accepts` lets pass; `words` are those of them that are
    words, for hints. `misfits` names words that do nothing in a dialect and mode. `of_calls`:
    the quirk does nothing in a response without calls.
    """

    name: str
    sentence: str
    grounds: tuple[str, ...]
    takes: str
    accepts: Accepts
    frames: Mapping[DialectName, FramesQuirk]
    bodies: Mapping[DialectName, BodyQuirk] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    misfits: Mapping[tuple[DialectName, Mode], frozenset[str]] = field(default_factory=dict)
    of_calls: bool = True

    def strikes(self, dialect: DialectName, mode: Mode, value: object) -> bool:
        """Whether it does anything in this dialect and mode."""
        places = self.bodies if mode == "whole" else self.frames
        misfits = self.misfits.get((dialect, mode), ())
        word = "null" if value is None else value
        return dialect in places and not (isinstance(word, str) and word in misfits)


def alone(value: object) -> bool:
    """A quirk that takes no value."""
    return value is True


def is_number(value: object, *, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def one_of(*words: object) -> Accepts:
    """One of these words; True stands for the quirk alone."""
    return lambda value: any(
        value is word or value == word for word in words if _alike(value, word)
    )


def some_of(*words: str) -> Accepts:
    """One of these words, or a list of them."""
    return lambda value: (
        value in words
        if isinstance(value, str)
        else isinstance(value, list | tuple) and bool(value) and all(v in words for v in value)
    )


def number_or_list(least: int) -> Accepts:
    """A whole number, or a list of whole numbers that are not negative."""

    def accepts(value: object) -> bool:
        if isinstance(value, list | tuple):
            return bool(value) and all(is_number(entry, least=1) for entry in value)
        return is_number(value, least=least)

    return accepts


def _alike(value: object, word: object) -> bool:
    # JSON's true is no number, Python's equals 1.
    return isinstance(value, bool) == isinstance(word, bool)
