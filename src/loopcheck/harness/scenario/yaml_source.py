"""YAML text to plain values with their places: the core schema of YAML 1.2, safely and bounded.

PyYAML reads YAML 1.1, where `no` is false and `1_000` a number. Only its event stream is used
here: values are resolved by the rules of 1.2, and nothing is built before its size is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from loopcheck.harness.scenario.errors import Problem, ScenarioError

MAX_BYTES: Final = 1024 * 1024
MAX_ALIASES: Final = 100
MAX_NODES: Final = 100_000
MAX_DEPTH: Final = 100
MAX_DIGITS: Final = 1000

Path: TypeAlias = tuple[str | int, ...]
Spot: TypeAlias = tuple[int, int]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_SPECIAL = re.compile(r"([-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")


@dataclass(frozen=True, slots=True)
class Source:
    """A document as plain values. `values` and `keys` hold the line and column, from 1, of each
    value and of each mapping key by their path."""

    file: str
    data: dict[str, object]
    values: Mapping[Path, Spot]
    keys: Mapping[Path, Spot]

    def problem(self, path: Path, message: str, hint: str = "", *, key: bool = False) -> Problem:
        """A problem at the value with this path, or at its key; or at the nearest one above."""
        if key and path in self.keys:
            return Problem(self.file, *self.keys[path], message, hint)
        while path not in self.values:
            path = path[:-1]
        return Problem(self.file, *self.values[path], message, hint)


def resolve(text: str) -> object:
    """The value of a plain scalar by the core schema. Raises ValueError for absurd numbers."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    for pattern, base in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.match(text):
            if len(text) > MAX_DIGITS:
                raise ValueError(f"a number of more than {MAX_DIGITS} digits")
            return int(text, base)
    if _FLOAT.match(text):
        return float(text)
    if _SPECIAL.match(text):
        return float(text.replace(".", "").lower())
    return text


def read(text: bytes, file: str) -> Source:
    """The one mapping that this UTF-8 text holds. Raises ScenarioError."""
    root = _Builder(file).document(_decode(text, file))
    if not isinstance(root.value, dict):
        raise ScenarioError([Problem(file, *root.spot, "a scenario is a mapping of keys")])
    values: dict[Path, Spot] = {}
    keys: dict[Path, Spot] = {}
    data = _expand(root, (), values, keys)
    assert isinstance(data, dict)
    return Source(file, data, values, keys)


@dataclass(slots=True)
class _Node:
    """A value before aliases are expanded. `size` and `depth` count as if they were."""

    spot: Spot
    value: object | list[_Node] | dict[str, tuple[Spot, _Node]]
    size: int = 1
    depth: int = 1


def _expand(node: _Node, path: Path, values: dict[Path, Spot], keys: dict[Path, Spot]) -> object:
    values[path] = node.spot
    if isinstance(node.value, dict):
        result: dict[str, object] = {}
        for key, (spot, child) in node.value.items():
            keys[(*path, key)] = spot
            result[key] = _expand(child, (*path, key), values, keys)
        return result
    if isinstance(node.value, list):
        return [_expand(child, (*path, n), values, keys) for n, child in enumerate(node.value)]
    return node.value


def _decode(raw: bytes, file: str) -> str:
    if len(raw) > MAX_BYTES:
        raise ScenarioError([Problem(file, 1, 1, f"the file is larger than {MAX_BYTES} bytes")])
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8")
        problem = Problem(file, *_spot_after(before), "not UTF-8 text")
        raise ScenarioError([problem]) from None
    odd = _UNPRINTABLE.search(text)
    if odd:
        what = f"character U+{ord(odd[0]):04X} is not allowed"
        hint = r'write it as an escape in double quotes, such as "\x1b"'
        raise ScenarioError([Problem(file, *_spot_after(text[: odd.start()]), what, hint)])
    return text


def _spot_after(text: str) -> Spot:
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _events(text: str) -> Iterator[Event]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except (ValueError, OverflowError) as error:
        # The pure Python scanner lets chr() fail on escapes beyond Unicode.
        raise yaml.MarkedYAMLError(problem=str(error)) from None


def _spot(event: Event) -> Spot:
    mark = event.start_mark
    assert mark is not None
    return mark.line + 1, mark.column + 1


