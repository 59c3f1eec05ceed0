"""The Messages protocol as a dialect: which paths it serves, which ids and headers it sends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from loopcheck.fake_providers.dialects.interface import ItemIdKind, Memory, Rule
from loopcheck.fake_providers.dialects.messages import (
    errors,
    read,
    render,
    rules,
    seals,
    side,
    state,
)
from loopcheck.fake_providers.ids import BASE58, spell
from loopcheck.fake_providers.script import DialectName, ErrorName
from loopcheck.fake_providers.wire import (
    Answer,
    Frame,
    HttpRequest,
    JsonObject,
    Reading,
    ServiceError,
    Step,
)

_RANDOM_PART: Final = 22
_LABEL_PART: Final = 14
_RESET: Final = "2026-11-30T12:00:00Z"
_LIMITS: Final = (
    ("requests", 4000),
    ("tokens", 480000),
    ("input-tokens", 400000),
    ("output-tokens", 80000),
)


class Messages:
    """POST /v1/messages, with message threads, token counting and the list of models."""

    name: DialectName = "messages"
    rules: tuple[Rule, ...] = rules.RULES

    def base_url(self, root: str) -> str:
        return root

    def serves(self, method: str, path: str) -> Literal["generate", "side"] | None:
        place = path.strip("/")
        if (method, place) == ("POST", "v1/messages"):
            return "generate"
        if (method, place) == ("POST", side.COUNT_PATH):
            return "side"
        listed = place == side.MODELS_PATH or place.startswith(f"{side.MODELS_PATH}/")
        return "side" if method == "GET" and listed else None

    def authenticate(self, headers: Mapping[str, str]) -> str | None:
        key = headers.get("x-api-key")
        if key:
            return key
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return token.strip() or None if scheme.lower() == "bearer" else None

    def read(self, request: HttpRequest, memory: Memory) -> Reading:
        return read.read(request, memory)

    def whole(self, answer: Answer) -> JsonObject:
        return render.whole(answer)

    def frames(self, answer: Answer, steps: Sequence[Step]) -> list[Frame]:
        return render.frames(answer, steps)

    def remember(self, answer: Answer, memory: Memory) -> None:
        state.remember(answer, memory)

    def named_error(self, name: ErrorName, reading: Reading | None) -> ServiceError:
        return errors.named_error(name, reading)

    def error_body(self, error: ServiceError, request_id: str) -> JsonObject:
        return {**errors.envelope(error), "request_id": request_id}

    def error_frames(
        self, error: ServiceError, sequence: int, *, answer: Answer | None = None
    ) -> list[Frame]:
        return [Frame(event="error", data=errors.envelope(error), part="error")]

    def side(self, request: HttpRequest, memory: Memory | None = None) -> JsonObject:
        return side.answer(request, frozenset() if memory is None else memory.models)

    def resumed(self, request: HttpRequest, memory: Memory) -> Sequence[Frame] | None:
        return None

    def outlives(self, reading: Reading) -> bool:
        return False

    def headers(self, request_id: str, *, streamed: bool) -> tuple[tuple[str, str], ...]:
        limits = [
            (f"anthropic-ratelimit-{name}-{field}", value)
            for name, limit in _LIMITS
            for field, value in (
                ("limit", str(limit)),
                ("remaining", str(limit - 1 if name == "requests" else limit)),
                ("reset", _RESET),
            )
        ]
        return (
            ("request-id", request_id),
            *((("cache-control", "no-cache"),) if streamed else ()),
            ("anthropic-organization-id", "00000000-0000-0000-0000-000000000000"),
            *limits,
            ("strict-transport-security", "max-age=31536000; includeSubDomains; preload"),
            ("via", "1.1 google"),
            ("x-robots-tag", "none"),
        )

    def call_id(self, label: str, digest: str) -> str:
        shown = re.sub(r"[^a-zA-Z0-9_-]", "", label)[:_LABEL_PART]
        return f"toolu_01{shown}{spell(digest, alphabet=BASE58, length=_RANDOM_PART - len(shown))}"

    def response_id(self, digest: str) -> str:
        return f"msg_01{spell(digest, alphabet=BASE58, length=_RANDOM_PART)}"

    def item_id(self, kind: ItemIdKind, digest: str) -> str:
        return ""

    def seal(self, digest: str, *, redacted: bool) -> str:
        return seals.seal(digest, redacted=redacted)

    def request_id(self, digest: str) -> str:
        return f"req_01{spell(digest, alphabet=BASE58, length=_RANDOM_PART)}"
