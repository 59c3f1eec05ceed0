"""A scenario for one dialect and one mode, as the script that a fake provider plays."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from loopcheck.fake_providers.script import (
    Attempt,
    Call,
    Content,
    Delivery,
    DialectName,
    Fault,
    Hosted,
    Lane,
    Mode,
    Place,
    Quirk,
    Refuse,
    Say,
    Script,
    Section,
    Stop,
    Think,
    Turn,
    Usage,
    answer,
)
from loopcheck.harness.scenario import content
from loopcheck.harness.scenario.control_model import InsideModel
from loopcheck.harness.scenario.duration import milliseconds
from loopcheck.harness.scenario.json_text import compact
from loopcheck.harness.scenario.model import (
    AtModel,
    AttemptModel,
    Base64Model,
    CallModel,
    DeliveryModel,
    HostedResultModel,
    ItemModel,
    MessageModel,
    PlaceModel,
    QuirkModel,
    RetryDateModel,
    Scenario,
    TurnModel,
    UsageModel,
)
from loopcheck.harness.scenario.shapes import dialect_shape
from loopcheck.harness.scenario.stream_model import Quirks, Raw, RawBody

T = TypeVar("T")

_WHOLE_DELIVERY: Final = ("segments", "keep_alive")


def compile_script(scenario: Scenario, dialect: DialectName, mode: Mode) -> Script:
    """The scenario's script: per-dialect values chosen, defaults filled in, each attempt whole."""
    scripted = scenario.turns
    numbered = enumerate((*scripted, *scenario.otherwise), 1)
    turns = [_turn(n, turn, scenario, dialect, mode) for n, turn in numbered]
    count = len(scripted)
    return Script(
        turns=tuple(turns[:count]),
        otherwise=tuple(turns[count:]),
        prompt=scenario.prompt,
        tools=tuple(scenario.client_tools),
        later=tuple(_later(scenario)),
        lanes=tuple(_lanes(scenario)),
        earlier=tuple((said.role, said.text) for said in scenario.said_earlier),
    )


def _later(scenario: Scenario) -> Iterator[Section]:
    """The parts of the script behind the first."""
    opened: list[tuple[MessageModel, int]] = []
    turns = 0
    for entry in scenario.entries:
        if isinstance(entry, MessageModel):
            opened.append((entry, turns + 1))
        else:
            turns += 1
    ends = [first - 1 for _, first in opened[1:]]
    for number, ((entry, first), last) in enumerate(zip(opened, [*ends, turns], strict=False), 1):
        yield Section(
            number=number,
            text=entry.user or entry.run,
            first=first,
            last=last,
            fresh=entry.run is not None,
        )


def _lanes(scenario: Scenario) -> Iterator[Lane]:
    """The lanes, whose turns are numbered on."""
    last = len(scenario.turns) - sum(len(lane.turns) for lane in scenario.lanes.values())
    for name, lane in scenario.lanes.items():
        first, last = last + 1, last + len(lane.turns)
        tools = None if lane.if_.tools is None else frozenset(lane.if_.tools)
        yield Lane(name=name, first=first, last=last, model=lane.if_.model, tools=tools)


def arguments_text(call: CallModel) -> str:
    """The exact arguments text that a call puts on the wire."""
    if call.raw_args is not None:
        return call.raw_args
    return compact(call.args)


def _chosen(value: T | dict[DialectName, T] | None, dialect: DialectName) -> T | None:
    return value.get(dialect) if isinstance(value, dict) else value


def _turn(
    number: int, turn: TurnModel, scenario: Scenario, dialect: DialectName, mode: Mode
) -> Turn:
    attempts = (AttemptModel() if attempt == "normal" else attempt for attempt in turn.attempts)
    return Turn(
        number=number,
        attempts=tuple(_attempt(a, turn, scenario, dialect, mode) for a in attempts),
        optional=turn.optional,
        must_reach=turn.must_reach,
        tool_choice=None if turn.if_ is None else turn.if_.tool_choice,
    )


def _attempt(
    attempt: AttemptModel,
    turn: TurnModel,
    scenario: Scenario,
    dialect: DialectName,
    mode: Mode,
) -> Attempt:
    said = [piece.item for piece in content.of_attempt(attempt, turn)]
    pieces = tuple(compiled for item in said for compiled in _piece(item, said, scenario, dialect))
    levels = [m for m in (attempt.delivery, turn.delivery, scenario.delivery) if m is not None]
    usage = attempt.usage or turn.usage
    stop: Stop | None = _chosen(attempt.stop, dialect) or _chosen(turn.stop, dialect)
    written = (attempt, turn) if attempt.replaces_nothing else (attempt,)
    return Attempt(
        content=pieces,
        stop=answer(pieces, stop=stop).stop,
        usage=_usage(usage) if usage else None,
        delivery=replace(_delivery(levels, dialect, mode), marks=tuple(_marks(scenario, mode))),
        fault=_fault(attempt, dialect),
        times=attempt.times,
        until=attempt.until,
        quirks=_quirks((attempt.quirks, turn.quirks, scenario.quirks), dialect),
        raw=_raw(next((o.raw for o in written if o.raw is not None), None), dialect),
        raw_body=_raw_body(
            next((o.raw_body for o in written if o.raw_body is not None), None), dialect
        ),
    )


