"""The dialect itself: which function answers for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from loopcheck.fake_providers.dialects import openai_common
from loopcheck.fake_providers.dialects.chat import read, render, rules, stored
from loopcheck.fake_providers.dialects.interface import ItemIdKind, Memory, Rule
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

_OWN_ERRORS: Final[Mapping[ErrorName, ServiceError]] = {
    "not_found": ServiceError(
        status=404,
        type="invalid_request_error",
        message="The model `{model}` does not exist or you do not have access to it.",
        code="model_not_found",
    ),
    "context": ServiceError(
        status=400,
        type="invalid_request_error",
        message="This model's maximum context length is 128000 tokens. However, your messages "
        "resulted in 131842 tokens (131512 in the messages, 330 in the functions). Please reduce "
        "the length of the messages or functions.",
        param="messages",
        code="context_length_exceeded",
    ),
}


class ChatDialect(openai_common.OpenAIManners):
    """OpenAI Chat Completions. No request goes on from what the service keeps."""

    name: DialectName = "chat"
    rules: tuple[Rule, ...] = rules.RULES

    def serves(self, method: str, path: str) -> Literal["generate", "side"] | None:
        if (method, path) == ("POST", "/v1/chat/completions"):
            return "generate"
        return "side" if stored.serves(method, path) else None

    def read(self, request: HttpRequest, memory: Memory) -> Reading:
        return read.read(request)

    def whole(self, answer: Answer) -> JsonObject:
        return render.whole(answer)

    def frames(self, answer: Answer, steps: Sequence[Step]) -> list[Frame]:
        return render.frames(answer, steps)

    def remember(self, answer: Answer, memory: Memory) -> None:
        """Notes the ids and names that came from here; clients send everything else again. Keeps
        the completion where the request says so."""
        for call in answer.calls:
            memory.issued.update((call.call_id, call.tool))
        stored.keep(answer, memory)

    def named_error(self, name: ErrorName, reading: Reading | None) -> ServiceError:
        model = reading.model if reading else "gpt-4.1"
        return openai_common.named_error(name, model=model, own=_OWN_ERRORS)

    def error_frames(
        self, error: ServiceError, sequence: int, *, answer: Answer | None = None
    ) -> list[Frame]:
        return [Frame(data={"error": openai_common.error_object(error)}, part="error")]

    def side(self, request: HttpRequest, memory: Memory | None = None) -> JsonObject:
        return stored.answer(request, Memory() if memory is None else memory)

    def response_id(self, digest: str) -> str:
        return "chatcmpl-" + openai_common.base62(digest, 29)

    def item_id(self, kind: ItemIdKind, digest: str) -> str:
        return ""

    def seal(self, digest: str, *, redacted: bool) -> str:
        return ""
