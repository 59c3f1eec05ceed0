"""A provider without a script does what it was asked for, in every protocol."""

from __future__ import annotations

import json

import pytest
from improvised import CITY, answered, auto, exchange, question, tool, with_result

from loopcheck.fake_providers.auto import AutoProvider
from loopcheck.fake_providers.derive import whole
from loopcheck.fake_providers.script import DIALECTS, DialectName, Think
from loopcheck.fake_providers.wire import JsonObject

each_dialect = pytest.mark.parametrize("name", DIALECTS)
HARD: JsonObject = {"type": "object", "properties": {"impossible": {"not": {}}}}


def offered(name: DialectName, *labels: str, **fields: object) -> JsonObject:
    tools = [tool(name, label) for label in labels]
    return question(name, "What is the weather?", tools=tools, **fields)


def choice(name: DialectName, word: str) -> object:
    words = {"required": "any"}
    return {"type": words.get(word, word)} if name == "messages" else word


def named(name: DialectName, label: str) -> JsonObject:
    match name:
        case "chat":
            return {"type": "function", "function": {"name": label}}
        case "responses":
            return {"type": "function", "name": label}
        case "messages":
            return {"type": "tool", "name": label}


@each_dialect
def test_without_tools_it_repeats_what_was_said(name: DialectName) -> None:
    said = answered(name, question(name, "Hello there"))
    assert said.text.startswith('You said "Hello there".')
    assert said.stop == "end"


@each_dialect
def test_it_calls_an_offered_tool_with_fitting_arguments(name: DialectName) -> None:
    said = answered(name, offered(name, "weather"))
    (call,) = said.calls
    assert (call.tool, said.stop, said.text) == ("weather", "calls", "")
    assert list(json.loads(call.arguments)) == ["city"]


@each_dialect
@pytest.mark.parametrize("stream", [False, True])
def test_the_same_request_gets_the_same_answer(name: DialectName, stream: bool) -> None:
    body = offered(name, "weather", "seat")
    first = exchange(auto(name), name, {**body, "stream": stream})
    second = exchange(auto(name), name, {**body, "stream": stream})
    assert first == second


@each_dialect
def test_streaming_changes_nothing_that_is_said(name: DialectName) -> None:
    body = offered(name, "weather", "seat")
    streamed = answered(name, {**body, "stream": True})
    at_once = answered(name, body)
    assert [(c.tool, c.arguments, c.wire_id) for c in streamed.calls] == [
        (c.tool, c.arguments, c.wire_id) for c in at_once.calls
    ]


@each_dialect
def test_another_seed_or_question_gives_another_answer(name: DialectName) -> None:
    body = offered(name, "weather")
    answers = {
        answered(name, body).calls,
        answered(name, body, auto(name, seed=1)).calls,
        answered(name, {**body, "model": "another"}).calls,
    }
    assert len(answers) == 3


@each_dialect
def test_a_repeated_request_gets_other_ids(name: DialectName) -> None:
    provider = auto(name)
    body = offered(name, "weather")
    (first,), (second,) = (answered(name, body, provider).calls for _ in range(2))
    assert first.arguments == second.arguments
    assert first.wire_id != second.wire_id


@each_dialect
def test_results_end_the_turn_with_text(name: DialectName) -> None:
    provider = auto(name)
    body = offered(name, "weather")
    called = answered(name, body, provider)
    said = answered(name, with_result(name, body, called), provider)
    assert said.text.startswith('The tools returned "rain".')
    assert (said.calls, said.stop) == ((), "end")


@each_dialect
def test_a_forced_choice_holds_behind_results_too(name: DialectName) -> None:
    provider = auto(name)
    body = offered(name, "weather", tool_choice=choice(name, "required"))
    called = answered(name, body, provider)
    again = answered(name, with_result(name, body, called), provider)
    assert len(called.calls) == len(again.calls) == 1


@each_dialect
def test_no_tool_is_called_where_none_may_be(name: DialectName) -> None:
    assert not answered(name, offered(name, "weather", tool_choice=choice(name, "none"))).calls


@each_dialect
def test_a_named_tool_is_called(name: DialectName) -> None:
    body = offered(name, "one", "two", "three", tool_choice=named(name, "two"))
    assert [call.tool for call in answered(name, body).calls] == ["two"]


