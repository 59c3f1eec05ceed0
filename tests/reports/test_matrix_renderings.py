"""A matrix in each of its formats, and as a document."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from jsonschema import Draft202012Validator
from sample_matrix import CELLS, MATRIX, PASSING, cell, matrix_report
from sample_report import HOSTILE
from syrupy.assertion import SnapshotAssertion
from test_markup import Read

from loopcheck.reports import matrix_html, matrix_markdown, matrix_terminal
from loopcheck.reports.json_report import ReportError
from loopcheck.reports.matrix_json import is_matrix, load
from loopcheck.reports.matrix_report import dump, schema_text

SCHEMA = resources.files("loopcheck.reports").joinpath("matrix.schema.json").read_text("utf-8")


def test_in_a_terminal(snapshot: SnapshotAssertion) -> None:
    assert matrix_terminal.render(MATRIX) == snapshot


def test_as_a_comment(snapshot: SnapshotAssertion) -> None:
    assert matrix_markdown.render(MATRIX) == snapshot


def test_nothing_changed(snapshot: SnapshotAssertion) -> None:
    same = [cell("quotes", name, PASSING, packages={"a": "1"}) for name in ("now", "next")]
    report = matrix_report(same, exit_code=0)
    assert matrix_terminal.closing(report).endswith(
        "now -> next     targets: 0 regressed, 0 fixed, 1 unchanged\n"
        "                cases: 0 regressed, 0 fixed, 1 unchanged\n"
        "request drift: none, the same script is sent the same requests\n\n"
        "nothing changed for better or worse    exit 0\n"
    )
    assert matrix_markdown.render(report) == snapshot


def test_the_page_tells_every_cell_and_draws_what_changed() -> None:
    text = matrix_html.render(MATRIX)
    page = Read(text)
    words = " ".join(page.text.split())
    assert "loopcheck: 2 targets regressed, 1 target could not run, 1 target fixed" in words
    assert "create() got an unexpected keyword argument 'temperature'" in words
    assert "now → next" in words
    assert "x-api-key: ***" in words
    assert "some-plugin, loopcheck-matrix.yaml:11" in words
    assert "anthropic 0.125.0 → 2.14.0" in words
    assert words.count("effect.once") >= 2
    assert HOSTILE not in text
    assert "<b>&" not in text


def test_the_cells_are_told_as_they_end() -> None:
    assert matrix_terminal.opening(30, 2, 8) == "30 targets \u00d7 2 sets = 60 cells, 8 at a time"
    line = matrix_terminal.cell_line(MATRIX.cells[0], 1, 60, widths=(8, 4))
    assert line == "[ 1/60] billing   now   env cached     1 cases     9.8 s  1 pass"
    kept = MATRIX.cells[0].model_copy(update={"resumed": 1})
    assert matrix_terminal.cell_line(kept, 1, 6).endswith("resumed  1 pass")
    assert matrix_terminal.cell_line(kept, 1).startswith("[ 1] billing  now  env cached")


def test_what_narrows_a_regression_down_is_told_everywhere() -> None:
    command = "loopcheck matrix --bisect anthropic==0.125.0..2.14.0 --only billing"
    footer = MATRIX.footer.model_copy(update={"narrow_down": command})
    report = MATRIX.model_copy(update={"footer": footer})
    assert matrix_terminal.render(report).endswith(f"\nNarrow one down: {command}\n")
    assert matrix_markdown.render(report).endswith(f"\n\nNarrow one down: `{command}`\n")
    page = Read(matrix_html.render(report)).text
    assert "narrow one down" in page
    assert command in page
    assert "arrow one down" not in matrix_terminal.render(MATRIX) + matrix_markdown.render(MATRIX)


def test_the_schema_in_the_package_is_that_of_the_models() -> None:
    """After a change: loopcheck schema matrix > src/loopcheck/reports/matrix.schema.json"""
    assert schema_text() == SCHEMA


def test_a_report_is_valid_and_is_read_back() -> None:
    Draft202012Validator.check_schema(json.loads(SCHEMA))
    text = dump(MATRIX)
    Draft202012Validator(json.loads(SCHEMA)).validate(json.loads(text))
    assert is_matrix(text)
    assert load(text, "m.json") == MATRIX


@pytest.mark.parametrize("text", ["", "[]", "{", '{"targets": [], "cells": []}', "[" * 100_000])
def test_what_is_no_matrix(text: str) -> None:
    assert not is_matrix(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"header": {"format": 2}}, "m.json: written by a newer loopcheck"),
        ({"footer": None}, "m.json: has no footer, so the matrix was cut off"),
        ({"cells": [{"target": 1}]}, "m.json: damaged at cells.0.target: "),
    ],
)
def test_a_document_that_cannot_be_used(change: dict[str, object], message: str) -> None:
    document = {**json.loads(dump(MATRIX)), **change}
    text = json.dumps({name: value for name, value in document.items() if value is not None})
    with pytest.raises(ReportError, match=f"^{message}"):
        load(text, "m.json")


def test_a_set_alone_is_not_compared() -> None:
    alone = MATRIX.model_copy(update={"comparisons": ()})
    told = matrix_terminal.closing(alone)
    assert "request drift" not in told
    assert "5 cells broken" not in told
    assert f"{len([one for one in CELLS if one.status != 'ran'])} cells broken" in told
