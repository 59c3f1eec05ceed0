"""A conversation together with what the head of its request says about reading it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopcheck.fake_providers.wire import HttpRequest, JsonObject

if TYPE_CHECKING:
    from loopcheck.fake_providers.dialects.messages.blocks import Side

CURRENT_VERSION = "2026-10-21"


class Conversation(tuple[JsonObject, ...]):
    """The effective messages of one request, with its API version, its betas and its size.

    Rules see nothing of a request but its conversation and its body; those about headers find
    what they need here. `sides` is kept by `blocks.sides`, since many rules look at them.
    """

    version: str | None
    betas: frozenset[str]
    size: int
    sides: list[Side] | None = None


def conversation(messages: Sequence[JsonObject], request: HttpRequest) -> Conversation:
    """These messages as the request asks to have them read."""
    read = Conversation(messages)
    read.version = request.headers.get("anthropic-version")
    named = request.headers.get("anthropic-beta", "").split(",")
    read.betas = frozenset(name.strip() for name in named if name.strip())
    read.size = len(request.body)
    return read


def is_current(history: Sequence[JsonObject]) -> bool:
    """Whether the request asks for the API version of the newest SDKs."""
    return isinstance(history, Conversation) and history.version == CURRENT_VERSION
