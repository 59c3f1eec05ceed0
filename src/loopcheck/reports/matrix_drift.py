"""Request drift: what two sets of packages send otherwise for the same script, once a change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from loopcheck.harness.matrix.results import Asked, AskedCase, Wire
from loopcheck.reports.difference import PackageChange
from loopcheck.reports.matrix_report import Drift, DriftKind

_KINDS: Final[tuple[DriftKind, ...]] = ("endpoint", "header", "body", "retries")
# By which of these a client says who it is makes one change and not two.
_KEYS: Final = ("authorization", "x-api-key", "api-key")
_MOST_DETAILS: Final = 2
_Seen: TypeAlias = tuple[DriftKind, str, str | None, str | None]
_Turn: TypeAlias = tuple[int | None, int]


@dataclass(slots=True)
class _Places:
    """Where one change was seen."""

    targets: dict[str, None] = field(default_factory=dict)
    dialects: set[str] = field(default_factory=set)
    cases: set[tuple[str, str]] = field(default_factory=set)
    turns: set[int] = field(default_factory=set)
    example: str = ""


class DriftLog:
    """Collects what changed, target by target."""

    def __init__(self) -> None:
        self._found: dict[_Seen, _Places] = defaultdict(_Places)
        self._attempts: dict[str, int] = {}
        self._versioned: set[str] = set()

    def add(
        self, target: str, base: Wire, head: Wire, *, packages: Iterable[PackageChange] = ()
    ) -> None:
        """Compares the requests of the cases that both sets have; `packages` are not the same."""
        versions = {(change.before, change.after) for change in packages}
        before = {case.case: case for case in base.cases}
        for case in head.cases:
            if case.case in before:
                self._compare(target, (base, before[case.case]), (head, case), versions)

    def drift(self, packages: Mapping[str, PackageChange | None]) -> tuple[Drift, ...]:
        """Every change once. `packages` is the only one that differs, for each target."""
        seen = sorted(self._found.items(), key=lambda item: (_KINDS.index(item[0][0]), item[0][1]))
        return tuple(
            Drift(
                kind=kind,
                name=name,
                before=before,
                after=after,
                targets=tuple(places.targets),
                dialects=tuple(sorted(places.dialects)),
                cases=len(places.cases),
                first_turn=min(places.turns, default=None),
                example=places.example,
                package=_package([packages.get(target) for target in places.targets]),
            )
            for (kind, name, before, after), places in seen
        )

    def versioned(self) -> tuple[str, ...]:
        """Headers that differ in nothing but the version of a package."""
        return tuple(sorted(self._versioned))

    def attempts(self) -> dict[str, int]:
        """How many attempts are made under both sets, by what they were answered with."""
        return dict(sorted(self._attempts.items()))

    def _compare(
        self,
        target: str,
        base: tuple[Wire, AskedCase],
        head: tuple[Wire, AskedCase],
        versions: Set[tuple[str | None, str | None]],
    ) -> None:
        case = head[1]
        for turn, old, new in _paired(base[1], case):
            for seen in _differences(old, new, base[0], head[0]):
                if _is_version(seen, versions):
                    self._versioned.add(seen[1])
                else:
                    self._note(seen, target, case, turn)
        for seen in _beside(base[1], case):
            self._note(seen, target, case, None)
        self._retries(target, base[1], case)

    def _note(self, seen: _Seen, target: str, case: AskedCase, turn: int | None) -> None:
        places = self._found[seen]
        places.targets[target] = None
        places.dialects.add(case.dialect)
        places.cases.add((target, case.case))
        places.example = places.example or case.case
        if turn is not None:
            places.turns.add(turn)

    def _retries(self, target: str, base: AskedCase, head: AskedCase) -> None:
        before, after = _attempts(base), _attempts(head)
        for turn in before.keys() & after.keys():
            (why, old), (other, new) = before[turn], after[turn]
            if why != other:
                continue
            if old != new:
                self._note(("retries", why, _tries(old), _tries(new)), target, head, turn)
            elif new > 1:
                self._attempts[why] = max(new, self._attempts.get(why, 0))


def _is_version(seen: _Seen, versions: Set[tuple[str | None, str | None]]) -> bool:
    kind, _, before, after = seen
    if kind != "header" or before is None or after is None:
        return False
    return any(old and new and before.replace(old, new) == after for old, new in versions)


def _package(changes: Iterable[PackageChange | None]) -> PackageChange | None:
    """The package of all these targets, where it is the same."""
    found = {(c.package, c.before, c.after) if c is not None else None for c in changes}
    only = next(iter(found)) if len(found) == 1 else None
    if only is None:
        return None
    package, before, after = only
    return PackageChange(target=None, package=package, before=before, after=after)


def _tries(number: int) -> str:
    return "1 attempt" if number == 1 else f"{number} attempts"


def _paired(base: AskedCase, head: AskedCase) -> Iterator[tuple[int | None, Asked, Asked]]:
    """The requests that ask for the same, by the turn and the attempt."""
    before = _by_turn(base)
    for place, new in _by_turn(head).items():
        if place in before:
            yield place[0], before[place], new


def _by_turn(case: AskedCase) -> dict[_Turn, Asked]:
    found: dict[_Turn, Asked] = {}
    for asked in case.requests:
        if asked.turn is not None:
            found.setdefault((asked.turn, asked.attempt), asked)
    return found


def _beside(base: AskedCase, head: AskedCase) -> Iterator[_Seen]:
    """Endpoints that are asked beside the script's turns under one set only."""
    before = {asked.endpoint for asked in base.requests if asked.turn is None}
    after = {asked.endpoint for asked in head.requests if asked.turn is None}
    for endpoint in sorted(before ^ after):
        was = endpoint if endpoint in before else None
        yield "endpoint", endpoint, was, None if was else endpoint


