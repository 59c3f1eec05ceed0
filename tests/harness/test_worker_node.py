"""The Node package, driven by the real client and line by line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from node_workers import PACKAGE, Lines, node, talking_to, write_target
from processes import is_gone, wait_until
from worker_targets import PATIENCE, document

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply
from loopcheck.harness.results import TargetCard
from loopcheck.harness.task import Decision, Outcome, Pending, Resume, paused
from loopcheck.harness.worker import client
from loopcheck.harness.worker.client import (
    Noise,
    Resumption,
    Worker,
    WorkerFailure,
    WorkerSkipped,
)
from loopcheck.harness.worker.schema import protocol_schema


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    path = write_target(tmp_path_factory.mktemp("node"))
    with Worker([node(), path.name], name="plain", cwd=path.parent) as worker:
        yield worker


@pytest.fixture
def worker(kept: Worker) -> Worker:
    """A running worker; another test may have used it before."""
    if not kept.is_running:
        kept.start(PATIENCE)
    kept.noise.clear()
    return kept


def test_the_packages_own_tests_pass() -> None:
    done = subprocess.run([node(), "--test"], cwd=PACKAGE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^. pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) > 40


class TestClient:
    def test_the_card_answers_hello(self, kept: Worker) -> None:
        card = kept.start(PATIENCE)
        assert card == TargetCard(
            name="plain",
            version="7",
            language="javascript",
            runtime=card.runtime,
            dialects=("chat",),
            modes=("stream",),
            can=("parallel",),
            limit_unit="requests",
        )
        assert re.fullmatch(r"node \d+\.\d+\.\d+", card.runtime)
        assert Noise(1, "before it is served") in kept.noise

    @pytest.mark.parametrize(
        ("prompt", "outcome"),
        [
            (
                "echo",
                Outcome(
                    state="completed",
                    reason="final_answer",
                    text="once/lost[chat-stream] chat true 8",
                ),
            ),
            ("refuse", Outcome(state="refused", reason="refused", text="No.")),
            (
                "raise",
                Outcome(
                    state="failed", reason="RangeError", text="too far", exception="RangeError"
                ),
            ),
            ("limit", Outcome(state="limit", reason="Limit", text="8 rounds", exception="Limit")),
            ("half", Outcome(state="completed", reason="final_answer", text="\ufffd")),
            (
                "a\u2028b\u2029c\u0085d\r",
                Outcome(state="completed", reason="final_answer", text="a\u2028b\u2029c\u0085d\r"),
            ),
        ],
    )
    def test_how_a_run_ends(
        self, worker: Worker, tmp_path: Path, prompt: str, outcome: Outcome
    ) -> None:
        assert worker.run(document(prompt, tmp_path), timeout=PATIENCE) == outcome
        assert worker.noise == []

    def test_it_may_skip_a_run(self, worker: Worker) -> None:
        with pytest.raises(WorkerSkipped, match=r"^no chat here$"):
            worker.run(document("skip"), timeout=PATIENCE)

    @pytest.mark.parametrize(
        ("prompt", "message"),
        [
            ("misuse", "TargetError: no model was given"),
            (
                "number",
                "TargetError: the target returned number; return a text, or {state, reason, text}",
            ),
        ],
    )
    def test_a_broken_target_is_errored_and_goes_on(
        self, worker: Worker, prompt: str, message: str
    ) -> None:
        with pytest.raises(WorkerFailure) as raised:
            worker.run(document(prompt), timeout=PATIENCE)
        assert (raised.value.kind, raised.value.message) == ("errored", message)
        assert worker.run(document("hello"), timeout=PATIENCE).text == "hello"

    def test_what_a_target_prints_goes_to_stderr(self, worker: Worker) -> None:
        worker.start(PATIENCE)
        worker.noise.clear()
        assert worker.run(document("print"), timeout=PATIENCE).text == "printed"
        assert worker.noise == []
        with pytest.raises(WorkerFailure) as raised:
            worker.run(document("exit"), timeout=PATIENCE)
        assert raised.value.message == "it ended with exit code 3; its last words: goodbye"
        assert raised.value.stderr.splitlines() == ["to stdout", "written", "goodbye"]

    def test_what_goes_round_that_is_set_aside(self, worker: Worker) -> None:
        assert worker.run(document("print raw"), timeout=PATIENCE).text == "printed"
        assert [noise.text for noise in worker.noise] == ["to fd 1", "from a child"]

    def test_an_error_that_nobody_waits_for_ends_it_with_its_reason(self, worker: Worker) -> None:
        with pytest.raises(WorkerFailure) as raised:
            worker.run(document("leave"), timeout=PATIENCE)
        assert raised.value.kind == "crashed"
        assert "nobody waits for this" in raised.value.stderr

    def test_another_version_is_named_beside_ours(
        self, kept: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(client, "PROTOCOL", 2)
        with pytest.raises(WorkerFailure) as raised:
            kept.start(PATIENCE)
        assert raised.value.kind == "protocol"
        assert raised.value.message == "it speaks protocol 1, this loopcheck 2"

    def test_a_tool_is_called_with_its_ids(self, worker: Worker) -> None:
        seen: list[HttpRequest] = []

        def answer(request: HttpRequest) -> Reply:
            seen.append(request)
            return Reply(status=200, headers=(), segments=(b'{"result":"seat 12"}',))

        with Server() as server:
            invoke = f"{server.mount('k', answer)}/tools/book"
            tools = [{"name": "book", "parameters": {"type": "object"}, "invoke": invoke}]
            outcome = worker.run(document("tools", tools=tools), timeout=PATIENCE)
        assert outcome.text == "seat 12"
        [request] = seen
        assert (request.method, json.loads(request.body)) == ("POST", {"seat": 12})
        assert request.headers["x-call-id"] == "c1"
        assert request.headers["idempotency-key"] == "o1"

    def test_a_run_that_goes_on_is_cancelled(self, worker: Worker, tmp_path: Path) -> None:
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(worker.run, document("wait", tmp_path), timeout=PATIENCE)
            wait_until((tmp_path / "waiting").exists)
            worker.cancel()
            assert run.result() == Outcome(state="cancelled", reason="cancelled_by_user")
        assert worker.run(document("hello"), timeout=PATIENCE).text == "hello"

    def test_a_paused_run_goes_on(self, worker: Worker) -> None:
        pending = Pending(call_id="c1", tool="book", arguments={"seat": 1})
        outcome = worker.run(document("pause"), timeout=PATIENCE)
        assert outcome == paused("asks", pending=[pending], run="r-17")
        decision = Decision(call_id="c1", tool="book", arguments={"seat": 2}, decide="approve")
        how = Resumption(resume=Resume(run=outcome.run, decisions=(decision,)), of=worker.latest)
        outcome = worker.resume(document("resume"), how, timeout=PATIENCE)
        assert json.loads(outcome.text) == {
            "run": "r-17",
            "decisions": [
                {
                    "callId": "c1",
                    "tool": "book",
                    "arguments": {"seat": 2},
                    "decide": "approve",
                    "reason": "",
                }
            ],
        }

    def test_what_it_started_ends_with_a_run_that_hangs(
        self, worker: Worker, tmp_path: Path
    ) -> None:
        with pytest.raises(WorkerFailure, match=r"^it did not end within 0\.8 s and was killed$"):
            worker.run(document("child", tmp_path), timeout=0.8)
        child = int((tmp_path / "child").read_text(encoding="utf-8"))
        wait_until(lambda: is_gone(child))


def run(prompt: str, seq: str = "k1", folder: Path = Path()) -> JsonObject:
    return {"cmd": "run", "seq": seq, "task": document(prompt, folder)}


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[Lines]:
    with talking_to(tmp_path) as lines:
        yield lines


class TestLines:
    def test_its_answers_match_the_schema(self, lines: Lines) -> None:
        schema = {**protocol_schema(), "anyOf": [{"$ref": "#/$defs/answer"}]}
        validator = Draft202012Validator(schema)
        lines.say({"cmd": "hello", "protocol": 1, "loopcheck": "1.0.0"})
        validator.validate(lines.hear())
        for prompt in ("hello", "refuse", "skip", "raise", "misuse", "pause"):
            lines.say(run(prompt))
            answer = lines.hear()
            validator.validate(answer)
            assert answer["seq"] == "k1"
        lines.say("run")
        validator.validate(lines.hear())

    def test_a_run_that_goes_on_is_cancelled_and_answers_itself(self, lines: Lines) -> None:
        lines.say(run("wait"), {"cmd": "cancel", "seq": "k0"}, run("hello", "k2"))
        assert lines.hear() == {
            "seq": "k2",
            "errored": {"type": "ProtocolError", "message": "run k1 goes on; one at a time"},
        }
        lines.say({"cmd": "cancel", "seq": "k1"})
        outcome = {"state": "cancelled", "reason": "cancelled_by_user", "text": ""}
        assert lines.hear() == {"seq": "k1", "outcome": outcome}
        lines.say({"cmd": "cancel", "seq": "k1"}, run("hello", "k3"))
        assert lines.hear()["seq"] == "k3"

    @pytest.mark.parametrize("prompt", ["wait", "hello"])
    def test_bye_ends_it(self, lines: Lines, prompt: str) -> None:
        lines.say(run(prompt), {"cmd": "bye"})
        assert lines.process.wait(PATIENCE) == 0

    @pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
    def test_it_ends_with_its_harness_and_takes_its_children_along(
        self, lines: Lines, tmp_path: Path
    ) -> None:
        lines.say(run("child", folder=tmp_path))
        written = tmp_path / "child"
        wait_until(lambda: written.exists() and written.read_text(encoding="utf-8") != "")
        lines.end()
        child = int(written.read_text(encoding="utf-8"))
        wait_until(lambda: is_gone(child))

    def test_a_line_that_is_no_command_is_answered(self, lines: Lines) -> None:
        lines.say('{"cmd":"run","seq":"k9"}', '{"cmd":"sing","seq":"k9"}', run("hello"))
        messages = ["run.task: wants object"]
        messages += ['unknown command "sing"; known: hello, run, resume, cancel, bye']
        for message in messages:
            errored = {"type": "ProtocolError", "message": message}
            assert lines.hear() == {"seq": "k9", "errored": errored}
        assert lines.hear()["seq"] == "k1"
