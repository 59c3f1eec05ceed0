"""Whether reports are parts of one run: what each of them has to say alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from loopcheck.harness.merging.named import (
    MergeError,
    Named,
    Placed,
    by_target,
    difference,
    disagree,
)
from loopcheck.harness.results import Part, TargetResult
from loopcheck.harness.shards import number_of

_ALIKE: Final = {
    "loopcheck": "checks may differ; run all parts with one version",
    "suite": "join reports of one suite",
    "seed": "join reports of one seed",
    "lenient": "join runs that left out the same request rules",
}


def check(reports: Sequence[Named]) -> None:
    """Raises MergeError for reports that were not made as parts of one run."""
    for before, after in pairwise(reports):
        _headers(before, after)
    divided = [(one, one.report.header.shard) for one in reports]
    shards = [(one, shard) for one, shard in divided if shard is not None]
    for (before, was), (after, shard) in pairwise(shards):
        _divided_alike(before, was, after, shard)
    for one, shard in shards:
        _belong(one, shard)
    for placed in by_target(reports).values():
        _cards([one for one in placed if _has_card(one.target)])


def _headers(before: Named, after: Named) -> None:
    was, now = before.report.header.model_dump(), after.report.header.model_dump()
    for field, remedy in _ALIKE.items():
        if was[field] != now[field]:
            disagree(after.name, f"header.{field}", now[field], before.name, was[field], remedy)


def _divided_alike(before: Named, was: Part, after: Named, shard: Part) -> None:
    if was.of != shard.of:
        remedy = "join shards of one division"
        disagree(after.name, "header.shard.of", shard.of, before.name, was.of, remedy)
    if was.plan != shard.plan:
        raise MergeError(
            f"{after.name}: header.shard.plan is not that of {before.name}: the two were to run "
            "different cases; run all shards with the same patterns, options and scenarios"
        )


def _belong(one: Named, shard: Part) -> None:
    for target, result in enumerate(one.report.targets):
        for place, case in enumerate(result.cases):
            number = number_of(case.undisturbed, shard.of)
            if number not in shard.numbers:
                raise MergeError(
                    f"{one.name}: targets.{target}.cases.{place}.case is {case.case!r}, which "
                    f"belongs to shard {number}/{shard.of} and not to {shard}: changed by hand, "
                    "or made by another version; take the file as the run wrote it"
                )


def _has_card(target: TargetResult) -> bool:
    """A target that could not be started has no card but its name."""
    return target.broken is None or bool(target.card.dialects)


def _cards(placed: Iterable[Placed]) -> None:
    """One target is one loop: its cards are the same, and so is what is installed beside it."""
    for before, after in pairwise(placed):
        was, now = (one.target.card.model_dump() for one in (before, after))
        found = difference(now, was, f"{after.path}.card")
        remedy = f"{after.target.card.name!r} names one target, the same in all reports"
        if found is not None:
            field, is_, other = found
            disagree(after.report.name, field, is_, before.report.name, other, remedy)
        _packages(before.report, after.report)


def _packages(before: Named, after: Named) -> None:
    old, new = before.report.header.packages, after.report.header.packages
    for name in old.keys() & new.keys():
        # Of reports that were joined, a package may have the versions of several environments.
        if not set(old[name].split(", ")) & set(new[name].split(", ")):
            field, remedy = f"header.packages.{name}", "run all shards with the same versions"
            disagree(after.name, field, new[name], before.name, old[name], remedy)
