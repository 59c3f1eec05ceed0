"""What is generated is a valid scenario, and shrinks to a small one."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeVar

from hypothesis import find, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from loopcheck.fake_providers.script import MODES
from loopcheck.harness.cases import expand
from loopcheck.harness.deaths import complaint
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import DeliveryModel, Scenario
from loopcheck.harness.scenario.schemas import accepts
from loopcheck.harness.scenario.write import write
from loopcheck.harness.strategies import (
    FEATURES,
    PLAIN,
    arguments,
    deaths,
    deliveries,
    features_for,
    portable_scenarios,
    scenarios,
    wrong_arguments,
)

T = TypeVar("T")
QUICK = settings(max_examples=40, derandomize=True, database=None)
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 5},
        "seat": {"type": "integer", "minimum": 3, "maximum": 9},
        "price": {"type": ["number", "null"]},
        "klass": {"enum": ["first", 2]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        "pair": {"type": "array", "prefixItems": [{"type": "boolean"}, {"const": 4}]},
        "place": {"anyOf": [{"type": "object", "properties": {"x": {}}}, {"type": "null"}]},
    },
    "required": ["name", "seat", "tags"],
}


def simplest(drawn: st.SearchStrategy[T], matters: Callable[[T], bool] = lambda one: True) -> T:
    """What one of these that matters shrinks to, the same each time."""
    return find(drawn, matters, settings=settings(database=None), random=Random(0))


def loaded(scenario: Scenario) -> Scenario:
    return load_text(write(scenario).encode(), file="generated.yaml", id="")


@QUICK
@given(scenarios(features=FEATURES))
def test_scenarios_are_clean_and_can_be_kept(scenario: Scenario) -> None:
    assert loaded(scenario) == scenario


@QUICK
@given(portable_scenarios())
def test_portable_ones_are_for_every_dialect_and_mode(scenario: Scenario) -> None:
    assert loaded(scenario) == scenario
    assert len(list(expand([scenario]))) == 6


def test_the_simplest_has_one_tool_and_one_call() -> None:
    scenario = simplest(scenarios(dialects=["chat"], modes=["stream"]))
    assert write(scenario).partition("tools:\n")[2] == SIMPLEST


SIMPLEST = """\
  book_seat: {kind: write}

turns:
  - calls: [{as: a, tool: book_seat, args: {}}]
"""


def is_late(args: dict[str, object]) -> bool:
    seat = args.get("seat")
    return isinstance(seat, int) and seat >= 12


def test_little_is_left_beside_an_argument_that_matters() -> None:
    def matters(scenario: Scenario) -> bool:
        calls = [call for turn in scenario.turns for call in turn.calls]
        return any(is_late(call.args or {}) for call in calls)

    quick = settings(max_examples=100, database=None)
    drawn = scenarios(dialects=["chat"], modes=["whole"], features=["parallel", "faults"])
    scenario = find(drawn, matters, settings=quick, random=Random(2))
    calls = [call for turn in scenario.turns for call in turn.calls]
    assert len(calls) <= 2
    assert calls[-1].args == {"seat": 12}
    assert list(scenario.tools) == [calls[-1].tool]
    assert scenario.turns[-1].attempts == ("normal",)


@QUICK
@given(scenarios(features=["faults", "quirks", "invalid"]))
def test_only_what_was_asked_for_is_in_them(scenario: Scenario) -> None:
    assert scenario.needs == ()
    assert scenario.meanwhile == ()
    assert scenario.delivery == DeliveryModel()
    assert all(len(turn.calls) <= 1 for turn in scenario.turns)


def test_a_target_gets_the_features_that_it_bears() -> None:
    assert features_for([]) == PLAIN
    assert set(features_for(["limits", "thinking"])) == {*PLAIN, "endless", "thinking"}
    assert set(features_for(["tool_timeout"], slow=True)) == {*PLAIN, "hangs", "stalls"}


@QUICK
@given(st.data())
def test_arguments_satisfy_their_schema(data: st.DataObject) -> None:
    value = data.draw(arguments(SCHEMA))
    Draft202012Validator(SCHEMA).validate(value)


@QUICK
@given(st.data())
def test_wrong_arguments_do_not(data: st.DataObject) -> None:
    value = data.draw(wrong_arguments(SCHEMA))
    assert not accepts(SCHEMA, value)


def test_schemas_whose_parts_depend_on_each_other_get_their_values_elsewhere() -> None:
    inner = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    schema = {
        "type": "object",
        "properties": {"format": {"$ref": "#/$defs/inner"}},
        "required": ["format"],
        "$defs": {"inner": inner},
    }
    value = simplest(arguments(schema))
    Draft202012Validator(schema).validate(value)


@QUICK
@given(deliveries())
def test_deliveries_lose_nothing_and_are_legal(delivery: DeliveryModel) -> None:
    assert (delivery.interleave, delivery.bom, delivery.pauses) == (None, None, None)


def test_the_simplest_delivery_is_the_default() -> None:
    assert simplest(deliveries()) == DeliveryModel()
    odd = simplest(deliveries(lossless=False), lambda one: one.bom is not None)
    assert (odd.bom, odd.fragments, odd.segments) == (True, None, None)


def test_deaths_are_points_of_the_case_the_earliest_first() -> None:
    scenario = simplest(scenarios(dialects=["chat"], modes=MODES[:1]))
    (spec,) = expand([scenario])
    assert str(simplest(deaths(spec))) == "death@turn1.asked"
    assert str(simplest(deaths(spec, rivals=True), lambda one: one.rivals)) == "rivals@turn1.asked"
    for point in ("turn1.sent", "a.started", "a.committed", "a.sent"):
        death = simplest(deaths(spec), lambda one, point=point: one.point == point)  # type: ignore[misc]
        assert complaint(death.point, spec) is None
