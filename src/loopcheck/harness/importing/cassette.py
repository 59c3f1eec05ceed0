"""The exchanges in a cassette of VCR.py, which pytest-recording writes too."""

from __future__ import annotations

import zlib
from urllib.parse import urlsplit

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.importing.exchanges import (
    LARGEST,
    Exchange,
    Source,
    exchanged,
    model_request,
)
from loopcheck.harness.importing.values import mapping, mappings, text


def is_cassette(document: object) -> bool:
    """Whether this value is that of a cassette."""
    return isinstance(mapping(document).get("interactions"), list)


def exchanges(document: object) -> Source:
    """The exchanges with models; other requests are counted."""
    found: list[Exchange] = []
    others = unreadable = 0
    for entry in mappings(mapping(document).get("interactions")):
        request, answered = mapping(entry.get("request")), mapping(entry.get("response"))
        body = _body(answered)
        asked = model_request(
            text(request.get("method")),
            urlsplit(text(request.get("uri"))).path,
            _headers(request),
            _bytes(request.get("body")),
        )
        if asked is None:
            others += 1
        elif body is None:
            unreadable += 1
        else:
            found.append(
                exchanged(len(found) + 1, asked, _status(answered), _headers(answered), body)
            )
    left_out = [f"{others} other requests"] if others else []
    left_out += [f"{unreadable} responses with a body in an unknown coding"] if unreadable else []
    return Source(tuple(found), tuple(left_out))


def _status(answered: JsonObject) -> int:
    code = mapping(answered.get("status")).get("code")
    return code if isinstance(code, int) else 0


def _headers(holder: JsonObject) -> dict[str, str]:
    """Each value is a list in cassettes of today, and a text in older ones."""
    found: dict[str, str] = {}
    for name, value in mapping(holder.get("headers")).items():
        values = value if isinstance(value, list) else [value]
        found[str(name).lower()] = ", ".join(map(str, values))
    return found


def _body(answered: JsonObject) -> bytes | None:
    body = answered.get("body")
    content = _bytes(mapping(body).get("string") if isinstance(body, dict) else body)
    coding = _headers(answered).get("content-encoding", "identity")
    if content.startswith(b"\x1f\x8b"):
        return _inflated(content)
    # VCR leaves the header where it has decoded the body itself.
    return content if coding in ("identity", "gzip") or content[:1] in b"{ed:" else None


def _inflated(content: bytes) -> bytes | None:
    inflater = zlib.decompressobj(wbits=31)
    try:
        plain = inflater.decompress(content, LARGEST)
    except zlib.error:
        return None
    return None if inflater.unconsumed_tail else plain


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return text(value).encode(errors="replace")
