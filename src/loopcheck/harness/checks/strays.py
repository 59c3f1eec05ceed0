"""What an execution that matches no call has broken: one finding, by the first rule that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loopcheck.harness.checks.evidence import Evidence, Execution, Issued, Response
from loopcheck.harness.checks.interface import finding
from loopcheck.harness.checks.matching import (
    Match,
    Matching,
    call_reading,
    is_complete,
    is_visible,
    schema_of,
    whole_arguments,
)
from loopcheck.harness.checks.values import ordinary_readings, reading
from loopcheck.harness.checks.wording import ending, executions, sent_arguments
from loopcheck.harness.results import Finding, Level
from loopcheck.harness.scenario.model import Scenario

COMPLETE_ONLY_SENTENCE = (
    "no call runs from arguments that were cut or are no JSON object, or from a response that "
    "failed"
)
EXACT_SENTENCE = "no value of a call's arguments is changed or invented"
ALLOWED_SENTENCE = "nothing runs that the model did not ask for"
ONCE_SENTENCE = "a call is carried out at most once, whatever fails, is retried or is resumed"
ONCE_READ_SENTENCE = "a read is carried out once, and again only after a failure"
UNFINISHED_SENTENCE = (
    "nothing runs from a response that was marked incomplete, filtered or refused, or that lacks "
    "its terminal signal, although the call is whole"
)


@dataclass(frozen=True, slots=True)
class _Case:
    """The evidence with its matching: what every rule here looks at."""

    evidence: Evidence
    matching: Matching

    def current(self, execution: Execution) -> Response | None:
        return next((r for r in self.evidence.responses if r.n == execution.response), None)

    def earlier(self, execution: Execution) -> list[Response]:
        """The responses before the current one, latest first."""
        before = [r for r in self.evidence.responses if r.n < (execution.response or 0)]
        return before[::-1]

    def reads(self, execution: Execution, call: Issued) -> bool:
        return call_reading(execution, call, self.evidence.scenario) is not None


_Rule = Callable[[_Case, Execution], Iterator[Finding]]


def _calls_of(response: Response | None, tool: str) -> list[Issued]:
    calls = response.calls if response is not None else ()
    return [call for call in calls if call.tool == tool and is_visible(call)]


def stray_findings(evidence: Evidence, matching: Matching) -> Iterator[Finding]:
    """The finding of each stray; none for a repetition that is allowed."""
    case = _Case(evidence, matching)
    for execution in matching.strays:
        yield from _first_that_fits(case, execution)(case, execution)


def early_finding(found: Match, scenario: Scenario) -> Finding:
    """The finding about a whole call that ran although its response did not end well."""
    level = _level_of(found.response)
    return _incomplete(scenario, found.execution, found.call, found.response, level)


def _first_that_fits(case: _Case, execution: Execution) -> _Rule:
    current = case.current(execution)
    calls = _calls_of(current, execution.tool)
    if current is None or not calls:
        return _without_call(case, execution)
    if _is_repeated_behind_a_death(case, execution):
        return _again
    if any(whole_arguments(call) is None for call in calls):
        return _from_incomplete
    unused = [call for call in calls if case.matching.of(call) is None]
    if not unused and _others(case, execution):
        return _again
    return _changed if current.ends == "well" else _from_incomplete


def _without_call(case: _Case, execution: Execution) -> _Rule:
    """The rule for a tool that the current response does not ask for: whose call is it then?"""
    for response in case.earlier(execution):
        for call in _calls_of(response, execution.tool):
            if case.reads(execution, call):
                return _again if is_complete(call, response) else _from_incomplete
    for response in case.earlier(execution):
        if not response.accepted and any(
            whole_arguments(call) is None for call in _calls_of(response, execution.tool)
        ):
            return _from_incomplete
    return _unasked


def _is_repeated_behind_a_death(case: _Case, execution: Execution) -> bool:
    """Whether a process that has died since had carried out the same."""
    return any(
        found.execution.n < died < execution.n
        for found in _others(case, execution)
        for died in case.evidence.deaths
    )


def _others(case: _Case, execution: Execution) -> list[Match]:
    """The executions of the calls that this one repeats."""
    return [found for found in case.matching.matches if case.reads(execution, found.call)]


def _from_incomplete(case: _Case, execution: Execution) -> Iterator[Finding]:
    scenario = case.evidence.scenario
    for response in _with_current_first(case, execution):
        calls = _calls_of(response, execution.tool)
        whole = [call for call in calls if case.reads(execution, call)]
        broken = [call for call in calls if whole_arguments(call) is None]
        if broken:
            call = next((c for c in broken if _is_ordinary(case, execution, c)), broken[0])
            loose = response.ends != "failed" and _is_ordinary(case, execution, call)
            level: Level = "should" if loose else "must"
            yield _incomplete(scenario, execution, call, response, level)
            return
        if whole and response.ends != "well":
            yield _incomplete(scenario, execution, whole[0], response, _level_of(response))
            return
        if calls and response.ends != "well":
            yield _incomplete(scenario, execution, calls[0], response, "must")
            return


def _with_current_first(case: _Case, execution: Execution) -> list[Response]:
    current = case.current(execution)
    return [*([current] if current is not None else []), *case.earlier(execution)]


def _level_of(response: Response) -> Level:
    return "must" if response.ends == "failed" else "should"


def _is_ordinary(case: _Case, execution: Execution, call: Issued) -> bool:
    """Whether a parser in wide use reads the arguments so: loose, but nothing was cut."""
    if call.sent != "whole":
        return False
    schema = schema_of(case.evidence.scenario, call.tool)
    return any(
        reading(sent, execution.arguments, schema) is not None
        for sent in ordinary_readings(call.arguments)
    )


def _incomplete(
    scenario: Scenario, execution: Execution, call: Issued, response: Response, level: Level
) -> Finding:
    cut = whole_arguments(call) is None
    return finding(
        "execution.complete-only",
        level,
        COMPLETE_ONLY_SENTENCE if level == "must" else UNFINISHED_SENTENCE,
        expected=f"0 executions of {execution.tool} for call {call.name}",
        seen=f"{executions([execution])}; the model had sent {sent_arguments(call)} "
        f"and then {ending(response)}{_meant(scenario, execution, call)}",
        entries=(execution.n, response.n),
        why="an incomplete JSON text was completed, or the end of the stream taken for its end"
        if cut
        else "the call is run as soon as its JSON is whole, before the response's end is known",
    )


def _meant(scenario: Scenario, execution: Execution, call: Issued) -> str:
    """The values that the scenario says were meant, where others ran."""
    meant = scenario.meant(call.label).items()
    other = [f"{k}={v!r}" for k, v in meant if execution.arguments.get(k) != v]
    return f" ({', '.join(other)} was meant)" if other else ""


def _unasked(case: _Case, execution: Execution) -> Iterator[Finding]:
    current = case.current(execution)
    known = execution.tool in case.evidence.scenario.tools
    asked = ", ".join(call.tool for call in current.calls if is_visible(call)) if current else ""
    yield finding(
        "execution.allowed",
        "must",
        ALLOWED_SENTENCE,
        expected=f"only calls of the latest response: {asked or 'none'}",
        seen=executions([execution]) + ("" if known else "; the task has no such tool"),
        entries=(execution.n, *([current.n] if current is not None else [])),
    )


def _changed(case: _Case, execution: Execution) -> Iterator[Finding]:
    current = case.current(execution)
    calls = _calls_of(current, execution.tool)
    unused = [call for call in calls if case.matching.of(call) is None]
    meant = (unused or calls)[0]
    yield finding(
        "execution.exact-arguments",
        "must",
        EXACT_SENTENCE,
        expected=f"{execution.tool} with {sent_arguments(meant)} (call {meant.name})",
        seen=executions([execution]),
        entries=(execution.n, meant.n),
        why=_mixture(execution, calls),
    )


def _mixture(execution: Execution, calls: Sequence[Issued]) -> str | None:
    sources = {
        call.name
        for call in calls
        for name, value in (whole_arguments(call) or {}).items()
        if name in execution.arguments and execution.arguments[name] == value
    }
    if len(sources) < 2:
        return None
    return f"fragments of the calls {', '.join(sorted(sources))} were joined"


def _again(case: _Case, execution: Execution) -> Iterator[Finding]:
    others = _others(case, execution)
    if _may_run_again(case, execution, others):
        return
    first = others[0]
    writes = _is_write(case.evidence, execution.tool)
    yield finding(
        "execution.once",
        "must" if writes and not _was_recognised(case, execution) else "should",
        ONCE_SENTENCE if writes else ONCE_READ_SENTENCE,
        expected=f"1 execution for call {first.call.name}",
        seen=executions([*(other.execution for other in others), execution]),
        entries=(execution.n, *(o.execution.n for o in others), first.call.n),
        why="a failed request or tool was retried together with what had already been done",
    )


def _was_recognised(case: _Case, execution: Execution) -> bool:
    """Whether the system behind the tool knew the operation again although it was given no id,
    so that nothing was done twice."""
    effects = [one for one in case.evidence.effects if one.execution == execution.number]
    return (
        execution.operation_id is None
        and bool(effects)
        and all(effect.deduplicated for effect in effects)
    )


def _is_write(evidence: Evidence, tool: str) -> bool:
    model = evidence.scenario.tools.get(tool)
    return model is None or model.kind == "write"


def _may_run_again(case: _Case, execution: Execution, others: Sequence[Match]) -> bool:
    earlier = [found.execution for found in others]
    earlier.extend(
        one
        for one in case.matching.strays
        if one.n < execution.n and case.reads(one, others[0].call)
    )
    if all(one.ended == "rejected" for one in earlier):
        return True  # the world refused it, and said that nothing was done
    if not _is_write(case.evidence, execution.tool):
        failed = all(one.ended not in (None, "result") for one in earlier)
        return failed or _behind_a_death(case, execution, others[0].call)
    return _deduplicated(case, execution, earlier) or _was_absent(case, execution, earlier)


def _behind_a_death(case: _Case, execution: Execution, call: Issued) -> bool:
    """Whether a process died between the call and this execution of it."""
    return any(call.n < died < execution.n for died in case.evidence.deaths)


def _deduplicated(case: _Case, execution: Execution, earlier: Sequence[Execution]) -> bool:
    model = case.evidence.scenario.tools.get(execution.tool)
    if model is None or not model.deduplicates or execution.operation_id is None:
        return False
    return all(one.operation_id == execution.operation_id for one in earlier)


def _was_absent(case: _Case, execution: Execution, earlier: Sequence[Execution]) -> bool:
    """Whether the world said, since it last ran, that the operation left no effect."""
    last = max(one.n for one in earlier)
    return any(
        lookup.answer == "absent"
        and lookup.tool == execution.tool
        and last < lookup.n < execution.n
        and execution.operation_id in (None, lookup.operation_id)
        for lookup in case.evidence.lookups
    )
