"""What is written down of requests and answers. Secrets are dropped before anything is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from loopcheck.fake_providers.dialects.interface import drop_oldest
from loopcheck.fake_providers.faults import Rendered
from loopcheck.fake_providers.json_body import parsed
from loopcheck.fake_providers.script import Attempt, Usage
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
_SHORTEST_SECRET = 8
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
    """The journal's fields for this request; `secret` is masked wherever it occurs in them,
    unless it is so short that ordinary words hold it."""
    if secret is not None and len(secret) < _SHORTEST_SECRET:
        secret = None
    body = reading.body if reading is not None else _json_or_none(request.body)
    in_body = secret if _may_hold(secret, request, reading) else None
    return {
        "method": request.method,
        "path": request.path,
        "headers": {
            name: value.replace(secret, "***") if secret else value
            for name, value in request.headers.items()
            if name not in _SECRET_HEADERS
        },
        "secrets": {
            name: _scheme(request.headers[name])
            for name in request.headers
            if name in _SECRET_HEADERS
        },
        "body": _masked(in_body, body),
        "conversation": _masked(in_body, _conversation(reading.items if reading else ())),
        "tools": [{"name": t.name, "schema": t.schema} for t in reading.tools] if reading else [],
        "tool_choice": reading.tool_choice if reading else None,
    }


@dataclass(frozen=True, slots=True)
class AnswerNotes:
    """The journal's fields for the answers of one provider, as one mapping for those that differ
    in nothing but the id of the response: a load test asks for one text a thousand times."""

    _latest: dict[int, tuple[Attempt, Usage, Rendered, Mapping[str, object]]] = field(
        default_factory=dict
    )

    def fields(
        self, turn: int, attempt: Attempt, answer: Answer, rendered: Rendered
    ) -> Mapping[str, object]:
        """What this answer gives the client to do and to carry, and how it ends."""
        if answer.content is not attempt.content:
            return _answer_fields(attempt, answer, rendered)
        latest = self._latest.get(turn)
        if latest is not None:
            same, usage, written, fields = latest
            as_before = rendered.ends == written.ends and rendered.odd == written.odd
            if same is attempt and usage is answer.usage and as_before:
                return fields
        fields = _answer_fields(attempt, answer, rendered)
        self._latest[turn] = attempt, answer.usage, rendered, fields
        return fields

    def forget(self, keep: int) -> None:
        """Drops the oldest until so many are left."""
        drop_oldest(self._latest, keep)


def _answer_fields(attempt: Attempt, answer: Answer, rendered: Rendered) -> dict[str, object]:
    return {
        **_issued_fields(answer, rendered.sent),
        "text": attempt.text,
        "refusal": attempt.refusal,
        "stop": attempt.stop,
        "fault": attempt.fault.kind if attempt.fault else None,
        "ends": rendered.ends,
        "odd": rendered.odd,
    }


def _issued_fields(answer: Answer, sent: Mapping[str, str]) -> dict[str, object]:
    """`sent` tells how much of each call went out."""
    return {
        "calls": tuple(
            [
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
            ]
        ),
        "carry": tuple(
            [
                {
                    "kind": "redacted" if piece.redacted else "think",
                    "text": "" if piece.redacted else piece.text,
                    "item_id": piece.item_id,
                    "seal": piece.seal,
                    "position": position,
                }
                for position, piece in enumerate(answer.content)
                if isinstance(piece, IssuedThought)
            ]
        ),
        "usage": {"input": answer.usage.input, "output": answer.usage.output},
    }


def _scheme(value: str) -> str:
    """What may be told of a secret: the scheme that it came under, as in `Bearer ***`."""
    scheme, _, secret = value.partition(" ")
    return f"{scheme} ***" if secret and scheme.lower() in ("bearer", "basic") else "***"


def _conversation(items: Iterable[Item]) -> list[JsonObject]:
    return [
        {name: value for name in _ITEM_FIELDS if (value := getattr(item, name)) is not None}
        for item in items
    ]


def _json_or_none(body: bytes) -> object:
    try:
        return parsed(body)
    except ValueError:
        return None


def _may_hold(secret: str | None, request: HttpRequest, reading: Reading | None) -> bool:
    """Whether the secret can stand in the body: as it is, spelt with escapes, or in what earlier
    requests left in the conversation."""
    if not secret:
        return False
    spelt = secret.encode(errors="replace"), b"\\u", b"\\/"
    if any(sign in request.body for sign in spelt):
        return True
    return reading is not None and any(item.origin == "stored" for item in reading.items)


def _masked(secret: str | None, value: object) -> object:
    if not secret:
        return value
    text = json.dumps(value, ensure_ascii=False)
    if secret not in text:
        return value
    masked: object = json.loads(text.replace(secret, "***"))
    return masked
