"""Parameters beyond their bounds, as the official clients learn of them."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest
from live_service import anthropic_client, improvising, openai_client

SAID: Any = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"n": 0}, "integer_below_min_value"),
        ({"n": 200}, "integer_above_max_value"),
        ({"max_tokens": 0}, "integer_below_min_value"),
        ({"temperature": 2.1}, "decimal_above_max_value"),
        ({"top_p": 1.1}, "decimal_above_max_value"),
        ({"stop": list("abcde")}, "array_above_max_length"),
        ({"metadata": {"k": "v" * 513}}, "string_above_max_length"),
        ({"top_logprobs": 3}, None),
    ],
)
def test_chat(options: dict[str, Any], code: str | None) -> None:
    with openai_client(improvising("chat")) as client:
        create = client.chat.completions.create
        with pytest.raises(openai.BadRequestError) as caught:
            create(model="gpt-4.1", messages=SAID, **options)
        assert caught.value.code == code
        assert caught.value.param is not None
        assert len(create(model="gpt-4.1", messages=SAID, n=2).choices) == 2


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"temperature": -1}, "decimal_below_min_value"),
        ({"temperature": 2.1}, "decimal_above_max_value"),
        ({"top_logprobs": 21}, "integer_above_max_value"),
        ({"max_output_tokens": 15}, "integer_below_min_value"),
        (
            {"metadata": {str(number): "v" for number in range(17)}},
            "object_above_max_properties",
        ),
    ],
)
def test_responses(options: dict[str, Any], code: str) -> None:
    with openai_client(improvising("responses")) as client:
        with pytest.raises(openai.BadRequestError) as caught:
            client.responses.create(model="gpt-4.1", input="Hello", **options)
        assert caught.value.code == code


def test_messages() -> None:
    # Newer clients have no argument for it, and older API versions still take it.
    headers = {"anthropic-version": "2023-06-01"}
    with anthropic_client(improvising("messages"), **headers) as client:
        for beyond in ({"temperature": 1.5}, {"top_p": -0.1}):
            with pytest.raises(anthropic.BadRequestError, match=r"range: 0\.\.1"):
                client.messages.create(
                    model="claude-sonnet-5", max_tokens=9, messages=SAID, extra_body=beyond
                )
