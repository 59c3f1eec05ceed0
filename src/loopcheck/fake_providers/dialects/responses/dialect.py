"""The dialect itself: which function answers for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from loopcheck.fake_providers.dialects import openai_common
from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.responses import body, read, render, rules
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

_COUNT_PATH = "/v1/responses/input_tokens"
_ID_DIGITS = 50
_UNKNOWN_MODEL = ServiceError(
    status=400,
    type="invalid_request_error",
    message="The requested model '{model}' does not exist.",
    param="model",
    code="model_not_found",
)


class ResponsesDialect(openai_common.OpenAIManners):
    """OpenAI Responses, with stored responses."""

    name: DialectName = "responses"
    rules: tuple[Rule, ...] = rules.RULES

    def serves(self, method: str, path: str) -> Literal["generate", "side"] | None:
        if (method, path) == ("POST", "/v1/responses"):
            return "generate"
        counts = (method, path) == ("POST", _COUNT_PATH)
        return "side" if counts or openai_common.asks_for_models(method, path) else None

    def read(self, request: HttpRequest, memory: Memory) -> Reading:
        return read.read(request, memory)

    def whole(self, answer: Answer) -> JsonObject:
        return body.ended(answer)

    def frames(self, answer: Answer, steps: Sequence[Step]) -> list[Frame]:
        return render.frames(answer, steps)

    def remember(self, answer: Answer, memory: Memory) -> None:
        """Stores the conversation, output included, unless the request said not to."""
        if body.stores(answer.reading.body):
            stored = [*answer.reading.history, *body.output(answer)]
            memory.conversations[answer.response_id] = stored

    def named_error(self, name: ErrorName, reading: Reading | None) -> ServiceError:
        model = reading.model if reading else "gpt-4.1"
        return openai_common.named_error(name, model=model, not_found=_UNKNOWN_MODEL)

    def error_frames(
        self, error: ServiceError, sequence: int, *, answer: Answer | None = None
    ) -> list[Frame]:
        return render.error_frames(error, sequence, answer)

    def side(self, request: HttpRequest) -> JsonObject:
        if request.path == _COUNT_PATH:
            count = len(request.body) // 4 + 8
            return {"object": "response.input_tokens", "input_tokens": count}
        return openai_common.models(request.path)

    def response_id(self, digest: str) -> str:
        return "resp_" + digest[:_ID_DIGITS]

    def item_id(self, kind: Literal["say", "refuse", "call"], digest: str) -> str:
        return ("fc_" if kind == "call" else "msg_") + digest[:_ID_DIGITS]
