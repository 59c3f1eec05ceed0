"""What the service adds to a request from what it has stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.responses.items import Placed, kind_of
from loopcheck.fake_providers.wire import JsonObject


def expanded(
    sent: Sequence[JsonObject], *, previous: str | None, memory: Memory, text: bool
) -> Iterator[Placed]:
    """The effective conversation: the stored one first, references replaced by their items.

    `text` says that the input was a bare string, which is no list to point into.
    """
    if previous is not None:
        for position, item in enumerate(memory.conversations[previous]):
            yield Placed(item, f"{previous}[{position}]", "stored")
    for position, item in enumerate(sent):
        found = stored_item(item["id"], memory) if kind_of(item) == "item_reference" else None
        yield found or Placed(item, "input" if text else f"input[{position}]")


def stored_item(item_id: object, memory: Memory) -> Placed | None:
    """The stored item of that id."""
    for response_id, conversation in memory.conversations.items():
        for position, item in enumerate(conversation):
            if item.get("id") == item_id:
                return Placed(item, f"{response_id}[{position}]", "stored")
    return None
