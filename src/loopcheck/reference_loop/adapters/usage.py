"""Token counts, in the words of each protocol."""

from __future__ import annotations

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.events import Usage


def chat_usage(counts: object) -> Usage | None:
    """The counts of a completion, or of the chunk that holds them."""
    details = fields.value(counts, "completion_tokens_details")
    return _usage(
        fields.number(counts, "prompt_tokens"),
        fields.number(counts, "completion_tokens"),
        fields.number(details, "reasoning_tokens"),
    )


def responses_usage(counts: object) -> Usage | None:
    """The counts of a response."""
    details = fields.value(counts, "output_tokens_details")
    return _usage(
        fields.number(counts, "input_tokens"),
        fields.number(counts, "output_tokens"),
        fields.number(details, "reasoning_tokens"),
    )


def messages_usage(*counts: object) -> Usage | None:
    """The counts of a message: of several, each cumulative, the later one goes first.

    What is written to and read from the cache is not among its input tokens.
    """
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    read = [found for name in names if (found := _last(counts, name)) is not None]
    details = [fields.value(one, "output_tokens_details") for one in counts]
    return _usage(
        sum(read) if read else None,
        _last(counts, "output_tokens"),
        _last(details, "thinking_tokens"),
    )


def _last(counts: tuple[object, ...] | list[object], name: str) -> int | None:
    for one in reversed(counts):
        if (found := fields.number(one, name)) is not None:
            return found
    return None


def _usage(read: int | None, written: int | None, reasoned: int | None) -> Usage | None:
    if read is None and written is None:
        return None
    return Usage(input_tokens=read or 0, output_tokens=written or 0, reasoning_tokens=reasoned or 0)
