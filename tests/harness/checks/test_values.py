"""JSON equality, and readings that change nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.checks.values import Reading, ordinary_readings, reading, same, whole_object

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def schema(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (12, 12.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        ("12", 12, False),
        ([1, {"a": None}], [1.0, {"a": None}], True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        (10**20, 1e20, True),
        (10**20 + 1, 1e20, False),
        (None, False, False),
        (["a"], "a", False),
    ],
)
def test_equality_is_that_of_json(one: object, other: object, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal


@given(JSON)
def test_every_value_is_the_same_as_itself(value: object) -> None:
    assert same(value, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  ", {}),
        ('{"a": 1', None),
        ('{"a": 1}{"a": 1}', None),
        ("[1]", None),
        ("null", None),
        ('{"a": 1, "a": 2}', None),
        ('{"a": {"b": 1, "b": 2}}', None),
        ('{"a": NaN}', None),
        ("[" * 100_000, None),
    ],
)
def test_a_whole_object_is_one_by_the_letter(text: str, value: object) -> None:
    assert whole_object(text) == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1, "a": 2}', [{"a": 2}]),
        ("null", [{}]),
        ('"{\\"a\\": 1}"', [{"a": 1}]),
        ('{"a": "x\ny"}', [{"a": "x\ny"}]),
        ('{"a": 1', []),
        ("[1]", []),
    ],
)
def test_ordinary_parsers_are_looser_but_complete_nothing(text: str, values: object) -> None:
    assert ordinary_readings(text) == values


@pytest.mark.parametrize(
    ("kind", "sent", "got", "expected"),
    [
        ("integer", 12, 12, Reading.EXACT),
        ("integer", 12.0, 12, Reading.EXACT),
        ("integer", "12", 12, Reading.LOSSLESS),
        ("integer", "12.5", 12, None),
        ("integer", 12.5, 12, None),
        ("integer", "012", 12, Reading.LOSSLESS),
        ("integer", "window", None, None),
        ("integer", 12, 1, None),
        ("integer", True, 1, Reading.LOSSLESS),
        ("integer", True, 0, None),
        ("number", "1e3", 1000.0, Reading.LOSSLESS),
        ("number", "0.1", 0.1, Reading.LOSSLESS),
        ("string", 12, "12", Reading.LOSSLESS),
        ("string", 12, "13", None),
        ("string", True, "True", Reading.LOSSLESS),
        ("string", "12", 12, None),
        ("string", "a ", "a", None),
        ("boolean", "true", True, Reading.LOSSLESS),
        ("boolean", "no", False, Reading.LOSSLESS),
        ("boolean", 1, True, Reading.LOSSLESS),
        ("boolean", "maybe", True, None),
        ("array", "[1,2]", [1, 2], Reading.LOSSLESS),
        ("array", "[1,2", [1, 2], None),
        ("string", {"a": 1}, '{"a": 1}', Reading.LOSSLESS),
        (["integer", "null"], "null", None, Reading.LOSSLESS),
        (["integer", "null"], "7", 7, Reading.LOSSLESS),
    ],
)
def test_a_value_is_read_under_its_declared_type(
    kind: object, sent: object, got: object, expected: Reading | None
) -> None:
    assert reading({"x": sent}, {"x": got}, schema(x={"type": kind})) == expected


@pytest.mark.parametrize(
    ("sent", "got", "expected"),
    [
        ({}, {"size": 5}, Reading.DEFAULT),
        ({"size": 5}, {}, Reading.DEFAULT),
        ({}, {"size": 6}, None),
        ({}, {"note": None}, Reading.DEFAULT),
        ({"note": None}, {}, Reading.DEFAULT),
        ({"note": "x"}, {}, None),
        ({}, {"id": None}, None),
        ({"id": None}, {}, Reading.DEFAULT),
        ({"id": 1, "stray": 2}, {"id": 1}, Reading.DEFAULT),
        ({"id": 1}, {"id": 1, "stray": 2}, None),
        ({"id": "1"}, {"id": 1, "size": 5}, Reading.LOSSLESS),
    ],
)
def test_what_is_absent_is_the_default_or_null_and_nothing_else(
    sent: dict[str, object], got: dict[str, object], expected: Reading | None
) -> None:
    declared = {
        "properties": {
            "id": {"type": "integer"},
            "size": {"type": "integer", "default": 5},
            "note": {"type": "string"},
        },
        "required": ["id"],
    }
    assert reading(sent, got, declared) == expected


def test_nested_values_follow_references_and_alternatives() -> None:
    declared = {
        "properties": {
            "seats": {"type": "array", "items": {"$ref": "#/$defs/seat"}},
            "when": {"anyOf": [{"type": "null"}, {"type": "number"}]},
        },
        "$defs": {
            "seat": {"type": "object", "properties": {"row": {"type": "integer"}}},
            "again": {"$ref": "#/$defs/again"},
        },
    }
    sent: dict[str, object] = {"seats": [{"row": "1"}, {"row": 2}], "when": "3"}
    assert reading(sent, {"seats": [{"row": 1}, {"row": 2}], "when": 3}, declared) == 2
    assert reading(sent, {"seats": [{"row": 2}, {"row": 1}], "when": 3}, declared) is None
    assert reading(sent, {"seats": [{"row": 1}], "when": 3}, declared) is None


def test_a_reference_elsewhere_says_nothing() -> None:
    declared: dict[str, object] = {"properties": {"a": {"$ref": "https://example.org/a"}}}
    assert reading({"a": "1"}, {"a": 1}, declared) is None


def test_a_reference_to_itself_ends() -> None:
    declared: dict[str, object] = {"properties": {"a": {"$ref": "#/properties/a"}}}
    assert reading({"a": 1}, {"a": 2}, declared) is None


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=3))
def test_arguments_passed_on_are_exact_under_any_schema(arguments: dict[str, object]) -> None:
    assert reading(arguments, arguments, schema(a={"type": "integer"})) == Reading.EXACT


def test_where_nothing_is_declared_it_may_be_left_out_of_what_is_closed() -> None:
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    assert reading({"more": 1}, {}, closed) == Reading.DEFAULT
    assert reading({"more": 1}, {}, {"type": "object"}) is None


@pytest.mark.parametrize(
    ("kind", "sent", "got", "expected"),
    [
        ("boolean", 0, False, Reading.LOSSLESS),
        ("boolean", 2, True, None),
        ("boolean", 2, False, None),
        ("boolean", "2", True, None),
        ("boolean", None, False, None),
        ("boolean", "true", False, None),
        ("boolean", "TRUE", True, Reading.LOSSLESS),
        ("number", True, 1, Reading.LOSSLESS),
        ("string", True, 1, None),
        ("integer", True, "true", None),
        ("string", True, "yes", None),
        ("object", '{"a":1}', {"a": 1}, Reading.LOSSLESS),
        ("object", "[1]", [1], Reading.LOSSLESS),
        ("string", "[1]", [1], None),
        ("array", [1], "[1]", None),
        ("string", [1], "[2]", None),
        ("string", None, "null", None),
        ("null", "null", None, Reading.LOSSLESS),
        ("string", "null", None, None),
        ("null", "nothing", None, None),
        ("null", 0, None, None),
        ("null", "null", "nothing", None),
    ],
)
def test_what_is_lossless_and_what_only_looks_like_it(
    kind: str, sent: object, got: object, expected: Reading | None
) -> None:
    assert reading({"x": sent}, {"x": got}, schema(x={"type": kind})) == expected


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
def test_each_kind_of_alternative_is_followed(word: str) -> None:
    declared = schema(x={word: [{"type": "null"}, {"$ref": "#/$defs/number"}]})
    declared["$defs"] = {"number": {"type": "integer"}}
    assert reading({"x": "1"}, {"x": 1}, declared) == Reading.LOSSLESS


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("#/$defs/a~1b~0c", Reading.LOSSLESS),
        ("#/$defs/a~1b", None),
        ("#/$defs/text/deeper/still", None),
        ("#", None),
    ],
)
def test_a_reference_names_its_place_with_escapes(reference: str, expected: Reading | None) -> None:
    declared = schema(x={"$ref": reference})
    declared["$defs"] = {"a/b~c": {"type": "integer"}, "text": "no schema"}
    assert reading({"x": "1"}, {"x": 1}, declared) == expected


@pytest.mark.parametrize(("links", "expected"), [(15, Reading.LOSSLESS), (16, None)])
def test_references_are_followed_for_so_long(links: int, expected: Reading | None) -> None:
    declared = schema(x={"$ref": "#/$defs/0"})
    chain: dict[str, object] = {str(link): {"$ref": f"#/$defs/{link + 1}"} for link in range(links)}
    declared["$defs"] = {**chain, str(links): {"type": "integer"}}
    assert reading({"x": "1"}, {"x": 1}, declared) == expected


def test_items_without_a_schema_are_held_to_what_was_sent() -> None:
    for items in (None, [{"type": "integer"}], True):
        declared = schema(x={"type": "array", "items": items})
        assert reading({"x": ["1"]}, {"x": [1]}, declared) is None


def test_a_list_of_needed_names_that_is_none_needs_nothing() -> None:
    declared = {"properties": {"note": {"type": "string"}}, "required": "note"}
    assert reading({}, {"note": None}, declared) == Reading.DEFAULT


def test_json_within_json_within_json_is_text() -> None:
    twice = json.dumps(json.dumps({"a": 1}))
    assert ordinary_readings(twice) == [{"a": 1}]
    assert ordinary_readings(json.dumps(twice)) == []
