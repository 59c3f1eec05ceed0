"""What is written down of a request and of its answer. Secrets are dropped here, before anything is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from loopcheck.fake_providers.wire import (
    Answer,
    HttpRequest,
    IssuedCall,
    IssuedThought,
    Item,
    JsonObject,
    Reading,
)

_SECRET_HEADERS = frozenset(
    {"authorization", "x-api-key", "api-key", "cookie", "proxy-authorization"}
)
_ITEM_FIELDS = (
    "kind",
    "path",
    "origin",
    "text",
    "call_id",
    "name",
    "arguments",
    "is_error",
    "reply",
    "item_id",
    "seal",
)


def request_fields(
    request: HttpRequest, reading: Reading | None, *, secret: str | None
) -> dict[str, object]:
    """The journal's fields for this request; `secret` is masked wherever it occurs in them."""
    body = reading.body if reading is not None else _json_or_none(request.body)
    return {
        "method": request.method,
        "path": request.path,
        "headers": {
            name: _masked(secret, value)
            for name, value in request.headers.items()
            if name not in _SECRET_HEADERS
        },
        "body": _masked(secret, body),
        "conversation": _masked(secret, _conversation(reading.items if reading else ())),
        "tools": [{"name": t.name, "schema": t.schema} for t in reading.tools] if reading else [],
        "tool_choice": reading.tool_choice if reading else None,
    }


def issued_fields(answer: Answer, sent: Mapping[str, str]) -> dict[str, object]:
    """The journal's fields for what this answer gives the client to do and to carry; `sent` tells
    how much of each call went out."""
    return {
        "calls": [
            {
                "label": piece.label,
                "tool": piece.tool,
                "arguments": piece.arguments,
                "call_id": piece.call_id,
                "sent": sent.get(piece.label, "none"),
                "item_id": piece.item_id,
                "position": position,
            }
            for position, piece in enumerate(answer.content)
            if isinstance(piece, IssuedCall)
        ],
        "carry": [
            {
                "kind": "redacted" if piece.redacted else "think",
                "text": "" if piece.redacted else piece.text,
                "item_id": piece.item_id,
                "seal": piece.seal,
                "position": position,
            }
            for position, piece in enumerate(answer.content)
            if isinstance(piece, IssuedThought)
        ],
        "usage": {"input": answer.usage.input, "output": answer.usage.output},
    }


def _conversation(items: Iterable[Item]) -> list[JsonObject]:
    return [
        {name: value for name in _ITEM_FIELDS if (value := getattr(item, name)) is not None}
        for item in items
    ]


def _json_or_none(body: bytes) -> object:
    try:
        parsed: object = json.loads(body)
    except ValueError:
        return None
    return parsed


def _masked(secret: str | None, value: object) -> object:
    if not secret:
        return value
    text = json.dumps(value, ensure_ascii=False)
    if secret not in text:
        return value
    masked: object = json.loads(text.replace(secret, "***"))
    return masked
