"""The official client, which gets a rendered response, write by write."""

from __future__ import annotations

import anthropic
import httpx2
from anthropic.types.beta import BetaMessage

from loopcheck.fake_providers.faults import Rendered


def client(response: Rendered) -> anthropic.Anthropic:
    """The official client, which gets this response, write by write."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(
            response.status, headers=list(response.headers), content=iter(response.segments)
        )

    transport = httpx2.MockTransport(respond)
    return anthropic.Anthropic(
        api_key="test", max_retries=0, http_client=httpx2.Client(transport=transport)
    )


def streamed(response: Rendered) -> BetaMessage:
    with (
        client(response) as sdk,
        sdk.beta.messages.stream(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
        ) as stream,
    ):
        return stream.get_final_message()


def created(response: Rendered) -> BetaMessage:
    with client(response) as sdk:
        return sdk.beta.messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
        )
