"""What the service tells of an item beside what it says: its phase, its namespace, its caller."""

from __future__ import annotations

import re
from typing import Final

from loopcheck.fake_providers.dialects.openai_common import objects
from loopcheck.fake_providers.wire import Answer, IssuedCall, IssuedHosted, JsonObject

# Recorded of gpt-5.4 and gpt-5.5, said of gpt-5.3-codex and what came later.
_WITH_PHASES: Final = re.compile(r"gpt-(5\.3-codex|5\.([4-9]|\d\d)|([6-9]|\d\d))")


def phase(answer: Answer, index: int) -> JsonObject:
    """Whether a message leads to calls or ends the turn, as newer models tell."""
    if _WITH_PHASES.match(answer.model) is None:
        return {}
    leads = any(isinstance(piece, IssuedCall) for piece in answer.content[index:])
    return {"phase": "commentary" if leads else "final_answer"}


def caller(answer: Answer, index: int) -> JsonObject:
    """The program that made a call: one that stands before it and has not ended."""
    program: IssuedHosted | None = None
    for piece in answer.content[:index]:
        if isinstance(piece, IssuedHosted) and piece.kind in ("program", "program_output"):
            program = piece if piece.kind == "program" else None
    if program is None:
        return {}
    return {"caller": {"type": "program", "caller_id": program.call_id}}


def home(body: JsonObject, tool: str) -> JsonObject:
    """The namespace of the tool that is called; one that a search has loaded is its own."""
    found = namespace(body, tool) or (tool if _is_loaded(body, tool) else None)
    return {} if found is None else {"namespace": found}


def namespace(body: JsonObject, tool: str) -> str | None:
    """The namespace of a tool that the request describes in one and nowhere else."""
    described = objects(body, "tools")
    if any(entry.get("name") == tool and "tools" not in entry for entry in described):
        return None
    homes = (entry for entry in described if entry.get("type") == "namespace")
    return next((str(home.get("name")) for home in homes if _holds(home, tool)), None)


def _holds(home: JsonObject, tool: str) -> bool:
    return any(inner.get("name") == tool for inner in objects(home, "tools"))


def _is_loaded(body: JsonObject, tool: str) -> bool:
    described = objects(body, "tools")
    searched = any(entry.get("type") == "tool_search" for entry in described)
    return searched and any(
        entry.get("name") == tool and entry.get("defer_loading") is True for entry in described
    )
