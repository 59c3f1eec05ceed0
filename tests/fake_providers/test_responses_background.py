"""Responses in the background, as the official client meets them."""

from __future__ import annotations

import contextlib

import openai
import pytest
from live_service import openai_client, scripted
from openai.types.responses import Response, ResponseFunctionToolCall

from loopcheck.fake_providers.script import Attempt, Call, Fault, Place, Say, answer

TEXT = answer([Say("The seat is booked, and the bill is on its way.")])
CALL = answer([Call(label="book", tool="book", arguments='{"seat":12}')])
CUT = Attempt(
    content=TEXT.content, fault=Fault(kind="eof", at=Place(inside="say", after="The seat is"))
)
WIRE_CUTS = ("eof", "half-chunk", "reset")


def begun(client: openai.OpenAI, **more: object) -> Response:
    extra = {"background": True, **more}
    return client.responses.create(model="gpt-4.1", input="Book it.", extra_body=extra)


def bare(response: Response) -> tuple[object, ...]:
    return response.status, response.output, response.usage, response.background


def test_the_second_look_finds_the_end() -> None:
    with openai_client(scripted("responses", [CALL])) as client:
        first = begun(client)
        looks = [client.responses.retrieve(first.id) for _ in range(3)]
    assert bare(first) == ("queued", [], None, True)
    assert bare(looks[0]) == ("in_progress", [], None, True)
    assert [look.status for look in looks[1:]] == ["completed", "completed"]
    (call,) = looks[2].output
    assert isinstance(call, ResponseFunctionToolCall)
    assert call.arguments == '{"seat":12}'
    assert looks[2].usage is not None
    assert {look.id for look in looks} == {first.id}


def test_each_response_has_looks_of_its_own() -> None:
    with openai_client(scripted("responses", [TEXT])) as client:
        one, two = begun(client), begun(client)
        seen = [client.responses.retrieve(r.id).status for r in (one, two, one, two)]
    assert seen == ["in_progress", "in_progress", "completed", "completed"]


def test_a_cut_response_ends_as_incomplete() -> None:
    with openai_client(scripted("responses", [answer([Say("The")], stop="length")])) as client:
        named = begun(client).id
        first, last = (client.responses.retrieve(named) for _ in range(2))
    assert (first.incomplete_details, first.status) == (None, "in_progress")
    assert last.status == "incomplete"
    assert last.incomplete_details is not None


def test_what_is_not_stored_can_be_looked_at_all_the_same() -> None:
    with openai_client(scripted("responses", [TEXT])) as client:
        named = begun(client, store=False).id
        assert client.responses.retrieve(named).status == "in_progress"
        assert client.responses.retrieve(named).to_dict()["store"] is False
        with pytest.raises(openai.BadRequestError) as caught:
            client.responses.create(model="gpt-4.1", input="And?", previous_response_id=named)
    assert caught.value.code == "previous_response_not_found"


def test_its_calls_are_answered_like_any() -> None:
    with openai_client(scripted("responses", [CALL, TEXT])) as client:
        named = begun(client).id
        done = [client.responses.retrieve(named) for _ in range(2)][1]
        (call,) = done.output
        assert isinstance(call, ResponseFunctionToolCall)
        told = client.responses.create(
            model="gpt-4.1",
            previous_response_id=named,
            input=[{"type": "function_call_output", "call_id": call.call_id, "output": "ok"}],
        )
    assert told.output_text == TEXT.text