@pytest.mark.parametrize("name", ["chat", "responses"])
@pytest.mark.parametrize("mode", ["auto", "required"])
def test_only_allowed_tools_are_called(name: DialectName, mode: str) -> None:
    allowed: JsonObject = {"mode": mode, "tools": [named(name, "two")]}
    inner: JsonObject = {"allowed_tools": allowed} if name == "chat" else allowed
    body = offered(name, "one", "two", tool_choice={"type": "allowed_tools", **inner})
    assert [call.tool for call in answered(name, body).calls] == ["two"]


@each_dialect
def test_calls_are_parallel_unless_that_is_switched_off(name: DialectName) -> None:
    apart: JsonObject = {"parallel_tool_calls": False}
    if name == "messages":
        apart = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
    bodies = [offered(name, "one", "two", metadata={"user_id": str(n)}) for n in range(30)]
    counts = {len(answered(name, body).calls) for body in bodies}
    assert counts == {1, 2}
    assert {len(answered(name, {**body, **apart}).calls) for body in bodies} == {1}


@each_dialect
@pytest.mark.parametrize("stream", [False, True])
def test_the_token_limit_cuts_the_answer(name: DialectName, stream: bool) -> None:
    keys = {"responses": "max_output_tokens", "chat": "max_tokens", "messages": "max_tokens"}
    body = question(name, "x" * 200, **{keys[name]: 16, "stream": stream})
    said = answered(name, body)
    assert said.text == ('You said "' + "x" * 200)[:64]
    assert said.stop == "length"


@each_dialect
def test_the_token_limit_cuts_arguments(name: DialectName) -> None:
    key = "max_output_tokens" if name == "responses" else "max_tokens"
    schema = {**CITY, "properties": {"city": {"type": "string"}}}
    body = question(name, tools=[tool(name, "weather", schema)], stream=True, **{key: 16})
    long = AutoProvider(name, values=lambda schema, seed: {"city": "x" * 100})
    said = answered(name, body, long)
    (call,) = said.calls
    assert (call.arguments, said.stop) == ('{"city":"' + "x" * 55, "length")


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_sequence_ends_a_message(stream: bool) -> None:
    body = question("messages", "one two three", stop_sequences=["three", "two"], stream=stream)
    made = whole(exchange(auto("messages"), "messages", body))
    assert (made["stop_reason"], made["stop_sequence"]) == ("stop_sequence", "two")
    assert answered("messages", body).text == 'You said "one '


@pytest.mark.parametrize("stop", ["two", ["two"]])
def test_a_stop_sequence_ends_a_completion(stop: object) -> None:
    said = answered("chat", question("chat", "one two", stop=stop))
    assert (said.text, said.stop) == ('You said "one ', "end")


@each_dialect
def test_the_text_satisfies_the_schema_that_was_asked_for(name: DialectName) -> None:
    schema = {"type": "json_schema", "schema": CITY, "name": "place"}
    wanted: dict[str, JsonObject] = {
        "chat": {"response_format": {"type": "json_schema", "json_schema": schema}},
        "responses": {"text": {"format": schema}},
        "messages": {"output_config": {"format": {"type": "json_schema", "schema": CITY}}},
    }
    assert list(json.loads(answered(name, question(name, **wanted[name])).text)) == ["city"]


def test_json_mode_says_an_object() -> None:
    wanted = {"type": "json_object"}
    body = question("chat", "Answer in JSON.", response_format=wanted)
    assert isinstance(json.loads(answered("chat", body).text), dict)


@pytest.mark.parametrize("name", ["responses", "messages"])
def test_it_thinks_where_that_was_asked_for(name: DialectName) -> None:
    wanted: dict[str, JsonObject] = {
        "responses": {"reasoning": {"effort": "low", "summary": "auto"}},
        "messages": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4000},
    }
    said = answered(name, question(name, **wanted[name]))
    assert isinstance(said.content[0], Think)


