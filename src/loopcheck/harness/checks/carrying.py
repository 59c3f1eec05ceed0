"""What became of the thinking that the client had to carry, in the requests that went on from it.

Only the turn that is being continued by results is looked at: the latest one whose calls stand in
a request. The thinking of earlier turns may be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from loopcheck.fake_providers.wire import Item
from loopcheck.harness.checks.conversation import Conversation, Held, conversations
from loopcheck.harness.checks.evidence import Evidence, Request, Response, Thought
from loopcheck.harness.checks.interface import Unjudged, finding
from loopcheck.harness.checks.wording import counted, elided
from loopcheck.harness.results import Finding, Level

CHECK: Final = "history.carried"
SENTENCE: Final = (
    "what the client has to carry comes back unchanged: reasoning, signatures, block order"
)
SHOULD: Final = "it is carried also where the service would do without it"

# The number of a thought, or None for a call.
_Mark: TypeAlias = int | None


@dataclass(frozen=True, slots=True)
class _Return:
    """A request that continues a response by results, with what came back for each thought.

    `stored` when the service kept the response, so that it knows what belongs together.
    """

    request: Request
    response: Response
    calls: tuple[Held, ...]
    found: tuple[Item | None, ...]
    stored: bool

    @property
    def pairs(self) -> list[tuple[Thought, Item | None]]:
        return list(zip(self.response.carry, self.found, strict=True))

    @property
    def is_left_to_the_service(self) -> bool:
        """Whether the client sent nothing of it: the service has the calls and the thinking."""
        items = [*(held.item for held in self.calls), *self.found]
        return all(item is not None and item.origin == "stored" for item in items)


def carried(evidence: Evidence) -> list[Finding] | Unjudged:
    """The finding of each response whose thinking came back otherwise than it was issued."""
    thoughtful = [response for response in evidence.responses if _binds(response)]
    if not thoughtful:
        return Unjudged("not exercised", "no response holds both thinking and calls")
    returns = list(_returns(evidence, thoughtful))
    if not returns:
        held = any(item.kind == "call" for request in evidence.requests for item in request.items)
        if held or not any(response.accepted for response in thoughtful):
            return Unjudged("not exercised", "no request continues a response with thinking")
        return Unjudged("not observable", "the loop sends no calls back, only text")
    asked = [one for one in returns if not one.is_left_to_the_service]
    if not asked:
        return Unjudged("not exercised", "the service keeps the conversation, thinking included")
    first_wrong = {one.response.n: one for one in reversed(asked) if _is_wrong(one)}
    return [_judged(one, evidence) for _, one in sorted(first_wrong.items())]


def _binds(response: Response) -> bool:
    """Whether the response has thinking that its calls depend on. What a gateway bent on the way
    is nobody's to carry unchanged."""
    return response.ends == "well" and not response.odd and bool(response.carry and response.calls)


def _returns(evidence: Evidence, responses: Sequence[Response]) -> Iterator[_Return]:
    by_entry = {response.n: response for response in responses}
    for talk in conversations(evidence):
        traced = [held for held in talk.calls if held.issued is not None]
        latest = max((held.issued.n for held in traced if held.issued is not None), default=0)
        response = by_entry.get(latest)
        calls = [held for held in traced if held.issued is not None and held.issued.n == latest]
        if response is not None and _is_running(talk, calls):
            found = tuple(_found(thought, talk.request.items) for thought in response.carry)
            stored = _is_stored(response, evidence)
            yield _Return(talk.request, response, tuple(calls), found, stored)


def _is_running(talk: Conversation, calls: Sequence[Held]) -> bool:
    """Whether the calls are answered and the model has said nothing since."""
    items = talk.request.items
    last = max(_place(held.item, items) for held in calls)
    behind = [item for item in items[last + 1 :] if item.reply != items[last].reply]
    said = any(item.kind in ("say", "refusal") and item.text for item in behind)
    return any(held.results for held in calls) and not said


def _place(item: Item, items: Sequence[Item]) -> int:
    return next(place for place, other in enumerate(items) if other is item)


def _found(thought: Thought, items: Sequence[Item]) -> Item | None:
    """The thought as it came back: by its id, else by its seal, else by its text."""
    thoughts = [item for item in items if item.kind == "think"]
    by_id = [item for item in thoughts if item.item_id and item.item_id == thought.item_id]
    by_seal = [item for item in thoughts if item.seal and item.seal == thought.seal]
    by_text = [item for item in thoughts if item.text and item.text == thought.text]
    return next(iter([*by_id, *by_seal, *by_text]), None)


def _is_wrong(one: _Return) -> bool:
    lost = None in one.found
    changed = any(_changes(one))
    return lost or changed or _marks(one) != _issued_marks(one)


