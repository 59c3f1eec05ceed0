"""Runs scripts in processes of their own, which are really killed. Prints JSON lines.

The processes are forked from one that has imported everything, so that each costs little.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from crashing import SCRIPTS, Fuse, Life

from loopcheck.reference_loop import RunTakenError


def forked(work: Callable[[], object], report: Path) -> int:
    """Does the work in another process, which writes what it gives; the process's status."""
    pid = os.fork()
    if pid == 0:
        report.write_text(json.dumps(work()))
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def lived(life: Life, fuse: Fuse) -> dict[str, object]:
    outcome = asyncio.run(life.live(fuse))
    return {"state": outcome.state, "conversation": outcome.conversation}


def kill_at_every_boundary(name: str, folder: Path, boundaries: int) -> None:
    for at in range(1, boundaries + 1):
        place = folder / str(at)
        place.mkdir()
        first = Life(SCRIPTS[name], place)
        fuse = Fuse(at, end=lambda: os.kill(os.getpid(), signal.SIGKILL))
        status = forked(lambda life=first, fuse=fuse: lived(life, fuse), place / "first")  # type: ignore[misc]
        second = Life(SCRIPTS[name], place, lives=1)
        assert forked(lambda life=second: lived(life, Fuse()), place / "second") == 0  # type: ignore[misc]
        end = json.loads((place / "second").read_text())
        print(json.dumps({**end, "signal": os.WTERMSIG(status), "effects": second.effects()}))


@dataclass
class Meeting(Fuse):
    """At the effect, lets another process have a go."""

    other: Callable[[], object] = field(default=lambda: None)

    def boundary(self) -> None:
        super().boundary()
        if self.passed == self.at:
            self.other()


def race(name: str, folder: Path) -> None:
    """While one process is about to run the effect, another resumes the same run."""

    def losing() -> object:
        try:
            return lived(Life(SCRIPTS[name], folder), Fuse())
        except RunTakenError as error:
            return type(error).__name__

    def meet() -> None:
        assert forked(losing, folder / "loser") == 0

    # Three commits with a boundary on either side; the seventh is before the effect.
    meeting = Meeting(7, end=lambda: None, other=meet)
    life = Life(SCRIPTS[name], folder)
    status = forked(lambda: lived(life, meeting), folder / "winner")
    assert status == 0
    winner = json.loads((folder / "winner").read_text())
    loser = json.loads((folder / "loser").read_text())
    print(json.dumps({"loser": loser, "winner": winner["state"], "effects": life.effects()}))


if __name__ == "__main__":
    what, name, folder, *more = sys.argv[1:]
    if what == "kill":
        kill_at_every_boundary(name, Path(folder), int(more[0]))
    else:
        race(name, Path(folder))
