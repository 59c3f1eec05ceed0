"""Rules about single parameters and about the tools that are described."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from loopcheck.fake_providers.dialects import openai_tools
from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.dialects.openai_rules import (
    Asked,
    empty_array,
    is_unknown,
    listed,
    model_of,
    only_with,
    too_small,
)
from loopcheck.fake_providers.dialects.openai_tools import Described
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_LONGEST_NAME: Final = 128
_FEWEST_TOKENS: Final = 16
_REASONING: Final = re.compile(r"(o\d|gpt-5)(?!.*chat)")
# Without tools these two say nothing, and the service echoes the first anyway.
_IDLE_CHOICES: Final = (None, "auto", "none")


def unknown_model(asked: Asked) -> Iterator[ServiceError]:
    """A model that does not exist."""
    if is_unknown(asked):
        yield invalid(
            f"The requested model '{model_of(asked)}' does not exist.",
            param="model",
            code="model_not_found",
        )


def no_context(asked: Asked) -> Iterator[ServiceError]:
    """An empty list of ways to manage the context."""
    if asked.body.get("context_management") == []:
        yield empty_array("context_management")


def cold(asked: Asked) -> Iterator[ServiceError]:
    """A temperature below zero."""
    value = _number(asked.body.get("temperature"))
    if value is not None and value < 0:
        yield too_small("temperature", "decimal", 0, asked.body["temperature"])


def too_few_tokens(asked: Asked) -> Iterator[ServiceError]:
    """A limit below what any answer needs."""
    value = _number(asked.body.get("max_output_tokens"))
    if value is not None and value < _FEWEST_TOKENS:
        least, got = _FEWEST_TOKENS, asked.body["max_output_tokens"]
        yield too_small("max_output_tokens", "integer", least, got)


def temperature(asked: Asked) -> Iterator[ServiceError]:
    """A temperature for models that think."""
    if asked.body.get("temperature") is not None and _REASONING.match(model_of(asked)):
        yield invalid(
            "Unsupported parameter: 'temperature' is not supported with this model.",
            param="temperature",
        )


def choice_without_tools(asked: Asked) -> Iterator[ServiceError]:
    """A choice among no tools."""
    if asked.body.get("tool_choice") not in _IDLE_CHOICES and not asked.body.get("tools"):
        yield only_with("tool_choice", "'tools' are specified")


def choice_of_no_tool(asked: Asked) -> Iterator[ServiceError]:
    """The choice of a tool that is not there."""
    choice = asked.body.get("tool_choice")
    if not isinstance(choice, dict) or choice.get("type") not in ("function", "custom"):
        return
    names = [described.name for described in _described(asked, ("function", "custom"))]
    if choice.get("name") not in names:
        yield invalid(
            f"Tool choice '{choice.get('name')}' not found in 'tools' parameter.",
            param="tool_choice",
        )


def ill_named(asked: Asked) -> Iterator[ServiceError]:
    """Tools whose name holds characters that are not allowed."""
    yield from openai_tools.ill_named(_functions(asked))


def long_named(asked: Asked) -> Iterator[ServiceError]:
    """Tools whose name is too long."""
    yield from openai_tools.long_named(_functions(asked), _LONGEST_NAME)


def not_objects(asked: Asked) -> Iterator[ServiceError]:
    """Tools whose parameters are no object."""
    yield from openai_tools.not_objects(_functions(asked))


def not_closed(asked: Asked) -> Iterator[ServiceError]:
    """Strict tools with an open schema."""
    yield from openai_tools.not_closed(_functions(asked))


def _functions(asked: Asked) -> Iterator[Described]:
    yield from _described(asked, ("function",))


def _described(asked: Asked, kinds: tuple[str, ...]) -> Iterator[Described]:
    for path, tool in _tools(asked.body, ""):
        if tool.get("type") in kinds:
            yield Described(path, tool)


def _tools(holder: JsonObject, path: str) -> Iterator[tuple[str, JsonObject]]:
    """Every tool with the path to it, those of namespaces included."""
    for position, tool in enumerate(listed(holder.get("tools"))):
        here = f"{path}tools[{position}]"
        yield here, tool
        yield from _tools(tool, f"{here}.")


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
