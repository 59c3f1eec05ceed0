"""What is seldom drawn is drawn, with nothing beside it that does not matter, and for those alone
who bear it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import Phase, find, given, settings

from loopcheck.harness.scenario.model import CallModel, Scenario
from loopcheck.harness.scenario.write import write
from loopcheck.harness.strategies import FEATURES, PLAIN, Feature, features_for, scenarios

QUICK = settings(max_examples=100, derandomize=True, database=None)
SMALL = settings(max_examples=300, database=None)
ANY = settings(max_examples=1500, database=None, phases=[Phase.generate])


def calls(scenario: Scenario) -> list[CallModel]:
    return [call for turn in scenario.turns for call in turn.every_call]


def is_custom(scenario: Scenario) -> bool:
    return any(call.form == "custom" for call in calls(scenario))


def is_keyed(scenario: Scenario) -> bool:
    """Whether one business operation may be asked for twice."""
    keyed = [name for name, tool in scenario.tools.items() if tool.operation is not None]
    return sum(call.tool in keyed for call in calls(scenario)) > 1


def is_looked_up(scenario: Scenario) -> bool:
    return any(tool.lookup != "none" for tool in scenario.tools.values())


def has_lane_of_tools(scenario: Scenario) -> bool:
    return any(lane.if_.tools for lane in scenario.lanes.values())


STORED = """\
needs: [server_state]
dialects: [responses]
modes: [whole]
prompt: Please do what I asked for.
state: server

tools:
  book_seat: {kind: write}

turns:
  - calls: [{as: a, tool: book_seat, args: {}}]
"""
LANES = """\
needs: [lanes]
dialects: [responses]
modes: [whole]
prompt: Please do what I asked for.

tools:
  book_seat: {kind: write}

turns:
  - calls: [{as: a, tool: book_seat, args: {}}]
lanes: {left: {if: {model: left}, turns: [{calls: [{as: b, tool: book_seat, args: {}}]}]}}
"""
CUSTOM = """\
dialects: [responses]
modes: [whole]
prompt: Please do what I asked for.

tools:
  book_seat: {kind: write}

turns:
  - calls: [{as: a, tool: book_seat, raw_args: "{}", form: custom}]
"""


@pytest.mark.parametrize(
    ("feature", "matters", "text"),
    [
        ("state", lambda one: one.state == "server", STORED),
        ("lanes", lambda one: bool(one.lanes), LANES),
        ("custom", is_custom, CUSTOM),
    ],
    ids=["state", "lanes", "custom"],
)
def test_the_simplest_of_each_is_the_plain_one_with_it(
    feature: Feature, matters: Callable[[Scenario], bool], text: str
) -> None:
    drawn = scenarios(dialects=["responses"], modes=["whole"], features=[feature])
    found = find(drawn, matters, settings=SMALL, random=Random(3))
    assert write(found).partition("keeps every rule.\n")[2] == text


@pytest.mark.parametrize(
    ("features", "matters"),
    [
        (["lanes"], has_lane_of_tools),
        (["lanes"], lambda one: len(one.lanes) == 2),
        (["operations", "messages"], lambda one: is_keyed(one) and bool(one.messages)),
        (["operations", "runs"], lambda one: is_keyed(one) and bool(one.messages)),
        (["operations", "messages"], lambda one: is_looked_up(one) and bool(one.messages)),
        (["operations", "resumes"], lambda one: is_keyed(one) and bool(one.meanwhile)),
    ],
    ids=["tools", "two", "user", "run", "lookup", "resume"],
)
def test_each_of_these_is_drawn(
    features: list[Feature], matters: Callable[[Scenario], bool]
) -> None:
    find(scenarios(features=features), matters, settings=ANY, random=Random(3))


@QUICK
@given(scenarios(features=["state", "lanes", "custom", "operations", "ids", "messages", "endless"]))
def test_none_of_them_is_drawn_where_it_has_no_place(scenario: Scenario) -> None:
    assert not (scenario.state == "server" and "chat" in scenario.dialects)
    assert not (is_custom(scenario) and "messages" in scenario.dialects)
    if scenario.lanes:
        assert not scenario.messages
        assert not scenario.limits.given
        assert not any(tool.operation is not None for tool in scenario.tools.values())
        assert not any(call.id for call in calls(scenario))


@QUICK
@given(scenarios(features=[one for one in FEATURES if one not in ("state", "lanes", "custom")]))
def test_none_of_them_is_drawn_unless_it_is_asked_for(scenario: Scenario) -> None:
    assert (scenario.state, scenario.lanes) == ("client", {})
    assert not is_custom(scenario)


def test_only_who_declares_them_gets_state_and_lanes() -> None:
    assert {"state", "lanes"}.isdisjoint(features_for(["follow_up", "resume"]))
    assert set(features_for(["server_state", "lanes"])) == {*PLAIN, "state", "lanes"}
    assert "custom" in PLAIN
