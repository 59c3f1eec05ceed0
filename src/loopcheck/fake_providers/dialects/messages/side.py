"""Plausible answers to requests that take no turn."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects.messages.errors import field_error, invalid, unknown_model
from loopcheck.fake_providers.dialects.messages.models import NAMES
from loopcheck.fake_providers.json_body import parsed
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

COUNT_PATH: Final = "v1/messages/count_tokens"
MODELS_PATH: Final = "v1/models"

_CHARACTERS_PER_TOKEN: Final = 4


def answer(request: HttpRequest, models: frozenset[str] = frozenset()) -> JsonObject:
    """The token count of a body, the list of models, or one of them; any, where none is named.

    Raises ServiceError for a body that cannot be counted and for a model that does not exist.
    """
    place = request.path.strip("/")
    if place == COUNT_PATH:
        return _counted(request.body)
    if place == MODELS_PATH:
        listed = [_model(model) for model in sorted(models) or NAMES]
        ends = {"first_id": listed[0]["id"], "last_id": listed[-1]["id"]}
        return {"data": listed, "has_more": False, **ends}
    model = place.removeprefix(f"{MODELS_PATH}/")
    if models and model not in models:
        raise unknown_model(model)
    return _model(model)


def _counted(body: bytes) -> JsonObject:
    try:
        value = parsed(body)
    except ValueError as error:
        raise invalid(f"The request body is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise invalid("Input should be an object")
    for name in ("model", "messages"):
        if name not in value:
            raise field_error(name, "Field required")
    return {"input_tokens": len(body) // _CHARACTERS_PER_TOKEN + 1}


def _model(model: str) -> JsonObject:
    return {
        "type": "model",
        "id": model,
        "display_name": NAMES.get(model, model),
        "created_at": "2026-09-01T00:00:00Z",
        "lifecycle": "active",
    }
