"""How calls, executions and endings read in findings and journal lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from loopcheck.harness.checks.evidence import Execution, Issued, Response

_LONG = 160


def elided(text: str, limit: int = _LONG) -> str:
    """The text on one line; a long one loses its middle."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    keep = (limit - 5) // 2
    return f"{line[:keep]} ... {line[-keep:]}"


def as_json(value: object) -> str:
    """The value as compact JSON on one line."""
    return elided(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def entered(tool: str, arguments: Mapping[str, object]) -> str:
    """A call as code: `reserve_seat(event='E1', seat=1)`."""
    return elided(f"{tool}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})")


def told(tool: str, arguments: Mapping[str, object]) -> str:
    """A call as prose: `reserve_seat(event=E1, seat=1)`."""
    return elided(f"{tool}({', '.join(f'{name}={value}' for name, value in arguments.items())})")


def executions(seen: Iterable[Execution]) -> str:
    """How many executions, and each as code: `1: reserve_seat(event='E1', seat=1)`."""
    code = [entered(one.tool, one.arguments) for one in seen]
    return f"{len(code)}: {'; '.join(code)}"


def sent_arguments(call: Issued) -> str:
    """What the model had sent of the call's arguments."""
    text = elided(call.arguments) or "no arguments"
    return f"only a part of {text}" if call.sent == "cut" else text


def ending(response: Response) -> str:
    """How the response ended: `stop length`, `the connection broke (reset)`."""
    fault = f" ({response.fault})" if response.fault else ""
    if response.ends == "failed":
        if response.status >= 400:
            return f"status {response.status}{fault}"
        return f"a failure{fault}"
    if response.ends == "unmarked":
        return f"no terminal signal{fault}"
    return f"stop {response.stop}"


def counted(count: float, what: str) -> str:
    """`1 request`, `2 requests`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
