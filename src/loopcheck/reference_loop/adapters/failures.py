"""What an exception of an SDK means for the run."""

from __future__ import annotations

from typing import Final, Protocol, Self, TypeVar, runtime_checkable

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.retry_after import retry_after
from loopcheck.reference_loop.events import Failed
from loopcheck.reference_loop.telemetry import exchange

PERMANENT: Final = frozenset(
    {
        "authentication_error",
        "billing_error",
        "bio_policy",
        "data_residency_mismatch",
        "insufficient_quota",
        "invalid_prompt",
        "invalid_request_error",
        "misalignment_policy_violation",
        "not_found_error",
        "permission_error",
        "request_too_large",
    }
)
# Under a status that may pass, the types above say nothing, but for these.
_SPENT: Final = frozenset({"billing_error", "insufficient_quota"})


class _Client(Protocol):
    @property
    def max_retries(self) -> int: ...

    def with_options(self, *, max_retries: int) -> Self: ...


ClientT = TypeVar("ClientT", bound=_Client)


@runtime_checkable
class _Headers(Protocol):
    def get(self, name: str, /) -> str | None: ...


def without_retries(client: ClientT) -> ClientT:
    """The client with its own retries off: how often something is tried is the loop's affair."""
    return client if client.max_retries == 0 else client.with_options(max_retries=0)


def before_stream(error: Exception) -> Failed:
    """No response began: there is an error status, or not even that.

    Which statuses are worth another request is for the run's `Retries` to say.
    """
    exchange.failed(error)
    status = fields.number(error, "status_code")
    if status is None:
        return Failed(_words(error), retryable=True)
    headers = _headers(error)
    word = headers.get("x-should-retry")
    is_spent = not _SPENT.isdisjoint(_kinds(_reported(error)))
    return Failed(
        _words(error),
        retryable=word == "true" or not (word == "false" or is_spent),
        status=status,
        invited=word == "true",
        retry_after=retry_after(headers.get),
    )


def unreadable(error: Exception) -> Failed:
    """A whole response came and cannot be read."""
    exchange.failed(error)
    return Failed(_words(error), retryable=True)


def inside_stream(error: Exception) -> Failed:
    """The response began and broke off, or the service reported an error in the midst of it.

    Nothing of it was executed, so the request may be repeated.
    """
    exchange.failed(error)
    return reported(_reported(error), otherwise=_words(error))


def reported(error: object, *, otherwise: str) -> Failed:
    """An error that the service reported as an object with message, type and code."""
    message = fields.text(error, "message") or otherwise
    return Failed(message, retryable=PERMANENT.isdisjoint(_kinds(error)))


def _reported(error: Exception) -> object:
    body = fields.value(error, "body")
    return fields.value(body, "error") or body


def _kinds(error: object) -> set[str]:
    return {fields.text(error, "type"), fields.text(error, "code")}


def _headers(error: Exception) -> _Headers:
    headers = fields.value(fields.value(error, "response"), "headers")
    return headers if isinstance(headers, _Headers) else {}


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
