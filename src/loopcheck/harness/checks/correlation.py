"""Checks that every result goes to its own call: answered, known id, own result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from loopcheck.fake_providers.wire import Item
from loopcheck.harness.checks.conversation import Conversation, Held, conversations
from loopcheck.harness.checks.evidence import Evidence, Issued, Response
from loopcheck.harness.checks.interface import Check, Unjudged, finding
from loopcheck.harness.checks.matching import equal_calls, is_visible, pair_up, schema_of
from loopcheck.harness.checks.reading import continued_from
from loopcheck.harness.checks.tokens import Owners, owners
from loopcheck.harness.checks.wording import counted, elided
from loopcheck.harness.results import Finding

_ANSWERED = "each call of an accepted response has exactly one result in every later request"
_KNOWN_ID = "call and result carry one id in a request, and the pair maps to one issued call"
_AS_ISSUED = "the call goes back as it was issued, id and arguments"
_OWN_RESULT = (
    "the result under a call contains its own token, or that of an equal call, and no other's"
)
_STOPS_EARLY = frozenset({"limit", "paused", "cancelled"})


class _Once:
    """Keeps what a later request merely repeats from being found again."""

    def __init__(self) -> None:
        self._seen: set[Hashable] = set()

    def __call__(self, *key: Hashable) -> bool:
        fresh = key not in self._seen
        self._seen.add(key)
        return fresh


def _unheld(evidence: Evidence, what: str) -> Unjudged:
    """Why no request shows it: there was nothing to show, or the loop rewrites its history."""
    if any(response.accepted and response.calls for response in evidence.responses):
        return Unjudged("not observable", "the loop sends no calls back, only text")
    return Unjudged("not exercised", f"no request holds {what}")


def _answered(evidence: Evidence) -> list[Finding] | Unjudged:
    talks = conversations(evidence)
    findings = list(_miscounted(talks))
    findings.extend(_lost(talks, evidence))
    findings.extend(_abandoned(evidence))
    if findings or any(talk.calls for talk in talks):
        return findings
    return _unheld(evidence, "a call")


def _miscounted(talks: Iterable[Conversation]) -> Iterator[Finding]:
    fresh = _Once()
    for talk in talks:
        for held in talk.calls:
            count = len(held.results)
            if count != 1 and fresh(held.item.call_id, held.name, min(count, 2)):
                yield finding(
                    "correlation.answered",
                    "must",
                    _ANSWERED,
                    expected=f"1 result for call {held.name} in request {talk.request.number}",
                    seen=f"{count or 'none'}, under id {held.item.call_id!r}"
                    f" ({held.item.name}, {held.item.path})",
                    entries=(talk.request.n, *_issued_at(held.issued)),
                    why="the call was dropped while its results were made"
                    if count == 0
                    else "the call was answered again, after a failure or a second run",
                )


def _issued_at(issued: Issued | None) -> tuple[int, ...]:
    return (issued.n,) if issued is not None else ()


def _lost(talks: Iterable[Conversation], evidence: Evidence) -> Iterator[Finding]:
    """Calls of a whole response whose sisters were carried on and they were not: the response was
    accepted, and they have no result."""
    fresh = _Once()
    for talk in talks:
        response = continued_from(talk.request, evidence.responses)
        if response is None or response.ends != "well" or not _is_told(response, talk, evidence):
            continue
        calls = [call for call in response.calls if is_visible(call)]
        lost = [call for call in calls if talk.lacks(call)]
        if len(lost) < len(calls) and lost and fresh(response.n):
            yield finding(
                "correlation.answered",
                "must",
                _ANSWERED,
                expected=f"calls {', '.join(call.name for call in calls)}",
                seen=f"request {talk.request.number} holds nothing of "
                f"{', '.join(call.name for call in lost)}",
                entries=(talk.request.n, response.n),
                why="calls are kept by id, or by index, and one took another's place",
            )


def _is_told(response: Response, talk: Conversation, evidence: Evidence) -> bool:
    """Whether it is certain which attempt of its turn the loop went on from."""
    attempts = [r for r in evidence.responses if r.turn == response.turn and r.n < talk.request.n]
    held = {call.item.call_id for call in talk.calls}
    known = any(call.call_id and call.call_id in held for call in response.calls)
    return len(attempts) == 1 or known


def _abandoned(evidence: Evidence) -> Iterator[Finding]:
    last = evidence.responses[-1] if evidence.responses else None
    outcome = evidence.outcome
    if last is None or outcome is None or last.ends != "well" or not last.calls:
        return
    if any(request.n > last.n for request in evidence.requests):
        return
    if outcome.state in _STOPS_EARLY or evidence.scenario.limits.rounds is not None:
        return
    yield finding(
        "correlation.answered",
        "should",
        "the loop goes on and answers every call, also when a tool raised or was unknown",
        expected=f"a request with results for {', '.join(call.name for call in last.calls)}",
        seen=f"the run ended: {outcome.state}/{outcome.reason}".rstrip("/"),
        entries=(outcome.n, last.n),
    )


def _known_id(evidence: Evidence) -> list[Finding] | Unjudged:
    talks = conversations(evidence)
    if not any(talk.calls or talk.orphans for talk in talks):
        return _unheld(evidence, "a call")
    return [
        *_orphaned(talks),
        *_untraced(talks, evidence),
        *_renamed(talks),
        *_rewritten(talks, evidence),
    ]


def _orphaned(talks: Iterable[Conversation]) -> Iterator[Finding]:
    fresh = _Once()
    for talk in talks:
        for item in talk.orphans:
            if fresh(item.call_id):
                ids = ", ".join(repr(held.item.call_id) for held in talk.calls)
                yield finding(
                    "correlation.known-id",
                    "must",
                    _KNOWN_ID,
                    expected=f"an id of a call in request {talk.request.number}: {ids or 'none'}",
                    seen=f"a result under {item.call_id!r} ({item.path}): "
                    f"{elided(item.text, 60)!r}",
                    entries=(talk.request.n,),
                )


def _untraced(talks: Iterable[Conversation], evidence: Evidence) -> Iterator[Finding]:
    fresh = _Once()
    for talk in talks:
        issued = {
            call.call_id: response.n
            for response in evidence.responses
            if response.n < talk.request.n
            for call in response.calls
        }
        used = Counter(held.item.call_id for held in talk.calls)
        for held in talk.calls:
            call_id = held.item.call_id
            shared = used[call_id] > 1 and call_id not in issued
            if (held.issued is not None and not shared) or not fresh(call_id):
                continue
            yield finding(
                "correlation.known-id",
                "must",
                _KNOWN_ID,
                expected="each call once, under an id of its own, as the model issued it",
                seen=f"{counted(used[call_id], 'call')} of {held.item.name} under {call_id!r} "
                f"in request {talk.request.number}, "
                + ("which was issued less often" if call_id in issued else "never issued"),
                entries=(talk.request.n, *([issued[call_id]] if call_id in issued else [])),
            )


def _renamed(talks: Iterable[Conversation]) -> Iterator[Finding]:
    fresh = _Once()
    for talk in talks:
        for held in talk.calls:
            if held.issued is not None and held.is_renamed and fresh(held.issued.name):
                yield finding(
                    "correlation.known-id",
                    "should",
                    _AS_ISSUED,
                    expected=f"{held.issued.call_id!r} for call {held.name}",
                    seen=f"{held.item.call_id!r} in request {talk.request.number}",
                    entries=(talk.request.n, held.issued.n),
                )


def _rewritten(talks: Iterable[Conversation], evidence: Evidence) -> Iterator[Finding]:
    # What a gateway bent came out of it in one of several forms.
    bent = {response.n for response in evidence.responses if response.odd}
    fresh = _Once()
    for talk in talks:
        for held in talk.calls:
            issued = held.issued
            if issued is None or issued.n in bent:
                continue
            schema = schema_of(evidence.scenario, issued.tool)
            if held.is_changed(schema) and fresh(issued.n, issued.ordinal):
                yield finding(
                    "correlation.known-id",
                    "should",
                    _AS_ISSUED,
                    expected=f"{elided(issued.arguments, 80)} for call {held.name}",
                    seen=f"{elided(held.item.arguments or '', 80)} under {held.item.call_id!r} "
                    f"in request {talk.request.number} ({held.item.path})",
                    entries=(talk.request.n, issued.n),
                    why="calls are kept by id, and one took another's arguments, or the call is "
                    "kept as the loop understood it",
                )


def _own_result(evidence: Evidence) -> list[Finding] | Unjudged:
    talks = conversations(evidence)
    if not any(held.results for talk in talks for held in talk.calls):
        return _unheld(evidence, "a result")
    tokens = owners(evidence)
    if not any(
        tokens.found(result.text)
        for talk in talks
        for held in talk.calls
        for result in held.results
    ):
        return Unjudged("not exercised", "no result in any request carries a token")
    # What a process that died had carried out is carried out again, for nobody heard of it.
    shared = [] if evidence.deaths else _shared(talks, tokens)
    return [*_mixed_up(talks, tokens), *shared]


def _mixed_up(talks: Iterable[Conversation], tokens: Owners) -> Iterator[Finding]:
    fresh = _Once()
    for talk in talks:
        for group in _by_id(talk):
            results = [result for held in group for result in held.results]
            wrong = _wrong(group, results, tokens)
            if wrong is not None and fresh(*(held.name for held in group)):
                names = " or ".join(held.name for held in group)
                theirs = tokens.executions(wrong.text)
                yield finding(
                    "correlation.own-result",
                    "must",
                    _OWN_RESULT,
                    expected=f"the result of call {names} under {wrong.call_id!r}",
                    seen=f"that of {tokens.names(wrong.text)} in request {talk.request.number}: "
                    f"{elided(wrong.text, 80)!r}",
                    entries=(talk.request.n, *(one.n for one in theirs)),
                    why="results are put to calls by position or by order of completion",
                )


def _by_id(talk: Conversation) -> Iterator[list[Held]]:
    """The traced calls of one reply that share an id: it does not say which is which."""
    groups: dict[tuple[object, object], list[Held]] = {}
    for held in talk.calls:
        if held.issued is not None:
            groups.setdefault((held.item.call_id, held.item.reply), []).append(held)
    yield from groups.values()


def _wrong(group: Sequence[Held], results: Sequence[Item], tokens: Owners) -> Item | None:
    """A result that belongs to no call of the group, or to one that has its own already."""

    def belongs(result: Item, held: Held) -> int | None:
        issued = held.issued
        return 0 if issued is not None and not tokens.foreign(result.text, issued) else None

    def anywhere(result: Item) -> bool:
        return any(belongs(result, held) == 0 for held in group)

    stranger = next((result for result in results if not anywhere(result)), None)
    if stranger is not None:
        return stranger
    # More results than calls are another check's business.
    some = results[: len(group)]
    paired = pair_up(some, group, belongs)
    return next((result for place, result in enumerate(some) if place not in paired), None)


def _shared(talks: Iterable[Conversation], tokens: Owners) -> Iterator[Finding]:
    """Equal calls that were each carried out, and got one and the same result."""
    fresh = _Once()
    for talk in talks:
        answered = [held for held in talk.calls if held.issued is not None and held.results]
        for held in answered:
            equals = [other for other in answered if _is_equal(held, other)]
            found = {tokens.found(other.results[0].text) for other in equals}
            ran = tokens.own(held.issued) if held.issued is not None else frozenset()
            if (
                len(equals) > 1
                and len(found) == 1
                and len(ran) >= len(equals)
                and found != {frozenset()}
                and fresh(held.item.name, held.item.arguments)
            ):
                yield finding(
                    "correlation.own-result",
                    "should",
                    "each of several equal calls gets the result of its own execution",
                    expected=f"{len(equals)} different results for "
                    f"{', '.join(other.name for other in equals)}",
                    seen=f"one result for all of them in request {talk.request.number}",
                    entries=(talk.request.n,),
                )


def _is_equal(one: Held, other: Held) -> bool:
    return (
        one.issued is not None
        and other.issued is not None
        and equal_calls(one.issued, other.issued)
    )


ANSWERED = Check(
    id="correlation.answered",
    sentence=_ANSWERED,
    should="the loop goes on and answers every call, also when a tool raised or was unknown",
    rank=32,
    advice="Make one result for every call of a response before you ask again: an error text "
    "for a call that failed, was refused, or is not known. If you cannot, leave the whole "
    "response out, or stop.",
    judge=_answered,
)
KNOWN_ID = Check(
    id="correlation.known-id",
    sentence=_KNOWN_ID,
    should=_AS_ISSUED,
    rank=31,
    advice="Carry the id of the call as an opaque value from the response to the result. Keep "
    "calls in a list: ids may repeat, so they are no keys.",
    judge=_known_id,
)
OWN_RESULT = Check(
    id="correlation.own-result",
    sentence=_OWN_RESULT,
    should="each of several equal calls gets the result of its own execution",
    rank=33,
    advice="Keep the call together with the task that carries it out, and read the result from "
    "there, whatever ends first.",
    judge=_own_result,
)
