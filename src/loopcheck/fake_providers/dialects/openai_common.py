"""What Chat Completions and Responses have in common: errors, headers, ids, side requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.ids import BASE62, spell
from loopcheck.fake_providers.json_body import is_json, parsed
from loopcheck.fake_providers.script import ErrorName
from loopcheck.fake_providers.wire import (
    Frame,
    HttpRequest,
    JsonObject,
    Reading,
    ServiceError,
)

_MODEL_LIST: Final = "/v1/models"
_MODEL_CREATED: Final = 1_747_000_000
_MODELS: Final = ("gpt-4.1", "gpt-4.1-mini", "gpt-5.5")

# `{model}` is the model that was asked for.
_NAMED: Final[Mapping[ErrorName, ServiceError]] = {
    "invalid": ServiceError(
        status=400,
        type="invalid_request_error",
        message="Invalid 'temperature': decimal below minimum value. Expected a value >= 0, "
        "but got -1 instead.",
        param="temperature",
        code="decimal_below_min_value",
    ),
    "auth": ServiceError(
        status=401,
        type="invalid_request_error",
        message="Incorrect API key provided: sk-loop*****heck. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        code="invalid_api_key",
    ),
    "conflict": ServiceError(
        status=409,
        type="invalid_request_error",
        message="The resource is being changed by another request. Please retry in a few seconds.",
        code="conflict",
    ),
    "timeout": ServiceError(
        status=408,
        type="timeout",
        message="Request timed out. Please try again.",
        code="request_timeout",
    ),
    "rate_limit": ServiceError(
        status=429,
        type="tokens",
        message="Rate limit reached for {model} in organization org-loopcheck on tokens per min "
        "(TPM): Limit 30000, Used 29600, Requested 612. Please try again in 424ms. "
        "Visit https://platform.openai.com/account/rate-limits to learn more.",
        code="rate_limit_exceeded",
    ),
    "quota": ServiceError(
        status=429,
        type="insufficient_quota",
        message="You exceeded your current quota, please check your plan and billing details. "
        "For more information on this error, read the docs: "
        "https://platform.openai.com/docs/guides/error-codes/api-errors.",
        code="insufficient_quota",
    ),
    "server": ServiceError(
        status=500,
        type="server_error",
        message="The server had an error while processing your request. Sorry about that! "
        "You can retry your request, or contact us through our help center at help.openai.com "
        "if the error persists.",
        code="server_error",
    ),
    "unavailable": ServiceError(
        status=503,
        type="service_unavailable",
        message="The service is temporarily unavailable. Please try again later.",
    ),
    "overloaded": ServiceError(
        status=503,
        type="server_error",
        message="That model is currently overloaded with other requests. You can retry your "
        "request, or contact us through our help center at help.openai.com if the error persists.",
    ),
}

_HEADERS: Final = (
    ("access-control-expose-headers", "X-Request-ID"),
    ("openai-organization", "org-loopcheck"),
    ("openai-processing-ms", "412"),
    ("openai-project", "proj_loopcheck"),
    ("openai-version", "2020-10-01"),
    ("x-content-type-options", "nosniff"),
    ("x-ratelimit-limit-requests", "10000"),
    ("x-ratelimit-limit-tokens", "200000"),
    ("x-ratelimit-remaining-requests", "9991"),
    ("x-ratelimit-remaining-tokens", "199961"),
    ("x-ratelimit-reset-requests", "1m13.588s"),
    ("x-ratelimit-reset-tokens", "11ms"),
)


class OpenAIManners:
    """The part of a dialect that is the same on both OpenAI protocols."""

    def base_url(self, root: str) -> str:
        return root + "/v1"

    def authenticate(self, headers: Mapping[str, str]) -> str | None:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        return key.strip() or None if scheme.lower() == "bearer" else None

    def error_body(self, error: ServiceError, request_id: str) -> JsonObject:
        return {"error": error_object(error)}

    def resumed(self, request: HttpRequest, memory: Memory) -> Sequence[Frame] | None:
        return None

    def outlives(self, reading: Reading) -> bool:
        return False

    def headers(self, request_id: str, *, streamed: bool) -> tuple[tuple[str, str], ...]:
        return (*_HEADERS, ("x-request-id", request_id))

    def call_id(self, label: str, digest: str) -> str:
        # A label that can be read back from the wire helps whoever debugs a loop.
        head = f"{label[:12]}_" if re.fullmatch(r"[A-Za-z0-9_]+", label) else ""
        return "call_" + head + base62(digest, 24 - len(head))

    def request_id(self, digest: str) -> str:
        return "req_" + digest[:32]


def base62(digest: str, length: int) -> str:
    """That many characters of the kind that OpenAI's ids are made of."""
    return spell(digest, alphabet=BASE62, length=length)


