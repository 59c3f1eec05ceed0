"""What the loop asks of a provider adapter. Anyone can write one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from loopcheck.reference_loop.events import CallResult, Calls, Reply

ConversationT = TypeVar("ConversationT")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOffer:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInfo:
    """What a conversation begins with.

    `tool_choice` is auto, required, none, or the name of a tool. A forced choice holds for the
    first response only, since it would otherwise never let the model answer.
    """

    prompt: str
    tools: tuple[ToolOffer, ...] = ()
    tool_choice: str = "auto"


class ProviderAdapter(Protocol[ConversationT]):
    """Speaks one provider's protocol.

    The conversation is whatever the adapter wants; the loop only carries it around. `request`
    must leave it as it is, so that a request can be repeated.
    """

    def start(self, task: TaskInfo, /) -> ConversationT:
        """The conversation before the first request."""
        ...

    async def request(self, conversation: ConversationT, /) -> Reply:
        """Asks the model and waits for the whole response, also where it is queued first.

        What goes wrong on the way is a Failed reply, not an exception. Nothing is tried again
        here: a Failed says whether, and after how long, the loop may repeat the request.
        """
        ...

    def append(
        self, conversation: ConversationT, calls: Calls, results: Sequence[CallResult], /
    ) -> ConversationT:
        """The conversation with that response and the results of its calls, in their order."""
        ...


@runtime_checkable
class StorableAdapter(Protocol[ConversationT]):
    """What an adapter can do besides, so that its runs survive their process."""

    def dump(self, conversation: ConversationT, turn: object = None, /) -> object:
        """The conversation as a JSON value, with the record of a response that is not part of it
        yet (`Calls.turn`; None if there is none)."""
        ...

    def load(self, value: object, /) -> tuple[ConversationT, object]:
        """The conversation and the turn again, from what `dump` gave."""
        ...
