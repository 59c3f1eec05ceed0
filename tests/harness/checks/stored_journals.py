"""Keeps a journal of each liar, and some of honest loops, to be judged by `test_stored_journals`.

    python tests/harness/checks/stored_journals.py [LOOP ...]

plays these loops anew, or all of them. A new liar asks for it, and so does a journal with new
fields; a changed check does not. Of each liar the smallest case is kept, and one more where other
things are said of it. The scenarios are kept beside the journals: the catalogue may change without
them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.cli.trial import driver
from loopcheck.harness.config import TargetSource
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import Driver, RunOptions, run_case
from loopcheck.harness.scenario.load import CATALOGUE, discover
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.selftest.liar import Liar
from loopcheck.harness.selftest.trial import HONEST, LIARS, cases, complaint
from loopcheck.harness.stage import Stage
from loopcheck.harness.target import Target

FOLDER: Final = Path(__file__).parent / "stored"
BESIDE: Final = FOLDER / "cases.json"
BROKEN_LOOPS: Final = Path(__file__).parents[2] / "liars"
# Two processes that go on with one run take that long to meet.
QUIET_SECONDS: Final = 0.2
# What else is said of them in other cases.
MORE: Final[tuple[str, ...]] = ()
# Where an honest loop meets what is no must, or what leaves a check with nothing to judge.
OF_HONEST: Final = (
    "assembly/frag-id-in-function[chat-stream]",
    "assembly/idx-drifting-index[chat-stream]",
    "basics/lookup-then-reserve[messages-whole]",
    "control/cancel-before-the-first-request[chat-whole]",
    "hosted/custom-tool-call-type[chat-stream]",
    "limits/forced-choice-terminates@as-long-as-it-is-asked-for[responses-whole]",
    "truncation/finish-unknown-with-calls[messages-whole]",
    "truncation/unknown-finish-value[chat-whole]",
)


@dataclass(frozen=True, slots=True)
class Played:
    """A case that a loop was run on, with its journal as a file has it."""

    spec: CaseSpec
    target: Target
    result: CaseResult
    journal: bytes

    @property
    def name(self) -> str:
        return f"{self.target.name}.{self.spec.id.replace('/', '.')}"


def renew(loops: Sequence[str] = ()) -> None:
    """Plays the cases of these loops, or of all, and keeps their journals in place of those that
    were kept."""
    with tempfile.TemporaryDirectory() as folder, Stage(quiet_seconds=QUIET_SECONDS) as stage:
        kept = list(_played(loops, stage, Path(folder)))
    for file in FOLDER.glob("*.jsonl"):
        if not loops or file.name.partition(".")[0] in loops:
            file.unlink()
    FOLDER.mkdir(exist_ok=True)
    for one in kept:
        (FOLDER / f"{one.name}.jsonl").write_bytes(one.journal)
    beside = json.loads(BESIDE.read_text(encoding="utf-8")) if loops else {}
    can = {one.target.name: sorted(one.target.can) for one in kept}
    scenarios = {one.spec.scenario.id: _dumped(one.spec.scenario) for one in kept}
    beside = {
        "can": {**beside.get("can", {}), **can},
        "scenarios": {**beside.get("scenarios", {}), **scenarios},
    }
    text = json.dumps(beside, ensure_ascii=False, indent=1, sort_keys=True)
    BESIDE.write_text(f"{text}\n", encoding="utf-8")


def _played(loops: Sequence[str], stage: Stage, folder: Path) -> Iterator[Played]:
    yield from _of_liars(loops, stage, folder)
    if not loops or HONEST.name in loops:
        yield from _of_honest(stage, folder)


def _of_liars(loops: Sequence[str], stage: Stage, folder: Path) -> Iterator[Played]:
    sys.path.insert(0, str(BROKEN_LOOPS))
    over_sdks: tuple[Liar, ...] = import_module("liars").LIARS
    dying = import_module("dying")
    specs = cases((*LIARS, *over_sdks)) | {spec.id: spec for spec in expand(dying.scenarios())}
    every: tuple[Liar, ...] = (*LIARS, *over_sdks, *dying.LIARS)
    for liar in (one for one in every if not loops or one.name in loops):
        played = [_play(liar.target, specs[case], stage, folder) for case in liar.cases]
        for one in played:
            mistake = complaint(liar, one.result)
            if mistake is not None:
                raise SystemExit(mistake)
        smallest = min(played, key=lambda one: len(one.journal))
        yield from (one for one in played if one is smallest or one.name in MORE)


def _of_honest(stage: Stage, folder: Path) -> Iterator[Played]:
    files = dict.fromkeys(case.partition("@")[0].partition("[")[0] for case in OF_HONEST)
    specs = {spec.id: spec for spec in expand(discover(list(files), cwd=CATALOGUE))}
    for case in OF_HONEST:
        yield _play(HONEST, specs[case], stage, folder)


def _play(target: Target, spec: CaseSpec, stage: Stage, folder: Path) -> Played:
    with _driven(target, spec) as driven:
        options = RunOptions(journal_folder=folder)
        result = run_case(driven, driven.card(), spec, stage, options)
    assert result.journal is not None, result.reason
    return Played(spec, target, result, Path(result.journal).read_bytes())


def _driven(target: Target, spec: CaseSpec) -> AbstractContextManager[Driver]:
    """Cases in which a process dies are run in a worker."""
    if not spec.scenario.kills:
        return InProcess(target)
    attribute = f"durable:{target.name.lower()}"
    return driver(TargetSource(name=target.name, python=attribute, cwd=BROKEN_LOOPS))


def _dumped(scenario: Scenario) -> object:
    dumped = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    assert Scenario.model_validate(dumped) == scenario
    return dumped


if __name__ == "__main__":
    renew(sys.argv[1:])
