"""The servers that are measured, each a process of its own, and their answers.

    python contestants.py raw FILE | python contestants.py loopcheck DIALECT MODE SEGMENTS

`raw` is what every fake in Python could be at best: the streams of asyncio, a request read up to
its content length and not looked at, an answer of prepared bytes, one write an event. `loopcheck`
is the whole fake: server, request rules, script, rendering and journal. Each prints its port.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopcheck.fake_providers._requests import Received, RequestReader
from loopcheck.fake_providers._responses import LAST_CHUNK, chunk, head
from loopcheck.fake_providers.provider import Provider
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
from loopcheck.harness.journal import Journal

PATHS: Final[dict[DialectName, str]] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}
EVENTS: Final = 500
PROMPT: Final = "Say something about the weather in Bern."
WORD: Final = "word "
_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_SCHEMA: Final = {"type": "object", "properties": {"city": {"type": "string"}}}
_AIMOCK: Final = "@copilotkit/aimock@1.43.0"


@dataclass(frozen=True, slots=True)
class Contestant:
    """A running server."""

    name: str
    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """The CPU time that all its threads have used."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def resident_mib(self) -> float:
        """The memory that it holds."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def request(dialect: DialectName, mode: Mode) -> bytes:
    """A request for the task, in full, as an SDK would send it."""
    said = [{"role": "user", "content": PROMPT}]
    body: dict[str, object] = {"model": "gpt-4o", "stream": mode == "stream"}
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
    text = json.dumps(body).encode()
    return (
        f"POST {PATHS[dialect]} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n"
        "authorization: Bearer sk-bench-0123456789\r\nanthropic-version: 2026-10-21\r\n"
        "user-agent: bench/1.0\r\ncontent-type: application/json\r\n"
        f"content-length: {len(text)}\r\n\r\n"
    ).encode() + text


def script(segments: Segments, mode: Mode) -> Script:
    """An answer that is always the same: in a stream, one of so many events."""
    said = Say(WORD * (EVENTS if mode == "stream" else 20))
    delivery = Delivery(fragments=len(WORD), segments=segments)
    turn = Turn(number=1, attempts=(Attempt(content=(said,), delivery=delivery),))
    return Script(turns=(turn,), otherwise=(turn,), prompt=PROMPT, tools=("weather",))


def provider(dialect: DialectName, mode: Mode, segments: Segments = "frame") -> Provider:
    """The fake as a case has it: every rule that is on, and a journal."""
    told = script(segments, mode)
    return Provider(script=told, dialect=dialect, mode=mode, seed=0, record=Journal().record)


def writes(dialect: DialectName, mode: Mode, segments: Segments = "frame") -> list[bytes]:
    """What the fake writes to its socket for one answer, write by write."""
    (received,) = RequestReader().feed(request(dialect, mode))
    assert isinstance(received, Received)
    reply = provider(dialect, mode, segments).handle(received.request)
    start = head(reply, keep_alive=True, chunks=True)
    if not reply.streamed:
        return [start + reply.segments[0]]
    return [start, *map(chunk, reply.segments), LAST_CHUNK]


@contextmanager
def loopcheck(
    dialect: DialectName, mode: Mode, segments: Segments = "frame"
) -> Iterator[Contestant]:
    with _running("loopcheck", [sys.executable, __file__, "loopcheck", dialect, mode, segments]) as it:
        yield it


@contextmanager
def raw(writes: Sequence[bytes]) -> Iterator[Contestant]:
    """A server that answers every request with these writes."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([part.decode("latin-1") for part in writes], file)
        file.flush()
        with _running("raw", [sys.executable, __file__, "raw", file.name]) as it:
            yield it


@contextmanager
def aimock(mode: Mode) -> Iterator[Contestant | None]:
    """aimock with the same answers, where Node is present; it coalesces what it can."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", _AIMOCK]
        if subprocess.run(install, cwd=folder, check=False).returncode:
            yield None
            return
        said = WORD * (EVENTS if mode == "stream" else 20)
        fixture = {"match": {"userMessage": PROMPT}, "response": {"content": said}}
        (folder / "fixture.json").write_text(json.dumps({"fixtures": [fixture]}))
        cli = "node_modules/@copilotkit/aimock/dist/cli.js"
        options = ["-p", "0", "-f", "fixture.json", "-c", str(len(WORD)), "--log-level", "info"]
        with _running("aimock", ["node", cli, *options], folder) as it:
            yield it


@contextmanager
def _running(
    name: str, command: Sequence[str], folder: Path | None = None
) -> Iterator[Contestant]:
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    try:
        yield Contestant(name, _port(process.stdout), process.pid)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def _port(lines: Iterator[str]) -> int:
    said = ""
    for line in lines:
        said += line
        if found := re.search(r"127\.0\.0\.1:(\d+)", line):
            return int(found[1])
    raise SystemExit(f"a server did not start: {said}")


async def _serve_raw(writes: Sequence[bytes]) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                await reader.readexactly(int(length[1]) if length else 0)
                for data in writes:
                    writer.write(data)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionResetError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    _announce(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _serve_loopcheck(dialect: DialectName, mode: Mode, segments: Segments) -> None:
    with Server() as server:
        server.mount_root(provider(dialect, mode, segments).handle)
        _announce(int(server.url.rpartition(":")[2]))
        # Threads of this process do nothing but serve until it is terminated.
        sys.stdin.read() if sys.stdin.isatty() else _wait()


def _wait() -> None:
    import threading

    threading.Event().wait()


def _announce(port: int) -> None:
    print(f"127.0.0.1:{port}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "raw":
        prepared = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
        asyncio.run(_serve_raw([part.encode("latin-1") for part in prepared]))
    else:
        _serve_loopcheck(*sys.argv[2:])  # type: ignore[arg-type]
