"""The loop against a service that works on every response in the background."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest
from openai import AsyncOpenAI

from loopcheck.fake_providers.provider import Provider, nothing
from loopcheck.fake_providers.script import Call, Say, Script, Turn, answer
from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.reference_loop import LoopTool, ReferenceLoop
from loopcheck.reference_loop.adapters.background import Polling
from loopcheck.reference_loop.adapters.responses import ResponsesAdapter
from loopcheck.reference_loop.arguments import JsonObject

pytestmark = pytest.mark.asyncio

TURNS = (
    Turn(number=1, attempts=(answer([Call(label="book", tool="book", arguments='{"n":12}')]),)),
    Turn(number=2, attempts=(answer([Say("Seat 12 is booked.")]),)),
)


@dataclass
class Service:
    """Takes every request for a turn as one for the background."""

    asked: list[str] = field(default_factory=list)
    provider: Provider = field(
        default_factory=lambda: Provider(
            script=Script(turns=TURNS, otherwise=TURNS[-1:], prompt=None),
            dialect="responses",
            mode="whole",
            seed=1,
            record=nothing,
        )
    )

    def __call__(self, request: HttpRequest) -> Reply:
        self.asked.append(request.method)
        if request.method == "POST":
            body = {**json.loads(request.body), "background": True}
            request = replace(request, body=json.dumps(body).encode())
        return self.provider.handle(request)


@pytest.mark.parametrize(
    ("stream", "asked"),
    [(False, ["POST", "GET", "GET"] * 2), (True, ["POST"] * 2)],
    ids=["polled", "streamed"],
)
async def test_the_run_is_the_same(stream: bool, asked: list[str]) -> None:
    booked: list[object] = []

    async def book(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        booked.append(arguments)
        return "done"

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = LoopTool(name="book", description="Books.", parameters=schema, kind="write", invoke=book)
    service = Service()
    with Server() as server:
        root = server.mount_root(service)
        async with AsyncOpenAI(api_key="k", base_url=f"{root}/v1") as client:
            adapter = ResponsesAdapter(
                client=client, model="m", stream=stream, polling=Polling(times=2, seconds=0.0)
            )
            outcome = await ReferenceLoop(adapter, [tool]).run("Book seat 12.")
    assert (outcome.state, outcome.text) == ("completed", "Seat 12 is booked.")
    assert booked == [{"n": 12}]
    assert service.asked == asked
