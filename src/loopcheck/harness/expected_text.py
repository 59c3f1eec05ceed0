"""Edits a list of known failures as text, so that its comments and its order stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import yaml

from loopcheck.harness.expected import Entry, ExpectedError, parse

NEW: Final = "format: 1\nentries:\n"


def with_entry(text: str, fields: Mapping[str, str], file: str) -> str:
    """The text with one more entry at the end of its list. Raises ExpectedError."""
    before = parse(text, file)
    lines = text.splitlines()
    key, listed = _entries(text)
    if key is None:
        lines.append("entries:")
        at, indent = len(lines), 2
    elif isinstance(listed, yaml.SequenceNode) and listed.value:
        _refuse_brackets(listed, file)
        at, indent = _last_line(listed.value[-1]) + 1, listed.start_mark.column
    else:
        at, indent = key.start_mark.line + 1, 2
        lines[at - 1] = _emptied(lines[at - 1], listed)
    edited = "\n".join([*lines[:at], *_as_yaml(fields, indent), *lines[at:]]) + "\n"
    return _checked(edited, before, len(before) + 1, file)


def without(text: str, entries: Iterable[Entry], file: str) -> str:
    """The text without these entries of it; comments between entries stay."""
    before, gone = parse(text, file), tuple(entries)
    _, listed = _entries(text)
    if not gone or not isinstance(listed, yaml.SequenceNode):
        return text
    _refuse_brackets(listed, file)
    lines = text.splitlines()
    dropped: set[int] = set()
    for entry, node in zip(before, listed.value, strict=True):
        if entry in gone:
            dropped |= set(range(_first_line(lines, node), _last_line(node) + 1))
    edited = "\n".join(line for n, line in enumerate(lines) if n not in dropped) + "\n"
    kept = [entry for entry in before if entry not in gone]
    return _checked(edited, kept, len(kept), file)


def _checked(edited: str, kept: Sequence[Entry], count: int, file: str) -> str:
    """The edited text, once it is sure that it says what it should."""
    after = parse(edited, file)
    placeless = [replace(entry, line=0) for entry in after[: len(kept)]]
    if len(after) != count or placeless != [replace(entry, line=0) for entry in kept]:
        raise ExpectedError(f"{file}: cannot be edited as it is written; edit it by hand")
    return edited


def _entries(text: str) -> tuple[yaml.Node | None, yaml.Node | None]:
    """The nodes of the key `entries` and of its value."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)
    return next(((key, value) for key, value in root.value if key.value == "entries"), (None, None))


def _refuse_brackets(listed: yaml.SequenceNode, file: str) -> None:
    if listed.flow_style:
        raise ExpectedError(f"{file}: 'entries' is written in brackets; edit it by hand")


def _emptied(line: str, value: yaml.Node | None) -> str:
    """The line of `entries` without its empty value, so that a list can follow."""
    if value is None or value.start_mark.index == value.end_mark.index:
        return line
    return line[: value.start_mark.column].rstrip() + line[value.end_mark.column :]


def _first_line(lines: Sequence[str], node: yaml.Node) -> int:
    line = node.start_mark.line
    while not lines[line].lstrip().startswith("-"):
        line -= 1
    return line


def _last_line(node: yaml.Node) -> int:
    """The last line with content of its own; a block's end mark is where the next one begins."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return _last_line(node.value[-1][1])
    return node.end_mark.line - (1 if node.end_mark.column == 0 else 0)


def _as_yaml(fields: Mapping[str, str], indent: int) -> list[str]:
    dumped = yaml.safe_dump([dict(fields)], sort_keys=False, allow_unicode=True, width=10_000)
    return [" " * indent + line for line in dumped.splitlines()]
