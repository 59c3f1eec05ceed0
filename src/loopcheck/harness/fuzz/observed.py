"""What a loop did in a case, in a form in which two runs can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.checks.conversation import conversations
from loopcheck.harness.checks.evidence import Evidence, Execution
from loopcheck.harness.checks.reading import read
from loopcheck.harness.fuzz.trial import Ran
from loopcheck.harness.results import TargetCard
from loopcheck.harness.scenario.json_text import compact

NO_TOKEN: Final = "no token"


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs first, and how."""

    kind: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Executions by tool and arguments, writes in the order in which they were begun, what stands
    under each call at the end, and the outcome.

    In `results` each token is named by the execution that it belongs to; `told` says no more than
    whose tokens these are. Who runs the calls of one response at once promises no order among
    them, so that theirs are sorted.
    """

    executions: Counter[str]
    writes: tuple[tuple[str, ...], ...]
    results: Mapping[str, tuple[str, ...]]
    told: Mapping[str, tuple[str, ...]]
    state: str
    outcome: str

    def difference(self, other: Observed, *, loosely: bool = False) -> Difference | None:
        """What is the first thing that is otherwise there; `loosely`, the words of results and
        the reason of the outcome do not count."""
        pairs = [
            ("executions", _listed(self.executions), _listed(other.executions)),
            ("order of writes", self.writes, other.writes),
            ("outcome", self.state, other.state),
            ("results by call", self.told, other.told),
        ]
        if not loosely:
            pairs.append(("outcome", self.outcome, other.outcome))
            pairs.append(("results by call", self.results, other.results))
        for kind, mine, theirs in pairs:
            if mine != theirs:
                return Difference(kind, str(mine), str(theirs))
        return None

    def more_than(self, other: Observed) -> Difference | None:
        """What was executed here beyond what was there."""
        more = self.executions - other.executions
        if not more:
            return None
        return Difference("executions", _listed(other.executions), _listed(self.executions))


def observe(ran: Ran, card: TargetCard) -> Observed:
    """What the loop did in this case."""
    evidence = read(ran.entries, ran.spec.scenario, frozenset(card.can), card.limit_unit)
    results = _results(evidence)
    names = {one.token: f"<{_named(one)}>" for one in evidence.executions if one.token}
    outcome = evidence.outcome
    return Observed(
        executions=Counter(map(_named, evidence.executions)),
        writes=tuple(_writes(evidence, ran.spec, at_once="parallel" in card.can)),
        results={key: tuple(_with(text, names) for text in all_) for key, all_ in results.items()},
        told={key: tuple(_told(text, names) for text in all_) for key, all_ in results.items()},
        state=outcome.state if outcome is not None else "none",
        outcome=f"{outcome.state}/{outcome.reason}" if outcome is not None else "none",
    )


def _named(execution: Execution) -> str:
    return f"{execution.tool} {compact(dict(sorted(execution.arguments.items())))}"


def _listed(executions: Counter[str]) -> str:
    return ", ".join(sorted(executions.elements())) or "none"


def _writes(evidence: Evidence, spec: CaseSpec, *, at_once: bool) -> list[tuple[str, ...]]:
    tools = spec.scenario.tools
    writes = [
        one
        for one in evidence.executions
        if one.tool not in tools or tools[one.tool].kind == "write"
    ]
    groups = [list(group) for _, group in groupby(writes, key=lambda one: one.response)]
    named = [[_named(one) for one in group] for group in groups]
    return [tuple(sorted(group) if at_once else group) for group in named]


def _results(evidence: Evidence) -> dict[str, list[str]]:
    """The texts under each call, in the last request that holds it."""
    found: dict[str, list[str]] = {}
    for talk in conversations(evidence):
        latest: dict[str, list[str]] = {}
        for held in talk.calls:
            if held.issued is not None:
                texts = [result.text for result in held.results]
                latest.setdefault(held.issued.label, []).extend(texts)
        found |= latest
    return dict(sorted(found.items()))


def _with(text: str, names: Mapping[str, str]) -> str:
    for token, name in names.items():
        text = text.replace(token, name)
    return text


def _told(text: str, names: Mapping[str, str]) -> str:
    return " ".join(sorted(name for token, name in names.items() if token in text)) or NO_TOKEN
