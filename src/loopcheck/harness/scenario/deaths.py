"""What is left of a scenario's expectations when its process dies once, wherever it dies.

An honest loop may enter a read again, and a write once the system behind it has said that nothing
came of it; it may have to stop, since nobody can say what became of a write; and it asks the
model again for what it had not saved. So only what was too much stays too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain

from loopcheck.harness.scenario.expectations import (
    AnyOfQuantity,
    AtLeast,
    AtMost,
    Expect,
    ExpectLevel,
    Quantity,
    RequestsModel,
)
from loopcheck.harness.scenario.model import Scenario


def left_of(scenario: Scenario) -> Expect:
    """The scenario's expectations, as they hold for each of its deaths."""
    expect = scenario.expect
    must = _left(expect.must, scenario)
    if must.effects is None:
        must = must.model_copy(update={"effects": _asked_for(scenario)})
    return Expect(must=must, should=_left(expect.should, scenario), may=_left(expect.may, scenario))


def _left(level: ExpectLevel, scenario: Scenario) -> ExpectLevel:
    return ExpectLevel(
        executions=_at_most(level.executions, scenario, again=True),
        effects=_at_most(level.effects, scenario),
        order=level.order,
        requests=_offers(level.requests),
    )


def _at_most(
    expected: Mapping[str, Quantity] | None, scenario: Scenario, *, again: bool = False
) -> dict[str, Quantity] | None:
    """No more than was expected; `again`, once more where a tool may be entered again."""
    if expected is None:
        return None
    return {
        tool: _bound(_most(quantity), 2 if again and _may_be_entered_again(tool, scenario) else 1)
        for tool, quantity in expected.items()
    }


def _bound(most: int | None, times: int = 1) -> Quantity:
    # What a must leaves out is none at all, so what has no bound has to say so.
    return AtLeast(at_least=0) if most is None else AtMost(at_most=most * times)


def _may_be_entered_again(tool: str, scenario: Scenario) -> bool:
    model = scenario.tools.get(tool)
    is_write = model is None or model.kind == "write"
    return not is_write or (model is not None and (model.deduplicates or model.lookup != "none"))


def _most(quantity: Quantity) -> int | None:
    """The most that meets the quantity; None where there is no bound."""
    if isinstance(quantity, AnyOfQuantity):
        counts = [_most(one) for one in quantity.any_of]
        known = [count for count in counts if count is not None]
        return max(known) if known and len(known) == len(counts) else None
    if isinstance(quantity, AtLeast):
        return None
    if isinstance(quantity, AtMost):
        return quantity.at_most
    return quantity if isinstance(quantity, int) else len(quantity)


def _asked_for(scenario: Scenario) -> dict[str, Quantity]:
    """One effect for each call that the script asks for, where the scenario says nothing of its
    own; no bound for a tool that it asks for without end."""
    calls = chain.from_iterable(turn.every_call for turn in scenario.turns)
    counts = Counter({call.label: call.tool for call in calls}.values())
    endless = {call.tool for turn in scenario.otherwise for call in turn.every_call}
    return {
        tool: _bound(None if tool in endless else counts[tool])
        for tool, model in scenario.client_tools.items()
        if model.kind == "write"
    }


def _offers(requests: RequestsModel | None) -> RequestsModel | None:
    """That every request offers all tools; how many there are is another matter."""
    offers = requests is not None and requests.tools == "all"
    return RequestsModel.model_validate({"tools": "all"}) if offers else None
