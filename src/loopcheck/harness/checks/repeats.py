"""Whether a limit on how often in a row the same calls are carried out was kept."""

from __future__ import annotations

from collections.abc import Iterator

from loopcheck.harness.checks.budgets import Answer, beyond, rounds, stopped
from loopcheck.harness.checks.evidence import Evidence, Response
from loopcheck.harness.checks.interface import Unjudged
from loopcheck.harness.checks.matching import equal_calls, match
from loopcheck.harness.checks.wording import counted


def of_repeats(limit: float, evidence: Evidence) -> Answer:
    """Responses in a row with equal calls, of which any was carried out."""
    rows = list(_rows(rounds(evidence)))
    longest = max(map(len, rows), default=0)
    if longest <= limit and not stopped(evidence):
        times = counted(longest, "time")
        return Unjudged("not exercised", f"the model asked for the same {times} in a row at most")
    ran = {found.response.n: found.execution.n for found in reversed(match(evidence).matches)}
    carried = [[ran[one.n] for one in row if one.n in ran] for row in rows]
    most = max(carried, key=len, default=[])
    return beyond(limit, "repeat", len(most), most[int(limit) :])


def _rows(taken: list[Response]) -> Iterator[list[Response]]:
    """Responses with the same calls that follow one another."""
    row: list[Response] = []
    for response in taken:
        if row and not _alike(row[-1], response):
            yield row
            row = []
        row = [*row, response] if response.calls else []
    if row:
        yield row


def _alike(one: Response, other: Response) -> bool:
    """Whether two responses ask for the same, in whatever order."""
    left = list(other.calls)
    for call in one.calls:
        twin = next((held for held in left if equal_calls(held, call)), None)
        if twin is None:
            return False
        left.remove(twin)
    return not left
