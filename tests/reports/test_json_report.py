"""The JSON report survives a round trip, and says what is wrong with a document that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_report import FAILING, HOSTILE, REPORT

from loopcheck.reports.json_report import ReportError, dump, load, read


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


def uncounted() -> str:
    """A report out of which somebody took the case that fails."""
    document = json.loads(dump(REPORT))
    del document["targets"][0]["cases"][1]
    return json.dumps(document)


def with_a_new_member() -> str:
    document = json.loads(dump(REPORT))
    document["targets"][0]["cases"][0]["mood"] = "good"
    return json.dumps(document)


WRITES_ONE = "loopcheck run --report json:FILE writes one"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty; the run ended before it wrote its report; run it again"),
        (
            "<xml/>",
            "not JSON: Expecting value: line 1 column 1 (char 0); loopcheck reads the reports of "
            "--report json:FILE",
        ),
        (
            '{"header": NaN}',
            "not JSON: NaN is no JSON number; loopcheck reads the reports of --report json:FILE",
        ),
        (
            dump(REPORT)[:900],
            "ends in the middle; the file was cut off; copy it again whole, or run it again",
        ),
        ("[]", f"not a loopcheck report; {WRITES_ONE}"),
        (
            '{"tests": 3}',
            f"not a loopcheck report (it has no header that says so); {WRITES_ONE}",
        ),
        (without_footer(), "has no footer, so the run was cut off; run it again"),
        (
            changed(format=2),
            "written by a newer loopcheck (format 2; this one reads 1); upgrade loopcheck",
        ),
        (
            changed(format=True),
            "unknown format True; this loopcheck reads 1; take the file as the run wrote it",
        ),
        (
            changed(format="1"),
            "unknown format '1'; this loopcheck reads 1; take the file as the run wrote it",
        ),
        (
            with_a_new_member(),
            "holds targets.0.cases.0.mood, which this loopcheck does not know: changed by hand, "
            "or written by another version (0.1.0); read it with that one",
        ),
        (
            uncounted(),
            "changed by hand: its footer counts 13 cases (1 expected, 3 fail, 1 flaky, 1 harness "
            "error, 1 not declared, 1 not exercised, 2 pass, 1 policy, 1 stale, 1 target broken), "
            "it holds 12 (1 expected, 2 fail, 1 flaky, 1 harness error, 1 not declared, 1 not "
            "exercised, 2 pass, 1 policy, 1 stale, 1 target broken); take the file as the run "
            "wrote it",
        ),
    ],
)
def test_a_document_that_is_no_report_is_refused(text: str, message: str) -> None:
    with pytest.raises(ReportError) as caught:
        load(text, "r.json")
    assert str(caught.value) == f"r.json: {message}"


def test_damage_is_named_by_its_place() -> None:
    with pytest.raises(
        ReportError, match=r"^r\.json: damaged at targets\.0\.cases\.0\.verdict: .*; take the file"
    ):
        load(damaged(), "r.json")


def test_nesting_that_no_parser_bears_is_refused() -> None:
    with pytest.raises(ReportError, match=r"nested too deep|not JSON"):
        load("[" * 200_000, "r.json")


STORED = sorted(Path(__file__).with_name("stored").glob("format-*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_report_of_each_format_still_loads(path: Path) -> None:
    """A stored report is never written anew: a new format gets a file of its own."""
    report = read(path)
    assert [target.card.name for target in report.targets] == ["booking", "support"]
    assert report.footer.verdicts["fail"] == 3
    assert report.targets[0].cases[1].findings[0].entries == (9, 10)
    assert load(dump(report), "again") == report


def test_there_is_a_stored_report_of_this_format() -> None:
    assert f"format-{REPORT.header.format}.json" in [path.name for path in STORED]


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(REPORT), encoding="utf-8-sig")
    assert read(path) == REPORT


def test_a_file_that_a_shell_wrote_in_its_own_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(REPORT), encoding="utf-16")
    with pytest.raises(ReportError, match=r"r\.json: not UTF-8, .* use --report json:FILE"):
        read(path)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ReportError, match=r"none\.json: cannot be read: No such file .*; loopcheck"
    ):
        read(tmp_path / "none.json")
    with pytest.raises(ReportError, match="cannot be read: Is a directory"):
        read(tmp_path)
