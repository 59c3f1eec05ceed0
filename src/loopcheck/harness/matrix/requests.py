"""What a case's requests look like, read from its journal: headers, body paths, endpoints, tries.

Everything that differs from run to run, or follows from what the script says, is left out, so
that two cells differ where their packages do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from loopcheck.harness.journal import Entry
from loopcheck.harness.matrix.results import Asked, AskedCase, Wire

# An address, a size, and ids that a client makes up for each request.
_VOLATILE: Final = frozenset(
    {
        "baggage",
        "content-length",
        "host",
        "traceparent",
        "tracestate",
        "x-client-request-id",
        "x-request-id",
    }
)
_MADE_UP: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}|[0-9a-f]{16,}", re.IGNORECASE)
_ISSUED: Final = re.compile(r"^(call|toolu|srvtoolu|fc|msg|resp|rs|ctc|chatcmpl)_?\w{8,}$")
_KEYWORD: Final = re.compile(r"[\w.:/-]{1,40}")
# Below these, keys are names of the user's own and values are the model's.
_OPAQUE: Final = frozenset({"input", "arguments", "metadata", "enum", "default", "required"})
_NAMED_BY_USER: Final = frozenset({"properties", "$defs", "definitions"})
# What the conversation and the tools say is the script's; how it is put is the client's.
_SCRIPTED: Final = frozenset(
    {"content", "text", "name", "id", "call_id", "tool_call_id", "tool_use_id", "description"}
    | {"thinking", "signature", "data", "encrypted_content", "output", "prompt", "refusal"}
    | {"previous_message_id", "previous_response_id", "title", "pattern"}
)
_MOST_VALUES: Final = 6


@dataclass(slots=True)
class WireLog:
    """Collects the requests of a cell, case by case."""

    _headers: dict[str, int] = field(default_factory=dict)
    _bodies: dict[str, int] = field(default_factory=dict)
    _cases: list[AskedCase] = field(default_factory=list)

    def add(self, case: str, dialect: str, entries: Iterable[Entry]) -> None:
        """Takes in the requests of a case's journal."""
        held = list(entries)
        answers = {e["request"]: _answer(e) for e in held if e["kind"] in ("response", "refused")}
        asked = tuple(self._asked(e, answers) for e in held if e["kind"] == "request")
        self._cases.append(AskedCase(case=case, dialect=dialect, requests=asked))

    def take(self, wire: Wire, *, cases: frozenset[str]) -> None:
        """Takes over what an earlier run has collected of these cases."""
        for case in wire.cases:
            if case.case in cases:
                requests = tuple(self._moved(asked, wire) for asked in case.requests)
                self._cases.append(case.model_copy(update={"requests": requests}))

    def wire(self) -> Wire:
        """All of it."""
        return Wire(
            headers=tuple(json.loads(text) for text in self._headers),
            bodies=tuple(json.loads(text) for text in self._bodies),
            cases=tuple(self._cases),
        )

    def _moved(self, asked: Asked, wire: Wire) -> Asked:
        places = {
            "headers": _place(self._headers, wire.headers[asked.headers]),
            "body": _place(self._bodies, wire.bodies[asked.body]),
        }
        return asked.model_copy(update=places)

    def _asked(self, entry: Entry, answers: Mapping[object, str]) -> Asked:
        turn, attempt = entry.get("turn"), entry.get("attempt")
        return Asked(
            turn=turn if isinstance(turn, int) else None,
            attempt=attempt if isinstance(attempt, int) else 1,
            endpoint=_endpoint(entry),
            headers=_place(self._headers, _headers(entry)),
            body=_place(self._bodies, body_paths(entry.get("body"))),
            answered=answers.get(entry["request"], ""),
        )


def _place(table: dict[str, int], value: object) -> int:
    text = json.dumps(value, sort_keys=True)
    return table.setdefault(text, len(table))


def _answer(entry: Entry) -> str:
    """What a client may answer with another attempt: an error status, or a broken stream."""
    status, fault = entry.get("status"), entry.get("fault")
    if isinstance(status, int) and status >= 400:
        return str(status)
    return str(fault) if fault is not None and entry.get("ends") != "well" else ""


def _endpoint(entry: Entry) -> str:
    parts = str(entry["path"]).split("/")
    shown = ["*" if _ISSUED.match(part) or _MADE_UP.search(part) else part for part in parts]
    return f"{entry['method']} {'/'.join(shown)}"


def _headers(entry: Entry) -> dict[str, str]:
    given, secrets = entry.get("headers"), entry.get("secrets")
    found = {**_texts(given), **_texts(secrets)}
    return {
        name: _MADE_UP.sub("…", value) for name, value in found.items() if name not in _VOLATILE
    }


def _texts(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, Mapping) else {}


def body_paths(body: object) -> dict[str, tuple[str, ...]]:
    """The values at each path of a JSON body where a client chooses them, else their types."""
    found: dict[str, set[str]] = {}
    for path, value in _leaves("", "", body):
        found.setdefault(path, set()).add(value)
    return {path: _few(values) for path, values in sorted(found.items())}


def _few(values: set[str]) -> tuple[str, ...]:
    told = sorted(values)
    return (*told[:_MOST_VALUES], "…") if len(told) > _MOST_VALUES else tuple(told)


def _leaves(path: str, key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and key not in _OPAQUE:
        if not value:
            yield path, "{}"
        for name, below in value.items():
            shown = "*" if key in _NAMED_BY_USER else name
            yield from _leaves(f"{path}.{shown}" if path else shown, name, below)
    elif isinstance(value, list) and key not in _OPAQUE:
        if not value:
            yield path, "[]"
        for below in value:
            yield from _leaves(f"{path}[{_sort(below)}]", key, below)
    else:
        yield path or "(body)", _shown(key, value)


def _sort(item: object) -> str:
    """What an item of a list says that it is, so that items of one sort are compared."""
    for key in ("type", "role"):
        said = item.get(key) if isinstance(item, dict) else None
        if isinstance(said, str) and _KEYWORD.fullmatch(said):
            return said
    return ""


def _shown(key: str, value: object) -> str:
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if key in _OPAQUE or key in _SCRIPTED:
        return _TYPES.get(type(value), "text")
    if isinstance(value, int | float):
        return json.dumps(value)
    text = str(value)
    is_word = _KEYWORD.fullmatch(text) and not _ISSUED.match(text) and not _MADE_UP.search(text)
    return json.dumps(text) if is_word else "text"


_TYPES: Final[Mapping[type, str]] = {
    dict: "object",
    list: "array",
    int: "number",
    float: "number",
    str: "text",
}
