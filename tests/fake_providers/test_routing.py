"""Which service a request is for."""

from __future__ import annotations

import pytest

from loopcheck.fake_providers.routing import spoken
from loopcheck.fake_providers.wire import HttpRequest


@pytest.mark.parametrize(
    ("method", "path", "headers", "name"),
    [
        ("POST", "/v1/messages", {}, "messages"),
        ("GET", "/v1/messages", {"authorization": "Bearer k"}, "messages"),
        ("PUT", "/v1/responses", {"authorization": "Bearer k"}, "responses"),
        ("PUT", "/v1/responses", {"anthropic-version": "2023-06-01"}, "responses"),
        ("GET", "/v1/chat/completions", {}, "chat"),
        ("GET", "/v1/models", {"authorization": "Bearer k"}, "responses"),
        ("GET", "/v1/models", {"x-api-key": "k"}, "messages"),
        ("POST", "/v1/messages/count_tokens", {}, "messages"),
        ("POST", "/v1/embeddings", {"authorization": "Bearer k"}, "chat"),
        ("POST", "/v1/embeddings", {"anthropic-version": "2026-10-21"}, "messages"),
    ],
)
def test_a_request_is_answered_by_the_service_whose_words_it_understands(
    method: str, path: str, headers: dict[str, str], name: str
) -> None:
    asked = HttpRequest(method=method, path=path, headers=headers, body=b"")
    assert spoken(asked) == name
