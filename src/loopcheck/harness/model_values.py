"""Fills the model of a JSON Schema. Imports what the extra `serve` brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from faker import Faker
from json_schema_to_pydantic import create_model  # type: ignore[import-untyped]  # has none
from polyfactory.factories.pydantic_factory import ModelFactory
from pydantic import BaseModel

from loopcheck.fake_providers.wire import JsonObject


class _Words(ModelFactory[BaseModel]):
    """Says words where any text will do, and times with their zone, as the format asks; nested
    models get theirs from here, too."""

    __is_base_factory__ = True

    @classmethod
    def get_provider_map(cls) -> dict[Any, Callable[[], Any]]:
        return {
            **super().get_provider_map(),
            str: lambda: cls.__faker__.word(),
            datetime: lambda: cls.__faker__.date_time(tzinfo=UTC),
        }


def values_of_model(schema: JsonObject, seed: int, *, tries: int) -> Iterator[JsonObject]:
    """Objects for this schema, one after the other; not all of them satisfy it."""
    model = create_model(schema, allow_undefined_type=True, allow_undefined_array_items=True)
    factory = _Words.create_factory(model)
    for attempt in range(tries):
        _Words.__faker__ = Faker()
        factory.seed_random(seed + attempt)
        _Words.__faker__.seed_instance(seed + attempt)
        built = factory.build()
        yield built.model_dump(mode="json", by_alias=True, exclude_none=True)
        yield built.model_dump(mode="json", by_alias=True)
