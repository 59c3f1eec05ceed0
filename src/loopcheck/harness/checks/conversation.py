"""The calls and results that stand in the conversation of a request, paired.

Ids may repeat, be empty or be rewritten by the loop, so pairs are made in order of occurrence and
calls are traced to what was issued by id first, then by tool and arguments, then by place. Of
calls that share an id, arguments and tools tell which is which, and their order where these do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from loopcheck.fake_providers.wire import Item
from loopcheck.harness.checks.evidence import Evidence, Issued, Request, Response
from loopcheck.harness.checks.matching import is_visible, pair_up, whole_arguments
from loopcheck.harness.checks.parts import run_of
from loopcheck.harness.checks.values import reading, same, whole_object

# How alike a call is that is told by its arguments and its tool.
_SAME: Final = 3


@dataclass(slots=True)
class Held:
    """A call in a conversation with the results that stand under its id.

    `issued` is the call that it stems from, None where there is none left.
    """

    item: Item
    issued: Issued | None = None
    results: list[Item] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The label of the call, else its id."""
        return self.issued.name if self.issued is not None else repr(self.item.call_id)

    @property
    def is_renamed(self) -> bool:
        """Whether the loop gave the call another id than the one it was issued under."""
        issued = self.issued
        return issued is not None and issued.call_id not in ("", self.item.call_id)

    def is_changed(self, schema: Mapping[str, object]) -> bool:
        """Whether the call came back with other arguments than it was issued or approved with.
        What is no object to begin with may be replaced, and any reading of the rest will do."""
        text, issued = self.item.arguments, self.issued
        sent = whole_arguments(issued) if issued is not None else None
        if issued is None or sent is None or text is None or self.item.origin == "stored":
            return False
        got = whole_object(text)
        meant = [sent] if issued.approved is None else [sent, issued.approved]
        return got is None or all(reading(one, got, schema) is None for one in meant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The calls of a request in order, and the results that stand under no call."""

    request: Request
    calls: tuple[Held, ...]
    orphans: tuple[Item, ...]

    def of(self, issued: Issued) -> Held | None:
        """The call as it stands in this conversation."""
        return next((held for held in self.calls if held.issued == issued), None)

    def lacks(self, issued: Issued) -> bool:
        """Whether it is certain that the call is not there: not under its id, nor under an id
        that the loop made up."""
        made_up = [held for held in self.calls if held.issued is None or held.is_renamed]
        unnamed = [held for held in self.calls if held.issued and not held.issued.call_id]
        alike = any(_alike(issued, held) for held in (*made_up, *unnamed))
        return self.of(issued) is None and not alike


def conversations(evidence: Evidence) -> tuple[Conversation, ...]:
    """The conversation of every request for a turn, refused and divergent ones included. All
    checks look at them, and long histories take long to trace."""
    if not evidence.traced and evidence.requests:
        evidence.traced.extend(conversation(one, evidence) for one in evidence.requests)
    return tuple(evidence.traced)


def conversation(request: Request, evidence: Evidence) -> Conversation:
    """The paired conversation of one request."""
    calls, orphans = _paired(request.items)
    before = [response for response in evidence.responses if response.n < request.n]
    ours = [response for response in before if _is_of_its_run(response, request, evidence)]
    _trace(calls, _issued(sorted(before, key=_last)), _issued(sorted(ours, key=_first)))
    return Conversation(request=request, calls=tuple(calls), orphans=tuple(orphans))


def _is_of_its_run(response: Response, request: Request, evidence: Evidence) -> bool:
    """Whether the history of the request may hold the response under ids that the loop made up."""
    scenario = evidence.scenario
    if request.turn is None:
        return True
    return run_of(response.turn, scenario) == run_of(request.turn, scenario)


def _issued(responses: Iterable[Response]) -> list[Issued]:
    return [call for response in responses for call in response.calls if is_visible(call)]


def _last(response: Response) -> tuple[bool, int]:
    """Puts last what an id most likely stands for: the latest response that ended well."""
    return response.ends == "well", response.n


def _first(response: Response) -> tuple[bool, int, int]:
    """Puts first what a call under an unknown id most likely stems from: what ended well, by
    turn, and of the attempts of a turn the latest."""
    return response.ends != "well", response.turn, -response.attempt


def _paired(items: Iterable[Item]) -> tuple[list[Held], list[Item]]:
    calls: list[Held] = []
    early: list[Item] = []
    for item in items:
        if item.kind == "call":
            calls.append(Held(item))
        elif item.kind == "result" and not _answer(calls, item):
            early.append(item)
    return calls, [item for item in early if not _answer(calls, item)]


def _answer(calls: Iterable[Held], result: Item) -> bool:
    """Puts the result under the call of its id: of the latest reply, the first that is open."""
    under = [held for held in calls if held.item.call_id == result.call_id]
    if not under or result.call_id is None:
        return False
    replies = [held for held in under if held.item.reply == under[-1].item.reply]
    next((held for held in replies if not held.results), replies[-1]).results.append(result)
    return True


def _trace(calls: Sequence[Held], by_id: Sequence[Issued], by_place: Sequence[Issued]) -> None:
    left = list(by_id)
    for group in reversed(_by_id(calls)):
        _take_together(group, left)
    unknown = [held for held in calls if held.issued is None]
    ids = {call.call_id for call in by_id}
    for held in [held for held in unknown if held.item.call_id not in ids]:
        named = [call for call in by_place if call in left and call.tool == held.item.name]
        _take(held, [call for call in named if _alike(call, held)][:1], left)
    for held in [held for held in unknown if held.item.call_id not in ids]:
        if held.issued is None:
            named = [call for call in by_place if call in left and call.tool == held.item.name]
            _take(held, named[:1], left)


def _by_id(calls: Iterable[Held]) -> list[list[Held]]:
    """The calls of one reply that share an id, in order."""
    groups: dict[tuple[object, object], list[Held]] = {}
    for held in calls:
        groups.setdefault((held.item.reply, held.item.call_id), []).append(held)
    return list(groups.values())


def _take_together(group: Sequence[Held], left: list[Issued]) -> None:
    """Traces calls that share an id to the calls of one response: the latest of those that say
    the same most often. Where neither arguments nor tools tell, their order does."""
    named = [call for call in left if call.call_id == group[0].item.call_id]
    issued = _source(group, named)
    if issued:
        for place, other in _pairs(group, issued).items():
            group[place].issued = issued[other]
            left.remove(issued[other])
    for held in group:
        if held.issued is None:
            _take(held, [call for call in named if call in left], left)


def _source(group: Sequence[Held], named: Iterable[Issued]) -> list[Issued]:
    """The calls of the response that says the same most often, of several the latest."""
    responses: dict[int, list[Issued]] = {}
    for call in named:
        responses.setdefault(call.n, []).append(call)
    best: list[Issued] = []
    most = -1
    for calls in reversed(responses.values()):
        found = _resemblance(group, calls)
        if found > most:
            best, most = calls, found
        if most == _SAME * len(group):
            break
    return best


def _pairs(group: Sequence[Held], issued: Sequence[Issued]) -> dict[int, int]:
    def cost(held: tuple[int, Held], call: tuple[int, Issued]) -> int:
        return (held[0] != call[0]) - 2 * _likeness(call[1], held[1])

    return pair_up(list(enumerate(group)), list(enumerate(issued)), cost)


def _resemblance(group: Sequence[Held], issued: Sequence[Issued]) -> int:
    pairs = _pairs(group, issued).items()
    return sum(
        _likeness(issued[j], group[i]) + 2 * _is_emptied(issued[j], group[i]) for i, j in pairs
    )


def _take(held: Held, candidates: Sequence[Issued], left: list[Issued]) -> None:
    """Traces the call to the latest of the candidates that are most like it."""
    if candidates:
        held.issued = max(reversed(candidates), key=lambda call: _likeness(call, held))
        left.remove(held.issued)


def _likeness(call: Issued, held: Held) -> int:
    """The arguments tell more than the tool, whose name a loop may have had to mend."""
    return (_SAME - 1) * _alike(call, held) + (call.tool == held.item.name)


def _alike(call: Issued, held: Held) -> bool:
    text = held.item.arguments or ""
    if call.arguments == text:
        return True
    arguments = whole_object(call.arguments)
    return arguments is not None and same(arguments, whole_object(text))


def _is_emptied(call: Issued, held: Held) -> bool:
    """Whether the loop may have put no arguments in place of what is no object."""
    return whole_object(call.arguments) is None and whole_object(held.item.arguments or "") == {}
