"""Stored completions as the official client looks them up and changes them."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from live_service import openai_client, scripted
from openai.types.chat import ChatCompletion

from loopcheck.fake_providers.dialects.chat import DIALECT
from loopcheck.fake_providers.script import Call, Say, answer

TEXT = answer([Say("Seat 12 is booked.")])
CALL = answer([Call(label="book", tool="book", arguments='{"seat":12}')])


def kept(client: openai.OpenAI, words: str = "Book it.", **more: Any) -> ChatCompletion:
    made: ChatCompletion = client.chat.completions.create(
        model=more.pop("model", "gpt-4.1"),
        messages=[{"role": "user", "content": words}],
        store=True,
        **more,
    )
    return made


def test_it_is_what_was_answered_and_what_was_asked_for() -> None:
    with openai_client(scripted("chat", [CALL])) as client:
        made = kept(client, metadata={"topic": "seats"}, temperature=0.5, seed=7, user="u1")
        found = client.chat.completions.retrieve(made.id).to_dict()
    assert {**found, **made.to_dict()} == found
    extra = {key: found[key] for key in found.keys() - made.to_dict().keys()}
    assert extra == {
        "metadata": {"topic": "seats"},
        "input_user": "u1",
        "temperature": 0.5,
        "seed": 7,
        "top_p": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "tool_choice": None,
        "tools": None,
        "response_format": None,
    }


def test_one_that_was_streamed() -> None:
    with openai_client(scripted("chat", [TEXT])) as client:
        chunks = list(
            client.chat.completions.create(
                model="gpt-4.1",
                messages=[{"role": "user", "content": "Go."}],
                store=True,
                stream=True,
            )
        )
        found = client.chat.completions.retrieve(chunks[0].id)
    assert found.choices[0].message.content == TEXT.text


@pytest.mark.parametrize("options", [{}, {"store": False}])
def test_nothing_is_kept_unless_that_was_asked_for(options: dict[str, Any]) -> None:
    with openai_client(scripted("chat", [TEXT])) as client:
        made = client.chat.completions.create(
            model="gpt-4.1", messages=[{"role": "user", "content": "Go."}], **options
        )
        assert client.chat.completions.list().data == []
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.retrieve(made.id)


def test_lists_are_paged_from_the_first_one_on() -> None:
    with openai_client(scripted("chat", [TEXT])) as client:
        made = [kept(client, f"Seat {number}").id for number in range(5)]
        page = client.chat.completions.list(limit=2)
        assert [one.id for one in page] == made
        assert ([one.id for one in page.data], page.has_more) == (made[:2], True)
        newest = client.chat.completions.list(order="desc", limit=1)
        assert [one.id for one in newest.data] == made[-1:]


def test_lists_can_be_narrowed() -> None:
    with openai_client(scripted("chat", [TEXT])) as client:
        seat = kept(client, metadata={"topic": "seats", "who": "a"}).id
        train = kept(client, metadata={"topic": "trains", "who": "a"}, model="gpt-5.5").id
        kept(client)
        listing = client.chat.completions.list
        by_topic = [one.id for one in listing(metadata={"topic": "seats", "who": "a"})]
        by_model = [one.id for one in listing(model="gpt-5.5")]
        by_both = [one.id for one in listing(model="gpt-5.5", metadata={"topic": "seats"})]
    assert (by_topic, by_model, by_both) == ([seat], [train], [])


def test_its_messages_are_those_that_were_sent() -> None:
    with openai_client(scripted("chat", [TEXT])) as client:
        made = client.chat.completions.create(
            model="gpt-4.1",
            store=True,
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "user", "name": "ann", "content": [{"type": "text", "text": "Go."}]},
            ],
        )
        listing = client.chat.completions.messages.list
        page = listing(made.id, limit=1)
        shown = [message.to_dict() for message in page]
        newest = listing(made.id, order="desc", limit=1).data
    assert page.has_more is True
    assert shown == [
        {
            "id": f"{made.id}-0",
            "role": "system",
            "content": "Be brief.",
            "name": None,
            "content_parts": None,
        },
        {
            "id": f"{made.id}-1",
            "role": "user",
            "content": None,
            "name": "ann",
            "content_parts": [{"type": "text", "text": "Go."}],
        },
    ]
    assert [message.id for message in newest] == [f"{made.id}-1"]


def test_metadata_can_be_changed() -> None:
    with openai_client(scripted("chat", [TEXT])) as client:
        made = kept(client, metadata={"topic": "seats"})
        changed = client.chat.completions.update(made.id, metadata={"topic": "trains"})
        assert client.chat.completions.retrieve(made.id) == changed
        assert changed.to_dict()["metadata"] == {"topic": "trains"}
        assert client.chat.completions.list(metadata={"topic": "seats"}).data == []
        with pytest.raises(openai.BadRequestError) as caught:
            client.post(f"/chat/completions/{made.id}", body={}, cast_to=object)
    assert caught.value.code == "missing_required_parameter"


def test_it_can_be_deleted_once() -> None:
    with openai_client(scripted("chat", [TEXT])) as client:
        made = kept(client)
        gone = client.chat.completions.delete(made.id)
        assert gone.to_dict() == {
            "object": "chat.completion.deleted",
            "id": made.id,
            "deleted": True,
        }
        for again in (
            lambda: client.chat.completions.delete(made.id),
            lambda: client.chat.completions.update(made.id, metadata={}),
            lambda: client.chat.completions.messages.list(made.id),
        ):
            with pytest.raises(openai.NotFoundError):
                again()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/v1/chat/completions"),
        ("POST", "/v1/chat/completions/chatcmpl-1/messages"),
        ("PUT", "/v1/chat/completions/chatcmpl-1"),
    ],
)
def test_what_is_not_served(method: str, path: str) -> None:
    assert DIALECT.serves(method, path) is None
