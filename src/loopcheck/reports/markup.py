"""HTML that is safe by construction: whatever is no `Markup` is made inert and escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Final, TypeAlias

from loopcheck.reports.inert import LONGEST, inert

_VOID: Final = frozenset({"br", "hr", "input", "meta", "link"})


class Markup(str):
    """Text that is HTML already. Only this module makes it from anything but literals."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
Attribute: TypeAlias = "str | bool | None"


def escaped(text: str, *, longest: int = LONGEST) -> str:
    """Foreign text for element or attribute: inert, on one line, cut with its size told."""
    return html.escape(inert(text, longest=longest), quote=True)


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element. `class_` and `for_` are written with the line; of other names `_` is a dash;
    True is an attribute without value, False and None are none."""
    opening = f"<{name}{''.join(map(_attribute, attributes.items()))}>"
    return Markup(opening if name in _VOID else f"{opening}{joined(children)}</{name}>")


def joined(children: Child) -> Markup:
    """The children one after another, foreign text escaped."""
    if children is None:
        return Markup()
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(escaped(children))
    return Markup("".join(map(joined, children)))


def _attribute(pair: tuple[str, Attribute]) -> str:
    name, value = pair
    if value is None or value is False:
        return ""
    word = name.rstrip("_").replace("_", "-")
    return f" {word}" if value is True else f' {word}="{escaped(value, longest=2000)}"'
