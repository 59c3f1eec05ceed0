"""What a service keeps is made when somebody looks, once, and is what it would have been."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from loopcheck.fake_providers.dialects.kept import Kept
from loopcheck.fake_providers.wire import Answer, JsonObject

NOBODY = cast(Answer, None)


def counted() -> tuple[Kept[JsonObject], list[str]]:
    kept: Kept[JsonObject] = Kept()
    made: list[str] = []

    def recipe(name: str) -> Callable[[Answer], JsonObject]:
        def make(answer: Answer) -> JsonObject:
            made.append(name)
            return {"id": name}

        return make

    for name in ("a", "b", "c"):
        kept.later(name, recipe(name), NOBODY)
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
