"""Rules about calls and the outputs that answer them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.dialects.openai_rules import Asked, Finder, listed
from loopcheck.fake_providers.dialects.responses import form, origins
from loopcheck.fake_providers.dialects.responses.items import kind_of
from loopcheck.fake_providers.wire import ServiceError


def _unanswered(kind: str, words: str) -> Finder:
    """Finds calls of that kind without output."""

    def find(asked: Asked) -> Iterator[ServiceError]:
        answered = {call_id for _, call_id in _ids(asked, f"{kind}_output")}
        for _, call_id in _ids(asked, kind):
            if call_id not in answered and call_id not in asked.memory.repeated:
                yield invalid(f"No tool output found for {words} {call_id}.", param="input")

    return find


def _orphan(kind: str, words: str) -> Finder:
    """Finds outputs without a call of that kind before them."""

    def find(asked: Asked) -> Iterator[ServiceError]:
        first: dict[str, int] = {}
        for position, call_id in _ids(asked, kind):
            first.setdefault(call_id, position)
        for position, call_id in _ids(asked, f"{kind}_output"):
            known = first.get(call_id, position) < position
            if not known and call_id not in asked.memory.repeated:
                yield invalid(
                    f"No tool call found for {words} output with call_id {call_id}.",
                    param="input",
                )

    return find


CALL_UNANSWERED: Final = _unanswered("function_call", "function call")
CUSTOM_CALL_UNANSWERED: Final = _unanswered("custom_tool_call", "custom tool call")
OUTPUT_ORPHAN: Final = _orphan("function_call", "function call")
CUSTOM_OUTPUT_ORPHAN: Final = _orphan("custom_tool_call", "custom tool call")
SHELL_OUTPUT_ORPHAN: Final = _orphan("shell_call", "shell call")


def namespace_lost(asked: Asked) -> Iterator[ServiceError]:
    """Calls that were sent back without the namespace that their tool stands in."""
    for position, item in enumerate(form.sent(asked.body)):
        name = item.get("name")
        if kind_of(item) != "function_call" or item.get("namespace") is not None:
            continue
        if origins.namespace(asked.body, str(name)) is not None:
            yield invalid(
                f"Missing namespace for function_call '{name}'. It does not exist in the default "
                "namespace. Round-trip the model's function_call item with its namespace field "
                "included.",
                param=f"input[{position}].namespace",
            )


def output_not_json(asked: Asked) -> Iterator[ServiceError]:
    """Outputs in plain words, of tools that declare a schema for them."""
    schemed = {
        tool.get("name")
        for tool in listed(asked.body.get("tools"))
        if tool.get("output_schema") is not None
    }
    callers = {
        item.get("call_id")
        for item in asked.history
        if kind_of(item) == "function_call" and item.get("name") in schemed
    }
    for item in asked.history:
        if kind_of(item) != "function_call_output" or item.get("call_id") not in callers:
            continue
        told = item.get("output")
        if isinstance(told, str) and not _is_json(told):
            yield invalid(
                "Invalid function_call_output.output: expected a JSON string because the "
                "function declares output_schema.",
                param="input",
                code="invalid_value",
            )


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _ids(asked: Asked, kind: str) -> Iterator[tuple[int, str]]:
    for position, item in enumerate(asked.history):
        if kind_of(item) == kind and isinstance(item.get("call_id"), str):
            yield position, str(item["call_id"])
