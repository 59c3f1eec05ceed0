"""A report with the name of its file, and how two of them are found to disagree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from loopcheck.harness.results import Report, TargetResult


class MergeError(Exception):
    """Reports that are not parts of one run. Says which file, which field, and what to do."""


@dataclass(frozen=True, slots=True)
class Named:
    """A report, and what it is called in messages."""

    name: str
    report: Report

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """The shards that it holds; None where it is the whole."""
        shard = self.report.header.shard
        return None if shard is None else shard.numbers


@dataclass(frozen=True, slots=True)
class Placed:
    """What a report says of one target, and where it says so."""

    report: Named
    place: int

    @property
    def target(self) -> TargetResult:
        return self.report.report.targets[self.place]

    @property
    def path(self) -> str:
        return f"targets.{self.place}"


def by_target(reports: Iterable[Named]) -> dict[str, list[Placed]]:
    """What is said of each target, by its name."""
    found: dict[str, list[Placed]] = {}
    for report in reports:
        for place, target in enumerate(report.report.targets):
            found.setdefault(target.card.name, []).append(Placed(report, place))
    return found


def difference(one: object, other: object, path: str) -> tuple[str, object, object] | None:
    """Where two values differ first, as the path of the field and both of its values."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return None if one == other else (path, one, other)
    for key in dict.fromkeys([*one, *other]):
        found = difference(one.get(key), other.get(key), f"{path}.{key}")
        if found is not None:
            return found
    return None


def disagree(named: str, field: str, is_: object, other: str, was: object, remedy: str) -> NoReturn:
    """Raises the error that says so."""
    raise MergeError(f"{named}: {field} is {_said(is_)}, and {_said(was)} in {other}; {remedy}")


def _said(value: object) -> str:
    if value is None or value == ():
        return "absent"
    return repr(list(value)) if isinstance(value, tuple) else repr(value)
