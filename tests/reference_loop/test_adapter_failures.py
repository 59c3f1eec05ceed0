"""What errors of the SDKs mean, and how long services ask to wait."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2
import pytest
from anthropic import APIConnectionError as AnthropicConnectionError
from anthropic import AsyncAnthropic
from openai import APIStatusError, APITimeoutError, AsyncOpenAI

from loopcheck.reference_loop import Failed, Retries
from loopcheck.reference_loop.adapters import failures
from loopcheck.reference_loop.adapters.retry_after import retry_after

REQUEST = httpx2.Request("POST", "http://fake.invalid/v1")


def status_error(status: int, headers: Mapping[str, str], body: object = None) -> APIStatusError:
    response = httpx2.Response(status, headers=headers, request=REQUEST)
    return APIStatusError("Sorry.", response=response, body=body)


def waits(failed: Failed, retries: Retries | None = None) -> float | None:
    return (retries or Retries()).wait(failed, failures=1, spent=0)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 520, 529])
def test_statuses_that_may_pass(status: int) -> None:
    failed = failures.before_stream(status_error(status, {"retry-after-ms": "30"}))
    assert failed == Failed(
        "APIStatusError: Sorry.", retryable=True, status=status, retry_after=0.03
    )
    assert waits(failed) == 0.03


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 501])
def test_statuses_that_stay(status: int) -> None:
    assert waits(failures.before_stream(status_error(status, {}))) is None


def test_the_service_has_the_last_word() -> None:
    invited = failures.before_stream(status_error(400, {"x-should-retry": "true"}))
    assert waits(invited) == 0.5
    advised_against = failures.before_stream(status_error(500, {"x-should-retry": "false"}))
    assert waits(advised_against) is None
    unclear = failures.before_stream(status_error(400, {"x-should-retry": "TRUE"}))
    assert waits(unclear) is None


@pytest.mark.parametrize("body", [{"code": "insufficient_quota"}, {"type": "billing_error"}])
def test_what_has_to_be_paid_first_is_not_asked_again(body: Mapping[str, object]) -> None:
    assert waits(failures.before_stream(status_error(429, {}, body))) is None
    assert waits(failures.before_stream(status_error(429, {}, {"error": body}))) is None


def test_a_kind_of_error_says_nothing_against_its_status() -> None:
    body = {"type": "invalid_request_error", "code": "rate_limit_exceeded"}
    assert waits(failures.before_stream(status_error(429, {}, body))) == 0.5


@pytest.mark.parametrize(
    "error", [APITimeoutError(request=REQUEST), AnthropicConnectionError(request=REQUEST)]
)
def test_without_any_response_the_request_is_repeated(error: Exception) -> None:
    failed = failures.before_stream(error)
    assert (failed.retryable, failed.status) == (True, None)
    assert waits(failed) == 0.5


def test_a_wait_that_is_too_long_is_not_waited() -> None:
    failed = failures.before_stream(status_error(429, {"retry-after": "61"}))
    assert waits(failed) is None
    assert waits(failed, Retries(longest_seconds=61)) == 61


SENT = "Mon, 30 Nov 2026 12:00:00 GMT"
LATER = "Mon, 30 Nov 2026 12:00:07 GMT"
SENT_SECONDS = 1796040000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "5", "retry-after-ms": "100"}, 0.1),
        ({"retry-after": "5", "retry-after-ms": "soon"}, 5.0),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": LATER}, 6.5),
        ({"retry-after": LATER, "date": SENT}, 7.0),
        ({"retry-after": LATER, "date": "today"}, 6.5),
        ({"retry-after": SENT, "date": LATER}, None),
        ({"retry-after": "Mon, 30 Nov 99999 12:00:00 GMT"}, None),
    ],
)
def test_how_long_a_service_asks_to_wait(headers: Mapping[str, str], seconds: float | None) -> None:
    assert retry_after(headers.get, now=lambda: SENT_SECONDS + 0.5) == seconds


def test_only_a_client_with_retries_is_replaced() -> None:
    http = httpx2.AsyncClient()
    patient = AsyncOpenAI(api_key="sk-test", http_client=http)
    assert failures.without_retries(patient).max_retries == 0
    assert patient.max_retries == 2
    plain = AsyncAnthropic(api_key="sk-test", max_retries=0, http_client=http)
    assert failures.without_retries(plain) is plain
