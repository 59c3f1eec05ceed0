"""What a service keeps is made when somebody looks, once, and is what it would have been."""

from __future__ import annotations

from loopcheck.fake_providers.dialects.kept import Kept
from loopcheck.fake_providers.script import Usage
from loopcheck.fake_providers.wire import Answer, JsonObject, Reading


def answer(response_id: str) -> Answer:
    return Answer(
        response_id=response_id,
        item_ids=(),
        model="any",
        created=0,
        content=(),
        stop="end",
        usage=Usage(input=1, output=1),
        reading=Reading(
            dialect="chat", model="any", stream=False, items=(), history=(), tools=(), body={}
        ),
    )


def counted() -> tuple[Kept[JsonObject], list[str]]:
    kept: Kept[JsonObject] = Kept()
    made: list[str] = []

    def make(known: Answer) -> JsonObject:
        made.append(known.response_id)
        return {"id": known.response_id}

    for name in ("a", "b", "c"):
        kept.later(name, make, answer(name))
    return kept, made


def test_nothing_is_made_before_it_is_looked_at() -> None:
    kept, made = counted()
    assert "a" in kept
    assert "x" not in kept
    assert list(kept) == ["a", "b", "c"]
    del kept["b"]
    assert len(kept) == 2
    assert made == []


def test_what_is_looked_at_is_made_once() -> None:
    kept, made = counted()
    assert kept["b"] is kept["b"]
    assert kept.get("b") == {"id": "b"}
    assert kept.get("x") is None
    assert made == ["b"]
    assert list(kept.values()) == [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    assert made == ["b", "a", "c"]


def test_a_value_may_be_put_in_its_place() -> None:
    kept, made = counted()
    kept["a"] = {"id": "other"}
    assert kept["a"] == {"id": "other"}
    assert made == []
