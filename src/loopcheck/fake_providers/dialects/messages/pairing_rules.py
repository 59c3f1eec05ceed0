"""Rules about calls and their results: those of the client, and those of the service."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.messages import hosted
from loopcheck.fake_providers.dialects.messages.blocks import Block, Side, sides, text_of
from loopcheck.fake_providers.dialects.messages.errors import invalid
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_NOTHING: Final = Side("", ())


def _same_id(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    seen: set[str] = set()
    for side in sides(history):
        for use in side.of_kind("tool_use"):
            if _id(use) in seen and _id(use) not in memory.repeated:
                return invalid(f"{use.path}: `tool_use` ids must be unique", use.path)
            seen.add(_id(use))
    return None


def _unanswered(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for side, following in pairwise([*sides(history), _NOTHING]):
        if side.role != "assistant":
            continue
        answered = {_answers(result) for result in following.of_kind("tool_result")}
        open_calls = [use for use in side.of_kind("tool_use") if _id(use) not in answered]
        if open_calls:
            return _without_result(open_calls)
    return None


def _late_results(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for side, following in pairwise([*sides(history), _NOTHING]):
        leading = takewhile(lambda block: block.kind == "tool_result", following.blocks)
        in_time = {_answers(result) for result in leading}
        late = {_answers(result) for result in following.of_kind("tool_result")} - in_time
        late_calls = [use for use in side.of_kind("tool_use") if _id(use) in late]
        if side.role == "assistant" and late_calls:
            return _without_result(late_calls)
    return None


def _without_result(calls: Sequence[Block]) -> ServiceError:
    ids = ", ".join(dict.fromkeys(_id(use) for use in calls))
    place = f"messages.{calls[0].message}"
    return invalid(
        f"{place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message.",
        place,
    )


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


def _orphan_of_the_service(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    asked: set[str] = set()
    for block in _all(history):
        if block.kind in hosted.USES:
            asked.add(_id(block))
        elif block.kind.endswith("_tool_result") and _answers(block) not in asked:
            use = "mcp_tool_use" if block.kind.startswith("mcp_") else "server_tool_use"
            return invalid(
                f"{block.path}: unexpected `tool_use_id` found in `{block.kind}` blocks: "
                f"{_answers(block)}. Each `{block.kind}` block must have a corresponding `{use}` "
                "block before it.",
                block.path,
            )
    return None


def _unresolved(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    resolved = {_answers(block) for block in _all(history)}
    for side, following in pairwise(sides(history)):
        others = any(block.kind != "tool_result" for block in following.blocks)
        for use in side.of_kind("server_tool_use"):
            if others and following.role == "user" and _id(use) not in resolved:
                return invalid(
                    f"`{text_of(use.value, 'name')}` tool use with id `{_id(use)}` was found "
                    f"without a corresponding `{hosted.result_kind(use.value)}` block",
                    use.path,
                )
    return None


def _unknown_caller(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    sources: set[str] = set()
    for block in _all(history):
        if block.kind == "server_tool_use":
            sources.add(_id(block))
        caller = block.value.get("caller")
        source = text_of(caller, "tool_id") if isinstance(caller, dict) else ""
        if block.kind == "tool_use" and source and source not in sources:
            return invalid(
                f"source tool `{source}` not found for tool use block `{_id(block)}`", block.path
            )
    return None


def _all(history: Sequence[JsonObject]) -> list[Block]:
    return [block for side in sides(history) for block in side.blocks]


def _id(use: Block) -> str:
    return text_of(use.value, "id")


def _answers(result: Block) -> str:
    return text_of(result.value, "tool_use_id")


RULES: Final = (
    Rule(id="M4", grade="I", summary="the ids of tool_use blocks are unique", check=_same_id),
    Rule(
        id="M1",
        grade="R",
        summary="every tool_use is answered in the next message",
        check=_unanswered,
    ),
    Rule(
        id="M1-order",
        grade="S",
        summary="results come before all else in their message",
        check=_late_results,
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
        id="M3",
        grade="I",
        summary="every result of the service has its call before it",
        check=_orphan_of_the_service,
    ),
    Rule(
        id="M24",
        grade="D",
        summary="only results follow a call that the service has not ended",
        check=_unresolved,
    ),
    Rule(
        id="M22",
        grade="R",
        summary="the program that made a call stands before it",
        check=_unknown_caller,
    ),
)
