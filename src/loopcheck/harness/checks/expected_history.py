"""What the conversation holds when a turn is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loopcheck.fake_providers.wire import Item
from loopcheck.harness.checks.conversation import Conversation, Held, conversation
from loopcheck.harness.checks.evidence import Evidence, Request
from loopcheck.harness.checks.interface import finding
from loopcheck.harness.checks.matching import pair_up
from loopcheck.harness.checks.quantities import CHECK
from loopcheck.harness.checks.result_images import labels_of_images
from loopcheck.harness.results import Finding, Level
from loopcheck.harness.scenario.expectations import History, HistoryModel
from loopcheck.harness.scenario.history_entries import Entry, alternatives, entry, labelled


@dataclass(frozen=True, slots=True)
class _Seen:
    """An entry of a conversation as it stands there. One that is about a call always has the
    attempt that issued it; of a call that was never issued the label is its id."""

    entry: Entry
    item: Item

    def __str__(self) -> str:
        named = self.entry
        if not named.label:
            return named.kind
        retried = f"/{named.attempt}" if named.attempt and named.attempt > 1 else ""
        return f"{named.kind} {named.label}{retried}"


@dataclass(frozen=True, slots=True)
class _Unmet:
    expected: str
    seen: str


def history_findings(
    expected: Mapping[str, History], level: Level, evidence: Evidence
) -> Iterator[Finding]:
    """Unmet expectations of `history`. Turns that were never asked for are left out, and so are
    loops that tell calls and results as text."""
    if not expected or _tells_as_text(evidence):
        return
    for turn, history in expected.items():
        for request in evidence.requests:
            if f"turn{request.turn}" != turn:
                continue
            unmet = _unmet(history, request, evidence)
            if unmet is not None:
                yield finding(
                    CHECK,
                    level,
                    evidence.scenario.title,
                    expected=f"{turn} is asked for with {unmet.expected}",
                    seen=unmet.seen,
                    entries=(request.n,),
                )
                break


def _tells_as_text(evidence: Evidence) -> bool:
    went_on = any(response.accepted and response.calls for response in evidence.responses)
    held = any(item.kind == "call" for request in evidence.requests for item in request.items)
    return went_on and not held


def _unmet(expected: History, request: Request, evidence: Evidence) -> _Unmet | None:
    """What is not met: of several conversations that would do, all of them."""
    seen = list(_seen(conversation(request, evidence), evidence))
    found: list[_Unmet] = []
    for one in alternatives(expected):
        unmet = next(_differences(one, seen, request, evidence), None)
        if unmet is None:
            return None
        found.append(unmet)
    words = " or ".join(dict.fromkeys(unmet.expected for unmet in found))
    return _Unmet(words, found[0].seen)


def _differences(
    expected: HistoryModel, seen: Sequence[_Seen], request: Request, evidence: Evidence
) -> Iterator[_Unmet]:
    for kind, labels in (("call", expected.calls), ("result", expected.results)):
        there = [one for one in seen if one.entry.kind == kind]
        wanted = [labelled(kind, label) for label in labels or ()]
        if labels is not None and not _exactly(wanted, there):
            yield _Unmet(f"{kind}s {_listed(labels)}", _listed(map(_label, there)))
    if expected.images is not None:
        images = labels_of_images(request, evidence)
        if not _are_images(expected.images, images):
            yield _Unmet(f"images {_listed(expected.images)}", _listed(images))
    if not _in_order([entry(text) for text in expected.order], seen):
        yield _Unmet(f"{', '.join(expected.order)} in this order", _listed(seen))
    if expected.last is not None and not (seen and _is(entry(expected.last), seen[-1])):
        yield _Unmet(f"{expected.last} at its end", str(seen[-1]) if seen else "nothing")
    for text in expected.lacks:
        if any(_is(entry(text), one) for one in seen):
            yield _Unmet(f"no {text}", _listed(seen))
    sent = [one for one in seen if one.item.origin == "sent"]
    wanted = [entry(text) for text in expected.sent or ()]
    if expected.sent is not None and not _exactly(wanted, sent):
        yield _Unmet(f"{_listed(expected.sent)} sent, and no more", _listed(sent))


def _exactly(wanted: Sequence[Entry], seen: Sequence[_Seen]) -> bool:
    def cost(one: Entry, other: _Seen) -> int | None:
        return 0 if _is(one, other) else None

    return len(wanted) == len(seen) == len(pair_up(wanted, seen, cost))


def _are_images(expected: Sequence[str], seen: Sequence[str]) -> bool:
    return sorted(labelled("result", label).label for label in expected) == sorted(seen)


def _in_order(wanted: Sequence[Entry], seen: Sequence[_Seen]) -> bool:
    left = iter(seen)
    return all(any(_is(one, other) for other in left) for one in wanted)


def _is(wanted: Entry, seen: _Seen) -> bool:
    found = seen.entry
    same = (wanted.kind, wanted.label) == (found.kind, found.label)
    return same and wanted.attempt in (None, found.attempt)


def _label(seen: _Seen) -> str:
    return str(seen).partition(" ")[2]


def _listed(words: Iterable[object]) -> str:
    return ", ".join(map(str, words)) or "none"


def _seen(talk: Conversation, evidence: Evidence) -> Iterator[_Seen]:
    """The entries of a conversation in their order. What one message or reply says in several
    parts is one entry; what a system message says is none."""
    owners = {id(item): held for held in talk.calls for item in (held.item, *held.results)}
    redacted = {
        mark
        for response in evidence.responses
        for thought in response.carry
        if thought.redacted
        for mark in (thought.seal, thought.item_id)
        if mark
    }
    before: Item | None = None
    for item in talk.request.items:
        match item.kind:
            case "user" | "say" if item.text:
                if before is None or not _goes_on(before, item):
                    yield _Seen(Entry(item.kind), item)
            case "think":
                hidden = item.seal in redacted or item.item_id in redacted
                yield _Seen(Entry("redacted" if hidden else "think"), item)
            case "call" | "result":
                yield _Seen(_of_call(item, owners.get(id(item))), item)
        before = item


def _goes_on(before: Item, item: Item) -> bool:
    """Whether two neighbours are parts of one message."""
    if before.kind != item.kind or before.origin != item.origin:
        return False
    if item.kind == "say":
        return before.reply == item.reply
    return before.path.rpartition(".content")[0] == item.path.rpartition(".content")[0] != ""


def _of_call(item: Item, held: Held | None) -> Entry:
    issued = held.issued if held is not None else None
    if issued is None:
        return Entry(item.kind, repr(item.call_id))
    return Entry(item.kind, issued.label, issued.attempt)
