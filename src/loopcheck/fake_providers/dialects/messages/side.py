"""Plausible answers to requests that take no turn."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.wire import HttpRequest, JsonObject

COUNT_PATH: Final = "v1/messages/count_tokens"
MODELS_PATH: Final = "v1/models"

_MODELS: Final = {
    "claude-opus-5-5": "Claude Opus 5.5",
    "claude-sonnet-5": "Claude Sonnet 5",
    "claude-haiku-4-5": "Claude Haiku 4.5",
}
_CHARACTERS_PER_TOKEN: Final = 4


def answer(request: HttpRequest) -> JsonObject:
    """The token count of a body, the list of models, or one model, whatever its name."""
    place = request.path.strip("/")
    if place == COUNT_PATH:
        return {"input_tokens": len(request.body) // _CHARACTERS_PER_TOKEN + 1}
    if place == MODELS_PATH:
        ids = list(_MODELS)
        return {
            "data": [_model(model) for model in ids],
            "first_id": ids[0],
            "last_id": ids[-1],
            "has_more": False,
        }
    return _model(place.removeprefix(f"{MODELS_PATH}/"))


def _model(model: str) -> JsonObject:
    return {
        "type": "model",
        "id": model,
        "display_name": _MODELS.get(model, model),
        "created_at": "2026-09-01T00:00:00Z",
        "lifecycle": "active",
    }
