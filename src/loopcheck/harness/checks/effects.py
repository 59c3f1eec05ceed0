"""Checks of the ledger: one effect per business operation."""

from __future__ import annotations

import json
import re
from typing import Final

from loopcheck.fake_providers.wire import Item
from loopcheck.harness.checks.conversation import Conversation, conversations
from loopcheck.harness.checks.evidence import Effect, Evidence, Execution
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import Match, equal_calls, match
from loopcheck.harness.checks.parts import part_of
from loopcheck.harness.checks.wording import as_json, counted, elided
from loopcheck.harness.results import Finding

_ONCE = "one effect per business operation"
_REPORTED = (
    "a result given to the model does not deny an effect that the world confirmed to the tool"
)
_DENIAL: Final = re.compile(
    r"\b(error|failed|failure|exception|not (been )?(done|executed|completed|run)|cancell?ed|"
    r"aborted|interrupted|timed out)\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(unknown|uncertain|unclear|not known|not sure|may have|might have|could have)\b",
    re.IGNORECASE,
)


def _once(evidence: Evidence) -> list[Finding] | Unjudged:
    operations: dict[tuple[int | None, str, str], list[Effect]] = {}
    parts = _parts(evidence)
    for effect in evidence.effects:
        if effect.operation is not None and not effect.deduplicated:
            key = json.dumps(effect.operation, sort_keys=True, default=str)
            place = parts.get(effect.execution), effect.tool, key
            operations.setdefault(place, []).append(effect)
    if not operations:
        return Unjudged("not exercised", "no effect of a tool with an operation key")
    return [_doubled(effects, evidence) for effects in operations.values() if len(effects) > 1]


def _parts(evidence: Evidence) -> dict[int, int]:
    """The part of the case in which each execution was asked for: what a further message, or
    another run, asks for is another action, also where it reads the same. Who starts over from an
    earlier part, or repeats what was done there, is still at that one."""
    turns: dict[int | None, int] = {one.n: one.turn for one in evidence.responses}
    asked = {one.number: one.response for one in evidence.executions}
    asked |= {found.execution.number: found.call.n for found in match(evidence).matches}
    return {
        number: part_of(turns.get(response, 1), evidence.scenario)
        for number, response in asked.items()
    }


def _doubled(effects: list[Effect], evidence: Evidence) -> Finding:
    first = effects[0]
    return finding(
        "effect.once",
        "must" if "operation_ids" in evidence.can else "should",
        _ONCE,
        expected=f"1 effect of {first.tool} for {as_json(first.operation)}",
        seen=f"{counted(len(effects), 'effect')}, from {_sources(effects, evidence)}",
        entries=(*(effect.n for effect in effects[1:]), first.n),
        why="a repeated business action has a new call id each time; calls are known by that only",
    )


def _sources(effects: list[Effect], evidence: Evidence) -> str:
    calls = {found.execution.number: found.call.name for found in match(evidence).matches}
    names = (calls.get(one.execution, f"execution {one.execution}") for one in effects)
    return " and ".join(dict.fromkeys(names))


def _reported(evidence: Evidence) -> list[Finding] | Unjudged:
    done = {effect.execution for effect in evidence.effects}
    matches = match(evidence).matches
    told = [
        (talk.request.n, found, result, _told_to_equals(talk, found))
        for talk in conversations(evidence)
        for found in matches
        if found.execution.number in done
        and (held := talk.of(found.call)) is not None
        and found.execution.n < talk.request.n
        for result in held.results[-1:]
    ]
    if not told:
        return Unjudged("not exercised", "no request holds the result of a call with an effect")
    findings: dict[int, Finding] = {}
    for n, found, result, equals in told:
        # One that the system recognised as a repetition tells of the effect of the first.
        tokens = {one.execution.token for one in matches if one.call == found.call}
        if any(token and token in text for token in tokens for text in (result.text, *equals)):
            continue
        wrong = _misreported(n, found, result, evidence)
        if wrong is not None:
            findings.setdefault(found.execution.number, wrong)
    return list(findings.values())


