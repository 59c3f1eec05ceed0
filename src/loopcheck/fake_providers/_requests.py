"""Reads HTTP requests from the bytes of a connection, within bounds."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NoReturn

from httptools import (
    HttpParserError,
    HttpParserInvalidURLError,
    HttpParserUpgrade,
    HttpRequestParser,
    parse_url,
)

from loopcheck.fake_providers.wire import HttpRequest

MAX_BODY: Final = 64 * 1024 * 1024
MAX_HEAD: Final = 256 * 1024

_BEYOND_LENGTH: Final = {"transfer-encoding", "content-encoding", "expect", "upgrade"}
_LARGE_HEAD: Final = f"the head is larger than {MAX_HEAD} bytes"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Bytes that are no request we serve: the status and the sentence to answer with."""

    status: int
    message: str


@dataclass(slots=True, kw_only=True)
class Received:
    """A whole request and how its client wants the connection used. `chunks` is False for
    HTTP/1.0, which has no chunked encoding."""

    request: HttpRequest
    keep_alive: bool
    chunks: bool


class _Refused(Exception):
    """Leaves the parser's callback; the refusal itself is kept by the reader."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a request whose body has a length and comes as it is."""

    text: bytes
    body_size: int
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    keep_alive: bool
    chunks: bool

    @classmethod
    def of(cls, data: bytes, received: Received | Refusal) -> _Head | None:
        """The head of the request that these bytes are; None where its body is not just what
        follows."""
        if isinstance(received, Refusal):
            return None
        request, end = received.request, data.find(b"\r\n\r\n") + 4
        size = len(data) - end
        if len(request.body) != size or request.headers.get("content-length") != str(size):
            return None
        if _BEYOND_LENGTH & request.headers.keys():
            return None
        return cls(
            data[:end],
            size,
            request.method,
            request.path,
            request.query,
            request.headers,
            received.keep_alive,
            received.chunks,
        )

    def begins(self, data: bytes) -> bool:
        """Whether the data is one request with this head."""
        return len(data) == len(self.text) + self.body_size and data.startswith(self.text)

    def with_body(self, data: bytes) -> Received:
        """The request that the data is."""
        return Received(
            request=HttpRequest(
                method=self.method,
                path=self.path,
                query=self.query,
                headers=self.headers,
                body=data[len(self.text) :],
            ),
            keep_alive=self.keep_alive,
            chunks=self.chunks,
        )


@lru_cache(maxsize=256)
def _key(name: bytes) -> str:
    return name.decode("latin-1").lower()


class RequestReader:
    """Turns the bytes of one connection into requests. After a refusal it reads no more."""

    def __init__(self) -> None:
        self._parser = HttpRequestParser(self)
        self._complete: list[Received | Refusal] = []
        self._refused: Refusal | None = None
        self._latest: _Head | None = None
        self._between = True
        self.wants_continue = False
        self._begin()

    def feed(self, data: bytes) -> list[Received | Refusal]:
        """What became complete with these bytes, in order; a refusal is the last."""
        if self._refused is not None:
            return []
        # Clients write one head again and again, and to read it is most of the work.
        latest, between = self._latest, self._between
        if latest is not None and between and latest.begins(data):
            return [latest.with_body(data)]
        in_head = self._in_head
        try:
            self._parser.feed_data(data)
            if in_head and self._in_head and not self._complete:
                self._bound_unfinished_head(len(data))
        except HttpParserUpgrade as upgrade:
            (end,) = upgrade.args
            return self.feed(self._head_without_upgrade() + data[end:])
        except HttpParserError as error:
            self._refused = self._refused or Refusal(400, f"malformed HTTP request: {error}")
            self._complete.append(self._refused)
        complete, self._complete = self._complete, []
        if between and self._between and len(complete) == 1:
            self._latest = _Head.of(data, complete[0])
        return complete

    def _bound_unfinished_head(self, size: int) -> None:
        """The parser keeps a field to itself until it is whole, however long it grows."""
        self._pending += size
        if self._pending > MAX_HEAD:
            self._refused = Refusal(431, _LARGE_HEAD)
            self._complete.append(self._refused)

    def _bound_head(self, size: int) -> None:
        self._head_size += size
        if self._head_size > MAX_HEAD:
            self._refuse(431, _LARGE_HEAD)

    def _refuse(self, status: int, message: str) -> NoReturn:
        self._refused = Refusal(status, message)
        raise _Refused

    def _head_without_upgrade(self) -> bytes:
        """The head again, for a new parser: the old one takes what follows an offer to upgrade
        (Java's client offers HTTP/2 with each first request) for another protocol."""
        headers = {k: v for k, v in self._headers.items() if k not in ("upgrade", "connection")}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        start = self._parser.get_method() + b" " + self._target + b" HTTP/1.1\r\n"
        self._parser = HttpRequestParser(self)
        return start + lines.encode("latin-1") + b"\r\n"

    # The parser calls these by name.

    def on_message_begin(self) -> None:
        self._between = False
        self._begin()

    def _begin(self) -> None:
        self._target = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._body_size = 0
        self._head_size = 0
        self._pending = 0
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        self._target += url
        self._bound_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name, value))
        if not self._in_head:  # behind the body
            self._bound_head(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._bound_head(sum([len(name) + len(value) for name, value in self._fields]))
        self._gather_fields()
        headers = self._headers
        if self._parser.get_method() == b"CONNECT":
            self._refuse(405, "this server is no proxy")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > MAX_BODY:
            self._refuse(413, f"the body of {length} bytes is larger than {MAX_BODY} bytes")
        self.wants_continue = headers.get("expect", "").lower() == "100-continue"

    def _gather_fields(self) -> None:
        headers = self._headers
        for name, value in self._fields:
            key, text = _key(name), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        self._fields.clear()

    def on_body(self, body: bytes) -> None:
        self._body_size += len(body)
        if self._body_size > MAX_BODY:
            self._refuse(413, f"the body is larger than {MAX_BODY} bytes")
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._parser.should_upgrade():
            return
        self.wants_continue = False
        self._gather_fields()
        self._in_head = True
        self._between = True
        self._pending = 0
        path, query = self._path_and_query()
        self._complete.append(
            Received(
                request=HttpRequest(
                    method=self._parser.get_method().decode("ascii"),
                    path=path,
                    query=query,
                    headers=self._headers,
                    body=self._whole_body(),
                ),
                keep_alive=self._parser.should_keep_alive(),
                chunks=self._parser.get_http_version() != "1.0",
            )
        )

    def _path_and_query(self) -> tuple[str, str]:
        target = self._target
        if not target.startswith((b"/", b"*")):
            try:
                url = parse_url(target)
            except HttpParserInvalidURLError:
                self._refuse(400, "the request's target is neither a path nor a URL")
            target = (url.path or b"/") + (b"?" + url.query if url.query else b"")
        path, _, query = target.decode("latin-1").partition("?")
        return path, query

    def _whole_body(self) -> bytes:
        body = b"".join(self._body)
        if self._headers.get("content-encoding", "").lower() != "gzip":
            return body
        unzip = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            plain = unzip.decompress(body, MAX_BODY + 1)
        except zlib.error as error:
            self._refuse(400, f"the body is not gzip, as content-encoding says: {error}")
        if len(plain) > MAX_BODY:
            self._refuse(413, f"the body is larger than {MAX_BODY} bytes when unzipped")
        if not unzip.eof:
            self._refuse(400, "the gzip body is cut short")
        return plain
