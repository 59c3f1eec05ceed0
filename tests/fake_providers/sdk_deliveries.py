"""What the official SDKs make of replies over a socket and in process, on their own HTTP clients.

`python sdk_deliveries.py` compares both ways under the releases that are installed, and prints as
JSON how many replies were compared and which came out otherwise.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from importlib import metadata
from typing import Any, Final

import anthropic
import openai
from delivered import KEY, QUESTION, WAYS, Seen, recorded, seen

from loopcheck.fake_providers.script import (
    DIALECTS,
    MODES,
    Attempt,
    Call,
    Content,
    DialectName,
    Fault,
    Mode,
    Say,
    answer,
)
from loopcheck.fake_providers.server import Server

_CONTENT: Final[list[Content]] = [
    Say("Zürich \N{SEAT}"),
    Call(label="a", tool="reserve", arguments='{"seat":12}'),
]
_FAULTS: Final[dict[Mode, tuple[Fault | None, ...]]] = {
    "stream": (
        *(None, Fault(kind="half-chunk"), Fault(kind="reset"), Fault(kind="eof")),
        *(Fault(kind="close"), Fault(kind="error-event"), Fault(kind="http"), Fault(kind="empty")),
    ),
    "whole": (None, Fault(kind="half-chunk"), Fault(kind="close"), Fault(kind="http")),
}
_PATHS: Final = {"chat": "v1", "responses": "v1", "messages": ""}
# The class whose client the SDK has for itself.
_BASES: Final = ("httpx", "httpx2")


def _client(root: str, dialect: DialectName, kind: str) -> Any:
    module: Any = anthropic if dialect == "messages" else openai
    name = "Anthropic" if dialect == "messages" else "OpenAI"
    made = getattr(module, f"Async{name}" if kind == "async" else name)
    return made(base_url=f"{root}/{_PATHS[dialect]}", api_key=KEY, max_retries=0)


def _asked(client: Any, dialect: DialectName, *, stream: bool) -> Any:
    if dialect == "messages":
        given = {"model": "claude-sonnet-4-6", "max_tokens": 99, "messages": QUESTION}
        return client.messages.create(**given, stream=stream)
    if dialect == "chat":
        return client.chat.completions.create(model="m", messages=QUESTION, stream=stream)
    return client.responses.create(model="m", input=QUESTION, stream=stream)


def _events(client: Any, dialect: DialectName, *, stream: bool) -> Iterator[object]:
    with client:
        found = _asked(client, dialect, stream=stream)
        for event in found if stream else [found]:
            yield event.to_dict()


async def _aevents(client: Any, dialect: DialectName, *, stream: bool) -> AsyncIterator[object]:
    async with client:
        found = await _asked(client, dialect, stream=stream)
        if not stream:
            yield found.to_dict()
            return
        async for event in found:
            yield event.to_dict()


def _drained(events: Callable[[], AsyncIterator[object]]) -> Iterator[object]:
    """The events of an asynchronous client, for a reader that is not."""
    with asyncio.Runner() as runner:
        left = events()
        while True:
            try:
                yield runner.run(anext(left))  # type: ignore[arg-type]
            except StopAsyncIteration:
                return


def _seen(client: Any, dialect: DialectName, kind: str, mode: Mode) -> Seen:
    stream = mode == "stream"
    if kind == "sync":
        return seen(lambda: _events(client, dialect, stream=stream))
    return seen(lambda: _drained(lambda: _aevents(client, dialect, stream=stream)))


def _both_ways(
    server: Server, attempt: Attempt, dialect: DialectName, kind: str, mode: Mode
) -> list[tuple[Seen, list[object]]]:
    found = []
    for way in WAYS:
        provider, notes = recorded(attempt, dialect, mode)
        with way(server, provider.handle) as root:
            found.append((_seen(_client(root, dialect, kind), dialect, kind, mode), notes))
    return found


def _replies() -> Iterator[tuple[DialectName, str, Mode, Attempt]]:
    for dialect in DIALECTS:
        for kind in ("sync", "async"):
            for mode in MODES:
                for fault in _FAULTS[mode]:
                    yield dialect, kind, mode, replace(answer(_CONTENT), fault=fault)


def compared() -> dict[str, object]:
    """What was compared, on which clients, and what came out otherwise."""
    count, errors, other = 0, 0, []
    with Server() as server:
        for dialect, kind, mode, attempt in _replies():
            socket, process = _both_ways(server, attempt, dialect, kind, mode)
            count += 1
            errors += bool(socket[0][1])
            if socket != process:
                fault = attempt.fault.kind if attempt.fault else "none"
                other.append(f"{dialect} {kind} {mode} {fault}: {socket} / {process}"[:2000])
    return {"compared": count, "errors": errors, "otherwise": other, **_clients()}


def _clients() -> dict[str, str]:
    """The releases, and the HTTP client that each of them stands on."""
    made = {"openai": openai.DefaultHttpxClient(), "anthropic": anthropic.DefaultHttpxClient()}
    return {
        name: f"{metadata.version(name)} on {_base(type(client))}" for name, client in made.items()
    }


def _base(kind: type) -> str:
    modules = [base.__module__.partition(".")[0] for base in kind.__mro__]
    return next(module for module in modules if module in _BASES)


if __name__ == "__main__":
    json.dump(compared(), sys.stdout)
