"""Which turn a request asks for.

A server cannot know what its client has read, so the next request decides, not the socket: the
latest turn whose response stands in the conversation was received, and the one behind it is
asked for. No I/O: only what was given, and what came back.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from loopcheck.fake_providers.dialects.interface import drop_oldest
from loopcheck.fake_providers.wire import IssuedCall, Item, OfferedTool

Means: TypeAlias = Literal["ids", "tokens", "text", "count", "none"]
TokenSource: TypeAlias = Callable[[Sequence[str]], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Recognised:
    """The latest turn found in a conversation, and what gave it away. Turn 0 is none."""

    turn: int
    by: Means


_NONE: Final = Recognised(0, "none")
_NOT_BY_IDS: Final = Recognised(0, "ids")
_NOT_BY_TEXT: Final = Recognised(0, "text")


class Given:
    """The responses that were given so far, kept so that a look at a conversation costs no more
    than the conversation, however many there were.

    Attempts of one turn replace one another: an id counts for a turn as often as the attempt
    that issued it most. `changes` counts what was given that a look could find.
    """

    def __init__(self) -> None:
        self._issued: dict[str, dict[int, int]] = {}
        self._texts: dict[str, list[int]] = {}
        self._labels: dict[int, dict[str, None]] = {}
        self._tools: Counter[str] = Counter()
        self._latest = 0
        self.changes = 0

    @property
    def looks_for_tokens(self) -> bool:
        """Whether a look depends on more than what was given."""
        return bool(self._labels)

    def add(
        self, turn: int, calls: Sequence[IssuedCall] = (), *, text: str = "", scripted: bool = True
    ) -> None:
        """A response to a request for this turn. The labels of turns beyond the script repeat,
        so that the tokens of their results tell nothing: those are not `scripted`."""
        if turn > self._latest:
            self._latest = turn
            self.changes += 1
        if calls:
            self._add_calls(turn, calls, scripted=scripted)
            self.changes += 1
        if said := text.strip():
            turns_of_text = self._texts.setdefault(said, [])
            if turn not in turns_of_text:
                insort(turns_of_text, turn)
                self.changes += 1

    def _add_calls(self, turn: int, calls: Sequence[IssuedCall], *, scripted: bool) -> None:
        for call_id, times in Counter(call.call_id for call in calls).items():
            turns = self._issued.setdefault(call_id, {})
            turns[turn] = max(times, turns.get(turn, 0))
        self._tools.update(call.tool for call in calls)
        if scripted:
            self._labels.setdefault(turn, {}).update((call.label, None) for call in calls)

    def forget(self, keep: int) -> None:
        """Drops the oldest ids and texts until so many are left."""
        if len(self._issued) > keep or len(self._texts) > keep:
            drop_oldest(self._issued, keep)
            drop_oldest(self._texts, keep)
            self.changes += 1

    def has_issued(self, call_id: str) -> bool:
        """Whether any response so far issued a call under this id."""
        return call_id in self._issued

    def recognise(self, items: Sequence[Item], tokens: TokenSource) -> Recognised:
        """The latest turn whose response stands in the conversation `items`. `tokens` tells
        which tokens the results of the calls with these labels carry."""
        by_ids, by_text = self._by_ids(items), self._by_text(items)
        best = by_text if by_text.turn > by_ids.turn else by_ids
        by_tokens = self._by_tokens(items, tokens, behind=best.turn)
        if by_tokens is not None:
            return by_tokens
        if best.turn:
            return best
        replies = {item.reply for item in items} - {None}
        count = min(len(replies), self._latest)
        return Recognised(count, "count") if count else _NONE

    def _by_ids(self, items: Sequence[Item]) -> Recognised:
        called = [item.call_id for item in items if item.kind == "call"]
        if not called:
            return _NOT_BY_IDS
        latest = 0
        for call_id, times in Counter(called).items():
            before = 0
            for turn, issued in sorted(self._issued.get(call_id or "", {}).items()):
                if times > before:
                    latest = max(latest, turn)
                before += issued
        return Recognised(latest, "ids")

    def _by_text(self, items: Sequence[Item]) -> Recognised:
        said = _said(items)
        if not said:
            return _NOT_BY_TEXT
        latest = 0
        for text, turns in self._texts.items():
            times = sum(text in entry for entry in said)
            if times:
                latest = max(latest, turns[min(times, len(turns)) - 1])
        return Recognised(latest, "text")

    def _by_tokens(
        self, items: Sequence[Item], tokens: TokenSource, *, behind: int
    ) -> Recognised | None:
        if not self._labels:
            return None
        texts = [item.text for item in items if item.kind in ("result", "user")]
        for turn in sorted(self._labels, reverse=True):
            if turn <= behind:
                return None
            known = tokens(tuple(self._labels[turn]))
            if any(token in text for token in known for text in texts):
                return Recognised(turn, "tokens")
        return None

    def invented_call(self, items: Sequence[Item]) -> Item | None:
        """The first call in the conversation that was never issued, under no id and in no form.

        Loops may rewrite ids and arguments, so a call counts as issued while there are no more
        calls of its tool than were issued, whatever the turn.
        """
        spent: dict[str, int] = {}
        for item in items:
            if item.kind != "call" or item.call_id in self._issued:
                continue
            name = item.name or ""
            spent[name] = spent.get(name, 0) + 1
            if spent[name] > self._tools[name]:
                return item
        return None


def _said(items: Sequence[Item]) -> list[str]:
    """The text of each model response, which may stand in several items."""
    texts: dict[int | None, str] = {}
    for item in items:
        if item.kind == "say":
            texts[item.reply] = texts.get(item.reply, "") + item.text
    return list(texts.values())


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
    endings = tuple(tools)
    return any(prompt in text for text in said) and any(
        tool.name.endswith(endings) for tool in offered
    )
