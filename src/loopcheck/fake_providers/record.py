"""Passes requests on to a real service, and keeps each exchange as a recording.

The client's own key is used, and is not kept. Nothing of a response waits for its end: a stream
reaches the client chunk by chunk.
"""

from __future__ import annotations

import http.client
import json
import re
import ssl
import threading
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from loopcheck.fake_providers.chunked import ChunkError, chunks
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.recordings import Recording, parse_events
from loopcheck.fake_providers.routing import spoken
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

# What a recording keeps of headers; everything else may be personal.
_KEPT: Final = re.compile(
    r"accept|content-type|user-agent|anthropic-(version|beta)|openai-(version|beta|processing-ms)"
    r"|x-stainless-(async|lang|retry-count|read-timeout|helper-method)|cache-control|date"
    r"|(x|anthropic)-ratelimit-.*|retry-after(-ms)?|x-should-retry|(x-)?request-id"
    r"|x-content-type-options|access-control-expose-headers"
)
_NEUTRAL: Final[Mapping[str, str]] = {
    "openai-organization": "org-neutral",
    "openai-project": "proj_neutral",
    "anthropic-organization-id": "00000000-0000-0000-0000-000000000000",
}
_OF_CONNECTION: Final = (
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
)
_SECRET_HEADERS: Final = ("authorization", "x-api-key", "api-key", "cookie")
_HIDDEN: Final = "***"
# A shorter key, such as `test`, is no secret, and its letters stand in many words.
_SECRET_SIZE: Final = 8
_CHUNK: Final = 64 * 1024
_TRUST: Final = "SSL_CERT_FILE names a file with the certificates to trust"
_RAW_HEAD: Final = 1200
_SECONDS: Final = 600.0


class UpstreamError(Exception):
    """The URL of a service cannot be used. Says why."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A service to pass requests on to."""

    scheme: str
    host: str
    port: int | None
    path: str

    @classmethod
    def of(cls, url: str) -> Upstream:
        """The service at this URL, with or without the `/v1` that its paths begin with."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UpstreamError(f"not a URL: {url!r}: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UpstreamError(
                f"not a URL of a service: {url!r}; it is like https://api.openai.com"
            )
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/").removesuffix("/v1"))

    def connect(self, tls: ssl.SSLContext) -> http.client.HTTPConnection:
        """A connection to it, which trusts what `tls` says where it is encrypted."""
        if self.scheme == "https":
            return http.client.HTTPSConnection(self.host, self.port, timeout=_SECONDS, context=tls)
        return http.client.HTTPConnection(self.host, self.port, timeout=_SECONDS)


@dataclass(slots=True)
class Album:
    """The folder that recordings are written to, numbered in the order of their requests."""

    folder: Path
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_name(self, request: HttpRequest) -> str:
        """The name of the next recording; files that are there already keep theirs."""
        with self._lock:
            self._count += 1
            while list(self.folder.glob(f"{self._count:03}-*.json")):
                self._count += 1
            return f"{self._count:03}-{spoken(request)}"

    def keep(self, recording: Recording) -> None:
        """Writes the recording to a file."""
        text = json.dumps(recording.document(), ensure_ascii=False, indent=1)
        (self.folder / f"{recording.name}.json").write_text(text + "\n", encoding="utf-8")


class Recorder(ThreadingHTTPServer):
    """A server that passes everything on and records calls of the model; a context manager.

    Raises OSError when it cannot listen.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, upstream: Upstream, folder: Path, *, host: str, port: int) -> None:
        self.upstream = upstream
        self.album = Album(folder)
        # It takes long to load the certificates, and every request has a connection of its own.
        self.tls = ssl.create_default_context()
        super().__init__((host, port), _Exchange)

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}"


