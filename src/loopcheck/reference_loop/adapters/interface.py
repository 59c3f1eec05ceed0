"""What the loop asks of a provider adapter. Anyone can write one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, runtime_checkable

from loopcheck.reference_loop.events import CallResult, Calls, Reply

ConversationT = TypeVar("ConversationT")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOffer:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something that was said in a conversation before the loop had to do with it."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInfo:
    """What a conversation begins with: what was said `earlier`, and the prompt.

    `tool_choice` is auto, required, none, or the name of a tool. A forced choice holds for the
    first response only, since it would otherwise never let the model answer.
    """

    prompt: str
    tools: tuple[ToolOffer, ...] = ()
    tool_choice: str = "auto"
    earlier: tuple[Said, ...] = ()


class ProviderAdapter(Protocol[ConversationT]):
    """Speaks one provider's protocol.

    The conversation is whatever the adapter wants; the loop only carries it around. `request`
    must leave it as it is, so that a request can be repeated. Where an adapter has the texts
    `provider` and `model`, observers are told them.
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
class FollowableAdapter(Protocol[ConversationT]):
    """What an adapter can do besides, so that a conversation goes on when its run is over."""

    def follow(self, conversation: ConversationT, task: TaskInfo, /) -> ConversationT:
        """The conversation with the task's prompt as the next message of the user."""
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


@runtime_checkable
class TurnStorableAdapter(Protocol):
    """What a storable adapter can do besides, so that a conversation is not saved again just
    because a response came: gives the record of the response by itself, and takes it again."""

    def dump_turn(self, turn: object, /) -> object: ...

    def load_turn(self, value: object, /) -> object: ...
