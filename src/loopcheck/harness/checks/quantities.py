"""How many executions, effects and requests a scenario expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.checks.evidence import Evidence
from loopcheck.harness.checks.interface import finding
from loopcheck.harness.checks.matching import pair_up, schema_of
from loopcheck.harness.checks.values import reading
from loopcheck.harness.checks.wording import as_json, counted, entered
from loopcheck.harness.results import Finding, Level
from loopcheck.harness.scenario.expectations import AnyOfQuantity, AtLeast, AtMost, Quantity

CHECK = "scenario.expects"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something countable that happened: its journal entry, and the arguments it had."""

    n: int
    arguments: JsonObject


def tool_findings(
    what: str, expected: dict[str, Quantity] | None, level: Level, evidence: Evidence
) -> Iterator[Finding]:
    """Unmet expectations of `executions` or `effects`. What a must does not name is 0."""
    if expected is None:
        return
    named: dict[str, Quantity] = dict(expected)
    if level == "must":
        others = (*evidence.scenario.tools, *(one.tool for one in evidence.executions))
        named.update({tool: 0 for tool in others if tool not in named})
    for tool, quantity in named.items():
        seen = list(_occurrences(what, tool, evidence))
        if not is_met(quantity, seen, evidence, tool):
            yield _finding(what, tool, quantity, seen, level, evidence)


def _occurrences(what: str, tool: str, evidence: Evidence) -> Iterator[Occurrence]:
    if what == "executions":
        for execution in evidence.executions:
            if execution.tool == tool:
                yield Occurrence(execution.n, execution.arguments)
    else:
        for effect in evidence.effects:
            if effect.tool == tool and not effect.deduplicated:
                yield Occurrence(effect.n, effect.arguments)


def is_met(
    quantity: Quantity, seen: Sequence[Occurrence], evidence: Evidence, tool: str = ""
) -> bool:
    """Whether so many, with such arguments, are what was expected."""
    if isinstance(quantity, AnyOfQuantity):
        return any(is_met(one, seen, evidence, tool) for one in quantity.any_of)
    if isinstance(quantity, AtMost):
        return len(seen) <= quantity.at_most
    if isinstance(quantity, AtLeast):
        return len(seen) >= quantity.at_least
    if isinstance(quantity, int):
        return len(seen) == quantity
    cost = _reads(evidence, tool)
    return len(seen) == len(quantity) == len(pair_up(quantity, seen, cost))


def _reads(evidence: Evidence, tool: str) -> Callable[[JsonObject, Occurrence], int | None]:
    schema = schema_of(evidence.scenario, tool)

    def cost(expected: JsonObject, occurrence: Occurrence) -> int | None:
        return reading(expected, occurrence.arguments, schema)

    return cost


def in_words(quantity: Quantity, what: str) -> str:
    """The quantity as a report says it: `at most 2 executions`."""
    if isinstance(quantity, AnyOfQuantity):
        return " or ".join(in_words(one, what) for one in quantity.any_of)
    if isinstance(quantity, AtMost):
        return f"at most {counted(quantity.at_most, what)}"
    if isinstance(quantity, AtLeast):
        return f"at least {counted(quantity.at_least, what)}"
    if isinstance(quantity, int):
        return counted(quantity, what)
    return f"exactly {', '.join(as_json(arguments) for arguments in quantity) or 'none'}"


def proof(
    quantity: Quantity, seen: Sequence[Occurrence], evidence: Evidence, tool: str = ""
) -> list[int]:
    """The entries that prove it: what was not expected first; where nothing is too much, the end
    of the case, by which more had not come."""
    entries = [occurrence.n for occurrence in seen]
    odd = _unexpected(quantity, seen, evidence, tool)
    rest = [n for n in entries if n not in odd]
    return [*odd, *rest] if odd else [evidence.last_n, *entries]


def _unexpected(
    quantity: Quantity, seen: Sequence[Occurrence], evidence: Evidence, tool: str
) -> list[int]:
    if isinstance(quantity, tuple):
        expected = pair_up(quantity, seen, _reads(evidence, tool)).values()
        return [one.n for place, one in enumerate(seen) if place not in expected]
    most = _most(quantity)
    return [] if most is None else [one.n for one in seen[most:]]


def _most(quantity: Quantity) -> int | None:
    if isinstance(quantity, AnyOfQuantity):
        counts = [_most(one) for one in quantity.any_of]
        known = [count for count in counts if count is not None]
        return max(known) if len(known) == len(counts) and known else None
    if isinstance(quantity, AtMost):
        return quantity.at_most
    if isinstance(quantity, AtLeast):
        return None
    return quantity if isinstance(quantity, int) else len(quantity)


def _finding(
    what: str,
    tool: str,
    quantity: Quantity,
    seen: Sequence[Occurrence],
    level: Level,
    evidence: Evidence,
) -> Finding:
    calls = "; ".join(entered(tool, occurrence.arguments) for occurrence in seen)
    return finding(
        CHECK,
        level,
        evidence.scenario.title,
        expected=f"{in_words(quantity, what.removesuffix('s'))} of {tool}",
        seen=f"{len(seen)}: {calls}" if seen else "none",
        entries=proof(quantity, seen, evidence, tool),
    )
