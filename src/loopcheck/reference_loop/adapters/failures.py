"""What an exception of an SDK means for the run."""

from __future__ import annotations

from typing import Final

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.events import Failed

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


def before_stream(error: Exception) -> Failed:
    """No response began. The SDK's client has already tried again what was worth it."""
    return Failed(_words(error), retryable=False)


def unreadable(error: Exception) -> Failed:
    """A whole response came and cannot be read; the client does not try that again."""
    return Failed(_words(error), retryable=True)


def inside_stream(error: Exception) -> Failed:
    """The response began and broke off, or the service reported an error in the midst of it.

    Nothing of it was executed, so the request may be repeated.
    """
    body = fields.value(error, "body")
    return reported(fields.value(body, "error") or body, otherwise=_words(error))


def reported(error: object, *, otherwise: str) -> Failed:
    """An error that the service reported as an object with message, type and code."""
    words = {fields.text(error, "type"), fields.text(error, "code")}
    message = fields.text(error, "message") or otherwise
    return Failed(message, retryable=words.isdisjoint(PERMANENT))


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
