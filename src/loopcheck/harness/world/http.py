"""The world over HTTP, for loops in other processes and languages."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote

from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply
from loopcheck.harness.world.gates import CaseEnded
from loopcheck.harness.world.world import World

# What a tool raises travels as a problem document; the client's side raises it again.
_RAISED: Final[Mapping[type[Exception], HTTPStatus]] = {
    RuntimeError: HTTPStatus.INTERNAL_SERVER_ERROR,
    TimeoutError: HTTPStatus.GATEWAY_TIMEOUT,
    PermissionError: HTTPStatus.FORBIDDEN,
    ConnectionError: HTTPStatus.BAD_GATEWAY,
}


class _Problem(Exception):
    def __init__(self, status: HTTPStatus, detail: str, raises: str | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.raises = status, detail, raises


def tool_app(world: World) -> Callable[[HttpRequest], Awaitable[Reply]]:
    """Serves `POST tools/<name>`, with the arguments as body, and `POST operations`, with `tool`
    and `operation_id`, to a server on whose event loop it never blocks.

    The wire call id comes in `x-call-id` and the operation id in `idempotency-key`, where the
    loop knows them. A result is `{"result": text}`; what a tool raises is a problem document
    that names the exception in `raises`.
    """

    async def app(request: HttpRequest) -> Reply:
        try:
            return _json(HTTPStatus.OK, await _answer(world, request))
        except _Problem as problem:
            return _problem(problem)

    return app


async def _answer(world: World, request: HttpRequest) -> JsonObject:
    match request.path.strip("/").split("/"):
        case ["tools", name]:
            return await _execute(world, request, unquote(name))
        case ["operations"]:
            return _look_up(world, request)
    raise _Problem(HTTPStatus.NOT_FOUND, f"nothing is served at {request.path}")


async def _execute(world: World, request: HttpRequest, tool: str) -> JsonObject:
    arguments = _body(request)
    try:
        result = await world.aexecute(
            tool,
            arguments,
            call_id=request.headers.get("x-call-id"),
            operation_id=request.headers.get("idempotency-key"),
        )
    except LookupError as error:
        raise _Problem(HTTPStatus.NOT_FOUND, str(error)) from None
    except CaseEnded as error:
        raise _Problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None
    except tuple(_RAISED) as error:
        if type(error) not in _RAISED:
            raise
        raise _Problem(_RAISED[type(error)], str(error), type(error).__name__) from None
    return {"result": result}


def _look_up(world: World, request: HttpRequest) -> JsonObject:
    body = _body(request)
    tool, operation_id = body.get("tool"), body.get("operation_id")
    if not isinstance(tool, str) or not isinstance(operation_id, str):
        raise _Problem(HTTPStatus.BAD_REQUEST, "'tool' and 'operation_id' have to be texts")
    try:
        return world.lookup(tool, operation_id)
    except LookupError as error:
        raise _Problem(HTTPStatus.NOT_FOUND, str(error)) from None


def _body(request: HttpRequest) -> JsonObject:
    if request.method != "POST":
        raise _Problem(HTTPStatus.METHOD_NOT_ALLOWED, f"POST is served, not {request.method}")
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        raise _Problem(HTTPStatus.BAD_REQUEST, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise _Problem(HTTPStatus.BAD_REQUEST, "the body has to be a JSON object")
    return body


def _json(
    status: HTTPStatus, document: JsonObject, content_type: str = "application/json"
) -> Reply:
    return Reply(
        status=status.value,
        headers=(("content-type", content_type),),
        segments=(json.dumps(document, ensure_ascii=False).encode(),),
    )


def _problem(problem: _Problem) -> Reply:
    document: JsonObject = {
        "type": "about:blank",
        "title": problem.status.phrase,
        "status": problem.status.value,
        "detail": problem.detail,
    }
    if problem.raises is not None:
        document["raises"] = problem.raises
    return _json(problem.status, document, "application/problem+json")
