from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage

from loopcheck.reference_loop.adapters import fields


@dataclass
class Thing:
    name: object = None


@pytest.mark.parametrize("of", [{"name": "x"}, Thing("x")])
def test_mappings_and_objects_read_alike(of: object) -> None:
    assert fields.value(of, "name") == fields.text(of, "name") == "x"


@pytest.mark.parametrize("of", [None, "text", 3, [], {}, {"name": None}, Thing(), Thing(7.5)])
def test_what_is_not_there_or_odd_has_a_default(of: object) -> None:
    assert fields.text(of, "name") == ""
    assert fields.number(of, "name") is None
    assert fields.entries(of, "name") == ()


def test_numbers_are_no_booleans() -> None:
    assert fields.number({"n": 0}, "n") == 0
    assert fields.number({"n": False}, "n") is None


def test_whole_objects() -> None:
    given: dict[str, Any] = {"role": "assistant", "content": None, "extra": {"kept": None}}
    message = ChatCompletionMessage.construct(**given)
    wanted = {"role": "assistant", "extra": {"kept": None}}
    assert fields.as_object(message) == fields.as_object(given) == wanted
    assert fields.as_object("text") == fields.as_object(None) == {}


@pytest.mark.parametrize(
    ("sent", "text"), [("{", "{"), (None, ""), ({"é": 1}, '{"é": 1}'), ([], "[]"), (0, "0")]
)
def test_arguments_of_any_type_become_text(sent: object, text: str) -> None:
    assert fields.argument_text({"arguments": sent}, "arguments") == text
