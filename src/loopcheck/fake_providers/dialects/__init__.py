"""The wire protocols, by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from loopcheck.fake_providers.dialects.interface import Dialect, Memory, Rule
from loopcheck.fake_providers.script import DialectName

__all__ = ["Dialect", "Memory", "Rule", "dialect"]

_MODULES: dict[DialectName, str] = {
    "responses": "loopcheck.fake_providers.dialects.responses",
    "chat": "loopcheck.fake_providers.dialects.chat",
    "messages": "loopcheck.fake_providers.dialects.messages",
}


@cache
def dialect(name: DialectName) -> Dialect:
    """The dialect of that name; loaded when first asked for."""
    return cast(Dialect, import_module(_MODULES[name]).DIALECT)
