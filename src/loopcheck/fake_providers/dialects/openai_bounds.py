"""Rules about the values of single parameters; both OpenAI protocols have most of them alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopcheck.fake_providers.dialects.openai_common import invalid, wrong_type
from loopcheck.fake_providers.dialects.openai_rules import (
    Asked,
    Finder,
    long_array,
    long_text,
    over,
    too_big,
    too_small,
)
from loopcheck.fake_providers.wire import JsonObject, ServiceError

MOST_LOGPROBS: Final = 20
_MOST_STOPS: Final = 4
_MOST_PROPERTIES: Final = 16
_LONGEST_KEY: Final = 64
_LONGEST_VALUE: Final = 512
_SHOWN: Final = 3


def integers(bounds: Mapping[str, tuple[int, int | None]]) -> Finder:
    """Finds parameters that are no integer, or one beyond its least and its most."""

    def find(asked: Asked) -> Iterator[ServiceError]:
        for name, (least, most) in bounds.items():
            value = asked.body.get(name)
            if value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                yield wrong_type(name, "an integer", value)
            elif value < least:
                yield too_small(name, "integer", least, value)
            elif most is not None and value > most:
                yield too_big(name, "integer", most, value)

    return find


def decimals(bounds: Mapping[str, tuple[int, int]]) -> Finder:
    """Finds numbers beyond their least and their most."""

    def find(asked: Asked) -> Iterator[ServiceError]:
        for name, (least, most) in bounds.items():
            value = asked.body.get(name)
            if not isinstance(value, int | float) or isinstance(value, bool):
                continue
            if value < least:
                yield too_small(name, "decimal", least, value)
            elif value > most:
                yield too_big(name, "decimal", most, value)

    return find


def many_stops(asked: Asked) -> Iterator[ServiceError]:
    """More stop sequences than the service takes."""
    stops = asked.body.get("stop")
    if isinstance(stops, list) and len(stops) > _MOST_STOPS:
        yield long_array("stop", _MOST_STOPS, len(stops))


def top_logprobs(asked: Asked) -> Iterator[ServiceError]:
    """More alternatives than there are, or some without log probabilities. Of all bounds, this
    one is told in words of its own."""
    value = asked.body.get("top_logprobs")
    yield from integers({"top_logprobs": (0, None)})(asked)
    if isinstance(value, int) and value > MOST_LOGPROBS:
        yield invalid(
            f"Invalid value for 'top_logprobs': must be less than or equal to {MOST_LOGPROBS}.",
            param="top_logprobs",
        )
    if value is not None and asked.body.get("logprobs") is not True:
        yield invalid(
            "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
            param="top_logprobs",
        )


def metadata(asked: Asked) -> Iterator[ServiceError]:
    """Metadata of another form, or too much of it."""
    held = asked.body.get("metadata")
    if held is None:
        return
    if not isinstance(held, dict):
        yield wrong_type("metadata", "a metadata object", held)
        return
    if len(held) > _MOST_PROPERTIES:
        yield invalid(
            f"Invalid 'metadata': too many properties. Expected an object with at most "
            f"{_MOST_PROPERTIES} properties, but got an object with {len(held)} properties "
            "instead.",
            param="metadata",
            code="object_above_max_properties",
        )
    yield from _entries(held)


def _entries(held: JsonObject) -> Iterator[ServiceError]:
    for key, value in held.items():
        path = f"metadata.{key}"
        if length := over(key, _LONGEST_KEY):
            yield invalid(
                f"Invalid property name in 'metadata': '{key[:_SHOWN]}...{key[-_SHOWN:]}' is too "
                f"long. Expected a string with maximum length {_LONGEST_KEY}, but got a string "
                f"with length {length} instead.",
                param=path,
                code="property_name_above_max_length",
            )
        if not isinstance(value, str):
            yield wrong_type(path, "a string", value)
        elif length := over(value, _LONGEST_VALUE):
            yield long_text(path, _LONGEST_VALUE, length)
