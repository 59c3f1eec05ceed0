"""Responses that are worked on in the background: asked for again until they are over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.events import Failed

UNSETTLED: Final = frozenset({"queued", "in_progress"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling:
    """How often a response that is not over yet is looked at again, and in what intervals."""

    times: int = 600
    seconds: float = 1.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


async def settled(
    response: object, retrieve: Callable[[str], Awaitable[object]], polling: Polling
) -> object:
    """The response once it is over, or a Failed if it does not get there."""
    for _ in range(polling.times):
        if fields.text(response, "status") not in UNSETTLED:
            return response
        if not (response_id := fields.text(response, "id")):
            return Failed("the response is not over, and has no id to ask for", retryable=False)
        await polling.sleep(polling.seconds)
        response = await retrieve(response_id)
    status = fields.text(response, "status")
    if status in UNSETTLED:
        return Failed(f"the response was still {status} in the end", retryable=False)
    return response
