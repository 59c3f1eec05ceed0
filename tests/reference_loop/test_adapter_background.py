"""Responses that are not over when they come."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx2
import pytest
from sdk_replies import Answer, Service

from loopcheck.reference_loop import Failed, Final, Reply, TaskInfo
from loopcheck.reference_loop.adapters.background import Polling
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter

pytestmark = pytest.mark.asyncio

PART = {"type": "output_text", "text": "Hi.", "annotations": []}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "content": [PART]}
DONE = {"id": "resp_1", "status": "completed", "output": [MESSAGE]}
QUEUED = {"id": "resp_1", "status": "queued", "output": []}
WORKING = {"id": "resp_1", "status": "in_progress", "output": []}


@dataclass
class Sleeper:
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def ask(*answers: Answer, times: int = 3) -> tuple[Reply, Service, list[float]]:
    service, sleeper = Service(list(answers)), Sleeper()
    polling = Polling(times=times, seconds=2.5, sleep=sleeper.sleep)
    adapter = ResponsesAdapter(client=service.openai(), model="m", stream=False, polling=polling)
    return await adapter.request(adapter.start(TaskInfo(prompt="Go."))), service, sleeper.slept


async def test_a_queued_response_is_asked_for_until_it_is_over() -> None:
    reply, service, slept = await ask(QUEUED, WORKING, DONE)
    assert reply == Final("Hi.")
    assert service.paths == ["POST /v1/responses", *["GET /v1/responses/resp_1"] * 2]
    assert slept == [2.5, 2.5]


async def test_a_response_that_comes_with_the_last_look_counts() -> None:
    reply, _, _ = await ask(QUEUED, QUEUED, DONE, times=2)
    assert reply == Final("Hi.")


async def test_a_response_that_never_gets_there_is_given_up() -> None:
    reply, service, slept = await ask(QUEUED, QUEUED, WORKING, WORKING)
    assert reply == Failed("the response was still in_progress in the end", retryable=False)
    assert (len(service.paths), len(slept)) == (4, 3)


async def test_a_response_that_cannot_be_asked_for() -> None:
    reply, _, slept = await ask({"status": "queued", "output": []})
    error = "the response is not over, and has no id to ask for"
    assert reply == Failed(error, retryable=False)
    assert slept == []


async def test_a_failure_on_the_way_is_one_of_the_request() -> None:
    gone = httpx2.Response(404, json={"error": {"message": "Gone."}})
    reply, _, _ = await ask(QUEUED, gone)
    assert isinstance(reply, Failed)
    assert reply.status == 404
