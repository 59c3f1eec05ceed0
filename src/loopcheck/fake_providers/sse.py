"""Writes events as server-sent-event text, and divides that text into writes to the socket."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from loopcheck.fake_providers.delivery import random_places
from loopcheck.fake_providers.script import Delivery
from loopcheck.fake_providers.wire import Frame, JsonObject

_COMMENT: Final = ": keep-alive"
_LONGEST_SEEDED: Final = 64
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^"{}\[\],:]+', re.DOTALL)
_BOM: Final = b"\xef\xbb\xbf"


def compact(value: object) -> str:
    """The JSON text that the fakes send."""
    return _COMPACT(value)


def encode(frames: Sequence[Frame], delivery: Delivery, ping: Frame | None = None) -> list[bytes]:
    """The bytes of each frame, together with the comment and the ping that follow it.

    `ping` is the dialect's keep-alive event; without one no pings are sent. None follows the
    terminal frame, where no dialect has one.
    """
    encoded = []
    for number, frame in enumerate(frames, start=1):
        text = _event(frame, delivery)
        if delivery.comments and number % delivery.comments == 0:
            text += _joined([_COMMENT, ""], delivery)
        due = delivery.pings and number % delivery.pings == 0 and frame.part != "terminal"
        if ping is not None and due:
            text += _event(ping, delivery)
        encoded.append(text.encode())
    if delivery.bom and encoded:
        encoded[0] = _BOM + encoded[0]
    return encoded


def segments(
    encoded: Sequence[bytes], delivery: Delivery, seed: int, breaks: Iterable[int] = ()
) -> list[bytes]:
    """The same bytes as the writes to the socket; empty writes are left out. A write ends at
    each of `breaks`, whatever the delivery says."""
    body = b"".join(encoded)
    how = delivery.segments
    match how:
        case "frame":
            places: Iterable[int] = _ends(encoded)
        case "all":
            places = ()
        case "byte":
            places = range(1, len(body))
        case "seeded":
            places = random_places(len(body), _LONGEST_SEEDED, random.Random(f"{seed}:segments"))
        case "utf8":
            # A lead byte of a multi-byte character is 0xC0 or more.
            places = {*_ends(encoded), *(at + 1 for at, byte in enumerate(body) if byte >= 0xC0)}
        case "crlf":
            places = {*_ends(encoded), *(m.start() + 1 for m in re.finditer(b"\r\n", body))}
        case int():
            if how < 1:
                raise ValueError(f"segments of {how} bytes; at least 1 is needed")
            places = range(how, len(body), how)
    bounds = sorted({0, len(body), *places, *(at for at in breaks if at < len(body))})
    return [body[start:end] for start, end in pairwise(bounds) if start < end]


def data_offset(encoded: bytes, size: int) -> int | None:
    """Where the first `size` bytes of a frame's data end; None when it has fewer.

    Counted are the bytes behind `data:` (and its space), not the comment or ping that follows.
    """
    start = 0
    for line in encoded.splitlines(keepends=True):
        content = line.rstrip(b"\r\n")
        if not content:
            break
        if field := re.match(rb"(?:\xef\xbb\xbf)?data: ?", content):
            length = len(content) - field.end()
            if size <= length:
                return start + field.end() + size
            size -= length
        start += len(line)
    return None


def _event(frame: Frame, delivery: Delivery) -> str:
    colon = ": " if delivery.space else ":"
    lines = [f"event{colon}{frame.event}"] if frame.event is not None else []
    lines += [f"data{colon}{part}" for part in _data_lines(frame.data, delivery.data_lines)]
    return _joined([*lines, ""], delivery)


def _joined(lines: Sequence[str], delivery: Delivery) -> str:
    newline = "\r\n" if delivery.newline == "crlf" else "\n"
    return "".join(line + newline for line in lines)


def _data_lines(data: JsonObject | str, count: int) -> list[str]:
    if isinstance(data, str):
        return [data] if data else []
    text = compact(data)
    if count <= 1:
        return [text]
    tokens = _JSON_TOKEN.findall(text)
    count = max(1, min(count, len(tokens)))
    bounds = [len(tokens) * part // count for part in range(count + 1)]
    return ["".join(tokens[start:end]) for start, end in pairwise(bounds)]


def _ends(encoded: Sequence[bytes]) -> list[int]:
    ends = []
    total = 0
    for part in encoded:
        total += len(part)
        ends.append(total)
    return ends
