"""What the service keeps of responses, and adds to a request from that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.responses import background, body, form, output
from loopcheck.fake_providers.dialects.responses.items import Placed, kind_of
from loopcheck.fake_providers.dialects.responses.listing import identified
from loopcheck.fake_providers.wire import Answer, IssuedThought, JsonObject


def expanded(
    sent: Sequence[JsonObject], *, continues: str | None, memory: Memory, text: bool
) -> Iterator[Placed]:
    """The effective conversation: the stored one first, references replaced by their items.

    `continues` names a response or a conversation; of what is not stored nothing is known.
    `text` says that the input was a bare string, which is no list to point into.
    """
    yield from _compacted(sent, memory)
    # A conversation without a name goes on with nothing.
    for position, item in enumerate(memory.conversations.get(continues, ()) if continues else ()):
        yield Placed(item, f"{continues}[{position}]", "stored")
    for position, item in enumerate(sent):
        found = stored_item(item.get("id"), memory) if kind_of(item) == "item_reference" else None
        yield found or Placed(item, "input" if text else f"input[{position}]")


def _compacted(sent: Sequence[JsonObject], memory: Memory) -> Iterator[Placed]:
    """What stands behind the compacted conversations that were sent."""
    for entry in sent:
        if kind_of(entry) != "compaction":
            continue
        kept = memory.compactions.get(str(entry.get("encrypted_content")), ())
        for position, item in enumerate(kept):
            yield Placed(item, f"{entry.get('id')}[{position}]", "stored")


def stored_item(item_id: object, memory: Memory) -> Placed | None:
    """The stored item of that id."""
    if item_id is None:
        return None
    for owner, conversation in memory.conversations.items():
        for position, item in enumerate(conversation):
            if item.get("id") == item_id and kind_of(item) != "item_reference":
                return Placed(item, f"{owner}[{position}]", "stored")
    return _listed_item(item_id, memory)


def _listed_item(item_id: object, memory: Memory) -> Placed | None:
    """The stored item that got this id where it was listed."""
    for owner, conversation in memory.conversations.items():
        for position, (named, item) in enumerate(identified(conversation)):
            if named == item_id:
                return Placed(item, f"{owner}[{position}]", "stored")
    return None


def remember(answer: Answer, memory: Memory) -> None:
    """Keeps the response, unless the request said not to, and what must be known of any."""
    request = answer.reading.body
    is_stored = body.stores(request)
    if is_stored:
        memory.conversations.later(answer.response_id, _conversation, answer)
    if is_stored or body.in_background(request):
        memory.responses.later(answer.response_id, body.ended, answer)
    background.begin(answer, memory)
    named = form.conversation(request)
    if named is not None:
        memory.conversations.later(named, _conversation, answer)
    for piece in answer.content:
        if isinstance(piece, IssuedThought):
            memory.seals[piece.item_id] = piece.seal
    for call in answer.calls:
        memory.issued.update((call.call_id, call.tool))


def _conversation(answer: Answer) -> list[JsonObject]:
    return [*answer.reading.history, *output.items(answer)]


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
