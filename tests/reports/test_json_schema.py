"""The JSON Schema of the report in the package is that of the models."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from sample_report import REPORT

from loopcheck.reports import json_schema
from loopcheck.reports.json_report import dump

TEXT = resources.files("loopcheck.reports").joinpath("report.schema.json").read_text("utf-8")
STORED = sorted(Path(__file__).with_name("stored").glob("format-*.json"))


def test_the_file_is_what_the_models_say() -> None:
    """After a change of the report:
    python -m loopcheck.reports.json_schema > src/loopcheck/reports/report.schema.json
    """
    assert json_schema.text() == TEXT


def test_it_can_be_printed() -> None:
    command = [sys.executable, "-m", "loopcheck.reports.json_schema"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert printed.stdout == TEXT


def test_a_report_is_valid() -> None:
    Draft202012Validator.check_schema(json.loads(TEXT))
    Draft202012Validator(json.loads(TEXT)).validate(json.loads(dump(REPORT)))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_reports_are_valid(path: Path) -> None:
    Draft202012Validator(json.loads(TEXT)).validate(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize(
    ("place", "value"),
    [("format", 2), ("seed", "0"), ("colour", "red")],
)
def test_what_no_loopcheck_wrote_is_not(place: str, value: object) -> None:
    document = json.loads(dump(REPORT))
    document["header"][place] = value
    assert not Draft202012Validator(json.loads(TEXT)).is_valid(document)
