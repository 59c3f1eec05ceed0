"""Runs that were stored by earlier versions can still be resumed."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from crashing import ASKING, DONE, RUN, Fuse, Life, Played, Script, World, turn

from loopcheck.reference_loop import Approval, Clock, LoopOutcome, ReferenceLoop, SqliteStore

STORED = Path(__file__).with_name("stored_runs")
DIGEST = "d71980f530440eaadee10115b16b4ee1506e2fa548a734258673ace3731b9d74"
# The process died while it paid: after a look and a booking, in the first round of this.
SCRIPT = Script((turn("look 1", "book 1", "pay 2"), turn("book 3"), DONE))


def copied(folder: Path) -> Path:
    shutil.copy(STORED / "version_1.sqlite3", folder / "runs.sqlite3")
    shutil.copy(STORED / "version_1.ledger", folder / "ledger")
    return folder


def test_a_run_of_version_1_that_died_in_the_midst_of_a_write(tmp_path: Path) -> None:
    life = Life(SCRIPT, copied(tmp_path), lives=10)
    outcome = asyncio.run(life.live(Fuse()))
    assert outcome == LoopOutcome("completed", "final_answer", "Done.")
    assert outcome.run_id == RUN
    assert life.effects() == [("book", 1), ("pay", 2), ("book", 3)]
    assert [call.outcome for call in outcome.calls] == ["done"] * 4


def test_a_run_of_version_1_that_waits_for_an_approval(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    world = World(folder / "ledger", Fuse())
    store = SqliteStore(folder / "runs.sqlite3")
    loop = ReferenceLoop(
        Played((turn("book 1 x"), DONE)),
        world.tools(),
        policy=ASKING,
        store=store,
        clock=Clock(wall=lambda: 2000.0),
    )

    async def work() -> LoopOutcome:
        paused = await loop.resume("run-2")
        [question] = paused.questions
        assert (question.tool, question.arguments) == ("book", {"n": 1})
        assert question.asked_at == 1000.0
        approval = Approval(digest=question.digest, approved=True)
        return await loop.resume("run-2", decisions=[approval])

    assert asyncio.run(work()).state == "completed"
    store.close()


def test_a_file_of_version_1_is_brought_up_with_everything_in_it(tmp_path: Path) -> None:
    path = copied(tmp_path) / "runs.sqlite3"
    with closing(sqlite3.connect(path)) as db:
        before = db.execute("SELECT run_id, conversation FROM runs ORDER BY run_id").fetchall()
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    for _ in range(2):
        SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as db:
        after = db.execute("SELECT * FROM conversations ORDER BY run_id").fetchall()
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
        columns = [row[1] for row in db.execute("PRAGMA table_info(runs)")]
    assert after == before
    assert len(after) == 2
    assert columns == ["run_id", "checkpoint", "state", "owner", "expires"]


def test_the_digest_of_a_question_is_the_same_in_every_version(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    store = SqliteStore(folder / "runs.sqlite3")
    loop = ReferenceLoop(
        Played((turn("book 1 x"), DONE)),
        World(folder / "ledger", Fuse()).tools(),
        policy=ASKING,
        store=store,
    )
    [question] = asyncio.run(loop.resume("run-2")).questions
    assert question.digest == DIGEST
    store.close()
