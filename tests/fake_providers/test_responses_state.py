"""What the Responses service stores, and what it holds a client to because of that."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from openai_answers import answering, at, call, error, in_order, judged, refusal, reply, thought

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.kept import Kept
from loopcheck.fake_providers.dialects.responses import DIALECT
from loopcheck.fake_providers.provider import NOTHING, Provider
from loopcheck.fake_providers.script import Say, Script, Turn
from loopcheck.fake_providers.script import answer as say_answer
from loopcheck.fake_providers.wire import Answer, HttpRequest, JsonObject, Piece, ServiceError

USER: JsonObject = {"role": "user", "content": "Go."}
BOOK = call("responses", "book", "book", "{}")
THOUGHT = thought("Hm.")
TOLD: JsonObject = {"type": "function_call_output", "call_id": BOOK.call_id, "output": "done"}
CALL: JsonObject = {
    "type": "function_call",
    "call_id": BOOK.call_id,
    "name": "book",
    "arguments": "{}",
}


def body(*items: JsonObject, **more: object) -> JsonObject:
    return {"model": "gpt-4.1", "input": list(items), **more}


def told(memory: Memory, *pieces: Piece, **more: object) -> Answer:
    """An answer that was given, and is remembered."""
    answer = reply("responses", pieces, "calls", **more)
    DIALECT.remember(answer, memory)
    return answer


def output(answer: Answer) -> list[JsonObject]:
    items = DIALECT.whole(answer)["output"]
    assert isinstance(items, list)
    return items


def side(method: str, path: str, memory: Memory, sent: object = None) -> JsonObject:
    assert DIALECT.serves(method, path) == "side"
    text = b"" if sent is None else json.dumps(sent).encode()
    return DIALECT.side(HttpRequest(method=method, path=path, body=text), memory)


def unanswered(call_id: str) -> ServiceError:
    return error("R1", f"No tool output found for function call {call_id}.", "input")


def not_stored(named: str) -> ServiceError:
    return error(
        "R11",
        f"Item with id '{named}' not found. Items are not persisted when `store` is set to "
        "false. Try again with `store` set to true, or remove this item from your input.",
        "input",
        status=404,
    )


def duplicate(named: str) -> ServiceError:
    return error(
        "R8",
        f"Duplicate item found with id {named}. Remove duplicate items from your input and try "
        "again.",
        "input",
    )


def alone(named: str) -> ServiceError:
    return error(
        "R5",
        f"Item '{named}' of type 'reasoning' was provided without its required following item.",
        "input",
    )


def unled(rule: str, named: str, kind: str) -> ServiceError:
    return error(
        rule,
        f"Item '{named}' of type '{kind}' was provided without its required 'reasoning' item: "
        f"'{THOUGHT.item_id}'.",
        "input",
    )


class TestResponses:
    def test_its_calls_are_answered_in_the_next_request(self) -> None:
        memory = Memory()
        behind = {"previous_response_id": told(memory, BOOK).response_id}
        judged("responses", body(TOLD, **behind), memory)
        assert refusal("responses", body(USER, **behind), memory) == unanswered(BOOK.call_id)
        stranger = refusal("responses", body({**TOLD, "call_id": "x"}, **behind), memory)
        assert stranger.rule == "R2"

    def test_what_is_stored_is_what_was_said(self) -> None:
        memory = Memory()
        answer = told(memory, THOUGHT, Say("Booking."), BOOK)
        kept = [*answer.reading.history, *output(answer)]
        assert memory.conversations == {answer.response_id: kept}
        assert memory.responses == {answer.response_id: DIALECT.whole(answer)}
        assert memory.seals == {THOUGHT.item_id: THOUGHT.seal}
        assert memory.issued == {BOOK.call_id, "book"}

    def test_one_that_was_not_stored(self) -> None:
        memory = Memory()
        answer = told(memory, Say("Hi"), store=False)
        assert memory == Memory()
        again = body(USER, previous_response_id=answer.response_id)
        assert refusal("responses", again, memory).rule == "R9"

    def test_instructions_are_not_inherited(self) -> None:
        memory = Memory()
        answer = told(memory, Say("Hi"), instructions="Be brief.")
        again = judged("responses", body(USER, previous_response_id=answer.response_id), memory)
        assert [item.kind for item in again.items] == ["user", "say", "user"]
        assert "Be brief." not in json.dumps(again.history)

    def test_it_can_be_retrieved_and_deleted(self) -> None:
        memory = Memory()
        answer = told(memory, BOOK)
        path = f"/v1/responses/{answer.response_id}"
        found = side("GET", path, memory)
        assert found == DIALECT.whole(answer)
        with answering(found) as api:
            assert api.responses.retrieve(answer.response_id).output_text == ""
        assert side("DELETE", path, memory)["deleted"] is True
        with pytest.raises(ServiceError) as caught:
            side("GET", path, memory)
        assert (caught.value.status, caught.value.message) == (
            404,
            f"Response with id '{answer.response_id}' not found.",
        )
        gone = body(TOLD, previous_response_id=answer.response_id)
        assert refusal("responses", gone, memory).rule == "R9"

    def test_only_what_runs_in_the_background_can_be_cancelled(self) -> None:
        memory = Memory()
        plain, slow = told(memory, Say("Hi")).response_id, "resp_slow"
        memory.responses[slow] = {**memory.responses[plain], "id": slow, "background": True}
        assert side("POST", f"/v1/responses/{slow}/cancel", memory)["id"] == slow
        with pytest.raises(ServiceError) as caught:
            side("POST", f"/v1/responses/{plain}/cancel", memory)
        assert (caught.value.status, caught.value.message) == (
            400,
            "Cannot cancel a synchronous response.",
        )


class TestConversations:
    def test_both_sides_are_appended(self) -> None:
        memory = Memory()
        begun = side("POST", "/v1/conversations", memory, {"metadata": {"a": "b"}})
        with answering(begun) as api:
            assert api.conversations.create().metadata == {"a": "b"}
        named = str(begun["id"])
        first = judged("responses", body(USER, conversation=named), memory)
        answer = reply("responses", [BOOK], "calls", conversation={"id": named})
        DIALECT.remember(answer, memory)
        assert memory.conversations[named] == [*answer.reading.history, *output(answer)]
        again = judged("responses", body(TOLD, conversation=named), memory)
        assert [(item.kind, item.origin) for item in again.items] == [
            ("user", "stored"),
            ("call", "stored"),
            ("result", "sent"),
        ]
        assert [item.path for item in again.items][:2] == [f"{named}[0]", f"{named}[1]"]
        assert first.items[0].path == "input[0]"
        unmet = refusal("responses", body(USER, conversation=named), memory)
        assert unmet == unanswered(BOOK.call_id)

    def test_it_may_begin_with_items(self) -> None:
        memory = Memory()
        begun = side("POST", "/v1/conversations", memory, {"items": [USER]})
        named = str(begun["id"])
        assert judged("responses", body(USER, conversation=named), memory).history == [USER, USER]

    def test_each_has_its_own_id_and_can_be_deleted(self) -> None:
        memory = Memory()
        one, two = (side("POST", "/v1/conversations", memory) for _ in range(2))
        assert one["id"] != two["id"]
        path = f"/v1/conversations/{one['id']}"
        assert side("GET", path, memory) == one
        assert side("DELETE", path, memory)["object"] == "conversation.deleted"
        for gone in (path, f"/v1/responses/{two['id']}"):
            with pytest.raises(ServiceError) as caught:
                side("GET", gone, memory)
            assert caught.value.status == 404

    def test_the_input_may_be_left_out(self) -> None:
        memory = Memory(conversations=Kept({"conv_1": [USER]}))
        assert judged("responses", {"model": "m", "conversation": "conv_1"}, memory).items

    def test_what_names_none(self) -> None:
        found = refusal("responses", body(USER, conversation={"id": 1}))
        assert (found.param, found.code) == ("conversation", "invalid_type")


class TestItems:
    def test_a_reference_counts_as_the_item(self) -> None:
        memory = Memory()
        told(memory, BOOK)
        named: JsonObject = {"type": "item_reference", "id": BOOK.item_id}
        judged("responses", body(USER, named, TOLD), memory)
        assert refusal("responses", body(USER, named), memory) == unanswered(BOOK.call_id)

    def test_a_reference_to_what_is_not_stored(self) -> None:
        assert refusal("responses", body({"id": "fc_x"})) == not_stored("fc_x")

    def test_reasoning_that_is_not_stored_needs_its_encrypted_content(self) -> None:
        memory = Memory()
        items = output(told(memory, THOUGHT, BOOK, store=False))
        judged("responses", body(USER, *items, TOLD, store=False), memory)
        bare = {key: value for key, value in items[0].items() if key != "encrypted_content"}
        again = body(USER, bare, items[1], TOLD, store=False)
        assert refusal("responses", again, memory) == not_stored(THOUGHT.item_id)
        told(memory, THOUGHT, BOOK)
        judged("responses", again, memory)

    def test_no_item_comes_twice(self) -> None:
        memory = Memory()
        answer = told(memory, BOOK)
        (item,) = output(answer)
        judged("responses", body(USER, item, TOLD), memory)
        twice = body(USER, item, item, TOLD)
        assert refusal("responses", twice, memory) == duplicate(BOOK.item_id)
        again = body(item, TOLD, previous_response_id=answer.response_id)
        assert refusal("responses", again, memory) == duplicate(BOOK.item_id)


class TestReasoning:
    def test_it_comes_back_with_what_it_led_to(self) -> None:
        memory = Memory()
        items = output(told(memory, THOUGHT, Say("Booking."), BOOK))
        judged("responses", body(USER, *items, TOLD), memory)

    @pytest.mark.parametrize(
        "behind", [(), (USER,), (USER, CALL, TOLD), (TOLD,)], ids=["end", "user", "later", "result"]
    )
    def test_it_does_not_stand_alone(self, behind: tuple[JsonObject, ...]) -> None:
        memory = Memory()
        reasoning, made = output(told(memory, THOUGHT, BOOK))
        before = () if CALL in behind or TOLD not in behind else (made,)
        request = body(USER, *before, reasoning, *behind)
        assert refusal("responses", request, memory) == alone(THOUGHT.item_id)

    def test_a_call_without_its_id_is_known_by_its_call_id(self) -> None:
        memory = Memory()
        reasoning, _ = output(told(memory, THOUGHT, BOOK))
        judged("responses", body(USER, reasoning, CALL, TOLD), memory)
        other = {**CALL, "call_id": "call_x"}, {**TOLD, "call_id": "call_x"}
        request = body(USER, reasoning, *other)
        assert refusal("responses", request, memory) == alone(THOUGHT.item_id)

    def test_other_words_in_the_place_of_the_message_are_not_what_it_led_to(self) -> None:
        memory = Memory()
        reasoning, _ = output(told(memory, THOUGHT, Say("It is 12.")))
        same: JsonObject = {"role": "assistant", "content": "It is 12."}
        other: JsonObject = {"role": "assistant", "content": "It is 13."}
        judged("responses", body(USER, reasoning, same, USER), memory)
        request = body(USER, reasoning, other, USER)
        assert refusal("responses", request, memory) == alone(THOUGHT.item_id)

    def test_reasoning_that_led_to_nothing_may_come_back_alone(self) -> None:
        memory = Memory()
        (reasoning,) = output(told(memory, THOUGHT))
        judged("responses", body(USER, reasoning, USER), memory)

    def test_a_stored_call_does_not_come_without_it(self) -> None:
        memory = Memory()
        answer = told(memory, THOUGHT, BOOK)
        _, made = output(answer)
        unmet = unled("R6", BOOK.item_id, "function_call")
        assert refusal("responses", body(USER, made, TOLD), memory) == unmet
        named: JsonObject = {"type": "item_reference", "id": BOOK.item_id}
        assert refusal("responses", body(USER, named, TOLD), memory) == unmet
        # Without its id it is a new call, and behind a stored response it is not sent.
        judged("responses", body(USER, CALL, TOLD), memory)
        judged("responses", body(TOLD, previous_response_id=answer.response_id), memory)

    def test_what_is_not_stored_may_come_without_it(self) -> None:
        memory = Memory()
        _, made = output(told(memory, THOUGHT, BOOK, store=False))
        judged("responses", body(USER, made, TOLD, store=False), memory)

    def test_a_stored_message_does_not_come_without_it(self) -> None:
        memory = Memory()
        _, said = output(told(memory, THOUGHT, Say("Hi")))
        unmet = unled("R7", str(said["id"]), "message")
        assert refusal("responses", body(USER, said, USER), memory) == unmet

    @pytest.mark.parametrize("store", [True, False])
    def test_its_encrypted_content_comes_back_byte_by_byte(self, store: bool) -> None:
        memory = Memory()
        items = output(told(memory, THOUGHT, BOOK, store=store))
        changed = {**items[0], "encrypted_content": THOUGHT.seal[:-1]}
        request = body(USER, changed, items[1], TOLD, store=store)
        assert refusal("responses", request, memory) == error(
            "R16",
            f"The encrypted content for item {THOUGHT.item_id} could not be verified. Reason: "
            "Encrypted content could not be decrypted or parsed.",
            None,
            "invalid_encrypted_content",
        )

    def test_its_encrypted_content_belongs_to_its_id(self) -> None:
        memory = Memory()
        items = output(told(memory, THOUGHT, BOOK, store=False))
        found = refusal("responses", body(USER, {**items[0], "id": "rs_x"}, items[1], TOLD), memory)
        assert found.message.endswith("item_id did not match the target item id.")

    def test_what_came_first_in_the_stream_is_not_the_encrypted_content(self) -> None:
        memory = Memory()
        answer = told(memory, THOUGHT, BOOK)
        frames = DIALECT.frames(answer, in_order(answer.content, 9))
        begun = at(frames[2].data, "item")
        assert isinstance(begun, dict)
        request = body(USER, begun, output(answer)[1], TOLD)
        assert refusal("responses", request, memory).rule == "R16"


def test_tokens_are_counted() -> None:
    found = side("POST", "/v1/responses/input_tokens", Memory(), {"input": "hello"})
    with answering(found) as api:
        assert api.responses.input_tokens.count(input="hello").input_tokens == 12


def test_models() -> None:
    assert side("GET", "/v1/models", Memory())["object"] == "list"
    assert side("GET", "/v1/models/gpt-x", Memory())["id"] == "gpt-x"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/responses/resp_1"),
        ("GET", "/v1/responses/resp_1/cancel"),
        ("POST", "/v1/conversations/conv_1/cancel"),
        ("GET", "/v1/conversations/conv_1/items/item_1/parts"),
        ("DELETE", "/v1/conversations/conv_1/items"),
        ("GET", "/v1/responses"),
    ],
)
def test_what_is_not_served(method: str, path: str) -> None:
    assert DIALECT.serves(method, path) is None


def test_a_provider_gives_back_what_it_has_said() -> None:
    told_turn = Turn(number=1, attempts=(say_answer([Say("Hello.")]),))
    entries: list[str] = []

    def record(kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object) -> int:
        entries.append(f"{kind} {fields.get('role', '')}".strip())
        return len(entries)

    provider = Provider(
        script=Script(turns=(told_turn,), otherwise=(told_turn,), prompt=None),
        dialect="responses",
        mode="whole",
        seed=0,
        record=record,
    )

    def ask(method: str, path: str, sent: bytes = b"") -> tuple[int, JsonObject]:
        headers = {"authorization": "Bearer k"}
        request = HttpRequest(method=method, path=path, headers=headers, body=sent)
        reply = provider.handle(request)
        found: JsonObject = json.loads(b"".join(reply.segments))
        return reply.status, found

    _, made = ask("POST", "/v1/responses", json.dumps(body(USER)).encode())
    assert ask("GET", f"/v1/responses/{made['id']}") == (200, made)
    status, missing = ask("GET", "/v1/responses/resp_x")
    assert (status, at(missing, "error", "message")) == (
        404,
        "Response with id 'resp_x' not found.",
    )
    assert entries == ["request turn", "response", "request side", "request refused", "refused"]
