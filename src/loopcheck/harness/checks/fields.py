"""Fields of journal entries, which may be missing or of another type in a journal that is old or
was edited: they read as empty then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.journal import Entry


def of_kind(entries: Iterable[Entry], kind: str) -> Iterator[Entry]:
    return (entry for entry in entries if entry.get("kind") == kind)


def text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def text_or_none(entry: Mapping[str, object], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) else None


def number(entry: Mapping[str, object], key: str) -> int:
    return number_or_none(entry, key) or 0


def number_or_none(entry: Mapping[str, object], key: str) -> int | None:
    value = entry.get(key)
    return value if isinstance(value, int) else None


def object_(entry: Mapping[str, object], key: str) -> JsonObject:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def objects(entry: Mapping[str, object], key: str) -> list[JsonObject]:
    value = entry.get(key)
    if not isinstance(value, list | tuple):
        return []
    return [element for element in value if isinstance(element, dict)]
