"""Which response was current when a tool was entered.

That is the latest one. Where several conversations go on at the same time, each has one: then the
call tells, by the id that the loop passed on, else by its arguments, and of equal calls the one
that a person approved. Each call stands for one execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from loopcheck.harness.checks.evidence import Execution, Issued, Response
from loopcheck.harness.checks.matching import call_reading
from loopcheck.harness.checks.parts import lane_of
from loopcheck.harness.scenario.model import Scenario


def with_current(
    executions: Iterable[Execution], responses: Sequence[Response], scenario: Scenario
) -> tuple[Execution, ...]:
    """The executions, each with the response that was current when it began."""
    if scenario.lanes:
        lanes = _Lanes(responses, scenario)
        return tuple(replace(one, response=lanes.current(one)) for one in executions)
    return tuple(
        replace(one, response=max((r.n for r in responses if r.n < one.n), default=None))
        for one in executions
    )


@dataclass(slots=True)
class _Lanes:
    responses: Sequence[Response]
    scenario: Scenario
    _spent: set[tuple[int, int]] = field(default_factory=set)

    def current(self, execution: Execution) -> int | None:
        latest: dict[int, Response] = {}
        for response in self.responses:
            if response.n < execution.n:
                latest[lane_of(response.turn, self.scenario)] = response
        calls = [call for response in latest.values() for call in response.calls]
        best = max(calls, key=lambda call: self._likeness(execution, call), default=None)
        if best is None or best.tool != execution.tool:
            return max((response.n for response in latest.values()), default=None)
        self._spent.add((best.n, best.ordinal))
        return best.n

    def _likeness(self, execution: Execution, call: Issued) -> tuple[bool | int, ...]:
        return (
            call.tool == execution.tool,
            call_reading(execution, call, self.scenario) is not None,
            execution.call_id is not None and call.call_id == execution.call_id,
            (call.n, call.ordinal) not in self._spent,
            call.approved is not None,
            call.n,
        )
