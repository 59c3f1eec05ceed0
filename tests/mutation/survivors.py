"""What no test notices, and why that is right: the list in `survivors.txt`.

A line of the list that begins at the margin is a reason. The indented ones below are what it is
the reason for, each as a function and what its changed line holds:

    An entry has a number of its own, so that "before" and "not behind" are the same.
      harness.checks.effects._is_unheard: died <= n

Numbers of mutants change with every line of their function; what they break does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import ndiff
from functools import cache
from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).parent / "survivors.txt"
_NUMBERED: Final = re.compile(r"(?P<generated>x\S+?)__mutmut_\d+")


class ListError(Exception):
    """A line of the list that cannot be read."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A function, what its changed line holds, and why no test notices it."""

    function: str
    holds: str
    reason: str

    def __str__(self) -> str:
        return f"{self.function}: {self.holds}"

    def is_of(self, function: str, change: str) -> bool:
        """Whether this change of the function is meant."""
        return self.function == function and self.holds in change


def listed(text: str) -> Iterator[Survivor]:
    """All that a list names. Raises ListError for a line that is neither reason nor change."""
    reason = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith(" "):
            reason = line.strip()
            continue
        function, colon, holds = line.strip().partition(": ")
        if not colon or not reason:
            raise ListError(f"line {number}: a function and a change below a reason, not {line!r}")
        yield Survivor(function, _on_one_line(holds), reason)


def function_of(module: str, mutant: str) -> str:
    """The function that a mutant was made of, without the name of the package."""
    found = _NUMBERED.fullmatch(mutant)
    generated = found["generated"] if found is not None else mutant
    name = generated.removeprefix("x").replace("ǁ", ".").removeprefix(".")
    in_class = "ǁ" in generated
    return f"{module.removeprefix('loopcheck.')}.{name if in_class else name.removeprefix('_')}"


def change_of(module: str, mutant: str, *, root: Path) -> str:
    """What stands in the mutant in place of the function's own lines, on one line."""
    found = _NUMBERED.fullmatch(mutant)
    if found is None:
        return ""
    file = root / "mutants" / "src" / f"{module.replace('.', '/')}.py"
    own, broken = (_lines(file, name) for name in (f"{found['generated']}__mutmut_orig", mutant))
    lines = list(ndiff(own, broken))
    added = " ".join(line[2:] for line in lines if line.startswith("+ "))
    return _on_one_line(added or " ".join(line[2:] for line in lines if line.startswith("- ")))


def _lines(file: Path, generated: str) -> list[str]:
    start, end = _spans(file)[generated]
    return [line.replace(generated, "_") for line in _text(file)[start - 1 : end]]


@cache
def _spans(file: Path) -> dict[str, tuple[int, int]]:
    """The lines of each function that mutmut has made, which it keeps beside them."""
    kept = json.loads(file.with_name(f"{file.name}.spans").read_text(encoding="utf-8"))
    return {name: (start, end) for name, (start, end) in kept["spans"].items()}


@cache
def _text(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
