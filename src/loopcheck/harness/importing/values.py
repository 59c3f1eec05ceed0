"""Untrusted JSON, read as what it should be."""

from __future__ import annotations

from loopcheck.fake_providers.wire import JsonObject


def mapping(value: object) -> JsonObject:
    """The mapping, or an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[JsonObject]:
    """The mappings of a list; nothing where it is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def whole_characters(value: object) -> object:
    """The value without halves of surrogate pairs, which no file can hold."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {str(whole_characters(key)): whole_characters(one) for key, one in value.items()}
    if isinstance(value, list):
        return [whole_characters(one) for one in value]
    return value


def text(value: object) -> str:
    """The text, or an empty one."""
    return value if isinstance(value, str) else ""
