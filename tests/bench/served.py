"""The servers that are measured and that are written in Python, each a process of its own.

    python served.py raw FILE
    python served.py transport DIALECT MODE SEGMENTS
    python served.py loopcheck DIALECT MODE SEGMENTS
    python served.py forever DIALECT MODE SEGMENTS

`raw` is what any server on asyncio's streams costs: it reads a request up to its content length,
looks at nothing in it, and sends prepared bytes, one write an event. `transport` is our server
with one prepared reply. `loopcheck` is the whole fake as a case has it: server, request rules,
script, rendering and journal. `forever` is the same as `loopcheck serve` has it: without journal,
and with bounds on what it remembers. Each prints its address and serves until it is terminated.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from loopcheck.fake_providers._limits import allow_most_connections
from loopcheck.fake_providers._requests import Received, RequestReader
from loopcheck.fake_providers._responses import LAST_CHUNK, chunk, head
from loopcheck.fake_providers.provider import LONG_LIVED, Provider, nothing
from loopcheck.fake_providers.script import (
    Attempt,
    Delivery,
    DialectName,
    Mode,
    Say,
    Script,
    Segments,
    Turn,
)
from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.harness.journal import Journal

PATHS: Final[dict[DialectName, str]] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}
EVENTS: Final = 500
NUMBER: Final = b"00000000"
PROMPT: Final = "Say something about the weather in Bern."
WORD: Final = "word "
_WORDS_OF_WHOLE: Final = 20
_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_SCHEMA: Final = {"type": "object", "properties": {"city": {"type": "string"}}}


def text(mode: Mode) -> str:
    """What is answered: in a stream, so many events."""
    return WORD * (EVENTS if mode == "stream" else _WORDS_OF_WHOLE)


def request(dialect: DialectName, mode: Mode, *, fresh: bool = False) -> bytes:
    """A request for the task, in full, as an SDK would send it. Where it is to be `fresh` each
    time, `NUMBER` stands in it for the number that makes it so."""
    said = [{"role": "user", "content": PROMPT}]
    body: dict[str, object] = {"model": "gpt-4o", "stream": mode == "stream"}
    if fresh:
        body["metadata"] = {"user_id": NUMBER.decode()}
    match dialect:
        case "chat":
            function = {"name": "weather", "parameters": _SCHEMA}
            body |= {"messages": said, "tools": [{"type": "function", "function": function}]}
        case "responses":
            tool = {"type": "function", "name": "weather", "parameters": _SCHEMA}
            body |= {"input": said, "tools": [tool]}
        case "messages":
            tool = {"name": "weather", "input_schema": _SCHEMA}
            body |= {"messages": said, "max_tokens": 4096, "tools": [tool]}
    encoded = json.dumps(body).encode()
    return (
        f"POST {PATHS[dialect]} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n"
        "authorization: Bearer sk-bench-0123456789\r\nanthropic-version: 2026-10-21\r\n"
        "user-agent: bench/1.0\r\ncontent-type: application/json\r\n"
        f"content-length: {len(encoded)}\r\n\r\n"
    ).encode() + encoded


def provider(dialect: DialectName, mode: Mode, segments: Segments, *, forever: bool) -> Provider:
    """The fake as a case has it, or as a server has it that nobody judges."""
    delivery = Delivery(fragments=len(WORD), segments=segments)
    attempt = Attempt(content=(Say(text(mode)),), delivery=delivery)
    turn = Turn(number=1, attempts=(attempt,))
    return Provider(
        script=Script(turns=(turn,), otherwise=(turn,), prompt=PROMPT, tools=("weather",)),
        dialect=dialect,
        mode=mode,
        seed=0,
        record=nothing if forever else Journal().record,
        keep=LONG_LIVED if forever else None,
    )


def reply(dialect: DialectName, mode: Mode, segments: Segments) -> Reply:
    """The fake's answer to that request."""
    (received,) = RequestReader().feed(request(dialect, mode))
    assert isinstance(received, Received)
    made = provider(dialect, mode, segments, forever=True).handle(received.request)
    return replace(made, finished=None)


def writes(dialect: DialectName, mode: Mode, segments: Segments) -> list[bytes]:
    """What the fake writes to its socket for that answer, write by write."""
    made = reply(dialect, mode, segments)
    start = head(made, keep_alive=True, chunks=True)
    if not made.streamed:
        return [start + made.segments[0]]
    return [start, *map(chunk, made.segments), LAST_CHUNK]


async def _serve_raw(prepared: Sequence[bytes]) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                start = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(start)
                await reader.readexactly(int(length[1]) if length else 0)
                for data in prepared:
                    writer.write(data)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionResetError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    _announce(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _serve(handle: Callable[[HttpRequest], Reply]) -> None:
    allow_most_connections()
    with Server() as server:
        server.mount_root(handle)
        _announce(int(server.url.rpartition(":")[2]))
        threading.Event().wait()


def _announce(port: int) -> None:
    print(f"127.0.0.1:{port}", flush=True)


def main(kind: str, *what: str) -> None:
    if kind == "raw":
        prepared = json.loads(Path(what[0]).read_text(encoding="utf-8"))
        asyncio.run(_serve_raw([part.encode("latin-1") for part in prepared]))
        return
    dialect, mode, segments = cast(tuple[DialectName, Mode, Segments], what)
    if kind == "transport":
        made = reply(dialect, mode, segments)
        _serve(lambda request: made)
    else:
        _serve(provider(dialect, mode, segments, forever=kind == "forever").handle)


if __name__ == "__main__":
    main(*sys.argv[1:])
