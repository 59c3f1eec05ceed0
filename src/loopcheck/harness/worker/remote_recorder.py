"""Records an agent's own functions in the world of a case that is in another process."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.worker.exchange import Answer, Exchange
from loopcheck.harness.worker.remote_tools import raised_by
from loopcheck.harness.world.behaviours import described, in_words, marked


class RemoteRecorder:
    """A recorder that tells the world at `root` what is run, and does as it says."""

    def __init__(self, root: str) -> None:
        self._root = root

    def run(self, tool: str, arguments: JsonObject, function: Callable[[], object]) -> object:
        where = f"{self._root}/{quote(tool, safe='')}"
        begun = _read(tool, Exchange(where).ask(arguments))
        if "run" not in begun:
            return begun["result"]
        here = Exchange(f"{where}/{begun['run']}")
        try:
            value = marked(function(), str(begun["token"]))
        except BaseException as error:
            here.ask({"raised": described(error)})
            raise
        ended = _read(tool, here.ask({"result": in_words(value)}))
        return value if "own" in ended else ended["result"]

    async def arun(
        self, tool: str, arguments: JsonObject, function: Callable[[], Awaitable[object]]
    ) -> object:
        where = f"{self._root}/{quote(tool, safe='')}"
        begun = _read(tool, await Exchange(where).aask(arguments))
        if "run" not in begun:
            return begun["result"]
        here = Exchange(f"{where}/{begun['run']}")
        try:
            value = marked(await function(), str(begun["token"]))
        except BaseException as error:
            # Without awaiting, since it may be a cancellation that is under way.
            here.ask({"raised": described(error)})
            raise
        ended = _read(tool, await here.aask({"result": in_words(value)}))
        return value if "own" in ended else ended["result"]


def _read(tool: str, answer: Answer) -> JsonObject:
    status, body = answer
    document: JsonObject = json.loads(body)
    if status == 200:
        return document
    raise raised_by(document) or RuntimeError(f"tool {tool}: HTTP {status}: {document}")
