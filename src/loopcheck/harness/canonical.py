"""What is the same of two journals of one case with one seed: no times, ports, processes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from loopcheck.harness.journal import Entry

# Headers with an address, a moment, or an id that the client makes up for each request.
_VOLATILE: Final = frozenset(
    {
        "baggage",
        "content-length",
        "date",
        "host",
        "idempotency-key",
        "traceparent",
        "tracestate",
        "x-request-id",
    }
)
# That a gate had to be forced depends on how long nothing happened; a run's id is the target's,
# and so is the file that an exception came from.
_TIMED: Final = frozenset({"gate"})
_OWN: Final[Mapping[str, frozenset[str]]] = {
    "outcome": frozenset({"run", "place"}),
    "leg": frozenset({"clock"}),
    "sent": frozenset({"how"}),  # a client may close what it has read, or be too late to
}
_ADDRESS: Final = re.compile(r"(127\.0\.0\.1|localhost):[0-9]+|/c/[0-9]+-[a-z0-9-]*")


def canonical(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The journal without what differs from run to run, numbered anew. Each `sent` stands right
    behind what answers its request, since it is written while the loop already goes on."""
    kept = [entry for entry in entries if entry["kind"] not in _TIMED]
    return tuple({"n": number, **_without(entry)} for number, entry in enumerate(_ordered(kept), 1))


def _ordered(entries: Sequence[Entry]) -> Iterator[Entry]:
    sent = {entry.get("request"): entry for entry in entries if entry["kind"] == "sent"}
    answered = {entry.get("request"): n for n, entry in enumerate(entries) if _answers(entry)}
    for place, entry in enumerate(entries):
        request = entry.get("request")
        if entry["kind"] == "sent" and request in answered:
            continue
        yield entry
        if answered.get(request) == place and request in sent:
            yield sent[request]


def _answers(entry: Entry) -> bool:
    """Whether the entry says what a request is answered with, or that it is asked aside."""
    return entry["kind"] in ("request", "response", "refused")


def _without(entry: Entry) -> Entry:
    left_out = _OWN.get(str(entry["kind"]), frozenset()) | {"n"}
    # An exception may tell of moments and of ids that its framework made up.
    if entry["kind"] == "outcome" and entry.get("exception") is not None:
        left_out |= {"text"}
    return {key: _cleaned(key, value) for key, value in entry.items() if key not in left_out}


def _cleaned(key: str, value: object) -> object:
    if isinstance(value, str):
        return _ADDRESS.sub("", value)
    if isinstance(value, list | tuple):
        return [_cleaned("", one) for one in value]
    if isinstance(value, Mapping):
        names = _VOLATILE if key == "headers" else frozenset[str]()
        return {name: _cleaned(name, one) for name, one in value.items() if name not in names}
    return value
