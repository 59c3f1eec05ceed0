"""Checks that the loop stops: by itself, and at the limits it was given.

Seconds are not judged: nothing is judged by how long it took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from loopcheck.harness.checks import budgets, fields, repeats, spending
from loopcheck.harness.checks.budgets import Answer, beyond, missed, rounds, stopped
from loopcheck.harness.checks.evidence import Broken, Evidence, Response
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import is_visible
from loopcheck.harness.checks.wording import counted
from loopcheck.harness.results import Finding


def _kept(evidence: Evidence) -> list[Finding] | Unjudged:
    hung = [_hung(one, evidence) for one in evidence.broken if one.fault == "hung"]
    if hung:
        return hung
    answers = [answer for run in _runs(evidence) for answer in _answers(run)]
    if not answers:
        return Unjudged("not exercised", "no limit was given, or none that is counted")
    findings = [answer for answer in answers if isinstance(answer, Finding)]
    unjudged = [answer for answer in answers if isinstance(answer, Unjudged)]
    return unjudged[0] if len(unjudged) == len(answers) else findings


def _runs(evidence: Evidence) -> Iterator[Evidence]:
    """The evidence of each run: what one has used up is not counted against the next."""
    legs = fields.of_kind(evidence.entries, "leg")
    began = [fields.number(leg, "n") for leg in legs if leg.get("how") != "resume"]
    if not began:
        yield evidence
        return
    bounds = pairwise((0, *began, len(evidence.entries) + 1))
    for (start, end), ends in zip(bounds, evidence.ends, strict=True):
        yield replace(
            evidence,
            requests=tuple(one for one in evidence.requests if start <= one.n < end),
            responses=tuple(one for one in evidence.responses if start <= one.n < end),
            executions=tuple(one for one in evidence.executions if start <= one.n < end),
            outcome=ends[-1] if ends else None,
        )


def _answers(evidence: Evidence) -> Iterator[Answer]:
    """What is to be said of each limit that was given; None where it was kept."""
    given = evidence.scenario.limits
    for limit, needed, judge in (
        (given.rounds, "limits", _of_rounds),
        (given.tool_calls, "tool_call_limit", _of_tool_calls),
        (given.tokens, "token_limit", spending.of_tokens),
        (given.cost, "cost_limit", spending.of_cost),
        (given.context, "context_limit", spending.of_context),
        (given.repeats, "repeat_limit", repeats.of_repeats),
    ):
        if limit is not None and needed not in evidence.can:
            yield Unjudged("not declared", f"the target does not declare {needed}")
        elif limit is not None:
            yield judge(limit, evidence)


def _of_rounds(limit: float, evidence: Evidence) -> Answer:
    taken = rounds(evidence)
    if len(taken) > 2 * limit:
        entries = [response.n for response in taken[int(limit) :]]
        return missed("must", limit, "round", len(taken), entries)
    if evidence.limit_unit not in _UNITS:
        return Unjudged("not observable", f"the target's limit counts {evidence.limit_unit}")
    unit, count = _UNITS[evidence.limit_unit]
    entries = count(taken, evidence)
    if len(entries) == limit:
        return None
    if len(entries) < limit and not stopped(evidence):
        return Unjudged("not exercised", f"the run ended before {counted(limit, unit)}")
    over = entries[int(limit) :] or [evidence.last_n]
    return missed("should", limit, unit, len(entries), over)


def _of_tool_calls(limit: float, evidence: Evidence) -> Answer:
    """Executions are counted. A loop may leave out the batch that would go beyond the limit."""
    asked = sum(is_visible(call) for response in rounds(evidence) for call in response.calls)
    if asked <= limit and not stopped(evidence):
        return Unjudged("not exercised", f"the model asked for {counted(asked, 'call')} only")
    ran = len(evidence.executions)
    over = [execution.n for execution in evidence.executions[int(limit) :]]
    return beyond(limit, "tool call", ran, over)


def _of_responses(taken: Sequence[Response], evidence: Evidence) -> list[int]:
    return [response.n for response in taken]


def _with_calls(taken: Sequence[Response], evidence: Evidence) -> list[int]:
    return [response.n for response in taken if response.calls]


def _of_requests(taken: Sequence[Response], evidence: Evidence) -> list[int]:
    return [request.n for request in evidence.requests]


# What a target may say that its limit counts, and the entries that are then counted. Any other
# unit is held to must alone.
_UNITS: Final[dict[str, tuple[str, Callable[[Sequence[Response], Evidence], list[int]]]]] = {
    "rounds": ("round", _of_responses),
    "tool_rounds": ("tool round", _with_calls),
    "requests": ("request", _of_requests),
}


def _hung(broken: Broken, evidence: Evidence) -> Finding:
    return finding(
        budgets.CHECK,
        "must",
        "the loop stops",
        expected="the run ends by itself",
        seen=f"{broken.what}; {counted(len(evidence.requests), 'request')} until then",
        entries=(broken.n,),
    )


KEPT = Check(
    id=budgets.CHECK,
    sentence=budgets.KEPT,
    should=budgets.EXACT,
    rank=50,
    advice="Count accepted model responses, the final answer included, and check the count before "
    "each request. Bound retries and waits by a deadline of your own.",
    judge=_kept,
)
