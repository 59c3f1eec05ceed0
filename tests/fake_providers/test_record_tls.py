"""Recording what comes encrypted, with the official clients."""

from __future__ import annotations

from pathlib import Path

import anthropic
import httpx2
import openai
import pytest
from improvised import PATHS, auto, question
from test_record import HEADERS, improvising, recording
from tls_service import encrypted

from loopcheck.fake_providers.recordings import read_all


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "recordings"
    made.mkdir()
    return made


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return tmp_path / "service.pem"


@pytest.mark.parametrize("stream", [False, True])
def test_an_encrypted_service_is_recorded(
    folder: Path, certificate: Path, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        encrypted(improvising(), certificate) as service,
        recording(f"{service}/v1", folder) as url,
        openai.OpenAI(api_key="sk-very-own-key", base_url=f"{url}/v1", max_retries=0) as client,
    ):
        if stream:
            with client.responses.stream(model="gpt-4.1", input="Hello there") as events:
                said = events.get_final_response().output_text
        else:
            said = client.responses.create(model="gpt-4.1", input="Hello there").output_text
    assert said.startswith('You said "Hello there".')
    (kept,) = read_all([folder])
    assert (kept.protocol, kept.stream, kept.status) == ("responses", stream, 200)


def test_several_requests_over_connections_that_stay_open(
    folder: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        encrypted(improvising(), certificate) as service,
        recording(service, folder) as url,
        anthropic.Anthropic(api_key="sk-very-own-key", base_url=url, max_retries=0) as client,
    ):
        for _ in range(3):
            client.messages.create(
                model="claude-sonnet-5",
                max_tokens=99,
                messages=[{"role": "user", "content": "Hello"}],
            )
    assert [kept.protocol for kept in read_all([folder])] == ["messages"] * 3


def test_a_service_that_is_not_trusted_is_not_asked(folder: Path, certificate: Path) -> None:
    with (
        encrypted(auto("chat").handle, certificate) as service,
        recording(service, folder) as url,
    ):
        reply = httpx2.post(url + PATHS["chat"], json=question("chat"), headers=HEADERS)
    assert reply.status_code == 502
    message = reply.json()["error"]["message"]
    assert message.startswith("127.0.0.1 is not trusted: ")
    assert "SSL_CERT_FILE" in message
    assert not list(folder.iterdir())