def _told_to_equals(talk: Conversation, found: Match) -> list[str]:
    """The results under calls that ask for the same: nobody can say whose execution it was."""
    return [
        result.text
        for held in talk.calls
        if held.issued is not None
        and held.issued != found.call
        and equal_calls(held.issued, found.call)
        for result in held.results[-1:]
    ]


def _misreported(n: int, found: Match, result: Item, evidence: Evidence) -> Finding | None:
    """What is wrong with what the model was told of an effect that was committed, where that
    holds no token of its executions."""
    execution = found.execution
    is_open = execution.ended_n is None or execution.ended_n > n
    is_unheard = is_open or _is_unheard(n, execution, evidence)
    is_confirmed = execution.ended == "result" and bool(execution.token) and not is_unheard
    if is_unheard and _is_told_again(execution, result, evidence):
        return None
    if is_confirmed and (result.is_error or _is_denial(result.text)):
        return finding(
            "effect.reported",
            "should" if _came_late(execution, evidence) else "must",
            _REPORTED,
            expected=f"the result of call {found.call.name}, which the world confirmed",
            seen=f"{elided(result.text, 100)!r}",
            entries=(n, execution.n),
            why="the call's own result was replaced by an error",
        )
    is_unknown = execution.ended in ("raised", "abandoned") or is_unheard
    if is_unknown and "reports_effects" in evidence.can and not _is_open(result):
        return finding(
            "effect.reported",
            "should",
            "an unknown outcome is said to be unknown",
            expected=f"that it is unknown whether {found.call.name} took effect",
            seen=f"{elided(result.text, 100)!r}",
            entries=(n, execution.n),
        )
    return None


def _is_unheard(n: int, execution: Execution, evidence: Evidence) -> bool:
    """Whether the process that called it had died before entry n, and nobody has looked up since
    what became of it."""
    death = next((died for died in evidence.deaths if execution.n < died < n), None)
    return death is not None and not any(
        lookup.answer == "found"
        and lookup.tool == execution.tool
        and lookup.operation_id == execution.operation_id
        and death < lookup.n < n
        for lookup in evidence.lookups
    )


def _is_told_again(execution: Execution, result: Item, evidence: Evidence) -> bool:
    """Whether the result is what the system said when it was asked again."""
    return any(
        one.n > execution.n
        and one.tool == execution.tool
        and one.arguments == execution.arguments
        and bool(one.token)
        and one.token in result.text
        for one in evidence.executions
    )


def _came_late(execution: Execution, evidence: Evidence) -> bool:
    """Whether the world confirmed it when the run had been given up, or since its last request
    before that: nothing shows that the loop had heard of it."""
    cancelled = evidence.cancelled_n
    if cancelled is None:
        return False
    asked = max((request.n for request in evidence.requests if request.n < cancelled), default=0)
    return (execution.ended_n or 0) > asked


def _is_denial(text: str) -> bool:
    """Whether a text says that nothing was done, also as the name of a member."""
    return bool(_DENIAL.search(text))


def _is_open(result: Item) -> bool:
    return bool(_OPEN.search(result.text))


ONCE = Check(
    id="effect.once",
    sentence=_ONCE,
    should="likewise for targets that do not declare operation_ids",
    rank=20,
    advice="Key a write by an operation id of your own that stays the same when the model asks "
    "again, or look the operation up before you repeat it.",
    judge=_once,
)
REPORTED = Check(
    id="effect.reported",
    sentence=_REPORTED,
    should="an unknown outcome is said to be unknown, by targets that declare reports_effects",
    rank=21,
    advice="Give the model the result that the tool returned. Where a write raised, look the "
    "operation up, or tell the model that its outcome is unknown; never that it failed.",
    judge=_reported,
)
