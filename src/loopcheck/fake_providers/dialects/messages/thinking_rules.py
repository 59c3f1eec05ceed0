"""Rules about thinking that comes back.

Only the turn that is being continued is held to what was issued; the thinking of earlier turns
may be left out. What was issued is known from the responses that the fake remembers. Thinking
from elsewhere cannot be judged, so without such a response only the letter of a rule counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final, TypeAlias

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.messages import hosted, models
from loopcheck.fake_providers.dialects.messages.blocks import (
    Block,
    Side,
    blocks_of,
    sides,
    text_of,
)
from loopcheck.fake_providers.dialects.messages.errors import invalid
from loopcheck.fake_providers.dialects.messages.seals import is_ours
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_SEALS: Final = {"thinking": "signature", "redacted_thinking": "data"}
_CALLS: Final = ("tool_use", *hosted.USES)
_DISABLED: Final = "disabled"

_Mark: TypeAlias = tuple[str, ...]
_CALL: Final[_Mark] = ("call",)


def _forced(history: Sequence[JsonObject], body: JsonObject, memory: Memory) -> ServiceError | None:
    choice = body.get("tool_choice")
    forced = isinstance(choice, dict) and choice.get("type") in ("any", "tool")
    if not forced or _mode(body) != "enabled":
        return None
    return invalid("Thinking may not be enabled when tool_choice forces tool use.", "tool_choice")


def _does_not_begin_with_it(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    turn = _running_turn(history)
    if _mode(body) != "enabled" or not turn or not turn[-1].of_kind("tool_use"):
        return None
    first = turn[-1].blocks[0]
    if first.kind in _SEALS or not _should_begin(turn, memory):
        return None
    return invalid(
        f"{_place(first)}.type: Expected `thinking` or `redacted_thinking`, but found "
        f"`{first.kind}`. When `thinking` is enabled, a final `assistant` message must start with "
        "a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). "
        "We recommend you include thinking blocks from previous turns. To avoid this requirement, "
        "disable `thinking`. Please consult our documentation at "
        "https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
        _place(first),
    )


def _should_begin(turn: Sequence[Side], memory: Memory) -> bool:
    issued = _issued(turn[-1], memory)
    if issued:
        return text_of(issued[0][0], "type") in _SEALS
    return not memory.responses and all(side.blocks[0].kind not in _SEALS for side in turn)


def _switched_off(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    if not _is_off(body.get("thinking"), text_of(body, "model")):
        return None
    for side in _running_turn(history)[-1:]:
        for block in _thoughts(side.blocks):
            if not _was_off(block, memory):
                return invalid(
                    f"{block.path}: When thinking is disabled, an `assistant` message in the "
                    f"final position cannot contain `{block.kind}`. To use thinking blocks, "
                    "enable `thinking` in your request.",
                    block.path,
                )
    return None


def _bad_seal(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    thoughts = [
        block
        for number, message in enumerate(history)
        for block in _thoughts(blocks_of(number, message))
    ]
    if not thoughts:
        return None
    known = {seal for content in _contents(memory) for block in content if (seal := _seal(block))}
    for block in thoughts:
        if not _is_valid(_seal(block.value), known, redacted=block.kind != "thinking"):
            name = _SEALS[block.kind]
            return invalid(f"{block.path}: Invalid `{name}` in `{block.kind}` block", block.path)
    return None


def _is_valid(seal: str, known: Set[str], *, redacted: bool) -> bool:
    return bool(seal) and (not known or seal in known or is_ours(seal, redacted=redacted))


def _modified(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for side in _running_turn(history)[-1:]:
        thoughts = list(_thoughts(side.blocks))
        if not thoughts:
            continue
        issued = [block for content in _issued(side, memory) for block in content]
        there, expected = _marks(block.value for block in side.blocks), _marks(issued)
        if there.count(_CALL) != expected.count(_CALL):
            there, expected = ([m for m in marks if m != _CALL] for marks in (there, expected))
        if issued and there != expected:
            path = _first_change(thoughts, [m for m in expected if m != _CALL]).path
            return invalid(
                f"{path}: `thinking` or `redacted_thinking` blocks in the latest assistant "
                "message cannot be modified. These blocks must remain as they were in the "
                "original response.",
                path,
            )
    return None


def _marks(blocks: Iterable[JsonObject]) -> list[_Mark]:
    """Thoughts, byte by byte, and where calls stand among them."""
    marks: list[_Mark] = []
    for block in blocks:
        kind = text_of(block, "type")
        if kind in _SEALS:
            marks.append((kind, text_of(block, "thinking"), _seal(block)))
        elif kind in _CALLS:
            marks.append(_CALL)
    return marks


def _first_change(thoughts: Sequence[Block], expected: Sequence[_Mark]) -> Block:
    for block, mark in zip(thoughts, expected, strict=False):
        if _marks([block.value]) != [mark]:
            return block
    return thoughts[-1]


def _running_turn(history: Sequence[JsonObject]) -> list[Side]:
    """The assistant's part of the turn that the request continues: with results, or as it is."""
    turn: list[Side] = []
    for side in reversed([side for side in sides(history) if side.role != "system"]):
        if side.role == "user" and not side.of_kind("tool_result"):
            break
        if side.role == "assistant" and side.blocks:
            turn.insert(0, side)
    return turn


def _issued(side: Side, memory: Memory) -> list[list[JsonObject]]:
    """The contents of the responses that this part of the conversation came from."""
    held = {text_of(block.value, "id") for block in side.blocks if block.kind in _CALLS}
    held = (held - memory.repeated) | {_seal(block.value) for block in side.blocks}
    held -= {""}
    return [
        content
        for content in _contents(memory)
        if any(text_of(block, "id") in held or _seal(block) in held for block in content)
    ]


def _contents(memory: Memory) -> list[list[JsonObject]]:
    contents = (response.get("content") for response in memory.responses.values())
    return [content for content in contents if isinstance(content, list)]


def _was_off(thought: Block, memory: Memory) -> bool:
    """Whether the response with this thought answered a request without thinking."""
    for response_id, response in memory.responses.items():
        content = response.get("content")
        if isinstance(content, list) and _seal(thought.value) in [_seal(b) for b in content]:
            given = memory.settings.get(response_id, {}).get("thinking")
            return _is_off(given, text_of(response, "model"))
    return False


def _is_off(thinking: object, model: str) -> bool:
    if isinstance(thinking, dict):
        return thinking.get("type") == _DISABLED
    return not models.thinks_unasked(model)


def _mode(body: JsonObject) -> object:
    thinking = body.get("thinking")
    return thinking.get("type") if isinstance(thinking, dict) else None


def _thoughts(blocks: Iterable[Block]) -> Iterator[Block]:
    return (block for block in blocks if block.kind in _SEALS)


def _seal(block: JsonObject) -> str:
    return text_of(block, _SEALS.get(text_of(block, "type"), ""))


def _place(block: Block) -> str:
    return f"messages.{block.message}.content.{block.place or 0}"


RULES: Final = (
    Rule(
        id="M15",
        grade="S",
        summary="no forced tool with manual thinking",
        check=_forced,
    ),
    Rule(
        id="M11",
        grade="I",
        summary="with manual thinking, the running turn begins with it",
        check=_does_not_begin_with_it,
    ),
    Rule(
        id="M12",
        grade="I",
        summary="without thinking, the running turn has none",
        check=_switched_off,
    ),
    Rule(id="M13", grade="S", summary="signatures are as issued", check=_bad_seal),
    Rule(
        id="M14",
        grade="S",
        summary="the thinking of the running turn is unchanged and in place",
        check=_modified,
    ),
)
