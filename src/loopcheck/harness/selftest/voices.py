"""What a loop needs of a protocol, and what it gets from each of its responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.task import Task

End: TypeAlias = Literal["whole", "paused", "refused", "cut"]


@dataclass(slots=True)
class Call:
    """A call that the model proposes: its id, its tool, and its arguments as they were written.

    Ids may repeat: `place` counts the calls of a run from 1, and `key` is an id that no other
    call of its response has.
    """

    call_id: str
    tool: str
    arguments: str
    place: int = 0
    key: str = ""


@dataclass(slots=True)
class Result:
    """What a tool said, under the id of its call."""

    call_id: str
    text: str


@dataclass(slots=True)
class Reply:
    """A response: its calls, its text, how it ended, and the protocol's own pieces of it."""

    calls: list[Call]
    text: str
    end: End
    pieces: list[JsonObject] = field(default_factory=list)


class Voice(Protocol):
    """One protocol. A history is a list of the protocol's own messages or items."""

    path: str

    def headers(self, key: str) -> Mapping[str, str]:
        """The headers that present this key."""
        ...

    def body(self, task: Task, history: list[JsonObject]) -> JsonObject:
        """The request that asks how this history goes on."""
        ...

    def assembled(self, events: Iterable[JsonObject]) -> JsonObject:
        """The whole body that these events make up. Raises ServiceFailure where they end without
        the protocol's own signal."""
        ...

    def reply(self, body: JsonObject) -> Reply:
        """What a body says."""
        ...

    def said(self, reply: Reply, calls: list[Call]) -> list[JsonObject]:
        """The reply as it goes back into the history, with these calls."""
        ...

    def answers(self, results: list[Result]) -> list[JsonObject]:
        """The results as they go into the history."""
        ...
