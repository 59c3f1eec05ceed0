"""Tools whose bodies are in another process, behind an HTTP endpoint each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.task import Tool
from loopcheck.harness.tool_values import Parts, RateLimited
from loopcheck.harness.worker.exchange import Exchange
from loopcheck.harness.worker.protocol import ToolDocument
from loopcheck.harness.world.callables import build_tool

_RAISES: Final[Mapping[object, type[Exception]]] = {
    "RuntimeError": RuntimeError,
    "TimeoutError": TimeoutError,
    "PermissionError": PermissionError,
    "ConnectionError": ConnectionError,
}


def remote_tool(document: ToolDocument, *, blocking: bool) -> Tool:
    """The tool as a callable that posts to its endpoint, blocking or awaitable."""

    def call(
        arguments: Mapping[str, object],
        call_id: str | None = None,
        operation_id: str | None = None,
    ) -> str:
        answer = Exchange(document.invoke).ask(arguments, _ids(call_id, operation_id))
        return _result(document.name, *answer)

    async def acall(
        arguments: Mapping[str, object],
        call_id: str | None = None,
        operation_id: str | None = None,
    ) -> str:
        answer = await Exchange(document.invoke).aask(arguments, _ids(call_id, operation_id))
        return _result(document.name, *answer)

    return build_tool(
        document.name,
        document.description,
        document.parameters,
        document.kind,
        document.operation,
        approval=document.approval,
        look_up=None if document.lookup is None else partial(_look_up, document),
        deduplicates=document.deduplicates,
        call=call,
        acall=acall,
        blocking=blocking,
    )


def _ids(call_id: str | None, operation_id: str | None) -> dict[str, str]:
    """The headers that carry what the loop knows of a call."""
    ids = {"x-call-id": call_id, "idempotency-key": operation_id}
    return {name: value for name, value in ids.items() if value is not None}


def _look_up(document: ToolDocument, operation_id: str) -> JsonObject:
    """What became of the operation. Raises RuntimeError when that was not answered."""
    asked = {"tool": document.name, "operation_id": operation_id}
    status, body = Exchange(document.lookup or "").ask(asked)
    answer = json.loads(body) if status == 200 else None
    if not isinstance(answer, dict):
        raise RuntimeError(f"look-up of {document.name}: HTTP {status}")
    return answer


def _result(tool: str, status: int, body: bytes) -> str:
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RuntimeError(f"tool {tool}: HTTP {status} without a JSON object")
    result = value.get("result")
    if status == 200 and isinstance(value.get("content"), list):
        return Parts.of_content(value["content"])
    if status == 200 and isinstance(result, str):
        return result
    raise raised_by(value) or RuntimeError(f"tool {tool}: HTTP {status}: {value}")


def raised_by(problem: JsonObject) -> Exception | None:
    """What the tool raised, as its problem document tells it."""
    detail, wait = problem.get("detail"), problem.get("retry_after")
    if not isinstance(detail, str):
        return None
    if problem.get("raises") == "RateLimited":
        return RateLimited(detail, retry_after=wait if isinstance(wait, int | float) else None)
    raised = _RAISES.get(problem.get("raises"))
    return None if raised is None else raised(detail)
