"""Tools whose bodies are in another process, behind an HTTP endpoint each."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http.client import HTTPConnection
from typing import Final
from urllib.parse import urlsplit

from loopcheck.harness.task import Tool
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
        return _post(document, arguments, call_id, operation_id)

    async def acall(
        arguments: Mapping[str, object],
        call_id: str | None = None,
        operation_id: str | None = None,
    ) -> str:
        return await _in_own_thread(lambda: call(arguments, call_id, operation_id))

    return build_tool(
        document.name,
        document.description,
        document.parameters,
        document.kind,
        document.operation,
        call=call,
        acall=acall,
        blocking=blocking,
    )


def _post(
    document: ToolDocument,
    arguments: Mapping[str, object],
    call_id: str | None,
    operation_id: str | None,
) -> str:
    headers = {"content-type": "application/json"}
    if call_id is not None:
        headers["x-call-id"] = call_id
    if operation_id is not None:
        headers["idempotency-key"] = operation_id
    url = urlsplit(document.invoke)
    connection = HTTPConnection(url.netloc)
    try:
        connection.request("POST", url.path, json.dumps(dict(arguments)), headers)
        answer = connection.getresponse()
        return _result(document.name, answer.status, answer.read())
    finally:
        connection.close()


def _result(tool: str, status: int, body: bytes) -> str:
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RuntimeError(f"tool {tool}: HTTP {status} without a JSON object")
    result = value.get("result")
    if status == 200 and isinstance(result, str):
        return result
    detail = value.get("detail")
    raised = _RAISES.get(value.get("raises"))
    if raised is None or not isinstance(detail, str):
        raise RuntimeError(f"tool {tool}: HTTP {status}: {value}")
    raise raised(detail)


async def _in_own_thread(work: Callable[[], str]) -> str:
    """Awaits blocking work in a thread of its own: a pool would fill up with calls that wait for
    one that has no thread yet."""
    done: Future[str] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    done.set_running_or_notify_cancel()
    threading.Thread(target=run, name="loopcheck-tool", daemon=True).start()
    return await asyncio.wrap_future(done)
