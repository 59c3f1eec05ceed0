"""The public bug reports that a scenario names as its grounds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

_THREAD: Final = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")


@dataclass(frozen=True, slots=True)
class PublicBug:
    """One public thread; without `thread` it is one that this loopcheck does not know."""

    id: str
    thread: str = ""
    about: str = ""

    @property
    def url(self) -> str | None:
        """Where the thread can be read."""
        found = _THREAD.fullmatch(self.thread)
        return f"https://github.com/{found[1]}/issues/{found[2]}" if found else None


def find(ids: Iterable[str]) -> list[PublicBug]:
    """What is known of these ids."""
    return [_known().get(bug) or PublicBug(bug) for bug in ids]


@cache
def _known() -> dict[str, PublicBug]:
    text = resources.files("loopcheck.reports").joinpath("public_bugs.json").read_text("utf-8")
    return {
        bug: PublicBug(bug, said["thread"], said["about"]) for bug, said in json.loads(text).items()
    }
