"""The world over HTTP, for loops in other processes and languages."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote

from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply
from loopcheck.harness.tool_values import Parts, RateLimited
from loopcheck.harness.world.behaviours import Ending
from loopcheck.harness.world.course import CallerLeft
from loopcheck.harness.world.gates import CaseEnded
from loopcheck.harness.world.openapi import IDEMPOTENCY_KEY, OPERATION_ID
from loopcheck.harness.world.world import World

# The reply to a caller who has left: nobody reads it.
_NOBODY: Final = Reply(status=499, headers=(), segments=(), ending="close", keep_alive=False)


class _Problem(Exception):
    """A request that reaches no tool."""

    def __init__(self, status: HTTPStatus, detail: str, *headers: tuple[str, str]) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


def tool_app(
    world: World, description: Callable[[], JsonObject] | None = None
) -> Callable[[HttpRequest], Awaitable[Reply]]:
    """Serves `POST tools/<name>`, with the arguments as body, and `POST operations`, with `tool`
    and `operation_id`, to a server on whose event loop it never blocks. With a description, that
    is `GET openapi.json`.

    The wire call id comes in `x-call-id` and the operation id in `idempotency-key` (or
    `x-operation-id`), where the loop knows them. A result is `{"result": text}`, with `content`
    where it has parts; what a tool raises is a problem document that names the exception in
    `raises`.
    """

    async def app(request: HttpRequest) -> Reply:
        try:
            return await _answer(world, description, request)
        except _Problem as problem:
            return _problem(problem.status, problem.detail, {}, problem.headers)

    return app


async def _answer(
    world: World, description: Callable[[], JsonObject] | None, request: HttpRequest
) -> Reply:
    match request.path.strip("/").split("/"):
        case ["tools", name]:
            return await _execute(world, request, unquote(name))
        case ["operations"]:
            return _json(HTTPStatus.OK, _look_up(world, request))
        case ["openapi.json"] if description is not None:
            _check_method(request, "GET")
            return _json(HTTPStatus.OK, description())
    raise _Problem(HTTPStatus.NOT_FOUND, f"nothing is served at {request.path}")


async def _execute(world: World, request: HttpRequest, tool: str) -> Reply:
    arguments = _body(request)
    try:
        ending = await world.aperform(
            tool,
            arguments,
            call_id=request.headers.get("x-call-id"),
            operation_id=_operation_id(request),
            left=request.left,
        )
    except LookupError as error:
        raise _Problem(HTTPStatus.NOT_FOUND, str(error)) from None
    except CaseEnded as error:
        raise _Problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None
    if ending.exception is not None:
        return _raised(ending, ending.exception)
    parts = {"content": ending.text.content} if isinstance(ending.text, Parts) else {}
    return _json(HTTPStatus.OK, {"result": ending.text, **parts})


def _operation_id(request: HttpRequest) -> str | None:
    headers = request.headers
    return headers.get(IDEMPOTENCY_KEY.lower(), headers.get(OPERATION_ID.lower()))


def _raised(ending: Ending, exception: Exception) -> Reply:
    """What a tool raised; the client's side raises it again."""
    if isinstance(exception, CallerLeft):
        return _NOBODY
    more: JsonObject = {"raises": type(exception).__name__}
    if isinstance(exception, RateLimited) and exception.retry_after is not None:
        more["retry_after"] = exception.retry_after
    return _problem(HTTPStatus(ending.status), str(exception), more, ending.headers)


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
    _check_method(request, "POST")
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        raise _Problem(HTTPStatus.BAD_REQUEST, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise _Problem(HTTPStatus.BAD_REQUEST, "the body has to be a JSON object")
    return body


def _check_method(request: HttpRequest, served: str) -> None:
    if request.method != served:
        raise _Problem(
            HTTPStatus.METHOD_NOT_ALLOWED,
            f"{served} is served, not {request.method}",
            ("allow", served),
        )


def _json(
    status: HTTPStatus,
    document: JsonObject,
    *,
    content_type: str = "application/json",
    headers: tuple[tuple[str, str], ...] = (),
) -> Reply:
    return Reply(
        status=status.value,
        headers=(("content-type", content_type), *headers),
        segments=(json.dumps(document, ensure_ascii=False).encode(),),
    )


def _problem(
    status: HTTPStatus,
    detail: str,
    more: JsonObject,
    headers: tuple[tuple[str, str], ...],
) -> Reply:
    """Problem details, RFC 9457."""
    document: JsonObject = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        **more,
    }
    return _json(status, document, content_type="application/problem+json", headers=headers)
