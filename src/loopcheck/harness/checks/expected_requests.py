"""How many requests a scenario expects, and what each of them offers and repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopcheck.harness.checks.evidence import Evidence, Request
from loopcheck.harness.checks.interface import finding
from loopcheck.harness.checks.quantities import CHECK, Occurrence, in_words, is_met, proof
from loopcheck.harness.checks.wording import counted
from loopcheck.harness.results import Finding, Level
from loopcheck.harness.scenario.expectations import Quantity, RequestsModel


def request_findings(
    expected: RequestsModel, level: Level, evidence: Evidence
) -> Iterator[Finding]:
    """Unmet expectations of `requests`. Repeats after a fault are not counted."""
    for name, quantity in _quantities(expected).items():
        seen = [Occurrence(request.n, {}) for request in _counted(name, evidence)]
        if not is_met(quantity, seen, evidence):
            yield finding(
                CHECK,
                level,
                evidence.scenario.title,
                expected=f"{in_words(quantity, 'request')} ({name})",
                seen=counted(len(seen), "request"),
                entries=proof(quantity, seen, evidence),
            )
    if expected.tools == "all":
        yield from _offers(level, evidence)
    if expected.retries == "same":
        yield from _changed_retries(level, evidence)


def _quantities(expected: RequestsModel) -> dict[str, Quantity]:
    named = {
        "total": expected.total,
        "side": expected.side,
        "otherwise": expected.otherwise,
        **(expected.__pydantic_extra__ or {}),
    }
    return {name: quantity for name, quantity in named.items() if quantity is not None}


def _counted(name: str, evidence: Evidence) -> Iterable[Request]:
    if name == "side":
        return evidence.side
    repeats = {request.n for request, _ in _repeats(evidence)}
    fresh = [request for request in evidence.requests if request.n not in repeats]
    if name == "total":
        return fresh
    if name == "otherwise":
        return [r for r in fresh if r.turn is not None and r.turn > len(evidence.scenario.turns)]
    return [request for request in fresh if f"turn{request.turn}" == name]


def _repeats(evidence: Evidence) -> Iterator[tuple[Request, Request]]:
    """Requests that ask again for a turn after a fault, each with the one before it."""
    faulty = {
        response.request
        for response in evidence.responses
        if response.fault is not None or response.ends in ("failed", "unmarked")
    }
    latest: dict[int | None, Request] = {}
    for request in evidence.requests:
        if request.role != "turn":
            continue
        before = latest.get(request.turn)
        if before is not None and before.number in faulty:
            yield request, before
        latest[request.turn] = request


def _offers(level: Level, evidence: Evidence) -> Iterator[Finding]:
    for request in evidence.requests:
        names = [tool.name for tool in request.tools]
        missing = [
            tool
            for tool in evidence.scenario.client_tools
            if not any(name.endswith(tool) for name in names)
        ]
        if request.role == "turn" and missing:
            yield finding(
                CHECK,
                level,
                evidence.scenario.title,
                expected=f"request {request.number} offers every tool",
                seen=f"without {', '.join(missing)}",
                entries=(request.n,),
            )


def _changed_retries(level: Level, evidence: Evidence) -> Iterator[Finding]:
    for request, before in _repeats(evidence):
        if _said(request) != _said(before):
            yield finding(
                CHECK,
                level,
                evidence.scenario.title,
                expected=f"request {request.number} repeats request {before.number}",
                seen=f"{counted(len(request.items), 'item')} where there were "
                f"{len(before.items)}, or other words in them",
                entries=(request.n, before.n),
            )


def _said(request: Request) -> list[tuple[str | None, ...]]:
    return [(i.kind, i.text, i.call_id, i.name, i.arguments) for i in request.items]
