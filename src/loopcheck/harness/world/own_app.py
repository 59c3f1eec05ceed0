"""The recorder of an agent's own functions over HTTP, for agents in other processes."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import Future
from http import HTTPStatus
from urllib.parse import unquote

from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply
from loopcheck.harness.world.behaviours import Elsewhere, Ending, RaisedElsewhere
from loopcheck.harness.world.bodies import Body
from loopcheck.harness.world.course import adrive
from loopcheck.harness.world.gates import CaseEnded
from loopcheck.harness.world.own_tools import OwnTools


class _Run:
    """One run of a function that is elsewhere."""

    def __init__(self, own: OwnTools, body: Body) -> None:
        self._own = own
        self._waiter = own.hold(body)
        self._left: Future[None] = Future()
        self._request: HttpRequest | None = None
        self._told: JsonObject = {}
        self.wanted = asyncio.Event()
        self.ending = asyncio.ensure_future(adrive(own.course(body, self._left), self._function))
        # Of a function whose process died nobody hears how it ended.
        self.ending.add_done_callback(lambda ending: ending.cancelled() or ending.exception())

    def heed(self, request: HttpRequest) -> None:
        """It is this request's client that waits now."""
        self._request = request

        def leave(_: Future[None]) -> None:
            if self._request is request and not self._left.done():
                self._left.set_result(None)

        if request.left is not None:
            request.left.add_done_callback(leave)

    def heed_nobody(self) -> None:
        """The function runs, so that no client waits."""
        self._request = None

    def tell(self, told: JsonObject) -> None:
        """The function has ended, with this result or exception."""
        self._told = told
        self._own.let_go(self._waiter)

    async def _function(self) -> object:
        self.wanted.set()
        await asyncio.wrap_future(self._waiter.opened)
        if "raised" in self._told:
            raise RaisedElsewhere(str(self._told["raised"]))
        return Elsewhere(self._told.get("result", ""))


class OwnApp:
    """Serves `POST own/<name>`, with the arguments as body, and `POST own/<name>/<run>`.

    The first enters an execution. Where the function is to run, the answer is its `run` and its
    `token`; the second then tells its `result`, token included, or what it `raised`, both in words.
    The end is `{"result": text}`, `{"own": true}` where the function's result stands, or a
    document that names the exception in `raises`.
    """

    def __init__(self, own: OwnTools) -> None:
        self._own = own
        self._runs: dict[str, _Run] = {}

    async def __call__(self, request: HttpRequest) -> Reply:
        body: object = json.loads(request.body or b"null")
        match request.path.strip("/").split("/"):
            case ["own", tool] if isinstance(body, dict):
                return await self._begin(request, unquote(tool), body)
            case ["own", _, number] if isinstance(body, dict) and number in self._runs:
                return await self._end(request, self._runs.pop(number), body)
        return _json(HTTPStatus.NOT_FOUND, {"detail": f"nothing is served at {request.path}"})

    async def _begin(self, request: HttpRequest, tool: str, arguments: JsonObject) -> Reply:
        try:
            body = self._own.enter(tool, arguments)
        except CaseEnded as error:
            return _over(error)
        run = _Run(self._own, body)
        run.heed(request)
        wanted = asyncio.ensure_future(run.wanted.wait())
        await asyncio.wait((wanted, run.ending), return_when=asyncio.FIRST_COMPLETED)
        wanted.cancel()
        if run.ending.done():
            return await _ended(run)
        run.heed_nobody()
        self._runs[str(body.number)] = run
        return _json(HTTPStatus.OK, {"run": body.number, "token": body.token})

    async def _end(self, request: HttpRequest, run: _Run, told: JsonObject) -> Reply:
        run.heed(request)
        run.tell(told)
        return await _ended(run)


async def _ended(run: _Run) -> Reply:
    try:
        ending = await run.ending
    except RaisedElsewhere:
        return _json(HTTPStatus.OK, {"own": True})
    except CaseEnded as error:
        return _over(error)
    return _reply(ending)


def _reply(ending: Ending) -> Reply:
    if ending.exception is not None:
        document: JsonObject = {
            "detail": str(ending.exception),
            "raises": type(ending.exception).__name__,
            "retry_after": getattr(ending.exception, "retry_after", None),
        }
        return _json(HTTPStatus(ending.status), document)
    stands = isinstance(ending.value, Elsewhere)
    return _json(HTTPStatus.OK, {"own": True} if stands else {"result": ending.value})


def _over(error: CaseEnded) -> Reply:
    return _json(HTTPStatus.SERVICE_UNAVAILABLE, {"detail": str(error)})


def _json(status: HTTPStatus, document: JsonObject) -> Reply:
    return Reply(
        status=status.value,
        headers=(("content-type", "application/json"),),
        segments=(json.dumps(document).encode(),),
    )
