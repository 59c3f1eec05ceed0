"""Stored items as the official client pages through them, and conversations that it changes."""

from __future__ import annotations

import openai
import pytest
from live_service import openai_client, scripted
from openai.types.conversations.message import Message
from openai.types.responses import ResponseFunctionToolCall, ResponseInputParam

from loopcheck.fake_providers.script import Call, Say, answer

TEXT = answer([Say("Seat 12 is booked.")])
CALL = answer([Call(label="book", tool="book", arguments='{"seat":12}')])
MANY: ResponseInputParam = [{"role": "user", "content": f"Line {number}"} for number in range(25)]


def lines(item: object) -> list[str]:
    content = getattr(item, "content", [])
    return [part.text for part in content]


class TestInputItems:
    def test_they_come_page_by_page_from_the_last_one_on(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.responses.create(model="gpt-4.1", input=MANY).id
            first = client.responses.input_items.list(named)
            listed = [text for item in first for text in lines(item)]
        assert (len(first.data), first.has_more) == (20, True)
        assert listed == [f"Line {number}" for number in reversed(range(25))]

    def test_order_and_size_can_be_chosen(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.responses.create(model="gpt-4.1", input=MANY).id
            listing = client.responses.input_items.list
            page = listing(named, order="asc", limit=2)
            behind = listing(named, order="asc", limit=2, after=str(page.data[1].id))
            last = listing(named, order="asc", limit=100, after=str(behind.data[1].id))
        shown = [[text for item in one.data for text in lines(item)] for one in (page, behind)]
        assert shown == [["Line 0", "Line 1"], ["Line 2", "Line 3"]]
        assert (len(last.data), last.has_more) == (21, False)

    def test_all_that_led_to_the_response_is_there_and_nothing_of_itself(self) -> None:
        with openai_client(scripted("responses", [CALL, TEXT])) as client:
            first = client.responses.create(model="gpt-4.1", input="Book it.")
            (call,) = first.output
            assert isinstance(call, ResponseFunctionToolCall)
            second = client.responses.create(
                model="gpt-4.1",
                previous_response_id=first.id,
                input=[{"type": "function_call_output", "call_id": call.call_id, "output": "ok"}],
            )
            held = client.responses.input_items.list(second.id, order="asc").data
        assert [item.type for item in held] == ["message", "function_call", "function_call_output"]
        assert held[1].id == call.id
        assert [str(item.id).partition("_")[0] for item in held] == ["msg", "fc", "fco"]
        assert [item.to_dict()["status"] for item in held] == ["completed"] * 3

    @pytest.mark.parametrize(
        ("query", "param", "code"),
        [
            ({"limit": 0}, "limit", "integer_below_min_value"),
            ({"limit": 101}, "limit", "integer_above_max_value"),
            ({"limit": "few"}, "limit", "invalid_type"),
            ({"order": "up"}, "order", "invalid_value"),
            ({"after": "msg_never"}, "after", None),
        ],
    )
    def test_what_no_page_is(self, query: dict[str, object], param: str, code: str | None) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.responses.create(model="gpt-4.1", input="Go.").id
            with pytest.raises(openai.BadRequestError) as caught:
                client.responses.input_items.list(named, extra_query=query)
        assert (caught.value.param, caught.value.code) == (param, code)

    def test_those_of_a_response_that_is_gone(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.responses.create(model="gpt-4.1", input="Go.").id
            client.responses.delete(named)
            with pytest.raises(openai.NotFoundError):
                client.responses.input_items.list(named)


class TestConversations:
    def test_metadata_can_be_changed(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.conversations.create(metadata={"topic": "seats"}).id
            changed = client.conversations.update(named, metadata={"topic": "trains"})
            assert client.conversations.retrieve(named) == changed
        assert changed.metadata == {"topic": "trains"}

    def test_turns_and_added_items_are_listed(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.conversations.create(items=[{"role": "user", "content": "Hello"}]).id
            added = client.conversations.items.create(
                named, items=[{"role": "developer", "content": "Be brief."}]
            )
            client.responses.create(model="gpt-4.1", input="Book it.", conversation=named)
            held = client.conversations.items.list(named, order="asc").data
        assert [lines(item) for item in held] == [
            ["Hello"],
            ["Be brief."],
            ["Book it."],
            ["Seat 12 is booked."],
        ]
        assert all(isinstance(item, Message) for item in held)
        assert added.data == [held[1]]
        assert (added.first_id, added.last_id, added.has_more) == (held[1].id, held[1].id, False)

    def test_an_item_keeps_its_id_as_long_as_it_is_there(self) -> None:
        same: ResponseInputParam = [{"role": "user", "content": "Again"}] * 2
        with openai_client(scripted("responses", [TEXT])) as client:
            items = client.conversations.items
            named = client.conversations.create(items=same).id
            first, second = (item.id for item in items.list(named, order="asc").data)
            assert first is not None
            assert second is not None
            assert first != second
            assert items.retrieve(second, conversation_id=named).id == second
            left = items.delete(second, conversation_id=named)
            assert left.id == named
            assert [item.id for item in items.list(named).data] == [first]
            for gone in (
                lambda: items.retrieve(second, conversation_id=named),
                lambda: items.delete(second, conversation_id=named),
            ):
                with pytest.raises(openai.NotFoundError):
                    gone()

    def test_an_item_that_was_listed_can_be_named(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.conversations.create(items=[{"role": "user", "content": "Hello"}]).id
            (item,) = client.conversations.items.list(named).data
            told = client.responses.create(
                model="gpt-4.1", input=[{"type": "item_reference", "id": str(item.id)}]
            )
            heard = client.responses.input_items.list(told.id).data
        assert [lines(item) for item in heard] == [["Hello"]]

    def test_too_many_at_once(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.conversations.create().id
            with pytest.raises(openai.BadRequestError) as caught:
                client.conversations.items.create(named, items=MANY)
        assert caught.value.code == "array_above_max_length"

    @pytest.mark.parametrize("path", ["", "/items"])
    def test_what_a_change_needs(self, path: str) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.conversations.create().id
            with pytest.raises(openai.BadRequestError) as caught:
                client.post(f"/conversations/{named}{path}", body={}, cast_to=object)
        assert caught.value.code == "missing_required_parameter"

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("get", ""),
            ("post", ""),
            ("delete", ""),
            ("get", "/items"),
            ("post", "/items"),
            ("get", "/items/msg_1"),
            ("delete", "/items/msg_1"),
        ],
    )
    def test_one_that_nobody_began(self, method: str, path: str) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            request = getattr(client, method)
            with pytest.raises(openai.NotFoundError, match="Conversation with id 'conv_x'"):
                request(f"/conversations/conv_x{path}", cast_to=object)

    def test_an_empty_one(self) -> None:
        with openai_client(scripted("responses", [TEXT])) as client:
            named = client.conversations.create().id
            page = client.conversations.items.list(named)
        assert (page.data, page.has_more) == ([], False)


class TestCompaction:
    def test_what_the_user_said_stays_and_the_rest_is_sealed(self) -> None:
        with openai_client(scripted("responses", [CALL, TEXT])) as client:
            first = client.responses.create(model="gpt-4.1", input="Book it.")
            (call,) = first.output
            assert isinstance(call, ResponseFunctionToolCall)
            short = client.responses.compact(
                model="gpt-4.1",
                previous_response_id=first.id,
                input=[{"type": "function_call_output", "call_id": call.call_id, "output": "ok"}],
            )
        assert (short.object, short.id[:5]) == ("response.compaction", "resp_")
        said, sealed = (item.to_dict(warnings=False) for item in short.output)
        assert (said["role"], said["content"]) == (
            "user",
            [{"type": "input_text", "text": "Book it."}],
        )
        assert set(sealed) == {"id", "type", "encrypted_content"}
        assert str(sealed["id"]).startswith("cmp_")
        assert "ok" not in str(sealed["encrypted_content"])

    def test_the_conversation_goes_on_from_it(self) -> None:
        with openai_client(scripted("responses", [CALL, TEXT])) as client:
            first = client.responses.create(model="gpt-4.1", input="Book it.")
            (call,) = first.output
            assert isinstance(call, ResponseFunctionToolCall)
            short = client.responses.compact(
                model="gpt-4.1",
                previous_response_id=first.id,
                input=[{"type": "function_call_output", "call_id": call.call_id, "output": "ok"}],
            )
            sent = [item.to_dict(warnings=False) for item in short.output]
            told = client.responses.create(
                model="gpt-4.1",
                input=[*sent, {"role": "user", "content": "And?"}],  # type: ignore[list-item]
            )
            heard = client.responses.input_items.list(told.id, order="asc").data
        assert told.output_text == TEXT.text
        assert [item.type for item in heard] == [
            "function_call",
            "function_call_output",
            "message",
            "compaction",
            "message",
        ]

    def test_an_open_call_stays_open(self) -> None:
        with openai_client(scripted("responses", [CALL, TEXT])) as client:
            first = client.responses.create(model="gpt-4.1", input="Book it.")
            short = client.responses.compact(model="gpt-4.1", previous_response_id=first.id)
            with pytest.raises(openai.BadRequestError, match="No tool output found"):
                client.responses.create(
                    model="gpt-4.1",
                    input=[item.to_dict(warnings=False) for item in short.output],  # type: ignore[misc]
                )

    def test_it_needs_a_conversation(self) -> None:
        with (
            openai_client(scripted("responses", [TEXT])) as client,
            pytest.raises(openai.BadRequestError) as caught,
        ):
            client.responses.compact(model="gpt-4.1")
        assert caught.value.param == "input"
