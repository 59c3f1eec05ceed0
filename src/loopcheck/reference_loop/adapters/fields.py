"""Reading what a provider sent without trusting its shape.

The SDKs build their objects without validating them, and gateways send what they like. Each
function takes an SDK object or a plain mapping and gives a safe default for what is not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from loopcheck.reference_loop.arguments import JsonObject


@runtime_checkable
class _Model(Protocol):
    def to_dict(self, *, mode: str, warnings: bool) -> JsonObject: ...


def value(of: object, name: str) -> object:
    """A field, or None."""
    if isinstance(of, Mapping):
        return of.get(name)
    return getattr(of, name, None)


def text(of: object, name: str) -> str:
    """A text field, or the empty text."""
    found = value(of, name)
    return found if isinstance(found, str) else ""


def number(of: object, name: str) -> int | None:
    """An integer field, or None."""
    found = value(of, name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def entries(of: object, name: str) -> Sequence[object]:
    """A list field, or an empty list."""
    found = value(of, name)
    return found if isinstance(found, list) else ()


def as_object(of: object) -> JsonObject:
    """The whole as a JSON object of its own, without fields that are null."""
    if isinstance(of, _Model):
        of = of.to_dict(mode="json", warnings=False)
    found = of if isinstance(of, Mapping) else {}
    return {str(name): item for name, item in found.items() if item is not None}


def argument_text(of: object, name: str) -> str:
    """Arguments as text: some gateways send the object itself, or null for none."""
    found = value(of, name)
    if isinstance(found, str):
        return found
    return "" if found is None else json.dumps(found, ensure_ascii=False)
