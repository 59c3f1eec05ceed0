from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from loopcheck.harness.worker.schema import PATH, schema_text

DOCS = Path(__file__).resolve().parents[2] / "docs" / "worker-protocol.md"
SCHEMA = json.loads(PATH.read_text(encoding="utf-8"))


def is_valid(side: str, message: JsonValue) -> bool:
    """Whether it is a `command` or an `answer`."""
    schema = {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{side}"}]}
    return bool(Draft202012Validator(schema).is_valid(message))


def transcript() -> list[tuple[str, str]]:
    """The lines of the documented run, each with the side that it is written for."""
    text = DOCS.read_text(encoding="utf-8")
    block = text.partition("```\n> {")[2].partition("```")[0]
    lines = f"> {{{block}".splitlines()
    return [("command" if line[0] == ">" else "answer", line[2:]) for line in lines]


def test_the_file_is_what_the_models_say() -> None:
    """After a change of the protocol:
    python -m loopcheck.harness.worker.schema > src/loopcheck/harness/worker/protocol.schema.json
    """
    assert PATH.read_text(encoding="utf-8") == schema_text()


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_it_can_be_printed() -> None:
    command = [sys.executable, "-m", "loopcheck.harness.worker.schema"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert printed.stdout == schema_text()


@pytest.mark.skipif(not DOCS.is_file(), reason="the tests run outside a checkout")
def test_each_line_of_the_documented_run_is_valid_in_its_direction() -> None:
    lines = transcript()
    assert {side for side, _ in lines} == {"command", "answer"}
    for side, line in lines:
        message = json.loads(line)
        assert is_valid(side, message), line
        assert Draft202012Validator(SCHEMA).is_valid(message), line
        other = "answer" if side == "command" else "command"
        assert not is_valid(other, message), line


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ("command", {"cmd": "run", "seq": "k1"}),
        ("command", {"cmd": "cancel", "seq": 1}),
        ("command", {"cmd": "stop"}),
        ("command", []),
        ("answer", {"seq": "k1"}),
        ("answer", {"seq": "k1", "outcome": {"state": "done"}}),
        ("answer", {"skipped": "why"}),
        ("answer", {"card": {"name": "n"}, "protocol": 1}),
        ("answer", {"card": {"name": "n", "dialects": ["chat"]}}),
        ("answer", {"errored": "TypeError"}),
    ],
)
def test_what_is_no_message(side: str, message: JsonValue) -> None:
    assert not is_valid(side, message)


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ("command", {"cmd": "bye", "why": "done"}),
        ("answer", {"seq": "k1", "outcome": {"state": "completed", "new": [1]}}),
        ("answer", {"errored": {"type": "ModuleNotFoundError"}}),
    ],
)
def test_what_one_side_does_not_know_is_no_error(side: str, message: JsonValue) -> None:
    assert is_valid(side, message)
