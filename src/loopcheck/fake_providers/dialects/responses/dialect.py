"""The dialect itself: which function answers for what."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from loopcheck.fake_providers.dialects import openai_common
from loopcheck.fake_providers.dialects.interface import ItemIdKind, Memory, Rule
from loopcheck.fake_providers.dialects.responses import (
    background,
    body,
    read,
    render,
    rules,
    side,
    state,
)
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

_ID_DIGITS = 50
# Items of hosted calls get the prefix of their kind when they are rendered.
_PREFIXES: Final[Mapping[ItemIdKind, str]] = {
    "say": "msg_",
    "refuse": "msg_",
    "call": "fc_",
    "custom": "ctc_",
    "think": "rs_",
    "hosted": "",
}
_OWN_ERRORS: Final[Mapping[ErrorName, ServiceError]] = {
    "not_found": ServiceError(
        status=400,
        type="invalid_request_error",
        message="The requested model '{model}' does not exist.",
        param="model",
        code="model_not_found",
    ),
    "context": ServiceError(
        status=400,
        type="invalid_request_error",
        message="Your input exceeds the context window of this model. Please adjust your input "
        "and try again.",
        param="input",
        code="context_length_exceeded",
    ),
}


class ResponsesDialect(openai_common.OpenAIManners):
    """OpenAI Responses, with stored responses."""

    name: DialectName = "responses"
    rules: tuple[Rule, ...] = rules.RULES

    def serves(self, method: str, path: str) -> Literal["generate", "side"] | None:
        if (method, path) == ("POST", "/v1/responses"):
            return "generate"
        return "side" if side.serves(method, path) else None

    def read(self, request: HttpRequest, memory: Memory) -> Reading:
        return read.read(request, memory)

    def whole(self, answer: Answer) -> JsonObject:
        return body.first(answer)

    def frames(self, answer: Answer, steps: Sequence[Step]) -> list[Frame]:
        return render.frames(answer, steps)

    def remember(self, answer: Answer, memory: Memory) -> None:
        """Keeps the response and the conversation that ends with it."""
        state.remember(answer, memory)

    def named_error(self, name: ErrorName, reading: Reading | None) -> ServiceError:
        model = reading.model if reading else "gpt-4.1"
        return openai_common.named_error(name, model=model, own=_OWN_ERRORS)

    def error_frames(
        self, error: ServiceError, sequence: int, *, answer: Answer | None = None
    ) -> list[Frame]:
        return render.error_frames(error, sequence, answer)

    def side(self, request: HttpRequest, memory: Memory | None = None) -> JsonObject:
        return side.answer(request, Memory() if memory is None else memory)

    def resumed(self, request: HttpRequest, memory: Memory) -> Sequence[Frame] | None:
        return background.resumed(request, memory)

    def outlives(self, reading: Reading) -> bool:
        return body.in_background(reading.body)

    def response_id(self, digest: str) -> str:
        return "resp_" + digest[:_ID_DIGITS]

    def item_id(self, kind: ItemIdKind, digest: str) -> str:
        return _PREFIXES[kind] + digest[:_ID_DIGITS]

    def seal(self, digest: str, *, redacted: bool) -> str:
        rounds = (hashlib.sha256(f"{digest}:{n}".encode()).hexdigest() for n in range(5))
        return "gAAAAAB" + "".join(openai_common.base62(part, 32) for part in rounds)
