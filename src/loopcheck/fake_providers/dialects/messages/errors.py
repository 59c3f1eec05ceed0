"""The errors of the Messages service, in its own words."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.script import ErrorName
from loopcheck.fake_providers.wire import JsonObject, Reading, ServiceError

_RATE_LIMIT: Final = (
    "This request would exceed your organization's rate limit of 400,000 input tokens per minute "
    "(org: 00000000-0000-0000-0000-000000000000, model: {model}). For details, refer to: "
    "https://docs.claude.com/en/api/rate-limits. You can see the response headers for current "
    "usage. Please reduce the prompt length or the maximum tokens requested, or try again later."
)
_ERRORS: Final[dict[ErrorName, tuple[int, str, str]]] = {
    "invalid": (400, "invalid_request_error", "Invalid request"),
    "auth": (401, "authentication_error", "invalid x-api-key"),
    "not_found": (404, "not_found_error", "model: {model}"),
    "conflict": (409, "conflict_error", "The request conflicts with another one"),
    "timeout": (504, "timeout_error", "Request timed out"),
    "rate_limit": (429, "rate_limit_error", _RATE_LIMIT),
    "quota": (
        402,
        "billing_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing "
        "to upgrade or purchase credits.",
    ),
    "server": (500, "api_error", "Internal server error"),
    "unavailable": (503, "api_error", "Service unavailable"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "context": (
        400,
        "invalid_request_error",
        "prompt is too long: 208423 tokens > 200000 maximum",
    ),
}


def named_error(name: ErrorName, reading: Reading | None) -> ServiceError:
    status, kind, message = _ERRORS[name]
    model = "unknown" if reading is None else reading.model
    return ServiceError(status=status, type=kind, message=message.format(model=model))


def invalid(message: str, path: str | None = None) -> ServiceError:
    """A refusal of the request itself; `path` points at the place in it."""
    return ServiceError(status=400, type="invalid_request_error", message=message, param=path)


def field_error(path: str, complaint: str) -> ServiceError:
    """A refusal in the form of the service's schema checks: `path: complaint`."""
    return invalid(f"{path}: {complaint}", path)


def too_large() -> ServiceError:
    return ServiceError(
        status=413, type="request_too_large", message="Request exceeds the maximum size"
    )


def unknown_model(model: str) -> ServiceError:
    return ServiceError(
        status=404, type="not_found_error", message=f"model: {model}", param="model"
    )


def thread_error(code: str, message: str, *, status: int = 400, **details: object) -> ServiceError:
    """A refusal of the field `thread`; clients act on the code in its details."""
    return ServiceError(
        status=status,
        type="not_found_error" if status == 404 else "invalid_request_error",
        message=f"thread: {message}",
        param="thread",
        details={"error_code": code, **details},
    )


def envelope(error: ServiceError) -> JsonObject:
    """The error object without a request id, as a stream carries it."""
    inner: JsonObject = {"type": error.type, "message": error.message}
    if error.details is not None:
        inner["details"] = error.details
    return {"type": "error", "error": inner}
