"""Small chat loops over the standard library, for tests that put something on trial quickly.

Projects of the plugin's tests get a copy of this file, so it imports nothing of the tests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import loopcheck

Parse = Callable[[str], dict[str, object]]
Json = dict[str, Any]


def is_wrong(choice: Json) -> bool:
    return choice["finish_reason"] not in ("stop", "tool_calls")


def closed_brace(text: str) -> dict[str, object]:
    """What careless loops do with arguments that were cut."""
    try:
        return parsed(text)
    except ValueError:
        return parsed(text + "}")


def parsed(text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(text)
    return found


def ask(task: loopcheck.Task, messages: list[object]) -> Json:
    tools = [
        {"type": "function", "function": {"name": spec.name, "parameters": spec.parameters}}
        for spec in task.specs
    ]
    body = {"model": task.model, "messages": messages, "tools": tools, "stream": task.stream}
    url = urlsplit(task.base_url)
    with closing(HTTPConnection(url.netloc)) as connection:
        headers = {
            "authorization": f"Bearer {task.api_key}",
            "content-type": "application/json",
        }
        connection.request("POST", f"{url.path}/chat/completions", json.dumps(body), headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise ConnectionError(f"status {answer.status}")
        choice: Json = assembled(answer) if task.stream else json.load(answer)["choices"][0]
        return choice


def assembled(answer: HTTPResponse) -> Json:
    message: Json = {"role": "assistant", "content": None, "tool_calls": []}
    choice: Json = {"message": message, "finish_reason": None}
    for chunk in chunks(answer):
        for part in chunk["choices"]:
            choice["finish_reason"] = part["finish_reason"] or choice["finish_reason"]
            message["content"] = (message["content"] or "") + (part["delta"].get("content") or "")
            for delta in part["delta"].get("tool_calls") or ():
                add(message["tool_calls"], delta)
    if not message["tool_calls"]:
        del message["tool_calls"]
    return choice


def chunks(answer: HTTPResponse) -> Iterator[Json]:
    for line in answer:
        data = line.decode().removeprefix("data:").strip()
        if data.startswith("{"):
            chunk: Json = json.loads(data)
            yield chunk


def add(calls: list[Json], delta: Json) -> None:
    if delta["index"] == len(calls):
        function = {"name": "", "arguments": ""}
        calls.append({"id": delta["id"], "type": "function", "function": function})
    for key, text in delta["function"].items():
        calls[delta["index"]]["function"][key] += text


def spec_of(task: loopcheck.Task, call: Json) -> loopcheck.Tool:
    return next(spec for spec in task.specs if spec.name == call["function"]["name"])


def result(call: Json, text: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def loop(task: loopcheck.Task, parse: Parse, *, looks: bool) -> loopcheck.Outcome:
    messages: list[object] = [{"role": "user", "content": task.prompt}]
    for _ in range(8):
        choice = ask(task, messages)
        if looks and is_wrong(choice):
            return loopcheck.ended("failed", choice["finish_reason"])
        calls = choice["message"].get("tool_calls") or []
        if not calls:
            return loopcheck.final(choice["message"]["content"])
        messages.append(choice["message"])
        for call in calls:
            text = spec_of(task, call).call(parse(call["function"]["arguments"]), call["id"])
            messages.append(result(call, text))
    return loopcheck.ended("limit", "max_rounds")


@loopcheck.loop(dialects=["chat"], packages=["pytest"])
def honest(task: loopcheck.Task) -> loopcheck.Outcome:
    return loop(task, parsed, looks=True)


@loopcheck.loop(dialects=["chat"], packages=["pytest", "no-such-package"])
def careless(task: loopcheck.Task) -> loopcheck.Outcome:
    return loop(task, closed_brace, looks=False)


@loopcheck.loop(dialects=["chat"], modes=["whole"])
async def asynchronous(task: loopcheck.Task) -> loopcheck.Outcome:
    messages: list[object] = [{"role": "user", "content": task.prompt}]
    for _ in range(8):
        choice = await asyncio.to_thread(ask, task, messages)
        calls = choice["message"].get("tool_calls") or []
        if not calls:
            return loopcheck.final(choice["message"]["content"])
        messages.append(choice["message"])
        for call in calls:
            text = await spec_of(task, call).acall(parsed(call["function"]["arguments"]))
            messages.append(result(call, text))
    return loopcheck.ended("limit", "max_rounds")
