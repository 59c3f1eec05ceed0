"""Checks of the ledger: one effect per business operation."""

from __future__ import annotations

import json

from loopcheck.harness.checks.evidence import Effect, Evidence
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import match
from loopcheck.harness.checks.wording import as_json, counted
from loopcheck.harness.results import Finding

_ONCE = "one effect per business operation"


def _once(evidence: Evidence) -> list[Finding] | Unjudged:
    operations: dict[tuple[str, str], list[Effect]] = {}
    for effect in evidence.effects:
        if effect.operation is not None and not effect.deduplicated:
            key = json.dumps(effect.operation, sort_keys=True, default=str)
            operations.setdefault((effect.tool, key), []).append(effect)
    if not operations:
        return Unjudged("not exercised", "no effect of a tool with an operation key")
    return [_doubled(effects, evidence) for effects in operations.values() if len(effects) > 1]


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


ONCE = Check(
    id="effect.once",
    sentence=_ONCE,
    should="likewise for targets that do not declare operation_ids",
    rank=20,
    advice="Key a write by an operation id of your own that stays the same when the model asks "
    "again, or look the operation up before you repeat it.",
    judge=_once,
)
