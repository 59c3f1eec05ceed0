from __future__ import annotations

import os
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from worker_targets import PATIENCE, document

from loopcheck.harness.results import TargetCard
from loopcheck.harness.task import Outcome
from loopcheck.harness.worker.client import (
    MAX_NOISE,
    Noise,
    Worker,
    WorkerFailure,
    WorkerSkipped,
)


def script(folder: Path, text: str) -> Worker:
    """A worker of a few lines, which has no idea of loopcheck."""
    (folder / "worker.py").write_text(
        "import json, sys, time\nsay = lambda value: print(value, flush=True)\n" + dedent(text),
        encoding="utf-8",
    )
    return Worker([sys.executable, "-S", "worker.py"], name="script", cwd=folder)


CARD = """say('{"card":{"name":"n","dialects":["chat"],"tools":"http"},"protocol":1,"new":1}')\n"""


class TestForeignWorkers:
    def test_a_card_may_hold_more_than_we_know(self, tmp_path: Path) -> None:
        with script(tmp_path, "input()\n" + CARD) as worker:
            card = worker.start(PATIENCE)
        expected = TargetCard(name="n", language="", dialects=("chat",), modes=("whole", "stream"))
        assert card == expected

    def test_noise_is_noted_and_ignored(self, tmp_path: Path) -> None:
        text = f"""
        say("starting")
        {CARD}
        say("[1]")
        input(); input()
        say('{{"seq":"k9","outcome":{{"state":"completed"}}}}')
        say("x" * 300)
        say('{{"seq":"k1","outcome":{{"state":"paused","reason":"r","run":"r-17"}}}}')
        """
        with script(tmp_path, text) as worker:
            worker.start(PATIENCE)
            outcome = worker.run(document("x"), timeout=PATIENCE)
        assert outcome == Outcome(state="paused", reason="r", run="r-17")
        assert sorted(worker.noise, key=lambda noise: noise.line) == [
            Noise(1, "starting"),
            Noise(3, "[1]"),
            Noise(4, "an answer to k9, which was not asked"),
            Noise(5, "x" * 200),
        ]

    def test_it_may_skip_a_run(self, tmp_path: Path) -> None:
        text = CARD + """input(); input(); say('{"seq":"k1","skipped":"no chat here"}')"""
        with script(tmp_path, text) as worker:
            worker.start(PATIENCE)
            with pytest.raises(WorkerSkipped, match="no chat here"):
                worker.run(document("x"), timeout=PATIENCE)

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (
                '{"seq":"k1","outcome":{"state":"done"}}',
                "line 2 of its stdout: outcome.state: Input should be 'completed', 'refused', "
                "'limit', 'failed', 'paused' or 'cancelled'",
            ),
            (
                '{"seq":"k1"}',
                "line 2 of its stdout: an answer has one of card, outcome, skipped, errored",
            ),
            ('{"card":{"name":"n","dialects":[]},"protocol":1}', "it answered a run with a card"),
        ],
    )
    def test_an_answer_that_makes_no_sense(self, tmp_path: Path, answer: str, message: str) -> None:
        with script(tmp_path, f"{CARD}input(); input(); say({answer!r})") as worker:
            worker.start(PATIENCE)
            with pytest.raises(WorkerFailure) as raised:
                worker.run(document("x"), timeout=PATIENCE)
        assert (raised.value.kind, raised.value.message) == ("protocol", message)

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (
                '{"card":{"name":"n","dialects":["chat"]},"protocol":2}',
                "it speaks protocol 2, this loopcheck 1",
            ),
            (
                '{"card":{"name":"n"},"protocol":1}',
                "line 1 of its stdout: card.dialects: Field required",
            ),
            ('{"seq":"k1","skipped":"why"}', "it answered hello without a card"),
        ],
    )
    def test_a_card_that_makes_no_sense(self, tmp_path: Path, answer: str, message: str) -> None:
        worker = script(tmp_path, f"say({answer!r}); input()")
        with pytest.raises(WorkerFailure) as raised:
            worker.start(PATIENCE)
        assert (raised.value.kind, raised.value.message) == ("protocol", message)
        assert not worker.is_running

    def test_a_line_without_end(self, tmp_path: Path) -> None:
        worker = script(tmp_path, "say('x' * (17 * 1024 * 1024)); input()")
        with pytest.raises(WorkerFailure, match="line 1 of its stdout: it is longer than 16777216"):
            worker.start(PATIENCE)

    def test_a_worker_that_says_nothing(self, tmp_path: Path) -> None:
        worker = script(tmp_path, "time.sleep(60)")
        with pytest.raises(WorkerFailure) as raised:
            worker.start(0.2)
        assert raised.value.kind == "hung"
        assert raised.value.message == "it did not answer hello within 0.2 s and was killed"

    def test_a_worker_that_reads_nothing(self, tmp_path: Path) -> None:
        """A task that is larger than a pipe cannot even be written."""
        with script(tmp_path, CARD + "time.sleep(60)") as worker:
            worker.start(PATIENCE)
            with pytest.raises(WorkerFailure, match="it did not end within"):
                worker.run(document("x" * 200_000), timeout=0.2)

    def test_a_worker_whose_child_holds_its_stdout(self, tmp_path: Path) -> None:
        text = CARD + "import subprocess\nsubprocess.Popen(['sleep', '60'])\nsys.exit(4)"
        with script(tmp_path, text) as worker:
            worker.start(PATIENCE)
            with pytest.raises(WorkerFailure, match="it ended with exit code 4"):
                worker.run(document("x"), timeout=PATIENCE)

    def test_a_worker_that_closes_its_stdout(self, tmp_path: Path) -> None:
        text = CARD + "import os\nos.close(1)\ntime.sleep(60)"
        with script(tmp_path, text) as worker:
            worker.start(PATIENCE)
            with pytest.raises(WorkerFailure, match="it closed its stdout without an answer"):
                worker.run(document("x"), timeout=PATIENCE)

    def test_the_end_of_stderr_is_kept(self, tmp_path: Path) -> None:
        text = "sys.stderr.write('x' * 100_000 + 'end'); sys.exit(1)"
        with pytest.raises(WorkerFailure) as raised:
            script(tmp_path, text).start(PATIENCE)
        assert raised.value.stderr == "x" * (64 * 1024 - 3) + "end"

    def test_a_worker_that_ignores_bye_is_killed(self, tmp_path: Path) -> None:
        text = CARD + "import os; say(os.getpid()); time.sleep(60)"
        worker = script(tmp_path, text)
        worker.start(PATIENCE)
        while not worker.noise:
            os.sched_yield()
        worker.close(grace=0.1)
        with pytest.raises(ProcessLookupError):
            os.kill(int(worker.noise[0].text), 0)

    def test_noise_is_bounded(self, tmp_path: Path) -> None:
        text = f"for n in range({MAX_NOISE + 50}): say(n)\n" + CARD + "input()"
        with script(tmp_path, text) as worker:
            worker.start(PATIENCE)
        assert len(worker.noise) == MAX_NOISE
