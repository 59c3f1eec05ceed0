"""Between values and the JSON that a store keeps. ASCII, so that no text is beyond it."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Final

from loopcheck.reference_loop import content
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.records import CallRecord
from loopcheck.reference_loop.store.interface import StoreError

# A circle is found by the depth that it leads to; looking for it costs as much as the rest.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)
_RECORD_FIELDS: Final = tuple(field.name for field in fields(CallRecord))


def dumps(value: JsonObject) -> str:
    """Raises StoreError for what is no JSON value."""
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"this cannot be stored as JSON: {error}") from error


def loads(text: object) -> JsonObject:
    """Raises StoreError for what is no text of a JSON object."""
    try:
        value: object = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError) as error:
        raise StoreError(f"the store holds text that is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreError("the store holds something that is no JSON object")
    return value


def dump_record(record: CallRecord) -> str:
    value: JsonObject = {name: getattr(record, name) for name in _RECORD_FIELDS}
    return dumps({**value, "parts": content.dump(record.parts)})


def load_record(text: object) -> CallRecord:
    """Raises StoreError for what is no record."""
    value = loads(text)
    known = {name: item for name, item in value.items() if name in _RECORD_FIELDS}
    try:
        known["parts"] = content.load(known.get("parts", []))  # earlier results were text alone
        return CallRecord(**known)  # type: ignore[arg-type]  # written by dump_record
    except (TypeError, ValueError) as error:
        raise StoreError(f"the store holds an incomplete record: {error}") from error
