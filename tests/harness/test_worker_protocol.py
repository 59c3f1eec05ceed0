from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.worker.protocol import (
    Bye,
    Cancel,
    Card,
    CardDocument,
    DecisionDocument,
    Ended,
    ErrorDocument,
    Errored,
    Hello,
    Malformed,
    OutcomeDocument,
    PendingDocument,
    Resume,
    Run,
    Skipped,
    TaskDocument,
    ToolDocument,
    read_answer,
    read_command,
    to_line,
    well_formed,
)

TASK = TaskDocument(
    dialect="chat",
    stream=True,
    base_url="http://127.0.0.1:40117/c/k1/v1",
    api_key="sk-loopcheck-k1",
    model="gpt-4o",
    prompt="Book a seat.",
    folder="run-k1",
    tools=(
        ToolDocument(
            name="reserve_seat",
            parameters={"type": "object", "properties": {"seat": {"enum": [1, None]}}},
            kind="write",
            operation=("seat",),
            invoke="http://127.0.0.1:40117/c/k1/tools/reserve_seat",
        ),
    ),
)

PENDING = PendingDocument(call_id="c1", tool="reserve_seat", arguments={"seat": 12})
DECISION = DecisionDocument(call_id="c1", tool="reserve_seat", decide="answer", value=["yes", 2])


@pytest.mark.parametrize(
    "command",
    [
        Hello(loopcheck="1.0.0"),
        Run(seq="k1", task=TASK),
        Resume(seq="k2", of="k1", run="r-17", decisions=(DECISION,), task=TASK),
        Resume(seq="k3", cancel=True, task=TASK),
        Cancel(seq="k4"),
        Bye(),
    ],
)
def test_commands_round_trip(command: Hello | Run | Resume | Cancel | Bye) -> None:
    line = to_line(command)
    assert line.count(b"\n") == 1
    assert read_command(line) == command


@pytest.mark.parametrize(
    "answer",
    [
        Card(card=CardDocument(name="support", dialects=("chat",)), protocol=1),
        Ended(seq="k1", outcome=OutcomeDocument(state="completed", text="two\nlines\u2028")),
        Ended(seq="k2", outcome=OutcomeDocument(state="paused", run="r-17", pending=(PENDING,))),
        Skipped(seq="k3", skipped="messages is not offered by this service"),
        Errored(seq="k5", errored=ErrorDocument(type="TypeError", message="unexpected")),
        Errored(errored=ErrorDocument(type="ModuleNotFoundError")),
    ],
)
def test_answers_round_trip(answer: Card | Ended | Skipped | Errored) -> None:
    line = to_line(answer)
    assert line.count(b"\n") == 1
    assert read_answer(line) == answer


def test_hello_on_the_wire() -> None:
    assert json.loads(to_line(Hello(loopcheck="1.0.0"))) == {
        "cmd": "hello",
        "protocol": 1,
        "loopcheck": "1.0.0",
    }


def test_members_of_a_newer_harness_are_ignored() -> None:
    line = b'{"cmd":"cancel","seq":"k1","why":"time"}'
    assert read_command(line) == Cancel(seq="k1")


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (b"run", Malformed(None, "a command is a JSON object")),
        (b"[]", Malformed(None, "a command is a JSON object")),
        (b'{"cmd":"run","seq":"k1"}', Malformed("k1", "run.task: Field required")),
    ],
)
def test_what_is_no_command(line: bytes, seen: Malformed) -> None:
    assert read_command(line) == seen


def test_an_unknown_command_names_the_known_ones() -> None:
    seen = read_command(b'{"cmd":"sing","seq":"k2"}')
    assert isinstance(seen, Malformed)
    assert seen.seq == "k2"
    assert "'hello', 'run', 'resume', 'cancel', 'bye'" in seen.why


@pytest.mark.parametrize(
    "line", [b"", b"loading\n", b"3", b'{"level":"info"}', b"[" * 100_000, b"\xff\xfe", b'{"a"']
)
def test_noise_is_no_answer(line: bytes) -> None:
    assert read_answer(line) is None


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (
            b'{"seq":"k1","state":"completed"}',
            Malformed("k1", "an answer has one of card, outcome, skipped, errored"),
        ),
        (b'{"seq":"k1","skipped":3}', Malformed("k1", "skipped: Input should be a valid string")),
        (b'{"skipped":"why"}', Malformed(None, "seq: Field required")),
    ],
)
def test_answers_that_make_no_sense(line: bytes, seen: Malformed) -> None:
    assert read_answer(line) == seen


@given(st.text(st.characters(codec=None), max_size=20))
def test_any_text_of_a_model_can_be_sent(text: str) -> None:
    line = json.dumps({"seq": "k1", "outcome": {"state": "completed", "text": text}}).encode()
    answer = read_answer(line)
    assert isinstance(answer, Ended)
    assert answer.outcome.text == well_formed(text)
    assert read_answer(to_line(answer)) == answer


def test_half_surrogates_are_replaced_and_pairs_joined() -> None:
    assert well_formed("a\ud83db") == "a\ufffdb"
    assert well_formed("\ud83d\ude00") == "\U0001f600"
