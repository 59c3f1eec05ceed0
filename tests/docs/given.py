"""What pages leave to their readers: names that code blocks use, and files that commands read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

Names = dict[str, object]


class Seats:
    """The system behind the tools."""

    async def reserve(self, *seat: object, idempotency_key: str) -> str:
        return f"reserved {seat[0]}"


def names(page: str) -> Names:
    """What the code of this page finds there already, made anew for each block."""
    return _GIVEN.get(page, dict)()


def _reference_loop() -> Names:
    from openai import AsyncOpenAI

    import loopcheck
    from loopcheck.reference_loop import LoopTool
    from loopcheck.reference_loop.adapters.chat import ChatAdapter
    from loopcheck.reference_loop.adapters.responses import ResponsesAdapter

    async def reserve(
        arguments: Mapping[str, object], *, call_id: str, operation_id: str | None
    ) -> str:
        return f"reserved {arguments['seat']}"

    async def bearer(call: object) -> Mapping[str, str]:
        return {"authorization": "Bearer secret"}

    tool = LoopTool(
        name="reserve_seat",
        description="Reserves a seat.",
        parameters={"type": "object", "properties": {"seat": {"type": "integer"}}},
        kind="write",
        invoke=reserve,
    )
    return {
        "loopcheck": loopcheck,
        "seats": Seats(),
        "adapter": ChatAdapter(client=AsyncOpenAI(), model="gpt-4o", stream=True),
        "tools": [tool],
        "bearer": bearer,
        "MyAdapter": object,
        "ResponsesAdapter": ResponsesAdapter,
        "AsyncOpenAI": AsyncOpenAI,
        **_interface(),
    }


def _interface() -> Names:
    """The names in which the reference loop says what an adapter is."""
    from collections.abc import Sequence
    from typing import Protocol, TypeVar

    from loopcheck.reference_loop.adapters.interface import TaskInfo
    from loopcheck.reference_loop.events import CallResult, Calls, Final

    conversation = TypeVar("conversation")
    return {
        "Protocol": Protocol,
        "Conversation": conversation,
        "Sequence": Sequence,
        "TaskInfo": TaskInfo,
        "CallResult": CallResult,
        "Calls": Calls,
        "Reply": Calls | Final,
    }


def _fuzzing() -> Names:
    import pytest

    from loopcheck.harness.selftest.trial import HONEST

    return {"my_loop": HONEST, "pytest": pytest}


def _plugging_in() -> Names:
    import pytest

    return {"pytest": pytest}


_GIVEN: Mapping[str, Callable[[], Names]] = {
    "reference-loop": _reference_loop,
    "fuzzing": _fuzzing,
    "plugging-in": _plugging_in,
}

# The names that the tests on the pages use, for a test file of its own.
FOR_TESTS = """
import json
import os

import pytest
from hypothesis import given, settings
from openai import OpenAI

import loopcheck
from loopcheck.harness.selftest.trial import HONEST as my_loop

settings.register_profile("few", max_examples=2, derandomize=True, database=None, deadline=None)
settings.load_profile("few")
TOOL = {"name": "get_order", "parameters": {"type": "object", "properties": {}}}


class my_app:
    @staticmethod
    def ask(question):
        with OpenAI(api_key="sk-of-mine") as client:
            messages = [{"role": "user", "content": question}]
            while True:
                answer = client.chat.completions.create(
                    model="gpt-4o",
                    messages=messages,
                    tools=[{"type": "function", "function": TOOL}],
                ).choices[0].message
                if not answer.tool_calls:
                    return answer.content
                messages.append(answer)
                for call in answer.tool_calls:
                    result = json.dumps({"status": "shipped"})
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""
SCENARIO = """\
format: 1
title: A seat is reserved once
rule: A write is executed once.
prompt: Reserve a seat.
dialects: [chat]
modes: [whole]
tools:
  reserve_seat: {kind: write, args: {seat: integer}}
turns:
  - calls: [{as: book, tool: reserve_seat, args: {seat: 12}}]
  - say: Reserved.
"""


def files(page: str, folder: Path) -> None:
    """Writes what commands of this page read."""
    if page == "writing-a-scenario":
        (folder / "seat.har").write_text(json.dumps(_recorded()), encoding="utf-8")
    if page == "plugging-in":
        scenarios = folder / "qa" / "scenarios"
        scenarios.mkdir(parents=True)
        (scenarios / "kept.yaml").write_text(SCENARIO, encoding="utf-8")
    if page == "reference-loop":
        (folder / "seats.openapi.json").write_text(json.dumps(_document()), encoding="utf-8")


def _recorded() -> Names:
    """A conversation as a browser saves it."""
    messages = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Is seat 12 free?"},
    ]
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "It is."},
            }
        ],
    }
    body = json.dumps({"model": "gpt-4o", "messages": messages})
    request = {
        "method": "POST",
        "url": "https://service.example/v1/chat/completions",
        "headers": [{"name": "content-type", "value": "application/json"}],
        "postData": {"mimeType": "application/json", "text": body},
    }
    response = {
        "status": 200,
        "headers": [{"name": "content-type", "value": "application/json"}],
        "content": {"mimeType": "application/json", "text": json.dumps(answer)},
    }
    entry = {"startedDateTime": "2026-11-30T12:00:00Z", "request": request, "response": response}
    return {"log": {"version": "1.2", "entries": [entry]}}


def _document() -> Names:
    """The seats as an HTTP service."""
    said = {"200": {"description": "said", "content": {"application/json": {"schema": {}}}}}
    paths = {
        f"/{name}": {"post": {"operationId": name, "responses": said}}
        for name in ("find_seat", "reserve_seat")
    }
    return {"openapi": "3.1.0", "info": {"title": "Seats", "version": "1"}, "paths": paths}
