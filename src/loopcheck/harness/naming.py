"""How case ids are matched by globs.

Case ids have brackets, `once/lost[chat-stream]`, so only `*` and `?` are special in a glob.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

ANY_CHECK: Final = "*"


@cache
def _compiled(glob: str) -> re.Pattern[str]:
    parts = (
        ".*" if part.startswith("*") else "." if part == "?" else re.escape(part)
        for part in re.findall(r"\*+|\?|[^*?]+", glob)
    )
    return re.compile("".join(parts), re.DOTALL)


def matches(glob: str, case_id: str) -> bool:
    """Whether a glob names this case; one without a bracket names whole scenarios."""
    scenario = case_id.partition("[")[0]
    pattern = _compiled(glob)
    return bool(pattern.fullmatch(case_id) or pattern.fullmatch(scenario))


def selects(pattern: str, case_id: str) -> bool:
    """Like `matches`, and a folder of scenarios (`once` or `once/`) selects what is below it."""
    return matches(pattern, case_id) or matches(pattern.rstrip("/") + "/*", case_id)


def hinted(message: str, hint: str) -> str:
    """The message with the hint that ends the search, where there is one."""
    return f"{message}; {hint}" if hint else message
