"""Rules about single messages and blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.messages import hosted, models
from loopcheck.fake_providers.dialects.messages.blocks import Block, blocks_of, text_of
from loopcheck.fake_providers.dialects.messages.errors import field_error, invalid
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_ID: Final = "^[a-zA-Z0-9_-]+$"
_IDS: Final = {"tool_use": "id", "tool_result": "tool_use_id"}
_PLACES: Final = {"tool_use": "assistant", "tool_result": "user"}


def _system_role(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    if models.takes_system_messages(text_of(body, "model")):
        return None
    for number, message in enumerate(history):
        if message.get("role") == "system":
            return invalid(
                'messages: Unexpected role "system". The Messages API accepts a top-level '
                '`system` parameter, not "system" as an input message role.',
                f"messages.{number}.role",
            )
    return None


def _misplaced(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for role, block in _blocks(history):
        right = _PLACES.get(block.kind, role)
        if role != right:
            return invalid(
                f"messages.{block.message}: `{block.kind}` blocks can only be in `{right}` "
                "messages",
                block.path,
            )
    return None


def _empty_message(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    last = len(history) - 1
    for number, message in enumerate(history):
        final = number == last and message.get("role") == "assistant"
        if message.get("content") in ("", []) and not final:
            return invalid(
                f"messages.{number}: all messages must have non-empty content except for the "
                "optional final assistant message",
                f"messages.{number}",
            )
    return None


def _empty_text(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for _, block in _blocks(history):
        if block.kind == "text" and block.place is not None and block.value.get("text") == "":
            return invalid("messages: text content blocks must be non-empty", block.path)
    return None


def _bad_id(history: Sequence[JsonObject], body: JsonObject, memory: Memory) -> ServiceError | None:
    for _, block in _blocks(history):
        name = _IDS.get(block.kind, "")
        value = block.value.get(name)
        if not isinstance(value, str) or value in memory.issued:
            continue
        if not re.fullmatch(_ID.strip("^$"), value):
            return field_error(
                f"{block.path}.{block.kind}.{name}", f"String should match pattern '{_ID}'"
            )
    return None


def _input_is_no_object(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for _, block in _blocks(history):
        if block.kind == "tool_use" and not isinstance(block.value.get("input", {}), dict):
            return field_error(f"{block.path}.tool_use.input", "Input should be an object")
    return None


def _empty_error(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for _, block in _blocks(history):
        failed = block.kind == "tool_result" and block.value.get("is_error") is True
        if failed and not block.value.get("content"):
            return invalid(
                f"{block.path}.tool_result: content cannot be empty if `is_error` is true",
                block.path,
            )
    return None


def _prefill(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    last = history[-1] if history and body.get("messages") else {}
    if last.get("role") != "assistant" or models.takes_prefill(text_of(body, "model")):
        return None
    if any(block.kind in hosted.USES for _, block in _blocks(history[-1:])) or _paused(memory):
        return None
    return invalid(
        "This model does not support assistant message prefill. The conversation must end with a "
        "user message.",
        f"messages.{len(history) - 1}",
    )


def _paused(memory: Memory) -> bool:
    """Whether the service has asked to have a turn sent back as it is."""
    return any(
        response.get("stop_reason") == "pause_turn" for response in memory.responses.values()
    )


def _blocks(history: Sequence[JsonObject]) -> Iterator[tuple[str, Block]]:
    for number, message in enumerate(history):
        for block in blocks_of(number, message):
            yield text_of(message, "role"), block


RULES: Final = (
    Rule(id="M25", grade="S", summary="the model knows the role system", check=_system_role),
    Rule(
        id="M26",
        grade="S",
        summary="the input of a tool_use is an object",
        check=_input_is_no_object,
    ),
    Rule(id="M6", grade="I", summary="call ids keep to their pattern", check=_bad_id),
    Rule(id="M8", grade="S", summary="messages are not empty", check=_empty_message),
    Rule(id="M7", grade="S", summary="text blocks are not empty", check=_empty_text),
    Rule(
        id="M10",
        grade="S",
        summary="calls are the assistant's, results the user's",
        check=_misplaced,
    ),
    Rule(id="M9", grade="S", summary="a failed result says why", check=_empty_error),
    Rule(
        id="M16",
        grade="S",
        summary="the conversation ends with a user message, except where a turn was paused",
        check=_prefill,
    ),
)
