"""Variants: more scenarios of one idea, each with some top-level keys of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

from loopcheck.harness.scenario.errors import Problem
from loopcheck.harness.scenario.yaml_source import Path, Source

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
_FIXED: Final = ("format", "variants")

T = TypeVar("T")


def sources(source: Source) -> Iterator[tuple[str, Source]]:
    """The document of each variant by its name: as if the keys that it gives stood at the top."""
    for name, keys in _mapping(source.data.get("variants")).items():
        if isinstance(keys, dict) and not any(key in _FIXED for key in keys):
            yield name, _varied(source, name, keys)


def problems(source: Source) -> Iterator[Problem]:
    """What is wrong with the list of variants itself."""
    for name, keys in _mapping(source.data.get("variants")).items():
        place: Path = ("variants", name)
        if not _NAME.match(name):
            hint = "small letters, digits and -; it becomes a part of the id"
            yield source.problem(place, f"{name!r} is no name of a variant", hint, key=True)
        for key in _FIXED:
            if key in _mapping(keys):
                message = f"a variant has the {key!r} of its file"
                yield source.problem((*place, key), message, key=True)
        if not keys:
            yield source.problem(place, f"the variant {name!r} changes nothing", key=True)


def _varied(source: Source, name: str, keys: Mapping[str, object]) -> Source:
    kept = {key: value for key, value in source.data.items() if key != "variants"}
    return Source(
        file=source.file,
        data={**kept, **keys},
        values=_moved(source.values, name, keys),
        keys=_moved(source.keys, name, keys),
    )


def _moved(places: Mapping[Path, T], name: str, keys: Mapping[str, object]) -> dict[Path, T]:
    """The places as they are seen from the variant: its own keys stand at the top."""
    prefix: Path = ("variants", name)
    own = {path[2:]: place for path, place in places.items() if path[:2] == prefix}
    rest = {path: place for path, place in places.items() if path[:1] == () or path[0] not in keys}
    return {**rest, **{path: place for path, place in own.items() if path}}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