class TestCancelling:
    def test_what_is_not_over_ends_as_cancelled(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = begun(client).id
            client.responses.retrieve(named)
            cancelled = client.responses.cancel(named)
            again = client.responses.cancel(named)
            later = client.responses.retrieve(named)
        assert bare(cancelled) == ("cancelled", [], None, True)
        assert cancelled == again == later

    def test_what_is_over_stays_as_it_is(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = begun(client).id
            done = [client.responses.retrieve(named) for _ in range(2)][1]
            assert client.responses.cancel(named) == done
            assert done.output_text == TEXT.text

    def test_what_was_answered_at_once(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.responses.create(model="gpt-4.1", input="Go.").id
            with pytest.raises(openai.BadRequestError, match="Cannot cancel a synchronous"):
                client.responses.cancel(named)
            with pytest.raises(openai.NotFoundError):
                client.responses.cancel("resp_never")

    def test_the_conversation_is_left_without_its_output(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.conversations.create().id
            client.responses.cancel(begun(client, conversation=named).id)
            held = client.conversations.items.list(named).data
        assert [item.type for item in held] == ["message"]


class TestStreams:
    def test_it_waits_its_turn_first(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            events = list(
                client.responses.create(
                    model="gpt-4.1", input="Book it.", background=True, stream=True
                )
            )
        kinds = ["response.created", "response.queued", "response.in_progress"]
        assert [event.type for event in events[:3]] == kinds
        told = [event.to_dict().get("response") for event in events]
        states = [response["status"] for response in told if isinstance(response, dict)]
        assert states == ["queued", "queued", "in_progress", "completed"]
        numbers = [getattr(event, "sequence_number", None) for event in events]
        assert numbers == list(range(len(events)))

    def test_who_was_given_the_stream_need_not_look_twice(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            with client.responses.stream(model="gpt-4.1", input="Go.", background=True) as stream:
                done = stream.get_final_response()
            assert client.responses.retrieve(done.id).output_text == TEXT.text

    def test_it_is_taken_up_where_it_broke(self) -> None:
        with openai_client(scripted("responses", [CUT])) as client:
            sent = list(
                client.responses.create(
                    model="gpt-4.1", input="Book it.", background=True, stream=True
                )
            )
            assert sent[0].type == "response.created"
            named = sent[0].response.id
            rest = list(
                client.responses.retrieve(
                    named, stream=True, starting_after=sent[-1].sequence_number
                )
            )
            whole = list(client.responses.retrieve(named, stream=True))
        assert sent + rest == whole
        said = [event.delta for event in whole if event.type == "response.output_text.delta"]
        assert "".join(said) == TEXT.text
        assert rest[-1].type == "response.completed"

    @pytest.mark.parametrize("kind", WIRE_CUTS)
    def test_a_broken_response_goes_on_without_its_client(self, kind: str) -> None:
        fault = Fault(kind=kind, at=Place(frame=4))  # type: ignore[arg-type]
        attempt = Attempt(content=CALL.content, stop="calls", fault=fault)
        with openai_client(scripted("responses", [attempt])) as client:
            named = ""
            with contextlib.suppress(openai.APIConnectionError):
                for event in client.responses.create(
                    model="gpt-4.1", input="Book it.", background=True, stream=True
                ):
                    named = event.response.id if event.type == "response.created" else named
            (call,) = client.responses.retrieve(named).output
        assert isinstance(call, ResponseFunctionToolCall)

    def test_the_helper_of_the_client_takes_it_up(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            with client.responses.stream(model="gpt-4.1", input="Go.", background=True) as stream:
                named = stream.get_final_response().id
            with client.responses.stream(response_id=named, starting_after=4) as stream:
                numbers = [event.sequence_number for event in stream]
        assert numbers[0] == 5

    def test_padding_can_be_left_out(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            with client.responses.stream(model="gpt-4.1", input="Go.", background=True) as stream:
                named = stream.get_final_response().id
            padded, plain = (
                list(client.responses.retrieve(named, stream=True, include_obfuscation=wanted))
                for wanted in (True, False)
            )
        for events, has_padding in ((padded, True), (plain, False)):
            deltas = [event for event in events if event.type == "response.output_text.delta"]
            assert all(("obfuscation" in delta.to_dict()) is has_padding for delta in deltas)

    @pytest.mark.parametrize(
        ("options", "wanting"), [({}, "background=true"), ({"background": True}, "stream=true")]
    )
    def test_what_was_made_without_a_stream_has_none(
        self, options: dict[str, bool], wanting: str
    ) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            made = client.responses.create(model="gpt-4.1", input="Go.", extra_body=options)
            with pytest.raises(openai.BadRequestError) as caught:
                client.responses.retrieve(made.id, stream=True)
        assert caught.value.body == {
            "message": "This response cannot be streamed because it was not created with "
            f"{wanting}.",
            "type": "invalid_request_error",
            "param": "stream",
            "code": "invalid_request_error",
        }

    def test_what_is_not_stored_is_not_found(self) -> None:
        with (
            openai_client(scripted("responses", [TEXT])) as client,
            pytest.raises(openai.NotFoundError),
        ):
            client.responses.retrieve("resp_never", stream=True)

    def test_a_place_that_is_no_number(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            with client.responses.stream(model="gpt-4.1", input="Go.", background=True) as stream:
                named = stream.get_final_response().id
            with pytest.raises(openai.BadRequestError) as caught:
                client.responses.retrieve(
                    named, stream=True, extra_query={"starting_after": "the end"}
                )
        assert caught.value.param == "starting_after"


def test_a_server_for_ever_forgets_the_oldest() -> None:
    with openai_client(scripted("responses", [TEXT], keep=1)) as client:
        first, second = begun(client).id, begun(client).id
        assert client.responses.retrieve(second).status == "in_progress"
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(first)
