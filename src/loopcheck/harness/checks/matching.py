"""Which call an execution belongs to.

Frameworks seldom pass the call id to a tool, so executions are matched to the calls of the
response that was current when they began, by tool and arguments, as many as possible. Equal
calls are interchangeable. What is left over is a stray; what strays mean is judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.checks.evidence import Evidence, Execution, Issued, Response
from loopcheck.harness.checks.values import Reading, reading, same, whole_object
from loopcheck.harness.scenario.model import Scenario

Left = TypeVar("Left")
Right = TypeVar("Right")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An execution with the call it carries out, and how the arguments came through."""

    execution: Execution
    call: Issued
    response: Response
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """All matches of a case in order of execution, and the executions that match no call."""

    matches: tuple[Match, ...]
    strays: tuple[Execution, ...]

    def of(self, call: Issued) -> Match | None:
        """The execution of exactly this call."""
        return next((match for match in self.matches if match.call == call), None)


def is_visible(call: Issued) -> bool:
    """Whether anything of the call was sent."""
    return call.sent != "none"


def whole_arguments(call: Issued) -> JsonObject | None:
    """The arguments of a call that were sent whole and are a JSON object; else None."""
    return whole_object(call.arguments) if call.sent == "whole" else None


def may_run_with(call: Issued) -> list[JsonObject]:
    """The arguments with which the call may run: its own, and those that a person approved. What
    a target reads in a text that is no object is nothing to be approved, but what a person puts
    in its place is."""
    sent = whole_arguments(call)
    if sent is not None:
        return [sent] if call.approved is None else [sent, call.approved]
    if call.sent != "whole" or call.approved is None or not call.replaced:
        return []
    return [call.approved]


def is_complete(call: Issued, response: Response) -> bool:
    """Whether the call is one that a loop may carry out."""
    return response.ends == "well" and bool(may_run_with(call))


def schema_of(scenario: Scenario, tool: str) -> Mapping[str, object]:
    """The schema of the arguments of a tool; empty for one that the scenario lacks."""
    model = scenario.tools.get(tool)
    return model.parameters if model is not None else {}


def call_reading(execution: Execution, call: Issued, scenario: Scenario) -> Reading | None:
    """How the execution's arguments come from the call's; None when they do not."""
    if call.tool != execution.tool:
        return None
    schema = schema_of(scenario, call.tool)
    found = [reading(one, execution.arguments, schema) for one in may_run_with(call)]
    return min((one for one in found if one is not None), default=None)


def _is_approved(execution: Execution, call: Issued, scenario: Scenario) -> bool:
    if call.approved is None:
        return False
    return reading(call.approved, execution.arguments, schema_of(scenario, call.tool)) is not None


def equal_calls(one: Issued, other: Issued) -> bool:
    """Whether two calls ask for the same thing: the same tool and arguments."""
    if one.tool != other.tool:
        return False
    if one.arguments == other.arguments:
        return True
    arguments = whole_arguments(one)
    return arguments is not None and same(arguments, whole_arguments(other))


def match(evidence: Evidence) -> Matching:
    """Matches executions to calls: those of the current response first, then the calls of
    earlier responses that ended well and were not carried out yet, for loops that run late."""
    matches = list(_with_current(evidence))
    matches.extend(_late(evidence, matches))
    found = {found.execution.number for found in matches}
    return Matching(
        matches=tuple(sorted(matches, key=lambda one: one.execution.n)),
        strays=tuple(one for one in evidence.executions if one.number not in found),
    )


def _with_current(evidence: Evidence) -> Iterator[Match]:
    for response in evidence.responses:
        executions = [one for one in evidence.executions if one.response == response.n]
        yield from _pairs(executions, response, response.calls, evidence.scenario)


def _late(evidence: Evidence, matches: Iterable[Match]) -> Iterator[Match]:
    done = {(found.call.n, found.call.ordinal) for found in matches}
    matched = {found.execution.number for found in matches}
    for response in reversed(evidence.responses):
        if response.ends != "well":
            continue
        open_calls = [call for call in response.calls if (call.n, call.ordinal) not in done]
        later = [one for one in evidence.executions if one.n > response.n]
        waiting = [one for one in later if one.number not in matched]
        for found in _pairs(waiting, response, open_calls, evidence.scenario):
            matched.add(found.execution.number)
            yield found


def _pairs(
    executions: Sequence[Execution],
    response: Response,
    calls: Sequence[Issued],
    scenario: Scenario,
) -> Iterator[Match]:
    def cost(execution: Execution, call: Issued) -> int | None:
        found = call_reading(execution, call, scenario)
        if found is None:
            return None
        # An id that the loop passed on tells equal calls apart, and no more than that. Without
        # one, the call that a person approved is the one that runs, as it was approved.
        other_id = execution.call_id is not None and execution.call_id != call.call_id
        return 4 * found + 2 * other_id + (not _is_approved(execution, call, scenario))

    for left, right in sorted(pair_up(executions, calls, cost).items()):
        found = call_reading(executions[left], calls[right], scenario)
        if found is not None:
            yield Match(
                execution=executions[left], call=calls[right], response=response, reading=found
            )


def pair_up(
    lefts: Sequence[Left], rights: Sequence[Right], cost: Callable[[Left, Right], int | None]
) -> dict[int, int]:
    """Pairs as many as possible, by position: left to right. None forbids a pair. Cheaper pairs
    are made first, and earlier lefts keep a partner once they have one."""
    costs = [[cost(left, right) for right in rights] for left in lefts]
    allowed_costs = sorted({c for row in costs for c in row if c is not None})
    partner: dict[int, int] = {}
    for limit in allowed_costs:
        edges = [[j for j, c in enumerate(row) if c is not None and c <= limit] for row in costs]
        for left in range(len(lefts)):
            if left not in partner.values():
                _augment(left, edges, partner, set())
    return {left: right for right, left in partner.items()}


def _augment(
    left: int, edges: Sequence[Sequence[int]], partner: dict[int, int], tried: set[int]
) -> bool:
    # One that is free comes first, so that equals are paired in their order.
    for right in sorted(edges[left], key=partner.__contains__):
        if right in tried:
            continue
        tried.add(right)
        if right not in partner or _augment(partner[right], edges, partner, tried):
            partner[right] = left
            return True
    return False