def _piece(
    item: ItemModel, said: Sequence[ItemModel], scenario: Scenario, dialect: DialectName
) -> Iterator[Content]:
    if item.think is not None:
        yield Think(item.think)
    elif item.redacted:
        yield Think(redacted=True)
    elif item.say:
        yield Say(item.say)
    elif item.refuse is not None:
        yield Refuse(item.refuse)
    elif item.call is not None:
        yield _call(item.call, said, scenario, dialect)
    elif item.hosted_result is not None and _stands_apart(dialect):
        yield _hosted_result(item.hosted_result, said, scenario, dialect)


def _call(
    call: CallModel, said: Sequence[ItemModel], scenario: Scenario, dialect: DialectName
) -> Call | Hosted:
    if scenario.is_hosted(call.tool):
        results = [i.hosted_result for i in said if i.hosted_result is not None]
        found = next((r.value for r in results if r.of == call.label), None)
        return _hosted(call, scenario, dialect, None if _stands_apart(dialect) else found)
    return Call(
        label=call.label,
        tool=call.tool,
        arguments=arguments_text(call),
        wire_id=_chosen(call.id, dialect),
        form=call.form,
    )


def _stands_apart(dialect: DialectName) -> bool:
    """Whether the result of a hosted call has a place of its own, outside the call."""
    return dialect == "messages"


def _hosted(call: CallModel, scenario: Scenario, dialect: DialectName, result: object) -> Hosted:
    return Hosted(
        label=call.label,
        kind=_chosen(scenario.tools[call.tool].type, dialect) or call.tool,
        name=call.tool,
        arguments=arguments_text(call),
        result=result,
    )


def _hosted_result(
    found: HostedResultModel, said: Sequence[ItemModel], scenario: Scenario, dialect: DialectName
) -> Hosted:
    """The result of a call of this response or, where a turn was paused, of an earlier one."""
    turns = (*scenario.turns, *scenario.otherwise)
    calls = [call for turn in turns for call in turn.every_call]
    call = next(call for call in calls if call.label == found.of)
    hosted = _hosted(call, scenario, dialect, found.value)
    return replace(hosted, label=f"{found.of}-result", of=found.of)


def _marks(scenario: Scenario, mode: Mode) -> Iterator[tuple[Place, str]]:
    """The places in streams at which something happens from outside."""
    for rule in scenario.meanwhile if mode == "stream" else ():
        for when in rule.when:
            if isinstance(when, InsideModel):
                yield Place(inside=when.in_, after=when.after), str(when)


def _quirks(levels: Iterable[Quirks | None], dialect: DialectName) -> tuple[Quirk, ...]:
    """The quirks of the first level that says anything about quirks."""
    given = next((level for level in levels if level is not None), ())
    return tuple(map(quirk_of, _chosen(given, dialect) or ()))


def quirk_of(written: QuirkModel) -> Quirk:
    """A quirk as a name alone, or as a mapping from its name to its value."""
    if isinstance(written, str):
        return Quirk(written)
    return Quirk(*next(iter(written.items())))


def _raw(written: Raw | None, dialect: DialectName) -> tuple[object, ...] | bytes | None:
    chosen: object = _chosen(written, dialect)
    if isinstance(chosen, str):
        return chosen.encode()
    if isinstance(chosen, Base64Model):
        return b64decode(chosen.base64)
    return chosen if isinstance(chosen, tuple) else None


def _raw_body(written: RawBody | None, dialect: DialectName) -> object:
    by_dialect = dialect_shape(written) == "a mapping by dialect"
    chosen: object = _chosen(written, dialect) if by_dialect else written
    if isinstance(chosen, str):
        return chosen.encode()
    if isinstance(chosen, dict) and list(chosen) == ["base64"]:
        return b64decode(str(next(iter(chosen.values()))))
    return chosen


def _usage(usage: UsageModel) -> Usage:
    return Usage(input=usage.input, output=usage.output, reasoning=usage.reasoning)


def _delivery(levels: Iterable[DeliveryModel], dialect: DialectName, mode: Mode) -> Delivery:
    chosen: dict[str, object] = {}
    for level in levels:
        for name, value in level:
            if name == "interleave":
                value = _chosen(level.interleave, dialect)
            if name == "pauses" and level.pauses is not None:
                value = tuple((_place(p.at), milliseconds(p.for_)) for p in level.pauses)
            if name == "fragments" and isinstance(value, dict):
                chosen.setdefault("pieces", tuple(value.items()))
            elif value is not None and (mode == "stream" or name in _WHOLE_DELIVERY):
                chosen.setdefault(name, value)
    return Delivery(**chosen)  # type: ignore[arg-type]


def _fault(attempt: AttemptModel, dialect: DialectName) -> Fault | None:
    if attempt.fault is None:
        return None
    at: AtModel | None = _chosen(attempt.at, dialect)
    later = attempt.retry_after
    delay = later.date if isinstance(later, RetryDateModel) else later
    return Fault(
        kind=attempt.fault,
        at=Place(frame="finish") if at is None else _place(at),
        error=attempt.error or "server",
        status=attempt.status,
        retry_after_ms=None if delay is None else milliseconds(delay),
        retry_after_date=isinstance(later, RetryDateModel),
        headers=tuple(attempt.headers.items()),
        body=attempt.body,
        then=attempt.then or "eof",
        terminal=attempt.terminal is True,
        form=_chosen(attempt.form, dialect),
    )


def _place(at: AtModel) -> Place:
    if not isinstance(at, PlaceModel):
        return Place(edge=at)
    inside = at.in_ is not None
    return Place(
        frame=at.frame,
        inside=at.in_,
        after=at.after if inside else None,
        before=at.before,
        behind=None if inside else at.after,
        size=at.bytes,
    )
