"""What a request asks of the model about tools, free of dialect."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {"auto": "auto", "none": "none", "required": "required", "any": "required"}


def chosen(tool_choice: object) -> str:
    """`auto`, `required`, `none`, or the name of the tool that has to be called."""
    if isinstance(tool_choice, str):
        return _WORDS.get(tool_choice, "auto")
    if not isinstance(tool_choice, dict):
        return "auto"
    kind = str(tool_choice.get("type"))
    if kind in _WORDS:
        return _WORDS[kind]
    inner = tool_choice.get(kind)
    told = inner if isinstance(inner, dict) else tool_choice
    if kind == "allowed_tools":
        return _WORDS.get(str(told.get("mode")), "auto")
    name = told.get("name")
    return name if isinstance(name, str) else "required"
