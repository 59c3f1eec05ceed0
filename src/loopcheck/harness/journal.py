"""The one ordered record of a case. Everything is recorded first and judged afterwards.

A journal is a sequence of entries, written as JSON lines. Each entry has `n` (its place, from 1),
`kind`, and the fields that `KINDS` lists for that kind. Adding a kind or an optional field keeps
`FORMAT`; anything else raises it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

FORMAT: Final = 1

KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    "case": {
        "format": "version of the journal's format",
        "scenario": "id of the scenario",
        "dialect": "responses, chat or messages",
        "mode": "whole or stream",
        "seed": "seed of ids, fragments and tokens",
        "target": "name of the target",
    },
    "request": {
        "request": "number of this request in the case, from 1",
        "method": "HTTP method",
        "path": "path below the case's base URL",
        "headers": "headers by lower-case name, secrets left out",
        "secrets": "the headers that were left out, by lower-case name, each as its scheme and ***",
        "body": "JSON body as sent, or null when it was not JSON",
        "role": "turn, side, refused or divergent",
        "turn": "the turn it asks for (role turn)",
        "attempt": "how often that turn has been asked for (role turn)",
        "recognised": "{turn, by}: the latest response found in it, and by what "
        "(ids, tokens, text, count, none)",
        "conversation": "effective conversation: items with kind, origin, path and content; "
        "thinking with the item_id and the seal that came back",
        "tools": "names and schemas of the tools it offers",
        "tool_choice": "as sent",
        "why": "for divergent and refused requests: a sentence",
    },
    "refused": {
        "request": "number of the refused request",
        "rule": "id of the broken rule, or null for a malformed request",
        "grade": "evidence grade of the rule",
        "status": "HTTP status",
        "message": "the service's words",
        "param": "where in the request",
    },
    "response": {
        "request": "number of the request it answers",
        "turn": "turn number",
        "attempt": "attempt number",
        "response_id": "id on the wire",
        "status": "HTTP status",
        "calls": "calls it issues: label, tool, arguments (the wire text), call_id, "
        "sent (how much of the arguments was sent: whole, cut or none), item_id, and position "
        "among all pieces of the response",
        "carry": "thinking that the client has to carry: kind (think or redacted), text, item_id, "
        "seal (the opaque value), position",
        "usage": "tokens that it reports: {input, output}",
        "text": "text it says",
        "refusal": "refusal text, or null",
        "stop": "scripted stop",
        "fault": "kind of the fault, or null",
        "ends": "well: ended by the protocol's own success signal; marked: ended, but marked "
        "incomplete, filtered or refused; unmarked: ended without terminal signal; failed: "
        "reported failed or connection broken",
        "odd": "true when the service itself would not send it like this: quirks, raw events",
    },
    "sent": {
        "request": "number of the request",
        "frames": "the text of each frame that was written; for a whole response its body",
        "how": "written or client-closed",
    },
    "execution": {
        "execution": "number of the execution, from 1",
        "tool": "name of the tool whose body was entered",
        "arguments": "the arguments it was entered with",
        "label": "label of the call it is thought to belong to, or null",
        "call_id": "wire call id, where the loop passed it on",
        "operation_id": "operation id, where the loop passed it on",
        "token": "the token that its result carries",
    },
    "effect": {
        "execution": "execution that committed it",
        "tool": "name of the tool",
        "arguments": "the arguments",
        "operation": "key arguments of the business operation, or null",
        "deduplicated": "true when the downstream system recognised the operation id",
    },
    "ended": {
        "execution": "execution that ended",
        "how": "result, error (a structured error result), raised, rejected (refused before "
        "anything was done), or abandoned (it never ends, and its caller waits no more)",
        "result": "text handed back, the exception, or why nobody waits any more",
        "parts": "for results with parts: the parts, in the shape of MCP's content blocks",
    },
    "lookup": {"tool": "tool", "operation_id": "operation asked for", "answer": "what was said"},
    "place": {
        "request": "number of the request whose response got there",
        "place": "the place in the stream, as the scenario names it",
    },
    "leg": {
        "leg": "number of this part of the case, from 2: the case itself begins the first",
        "how": "resume, follow_up (the next message of the same conversation) or run (another run)",
        "run": "name of the run",
        "copies": "how many processes go on with it at once",
        "clock": "seconds by which the scenario's clock is ahead",
        "cancelled": "true when it goes on only to be cancelled",
    },
    "decision": {
        "decide": "approve, deny or answer",
        "label": "the call that a person spoke of",
        "call_id": "its wire call id",
        "tool": "its tool",
        "arguments": "the arguments that were approved, denied or answered",
        "pending": "true when the target said that the call waits",
        "reason": "the person's words",
        "value": "the answer to a tool of kind ask",
    },
    "action": {
        "do": "cancel, kill or restart",
        "when": "the points at which it was done",
    },
    "died": {"how": "killed or restarted: the process of the run ended, as scripted"},
    "gate": {
        "gate": "what waited for what",
        "how": "opened, or forced when nothing else could happen",
    },
    "outcome": {
        "state": "completed, refused, limit, failed, paused or cancelled",
        "reason": "why",
        "text": "final text",
        "exception": "class of the exception that ended the run, or null",
        "run": "the target's own id of the run, where it gave one",
        "pending": "calls that wait for a person: call_id, tool, arguments",
        "place": "file and line that the exception came from, where that is known",
    },
    "broken": {"what": "the target broke or hung: a sentence", "fault": "target, hung or harness"},
}

Entry: TypeAlias = dict[str, object]
_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(slots=True)
class JournalError(Exception):
    """A journal that cannot be read: which file and line, and what is wrong with it."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class Journal:
    """An append-only journal in memory; safe to write from any thread.

    What is recorded is kept as it was handed over, and becomes an entry when somebody reads it:
    a load test records much and reads nothing.
    """

    def __init__(self, watcher: Callable[[Entry], None] | None = None) -> None:
        self._kinds: list[str] = []
        self._shared: list[Mapping[str, object]] = []
        self._fields: list[dict[str, object]] = []
        self._lock = threading.Lock()
        self._watcher = watcher

    def record(
        self, kind: str, shared: Mapping[str, object] = _NOTHING, /, **fields: object
    ) -> int:
        """Appends an entry and returns its number. A list may be handed over as any
        sequence, and fields that several entries have alike as one mapping."""
        if kind not in KINDS:
            raise ValueError(f"unknown journal kind {kind!r}; kinds are {', '.join(KINDS)}")
        with self._lock:
            self._kinds.append(kind)
            self._shared.append(shared)
            self._fields.append(fields)
            number = len(self._fields)
        # Outside the lock: a watcher may record, and holds locks of its own.
        if self._watcher is not None:
            self._watcher(_made(number, kind, shared, fields))
        return number

    def __iter__(self) -> Iterator[Entry]:
        with self._lock:
            kinds, shared, fields = tuple(self._kinds), tuple(self._shared), tuple(self._fields)
        return map(_made, range(1, len(kinds) + 1), kinds, shared, fields)

    def __len__(self) -> int:
        return len(self._fields)

    def entries(self) -> tuple[Entry, ...]:
        return tuple(self)


