from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcheck.reference_loop.arguments import MAX_BYTES, MAX_DEPTH, ArgumentError, parse

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=4)


@given(OBJECTS, st.booleans(), st.sampled_from([None, 2]))
def test_what_is_valid_is_read_as_the_standard_library_reads_it(
    value: dict[str, object], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse(text) == json.loads(text)


@given(OBJECTS, st.data())
def test_a_cut_object_is_never_read(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(ArgumentError):
        parse(text[:end])


@given(OBJECTS, OBJECTS)
def test_two_objects_are_not_one(first: dict[str, object], second: dict[str, object]) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse(json.dumps(first) + json.dumps(second))
    assert caught.value.code == "invalid_json"


def test_no_text_is_no_arguments() -> None:
    assert parse("") == {}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" ", "invalid_json"),
        ("{'a': 1}", "invalid_json"),
        ('{"a": 1,}', "invalid_json"),
        ('{"a": 1}}', "invalid_json"),
        ('{"a": 01}', "invalid_json"),
        ('{"a": "line\nbreak"}', "invalid_json"),
        ('{"a": 1} // so', "invalid_json"),
        ('\ufeff{"a": 1}', "invalid_json"),
        ('{"a": ' + "9" * 5000 + "}", "invalid_json"),
        ("null", "not_an_object"),
        ("[]", "not_an_object"),
        ('"{}"', "not_an_object"),
        ("1", "not_an_object"),
        ('{"a": 1, "a": 1}', "duplicate_member"),
        ('{"a": {"b": 1, "\\u0062": 2}}', "duplicate_member"),
        ('{"a": NaN}', "invalid_number"),
        ('{"a": -Infinity}', "invalid_number"),
        ('{"a": 1e999}', "invalid_number"),
    ],
)
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse(text)
    assert caught.value.code == code
    assert str(caught.value) == f"{code}: {caught.value.message}"


def test_the_size_is_bounded_in_bytes() -> None:
    longest = MAX_BYTES - len('{"a":""}')
    assert parse('{"a":"' + "x" * longest + '"}') == {"a": "x" * longest}
    with pytest.raises(ArgumentError) as caught:
        parse('{"a":"' + "x" * (longest - 1) + 'é"}')
    assert caught.value.code == "too_large"


def test_the_depth_is_bounded() -> None:
    deepest = '{"a":' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}"
    assert parse(deepest) == json.loads(deepest)
    for text in ('{"a":' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}", "[" * 100_000):
        with pytest.raises(ArgumentError) as caught:
            parse(text)
        assert caught.value.code == "too_deep"


def test_brackets_in_texts_and_beside_each_other_are_no_depth() -> None:
    value = {"a": "[{" * 200 + '\\"', "b": [[]] * 200}
    assert parse(json.dumps(value)) == value
