"""The bytes of replies: heads, chunks, and the server's own JSON errors."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from http import HTTPStatus
from itertools import starmap
from typing import Final

from loopcheck.fake_providers.wire import Reply

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"
# A chunk of which nothing follows: the client has all bytes, and waits for more of them.
OPEN_CHUNK: Final = b"400\r\n"

_PHRASES: Final = {int(status): status.phrase for status in HTTPStatus}


def head(reply: Reply, *, keep_alive: bool, chunks: bool) -> bytes:
    """The status line and headers. A body that is not chunked announces its length, and one
    byte more than it has where the reply ends before its body is complete."""
    lines = [_status_line(reply.status), *starmap(_header, reply.headers)]
    if not reply.streamed:
        missing = 0 if reply.ending == "complete" else 1
        lines.append(f"content-length: {sum(map(len, reply.segments)) + missing}")
    elif chunks:
        lines.append("transfer-encoding: chunked")
    if not keep_alive:
        lines.append("connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@cache
def _status_line(status: int) -> str:
    return f"HTTP/1.1 {status} {_PHRASES.get(status, 'Unknown')}"


# Most headers are the same in every reply.
@lru_cache(maxsize=1024)
def _header(name: str, value: str) -> str:
    if "\n" in value or "\r" in value or not name.isprintable() or ":" in name:
        raise ValueError(f"not a header: {name!r}: {value!r}")
    return f"{name}: {value}"


def chunk(segment: bytes) -> bytes:
    """The segment as one chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(segment), segment)


def error_reply(status: int, kind: str, message: str, *, keep_alive: bool = True) -> Reply:
    """An error of the server itself, in a shape that every provider's SDK can show. It asks
    them not to retry: nothing would change."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Reply(
        status=status,
        headers=(("content-type", "application/json"), ("x-should-retry", "false")),
        segments=(json.dumps(body).encode(),),
        keep_alive=keep_alive,
    )
