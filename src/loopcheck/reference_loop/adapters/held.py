"""Conversations that the service keeps, so that a request brings no more than what is new.

A response is named in the next request once it is part of the conversation, and with it what the
service has. What the service has forgotten, or does not let go on, is sent again as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.conversation import Conversation, ResponseRecord
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import Calls, ProposedCall, Reply
from loopcheck.reference_loop.events import Final as Answer

StateAt: TypeAlias = Literal["client", "server"]

UNSUPPORTED: Final = "thread_unsupported_request"
_LOST: Final = frozenset(
    {
        "previous_response_not_found",
        "thread_already_continued",
        "thread_continue_in_flight",
        "thread_fingerprint_mismatch",
        "thread_not_found",
    }
)


def code_of(error: Exception) -> str:
    """What the service calls its refusal, in the words of either protocol."""
    body = fields.value(error, "body")
    reported = fields.value(body, "error") or body
    details = fields.value(reported, "details")
    return fields.text(details, "error_code") or fields.text(reported, "code")


def is_lost(error: Exception) -> bool:
    """Whether the service does not go on from what it had."""
    return code_of(error) in _LOST


def previous_id(conversation: Conversation, name: str) -> str:
    """The response up to which the service has the conversation; empty if it has none of it."""
    return fields.text(conversation.state, name) if conversation.held else ""


def unsent(conversation: Conversation, previous: str) -> list[JsonObject]:
    """What a request brings that goes on from this response, or from nothing."""
    return list(conversation.history[conversation.held if previous else 0 :])


def noted(reply: Reply, name: str, *, is_held: bool = True) -> Reply:
    """The reply, whose record holds what names it in the next request; nothing, if the service
    does not keep the conversation."""
    if isinstance(reply, Calls | Answer) and isinstance(reply.turn, ResponseRecord):
        record = reply.turn
        named = record.response_id if is_held else ""
        return replace(reply, turn=replace(record, state={**record.state, name: named}))
    return reply


def held(
    record: ResponseRecord,
    name: str,
    items: int,
    asked: Iterable[tuple[str, ProposedCall]],
) -> int:
    """How many of a response's items the service has as they stand in the history.

    0 where a call has another id here than there: its result would be one of no call.
    """
    same = all(call_id == call.call_id for call_id, call in asked)
    return items if record.state.get(name) and same else 0