@dataclass(slots=True)
class _Builder:
    """Builds the nodes of one document, and collects what can be collected on the way."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    anchors: dict[str, _Node | None] = field(default_factory=dict)
    aliases: int = 0

    def document(self, text: str) -> _Node:
        try:
            root = self._only_document(_events(text))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            spot = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
            context = f" ({error.context})" if error.context else ""
            problem = Problem(self.file, *spot, f"not YAML: {error.problem}{context}")
            raise ScenarioError([*self.problems, problem]) from None
        if self.problems:
            raise ScenarioError(self.problems)
        return root

    def _only_document(self, events: Iterator[Event]) -> _Node:
        root: _Node | None = None
        for event in events:
            if isinstance(event, DocumentStartEvent):
                if root is not None:
                    self._stop(event, "a second document begins here; a file holds one scenario")
                root = self._node(next(events), events, depth=1)
        if root is None:
            raise ScenarioError([Problem(self.file, 1, 1, "the file is empty")])
        return root

    def _stop(self, event: Event, message: str) -> NoReturn:
        raise ScenarioError([*self.problems, Problem(self.file, *_spot(event), message)])

    def _note(self, spot: Spot, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, *spot, message, hint))

    def _node(self, event: Event, events: Iterator[Event], depth: int) -> _Node:
        if depth > MAX_DEPTH:
            self._stop(event, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, AliasEvent):
            return self._alias(event, depth)
        tag: str | None = getattr(event, "tag", None)
        if tag is not None:
            self._note(_spot(event), f"tag {tag!r} is not allowed", "put text in quotes")
        anchor: str | None = getattr(event, "anchor", None)
        if anchor is not None:
            # Unfinished: an alias inside its own anchor has nothing to refer to.
            self.anchors[anchor] = None
        if isinstance(event, SequenceStartEvent):
            node = self._sequence(event, events, depth)
        elif isinstance(event, MappingStartEvent):
            node = self._mapping(event, events, depth)
        else:
            node = self._scalar(event)
        if node.size > MAX_NODES:
            self._stop(event, f"more than {MAX_NODES} values, aliases expanded")
        if anchor is not None:
            self.anchors[anchor] = node
        return node

    def _alias(self, event: AliasEvent, depth: int) -> _Node:
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            self._stop(event, f"more than {MAX_ALIASES} aliases")
        target = self.anchors.get(str(event.anchor))
        if target is None:
            self._stop(event, f"alias *{event.anchor} has no finished anchor before it")
        if depth + target.depth - 1 > MAX_DEPTH:
            self._stop(event, f"nested more than {MAX_DEPTH} levels deep")
        return _Node(_spot(event), target.value, target.size, target.depth)

    def _scalar(self, event: Event) -> _Node:
        assert isinstance(event, ScalarEvent)
        value: object = event.value
        if any("\ud800" <= character <= "\udfff" for character in event.value):
            self._note(_spot(event), "half of a surrogate pair is no character")
        elif event.implicit[0]:
            try:
                value = resolve(event.value)
            except ValueError as error:
                self._note(_spot(event), str(error))
        return _Node(_spot(event), value)

    def _sequence(self, start: Event, events: Iterator[Event], depth: int) -> _Node:
        items: list[_Node] = []
        node = _Node(_spot(start), items)
        while not isinstance(event := next(events), SequenceEndEvent):
            items.append(self._node(event, events, depth + 1))
            self._count(node, items[-1], event)
        return node

    def _mapping(self, start: Event, events: Iterator[Event], depth: int) -> _Node:
        pairs: dict[str, tuple[Spot, _Node]] = {}
        node = _Node(_spot(start), pairs)
        while not isinstance(event := next(events), MappingEndEvent):
            key = self._key(self._node(event, events, depth + 1), event)
            child_event = next(events)
            child = self._node(child_event, events, depth + 1)
            self._count(node, child, child_event)
            if key is not None and key in pairs:
                line, _ = pairs[key][0]
                self._note(_spot(event), f"key {key!r} stands twice; first in line {line}")
            elif key is not None:
                pairs[key] = (_spot(event), child)
        return node

    def _count(self, node: _Node, child: _Node, event: Event) -> None:
        node.size += child.size
        node.depth = max(node.depth, child.depth + 1)
        if node.size > MAX_NODES:
            self._stop(event, f"more than {MAX_NODES} values, aliases expanded")

    def _key(self, node: _Node, event: Event) -> str | None:
        if isinstance(event, ScalarEvent) and event.value == "<<" and event.implicit[0]:
            self._note(node.spot, "merge keys (<<) are not allowed", "write the keys out")
        elif isinstance(node.value, str):
            return node.value
        elif isinstance(event, ScalarEvent):
            quoted = f"write {event.value!r} in quotes" if event.value else ""
            self._note(node.spot, f"key {event.value or 'null'} is not text", quoted)
        else:
            self._note(node.spot, "a key must be text")
        return None
