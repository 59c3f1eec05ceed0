"""The response object: what was asked for, echoed, and what came out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from loopcheck.fake_providers.dialects.responses import echo, output
from loopcheck.fake_providers.script import Stop, Usage
from loopcheck.fake_providers.wire import (
    Answer,
    JsonObject,
    ServiceError,
)

_INCOMPLETE: Final[dict[Stop, str]] = {
    "length": "max_output_tokens",
    "filter": "content_filter",
    "context": "max_output_tokens",
}
# Codes that a failed response can carry; others are reported as a server error.
_FAILURE_CODES: Final = (
    "server_error",
    "rate_limit_exceeded",
    "insufficient_quota",
    "context_length_exceeded",
)
# What the service echoes where the request says nothing.
_DEFAULTS: Final[JsonObject] = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "prompt_cache_key": None,
    "prompt_cache_retention": None,
    "safety_identifier": None,
    "temperature": 1.0,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
    "metadata": {},
}
# These models do not reason, and are said to make no effort.
_AT_ONCE: Final = re.compile(r"(ft:)?(chatgpt-4|gpt-[34])")
_NO_TOOL_USAGE: Final[JsonObject] = {
    "image_gen": {
        "input_tokens": 0,
        "input_tokens_details": {"image_tokens": 0, "text_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"image_tokens": 0, "text_tokens": 0},
        "total_tokens": 0,
    },
    "web_search": {"num_requests": 0},
}
_TEXT: Final[JsonObject] = {"format": {"type": "text"}, "verbosity": "medium"}


def stores(request: JsonObject) -> bool:
    """Whether the response is stored, as it is unless the request says otherwise."""
    return request.get("store") is not False


def in_background(request: JsonObject) -> bool:
    """Whether the service works on the response after it has answered."""
    return request.get("background") is True


def first(answer: Answer) -> JsonObject:
    """The response object as a request for it is answered: whole, or waiting its turn."""
    return queued(answer) if in_background(answer.reading.body) else ended(answer)


def queued(answer: Answer) -> JsonObject:
    """The response object before anybody has begun with it."""
    return _response(answer, status="queued", service_tier="auto")


def started(answer: Answer) -> JsonObject:
    """The response object while nothing has come out yet."""
    return _response(answer, status="in_progress", service_tier="auto")


def ended(answer: Answer) -> JsonObject:
    """The response object at its end, complete or incomplete."""
    reason = _INCOMPLETE.get(answer.stop)
    return _response(
        answer,
        status="incomplete" if reason else "completed",
        completed_at=None if reason else answer.created + 1,
        incomplete_details={"reason": reason} if reason else None,
        output=output.items(answer),
        usage=usage(answer.usage),
    )


def unfinished(response: JsonObject, status: str) -> JsonObject:
    """A finished response as it was while nothing had come out yet."""
    return {
        **response,
        "status": status,
        "completed_at": None,
        "incomplete_details": None,
        "output": [],
        "service_tier": "auto",
        "usage": None,
    }


def failed(answer: Answer, error: ServiceError) -> JsonObject:
    """The response object after a failure; it repeats no output."""
    code = error.code if error.code in _FAILURE_CODES else "server_error"
    details = {"code": code, "message": error.message}
    return _response(answer, status="failed", service_tier="auto", error=details)


def _response(answer: Answer, **facts: object) -> JsonObject:
    request = answer.reading.body
    given = {key: request[key] for key in _DEFAULTS if request.get(key) is not None}
    return {
        "id": answer.response_id,
        "object": "response",
        "created_at": answer.created,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "model": answer.model,
        "moderation": None,
        "output": [],
        **_DEFAULTS,
        **given,
        **_conversation(request),
        "previous_response_id": answer.reading.previous,
        "reasoning": {**_reasoning(answer.model), **_object(request.get("reasoning"))},
        "service_tier": "default",
        "store": stores(request),
        "text": {**_TEXT, **_object(request.get("text"))},
        "tool_usage": _NO_TOOL_USAGE,
        "tools": echo.tools(request, answer.model),
        "usage": None,
        **facts,
    }


@lru_cache(maxsize=64)
def _reasoning(model: str) -> JsonObject:
    """How the service says that a model reasons where the request says nothing."""
    effort = None if _AT_ONCE.match(model) else "medium"
    return {"context": "current_turn", "effort": effort, "mode": "standard", "summary": None}


def _conversation(request: JsonObject) -> JsonObject:
    value = request.get("conversation")
    if value is None:
        return {}
    return {"conversation": {"id": value} if isinstance(value, str) else value}


def usage(counts: Usage) -> JsonObject:
    """The token counts of a response."""
    return {
        "input_tokens": counts.input,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": counts.output,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": counts.input + counts.output,
    }


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