class _Exchange(BaseHTTPRequestHandler):
    """One connection of a client, each request passed on over a connection of its own."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._pass_on()

    do_POST = do_DELETE = do_PUT = do_PATCH = do_HEAD = do_OPTIONS = do_GET

    @property
    def _recorder(self) -> Recorder:
        assert isinstance(self.server, Recorder)
        return self.server

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: headers and paths are the user's."""

    def _pass_on(self) -> None:
        try:
            sent = self._body()
        except (ChunkError, ValueError) as error:
            self.close_connection = True
            self._fail(400, f"the body of the request cannot be read: {error}")
            return
        upstream = self._recorder.upstream
        with closing(upstream.connect(self._recorder.tls)) as connection:
            try:
                response = self._ask(connection, sent)
            except ssl.SSLCertVerificationError as error:
                self._fail(502, f"{upstream.host} is not trusted: {error}; {_TRUST}")
            except (OSError, http.client.HTTPException) as error:
                self._fail(502, f"{upstream.host} does not answer: {error}")
            else:
                self._hand_on(response, sent)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return b"".join(chunks(self.rfile))
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _ask(self, connection: http.client.HTTPConnection, body: bytes) -> http.client.HTTPResponse:
        path = self._recorder.upstream.path + self.path
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _OF_CONNECTION
        }
        # What is recorded has to be readable.
        headers["accept-encoding"] = "identity"
        headers["connection"] = "close"
        connection.request(self.command, path, body=body, headers=headers)
        return connection.getresponse()

    def _hand_on(self, response: http.client.HTTPResponse, sent: bytes) -> None:
        with response:
            try:
                self._answer(response, sent)
            except (OSError, http.client.HTTPException):
                # Either side has gone: half an exchange is no recording.
                self.close_connection = True

    def _answer(self, response: http.client.HTTPResponse, sent: bytes) -> None:
        """Keeps the exchange before its last byte is sent: who has the answer has the recording."""
        length = response.headers.get("content-length")
        streamed = length is None and self.command != "HEAD" and response.status not in (204, 304)
        received = [] if streamed else [response.read()]
        if not streamed:
            self._record(response, sent, received)
        self.send_response_only(response.status)
        for name, value in response.headers.items():
            if name.lower() not in _OF_CONNECTION:
                self.send_header(name, value)
        if streamed:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", length or "0")
        self.end_headers()
        if not streamed:
            self.wfile.write(received[0])
            return
        while part := response.read1(_CHUNK):
            received.append(part)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        self._record(response, sent, received)
        self.wfile.write(b"0\r\n\r\n")

    def _record(
        self, response: http.client.HTTPResponse, sent: bytes, received: list[bytes]
    ) -> None:
        path, _, query = self.path.partition("?")
        request = HttpRequest(
            method=self.command,
            path=path,
            query=query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=sent,
        )
        if dialect(spoken(request)).serves(request.method, request.path) != "generate":
            return
        album = self._recorder.album
        name = album.next_name(request)
        headers = dict(response.headers.items())
        body = b"".join(received)
        album.keep(recording_of(name, request, response.status, headers, body))

    def _fail(self, status: int, message: str) -> None:
        body = json.dumps({"type": "error", "error": {"type": "upstream", "message": message}})
        self.send_response_only(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


def recording_of(
    name: str, request: HttpRequest, status: int, headers: Mapping[str, str], body: bytes
) -> Recording:
    """The exchange without its secrets, wherever they stand."""
    secrets = _secrets(request)
    text = _without(body.decode(errors="replace"), secrets)
    kind = next((value for key, value in headers.items() if key.lower() == "content-type"), "")
    events = parse_events(text) if kind.startswith("text/event-stream") else None
    sent = _json(_without(request.body.decode(errors="replace"), secrets))
    asked: JsonObject | None = sent if isinstance(sent, dict) else None
    query = f"?{request.query}" if request.query else ""
    return Recording(
        name=name,
        protocol=spoken(request),
        stream=asked is not None and asked.get("stream") is True,
        method=request.method,
        path=_without(request.path + query, secrets),
        request_headers=_kept(request.headers.items(), secrets),
        request_body=asked,
        status=status,
        headers=_kept(headers.items(), secrets),
        body=_json(text) if events is None else None,
        events=events,
        raw_head=None if events is None else text[:_RAW_HEAD],
    )


def _secrets(request: HttpRequest) -> list[str]:
    values = [request.headers.get(name, "") for name in _SECRET_HEADERS]
    parts = [part for value in values for part in (value, value.rpartition(" ")[2])]
    return sorted({part for part in parts if len(part) >= _SECRET_SIZE}, key=len, reverse=True)


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    return text


def _kept(headers: Iterable[tuple[str, str]], secrets: Iterable[str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        if key in _NEUTRAL:
            kept[key] = _NEUTRAL[key]
        elif _KEPT.fullmatch(key):
            kept[key] = _without(value, secrets)
    return kept


def _json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value
