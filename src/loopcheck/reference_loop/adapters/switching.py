"""Going on with another provider, where a conversation stands between two responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from loopcheck.reference_loop.adapters import neutral_reading, neutral_writing
from loopcheck.reference_loop.adapters.conversation import Conversation, ProviderName
from loopcheck.reference_loop.adapters.neutral import (
    Asked,
    Entry,
    Item,
    Opaque,
    SwitchError,
    with_own_ids,
)
from loopcheck.reference_loop.arguments import JsonObject

_READERS: Final[Mapping[ProviderName, Callable[[JsonObject], Iterator[Item]]]] = {
    "chat": neutral_reading.read_chat,
    "responses": neutral_reading.read_responses,
    "messages": neutral_reading.read_messages,
}
_WRITERS: Final[Mapping[ProviderName, Callable[[Sequence[Entry]], Iterator[JsonObject]]]] = {
    "chat": neutral_writing.write_chat,
    "responses": neutral_writing.write_responses,
    "messages": neutral_writing.write_messages,
}


@dataclass(frozen=True, slots=True)
class Switched:
    """The conversation in the other provider's words, and the types of what it lost."""

    conversation: Conversation
    dropped: tuple[str, ...]


def switch(conversation: Conversation, to: ProviderName) -> Switched:
    """This conversation for another provider, between one response and the next.

    What only the old one understands (reasoning, signatures, what its own tools did, its
    containers, what it holds of the conversation) is dropped and named. It is the model's turn
    then, or the user's, where the conversation ends in an answer: the next message of the user
    goes behind it. Raises SwitchError where a call has no result, or where the old provider is
    in the midst of work of its own.
    """
    if to == conversation.provider:
        return Switched(conversation, ())
    read = _READERS[conversation.provider]
    items = [item for message in conversation.history for item in read(message)]
    last = items[-1]
    # Messages alone hands back what it has not finished; elsewhere it is part of an answer.
    is_at_work = isinstance(last, Opaque) and conversation.provider == "messages"
    if is_at_work or isinstance(last, Asked):
        raise SwitchError("the last response is not answered yet")
    entries = with_own_ids(item for item in items if not isinstance(item, Opaque))
    dropped = [item.kind for item in items if isinstance(item, Opaque)]
    # The records of responses stay, since they tell where it all came from; their state is void.
    responses = tuple(replace(response, state={}) for response in conversation.responses)
    switched = replace(
        conversation,
        provider=to,
        history=tuple(_WRITERS[to](entries)),
        responses=responses,
        held=0,
    )
    return Switched(switched, (*dropped, *conversation.state))
