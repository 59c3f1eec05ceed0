"""The entries by which a scenario names what a conversation holds: `user`, `result pay/1`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from loopcheck.harness.scenario.errors import did_you_mean
from loopcheck.harness.scenario.expectations import AnyOfHistory, History, HistoryModel
from loopcheck.harness.scenario.model import Scenario

WORDS: Final = ("user", "say", "think", "redacted")
_LABELLED: Final = ("call", "result")
_LABEL: Final = re.compile(r"(?P<label>[^/\s]+)(?:/(?P<attempt>[1-9][0-9]{0,3}))?\Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a conversation may hold. `attempt` is that of the turn whose call it is
    about, None where any will do."""

    kind: str
    label: str = ""
    attempt: int | None = None


def labelled(kind: str, text: str) -> Entry:
    """The call, or the result, of a label such as `pay` or `pay/1`. Raises ValueError."""
    match = _LABEL.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no label such as pay or pay/1")
    return Entry(kind, match["label"], int(match["attempt"]) if match["attempt"] else None)


def entry(text: str) -> Entry:
    """The entry that this text names. Raises ValueError."""
    kind, _, rest = text.partition(" ")
    if kind in _LABELLED and rest:
        return labelled(kind, rest)
    if text not in WORDS:
        raise ValueError(f"{text!r} is no entry of a conversation")
    return Entry(text)


def alternatives(expected: History) -> tuple[HistoryModel, ...]:
    """Each of the conversations that will do."""
    return expected.any_of if isinstance(expected, AnyOfHistory) else (expected,)


def labels(expected: HistoryModel) -> Iterator[tuple[str, int, str]]:
    """The labels in the lists of them, each with its key and place."""
    for key, given in (
        ("calls", expected.calls),
        ("results", expected.results),
        ("images", expected.images),
    ):
        for number, label in enumerate(given or ()):
            yield key, number, label


def entries(expected: HistoryModel) -> Iterator[tuple[str, int | None, str]]:
    """The entries, each with its key and, in a list, its place."""
    lists = (("order", expected.order), ("lacks", expected.lacks), ("sent", expected.sent or ()))
    for key, given in lists:
        for number, text in enumerate(given):
            yield key, number, text
    if expected.last is not None:
        yield "last", None, expected.last


def complaint(text: str, scenario: Scenario, *, is_label: bool) -> tuple[str, str] | None:
    """What is wrong with an entry or a label, as message and hint."""
    try:
        named = labelled("call", text) if is_label else entry(text)
    except ValueError as error:
        known = [*WORDS, *(f"{kind} {label}" for kind in _LABELLED for label in scenario.labels)]
        return str(error), "" if is_label else did_you_mean(text, known)
    if named.label and named.label not in scenario.labels:
        return f"{named.label!r} is no call of this file", did_you_mean(
            named.label, scenario.labels
        )
    return None
