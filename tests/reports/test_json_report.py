"""The JSON report survives a round trip, and says what is wrong with a document that is none."""

from __future__ import annotations

import json

import pytest
from sample_report import FAILING, HOSTILE, REPORT

from loopcheck.reports.json_report import ReportError, dump, load


def test_a_report_comes_back_as_it_was() -> None:
    assert load(dump(REPORT), "r.json") == REPORT


def test_the_document_is_plain_ascii_and_keeps_hostile_text() -> None:
    text = dump(REPORT)
    assert text.isascii()
    assert "\x1b" not in text
    assert load(text, "r.json").targets[0].cases[-1].reason == HOSTILE


def test_the_document_holds_header_targets_and_footer_in_this_order() -> None:
    document = json.loads(dump(REPORT))
    assert list(document) == ["header", "targets", "footer"]
    assert document["footer"]["verdicts"]["fail"] == 3
    assert document["targets"][0]["cases"][1]["case"] == FAILING.case


def changed(**header: object) -> str:
    document = json.loads(dump(REPORT))
    document["header"] |= header
    return json.dumps(document)


def without_footer() -> str:
    document = json.loads(dump(REPORT))
    del document["footer"]
    return json.dumps(document)


def damaged() -> str:
    document = json.loads(dump(REPORT))
    document["targets"][0]["cases"][0]["verdict"] = "fine"
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "r.json: not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("<xml/>", "r.json: not JSON: Expecting value: line 1 column 1 (char 0)"),
        (dump(REPORT)[:900], "r.json: ends in the middle; the file was cut off"),
        ("[]", "r.json: not a loopcheck report"),
        ('{"tests": 3}', "r.json: not a loopcheck report (it has no header that says so)"),
        (without_footer(), "r.json: has no footer, so the run was cut off; run it again"),
        (
            changed(format=2),
            "r.json: written by a newer loopcheck (format 2; this one reads 1); upgrade loopcheck",
        ),
        (changed(format=True), "r.json: unknown format True; this loopcheck reads 1"),
        (changed(format="1"), "r.json: unknown format '1'; this loopcheck reads 1"),
    ],
)
def test_a_document_that_is_no_report_is_refused(text: str, message: str) -> None:
    with pytest.raises(ReportError) as caught:
        load(text, "r.json")
    assert str(caught.value) == message


def test_damage_is_named_by_its_place() -> None:
    with pytest.raises(ReportError, match=r"^r\.json: damaged at targets\.0\.cases\.0\.verdict: "):
        load(damaged(), "r.json")


def test_nesting_that_no_parser_bears_is_refused() -> None:
    with pytest.raises(ReportError, match=r"nested too deep|not JSON"):
        load("[" * 200_000, "r.json")
