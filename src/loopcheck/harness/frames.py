"""The bytes that a finding is about, cut to what a reader can take in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from loopcheck.harness.journal import Entry
from loopcheck.harness.results import Finding

_MOST: Final = 4
_HEAD, _TAIL = 60, 120
_WHOLE_HEAD: Final = 420


def frames(entries: Sequence[Entry], finding: Finding) -> tuple[str, ...]:
    """The last frames of the response that the finding is about, each with its number; the body
    of a response that was not streamed. None where nothing had been sent before it."""
    response = _response(entries, finding.entries)
    if response is None:
        return ()
    sent = next((e for e in entries if _is_sent(e, response.get("request"))), None)
    texts = sent.get("frames") if sent is not None else None
    if not isinstance(texts, list) or not texts:
        return ()
    if len(texts) == 1:
        return (f"body  {_elided(str(texts[0]), _WHOLE_HEAD)}",)
    numbered = [(number, " ".join(str(text).split())) for number, text in enumerate(texts, 1)]
    told = [pair for pair in numbered if pair[1] != "data: [DONE]"]
    return tuple(f"frame {number}  {_elided(text, _HEAD)}" for number, text in told[-_MOST:])


def _response(entries: Sequence[Entry], proof: Iterable[int]) -> Entry | None:
    """The response among the proof, else the last one before it."""
    proven = set(proof)
    responses = [entry for entry in entries if entry["kind"] == "response"]
    named = [entry for entry in responses if entry["n"] in proven]
    before = [entry for entry in responses if proven and _number(entry) < min(proven)]
    return next(iter((*named, *reversed(before))), None)


def _number(entry: Entry) -> int:
    number = entry["n"]
    return number if isinstance(number, int) else 0


def _is_sent(entry: Entry, request: object) -> bool:
    return entry["kind"] == "sent" and entry.get("request") == request


def _elided(text: str, head: int) -> str:
    if len(text) <= head + _TAIL:
        return text
    return f"{text[:head]}…{text[-_TAIL:]}"