def _changes(one: _Return) -> Iterator[str]:
    """In what thoughts differ from what was issued. The service fills in what it has stored."""
    for thought, item in one.pairs:
        if item is None:
            continue
        if not _is_sealed(item, thought, stored=one.stored):
            yield f"{item.path}: seal {_shown(item.seal)} for {_shown(thought.seal)}"
        elif item.item_id not in (None, thought.item_id) and thought.item_id:
            yield f"{item.path}: id {item.item_id!r} for {thought.item_id!r}"
        elif item.text != thought.text:
            yield f"{item.path}: text {elided(item.text, 40)!r} for {elided(thought.text, 40)!r}"


def _is_sealed(item: Item, thought: Thought, *, stored: bool) -> bool:
    if item.seal is None and stored:
        return bool(thought.item_id) and item.item_id == thought.item_id
    return item.seal == thought.seal


def _shown(seal: str | None) -> str:
    return "none" if not seal else repr(elided(seal, 24))


def _issued_marks(one: _Return) -> list[_Mark]:
    """Thoughts and the calls among them, in the order in which they were issued; without what
    has gone, and without calls that others are missing from, which is another check's business."""
    places: list[tuple[int, _Mark]] = [
        (thought.position, number)
        for number, (thought, item) in enumerate(one.pairs)
        if item is not None
    ]
    held = [call.issued.position for call in one.calls if call.issued is not None]
    return [mark for _, mark in sorted([*places, *((place, None) for place in held)], key=_first)]


def _marks(one: _Return) -> list[_Mark]:
    """The same in the order in which they came back."""
    own = {id(held.item) for held in one.calls}
    marks: list[_Mark] = []
    for item in one.request.items:
        if id(item) in own:
            marks.append(None)
        elif item.kind == "think":
            numbers = [number for number, found in enumerate(one.found) if _is_same(found, item)]
            marks.extend(numbers[:1])
    return marks


def _is_same(found: Item | None, item: Item) -> bool:
    """Whether this is the thought that was found, or a second one like it."""
    if found is None:
        return False
    return found is item or (bool(item.seal) and found.seal == item.seal)


def _first(pair: tuple[int, _Mark]) -> int:
    return pair[0]


def _judged(one: _Return, evidence: Evidence) -> Finding:
    changes = list(_changes(one))
    lost = one.found.count(None)
    level = _level(one, evidence, changed=bool(changes), lost=lost)
    if changes:
        seen = f"changed at {'; '.join(changes)}"
    elif lost:
        seen = f"{counted(len(one.found) - lost, 'piece')} of thinking, {lost} dropped"
    else:
        seen = f"another order: {_in_words(_marks(one))}"
    return finding(
        CHECK,
        level,
        SENTENCE if level == "must" else SHOULD,
        expected=f"in request {one.request.number}, in this order: "
        f"{_in_words(_every_mark(one.response))}, as in response {one.response.n}",
        seen=seen,
        entries=(one.request.n, one.response.n),
        why="the history is built from calls and text, and what else a response holds is left out"
        if lost and not changes
        else "the history is rebuilt from a model of its own instead of what was received",
    )


def _every_mark(response: Response) -> list[_Mark]:
    thoughts = [(thought.position, number) for number, thought in enumerate(response.carry)]
    calls: list[tuple[int, _Mark]] = [(call.position, None) for call in response.calls]
    return [mark for _, mark in sorted([*calls, *thoughts], key=_first)]


def _in_words(marks: Sequence[_Mark]) -> str:
    return ", ".join("call" if mark is None else f"thinking {mark + 1}" for mark in marks)


def _level(one: _Return, evidence: Evidence, *, changed: bool, lost: int) -> Level:
    """Should where the service takes the request as it is; must where it would refuse it."""
    if changed:
        return "should" if _only_text(one, evidence) else "must"
    if not lost:
        return "must"
    if evidence.dialect == "messages":
        return "must" if lost < len(one.found) or _demands_thinking(one.request) else "should"
    names_itself = any(held.item.item_id for held in one.calls)
    return "must" if one.stored and names_itself else "should"


def _only_text(one: _Return, evidence: Evidence) -> bool:
    """Whether all that differs is a summary, which the service does not look at."""
    return evidence.dialect == "responses" and all(
        _is_sealed(item, thought, stored=one.stored) and item.item_id in (None, thought.item_id)
        for thought, item in one.pairs
        if item is not None
    )


def _demands_thinking(request: Request) -> bool:
    thinking = request.body.get("thinking") if isinstance(request.body, dict) else None
    return isinstance(thinking, dict) and thinking.get("type") == "enabled"


def _is_stored(response: Response, evidence: Evidence) -> bool:
    asked = next((r for r in evidence.requests if r.number == response.request), None)
    body = asked.body if asked is not None else None
    return evidence.dialect == "responses" and not (
        isinstance(body, dict) and body.get("store") is False
    )
