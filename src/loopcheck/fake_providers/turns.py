"""Which turn a request asks for.

A server cannot know what its client has read, so the next request decides, not the socket: the
latest turn whose response stands in the conversation was received, and the one behind it is
asked for. Pure functions over what was given and what came back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopcheck.fake_providers.wire import IssuedCall, Item, OfferedTool

Means: TypeAlias = Literal["ids", "tokens", "text", "count", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A response that was given to a request for a turn.

    `tokens` are those of the results that this turn's calls have produced so far.
    """

    turn: int
    calls: tuple[IssuedCall, ...]
    text: str
    tokens: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Recognised:
    """The latest turn found in a conversation, and what gave it away. Turn 0 is none."""

    turn: int
    by: Means


def recognise(items: Sequence[Item], given: Sequence[Given]) -> Recognised:
    """The latest turn among `given` whose response stands in the conversation `items`."""
    turns = sorted({response.turn for response in given}, reverse=True)
    for turn in turns:
        by = _means(turn, items, given)
        if by != "none":
            return Recognised(turn, by)
    replies = len({item.reply for item in items if item.reply is not None})
    if replies and turns:
        return Recognised(min(replies, turns[0]), "count")
    return Recognised(0, "none")


def _means(turn: int, items: Sequence[Item], given: Sequence[Given]) -> Means:
    responses = [response for response in given if response.turn == turn]
    if _ids_stand(turn, responses, items, given):
        return "ids"
    if _tokens_stand(responses, items):
        return "tokens"
    if _text_stands(turn, responses, items, given):
        return "text"
    return "none"


def _ids_stand(
    turn: int, responses: Iterable[Given], items: Sequence[Item], given: Sequence[Given]
) -> bool:
    held = Counter(item.call_id for item in items if item.kind == "call" and item.call_id)
    for response in responses:
        for call in response.calls:
            if call.call_id and held[call.call_id] > _issued_before(call.call_id, turn, given):
                return True
    return False


def _issued_before(call_id: str, turn: int, given: Sequence[Given]) -> int:
    """How often the turns before this one issued the id; their attempts replace one another."""
    most: Counter[int] = Counter()
    for response in given:
        if response.turn < turn:
            times = sum(call.call_id == call_id for call in response.calls)
            most[response.turn] = max(most[response.turn], times)
    return most.total()


def _tokens_stand(responses: Iterable[Given], items: Sequence[Item]) -> bool:
    texts = [item.text for item in items if item.kind in ("result", "user")]
    return any(
        token in text for response in responses for token in response.tokens for text in texts
    )


def _text_stands(
    turn: int, responses: Iterable[Given], items: Sequence[Item], given: Sequence[Given]
) -> bool:
    said = _said(items)
    for response in responses:
        text = response.text.strip()
        if not text:
            continue
        before = {other.turn for other in given if other.turn < turn and text in other.text}
        if sum(text in entry for entry in said) > len(before):
            return True
    return False


def _said(items: Sequence[Item]) -> list[str]:
    """The text of each model response, which may stand in several items."""
    texts: dict[int | None, str] = {}
    for item in items:
        if item.kind == "say":
            texts[item.reply] = texts.get(item.reply, "") + item.text
    return list(texts.values())


def invented_call(items: Sequence[Item], given: Sequence[Given]) -> Item | None:
    """The first call in the conversation that was never issued, under no id and in no form.

    Loops may rewrite ids and arguments, so a call counts as issued while there are no more calls
    of its tool than were issued, whatever the turn.
    """
    issued = [call for response in given for call in response.calls]
    ids = {call.call_id for call in issued}
    budget = Counter(call.tool for call in issued)
    for item in items:
        if item.kind != "call" or item.call_id in ids:
            continue
        name = item.name or ""
        if budget[name] <= 0:
            return item
        budget[name] -= 1
    return None


def asks_for_a_turn(
    items: Sequence[Item],
    offered: Iterable[OfferedTool],
    *,
    prompt: str | None,
    tools: Sequence[str],
) -> bool:
    """Whether a request that continues nothing begins the task.

    It carries the prompt, together with one of the scenario's tools where there are any; loops
    may wrap the prompt and prefix tool names. Without tools only the prompt itself, as a message
    of its own, tells a task from a request for a title or a summary. Without a prompt, any
    request begins the task.
    """
    if prompt is None:
        return True
    said = [item.text for item in items if item.kind == "user"]
    if not tools:
        return any(text.strip() == prompt.strip() for text in said)
    names = [tool.name for tool in offered]
    return any(prompt in text for text in said) and any(
        name.endswith(tool) for name in names for tool in tools
    )
