"""Compares two runs, case by case. That a failure was accepted changes no behaviour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from loopcheck.harness.results import CaseResult, Report, TargetResult
from loopcheck.reports.causes import cause, primary, without_ids
from loopcheck.reports.difference import KINDS, Change, Difference, Kind, PackageChange, Side

_FAILS: Final = frozenset({"fail", "expected", "policy", "flaky", "target broken"})
# That a response has been sent is on record before or after what the loop does next, as it happens.
_SENT: Final = re.compile(r"\s*(?P<entry>\d+)\s+sent\b")
# Neither the passing nor the failing of what is called flaky is news.
_FLAKY: Final = ({"pass", "flaky"}, {"flaky"})
_UNTRIED: Final = frozenset({"not exercised", "not declared", "unscored"})


def compare(before: Report, after: Report, *, names: tuple[str, str] = ("A", "B")) -> Difference:
    """What became of each case of `before` in `after`; `names` are those of the two files."""
    changes = list(_changes(before, after))
    counts = dict.fromkeys(KINDS, 0)
    for change in changes:
        counts[change.kind] += 1
    told = [c for c in changes if c.kind != "unchanged" or c.after in _FAILS]
    return Difference(
        before=_side(before, names[0]),
        after=_side(after, names[1]),
        notes=tuple(_notes(before, after)),
        packages=tuple(_packages(before, after)),
        counts=counts,
        changes=tuple(_grouped(told)),
    )


def _side(report: Report, name: str) -> Side:
    header = report.header
    return Side(
        name=name,
        suite=header.suite,
        seed=header.seed,
        lenient=header.lenient,
        loopcheck=header.loopcheck,
        started=header.started,
    )


def _notes(before: Report, after: Report) -> Iterator[str]:
    old, new = before.header, after.header
    if old.suite != new.suite:
        yield f"suite {old.suite} before, {new.suite} after: scenarios may require other things"
    if old.seed != new.seed:
        yield f"seed {old.seed} before, {new.seed} after: ids and fragments are not the same"
    if old.lenient != new.lenient:
        yield (
            f"request rules left out: {', '.join(old.lenient) or 'none'} before, "
            f"{', '.join(new.lenient) or 'none'} after"
        )
    if old.loopcheck != new.loopcheck:
        yield f"loopcheck {old.loopcheck} before, {new.loopcheck} after: checks may differ"


def _packages(before: Report, after: Report) -> Iterator[PackageChange]:
    new_targets = {target.card.name: target for target in after.targets}
    told = set()
    for old in before.targets:
        new = new_targets.get(old.card.name)
        if new is None:
            continue
        for change in _versions(_of(old), _of(new), old.card.name):
            told.add((change.package, change.before, change.after))
            yield change
    for change in _versions(before.header.packages, after.header.packages, None):
        if (change.package, change.before, change.after) not in told:
            yield change


def _of(target: TargetResult) -> dict[str, str]:
    """The versions of a target: its own, that of what runs it, and those of its packages."""
    card = target.card
    runtime, _, version = card.runtime.partition(" ")
    own = {"itself": card.version or "", runtime: version}
    return {name: held for name, held in {**own, **card.packages}.items() if name and held}


def _versions(
    old: Mapping[str, str], new: Mapping[str, str], target: str | None
) -> Iterator[PackageChange]:
    for name in sorted(old.keys() | new.keys(), key=str.lower):
        if old.get(name) != new.get(name):
            yield PackageChange(
                target=target, package=name, before=old.get(name), after=new.get(name)
            )


def _changes(before: Report, after: Report) -> Iterator[Change]:
    old_targets = {target.card.name: target for target in before.targets}
    new_targets = {target.card.name: target for target in after.targets}
    for name in dict.fromkeys([*old_targets, *new_targets]):
        old, new = old_targets.get(name), new_targets.get(name)
        whole = _of_target(name, old, new)
        if whole is not None:
            yield whole
        if new is not None and new.broken is not None and old is not None:
            continue  # what the change of the whole target says holds for each of its cases
        yield from _of_cases(name, old.cases if old else (), new.cases if new else ())


def _of_target(name: str, old: TargetResult | None, new: TargetResult | None) -> Change | None:
    was, now = old and old.broken, new and new.broken
    if was is None and now is None:
        return None
    kind: Kind
    if old is None or new is None:
        kind = "added" if old is None else "gone"
    elif was is None or now is None:
        kind = "regressed" if was is None else "fixed"
    else:
        kind = "unchanged" if was == now else "differently"
    return Change(
        kind=kind,
        target=name,
        case=None,
        title="the target cannot be put on trial" if now else "the target can be put on trial",
        before=None if old is None else "target broken" if was else "pass",
        after=None if new is None else "target broken" if now else "pass",
        was=was or "",
        now=now or "",
    )


def _of_cases(
    target: str, before: Iterable[CaseResult], after: Iterable[CaseResult]
) -> Iterator[Change]:
    old_cases = {case.case: case for case in before}
    new_cases = {case.case: case for case in after}
    for name in dict.fromkeys([*new_cases, *old_cases]):
        old, new = old_cases.get(name), new_cases.get(name)
        yield _change(target, name, _kind(old, new), old, new)


def _kind(old: CaseResult | None, new: CaseResult | None) -> Kind:
    if "harness error" in (old and old.verdict, new and new.verdict):
        return "could not run"
    tried = old is not None and old.verdict not in _UNTRIED
    tries = new is not None and new.verdict not in _UNTRIED
    if old is None or new is None or not tried or not tries:
        return "unchanged" if tried == tries else "added" if tries else "gone"
    if {old.verdict, new.verdict} in _FLAKY:
        return "unchanged"
    failed, fails = old.verdict in _FAILS, new.verdict in _FAILS
    if failed and fails:
        return "unchanged" if _mismatch(old) == _mismatch(new) else "differently"
    return "regressed" if fails else "fixed" if failed else "unchanged"


def _mismatch(case: CaseResult) -> tuple[object, ...]:
    """What a case fails by, and where: accepted or not, it is the same failure."""
    finding = primary(case)
    where = [_place(case, entry) for entry in finding.entries[:1]] if finding is not None else []
    scenario, verdict, *what = cause(case)
    broken = verdict == "target broken"
    return (scenario, broken, tuple(what), *where)


def _place(case: CaseResult, entry: int) -> int:
    """The place of an entry of the journal among those whose order is no accident."""
    sent = [int(found["entry"]) for line in case.lines if (found := _SENT.match(line))]
    return entry - sum(one < entry for one in sent)


def _change(
    target: str, name: str, kind: Kind, old: CaseResult | None, new: CaseResult | None
) -> Change:
    known = [case for case in (new, old) if case is not None]
    finding = next((found for case in known if (found := primary(case))), None)
    return Change(
        kind=kind,
        target=target,
        case=name,
        title=known[0].title,
        before=old.verdict if old is not None else None,
        after=new.verdict if new is not None else None,
        check=finding.check if finding is not None else None,
        expected=finding.expected if finding is not None else "",
        was=_seen(old),
        now=_seen(new),
        entries=(_entry(old), _entry(new)),
    )


def _seen(case: CaseResult | None) -> str:
    """What the case fails by in a few words, else how its run ended."""
    if case is None:
        return ""
    finding = primary(case)
    if finding is not None and case.verdict in _FAILS:
        return finding.seen
    return case.reason or case.outcome or ""


def _entry(case: CaseResult | None) -> int | None:
    finding = primary(case) if case is not None else None
    return next(iter(finding.entries), None) if finding is not None else None


def _grouped(changes: Iterable[Change]) -> Iterator[Change]:
    """One change for each cause, the others named in it; in the order of KINDS."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in sorted(changes, key=lambda change: KINDS.index(change.kind)):
        scenario = (change.case or "").partition("[")[0]
        said = (without_ids(change.was), without_ids(change.now))
        key = (change.kind, change.target, scenario, change.before, change.after, change.check)
        groups.setdefault((*key, *said), []).append(change)
    for first, *more in groups.values():
        yield first.model_copy(update={"same_in": tuple(c.case for c in more if c.case)})