def _differences(old: Asked, new: Asked, base: Wire, head: Wire) -> Iterator[_Seen]:
    if old.endpoint != new.endpoint:
        yield "endpoint", new.endpoint, old.endpoint, new.endpoint
    yield from _headers(base.headers[old.headers], head.headers[new.headers])
    yield from _bodies(base.bodies[old.body], head.bodies[new.body])


def _headers(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[_Seen]:
    was, now = ([name for name in _KEYS if name in held] for held in (old, new))
    moved = len(was) == 1 and len(now) == 1 and was != now
    if moved:
        before, after = f"{was[0]}: {old[was[0]]}", f"{now[0]}: {new[now[0]]}"
        yield "header", was[0], before, after
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name) and not (moved and name in _KEYS):
            yield "header", name, old.get(name), new.get(name)


def _bodies(
    old: Mapping[str, tuple[str, ...]], new: Mapping[str, tuple[str, ...]]
) -> Iterator[_Seen]:
    for path in sorted(old.keys() | new.keys()):
        if path in old and path in new and old[path] != new[path]:
            yield "body", path, _values(old[path]), _values(new[path])
    for path, told in _one_sided(old, new).items():
        yield "body", path, told, None
    for path, told in _one_sided(new, old).items():
        yield "body", path, None, told


def _values(values: Iterable[str]) -> str:
    return " or ".join(values)


def _one_sided(
    held: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """What only one of two bodies has, by the highest path that the other lacks altogether."""
    others = {above for path in other for above in _above(path)}
    found: dict[str, list[str]] = {}
    for path in sorted(held.keys() - other.keys()):
        top = next((above for above in _above(path) if above not in others), path)
        rest = path[len(top) :].lstrip(".")
        told = _values(held[path])
        found.setdefault(top, []).append(f"{rest} {told}" if rest else told)
    return {
        top: ", ".join(told) if len(told) <= _MOST_DETAILS else "…" for top, told in found.items()
    }


def _above(path: str) -> list[str]:
    """The path and all above it, the highest first."""
    parts = path.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def _attempts(case: AskedCase) -> dict[int, tuple[str, int]]:
    """What each turn was answered with while it failed, and how often it was asked for."""
    reasons: dict[int, set[str]] = defaultdict(set)
    most: dict[int, int] = defaultdict(int)
    for asked in case.requests:
        if asked.turn is not None:
            most[asked.turn] = max(most[asked.turn], asked.attempt)
            reasons[asked.turn] |= {asked.answered} if asked.answered else set()
    return {turn: (next(iter(why)), most[turn]) for turn, why in reasons.items() if len(why) == 1}
