from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_answers import objects

from loopcheck.fake_providers.dialects.messages.lenient import completed_json
from loopcheck.fake_providers.wire import JsonObject


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1,"b":[true,null]}', {"a": 1, "b": [True, None]}),
        ('{"event":"E1","seat":1', {"event": "E1", "seat": 1}),
        ('{"event":"E1","se', {"event": "E1"}),
        ('{"event":"E1","seat":', {"event": "E1"}),
        ('{"event":"E1",', {"event": "E1"}),
        ('{"text":"half a sen', {"text": "half a sen"}),
        ('{"text":"quote \\', {"text": "quote "}),
        ('{"text":"braces ] } \\" {', {"text": 'braces ] } " {'}),
        ('{"text":"one,', {"text": "one,"}),
        ('{"text":"\\ud83c\\udf', {"text": ""}),
        ('{"text":"\\u00e9\\u00', {"text": "é"}),
        ('{"list":[1,{"a":"b"},{"c', {"list": [1, {"a": "b"}, {}]}),
        ('{"on":tru', {}),
        ('{"n":12.', {"n": 12}),
        ('{"a":1} and more', {"a": 1}),
        ('{"a":NaN}', {}),
        ('{"a":1,"b":1e999}', {"a": 1, "b": 1e99}),
        ("[1,2]", {}),
        ("null", {}),
        ("nonsense", {}),
        ("", {}),
    ],
)
def test_arguments_are_completed_leniently(text: str, value: JsonObject) -> None:
    assert completed_json(text) == value


@given(objects, st.data())
def test_a_beginning_becomes_an_object_with_the_first_members(
    value: JsonObject, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    assert completed_json(text) == value
    cut = completed_json(text[: data.draw(st.integers(0, len(text)))])
    names = list(cut)
    assert names == list(value)[: len(names)]
    assert all(cut[name] == value[name] for name in names[:-1])
