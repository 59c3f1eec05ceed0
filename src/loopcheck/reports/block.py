"""One failing case as a block of text: what was expected and seen, where, why, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from loopcheck.harness.results import CaseResult, Finding
from loopcheck.reports.causes import Failure, primary
from loopcheck.reports.command import run_command
from loopcheck.reports.inert import inert, inert_lines

LEAD: Final = 5
MOST_LINES: Final = 16
_LEVEL_COLUMN: Final = 72
_WORDS: Final = {"harness error": "HARNESS ERROR", "target broken": "BROKEN"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a block says of the run around it; `advice` is what to do about a check. `rerun` is
    the command that runs the case again, made of target, seed and the request rules that were
    left out unless it is given. `files` has the files of scenarios that were named so, since
    their ids may say nothing to the command."""

    advice: Mapping[str, str] = field(default_factory=dict)
    target: str | None = None
    seed: int = 0
    lenient: Sequence[str] = ()
    rerun: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)


def block(failure: Failure, setting: Setting) -> str:
    """The block of a failing case, without a last newline."""
    case = failure.case
    return "\n".join([_title(case), f"  {inert(case.title)}", *body(failure, setting)])


def body(failure: Failure, setting: Setting) -> list[str]:
    """The block without its title: the finding, its evidence, and what to do."""
    case, finding = failure.case, primary(failure.case)
    lines: list[str] = []
    if finding is not None:
        lines += [*finding_lines(finding), *_mismatch(case, finding), *_also(case, finding)]
    if case.reason:
        lines += _field("reason", case.reason)
    return lines + _remedies(failure, finding, setting)


def _title(case: CaseResult) -> str:
    title = f"{_WORDS.get(case.verdict, 'FAIL')} {inert(case.case)}"
    return f"{title:<{_LEVEL_COLUMN}}must" if case.verdict == "fail" else title


def finding_lines(finding: Finding) -> list[str]:
    """The broken requirement, with what was expected and what was seen."""
    return [
        f"  {inert(finding.check)}: {inert(finding.sentence)}",
        *_hanging("    expected  ", finding.expected),
        *_hanging("    seen      ", finding.seen),
    ]


def _mismatch(case: CaseResult, finding: Finding) -> list[str]:
    shown = _window(case.lines, finding.entries)
    sent = _field("bytes", "\n".join(case.frames)) if case.frames else []
    return ["  first mismatch", *shown, *sent] if shown else sent


def _also(case: CaseResult, first: Finding) -> list[str]:
    others = [other for other in case.findings if other is not first]
    lines = []
    for other in others:
        where = f" (entry {other.entries[0]})" if other.entries else ""
        if set(other.entries[:1]) & set(first.entries):
            where = f" (same entry {other.entries[0]})"
        what = f"expected {other.expected}, seen {other.seen}"
        lines += _field("also", f"{other.check}, {other.level}{where}: {what}")
    return lines


def _remedies(failure: Failure, finding: Finding | None, setting: Setting) -> list[str]:
    case = failure.case
    fields = {
        "same in": ", ".join(failure.same_in),
        "likely cause": finding.why if finding is not None else None,
        "mend": setting.advice.get(finding.check) if finding is not None else None,
        "known as": ", ".join(case.grounds),
        "rerun": rerun(case, setting),
        "journal": case.journal,
    }
    return [line for name, text in fields.items() if text for line in _field(name, text)]


def rerun(case: CaseResult, setting: Setting) -> str | None:
    """The command that runs the case again."""
    if setting.rerun is not None or setting.target is None:
        return setting.rerun
    named = setting.files.get(case.scenario, case.case)
    return run_command([named], [setting.target], seed=setting.seed, lenient=setting.lenient)


def _field(name: str, text: str) -> list[str]:
    return _hanging(f"  {name:<12}  ", text)


def _hanging(lead: str, text: str) -> list[str]:
    first, *rest = inert_lines(text)
    return [lead + first, *(" " * len(lead) + line for line in rest)]


def _window(lines: Sequence[str], entries: Sequence[int]) -> list[str]:
    """The journal around the entries that prove a finding, those entries marked."""
    numbered = [(int(found[1]), line) for line in lines if (found := re.match(r"\s*(\d+)", line))]
    proof = set(entries)
    if not any(number in proof for number, _ in numbered):
        return []
    first = min(number for number, _ in numbered if number in proof)
    near = [
        (number, line)
        for number, line in numbered
        if number in proof or first - LEAD <= number <= min(first + LEAD, max(proof))
    ]
    shown: list[str] = []
    before = near[0][0]
    for number, line in near[:MOST_LINES]:
        if number > before + 1:
            shown.append("         …")
        before = number
        text = inert(line.strip().removeprefix(str(number)))
        shown.append(f"   {'>' if number in proof else ' '}{number:>4}{text}")
    return [*shown, "         …"] if len(near) > MOST_LINES else shown
