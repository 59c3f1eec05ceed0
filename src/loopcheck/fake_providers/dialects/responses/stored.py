"""Rules about what the service has stored or sealed: responses, items, reasoning.

Reasoning and the item that it led to belong together once they are stored. An item that is sent
without its id is new to the service, and is held to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopcheck.fake_providers.dialects.openai_common import invalid, part_text
from loopcheck.fake_providers.dialects.openai_rules import Asked
from loopcheck.fake_providers.dialects.responses import form, state
from loopcheck.fake_providers.dialects.responses.items import by_model, kind_of
from loopcheck.fake_providers.wire import JsonObject, ServiceError


def two_pasts(asked: Asked) -> Iterator[ServiceError]:
    """A request that continues a response and a conversation."""
    if form.previous(asked.body) is not None and form.conversation(asked.body) is not None:
        yield invalid(
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure "
            "you are only providing one of: 'previous_response_id' or 'conversation'.",
            code="mutually_exclusive_parameters",
        )


def ill_spelt_response(asked: Asked) -> Iterator[ServiceError]:
    """A previous response whose id holds characters that are not allowed."""
    previous = form.previous(asked.body)
    if previous is not None and re.search(r"[^a-zA-Z0-9_-]", previous):
        yield invalid(
            f"Invalid 'previous_response_id': '{previous}'. Expected an ID that contains letters, "
            "numbers, underscores, or dashes, but this value contained additional characters.",
            param="previous_response_id",
            code="invalid_value",
        )


def unknown_response(asked: Asked) -> Iterator[ServiceError]:
    """A previous response that is not stored."""
    previous = form.previous(asked.body)
    if previous is not None and previous not in asked.memory.conversations:
        yield invalid(
            f"Previous response with id '{previous}' not found.",
            param="previous_response_id",
            code="previous_response_not_found",
        )


def unknown_conversation(asked: Asked) -> Iterator[ServiceError]:
    """A conversation that was never begun."""
    named = form.conversation(asked.body)
    if named is not None and named not in asked.memory.conversations:
        yield invalid(f"Conversation with id '{named}' not found.", status=404)


def unknown_item(asked: Asked) -> Iterator[ServiceError]:
    """References to items that are not stored, and reasoning that says nothing but its id."""
    for item in form.sent(asked.body):
        named = item.get("id")
        sealed = isinstance(item.get("encrypted_content"), str)
        by_name = kind_of(item) == "item_reference" or (
            kind_of(item) == "reasoning" and not sealed and named is not None
        )
        if by_name and state.stored_item(named, asked.memory) is None:
            yield invalid(
                f"Item with id '{named}' not found. Items are not persisted when `store` is set "
                "to false. Try again with `store` set to true, or remove this item from your "
                "input.",
                param="input",
                status=404,
            )


def duplicate_item(asked: Asked) -> Iterator[ServiceError]:
    """Items that stand in the conversation already."""
    start = len(asked.history) - len(form.sent(asked.body))
    seen: set[str] = set()
    for position, item in enumerate(asked.history):
        named = item.get("id")
        if not isinstance(named, str) or not named:
            continue
        if named in seen and position >= start:
            yield invalid(
                f"Duplicate item found with id {named}. Remove duplicate items from your input "
                "and try again.",
                param="input",
            )
        seen.add(named)


def broken_seal(asked: Asked) -> Iterator[ServiceError]:
    """Encrypted content that is not what was issued for the item."""
    for item in form.sent(asked.body):
        named, content = item.get("id"), item.get("encrypted_content")
        if kind_of(item) != "reasoning" or not isinstance(named, str) or content is None:
            continue
        seals = asked.memory.seals
        if named in seals and content != seals[named]:
            yield _unverified(named, "Encrypted content could not be decrypted or parsed.")
        elif named not in seals and content in seals.values():
            yield _unverified(named, "Encrypted content item_id did not match the target item id.")


def reasoning_alone(asked: Asked) -> Iterator[ServiceError]:
    """Reasoning without the item that it led to right behind it."""
    if not any(kind_of(item) == "reasoning" for item, _ in _sent_pairs(asked)):
        return
    followers = state.followers(asked.memory)
    for item, behind in _sent_pairs(asked):
        named = item.get("id")
        if kind_of(item) != "reasoning":
            continue
        stored = followers.get(named) if isinstance(named, str) else None
        if isinstance(named, str) and named in followers and stored is None:
            continue
        if not _follows(behind, stored):
            yield invalid(
                f"Item '{named}' of type 'reasoning' was provided without its required "
                "following item.",
                param="input",
            )


def call_without_reasoning(asked: Asked) -> Iterator[ServiceError]:
    """Stored calls without the reasoning that led to them."""
    yield from _without_reasoning(asked, ("function_call", "custom_tool_call"))


def message_without_reasoning(asked: Asked) -> Iterator[ServiceError]:
    """Stored messages without the reasoning that led to them."""
    yield from _without_reasoning(asked, ("message",))


def _without_reasoning(asked: Asked, kinds: tuple[str, ...]) -> Iterator[ServiceError]:
    if not any(item.get("id") and kind_of(item) in kinds for item, _ in _sent_pairs(asked)):
        return
    leads = {
        item["id"]: reasoning
        for reasoning, item in state.followers(asked.memory).items()
        if item is not None
    }
    held = [item.get("id") for item in asked.history]
    for item, _ in _sent_pairs(asked):
        named, kind = str(item.get("id")), kind_of(item)
        lead = leads.get(named)
        if kind in kinds and lead is not None and lead not in held:
            yield invalid(
                f"Item '{named}' of type '{kind}' was provided without its required 'reasoning' "
                f"item: '{lead}'.",
                param="input",
            )


def _unverified(named: str, reason: str) -> ServiceError:
    return invalid(
        f"The encrypted content for item {named} could not be verified. Reason: {reason}",
        code="invalid_encrypted_content",
    )


def _sent_pairs(asked: Asked) -> Iterator[tuple[JsonObject, JsonObject | None]]:
    """What was sent, references resolved, each with the item behind it."""
    start = len(asked.history) - len(form.sent(asked.body))
    sent = asked.history[start:]
    for position, item in enumerate(sent):
        yield item, sent[position + 1] if position + 1 < len(sent) else None


def _follows(item: JsonObject | None, stored: JsonObject | None) -> bool:
    """Whether this item may stand behind reasoning, which led to the stored one."""
    if item is None or not by_model(item):
        return False
    if stored is None:
        return True
    if isinstance(item.get("id"), str):
        return item["id"] == stored["id"]
    return kind_of(item) == kind_of(stored) and _gist(item) == _gist(stored)


def _gist(item: JsonObject) -> object:
    """What tells an item without id from another one of its kind."""
    return item.get("call_id") or part_text(item.get("content"))
