"""Bodies in the chunked transfer coding, as the standard library's server leaves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

_LONGEST_LINE: Final = 8 * 1024


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def readline(self, size: int, /) -> bytes: ...


class ChunkError(Exception):
    """The bytes are no chunked body, or not all of one. Says what is wrong."""


def chunks(stream: Readable) -> Iterator[bytes]:
    """The chunks of the body that begins here, up to its end with all trailers."""
    while size := _size(_line(stream)):
        chunk = stream.read(size)
        if len(chunk) < size or stream.read(2) != b"\r\n":
            raise ChunkError(f"a chunk of {size} bytes has another length")
        yield chunk
    while _line(stream):
        pass


def _size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    # What `int` takes beside digits, such as signs and underscores, is no size.
    if not digits or digits.strip(b"0123456789abcdefABCDEF"):
        raise ChunkError(f"{line[:20]!r} is no size of a chunk")
    return int(digits, 16)


def _line(stream: Readable) -> bytes:
    line = stream.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise ChunkError("the body ends within a line")
    return line.rstrip(b"\r\n")
