"""Rules about single parameters and fields: lengths, names, and what needs what.

Path style of these checks: `messages[0].role`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from loopcheck.fake_providers.dialects import openai_tools
from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.dialects.openai_rules import (
    Asked,
    empty_array,
    ill_formed,
    is_unknown,
    listed,
    long_array,
    long_text,
    model_of,
    only_with,
    over,
)
from loopcheck.fake_providers.dialects.openai_tools import Described
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_MOST_TOOLS: Final = 128
_LONGEST_ID: Final = 40
_LONGEST_NAME: Final = 64
_TOOL_BLOCKS: Final = ("text", "image_url")
_WITHOUT_SYSTEM: Final = re.compile(r"o1-(mini|preview)")
_REASONING: Final = re.compile(r"(o\d|gpt-5)(?!.*chat)")
_TOOLS_GIVEN: Final = "'tools' are specified"


def unknown_model(asked: Asked) -> Iterator[ServiceError]:
    """A model that does not exist."""
    if is_unknown(asked):
        yield invalid(
            f"The model `{model_of(asked)}` does not exist or you do not have access to it.",
            code="model_not_found",
            status=404,
        )


def no_messages(asked: Asked) -> Iterator[ServiceError]:
    """An empty conversation."""
    if not asked.history:
        yield empty_array("messages")


def empty_calls(asked: Asked) -> Iterator[ServiceError]:
    """Assistant messages with an empty list of calls."""
    for position, message in enumerate(asked.history):
        if message.get("tool_calls") == []:
            yield empty_array(f"messages[{position}].tool_calls")


def empty_tools(asked: Asked) -> Iterator[ServiceError]:
    """An empty list of tools."""
    if asked.body.get("tools") == []:
        yield empty_array("tools")


def too_many_tools(asked: Asked) -> Iterator[ServiceError]:
    """More tools than the service takes."""
    count = len(listed(asked.body.get("tools")))
    if count > _MOST_TOOLS:
        yield long_array("tools", _MOST_TOOLS, count)


def long_call_id(asked: Asked) -> Iterator[ServiceError]:
    """Calls with an id that is too long, and not of the service's own making."""
    for path, call in _calls(asked):
        length = over(call.get("id"), _LONGEST_ID)
        if length and call.get("id") not in asked.memory.issued:
            yield long_text(f"{path}.id", _LONGEST_ID, length)


def long_result_id(asked: Asked) -> Iterator[ServiceError]:
    """Tool messages with an id that is too long, and not of the service's own making."""
    for position, message in enumerate(asked.history):
        named = message.get("tool_call_id")
        length = over(named, _LONGEST_ID)
        if length and named not in asked.memory.issued:
            yield long_text(f"messages[{position}].tool_call_id", _LONGEST_ID, length)


def ill_named(asked: Asked) -> Iterator[ServiceError]:
    """Tools and calls whose name holds characters that are not allowed."""
    yield from openai_tools.ill_named(_functions(asked))
    for path, call in _calls(asked):
        function = call.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if openai_tools.is_ill_named(name) and name not in asked.memory.issued:
            yield ill_formed(f"{path}.function.name", openai_tools.NAME_PATTERN)


def long_named(asked: Asked) -> Iterator[ServiceError]:
    """Tools whose name is too long."""
    yield from openai_tools.long_named(_functions(asked), _LONGEST_NAME)


def sound_for_deaf(asked: Asked) -> Iterator[ServiceError]:
    """Sound in a user message, for models that do not hear."""
    if "audio" not in model_of(asked):
        yield from _blocks(asked, "user", lambda kind: kind == "input_audio")


def foreign_block(asked: Asked) -> Iterator[ServiceError]:
    """Tool messages with blocks that are neither text nor an image."""
    yield from _blocks(asked, "tool", lambda kind: kind not in _TOOL_BLOCKS)


def unsupported_role(asked: Asked) -> Iterator[ServiceError]:
    """System messages for models that take none."""
    for position, message in enumerate(asked.history):
        if message.get("role") == "system" and _WITHOUT_SYSTEM.match(model_of(asked)):
            yield invalid(
                f"Unsupported value: 'messages[{position}].role' does not support 'system' with "
                "this model.",
                param=f"messages[{position}].role",
                code="unsupported_value",
            )


def max_tokens(asked: Asked) -> Iterator[ServiceError]:
    """The older limit on tokens, for models that think."""
    if asked.body.get("max_tokens") is not None and _REASONING.match(model_of(asked)):
        yield invalid(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )


def stream_options(asked: Asked) -> Iterator[ServiceError]:
    """Options of a stream that was not asked for."""
    given = asked.body.get("stream_options") is not None
    if given and asked.body.get("stream") is not True:
        yield invalid(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )


def choice_without_tools(asked: Asked) -> Iterator[ServiceError]:
    """A choice among no tools."""
    if asked.body.get("tool_choice") is not None and not asked.body.get("tools"):
        yield only_with("tool_choice", _TOOLS_GIVEN)


def parallel_without_tools(asked: Asked) -> Iterator[ServiceError]:
    """How to call tools, where there are none."""
    if asked.body.get("parallel_tool_calls") is not None and not asked.body.get("tools"):
        yield only_with("parallel_tool_calls", _TOOLS_GIVEN)


def not_objects(asked: Asked) -> Iterator[ServiceError]:
    """Tools whose parameters are no object."""
    yield from openai_tools.not_objects(_functions(asked))


def not_closed(asked: Asked) -> Iterator[ServiceError]:
    """Strict tools with an open schema."""
    yield from openai_tools.not_closed(_functions(asked))


def _blocks(asked: Asked, role: str, is_wrong: Callable[[object], bool]) -> Iterator[ServiceError]:
    for position, message in enumerate(asked.history):
        blocks = listed(message.get("content")) if message.get("role") == role else []
        if any(is_wrong(block.get("type")) for block in blocks):
            yield invalid(
                f"Invalid 'messages[{position}]'. Content blocks are expected to be either text "
                "or image_url type.",
                param=f"messages[{position}]",
                code="invalid_value",
            )


def _functions(asked: Asked) -> Iterator[Described]:
    for position, tool in enumerate(listed(asked.body.get("tools"))):
        function = tool.get("function")
        if isinstance(function, dict):
            yield Described(f"tools[{position}].function", function)


def _calls(asked: Asked) -> Iterator[tuple[str, JsonObject]]:
    for position, message in enumerate(asked.history):
        for place, call in enumerate(listed(message.get("tool_calls"))):
            yield f"messages[{position}].tool_calls[{place}]", call
