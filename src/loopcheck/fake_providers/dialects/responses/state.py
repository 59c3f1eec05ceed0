"""What the service keeps of responses, and adds to a request from that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.responses import body, form, output
from loopcheck.fake_providers.dialects.responses.items import Placed, kind_of
from loopcheck.fake_providers.wire import Answer, IssuedThought, JsonObject


def expanded(
    sent: Sequence[JsonObject], *, continues: str | None, memory: Memory, text: bool
) -> Iterator[Placed]:
    """The effective conversation: the stored one first, references replaced by their items.

    `continues` names a response or a conversation; of what is not stored nothing is known.
    `text` says that the input was a bare string, which is no list to point into.
    """
    for position, item in enumerate(memory.conversations.get(continues or "", ())):
        yield Placed(item, f"{continues}[{position}]", "stored")
    for position, item in enumerate(sent):
        found = stored_item(item.get("id"), memory) if kind_of(item) == "item_reference" else None
        yield found or Placed(item, "input" if text else f"input[{position}]")


def stored_item(item_id: object, memory: Memory) -> Placed | None:
    """The stored item of that id."""
    if item_id is None:
        return None
    for owner, conversation in memory.conversations.items():
        for position, item in enumerate(conversation):
            if item.get("id") == item_id and kind_of(item) != "item_reference":
                return Placed(item, f"{owner}[{position}]", "stored")
    return None


def remember(answer: Answer, memory: Memory) -> None:
    """Keeps the response, unless the request said not to, and what must be known of any."""
    request = answer.reading.body
    made = output.items(answer)
    conversation = [*answer.reading.history, *made]
    if body.stores(request):
        memory.conversations[answer.response_id] = conversation
        memory.responses[answer.response_id] = {**body.ended(answer), "output": made}
    named = form.conversation(request)
    if named is not None:
        memory.conversations[named] = conversation
    for piece in answer.content:
        if isinstance(piece, IssuedThought):
            memory.seals[piece.item_id] = piece.seal
    for call in answer.calls:
        memory.issued.update((call.call_id, call.tool))


def followers(memory: Memory) -> dict[str, JsonObject | None]:
    """The stored item that came right behind each stored reasoning item, None for none."""
    found: dict[str, JsonObject | None] = {}
    for response in memory.responses.values():
        items = response.get("output")
        made = items if isinstance(items, list) else []
        for position, item in enumerate(made):
            if item["type"] == "reasoning":
                behind = made[position + 1 : position + 2]
                found[item["id"]] = behind[0] if behind else None
    return found
