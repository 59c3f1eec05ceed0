"""Whether limits on tokens, on cost and on the length of the context were kept.

What was spent before a request is counted: nobody knows what an answer will cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from loopcheck.harness.checks.budgets import Answer, beyond, rounds, stopped
from loopcheck.harness.checks.evidence import Evidence, Response
from loopcheck.harness.checks.interface import Unjudged
from loopcheck.harness.checks.wording import counted
from loopcheck.harness.prices import PRICES

_Measure: TypeAlias = Callable[[Sequence[Response]], float]


def of_tokens(limit: float, evidence: Evidence) -> Answer:
    """Those of all responses together."""
    return _answer(limit, evidence, "token", _tokens)


def of_cost(limit: float, evidence: Evidence) -> Answer:
    """That of all responses together, by the prices that the target is told."""
    prices = PRICES[evidence.dialect]

    def cost(taken: Sequence[Response]) -> float:
        return round(sum(prices.of(*response.usage) for response in taken if response.usage), 6)

    return _answer(limit, evidence, "dollar", cost)


def of_context(limit: float, evidence: Evidence) -> Answer:
    """The tokens of the response that a request continues."""
    return _answer(limit, evidence, "context token", lambda taken: _tokens(taken[-1:]))


def _tokens(taken: Sequence[Response]) -> float:
    return sum(response.tokens for response in taken)


def _answer(limit: float, evidence: Evidence, unit: str, measure: _Measure) -> Answer:
    taken = rounds(evidence)
    if any(response.usage is None for response in taken):
        return Unjudged("not observable", "the journal does not say what responses cost")
    spent = max((measure(taken[:count]) for count in range(1, len(taken) + 1)), default=0)
    if spent <= limit and not stopped(evidence):
        return Unjudged("not exercised", f"the run took {counted(spent, unit)} only")
    before = {
        request.n: measure([response for response in taken if response.n < request.n])
        for request in evidence.requests
    }
    over = [n for n, so_far in before.items() if so_far > limit]
    return beyond(limit, unit, max(before.values(), default=0), over)
