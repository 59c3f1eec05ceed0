"""What stands under a call in the last request that holds it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loopcheck.fake_providers.wire import Item
from loopcheck.harness.checks.conversation import Conversation, conversations
from loopcheck.harness.checks.evidence import Evidence, Issued
from loopcheck.harness.checks.interface import finding
from loopcheck.harness.checks.matching import is_visible
from loopcheck.harness.checks.quantities import CHECK
from loopcheck.harness.checks.tokens import Owners, owners
from loopcheck.harness.checks.values import same
from loopcheck.harness.checks.wording import as_json, elided
from loopcheck.harness.results import Finding, Level
from loopcheck.harness.scenario.expectations import AnyOfResult, Result, ValueResult


def result_findings(
    expected: Mapping[str, Result], level: Level, evidence: Evidence
) -> Iterator[Finding]:
    """Unmet expectations of `results`. Labels that were never issued are left out."""
    if not expected:
        return
    talks = conversations(evidence)
    tokens = owners(evidence)
    for label, result in expected.items():
        calls = _issued(label, evidence)
        if calls:
            yield from _compared(label, result, _standing(calls, talks), tokens, level, evidence)


def _issued(label: str, evidence: Evidence) -> list[Issued]:
    return [
        call
        for response in evidence.responses
        for call in response.calls
        if call.label == label and is_visible(call)
    ]


@dataclass(frozen=True, slots=True)
class _Standing:
    """The results under a label's calls, in the last request that holds one of them."""

    calls: Sequence[Issued]
    results: Sequence[Item] = ()
    n: int | None = None


def _standing(calls: Sequence[Issued], talks: Sequence[Conversation]) -> _Standing:
    for talk in reversed(talks):
        held = [found for call in calls if (found := talk.of(call)) is not None]
        if held:
            results = [result for one in held for result in one.results]
            return _Standing([h.issued for h in held if h.issued], results, talk.request.n)
    return _Standing(calls)


def _compared(
    label: str,
    expected: Result,
    stands: _Standing,
    tokens: Owners,
    level: Level,
    evidence: Evidence,
) -> Iterator[Finding]:
    words = expected.any_of if isinstance(expected, AnyOfResult) else (expected,)
    if any(_is(word, stands, tokens, evidence) for word in words):
        return
    yield finding(
        CHECK,
        level,
        evidence.scenario.title,
        expected=f"result of {label}: {' or '.join(map(_in_words, words))}",
        seen="; ".join(elided(result.text, 100) or "''" for result in stands.results)
        or "no result",
        entries=(stands.n if stands.n is not None else evidence.last_n,),
    )


def _in_words(word: str | ValueResult) -> str:
    if word == "flagged":
        return "an error, marked by is_error"
    return as_json(word.value) if isinstance(word, ValueResult) else word


def _is(word: str | ValueResult, stands: _Standing, tokens: Owners, evidence: Evidence) -> bool:
    texts = [result.text for result in stands.results]
    if word == "none":
        return not texts and not _went_on(stands, evidence)
    if not texts and not _rewrites(stands, evidence):
        return False
    if not texts:
        # The loop tells results as text: a token proves its own, its lack proves nothing.
        return word != "own" or _told_in_text(stands, tokens, evidence)
    if isinstance(word, ValueResult):
        return all(_is_value(text, word.value) for text in texts)
    own = frozenset[str]().union(*(tokens.own(call) for call in stands.calls))
    if word == "own":
        return all(own & tokens.found(text) for text in texts)
    if word == "flagged" and not all(result.is_error for result in stands.results):
        return False
    succeeded = {one.token for one in evidence.executions if one.ended == "result"}
    return not any(succeeded & tokens.found(text) for text in texts)


def _went_on(stands: _Standing, evidence: Evidence) -> bool:
    """Whether the loop continued from a response that issued one of these calls."""
    issued = {call.n for call in stands.calls}
    return any(response.accepted and response.n in issued for response in evidence.responses)


def _rewrites(stands: _Standing, evidence: Evidence) -> bool:
    """Whether the loop went on, and sends text in place of calls."""
    later = [request for request in evidence.requests if request.n > stands.calls[0].n]
    return (
        stands.n is None
        and _went_on(stands, evidence)
        and not any(item.kind == "call" for request in later for item in request.items)
    )


def _told_in_text(stands: _Standing, tokens: Owners, evidence: Evidence) -> bool:
    own = frozenset[str]().union(*(tokens.own(call) for call in stands.calls))
    return any(
        own & tokens.found(item.text) for request in evidence.requests for item in request.items
    )


def _is_value(text: str, value: object) -> bool:
    if text == value:
        return True
    try:
        return same(json.loads(text), value)
    except (ValueError, RecursionError):
        return False
