"""Checks of what the loop sends back: valid, carried, continuous."""

from __future__ import annotations

from loopcheck.harness.checks import carrying
from loopcheck.harness.checks.evidence import Evidence, Refused
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.wording import elided
from loopcheck.harness.results import Finding, Level

_VALID = "no request breaks a rule of the service"
_CONTINUOUS = "each request continues the conversation"
_PROVEN = frozenset({"R", "I"})


def _valid(evidence: Evidence) -> list[Finding] | Unjudged:
    if not evidence.requests and not evidence.refused:
        return Unjudged("not exercised", "no request for a turn was sent")
    return [_broken_rule(refused, evidence) for refused in evidence.refused]


def _broken_rule(refused: Refused, evidence: Evidence) -> Finding:
    level: Level = "must" if refused.grade in _PROVEN else "should"
    request = next((r for r in evidence.requests if r.number == refused.request), None)
    rule = f"rule {refused.rule}" if refused.rule else "a well-formed request"
    where = f" at {refused.param}" if refused.param else ""
    return finding(
        "history.valid",
        level,
        _VALID,
        expected=f"{rule} kept in request {refused.request}",
        seen=f"status {refused.status}{where}: {elided(refused.message, 200)}",
        entries=(refused.n, *([request.n] if request is not None else [])),
    )


def _continuous(evidence: Evidence) -> list[Finding] | Unjudged:
    divergent = [request for request in evidence.requests if request.role == "divergent"]
    if not divergent and len(evidence.requests) < 2:
        return Unjudged("not exercised", "there was nothing to continue: one request at most")
    return [
        finding(
            "history.continuous",
            "must",
            _CONTINUOUS,
            expected=f"request {request.number} holds only what was said in this conversation",
            seen=request.why or "history that was never issued",
            entries=(request.n,),
        )
        for request in divergent
    ]


VALID = Check(
    id="history.valid",
    sentence=_VALID,
    should="rules of weaker evidence are kept, too",
    rank=40,
    advice="Read the service's words: they name the place in the request. Most refusals follow "
    "from a call without its result, or a result without its call.",
    judge=_valid,
)
CARRIED = Check(
    id=carrying.CHECK,
    sentence=carrying.SENTENCE,
    should=carrying.SHOULD,
    rank=39,
    advice="Keep the items or blocks of a response as they came, ids, signatures and encrypted "
    "content included, and send them back in their order, before the results. Parse a copy.",
    judge=carrying.carried,
)
CONTINUOUS = Check(
    id="history.continuous",
    sentence=_CONTINUOUS,
    should=None,
    rank=30,
    advice="Build each request from the items that were received in this run, and from no other "
    "run, cache or invented call.",
    judge=_continuous,
)
