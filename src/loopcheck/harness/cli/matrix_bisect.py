"""`loopcheck matrix --bisect`: the first release of a package at which targets get worse."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.cores import cores
from loopcheck.harness.cli.matrix_command import command
from loopcheck.harness.cli.matrix_document import Ran
from loopcheck.harness.cli.matrix_executor import at_a_time, executor_for
from loopcheck.harness.cli.matrix_judging import judge
from loopcheck.harness.matrix.cells import Workshop
from loopcheck.harness.matrix.narrowing import Course, narrow
from loopcheck.harness.matrix.plan import DependencySet, Matrix
from loopcheck.harness.matrix.ranges import Range, parse
from loopcheck.harness.matrix.results import CellResult
from loopcheck.harness.matrix.suspects import rest_of, suspects
from loopcheck.reports import matrix_bisect
from loopcheck.reports.matrix_bisect import Narrowed, regressions
from loopcheck.reports.matrix_comparison import compare, summary
from loopcheck.reports.matrix_report import Comparison


def asked(options: Namespace) -> Range:
    """The package and its releases. Raises UsageError and MatrixError."""
    if len(options.bisect) > 1:
        raise UsageError("--bisect searches in the releases of one package; give it once")
    return parse(options.bisect[0])


def loosened(matrix: Matrix, wanted: Range) -> Matrix:
    """The matrix in which the package may be changed, although a target only needs it for
    another."""
    rest = rest_of(matrix, wanted)
    return matrix if rest.python or rest.npm else replace(matrix, only_present=False)


def run(workshop: Workshop, wanted: Range, options: Namespace) -> Ran:
    """Runs what it takes to find the release, for each target on its own. Raises MatrixError."""
    rest = rest_of(workshop.matrix, wanted)
    found = suspects(workshop, wanted, rest)
    courses = [Course(suspect, _is_worse) for suspect in found]
    for one in found:
        line = matrix_bisect.opening(one.target.name, wanted.name, one.releases, rest.name)
        print(line, flush=True)
    try:
        _run_all(workshop, courses, options)
    except KeyboardInterrupt:
        workshop.note(
            f"{sum(len(course.results) for course in courses)} releases are tried; what was "
            "measured is kept, and the same command goes on with the rest"
        )
        raise
    return Ran(
        matrix=replace(workshop.matrix, sets=_sets(courses), compare=None),
        cells=[course.results[place] for course in courses for place in sorted(course.results)],
        comparisons=_comparisons(courses),
        conclusion=list(_conclusion(courses, wanted, options)),
    )


def _is_worse(base: CellResult, other: CellResult) -> bool:
    return bool(_compared([base, other]).counts["regressed"])


def _compared(pair: Sequence[CellResult]) -> Comparison:
    return compare(pair, pair[0].dependency_set, pair[1].dependency_set)


def _run_all(workshop: Workshop, courses: Sequence[Course], options: Namespace) -> None:
    """Tells of each release as it was tried."""
    width = int(options.jobs or cores())
    by_name = {course.suspect.target.name: course for course in courses}
    widths = (
        max(map(len, by_name)),
        max(len(one.name) for course in courses for one in course.suspect.sets),
    )
    at_once = max(width, 2 * len(courses))
    with executor_for(workshop, options, at_a_time(options, at_once)) as executor:
        results = narrow(workshop, executor, courses, width=width, judged=judge(workshop, options))
        for number, result in enumerate(results, 1):
            verdict = by_name[result.target].verdict(result) or ""
            print(matrix_bisect.tried(summary(result), number, widths, verdict), flush=True)


def _sets(courses: Sequence[Course]) -> tuple[DependencySet, ...]:
    """Those that were tried, in the order of their releases."""
    found = {
        course.suspect.sets[place].name: course.suspect.sets[place]
        for course in courses
        for place in sorted(course.results)
    }
    return tuple(found.values())


def _pair(course: Course) -> tuple[CellResult, CellResult]:
    """What is compared in the end: the last good release and the first worse one, else the two
    ends."""
    search, newest = course.search, course.newest
    is_found = course.outcome in ("found", "stopped")
    good, worse = (search.good, search.worse) if is_found else (0, newest)
    return course.results[good], course.results[worse]


def _comparisons(courses: Sequence[Course]) -> list[Comparison]:
    """One for each two releases, of the targets that come to them."""
    pairs: dict[tuple[str, str], list[CellResult]] = {}
    for course in courses:
        base, head = _pair(course)
        pairs.setdefault((base.dependency_set, head.dependency_set), []).extend((base, head))
    return [compare(cells, base, head) for (base, head), cells in pairs.items()]


def _conclusion(courses: Sequence[Course], wanted: Range, options: Namespace) -> Iterator[str]:
    for course in courses:
        yield from matrix_bisect.conclusion(_narrowed(course, wanted, options))
        yield ""


def _narrowed(course: Course, wanted: Range, options: Namespace) -> Narrowed:
    suspect, search = course.suspect, course.search
    name, releases = suspect.target.name, suspect.releases
    found = Narrowed(
        target=name,
        package=wanted.name,
        releases=releases,
        tried=len(course.results),
        skipped=[releases[n] for n in sorted(search.skipped)],
        untold=_untold(course),
    )
    if course.outcome not in ("found", "stopped"):
        return found
    oldest, newest = course.results[0], course.results[course.newest]
    worse = course.results[search.worse]
    there = regressions(_compared([oldest, worse]))
    later = regressions(_compared([oldest, newest])) - there
    return replace(
        found,
        good=releases[search.good],
        worse=releases[search.worse],
        between=[releases[n] for n in search.between],
        regressed=there,
        later=later,
        go_on=_further(wanted, releases[search.worse], name, options)
        if later and worse.status == "ran"
        else "",
    )


def _further(wanted: Range, low: str, target: str, options: Namespace) -> str:
    rest = replace(wanted, low=low)
    return command(options, bisect=[str(rest)], only=[target])


def _untold(course: Course) -> str:
    """Why the first release that is worse is not known."""
    for result in course.results.values():
        if result.status == "not finished":
            return f"{result.dependency_set} was not finished; run the same command again"
    for place in (0, course.newest):
        result = course.results[place]
        if result.status == "cannot install":
            name = result.dependency_set
            return f"{name} cannot be installed; bisect between releases that can be"
    return ""
