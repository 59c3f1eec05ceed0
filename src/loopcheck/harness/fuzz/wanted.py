"""What has to come of a script in which nothing goes wrong, or that the user gives up early."""

from __future__ import annotations

from collections import Counter
from typing import Final

from loopcheck.harness.scenario.control_model import MeanwhileModel
from loopcheck.harness.scenario.expectations import AnyOfOutcome, Expect, ExpectLevel
from loopcheck.harness.scenario.json_text import compact
from loopcheck.harness.scenario.model import CallModel, Scenario, TurnModel
from loopcheck.harness.scenario.schemas import accepts
from loopcheck.harness.scenario.shapes import Strict

# A loop may hear of a cancellation late, but not so many responses late.
ROUNDS_TO_GO: Final = 2
# The keys of a scenario, its turns and its tools with which everything goes well.
_PLAIN: Final = frozenset(
    {"id", "format", "title", "rule", "needs", "dialects", "modes", "prompt", "tools", "entries"}
    | {"state", "delivery", "meanwhile", "think", "say", "calls"}
    | {"kind", "args", "schema_", "returns", "description"}
)


def wanted(scenario: Scenario) -> Expect | None:
    """What every honest loop makes of it: each call runs once, and the run is completed; or, where
    it is given up while the first call runs, that it is not. None where it may go otherwise."""
    calls = [call for turn in scenario.turns for call in turn.calls]
    if not _is_plain(scenario) or not all(_is_valid(call, scenario) for call in calls):
        return None
    if scenario.meanwhile:
        return _given_up(scenario)
    if len({f"{call.tool} {compact(call.args)}" for call in calls}) < len(calls):
        return None  # a loop may carry equal calls out once
    counts = Counter(call.tool for call in calls)
    return Expect(must=ExpectLevel(executions=dict(counts), outcome="completed"))


def given_up(scenario: Scenario) -> Scenario:
    """The scenario, given up while its first call runs, with enough to do behind that."""
    calling = [turn for turn in scenario.turns if turn.calls]
    if not calling:
        return scenario
    more = [_once_more(calling[0], number) for number in range(ROUNDS_TO_GO + 1 - len(calling))]
    rule = MeanwhileModel(when=(f"{calling[0].calls[0].label}.started",), do=("cancel",))
    return scenario.model_copy(
        update={
            "entries": (*calling, *more),
            "meanwhile": (rule,),
            "needs": (*scenario.needs, "cancel"),
        }
    )


def _once_more(turn: TurnModel, number: int) -> TurnModel:
    call = turn.calls[0].model_copy(update={"label": f"more{number + 1}"})
    return TurnModel(calls=(call,))


def _given_up(scenario: Scenario) -> Expect | None:
    first, *later = scenario.turns
    rules = [(rule.when, rule.do, rule.after) for rule in scenario.meanwhile]
    if not first.calls or len([turn for turn in later if turn.calls]) < ROUNDS_TO_GO:
        return None
    if rules != [((f"{first.calls[0].label}.started",), ("cancel",), None)]:
        return None
    ends = AnyOfOutcome(any_of=("cancelled", "failed"))
    return Expect(must=ExpectLevel(outcome=ends))


def _is_plain(scenario: Scenario) -> bool:
    models: list[Strict] = [*scenario.tools.values(), *scenario.turns, scenario]
    return not scenario.messages and all(_said(model) <= _PLAIN for model in models)


def _said(model: Strict) -> set[str]:
    return set(model.model_dump(exclude_defaults=True))


def _is_valid(call: CallModel, scenario: Scenario) -> bool:
    tool = scenario.tools.get(call.tool)
    if tool is None or tool.kind not in ("read", "write"):
        return False
    return call.args is not None and accepts(tool.parameters, call.args)
