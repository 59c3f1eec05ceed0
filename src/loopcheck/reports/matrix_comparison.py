"""Puts the cells of a matrix side by side: what a change of packages did to each target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from loopcheck.harness.matrix.results import CellResult, CellStatus
from loopcheck.harness.results import CaseResult, Verdict
from loopcheck.reports import diff
from loopcheck.reports.difference import KINDS, Change, Difference, Kind, PackageChange
from loopcheck.reports.matrix_drift import DriftLog
from loopcheck.reports.matrix_report import Cell, Comparison, Upgrade

_COULD_NOT_RUN: Final[frozenset[CellStatus]] = frozenset({"cannot install", "not finished"})


def summary(cell: CellResult) -> Cell:
    """The cell without its cases."""
    targets = cell.report.targets if cell.report is not None else ()
    cases = [case for target in targets for case in target.cases]
    return Cell(
        target=cell.target,
        dependency_set=cell.dependency_set,
        status=cell.status,
        trouble=cell.trouble,
        cases=len(cases),
        verdicts=dict(Counter(case.verdict for case in cases)),
        runtime=targets[0].card.runtime if targets else "",
        packages=cell.packages,
        environment=cell.environment,
        environment_seconds=cell.environment_seconds,
        seconds=cell.seconds,
        cpu_seconds=cell.cpu_seconds,
        resumed=cell.resumed,
        report=cell.report_file,
    )


def compare(cells: Sequence[CellResult], base: str, head: str) -> Comparison:
    """What changed from the set `base` to the set `head`."""
    by_place = {(cell.target, cell.dependency_set): cell for cell in cells}
    names = dict.fromkeys(cell.target for cell in cells)
    pairs = [
        _Pair(name, by_place[name, base], by_place[name, head])
        for name in names
        if (name, base) in by_place and (name, head) in by_place
    ]
    log = DriftLog()
    for pair in pairs:
        log.add(pair.target, pair.base.wire, pair.head.wire, packages=pair.packages())
    upgrades = [upgrade for pair in pairs for upgrade in pair.upgrades()]
    upgrades.sort(key=lambda upgrade: KINDS.index(upgrade.change.kind))
    counts = Counter[Kind]()
    for pair in pairs:
        counts.update(pair.counts())
    return Comparison(
        base=base,
        head=head,
        targets=dict(_worst_first({pair.target: pair.kind() for pair in pairs})),
        counts={kind: counts[kind] for kind in KINDS},
        changes=tuple(upgrades),
        packages=tuple(change for pair in pairs for change in pair.packages()),
        compared=sum(pair.is_compared for pair in pairs),
        drift=log.drift({pair.target: pair.package() for pair in pairs}),
        versioned=log.versioned(),
        retries=log.attempts(),
    )


def _worst_first(kinds: Mapping[str, Kind]) -> Iterable[tuple[str, Kind]]:
    return sorted(kinds.items(), key=lambda item: KINDS.index(item[1]))


@dataclass(slots=True)
class _Pair:
    """One target under both sets."""

    target: str
    base: CellResult
    head: CellResult

    def packages(self) -> list[PackageChange]:
        """The versions that are not the same; none where one side has no environment."""
        old, new = self.base.packages, self.head.packages
        if not old or not new:
            return []
        return [
            PackageChange(
                target=self.target, package=name, before=old.get(name), after=new.get(name)
            )
            for name in sorted(old.keys() | new.keys())
            if old.get(name) != new.get(name)
        ]

    def package(self) -> PackageChange | None:
        """The only package that is not the same."""
        changed = self.packages()
        return changed[0] if len(changed) == 1 else None

    def kind(self) -> Kind:
        """What became of the target, by the worst that became of its cases."""
        whole = self._whole()
        if whole is not None:
            return whole.kind
        counts = self.counts()
        found: Kind
        for found in KINDS:
            if counts[found]:
                return found
        return "unchanged"

    def counts(self) -> Counter[Kind]:
        """Its cases by what became of them; a target that broke counts as one."""
        whole = self._whole()
        if whole is not None:
            return Counter({whole.kind: 1})
        difference = self._difference()
        return Counter(difference.counts) if difference is not None else Counter()

    def upgrades(self) -> Iterator[Upgrade]:
        """What there is to tell of its cases."""
        whole, package = self._whole(), self.package()
        if whole is not None:
            is_by_packages = whole.kind != "unchanged" and not self._is_unfinished
            yield Upgrade(change=whole, package=package if is_by_packages else None)
            return
        difference = self._difference()
        before, after = _cases(self.base), _cases(self.head)
        for change in difference.changes if difference is not None else ():
            is_changed = change.kind != "unchanged"
            name = change.case or ""
            yield Upgrade(
                change=change,
                package=package if is_changed else None,
                was=before.get(name) if is_changed else None,
                now=after.get(name) if is_changed else None,
            )

    @property
    def is_compared(self) -> bool:
        """Whether it ran under both sets."""
        return self.base.status == self.head.status == "ran"

    @property
    def _is_unfinished(self) -> bool:
        """Whether chance had a hand in it."""
        return "not finished" in (self.base.status, self.head.status)

    def _difference(self) -> Difference | None:
        if self.base.report is None or self.head.report is None:
            return None
        return diff.compare(self.base.report, self.head.report)

    def _whole(self) -> Change | None:
        """The one change of a target that could not be put on trial under one of the sets."""
        old, new = self.base, self.head
        if self.is_compared:
            return None
        kind: Kind
        if _COULD_NOT_RUN & {old.status, new.status}:
            kind = "could not run"
        elif old.status == "ran":
            kind = "regressed"
        elif new.status == "ran":
            kind = "fixed"
        else:
            kind = "unchanged" if _said(old) == _said(new) else "differently"
        return Change(
            kind=kind,
            target=self.target,
            case=None,
            title=new.status if new.status != "ran" else f"{old.status} no more",
            before=_verdict(old),
            after=_verdict(new),
            was=_said(old),
            now=_said(new),
        )


def _verdict(cell: CellResult) -> Verdict | None:
    """What stands for all of its cases; none where none could be run."""
    if cell.status in _COULD_NOT_RUN:
        return None
    if cell.status != "ran":
        return "target broken"
    return "fail" if any(case.verdict == "fail" for case in _cases(cell).values()) else "pass"


def _said(cell: CellResult) -> str:
    if cell.trouble is None:
        return ""
    return f"{cell.status}: {cell.trouble.message}"


def _cases(cell: CellResult) -> dict[str, CaseResult]:
    targets = cell.report.targets if cell.report is not None else ()
    return {case.case: case for target in targets for case in target.cases}