@pytest.mark.parametrize(
    "form",
    [{}, {"format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "[a-z]+"}}}],
)
def test_a_custom_tool_gets_text(form: JsonObject) -> None:
    seen: list[JsonObject] = []

    def values(schema: JsonObject, seed: int) -> object:
        seen.append(schema)
        return "abc"

    body = question("chat", tools=[{"type": "custom", "custom": {"name": "shout", **form}}])
    said = answered("chat", body, AutoProvider("chat", values=values))
    (call,) = said.calls
    assert (call.form, call.arguments) == ("custom", "abc")
    pattern = {"pattern": "^(?:[a-z]+)$"} if form else {}
    assert seen == [{"type": "string", **pattern}]


@pytest.mark.parametrize("stream", [False, True])
def test_several_choices_are_given(stream: bool) -> None:
    options = {"stream_options": {"include_usage": True}} if stream else {}
    body = question("chat", n=3, stream=stream, **options)
    made = whole(exchange(auto("chat"), "chat", body))
    choices = made["choices"]
    assert isinstance(choices, list)
    assert len(choices) == 3
    assert len({choice["message"]["content"] for choice in choices}) == 1
    one = whole(exchange(auto("chat"), "chat", question("chat")))
    assert of_usage(made, "completion_tokens") == 3 * of_usage(one, "completion_tokens")


def of_usage(body: JsonObject, key: str) -> int:
    usage = body["usage"]
    assert isinstance(usage, dict)
    return int(usage[key])


def logprobs_of(name: DialectName, body: JsonObject) -> list[JsonObject]:
    made = exchange(auto(name), name, body)
    found: list[JsonObject] = []
    if name == "responses":
        output = whole(made)["output"]
        assert isinstance(output, list)
        return list(output[0]["content"][0]["logprobs"])
    bodies = [event.data for event in made.events] if made.events else [made.body]
    for one in bodies:
        for told in one["choices"] if isinstance(one, dict) else ():
            found += (told["logprobs"] or {}).get("content", [])
    return found


@pytest.mark.parametrize("name", ["chat", "responses"])
def test_log_probabilities_are_the_same_streamed_or_whole(name: DialectName) -> None:
    asked: dict[str, JsonObject] = {
        "chat": {"logprobs": True, "top_logprobs": 2},
        "responses": {"include": ["message.output_text.logprobs"], "top_logprobs": 2},
    }
    body = question(name, **asked[name])
    told = logprobs_of(name, body)
    assert told == logprobs_of(name, {**body, "stream": True})
    assert "".join(str(token["token"]) for token in told) == answered(name, body).text
    first = told[0]["top_logprobs"]
    assert isinstance(first, list)
    assert len(first) == 2
    assert first[0]["token"] == told[0]["token"]


@each_dialect
def test_the_rules_of_the_service_hold(name: DialectName) -> None:
    orphan: dict[str, JsonObject] = {
        "chat": {"role": "tool", "tool_call_id": "call_x", "content": "?"},
        "responses": {"type": "function_call_output", "call_id": "call_x", "output": "?"},
        "messages": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_x", "content": "?"}],
        },
    }
    key = "input" if name == "responses" else "messages"
    body = question(name, **{key: [orphan[name]]})
    rule = {"chat": "C2", "responses": "R2", "messages": "M2"}[name]
    assert exchange(auto(name), name, body).status == 400
    assert exchange(auto(name, off=frozenset({rule})), name, body).status == 200


@each_dialect
def test_what_has_no_value_is_not_called_unless_it_must_be(name: DialectName) -> None:
    tools = [tool(name, "hard", HARD)]
    assert not answered(name, question(name, tools=tools)).calls
    forced = question(name, tools=tools, tool_choice=named(name, "hard"))
    made = exchange(auto(name), name, forced)
    assert made.status == 500
    assert "no value found for the schema of the tool 'hard': too hard" in str(made.body)


def test_old_functions_are_not_called() -> None:
    functions = [{"name": "weather", "parameters": CITY}]
    assert not answered("chat", question("chat", functions=functions)).calls


def test_a_stored_response_is_continued() -> None:
    provider = auto("responses")
    first = whole(exchange(provider, "responses", question("responses", "I am Ada.")))
    more = question("responses", "Who am I?", previous_response_id=first["id"])
    assert answered("responses", more, provider).text.startswith(
        'You said "I am Ada.", and then "Who am I?".'
    )
