"""The command that runs cases again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Final

_MOST: Final = 20


def run_command(
    patterns: Iterable[str], targets: Iterable[str], *, seed: int, lenient: Iterable[str] = ()
) -> str:
    """`loopcheck run` as it can be pasted. Of very many patterns none is named: all are run."""
    named = list(dict.fromkeys(patterns))
    words = ["loopcheck", "run", *(named if len(named) <= _MOST else [])]
    for target in dict.fromkeys(targets):
        words += ["--target", target]
    words += ["--seed", str(seed)]
    for rule in lenient:
        words += ["--lenient", rule]
    return shlex.join(words)
