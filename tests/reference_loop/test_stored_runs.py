"""Runs that were stored by earlier versions can still be resumed."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal, cast

import pytest
from crashing import ASKING, DONE, RUN, Fuse, Life, Played, Script, World, turn
from sdk_replies import JsonObject, Service, history

from loopcheck.reference_loop import Approval, Clock, LoopOutcome, ReferenceLoop, SqliteStore
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter

STORED = Path(__file__).with_name("stored_runs")
DIGEST = "d71980f530440eaadee10115b16b4ee1506e2fa548a734258673ace3731b9d74"
# The process died while it paid: after a look and a booking, in the first round of this.
SCRIPT = Script((turn("look 1", "book 1", "pay 2"), turn("book 3"), DONE))


each_version = pytest.mark.parametrize("version", [1, 2])


def copied(folder: Path, version: int = 1) -> Path:
    shutil.copy(STORED / f"version_{version}.sqlite3", folder / "runs.sqlite3")
    shutil.copy(STORED / f"version_{version}.ledger", folder / "ledger")
    return folder


@each_version
def test_a_run_that_died_in_the_midst_of_a_write(version: int, tmp_path: Path) -> None:
    life = Life(SCRIPT, copied(tmp_path, version), lives=10)
    outcome = asyncio.run(life.live(Fuse()))
    assert outcome == LoopOutcome("completed", "final_answer", "Done.")
    assert outcome.run_id == RUN
    assert life.effects() == [("book", 1), ("pay", 2), ("book", 3)]
    assert [call.outcome for call in outcome.calls] == ["done"] * 4


@each_version
def test_a_run_that_waits_for_an_approval(version: int, tmp_path: Path) -> None:
    folder = copied(tmp_path, version)
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


SAID: JsonObject = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Booked.", "annotations": []}],
}


@pytest.mark.parametrize("state", ["client", "server"])
def test_a_conversation_of_responses_before_services_kept_any(
    state: Literal["client", "server"], tmp_path: Path
) -> None:
    folder = copied(tmp_path, 2)
    service = Service([{"id": "resp_3", "status": "completed", "output": [SAID]}])
    with closing(SqliteStore(folder / "runs.sqlite3")) as store:
        adapter = ResponsesAdapter(client=service.openai(), model="m", stream=False, state=state)
        tools = World(folder / "ledger", Fuse()).tools()
        loop = ReferenceLoop(
            adapter, tools, policy=ASKING, store=store, clock=Clock(wall=lambda: 2000.0)
        )

        async def work() -> LoopOutcome:
            [question] = (await loop.resume("run-3")).questions
            return await loop.resume(
                "run-3", decisions=[Approval(digest=question.digest, approved=True)]
            )

        outcome = asyncio.run(work())
    assert outcome == LoopOutcome("completed", "final_answer", "Booked.")
    assert [call.text for call in outcome.calls] == ["saw 1", "done"]
    [request] = service.requests
    assert "previous_response_id" not in request
    kinds = [cast("JsonObject", item).get("type", "user") for item in history(request, "input")]
    assert kinds == [
        "user",
        "reasoning",
        "function_call",
        "function_call_output",
        "function_call",
        "function_call_output",
    ]


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


@each_version
def test_the_digest_of_a_question_is_the_same_in_every_version(
    version: int, tmp_path: Path
) -> None:
    folder = copied(tmp_path, version)
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