def pads(body: JsonObject) -> bool:
    """Whether the request leaves obfuscation on, as it is unless switched off."""
    options = body.get("stream_options")
    return not (isinstance(options, dict) and options.get("include_obfuscation") is False)


def error_object(error: ServiceError) -> JsonObject:
    """What stands under `error` in an error body and in a stream."""
    return {
        "message": error.message,
        "type": error.type,
        "param": error.param,
        "code": error.code,
    }


def named_error(
    name: ErrorName, *, model: str, own: Mapping[ErrorName, ServiceError]
) -> ServiceError:
    """A kind of error in OpenAI's words; some have words of their `own` in each dialect."""
    template = own.get(name) or _NAMED[name]
    return replace(template, message=template.message.replace("{model}", model))


def invalid(
    message: str, *, param: str | None = None, code: str | None = None, status: int = 400
) -> ServiceError:
    """A refusal of the request, with status 400 where nothing else is said."""
    return ServiceError(
        status=status, type="invalid_request_error", message=message, param=param, code=code
    )


def missing(param: str) -> ServiceError:
    """The refusal of a request without this parameter."""
    message = f"Missing required parameter: '{param}'."
    return invalid(message, param=param, code="missing_required_parameter")


def wrong_type(param: str, expected: str, value: object) -> ServiceError:
    """The refusal of a value whose JSON type does not fit."""
    message = f"Invalid type for '{param}': expected {expected}, but got {_kind(value)} instead."
    return invalid(message, param=param, code="invalid_type")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    # bool before int: JSON's true is no number, Python's is.
    kinds: tuple[tuple[type, str], ...] = (
        (bool, "a boolean"),
        (str, "a string"),
        (int, "an integer"),
        (float, "a decimal number"),
        (list, "an array"),
    )
    return next((word for kind, word in kinds if isinstance(value, kind)), "an object")


def require_text(holder: JsonObject, key: str, path: str) -> None:
    """Refuses a request whose object at `path` lacks this string."""
    if key not in holder:
        raise missing(f"{path}.{key}")
    if not isinstance(holder[key], str):
        raise wrong_type(f"{path}.{key}", "a string", holder[key])


def request_body(request: HttpRequest) -> JsonObject:
    """The JSON object of a request."""
    if not is_json(request.headers):
        given = request.headers["content-type"]
        raise invalid(
            f"Unsupported content type: '{given}'. This API method only accepts "
            "'application/json' requests, but you specified the header 'Content-Type: "
            f"{given}'. Please try again with a supported content type.",
            code="unsupported_content_type",
        )
    try:
        body = parsed(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise invalid(
            "We could not parse the JSON body of your request. (HINT: This likely means you "
            "aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, "
            "but what was sent was not valid JSON.)"
        )
    return body


def objects(body: JsonObject, key: str) -> list[JsonObject]:
    """The objects listed under this key; none when it is absent or null."""
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type(key, "an array of objects", value)
    for position, entry in enumerate(value):
        if not isinstance(entry, dict):
            raise wrong_type(f"{key}[{position}]", "an object", entry)
    return value


def part_text(content: object, key: str = "text") -> str:
    """The text of a message: the string itself, or what its parts hold under this key."""
    if isinstance(content, str):
        return content if key == "text" else ""
    parts = content if isinstance(content, list) else []
    texts = [part.get(key) for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def asks_for_models(method: str, path: str) -> bool:
    """Whether this is a request for the list of models, or for one of them."""
    return method == "GET" and (path == _MODEL_LIST or path.startswith(_MODEL_LIST + "/"))


def models(path: str) -> JsonObject:
    """The answer to a request for models."""
    name = path.removeprefix(_MODEL_LIST).removeprefix("/")
    if name:
        return _model(name)
    return {"object": "list", "data": [_model(name) for name in _MODELS]}


def _model(name: str) -> JsonObject:
    return {"id": name, "object": "model", "created": _MODEL_CREATED, "owned_by": "system"}
