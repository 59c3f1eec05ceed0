"""What an HTTP response means for a tool call.

For a write, the question is whether anything was done. A response that says so is believed; where
none does, the outcome is unknown, and the loop finds out instead of trying again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from loopcheck.reference_loop.adapters.retry_after import retry_after
from loopcheck.reference_loop.tool_sources.problem_details import described
from loopcheck.reference_loop.tools import ToolFailure

# The request was not taken up, and may be later.
_NOT_NOW: Final = frozenset({408, 425, 429})
# A read may go better after these.
_MAY_PASS: Final = _NOT_NOW | {500, 502, 503, 504}
# The server would have the same request at another address, so it did nothing at this one.
_NOT_HERE: Final = frozenset({307, 308})


class OutcomeUnknownError(Exception):
    """A write was sent, and nothing says whether it took effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A response. `body` is None where it has more bytes than a result may have."""

    kind: Literal["read", "write"]
    request: str
    status: int
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def result(received: Received, *, now: Callable[[], float]) -> str:
    """The text for the model. Raises ToolFailure where nothing was done, and OutcomeUnknownError
    where a write may have been."""
    if 200 <= received.status < 300:
        return _success(received)
    raise _failure(received, now)


def _success(received: Received) -> str:
    if received.body is None:
        return _unreadable(received, "response_too_large", "it has more bytes than are read")
    if not received.body:
        return json.dumps({"status": received.status})
    text = _text(received, received.body)
    if text is None:
        kind = received.media_type or "no content type"
        return _unreadable(received, "response_not_text", f"it is not text ({kind})")
    return _as_success(text, received.status)


def _unreadable(received: Received, code: str, why: str) -> str:
    message = f"{received.request} succeeded ({received.status}), but {why}."
    if received.kind == "read":
        raise ToolFailure(code, message)
    # It was done: said as an error, it would be asked for again.
    return json.dumps({"status": received.status, "note": message})


def _as_success(text: str, status: int) -> str:
    """The text as it came, unless it could be taken for an error by a member that says none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict) and "error" in value and not value["error"]:
        return json.dumps({"status": status, "body": value}, ensure_ascii=False)
    return text


def _text(received: Received, body: bytes) -> str | None:
    media_type = received.media_type
    is_json = media_type == "application/json" or media_type.endswith("+json")
    if media_type and not is_json and not media_type.startswith("text/"):
        return None
    try:
        return body.decode("utf-8" if is_json else _charset(received))
    except (UnicodeDecodeError, LookupError):
        return None


def _charset(received: Received) -> str:
    for parameter in received.headers.get("content-type", "").split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"')
    return "utf-8"


def _failure(received: Received, now: Callable[[], float]) -> Exception:
    status, is_write = received.status, received.kind == "write"
    code, message = described(status, received.media_type, _error_text(received))
    wait = retry_after(received.headers.get, now=now)
    if is_write and not _did_nothing(status, asks_to_wait="retry-after" in received.headers):
        return OutcomeUnknownError(f"{received.request}: {message}")
    return ToolFailure(
        code,
        message,
        retryable=status in (_NOT_NOW | {503} if is_write else _MAY_PASS),
        retry_after=wait,
    )


def _did_nothing(status: int, *, asks_to_wait: bool) -> bool:
    """Whether an error status says that the request was not carried out. A server that says when
    to come again has declined it; any other 503 may be a proxy that lost the server."""
    return 400 <= status < 500 or status in _NOT_HERE or (status == 503 and asks_to_wait)


def _error_text(received: Received) -> str:
    return (received.body or b"").decode("utf-8", "replace")


def unreachable(request: str, why: str) -> NoReturn:
    """The request was never sent."""
    raise ToolFailure("unreachable", f"{request}: {why}", retryable=True)


def interrupted(kind: Literal["read", "write"], request: str, why: str) -> NoReturn:
    """The request was sent, at least in part, and no whole response came."""
    if kind == "write":
        raise OutcomeUnknownError(f"{request}: {why}")
    raise ToolFailure("no_response", f"{request}: {why}", retryable=True)
