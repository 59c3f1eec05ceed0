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
_LOGPROBS: Final = "a script has no log probabilities"
_CITED: Final = "a script cites nothing"
_ECHO: Final = "the service fills in the defaults of its own tools where it echoes them"

KNOWN: Final[tuple[Known, ...]] = (
    *_newer("chat", *NEWER["chat"]),
    *_newer("messages", *NEWER["messages"]),
    *_newer("responses", *NEWER["responses"]),
    *_unsaid("chat", _LONE_HEAD, r"first choices\[\]\.delta\.(tool_calls|refusal)"),
    Known("chat", "ours only", r"call \(event\)", _LONE_HEAD),
    *_unsaid("chat", _LOGPROBS, r"choices\[\]\.logprobs\.(content|refusal)"),
    *_apart("chat", "a script has one choice", r"\d+ choices; a script has one"),
    *_unsaid(
        "messages",
        _CITED,
        r"content_block_delta citations_delta \(event\)",
        r"content_block_delta text_delta \(event\)",
        r"content_block\.citations",
    ),
    *_unsaid("messages", "a script runs no code in a container", r"delta\.container"),
    *_unsaid("messages", "newer models tell it in whole responses, too", "output_tokens_details"),
    *_unsaid("messages", "no other model is recommended", r"stop_details\.recommended_model"),
    *_unsaid("messages", "an adviser's own usage is not counted", r"usage\.iterations"),
    *_apart("messages", "the recording holds a whole conversation", "several responses"),
    *_apart(
        "messages", "a script does not fall back to another model", "a block of type 'fallback'"
    ),
    *_unsaid("responses", "accounts are not imitated", "billing"),
    *_unsaid("responses", "phases of messages are told by the newest models only", r"\S*phase"),
    *_unsaid("responses", "only some models have it", r"output_schema", r"generate_summary"),
    *_unsaid("responses", _ECHO, r"\S*tools\[\]\.\S+"),
    *_unsaid(
        "responses",
        "a tool that was loaded by a search is not known to belong to a namespace",
        r"(item|output\[\])\.namespace",
    ),
    *_unsaid(
        "responses",
        "calls made by a program are scripted as the model's own",
        r"(item|output\[\])\.caller",
    ),
    *_unsaid(
        "responses",
        _CITED,
        r"response\.output_text\.annotation\.added \(event\)",
        r"response\.output_text\.delta \(event\)",
        r"\S*annotations\[\]\.\w+",
    ),
    *_unsaid("responses", _LOGPROBS, r"\S*logprobs\[\]\.\w+"),
    *_unsaid("responses", "nothing is moderated", r"moderation\.(input|output)"),
    *_unsaid(
        "responses", "a background response is answered at once", r"response\.queued \(event\)"
    ),
    Known(
        "responses",
        "ours only",
        r"response\.custom_tool_call_input\.done \(event\)",
        "left out in a fixture; recorded where the exchange was real",
    ),
    *_apart("responses", "a background response is answered at once", r".*status is 'queued'"),
    *_apart("responses", "faults are not taken from recordings", "an error inside the stream"),
    *_apart("responses", "a script cannot ask the client to run this", r"an item of type '\w+'"),
)
