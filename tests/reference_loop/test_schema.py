from __future__ import annotations

import pytest

from loopcheck.reference_loop import schema

SEAT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "seat": {"type": "integer", "minimum": 1}},
    "required": ["event", "seat"],
    "additionalProperties": False,
}


def test_arguments_that_fit() -> None:
    assert schema.problems(SEAT, {"event": "WS-7", "seat": 12}) == []


def test_each_problem_is_named_with_its_place() -> None:
    assert schema.problems(SEAT, {"event": 7, "seat": 0}) == [
        "$.event: 7 is not of type 'string'",
        "$.seat: 0 is less than the minimum of 1",
    ]
    assert schema.problems(SEAT, {"seat": 1}) == ["$: 'event' is a required property"]


def test_problems_are_bounded_in_number_and_length() -> None:
    numbers = {"type": "object", "additionalProperties": {"type": "integer"}}
    found = schema.problems(numbers, {f"n{n}": "x" * 1000 for n in range(9)})
    assert len(found) == schema.MAX_PROBLEMS
    assert all(len(problem) < schema.MAX_PROBLEM_CHARACTERS + 20 for problem in found)
    assert found[0].endswith("…")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "properties.a.type: "),
        ({"type": "array"}, "type must be 'object', not 'array'"),
        ({"type": 7}, "type: "),
    ],
)
def test_a_schema_that_cannot_be_used(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(schema.InvalidSchema) as caught:
        schema.check(wrong)
    assert str(caught.value).startswith(message)


def test_a_reference_within_the_schema_holds() -> None:
    tree = {
        "type": "object",
        "properties": {"inner": {"$ref": "#"}},
        "additionalProperties": False,
    }
    assert schema.problems(tree, {"inner": {"inner": {}}}) == []
    assert schema.problems(tree, {"inner": {"other": 1}}) != []


def test_nothing_is_fetched_for_a_reference_elsewhere() -> None:
    remote = {"type": "object", "properties": {"a": {"$ref": "https://example.invalid/a.json"}}}
    schema.check(remote)
    with pytest.raises(schema.InvalidSchema, match=r"example\.invalid"):
        schema.problems(remote, {"a": 1})