def _made(
    number: int, kind: str, shared: Mapping[str, object], fields: Mapping[str, object]
) -> Entry:
    entry: Entry = {"n": number, "kind": kind}
    for some in (shared, fields):
        for name, value in some.items():
            if isinstance(value, Sequence) and not isinstance(value, str):
                value = list(value)
            entry[name] = value
    return entry


def to_lines(entries: Iterable[Entry]) -> str:
    """The JSON lines of these entries, which UTF-8 can always carry."""
    return "".join(_line(entry) + "\n" for entry in entries)


def _line(entry: Entry) -> str:
    line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    try:
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which models do write
        return json.dumps(entry, separators=(",", ":"))
    return line


def load(path: Path) -> tuple[Entry, ...]:
    """The entries of a saved journal. Raises JournalError naming the line that is wrong."""
    # Not splitlines, which takes more than line feeds for the end of a line.
    lines = _text(path).removesuffix("\n").split("\n")
    entries = [_entry(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line]
    if not entries or entries[0]["kind"] != "case":
        raise JournalError(str(path), "does not begin with a 'case' entry")
    if entries[0].get("format") != FORMAT:
        raise JournalError(
            f"{path}:1", f"format {entries[0].get('format')!r}; this version reads {FORMAT}"
        )
    return tuple(entries)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise JournalError(str(path), f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise JournalError(str(path), f"not UTF-8 ({error})") from None


def _entry(line: str, where: str) -> Entry:
    try:
        entry: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise JournalError(where, f"not JSON ({error})") from None
    if not isinstance(entry, dict) or str(entry.get("kind")) not in KINDS:
        raise JournalError(where, "not a journal entry of a known kind")
    return entry
