"""What the Messages service refuses in a conversation. Only the first breach is reported."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.messages.blocks import Block, Side, sides, text_of
from loopcheck.fake_providers.dialects.messages.errors import field_error, invalid
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_NOTHING: Final = Side("", ())


def _unanswered(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for side, following in pairwise([*sides(history), _NOTHING]):
        if side.role != "assistant":
            continue
        answered = {_answers(result) for result in following.of_kind("tool_result")}
        open_calls = [use for use in side.of_kind("tool_use") if _id(use) not in answered]
        if open_calls:
            ids = ", ".join(dict.fromkeys(_id(use) for use in open_calls))
            place = f"messages.{open_calls[0].message}"
            return invalid(
                f"{place}: `tool_use` ids were found without `tool_result` blocks immediately "
                f"after: {ids}. Each `tool_use` block must have a corresponding `tool_result` "
                "block in the next message.",
                place,
            )
    return None


def _unasked(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for before, side in pairwise([_NOTHING, *sides(history)]):
        asked = {_id(use) for use in before.of_kind("tool_use")}
        for result in side.of_kind("tool_result"):
            if side.role == "user" and _answers(result) not in asked:
                return invalid(
                    f"{result.path}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{_answers(result)}. Each `tool_result` block must have a corresponding "
                    "`tool_use` block in the previous message.",
                    result.path,
                )
    return None


def _answered_twice(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for side in sides(history):
        seen: set[str] = set()
        for result in side.of_kind("tool_result"):
            call_id = _answers(result)
            if call_id in seen and call_id not in memory.repeated:
                return invalid(
                    f"{result.path}: each tool_use must have a single result. Found multiple "
                    f"`tool_result` blocks with id: {call_id}",
                    result.path,
                )
            seen.add(call_id)
    return None


def _input_is_no_object(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for side in sides(history):
        for use in side.of_kind("tool_use"):
            if not isinstance(use.value.get("input"), dict):
                return field_error(f"{use.path}.tool_use.input", "Input should be an object")
    return None


def _id(use: Block) -> str:
    return text_of(use.value, "id")


def _answers(result: Block) -> str:
    return text_of(result.value, "tool_use_id")


RULES: Final = (
    Rule(
        id="M1",
        grade="R",
        summary="every tool_use is answered in the next message",
        check=_unanswered,
    ),
    Rule(
        id="M2",
        grade="R",
        summary="every tool_result answers a tool_use of the previous message",
        check=_unasked,
    ),
    Rule(
        id="M5",
        grade="S",
        summary="every tool_use has a single tool_result",
        check=_answered_twice,
    ),
    Rule(
        id="M26",
        grade="S",
        summary="the input of a tool_use is an object",
        check=_input_is_no_object,
    ),
)
