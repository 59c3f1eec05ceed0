"""Which call an execution is thought to belong to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.world.attribution import Attribution

Arguments = dict[str, object]
SCHEMA: Arguments = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "name": {"type": "string"},
        "unit": {"type": "string", "default": "C"},
        "note": {"type": ["string", "null"]},
    },
    "required": ["n"],
}


class Book(Attribution):
    """Attribution of two tools with one schema, with calls that are short to write."""

    def __init__(self) -> None:
        super().__init__({"t": SCHEMA, "u": SCHEMA})

    def respond(self, *calls: tuple[str, str], tool: str = "t", **fields: object) -> None:
        self.issue(
            {
                "calls": [
                    {
                        "label": label,
                        "tool": tool,
                        "arguments": text,
                        "call_id": f"call_{label}",
                        "sent": "whole",
                        **fields,
                    }
                    for label, text in calls
                ]
            }
        )


def taken(book: Book, *arguments: Arguments, call_id: str | None = None) -> list[str | None]:
    return [book.take("t", each, call_id) for each in arguments]


def test_arguments_tell_calls_apart() -> None:
    book = Book()
    book.respond(("a", '{"n":1}'), ("b", '{"n":2}'))
    assert taken(book, {"n": 2}, {"n": 1}) == ["b", "a"]


def test_equal_calls_are_taken_in_order_and_then_again() -> None:
    book = Book()
    book.respond(("a", '{"n":1}'), ("b", '{"n":1}'))
    assert taken(book, {"n": 1}, {"n": 1}, {"n": 1}) == ["a", "b", "a"]


def test_changed_arguments_belong_to_no_call() -> None:
    book = Book()
    book.respond(("a", '{"n":12}'))
    assert taken(book, {"n": 1}, {}, {"n": True}, {"n": 12, "name": "x"}) == [None] * 4


def test_other_tool_belongs_to_no_call() -> None:
    book = Book()
    book.respond(("a", '{"n":1}'))
    assert book.take("u", {"n": 1}, None) is None


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"n":"1"}', {"n": 1}),
        ('{"n":1,"name":5}', {"n": 1, "name": "5"}),
        ('{"n":1.0}', {"n": 1}),
        ('{"name":"x", "n":1}', {"n": 1, "name": "x"}),
        ('{"n":1}', {"n": 1, "unit": "C"}),
        ('{"n":1}', {"n": 1, "note": None}),
        ("", {}),
        ("null", {}),
        ('"{\\"n\\":1}"', {"n": 1}),
    ],
)
def test_lossless_reading_is_the_same_call(text: str, arguments: Arguments) -> None:
    book = Book()
    book.respond(("a", text))
    assert taken(book, arguments) == ["a"]


def test_exact_arguments_are_preferred_to_a_reading_of_them() -> None:
    book = Book()
    book.respond(("text", '{"n":"1"}'), ("number", '{"n":1}'))
    assert taken(book, {"n": 1}, {"n": 1}) == ["number", "text"]


def test_arguments_that_are_no_json_object_match_nothing() -> None:
    book = Book()
    book.respond(("a", '{"n":1'), ("b", "[1]"))
    assert taken(book, {"n": 1}, {}) == [None, None]


def test_current_response_comes_first_then_earlier_ones_then_repeats() -> None:
    book = Book()
    book.respond(("old", '{"n":1}'))
    book.respond(("new", '{"n":1}'))
    book.respond()
    assert taken(book, {"n": 1}, {"n": 1}, {"n": 1}) == ["new", "old", "new"]


def test_call_of_which_nothing_was_sent_is_unknown() -> None:
    book = Book()
    book.respond(("a", '{"n":1}'), sent="none")
    assert taken(book, {"n": 1}) == [None]
    assert taken(book, {"n": 1}, call_id="call_a") == [None]


def test_call_id_decides_even_when_the_arguments_were_changed() -> None:
    book = Book()
    book.respond(("a", '{"n":1}'), ("b", '{"n":2}'))
    assert taken(book, {"n": 1}, call_id="call_b") == ["b"]
    assert taken(book, {"n": 1}) == ["a"]


def test_unknown_call_id_leaves_it_to_the_arguments() -> None:
    book = Book()
    book.respond(("a", '{"n":1}'))
    assert taken(book, {"n": 1}, call_id="made up") == ["a"]


@pytest.mark.parametrize("repeated", ["same", ""])
def test_repeated_call_id_is_told_apart_by_arguments_then_by_order(repeated: str) -> None:
    book = Book()
    book.respond(("a", '{"n":1}'), ("b", '{"n":2}'), ("c", '{"n":2}'), call_id=repeated)
    given: list[Arguments] = [{"n": 2}, {"n": 2}, {"n": 1}, {"n": 3}]
    assert taken(book, *given, call_id=repeated) == ["b", "c", "a", "a"]


@given(st.permutations(range(6)))
def test_every_order_of_execution_takes_each_call_once(order: list[int]) -> None:
    book = Book()
    book.respond(*((f"c{n}", f'{{"n":{n // 2}}}') for n in range(6)))
    arguments: list[Arguments] = [{"n": n // 2} for n in order]
    labels = taken(book, *arguments)
    assert sorted(map(str, labels)) == [f"c{n}" for n in range(6)]
    assert [int(str(label)[1:]) // 2 for label in labels] == [n // 2 for n in order]
