"""Values beyond the bounds of parameters, and the words in which OpenAI's services say so."""

from __future__ import annotations

from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.wire import ServiceError


def bound(name: str, limit: float, wrong: object) -> ServiceError:
    """The refusal of a value where `limit` is the last one that is accepted."""
    if not isinstance(wrong, int | float) or isinstance(wrong, bool):
        kind = "a boolean" if isinstance(wrong, bool) else "a string"
        message = f"Invalid type for '{name}': expected an integer, but got {kind} instead."
        return invalid(message, param=name, code="invalid_type")
    decimal = name in ("temperature", "top_p", "presence_penalty", "frequency_penalty")
    kind = "decimal" if decimal else "integer"
    words, sign, end = (
        ("below minimum", ">=", "below_min")
        if wrong < limit
        else (
            "above maximum",
            "<=",
            "above_max",
        )
    )
    return invalid(
        f"Invalid '{name}': {kind} {words} value. Expected a value {sign} {limit}, but got "
        f"{wrong} instead.",
        param=name,
        code=f"{kind}_{end}_value",
    )


METADATA: list[tuple[object, ServiceError]] = [
    (
        "none",
        invalid(
            "Invalid type for 'metadata': expected a metadata object, but got a string instead.",
            param="metadata",
            code="invalid_type",
        ),
    ),
    (
        {str(number): "" for number in range(17)},
        invalid(
            "Invalid 'metadata': too many properties. Expected an object with at most 16 "
            "properties, but got an object with 17 properties instead.",
            param="metadata",
            code="object_above_max_properties",
        ),
    ),
    (
        {"k" * 65: "v"},
        invalid(
            "Invalid property name in 'metadata': 'kkk...kkk' is too long. Expected a string with "
            "maximum length 64, but got a string with length 65 instead.",
            param=f"metadata.{'k' * 65}",
            code="property_name_above_max_length",
        ),
    ),
    (
        {"k": 7},
        invalid(
            "Invalid type for 'metadata.k': expected a string, but got an integer instead.",
            param="metadata.k",
            code="invalid_type",
        ),
    ),
    (
        {"k": "v" * 513},
        invalid(
            "Invalid 'metadata.k': string too long. Expected a string with maximum length 512, "
            "but got a string with length 513 instead.",
            param="metadata.k",
            code="string_above_max_length",
        ),
    ),
]
