"""Differences between the fake and recordings that are understood, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from loopcheck.fake_providers.drift import Difference, Side
from loopcheck.fake_providers.script import DialectName


@dataclass(frozen=True, slots=True)
class Known:
    """A kind of difference. `pattern` is a regular expression for where and what it is; for
    fields it is matched against the end of their path."""

    protocol: DialectName
    side: Side
    pattern: str
    reason: str

    def explains(self, protocol: DialectName, difference: Difference) -> bool:
        if (self.protocol, self.side) != (protocol, difference.side):
            return False
        place = f"{difference.where} {difference.what}".strip()
        return re.search(rf"(?:^|[ .])(?:{self.pattern})$", place) is not None


def reason_for(protocol: DialectName, difference: Difference) -> str | None:
    """Why this difference is there, if that is known."""
    return next((known.reason for known in KNOWN if known.explains(protocol, difference)), None)


def _newer(protocol: DialectName, *fields: str) -> Iterable[Known]:
    """Fields that some recordings have and older ones, or those of other models, have not."""
    for field in fields:
        pattern = re.escape(field)
        yield Known(protocol, "ours only", pattern, "newer than the recording, or of another model")


def _unsaid(protocol: DialectName, reason: str, *patterns: str) -> Iterable[Known]:
    """What a service said or did that a script has no word for."""
    for pattern in patterns:
        yield Known(protocol, "recorded only", pattern, reason)


def _apart(protocol: DialectName, reason: str, *patterns: str) -> Iterable[Known]:
    for pattern in patterns:
        yield Known(protocol, "not compared", pattern, reason)


NEWER: Final = {
    "chat": (
        "accepted_prediction_tokens",
        "annotations",
        "audio_tokens",
        "completion_tokens_details",
        "logprobs",
        "message.refusal",
        "obfuscation",
        "prompt_tokens_details",
        "rejected_prediction_tokens",
        "service_tier",
        "system_fingerprint",
        "usage",
    ),
    "messages": (
        "cache_creation",
        "caller",
        "inference_geo",
        "output_tokens_details",
        "stop_details",
        "usage.cache_creation_input_tokens",
        "usage.cache_read_input_tokens",
        "usage.input_tokens",
        "web_fetch_requests",
    ),
    "responses": (
        "background",
        "completed_at",
        "encrypted_content",
        "frequency_penalty",
        "input_tokens_details.cache_write_tokens",
        "item.content",
        "item.status",
        "logprobs",
        "max_tool_calls",
        "moderation",
        "obfuscation",
        "output[].content",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning.context",
        "reasoning.mode",
        "reasoning.summary",
        "safety_identifier",
        "sequence_number",
        "service_tier",
        "text.verbosity",
        "tool_usage",
        "top_logprobs",
    ),
}

_LONE_HEAD: Final = "some models send the head of a first call together with the role"
_STRUCK: Final = "where an error strikes is scripted, and not taken from recordings"
_CITED: Final = "a script cites nothing"

KNOWN: Final[tuple[Known, ...]] = (
    *_newer("chat", *NEWER["chat"]),
    *_newer("messages", *NEWER["messages"]),
    *_newer("responses", *NEWER["responses"]),
    *_unsaid("chat", _LONE_HEAD, r"first choices\[\]\.delta\.(tool_calls|refusal)"),
    Known("chat", "ours only", r"call \(event\)", _LONE_HEAD),
    *_apart("chat", "an error is no answer", "no choice"),
    *_unsaid(
        "messages",
        _CITED,
        r"content_block_delta citations_delta \(event\)",
        r"content_block_delta text_delta \(event\)",
        r"content_block\.citations",
    ),
    *_unsaid("messages", "no other model is recommended", r"stop_details\.recommended_model"),
    *_unsaid("messages", "an adviser's own usage is not counted", r"usage\.iterations"),
    *_apart("messages", _STRUCK, "an error inside the stream"),
    *_apart("messages", "the recording holds a whole conversation", "several responses"),
    *_apart(
        "messages", "a script does not fall back to another model", "a block of type 'fallback'"
    ),
    *_unsaid("responses", "accounts are not imitated", "billing"),
    *_unsaid("responses", "only older models have it", r"reasoning\.generate_summary"),
    *_unsaid(
        "responses",
        _CITED,
        r"response\.output_text\.annotation\.added \(event\)",
        r"response\.output_text\.delta \(event\)",
        r"\S*annotations\[\]\.\w+",
    ),
    *_unsaid("responses", "nothing is moderated", r"moderation\.(input|output)"),
    Known(
        "responses",
        "ours only",
        r"response\.custom_tool_call_input\.done \(event\)",
        "left out in a fixture; recorded where the exchange was real",
    ),
    *_apart("responses", _STRUCK, "an error behind a part of the answer"),
    *_apart("responses", "a script cannot ask the client to run this", r"an item of type '\w+'"),
)
