"""Checks that what runs is what the model asked for: complete, allowed, exact, once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loopcheck.harness.checks.control import unapproved_findings
from loopcheck.harness.checks.evidence import Evidence
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import (
    Matching,
    is_complete,
    is_visible,
    match,
    whole_arguments,
)
from loopcheck.harness.checks.offers import offer_findings
from loopcheck.harness.checks.strays import (
    ALLOWED_SENTENCE,
    COMPLETE_ONLY_SENTENCE,
    EXACT_SENTENCE,
    ONCE_READ_SENTENCE,
    ONCE_SENTENCE,
    UNFINISHED_SENTENCE,
    early_finding,
    stray_findings,
)
from loopcheck.harness.checks.values import Reading
from loopcheck.harness.checks.wording import as_json, entered
from loopcheck.harness.results import Finding


def _findings(evidence: Evidence, check: str) -> list[Finding]:
    matching = match(evidence)
    found = [
        *stray_findings(evidence, matching),
        *_early(evidence, matching),
        *_read_otherwise(matching),
        *offer_findings(evidence, matching),
        *unapproved_findings(evidence, matching),
    ]
    return [one for one in found if one.check == check]


def _early(evidence: Evidence, matching: Matching) -> Iterator[Finding]:
    """Whole calls that ran although their response did not end well."""
    for found in matching.matches:
        if not is_complete(found.call, found.response):
            yield early_finding(found, evidence.scenario)


def _read_otherwise(matching: Matching) -> Iterator[Finding]:
    for found in matching.matches:
        if found.reading == Reading.LOSSLESS:
            yield finding(
                "execution.exact-arguments",
                "should",
                "arguments are passed on as they were sent",
                expected=entered(found.call.tool, whole_arguments(found.call) or {}),
                seen=as_json(found.execution.arguments),
                entries=(found.execution.n, found.call.n),
                why="values were read under the types that the schema declares",
            )


def _complete_only(evidence: Evidence) -> list[Finding] | Unjudged:
    found = _findings(evidence, "execution.complete-only")
    incomplete = any(
        not is_complete(call, response)
        for response in evidence.responses
        for call in response.calls
        if is_visible(call)
    )
    if not found and not incomplete:
        return Unjudged("not exercised", "every call that was sent was complete")
    return found


def _judged(check: str, evidence: Evidence) -> list[Finding] | Unjudged:
    if not evidence.executions:
        return Unjudged("not exercised", "no tool was entered")
    return _findings(evidence, check)


def _allowed(evidence: Evidence) -> list[Finding] | Unjudged:
    called = any(is_visible(call) for response in evidence.responses for call in response.calls)
    if not called and not evidence.executions:
        return Unjudged("not exercised", "the model asked for no tool, and none was entered")
    return _findings(evidence, "execution.allowed")


COMPLETE_ONLY = Check(
    id="execution.complete-only",
    sentence=COMPLETE_ONLY_SENTENCE,
    should=UNFINISHED_SENTENCE,
    rank=10,
    advice="Run nothing before the response's own end was read and says that it is complete. "
    "Parse the arguments strictly then, and answer a call that does not parse with an error.",
    judge=_complete_only,
)
ALLOWED = Check(
    id="execution.allowed",
    sentence=ALLOWED_SENTENCE,
    should="arguments satisfy the schema that was sent, and the request had offered the tool",
    rank=11,
    advice="Look the tool up among those that the request offered, validate the arguments by the "
    "schema that was sent, and answer what fails with an error result.",
    judge=_allowed,
)
EXACT_ARGUMENTS = Check(
    id="execution.exact-arguments",
    sentence=EXACT_SENTENCE,
    should="arguments are passed on as they were sent",
    rank=12,
    advice="Collect fragments by the index (or item) that the events carry, and hand the parsed "
    "object on unchanged. Never repair or fill in a value; answer with an error instead.",
    judge=partial(_judged, "execution.exact-arguments"),
)
ONCE = Check(
    id="execution.once",
    sentence=ONCE_SENTENCE,
    should=ONCE_READ_SENTENCE,
    rank=13,
    advice="Keep the result of a call before you ask the model again, and let retries of the "
    "request start from there. Retry a write only under an operation id that the system behind "
    "it recognises, or after a look-up said that it left no effect.",
    judge=partial(_judged, "execution.once"),
)
