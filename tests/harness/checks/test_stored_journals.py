"""Every word that is said of a liar, and of honest loops where there is little to say.

A file of `stored` is the journal of one case, which `stored_journals.py` played. After a change of
words: pytest tests/harness/checks/test_stored_journals.py --snapshot-update, and read the
difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from loopcheck.harness.cases import expand
from loopcheck.harness.journal import load
from loopcheck.harness.judge import judge
from loopcheck.harness.results import CaseResult
from loopcheck.harness.scenario.model import Scenario

FOLDER: Final = Path(__file__).parent / "stored"
NAMES: Final = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


class OneFile(SingleFileSnapshotExtension):
    """A snapshot in a text file of its own."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def verdicts(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(OneFile)


@pytest.mark.parametrize("name", NAMES)
def test_verdict(name: str, verdicts: SnapshotAssertion) -> None:
    assert "\n".join(said(judged(name))) + "\n" == verdicts


def test_there_is_a_snapshot_of_every_journal_and_no_other() -> None:
    folder = Path(__file__).parent / "__snapshots__" / "test_stored_journals"

    assert {path.name for path in folder.iterdir()} == {f"test_verdict[{n}].txt" for n in NAMES}
    assert len(NAMES) >= 70
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1.5 * 1024 * 1024


@cache
def beside() -> tuple[dict[str, Scenario], dict[str, list[str]]]:
    """The scenarios by their ids, and what each loop can."""
    kept = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
    scenarios = {name: Scenario.model_validate(one) for name, one in kept["scenarios"].items()}
    return scenarios, kept["can"]


def judged(name: str) -> CaseResult:
    entries = load(FOLDER / f"{name}.jsonl")
    first = entries[0]
    scenarios, can = beside()
    way = first["dialect"], first["mode"]
    (spec,) = (
        one for one in expand([scenarios[str(first["scenario"])]]) if (one.dialect, one.mode) == way
    )
    return judge(entries, spec, frozenset(can[str(first["target"])]))


def said(result: CaseResult) -> Iterator[str]:
    """All that a result says, as people read it."""
    yield f"{result.case}: {result.verdict}{after(': ', result.reason)}"
    yield f"{result.title}. {result.rule}"
    yield f"{result.outcome}; {result.summary}"
    yield ""
    for check in result.checks:
        yield f"{check.check:26}{check.status}{after(': ', check.reason)}"
    for found in result.findings:
        yield ""
        yield f"{found.check} ({found.level}): {found.sentence}"
        yield f"  expected {found.expected}"
        yield f"  seen {found.seen}"
        yield f"  entries {', '.join(map(str, found.entries))}{after('; why: ', found.why)}"
    yield ""
    yield from result.lines


def after(sign: str, text: str | None) -> str:
    return "" if text is None else f"{sign}{text}"
