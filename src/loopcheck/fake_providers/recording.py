"""What is written down of a request. Secrets are dropped here, before anything is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable

from loopcheck.fake_providers.wire import HttpRequest, Item, JsonObject, Reading

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
