"""Bad workers: each costs a case, or its own target, and the message says which and why."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from processes import is_gone, wait_until
from worker_targets import PATIENCE

from loopcheck.harness.cli import main, trial

SCENARIO = """\
format: 1
title: It greets
rule: It answers.
prompt: Greet me.
dialects: [chat]
modes: [whole]
turns:
  - say: Hello.
"""

# It answers the smoke case as it should, and then does what the test says.
WORKER = """\
import json, os, subprocess, sys, time, urllib.request

def say(value):
    print(value if isinstance(value, str) else json.dumps(value), flush=True)

def ask(task):
    body = {"model": task["model"], "messages": [{"role": "user", "content": task["prompt"]}]}
    body["tools"] = [
        {"type": "function", "function": {"name": t["name"], "parameters": t["parameters"]}}
        for t in task["tools"]
    ]
    headers = {"authorization": "Bearer " + task["api_key"], "content-type": "application/json"}
    data = json.dumps({k: v for k, v in body.items() if v}).encode()
    url = task["base_url"] + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

protocol = 1
BEFORE
for line in sys.stdin:
    command = json.loads(line)
    if command["cmd"] == "hello":
        say({"card": {"name": "x", "dialects": ["chat"], "modes": ["whole"]}, "protocol": protocol})
    if command["cmd"] == "bye":
        break
    if command["cmd"] != "run":
        continue
    seq, task = command["seq"], command["task"]
    good = {"seq": seq, "outcome": {"state": "completed", "text": ask(task)}}
    if task["case"].startswith("smoke"):
        say(good)
        continue
BAD
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "greets").mkdir()
    (tmp_path / "greets" / "once.yaml").write_text(SCENARIO, encoding="utf-8")
    command = json.dumps([sys.executable, "-S", "worker.py"])
    settings = f'scenarios = ["greets"]\n[targets]\nbad = {{ worker = {command} }}\n'
    (tmp_path / "loopcheck.toml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put_on_trial(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    before: str = "",
    bad: str = "",
    seconds: float = 1,
) -> tuple[int, str]:
    """The exit code and what was told, with what the worker does before hello, or in its case."""
    body = "".join(f"    {line}\n" for line in bad.splitlines())
    text = WORKER.replace("BEFORE", before).replace("BAD\n", body)
    (project / "worker.py").write_text(text, encoding="utf-8")
    code = main(["run", "--target", "bad", "--case-seconds", f"{seconds:g}"])
    told = " ".join(capsys.readouterr().out.split())
    return code, told


def test_a_good_worker_passes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = put_on_trial(project, capsys, bad="say(good)", seconds=PATIENCE)
    assert code == 0
    assert "bad: 1 pass" in told


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param(
            "say({'seq': seq, 'outcome': 'completed'})",
            "line 3 of its stdout: outcome: Input should be a valid dictionary",
            id="an answer that is none",
        ),
        pytest.param(
            "print('out of memory', file=sys.stderr)\nsys.exit(9)",
            "it ended with exit code 9; its last words: out of memory",
            id="exits",
        ),
        pytest.param("os.abort()", "it was killed by SIGABRT", id="killed by a signal"),
        pytest.param(
            "sys.stdout.write('x' * (17 * 1024 * 1024))\nsys.stdout.flush()\ntime.sleep(60)",
            "line 3 of its stdout: it is longer than 16777216 bytes",
            id="floods with one line",
        ),
        pytest.param(
            "say({'seq': seq, 'errored': {'type': 'TypeError', 'message': 'no temperature'}})",
            "TypeError: no temperature",
            id="errs",
        ),
        pytest.param(
            "say({'card': {'name': 'x', 'dialects': ['chat']}, 'protocol': 1})",
            "it answered a run with a card",
            id="a card for a run",
        ),
    ],
)
def test_a_bad_answer_is_one_broken_case(
    project: Path, capsys: pytest.CaptureFixture[str], bad: str, message: str
) -> None:
    code, told = put_on_trial(project, capsys, bad=bad, seconds=PATIENCE)
    assert code == 4, told
    assert "target bad" in told
    assert "BROKEN once[chat-whole]" in told
    assert message in told


@pytest.mark.parametrize(
    ("bad", "strays"),
    [
        pytest.param("", "", id="never answers"),
        pytest.param(
            "say('{\"seq\":\"' + seq + '\",\"outcome\":')\nsay('loading')",
            "; the last on its stdout, line 4: loading",
            id="garbage",
        ),
        pytest.param(
            "say({**good, 'seq': 'k9'})",
            "; the last on its stdout, line 3: an answer to k9, which was not asked",
            id="the wrong seq",
        ),
        pytest.param(
            "while True: print('flood ' * 2000)",
            "; the last on its stdout, line ",
            id="floods with lines",
        ),
        pytest.param("while True: os.write(2, b'y' * 65536)", "", id="floods stderr"),
    ],
)
def test_a_run_without_an_answer_is_one_failed_case(
    project: Path, capsys: pytest.CaptureFixture[str], bad: str, strays: str
) -> None:
    code, told = put_on_trial(project, capsys, bad=f"{bad}\ntime.sleep(60)", seconds=1)
    assert code == 1, told
    assert "target bad" in told
    assert "FAIL once[chat-whole]" in told
    assert f"it did not end within 1 s and was killed{strays}" in told


@pytest.mark.parametrize(
    ("before", "message"),
    [
        pytest.param(
            "protocol = 2", "it speaks protocol 2, this loopcheck 1", id="another version"
        ),
        pytest.param("sys.exit(3)", "it ended with exit code 3", id="exits"),
        pytest.param(
            "raise ImportError('no agent here')",
            "it ended with exit code 1; its last words: ImportError: no agent here",
            id="cannot start",
        ),
        pytest.param(
            "print('ready')\nprint('{\"card\":{\"name\":3}}', flush=True)",
            "line 2 of its stdout: card.name: Input should be a valid string",
            id="a card that is none",
        ),
        pytest.param(
            "print('please wait', flush=True)\ntime.sleep(60)",
            "it did not answer hello within 1 s and was killed; "
            "the last on its stdout, line 1: please wait",
            id="never answers",
        ),
    ],
)
def test_a_bad_start_is_one_broken_target(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    message: str,
) -> None:
    monkeypatch.setattr(trial, "START_SECONDS", 1.0)
    code, told = put_on_trial(project, capsys, before=before)
    assert code == 4
    assert f"BROKEN target bad: {message}" in told


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "ends", ["time.sleep(60)", "os._exit(0)", "say(good)"], ids=["hangs", "exits", "answers"]
)
def test_children_do_not_outlive_the_run(
    project: Path, capsys: pytest.CaptureFixture[str], ends: str
) -> None:
    """Neither those that hold its stdout, nor those whose parent is gone."""
    start = "subprocess.Popen(['sh', '-c', 'sleep 60 & echo $! > grandchild; wait'])\n"
    waits = "while not (os.path.exists('grandchild') and open('grandchild').read()): pass\n"
    put_on_trial(project, capsys, bad=start + waits + ends)
    grandchild = int((project / "grandchild").read_text(encoding="utf-8"))
    wait_until(lambda: is_gone(grandchild))
