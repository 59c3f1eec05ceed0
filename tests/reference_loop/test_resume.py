"""Death at every boundary: whatever was done stays done, and nothing is done twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from crashing import SCRIPTS, Fuse, Life, SimulatedDeath

from loopcheck.reference_loop import LoopOutcome

IS_LONG = bool(os.environ.get("LOOPCHECK_LONG"))


@dataclass(frozen=True)
class Undisturbed:
    outcome: LoopOutcome
    effects: list[tuple[str, int]]
    boundaries: int


def live(life: Life, fuse: Fuse) -> LoopOutcome | None:
    """One process; None if it died."""
    try:
        return asyncio.run(life.live(fuse))
    except SimulatedDeath:
        return None


def undisturbed(name: str, folder: Path) -> Undisturbed:
    folder.mkdir()
    life, fuse = Life(SCRIPTS[name], folder), Fuse()
    outcome = live(life, fuse)
    assert outcome is not None
    return Undisturbed(outcome, life.effects(), fuse.passed)


def check(life: Life, outcome: LoopOutcome | None, expected: Undisturbed) -> None:
    """The end is that of the undisturbed run, the effects are its effects, once each."""
    assert outcome is not None
    assert outcome == expected.outcome
    assert outcome.conversation == expected.outcome.conversation
    assert sorted(life.effects()) == sorted(expected.effects)
    ended = [(record.place, record.outcome, record.text, record.parts) for record in outcome.calls]
    assert ended == [
        (record.place, record.outcome, record.text, record.parts)
        for record in expected.outcome.calls
    ]


@pytest.mark.parametrize("name", SCRIPTS)
def test_death_at_every_boundary(name: str, tmp_path: Path) -> None:
    expected = undisturbed(name, tmp_path / "undisturbed")
    assert len(set(expected.effects)) == len(expected.effects)
    for at in range(1, expected.boundaries + 1):
        folder = tmp_path / str(at)
        folder.mkdir()
        life = Life(SCRIPTS[name], folder)
        assert live(life, Fuse(at)) is None
        check(life, live(life, Fuse()), expected)


def test_enough_boundaries_are_tried(tmp_path: Path) -> None:
    expected = [undisturbed(name, tmp_path / str(number)) for number, name in enumerate(SCRIPTS)]
    assert sum(run.boundaries for run in expected) >= 300


@pytest.mark.parametrize("name", SCRIPTS if IS_LONG else ["one booking"])
def test_death_at_every_pair_of_boundaries(name: str, tmp_path: Path) -> None:
    expected = undisturbed(name, tmp_path / "undisturbed")
    for first in range(1, expected.boundaries + 1, 1 if IS_LONG else 4):
        second = 0
        outcome = None
        while outcome is None:
            second += 1
            folder = tmp_path / f"{first}-{second}"
            folder.mkdir()
            life = Life(SCRIPTS[name], folder)
            assert live(life, Fuse(first)) is None
            outcome = live(life, Fuse(second))
            check(life, outcome or live(life, Fuse()), expected)


def in_processes(*words: str | Path) -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("crash_process.py")), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are forked")
@pytest.mark.parametrize("name", ["reads around writes", "approved after a pause"])
def test_a_killed_process_at_every_boundary(name: str, tmp_path: Path) -> None:
    expected = undisturbed(name, tmp_path / "undisturbed")
    folder = tmp_path / "killed"
    folder.mkdir()
    ends = in_processes("kill", name, folder, str(expected.boundaries))
    assert len(ends) == expected.boundaries
    for end in ends:
        assert end["signal"] == signal.SIGKILL
        assert end["state"] == expected.outcome.state
        assert end["conversation"] == json.loads(json.dumps(expected.outcome.conversation))
        effects = [tuple(effect) for effect in cast("list[list[object]]", end["effects"])]
        assert sorted(effects) == sorted(expected.effects)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are forked")
def test_of_two_processes_that_resume_at_once_one_wins(tmp_path: Path) -> None:
    [end] = in_processes("race", "one booking", tmp_path)
    assert end == {"loser": "RunTakenError", "winner": "completed", "effects": [["book", 1]]}
