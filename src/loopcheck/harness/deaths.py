"""The deaths of a case: at which points its process can die, and what is run and expected then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from loopcheck.harness.cases import CaseSpec, Death
from loopcheck.harness.journal import Entry
from loopcheck.harness.points import PointTracker
from loopcheck.harness.scenario import point_names
from loopcheck.harness.scenario.control_model import Action, MeanwhileModel, ResumeModel
from loopcheck.harness.scenario.deaths import left_of

ALL: Final = "all"
_SUFFIX: Final = re.compile(r"(?P<case>.+)\+(?P<how>death|rivals)@(?P<point>[^@]+)", re.DOTALL)
# Before the first request nothing is at stake, behind the end nothing is left.
_NEVER: Final = ("run.started", "run.ended")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deaths:
    """Which deaths are run: at these points, or at all of them where none is named. With
    `rivals`, each once more with two processes that resume the run at once."""

    points: tuple[str, ...] = ()
    rivals: bool = False

    def at(self, points: Iterable[str], spec: CaseSpec) -> Iterator[Death]:
        """The deaths of this case at these points, where it has them."""
        for point in points:
            if point != ALL and complaint(point, spec) is not None:
                continue
            yield Death(point)
            if self.rivals:
                yield Death(point, rivals=True)


def moments(entries: Iterable[Entry]) -> list[str]:
    """The points of a journal at which its process can die, in their order.

    Points of one entry are one moment, which is named by the first of them. That a response is
    written (`book.asked`) is left out: to the loop it is the moment at which it asked.
    """
    tracker = PointTracker()
    found: list[str] = []
    for entry in entries:
        points = [point for point in tracker.feed(entry) if not point.startswith(_NEVER)]
        if points and entry["kind"] != "response":
            found.append(points[0])
    return found


def complaint(point: str, spec: CaseSpec) -> tuple[str, str] | None:
    """Why a process of this case cannot die there, as message and hint; else None."""
    if point.startswith(_NEVER):
        return f"{point!r} is no point at which a run can die", "it has not begun, or is over"
    return point_names.complaint(point, spec.scenario)


def with_death(spec: CaseSpec, death: Death) -> CaseSpec:
    """The case in which the process dies then, and somebody resumes the run."""
    resume: Action = ResumeModel(resume=2) if death.rivals else "resume"
    rule = MeanwhileModel(when=(death.point,), do=("kill", resume))
    scenario = spec.scenario.model_copy(
        update={
            "needs": tuple(dict.fromkeys((*spec.scenario.needs, "resume"))),
            "meanwhile": (*spec.scenario.meanwhile, rule),
            "expect": left_of(spec.scenario),
        }
    )
    return replace(spec, scenario=scenario, death=death)


def named(case_id: str) -> tuple[str, Death | None]:
    """A case's id, and the death that it is run with where the text names one."""
    match = _SUFFIX.fullmatch(case_id)
    if match is None:
        return case_id, None
    return match["case"], Death(match["point"], rivals=match["how"] == "rivals")


def struck(entries: Iterable[Entry], death: Death) -> bool:
    """Whether the process was killed at the point of this death."""
    return any(
        entry["kind"] == "action"
        and entry.get("do") == "kill"
        and entry.get("when") == [death.point]
        for entry in entries
    )
