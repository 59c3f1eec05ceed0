"""A scenario as the text of a file: the shortest that loads to the same scenario."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Final

from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.yaml_source import resolve

WIDTH: Final = 96
_ALWAYS_BLOCK: Final = ("tools", "turns", "expect", "variants")
_GAPS: Final = ("tools", "turns", "otherwise", "meanwhile", "expect", "variants")
# Where one value may stand for a list of it, by the key that holds the list.
_ONE_FOR_A_LIST: Final = frozenset(
    {"otherwise", "when", "do", "returns_after", "commits_after", "permission"}
)
_PLAIN: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_ ./+@=-]*[A-Za-z0-9_./+@=-])?\Z")
_PROSE: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_ ./+@=;,()'!?-]*[A-Za-z0-9_./;,()'!?-])?\Z")
_UNWRITABLE: Final = re.compile(
    '["\\\\\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]'
)
# What needs no escape beside its quotes or backslashes is easier to read in single ones.
_SINGLE: Final = re.compile(r"[ -&(-~\u00a1-\u2027\u2030-\ud7ff]*\Z")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_LONGEST_KEY: Final = 120
# Words with single spaces between them, which a folded scalar gives back as they are.
_FOLDABLE: Final = re.compile(r"[!-~]+(?: [!-~]+)*\n?\Z")


def write(scenario: Scenario, *, comment: str = "") -> str:
    """The YAML text of this scenario, below a comment. Its id is not in it: that is the path of
    the file."""
    dumped = scenario.model_dump(by_alias=True, exclude_defaults=True, exclude={"id"})
    head = [f"# {line}".rstrip() for line in comment.splitlines()]
    return "\n".join([*head, *_top(_short(dumped))]) + "\n"


def _short(value: object, key: str = "") -> object:
    """The value with lists of one written as that one, where the format lets it."""
    if isinstance(value, Mapping):
        free = key in ("args", "schema", "returns", "value", "meant")
        return {name: value_ if free else _short(value_, name) for name, value_ in value.items()}
    if isinstance(value, list | tuple):
        entries = [_short(entry) for entry in value]
        return entries[0] if key in _ONE_FOR_A_LIST and len(entries) == 1 else entries
    return value


def _top(document: object) -> Iterator[str]:
    assert isinstance(document, Mapping)
    for key, value in document.items():
        if key in _GAPS:
            yield ""
        if key in _ALWAYS_BLOCK and value:
            yield f"{key}:"
            yield from _block(value, 2)
        else:
            yield from _entry(key, value, 0)


def _block(value: object, indent: int) -> Iterator[str]:
    """The lines of a mapping or list that stands below its key."""
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _entry(key, child, indent)
    elif isinstance(value, Sequence):
        for child in value:
            yield from _item(child, indent)


def _entry(key: object, value: object, indent: int) -> Iterator[str]:
    name, pad = _text(str(key), _PLAIN), " " * indent
    if len(name) > _LONGEST_KEY:  # no key to YAML unless it is told that it is
        yield f"{pad}? {name}"
        name = ""
    flow = _flow(value, prose=True)
    fits = len(pad) + len(name) + len(flow) + 2 <= WIDTH
    if not fits and isinstance(value, Mapping | list | tuple) and value:
        yield f"{pad}{name}:"
        yield from _block(value, indent + 2)
    elif not fits and isinstance(value, str) and _FOLDABLE.match(value):
        yield f"{pad}{name}: {'>' if value.endswith(chr(10)) else '>-'}"
        lines = wrap(value, WIDTH - indent - 2, break_long_words=False, break_on_hyphens=False)
        yield from (f"{pad}  {line}" for line in lines)
    else:
        yield f"{pad}{name}: {flow}"


def _item(value: object, indent: int) -> Iterator[str]:
    head, flow = " " * indent + "- ", _flow(value, prose=True)
    is_turn_with_more = isinstance(value, Mapping) and len(value) > 1 and "as" not in value
    fits = len(head) + len(flow) <= WIDTH and not is_turn_with_more
    if isinstance(value, Mapping) and value and (not fits or "as" not in value):
        lines = list(_block(value, indent + 2))
        yield head + lines[0].lstrip(" ")
        yield from lines[1:]
    else:
        yield head + flow


def _flow(value: object, *, prose: bool = False) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_flow_key(key)}: {_flow(child)}" for key, child in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value, prose=prose)


def _flow_key(key: object) -> str:
    text = _text(str(key), _PLAIN)
    return text if len(text) <= _LONGEST_KEY else f"? {text} "


def _scalar(value: object, *, prose: bool) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return _text(str(value), _PROSE if prose else _PLAIN)


def _text(text: str, plain: re.Pattern[str]) -> str:
    if plain.match(text) and isinstance(resolve(text), str):
        return text
    if '"' in text and _SINGLE.match(text):
        return f"'{text}'"
    return f'"{_UNWRITABLE.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ESCAPES:
        return _ESCAPES[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
