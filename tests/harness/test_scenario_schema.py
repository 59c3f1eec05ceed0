"""The JSON Schema of scenario files says what the loader says, as far as shapes go."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from scenario_texts import HEAD, TURNS

from loopcheck.harness.cli import main
from loopcheck.harness.scenario.json_schema import PATH, document, text
from loopcheck.harness.scenario.load import CATALOGUE
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.write import write
from loopcheck.harness.scenario.yaml_source import read
from loopcheck.harness.strategies import scenarios

SCHEMA: Any = document()
VALIDATOR = Draft202012Validator(SCHEMA)
FILES = sorted(CATALOGUE.rglob("*.yaml"))


def complaints(yaml: bytes) -> list[str]:
    """Where the schema finds fault, as paths of keys."""
    data: Any = read(yaml, "x.yaml").data
    return ["/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(data)]


def test_it_is_a_schema_and_up_to_date() -> None:
    """After a change: loopcheck schema > src/loopcheck/harness/scenario/scenario.schema.json"""
    Draft202012Validator.check_schema(SCHEMA)
    assert PATH.read_text(encoding="utf-8") == text()


def test_the_catalogue_fits() -> None:
    assert {path.name: complaints(path.read_bytes()) for path in FILES} == {
        path.name: [] for path in FILES
    }


@settings(max_examples=40, deadline=None)
@given(scenarios())
def test_whatever_is_made_up_fits(scenario: Scenario) -> None:
    assert complaints(write(scenario).encode()) == []


@pytest.mark.parametrize(
    ("tail", "path"),
    [
        ("turns: []\ntuols: {}\n", ""),
        ("turns: [{sai: x}]\n", "turns/0"),
        ("turns: [{say: 3}]\n", "turns/0"),
        ("turns: []\nneeds: [paralel]\n", "needs/0"),
        ("turns: []\nquirks: [indx]\n", "quirks"),
        ("turns: []\nquirks: {chat: [index], cat: []}\n", "quirks"),
        ("turns: []\nlimits: {rounds: 0}\n", "limits/rounds"),
        ("turns: []\notherwise: {attempts: []}\n", "otherwise"),
        ("turns: []\nid: x\n", ""),
        ("turns: []\nexpect: {must: {history: {turn1: {last: [user]}}}}\n", None),
        ("turns: []\nvariants: {a: {format: 1}}\n", "variants/a"),
        ("turns: []\nvariants: {a: {}}\n", "variants/a"),
        ("modes: [whole]\n", ""),
    ],
)
def test_wrong_shapes_are_found(tail: str, path: str | None) -> None:
    found = complaints((HEAD + tail).encode())

    assert found == [path] if path is not None else len(found) == 1


@pytest.mark.parametrize(
    "tail",
    [
        "otherwise: {say: x}\n",
        "otherwise: [{say: x}, {say: y}]\n",
        "meanwhile: [{when: seat.asked, do: cancel}, {when: [{in: say, after: D}], do: [kill]}]\n",
        "expect: {may: {outcome: [completed, {any_of: [failed]}]}}\n",
        "expect: {may: {requests: {turn2: {at_least: 1}}}}\n",
        "delivery: {interleave: {chat: true, responses: [seat]}, pauses: [{at: end, for: 1 ms}]}\n",
        "quirks: {chat: [index, {late-id: 2}]}\n",
        "variants: {a: {turns: [], quirks: [{index: null}]}}\n",
    ],
)
def test_one_value_may_stand_for_a_list_of_it(tail: str) -> None:
    assert complaints((HEAD + TURNS + tail).encode()) == []


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("scenario", "loopcheck scenario, format 1"),
        *[("report", "loopcheck report, format 1"), ("worker", "loopcheck worker protocol 1")],
    ],
)
def test_the_command_prints_each(name: str, title: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", name]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == title


def test_scenario_files_are_what_is_meant_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == text()
