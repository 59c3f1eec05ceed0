"""The bare fake of the `loopcheck_provider` fixture, asked by the official SDKs."""

from __future__ import annotations

import os

import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

import loopcheck
from loopcheck.fake_providers.script import Content
from loopcheck.harness.fake import FakeProvider
from loopcheck.harness.providing import Providing

QUESTION = {"role": "user", "content": "Where is A-1?"}
TURNS: tuple[Content | list[Content], ...] = (
    [loopcheck.say("Let me see."), loopcheck.call("get_order", {"id": "A-1"}, label="order")],
    loopcheck.say("It has shipped."),
)
RESULT = '{"status": "shipped"}'


@pytest.fixture
def fake(loopcheck_provider: Providing) -> FakeProvider:
    return loopcheck_provider.turns(*TURNS)


def test_chat_completions(fake: FakeProvider) -> None:
    with fake.environ(), OpenAI() as client:
        chat = client.chat.completions
        first = chat.create(model="gpt-4o", messages=[QUESTION])  # type: ignore[list-item]
        message = first.choices[0].message
        assert message.content == "Let me see."
        assert message.tool_calls is not None
        call = message.tool_calls[0]
        answer = {"role": "tool", "tool_call_id": call.id, "content": RESULT}
        second = chat.create(model="gpt-4o", messages=[QUESTION, message, answer])  # type: ignore[list-item]
    assert second.choices[0].message.content == "It has shipped."
    assert fake.requests[0].body["messages"] == [QUESTION]  # type: ignore[index]
    assert fake.requests[1].result("order") == RESULT


async def messages_once(client: AsyncAnthropic, messages: list[object]) -> object:
    async with client.messages.stream(
        model="claude-sonnet-4-6",
        max_tokens=100,
        messages=messages,  # type: ignore[arg-type]
    ) as stream:
        return await stream.get_final_message()


@pytest.mark.asyncio
async def test_messages_streamed_in_an_async_test(fake: FakeProvider) -> None:
    with fake.environ():
        client = AsyncAnthropic()
    async with client:
        first = await messages_once(client, [QUESTION])
        content = first.content  # type: ignore[attr-defined]
        assert [block.type for block in content] == ["text", "tool_use"]
        assert content[1].input == {"id": "A-1"}
        answer = {"type": "tool_result", "tool_use_id": content[1].id, "content": RESULT}
        history = [
            QUESTION,
            {"role": "assistant", "content": [block.model_dump() for block in content]},
            {"role": "user", "content": [answer]},
        ]
        second = await messages_once(client, history)
    assert second.content[0].text == "It has shipped."  # type: ignore[attr-defined]
    assert fake.requests[1].result("order") == RESULT


@pytest.mark.asyncio
async def test_responses_in_an_async_test(fake: FakeProvider) -> None:
    async with AsyncOpenAI(base_url=fake.base_url("responses"), api_key="any") as client:
        first = await client.responses.create(model="gpt-4o", input="Where is A-1?")
        call = first.output[1]
        assert call.type == "function_call"
        answer = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
        second = await client.responses.create(
            model="gpt-4o",
            previous_response_id=first.id,
            input=[answer],  # type: ignore[list-item]
        )
    assert second.output_text == "It has shipped."
    assert fake.requests[1].result("order") == RESULT


def test_a_request_beyond_the_turns_is_answered(loopcheck_provider: Providing) -> None:
    fake = loopcheck_provider.turns()
    with fake.environ(), Anthropic() as client:
        said = client.messages.create(
            model="claude-sonnet-4-6",
            max_tokens=100,
            messages=[QUESTION],  # type: ignore[list-item]
        )
    assert said.content[0].text == "Finished."  # type: ignore[union-attr]


def test_two_fakes_of_one_test_are_two_providers(loopcheck_provider: Providing) -> None:
    said = []
    for text in ("one", "two"):
        fake = loopcheck_provider.turns(loopcheck.say(text))
        with fake.environ(), OpenAI() as client:
            first = client.responses.create(model="gpt-4o", input="Which?")
            said.append((first.output_text, len(fake.requests)))
    assert said == [("one", 1), ("two", 1)]


def test_environ_gives_back_what_was_set_before(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    before = dict(os.environ)
    with fake.environ():
        assert os.environ["OPENAI_BASE_URL"] == fake.base_url("chat")
        assert os.environ["ANTHROPIC_BASE_URL"] == fake.base_url("messages")
        assert os.environ["OPENAI_API_KEY"] != "mine"
    assert dict(os.environ) == before


def test_a_result_that_is_not_held_is_named_beside_those_that_are(fake: FakeProvider) -> None:
    with fake.environ(), OpenAI() as client:
        client.responses.create(model="gpt-4o", input="Where is A-1?")
    with pytest.raises(KeyError, match=r"no result of 'order' in this request; it holds \[\]"):
        fake.requests[0].result("order")


@pytest.mark.parametrize("turn", ["Hello.", None, [], ["Hello."]])
def test_what_is_no_turn_is_refused(loopcheck_provider: Providing, turn: object) -> None:
    with pytest.raises(TypeError, match=r"turn 2 is loopcheck\.say\(\.\.\.\), call"):
        loopcheck_provider.turns(loopcheck.say("a"), turn)  # type: ignore[arg-type]


def test_two_calls_of_one_turn_have_labels_of_their_own(loopcheck_provider: Providing) -> None:
    twice = [loopcheck.call("find", {"id": 1}), loopcheck.call("find", {"id": 2})]
    with pytest.raises(ValueError, match="two calls of turn 1 have the label 'find'"):
        loopcheck_provider.turns(twice)


def test_a_refusal_is_a_turn(loopcheck_provider: Providing) -> None:
    fake = loopcheck_provider.turns(loopcheck.refuse("No."))
    with fake.environ(), OpenAI() as client:
        said = client.chat.completions.create(model="gpt-4o", messages=[QUESTION])  # type: ignore[list-item]
    assert said.choices[0].message.refusal == "No."


def test_a_fake_answers_for_the_real_service_in_process(
    loopcheck_provider: Providing,
) -> None:
    fake = loopcheck_provider.turns(loopcheck.say("Hello."))
    with fake.in_process(), OpenAI(api_key="k") as client:
        completion = client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hi."}]
        )
    assert completion.choices[0].message.content == "Hello."
    assert len(fake.requests) == 1
