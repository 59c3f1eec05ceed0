"""The dialect itself: which function answers for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from loopcheck.fake_providers.dialects import openai_common
from loopcheck.fake_providers.dialects.chat import read, render, rules
from loopcheck.fake_providers.dialects.interface import Memory, Rule
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

_UNKNOWN_MODEL = ServiceError(
    status=404,
    type="invalid_request_error",
    message="The model `{model}` does not exist or you do not have access to it.",
    code="model_not_found",
)


class ChatDialect(openai_common.OpenAIManners):
    """OpenAI Chat Completions. The service keeps nothing between requests."""

    name: DialectName = "chat"
    rules: tuple[Rule, ...] = rules.RULES

    def serves(self, method: str, path: str) -> Literal["generate", "side"] | None:
        if (method, path) == ("POST", "/v1/chat/completions"):
            return "generate"
        return "side" if openai_common.asks_for_models(method, path) else None

    def read(self, request: HttpRequest, memory: Memory) -> Reading:
        return read.read(request, memory)

    def whole(self, answer: Answer) -> JsonObject:
        return render.whole(answer)

    def frames(self, answer: Answer, steps: Sequence[Step]) -> list[Frame]:
        return render.frames(answer, steps)

    def remember(self, answer: Answer, memory: Memory) -> None:
        """Does nothing: clients send the whole conversation each time."""

    def named_error(self, name: ErrorName, reading: Reading | None) -> ServiceError:
        model = reading.model if reading else "gpt-4.1"
        return openai_common.named_error(name, model=model, not_found=_UNKNOWN_MODEL)

    def error_frames(
        self, error: ServiceError, sequence: int, *, answer: Answer | None = None
    ) -> list[Frame]:
        return [Frame(data={"error": openai_common.error_object(error)}, part="error")]

    def side(self, request: HttpRequest) -> JsonObject:
        return openai_common.models(request.path)

    def response_id(self, digest: str) -> str:
        return "chatcmpl-" + openai_common.base62(digest, 29)

    def item_id(self, kind: Literal["say", "refuse", "call"], digest: str) -> str:
        return ""
