"""The report of the whole: what is joined has to be one run.

Whatever order the reports are given in, the result is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loopcheck.harness.exit_code import exit_code
from loopcheck.harness.footer import footer
from loopcheck.harness.merging.agreement import check
from loopcheck.harness.merging.cases import joined
from loopcheck.harness.merging.named import MergeError, Named, Placed, by_target
from loopcheck.harness.results import Header, Part, Report


def merge(
    reports: Sequence[Named], *, partial: bool = False, strict_should: bool = False
) -> Report:
    """One report of all of these. Raises MergeError where they are not parts of one run, and
    where shards are missing, unless it may be `partial`."""
    check(reports)
    ordered = _distinct(sorted(reports, key=_order))
    targets = by_target(ordered)
    part = _part(ordered, targets, partial=partial)
    results = tuple(joined(placed) for placed in targets.values())
    code = exit_code(results, strict_should=strict_should, is_part=part is not None)
    seconds = sum(one.report.footer.seconds for one in ordered)
    return Report(
        header=_header([one.report.header for one in ordered], part),
        targets=results,
        footer=footer(results, exit_code=code, seconds=seconds),
    )


def _order(one: Named) -> tuple[object, ...]:
    """Reports of most targets first, so that these stand in the order of their run."""
    header, footer = one.report.header, one.report.footer
    names = tuple(target.card.name for target in one.report.targets)
    return -len(names), names, one.numbers or (), header.started, footer.seconds


def _distinct(reports: Sequence[Named]) -> list[Named]:
    """A report that was given twice counts once."""
    return [
        one
        for place, one in enumerate(reports)
        if not any(one.report == before.report for before in reports[:place])
    ]


def _part(
    reports: Sequence[Named], targets: dict[str, list[Placed]], *, partial: bool
) -> Part | None:
    """Which shards are there of all targets; None where nothing is missing."""
    shards = [one.report.header.shard for one in reports]
    division = next((shard for shard in shards if shard is not None), None)
    if division is None:
        return None
    every = frozenset(range(1, division.of + 1))
    held = {name: _held(placed, every) for name, placed in targets.items()}
    if all(numbers == every for numbers in held.values()):
        return None
    if not partial:
        raise MergeError("\n".join(_missing(held, targets, every)))
    common = every.intersection(*held.values())
    return Part(numbers=tuple(sorted(common)), of=division.of, plan=division.plan)


def _held(placed: Iterable[Placed], every: frozenset[int]) -> frozenset[int]:
    numbers = [one.report.numbers for one in placed]
    return frozenset().union(*(every if held is None else held for held in numbers))


def _missing(
    held: dict[str, frozenset[int]], targets: dict[str, list[Placed]], every: frozenset[int]
) -> Iterator[str]:
    for name, numbers in held.items():
        left = ", ".join(str(number) for number in sorted(every - numbers))
        if left:
            given = ", ".join(one.report.name for one in targets[name])
            yield (
                f"target {name!r}: shard {left} of {len(every)} is missing beside {given}; give "
                "its report too, or join what there is with --partial"
            )


def _header(headers: Sequence[Header], part: Part | None) -> Header:
    """What they have in common; of machines and packages, all that there were."""
    packages = _versions(header.packages for header in headers)
    return headers[0].model_copy(
        update={
            "shard": part,
            "python": _all(header.python for header in headers),
            "platform": _all(header.platform for header in headers),
            "started": min(header.started for header in headers),
            "packages": packages,
        }
    )


def _versions(installed: Iterable[dict[str, str]]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for packages in installed:
        for name, version in packages.items():
            found.setdefault(name, []).append(version)
    return {name: _all(found[name]) for name in sorted(found, key=str.lower)}


def _all(values: Iterable[str]) -> str:
    return ", ".join(sorted({one for value in values for one in value.split(", ")}))
