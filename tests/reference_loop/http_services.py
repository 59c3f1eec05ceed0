"""HTTP services in memory for tests of tools, and the OpenAPI documents that describe them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from loopcheck.reference_loop import (
    LoopTool,
    ToolDefinitionError,
    ToolFailure,
    openapi_tools,
)
from loopcheck.reference_loop import schema as schemas
from loopcheck.reference_loop.tools import catalogue

JsonObject = dict[str, Any]
BASE = "http://service.test/v1"


def document(paths: JsonObject, **more: object) -> JsonObject:
    info = {"title": "Seats", "version": "1"}
    return {"openapi": "3.1.0", "info": info, "paths": paths, **more}


def parameter(name: str, place: str, **keys: object) -> JsonObject:
    return {"name": name, "in": place, "schema": {}, **keys}


def operation(
    *parameters: JsonObject,
    method: str = "get",
    path: str = "/seats",
    body: JsonObject | None = None,
    **keys: object,
) -> JsonObject:
    """A document with one operation, `call`."""
    node: JsonObject = {"operationId": "call", "parameters": list(parameters), **keys}
    if body is not None:
        content = {"application/json": {"schema": body}}
        node["requestBody"] = {"required": True, "content": content}
    return document({path: {method: node}})


@dataclass
class Service:
    """Answers each request with the next of `answers` (the last repeats), and keeps it."""

    answers: list[httpx2.Response | Exception] = field(
        default_factory=lambda: [httpx2.Response(200, json={"ok": True})]
    )
    seen: list[httpx2.Request] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def tool(self, described: JsonObject, **options: Any) -> LoopTool:
        """The only tool of the document."""
        (tool,) = self.tools(described, **options)
        return tool

    def tools(self, described: JsonObject, **options: Any) -> tuple[LoopTool, ...]:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(self))
        tools = openapi_tools(described, **{"client": client, "base_url": BASE, **options})
        catalogue(tools)  # the loop's own check
        return tools

    @property
    def target(self) -> str:
        """Path and query of the latest request, as they were sent."""
        return self.seen[-1].url.raw_path.decode().removeprefix("/v1")


def run(
    tool: LoopTool, arguments: JsonObject | None = None, operation_id: str | None = None
) -> str:
    """What a call gives, after the check that the loop makes before it."""
    given = arguments or {}
    assert schemas.problems(tool.parameters, given) == []

    async def invoke() -> str:
        return await tool.invoke(given, call_id="call_1", operation_id=operation_id)

    return asyncio.run(invoke())


def sent(described: JsonObject, arguments: JsonObject, **options: Any) -> httpx2.Request:
    """The request that a call makes."""
    service = Service()
    run(service.tool(described, **options), arguments)
    return service.seen[-1]


def failure(tool: LoopTool, arguments: JsonObject | None = None) -> ToolFailure:
    with pytest.raises(ToolFailure) as failed:
        run(tool, arguments)
    return failed.value


def refusal(described: JsonObject, **options: Any) -> str:
    with pytest.raises(ToolDefinitionError) as refused:
        Service().tools(described, **options)
    return str(refused.value)


def problem(status: int, headers: Mapping[str, str] | None = None, **members: object) -> Any:
    return httpx2.Response(
        status,
        content=json.dumps(members),
        headers={"content-type": "application/problem+json", **(headers or {})},
    )
