"""The run as JUnit XML, which every CI server reads: a suite per target, a test per case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from xml.etree import ElementTree

from loopcheck.harness.results import CaseResult, Finding, Header, Report, TargetResult
from loopcheck.reports.block import Setting, block, finding_lines
from loopcheck.reports.causes import Failure, primary, remarks
from loopcheck.reports.inert import inert, inert_lines

Element = ElementTree.Element

# ElementTree would declare the encoding of this machine's locale.
_DECLARATION: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
_ERRORS: Final = frozenset({"harness error", "target broken"})
_SKIPPED: Final = frozenset(
    {"expected", "policy", "flaky", "not declared", "not exercised", "unscored"}
)


def render(
    report: Report, *, advice: Mapping[str, str] | None = None, strict_should: bool = False
) -> str:
    """The report as a JUnit XML document. With `strict_should`, should-findings are failures."""
    root = Element("testsuites", name="loopcheck", time=_seconds(report.footer.seconds))
    for target in report.targets:
        setting = Setting(
            target=target.card.name,
            seed=report.header.seed,
            lenient=report.header.lenient,
            advice=advice or {},
        )
        root.append(_suite(target, setting, report.header, strict_should))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return f"{_DECLARATION}{ElementTree.tostring(root, encoding='unicode')}\n"


def _suite(target: TargetResult, setting: Setting, header: Header, strict_should: bool) -> Element:
    seconds = sum(case.seconds for case in target.cases)
    suite = Element("testsuite", name=inert(target.card.name), time=_seconds(seconds))
    suite.set("timestamp", header.started)
    suite.append(_properties(target, header))
    if target.broken is not None:
        suite.append(_broken(target))
    suite.extend(_test(case, setting, strict_should) for case in target.cases)
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(test.find(tag) is not None for test in tests)))
    return suite


def _properties(target: TargetResult, header: Header) -> Element:
    card = target.card
    properties = Element("properties")
    run = {
        "suite": header.suite,
        "seed": str(header.seed),
        "lenient": ", ".join(header.lenient),
        "shard": str(header.shard or ""),
    }
    about = {**run, "version": card.version or "", "runtime": card.runtime, **card.packages}
    for name, value in about.items():
        if value:
            ElementTree.SubElement(properties, "property", name=inert(name), value=inert(value))
    return properties


def _broken(target: TargetResult) -> Element:
    test = Element("testcase", classname=inert(target.card.name), name="smoke", time="0.000")
    why = target.broken or ""
    _told(test, "error", "target broken", why, "\n".join(inert_lines(why)))
    return test


def _test(case: CaseResult, setting: Setting, strict_should: bool) -> Element:
    test = Element(
        "testcase",
        classname=inert(f"{setting.target}.{case.scenario.replace('/', '.')}"),
        name=inert(case.case),
        time=_seconds(case.seconds),
    )
    told = block(Failure(case, ()), setting)
    remark = next((r.finding for r in remarks([case])), None) if strict_should else None
    if case.verdict in _ERRORS:
        _told(test, "error", case.verdict, case.reason or case.verdict, told)
    elif case.verdict == "fail":
        _told(test, "failure", *_failure(primary(case), case), told)
    elif remark is not None:
        _told(test, "failure", *_failure(remark, case), "\n".join(finding_lines(remark)))
    elif case.verdict == "stale":
        _told(test, "failure", "stale", _stale(case), "remove it: loopcheck expected update")
    elif case.verdict in _SKIPPED:
        message = f"{case.verdict}: {case.reason}" if case.reason else case.verdict
        ElementTree.SubElement(test, "skipped", message=inert(message))
    return test


def _failure(finding: Finding | None, case: CaseResult) -> tuple[str, str]:
    """The type and the message of a failure."""
    if finding is None:
        return case.verdict, case.reason or case.verdict
    return (
        finding.check,
        f"{finding.sentence}: expected {finding.expected}, seen {finding.seen}",
    )


def _stale(case: CaseResult) -> str:
    listed = ", ".join(f"{entry.check} ({entry.kind})" for entry in case.expectations)
    return f"listed as a known failure and no longer fails: {listed}"


def _told(test: Element, tag: str, kind: str, message: str, text: str) -> None:
    element = ElementTree.SubElement(test, tag, type=inert(kind), message=inert(message))
    element.text = text


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
