"""Rules about the parameters of a request beside its tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.messages import models
from loopcheck.fake_providers.dialects.messages.blocks import blocks_of, text_of
from loopcheck.fake_providers.dialects.messages.conversation import Conversation, is_current
from loopcheck.fake_providers.dialects.messages.errors import field_error, invalid, unknown_model
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_SAMPLING: Final = ("temperature", "top_p", "top_k")
_BETWEEN_0_AND_1: Final = ("temperature", "top_p")
_SMALLEST_BUDGET: Final = 1024
# With this beta the budget counts for several thoughts and may be more than one answer takes.
_INTERLEAVED: Final = "interleaved-thinking-2025-05-14"


def _unknown_model(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    model = text_of(body, "model")
    return unknown_model(model) if memory.models and model not in memory.models else None


def _effort(history: Sequence[JsonObject], body: JsonObject, memory: Memory) -> ServiceError | None:
    config = body.get("output_config")
    effort = config.get("effort") if isinstance(config, dict) else None
    known = models.EFFORTS.get(text_of(body, "model"), ())
    if not known or effort is None or effort in known:
        return None
    return invalid(
        f"This model does not support effort level '{effort}'. Supported levels: "
        f"{', '.join(known)}.",
        "output_config.effort",
    )


def _budget(history: Sequence[JsonObject], body: JsonObject, memory: Memory) -> ServiceError | None:
    thinking, limit = body.get("thinking"), body.get("max_tokens")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return None
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or not isinstance(limit, int):
        return None
    if budget < _SMALLEST_BUDGET:
        return field_error(
            "thinking.enabled.budget_tokens",
            f"Input should be greater than or equal to {_SMALLEST_BUDGET}",
        )
    interleaved = isinstance(history, Conversation) and _INTERLEAVED in history.betas
    if budget < limit or interleaved or limit == 0:
        return None
    return invalid(
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
        "documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
        "#max-tokens-and-context-window-size",
        "max_tokens",
    )


def _ranges(history: Sequence[JsonObject], body: JsonObject, memory: Memory) -> ServiceError | None:
    limit = body.get("max_tokens")
    if isinstance(limit, int) and limit < 0:
        return field_error("max_tokens", "must be greater than or equal to 0")
    for name in _BETWEEN_0_AND_1:
        if name not in body:
            continue
        value = body[name]
        if not isinstance(value, int | float) or isinstance(value, bool):
            return field_error(name, "Input should be a valid number")
        if not 0 <= value <= 1:
            return field_error(name, "range: 0..1")
    return None


def _sampling(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    name = next((name for name in _SAMPLING if name in body), None)
    if name is None or not is_current(history):
        return None
    return field_error(name, "Extra inputs are not permitted")


def _documents(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    if not is_current(history):
        return None
    for number, message in enumerate(history):
        for block in blocks_of(number, message):
            role = message.get("role")
            if role == "assistant" and block.kind == "document":
                return invalid(f"{block.path}: `document` blocks cannot be in `assistant` messages")
            if role == "user" and block.kind == "text" and block.value.get("citations"):
                return field_error(f"{block.path}.text.citations", "Extra inputs are not permitted")
    return None


RULES: Final = (
    Rule(id="M30", grade="R", summary="the model exists", check=_unknown_model),
    Rule(
        id="M31",
        grade="D",
        summary="no sampling parameters since version 2026-10-21",
        check=_sampling,
    ),
    Rule(
        id="M-range",
        grade="S",
        summary="token limits and sampling parameters keep to their ranges",
        check=_ranges,
    ),
    Rule(id="M28", grade="R", summary="the model knows the effort", check=_effort),
    Rule(
        id="M29",
        grade="S",
        summary="the thinking budget is at least 1024 and below max_tokens",
        check=_budget,
    ),
    Rule(
        id="M32",
        grade="D",
        summary="no documents of the assistant, no citations of the user since 2026-10-21",
        check=_documents,
    ),
)
