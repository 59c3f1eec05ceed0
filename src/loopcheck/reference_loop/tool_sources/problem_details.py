"""What an HTTP error says, in the few words that a model needs: RFC 9457 and less."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

MAX_TEXT: Final = 500
MAX_ERRORS: Final = 5

_WORD_BREAK: Final = re.compile(r"[^a-z0-9]+")


def described(status: int, media_type: str, body: str) -> tuple[str, str]:
    """A code and a message. The code is that of the problem's type, or else the status's name."""
    phrase = _phrase(status)
    if media_type == "application/problem+json":
        problem = _object(body)
        code = _code(problem.get("type")) or _word(phrase)
        return code, f"{status} {_message(problem, phrase)}"
    told = _shown(body) if media_type.startswith("text/") or "json" in media_type else ""
    return _word(phrase), f"{status} {phrase}{f': {told}' if told else ''}"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"Status {status}"


def _object(body: str) -> Mapping[str, object]:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _code(kind: object) -> str:
    """The last word of a problem type, which is a URI; about:blank has none."""
    if not isinstance(kind, str) or kind == "about:blank":
        return ""
    try:
        parts = urlsplit(kind)
    except ValueError:
        return ""
    return _word(parts.fragment or parts.path.rstrip("/").rpartition("/")[2].rpartition(":")[2])


def _word(text: str) -> str:
    return _WORD_BREAK.sub("_", text.lower()).strip("_")[:64]


def _message(problem: Mapping[str, object], phrase: str) -> str:
    title, detail = _text(problem, "title") or phrase, _text(problem, "detail")
    said = title if not detail or detail == title else f"{title}: {detail}"
    return "; ".join([said, *_errors(problem.get("errors"))])


def _errors(errors: object) -> list[str]:
    """The entries of the extension that RFC 9457 shows for faults of the request's content."""
    entries = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    pairs = [(_text(one, "pointer"), _text(one, "detail")) for one in entries[:MAX_ERRORS]]
    return [f"{pointer or '#'}: {detail}" for pointer, detail in pairs if detail]


def _text(value: Mapping[str, object], name: str) -> str:
    text = value.get(name)
    return _shown(text) if isinstance(text, str) else ""


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
