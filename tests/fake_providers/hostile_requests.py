"""Requests that no client should send: valid ones, bent at random places."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, Final

from loopcheck.fake_providers.script import Call, DialectName, Say, Script, Turn, answer
from loopcheck.fake_providers.wire import HttpRequest

KEY: Final = "sk-loopcheck-test"
PATHS: Final[dict[DialectName, str]] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}
_SCHEMA: Final = {
    "type": "object",
    "properties": {"seat": {"type": "integer"}},
    "required": ["seat"],
    "additionalProperties": False,
}
_USER: Final = {"role": "user", "content": [{"type": "text", "text": "Book seat 12."}]}
_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    "é\u0000\u2028",
    "\ud800",
    "a" * 300,
    [],
    [[]],
    [None],
    ["x"],
    {},
    {"": []},
    {"type": {}},
    {"type": "x"},
    [{"type": []}],
)
_NAMES: Final = ("type", "role", "content", "id", "name", "tools", "x")


def script() -> Script:
    """A call under the id that the valid requests answer, and a word."""
    book = Call(label="book", tool="reserve", arguments='{"seat":12}', wire_id="call_1")
    turns = tuple(Turn(number=n, attempts=(answer([c]),)) for n, c in ((1, book), (2, Say("Ok."))))
    return Script(turns=turns, otherwise=turns[1:], prompt=None)


def valid(dialect: DialectName, *, results: bool) -> dict[str, Any]:
    """A body that the service takes: the task, or what follows the call."""
    match dialect:
        case "chat":
            return _chat(results)
        case "responses":
            return _responses(results)
        case "messages":
            return _messages(results)


def bent(dialect: DialectName, count: int, seed: int) -> Iterator[bytes]:
    """So many bodies, each wrong in one place or several."""
    numbers = random.Random(seed)
    wholes = [json.dumps(valid(dialect, results=results)) for results in (False, True)]
    for number in range(count):
        body = json.loads(wholes[number % 2])
        for _ in range(numbers.choice((1, 1, 1, 2, 4))):
            _bend(body, numbers)
        yield _broken(json.dumps(body).encode(), numbers)


def post(dialect: DialectName, body: bytes, **headers: str) -> HttpRequest:
    """The request with this body, and headers that are in order unless given."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpRequest(
        method="POST",
        path=PATHS[dialect],
        headers={
            "authorization": f"Bearer {KEY}",
            "anthropic-version": "2023-06-01",
            "content-type": "application/json",
            **given,
        },
        body=body,
    )


def _bend(body: Any, numbers: random.Random) -> None:
    places = list(_places(body))
    if not places:
        return
    holder, key = numbers.choice(places)
    value = copy.deepcopy(numbers.choice(_VALUES))
    match numbers.randrange(8):
        case 0:
            del holder[key]
        case 1:
            holder[key] = [copy.deepcopy(holder[key])] * 2
        case 2 if isinstance(holder, dict):
            holder[numbers.choice(_NAMES)] = value
        case _:
            holder[key] = value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _broken(body: bytes, numbers: random.Random) -> bytes:
    """The same, now and then with a byte that is wrong, or cut short."""
    chance = numbers.random()
    place = numbers.randrange(len(body))
    if chance < 0.04:
        return body[:place] + bytes([numbers.randrange(256)]) + body[place + 1 :]
    return body[:place] if chance < 0.06 else body


def _chat(results: bool) -> dict[str, Any]:
    function = {"name": "reserve", "arguments": "{}"}
    call = {"id": "call_1", "type": "function", "function": function}
    round_trip = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
    ]
    tool = {"name": "reserve", "parameters": _SCHEMA, "strict": True}
    return {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "Be brief."},
            _USER,
            *(round_trip if results else []),
        ],
        "tools": [{"type": "function", "function": tool}],
        "tool_choice": {"type": "function", "function": {"name": "reserve"}},
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "max_tokens": 100,
        "parallel_tool_calls": True,
    }


def _responses(results: bool) -> dict[str, Any]:
    round_trip = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "reserve",
            "arguments": "{}",
        },
        {"type": "function_call_output", "call_id": "call_1", "output": [{"text": "ok"}]},
    ]
    tool = {"type": "function", "name": "reserve", "parameters": _SCHEMA, "strict": True}
    other = {"type": "function", "name": "x", "parameters": _SCHEMA}
    return {
        "model": "gpt-4o",
        "instructions": "Be brief.",
        "input": [_USER, *(round_trip if results else [])],
        "tools": [tool, {"type": "namespace", "name": "n", "tools": [other]}],
        "tool_choice": {"type": "function", "name": "reserve"},
        "stream": True,
        "store": True,
        "metadata": {"a": "b"},
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "text"}},
        "conversation": None,
        "previous_response_id": None,
        "max_output_tokens": 100,
    }


def _messages(results: bool) -> dict[str, Any]:
    used = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    use = {"type": "tool_use", "id": "call_1", "name": "reserve", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text"}]}
    round_trip = [
        {"role": "assistant", "content": [used, found, use]},
        {"role": "user", "content": [{**result, "content": "ok", "is_error": False}]},
    ]
    return {
        "model": "claude-sonnet-4-6",
        "max_tokens": 2000,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [_USER, *(round_trip if results else [])],
        "tools": [
            {"name": "reserve", "input_schema": _SCHEMA},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "tool_choice": {"type": "auto"},
        "stream": True,
        "metadata": {"user_id": "u"},
        "output_config": {"effort": "low"},
        "mcp_servers": [],
    }
