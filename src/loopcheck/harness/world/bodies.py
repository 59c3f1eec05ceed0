"""The tool bodies that were entered, and what became of them: effects, ends, or neither yet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.scenario.model import ToolModel
from loopcheck.harness.tool_values import Parts
from loopcheck.harness.world import results
from loopcheck.harness.world.behaviours import (
    Chosen,
    Ending,
    all_well,
    commits,
    tells_results,
)
from loopcheck.harness.world.ledger import Committed, Ledger, answer, operation_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A tool body that was entered."""

    number: int
    nth: int
    tool: str
    model: ToolModel
    label: str | None
    arguments: JsonObject
    operation_id: str | None
    chosen: Chosen
    token: str

    @property
    def who(self) -> str:
        """The call that is being carried out, else the tool."""
        return self.label or self.tool


class Bodies:
    """Journals what becomes of each body, and keeps the ledger; safe to use from any thread.

    `record` writes a journal entry. It is never called under a lock, since whoever hears of the
    entry may act on the case before it returns.
    """

    def __init__(self, record: Callable[..., int]) -> None:
        self._record = record
        self._lock = threading.Lock()
        self._ledger = Ledger()
        self._open: set[int] = set()
        self._undecided: dict[int, Body] = {}
        self._hanging: dict[int, Body] = {}

    def enter(self, body: Body) -> None:
        """The body is entered; if it may have an effect, that is open now."""
        with self._lock:
            self._open.add(body.number)
            if commits(body.model, body.chosen):
                self._undecided[body.number] = body

    @property
    def open(self) -> int:
        """How many have not ended."""
        with self._lock:
            return len(self._open)

    def commit(self, body: Body) -> bool:
        """Commits the body's effect, unless a look-up has said that there will be none."""
        effect = _effect(body)
        with self._lock:
            if self._undecided.pop(body.number, None) is None:
                return False
            recognised = self._ledger.commit(effect, deduplicates=body.model.deduplicates)
        self._record(
            "effect",
            execution=body.number,
            tool=body.tool,
            arguments=body.arguments,
            operation=effect.operation,
            deduplicated=recognised,
        )
        return True

    def end(self, body: Body, ending: Ending) -> None:
        """The body ended; what it has not committed by now, it never will."""
        with self._lock:
            self._undecided.pop(body.number, None)
        self._record_end(body, ending.how, ending.text)

    def hang(self, body: Body) -> None:
        """The body does not end by itself any more."""
        with self._lock:
            self._hanging[body.number] = body

    def give_up(self, body: Body, why: str) -> None:
        """The caller of a body that hangs waits no more. The effect of one that commits late is
        committed then. Said twice, it is journalled once."""
        with self._lock:
            if self._hanging.pop(body.number, None) is None:
                return
        self._record_end(body, "abandoned", why)
        self.commit(body)

    def give_up_all(self, why: str) -> None:
        """Nobody waits for any body any more."""
        for body in self._that_hang():
            self.give_up(body, why)

    def passed(self, points: Iterable[str]) -> None:
        """Finds out from these points which callers wait no more: those that sent a result all
        the same, and all of them when the run is over."""
        for point in points:
            what, _, when = point.partition(".")
            if what == "run" and when.startswith(("ended", "paused")):
                self.give_up_all("the run was over")
            elif when.startswith("sent"):
                for body in self._that_hang():
                    if body.label == what:
                        self.give_up(body, "its call was given another result")

    def look_up(self, tool: str, operation_id: str, lookup: str) -> JsonObject:
        """What the system says became of an operation. Once it has said that there is no effect,
        the bodies of that operation have none."""
        with self._lock:
            still_open = [
                body
                for body in self._undecided.values()
                if body.tool == tool and body.operation_id == operation_id
            ]
            effect = self._ledger.find(tool, operation_id)
            word, document = answer(lookup, effect, is_open=bool(still_open))
            if word == "absent":
                for body in still_open:
                    del self._undecided[body.number]
        self._record("lookup", tool=tool, operation_id=operation_id, answer=word)
        return document

    def _that_hang(self) -> list[Body]:
        with self._lock:
            return list(self._hanging.values())

    def _record_end(self, body: Body, how: str, text: str) -> None:
        parts = {"parts": text.content} if isinstance(text, Parts) else {}
        self._record("ended", execution=body.number, how=how, result=str(text), **parts)
        with self._lock:
            self._open.discard(body.number)


def _effect(body: Body) -> Committed:
    value = results.value(body.model, body.nth)
    told = tells_results(body.model)
    return Committed(
        tool=body.tool,
        arguments=body.arguments,
        operation=operation_of(body.model, body.arguments),
        operation_id=body.operation_id,
        result=all_well(body.chosen, value, body.token) if told else "",
    )
