"""JUnit XML: valid for any reader, whatever text a model or a tool put into it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_report import CARD, ONCE, REMARK, REPORT, case, report
from syrupy.assertion import SnapshotAssertion

from loopcheck.harness.results import TargetResult
from loopcheck.reports import junit


def found_tests(text: str) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(text)
    return {test.get("name", ""): test for test in root.iter("testcase")}


def test_a_run_with_every_verdict(snapshot: SnapshotAssertion) -> None:
    assert junit.render(REPORT) == snapshot


def test_the_counts_add_up() -> None:
    root = ElementTree.fromstring(junit.render(REPORT))
    assert [suite.get("name") for suite in root] == ["booking", "support"]
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.get(name, "")) == len(list(root.iter(tag)))
    assert int(root.get("tests", "")) == len(list(root.iter("testcase"))) == 14


@pytest.mark.parametrize(
    ("name", "tag", "message"),
    [
        ("errors/known[chat-stream]", "skipped", "expected: will be mended"),
        ("truncation/parsable[chat-stream]", "skipped", "policy: whole JSON is run"),
        ("control/approval[chat-stream]", "skipped", "not declared: needs approval"),
        ("control/late[chat-stream]", "skipped", "not exercised: the loop ended before turn 3"),
        ("transport/cut[chat-stream]", "error", "the fault did not fire"),
        (
            "errors/mended[chat-stream]",
            "failure",
            "listed as a known failure and no longer fails: effect.once (bug)",
        ),
        ("smoke", "error", "chat, whole: TypeError: unexpected 'temperature'"),
    ],
)
def test_each_verdict_has_its_element(name: str, tag: str, message: str) -> None:
    (element,) = found_tests(junit.render(REPORT))[name]
    assert (element.tag, element.get("message")) == (tag, message)


def test_a_pass_has_no_element() -> None:
    assert list(found_tests(junit.render(REPORT))["once/lost[chat-whole]"]) == []


def test_should_findings_fail_only_when_strict() -> None:
    target = TargetResult(card=CARD, cases=(case("pass", findings=(REMARK,)),))
    assert "<failure" not in junit.render(report(target))
    (element,) = found_tests(junit.render(report(target), strict_should=True))[target.cases[0].case]
    assert (element.tag, element.get("type")) == ("failure", "correlation.known-id")


@given(st.text())
def test_any_text_gives_a_document_that_parses(text: str) -> None:
    finding = ONCE.model_copy(update={"seen": text, "sentence": text, "why": text})
    bad = case("fail", title=text, reason=text, findings=(finding,), lines=(f"9  {text}",))
    target = TargetResult(card=CARD.model_copy(update={"name": text}), cases=(bad,))
    document = junit.render(report(target))
    (test,) = found_tests(document).values()
    assert test[0].get("type") == "effect.once"
    document.encode("utf-8")
