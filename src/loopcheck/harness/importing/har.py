"""The exchanges in a HAR file, as browsers and proxies write them."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import urlsplit

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.importing.exchanges import Exchange, Source, exchanged, model_request
from loopcheck.harness.importing.values import mapping, mappings, text


def is_har(document: object) -> bool:
    """Whether this JSON is that of a HAR file."""
    return isinstance(mapping(mapping(document).get("log")).get("entries"), list)


def exchanges(document: object) -> Source:
    """The exchanges with models; other requests are counted."""
    found: list[Exchange] = []
    others = 0
    for entry in mappings(mapping(mapping(document).get("log")).get("entries")):
        exchange = _exchange(len(found) + 1, mapping(entry.get("request")), entry)
        if exchange is None:
            others += 1
        else:
            found.append(exchange)
    left_out = (f"{others} other requests",) if others else ()
    return Source(tuple(found), left_out)


def _exchange(number: int, asked: JsonObject, entry: JsonObject) -> Exchange | None:
    body = text(mapping(asked.get("postData")).get("text")).encode(errors="replace")
    path = urlsplit(text(asked.get("url"))).path
    request = model_request(text(asked.get("method")), path, _headers(asked), body)
    if request is None:
        return None
    answered = mapping(entry.get("response"))
    status = answered.get("status")
    code = status if isinstance(status, int) else 0
    return exchanged(number, request, code, _headers(answered), _body(answered))


def _headers(holder: JsonObject) -> dict[str, str]:
    listed = mappings(holder.get("headers"))
    return {text(header.get("name")): text(header.get("value")) for header in listed}


def _body(answered: JsonObject) -> bytes:
    content = mapping(answered.get("content"))
    told = text(content.get("text"))
    if content.get("encoding") != "base64":
        return told.encode(errors="replace")
    try:
        return base64.b64decode(told)
    except binascii.Error:
        return b""
