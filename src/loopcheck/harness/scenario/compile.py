"""A scenario for one dialect and one mode, as the script that a fake provider plays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from loopcheck.fake_providers.script import (
    Attempt,
    Call,
    Content,
    Delivery,
    DialectName,
    Fault,
    Mode,
    Place,
    Refuse,
    Say,
    Script,
    Stop,
    Turn,
    Usage,
    answer,
)
from loopcheck.harness.scenario.duration import milliseconds
from loopcheck.harness.scenario.json_text import compact
from loopcheck.harness.scenario.model import (
    AtModel,
    AttemptModel,
    CallModel,
    DeliveryModel,
    PlaceModel,
    Scenario,
    TurnModel,
    UsageModel,
)

T = TypeVar("T")

_WHOLE_DELIVERY: Final = ("segments", "keep_alive")


def compile_script(scenario: Scenario, dialect: DialectName, mode: Mode) -> Script:
    """The scenario's script: per-dialect values chosen, defaults filled in, each attempt whole."""
    numbered = enumerate((*scenario.turns, *scenario.otherwise), 1)
    turns = [_turn(n, turn, scenario, dialect, mode) for n, turn in numbered]
    count = len(scenario.turns)
    return Script(
        turns=tuple(turns[:count]),
        otherwise=tuple(turns[count:]),
        prompt=scenario.prompt,
        tools=tuple(scenario.tools),
    )


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
    )


def _attempt(
    attempt: AttemptModel,
    turn: TurnModel,
    scenario: Scenario,
    dialect: DialectName,
    mode: Mode,
) -> Attempt:
    content = tuple(_content(attempt, turn, dialect))
    levels = [m for m in (attempt.delivery, turn.delivery, scenario.delivery) if m is not None]
    usage = attempt.usage or turn.usage
    stop: Stop | None = _chosen(attempt.stop, dialect) or _chosen(turn.stop, dialect)
    return Attempt(
        content=content,
        stop=answer(content, stop=stop).stop,
        usage=_usage(usage) if usage else None,
        delivery=_delivery(levels, dialect, mode),
        fault=_fault(attempt, dialect),
        times=attempt.times,
    )


def _content(attempt: AttemptModel, turn: TurnModel, dialect: DialectName) -> Iterator[Content]:
    if turn.items is not None and attempt.replaces_nothing:
        for item in turn.items:
            yield from _pieces(
                item.say, () if item.call is None else (item.call,), item.refuse, dialect
            )
        return
    yield from _pieces(
        turn.say if attempt.say is None else attempt.say,
        turn.calls if attempt.calls is None else attempt.calls,
        turn.refuse if attempt.refuse is None else attempt.refuse,
        dialect,
    )


def _pieces(
    say: str | None, calls: Iterable[CallModel], refuse: str | None, dialect: DialectName
) -> Iterator[Content]:
    if say:
        yield Say(say)
    for call in calls:
        yield Call(
            label=call.label,
            tool=call.tool,
            arguments=arguments_text(call),
            wire_id=_chosen(call.id, dialect),
        )
    if refuse is not None:
        yield Refuse(refuse)


def _usage(usage: UsageModel) -> Usage:
    return Usage(input=usage.input, output=usage.output, reasoning=usage.reasoning)


def _delivery(levels: Iterable[DeliveryModel], dialect: DialectName, mode: Mode) -> Delivery:
    chosen: dict[str, object] = {}
    for level in levels:
        for name, value in level:
            if name == "interleave":
                value = _chosen(level.interleave, dialect)
            if name == "fragments" and isinstance(value, dict):
                chosen.setdefault("pieces", tuple(value.items()))
            elif value is not None and (mode == "stream" or name in _WHOLE_DELIVERY):
                chosen.setdefault(name, value)
    return Delivery(**chosen)  # type: ignore[arg-type]


def _fault(attempt: AttemptModel, dialect: DialectName) -> Fault | None:
    if attempt.fault is None:
        return None
    at: AtModel | None = _chosen(attempt.at, dialect)
    retry_after = attempt.retry_after
    return Fault(
        kind=attempt.fault,
        at=Place(frame="finish") if at is None else _place(at),
        error=attempt.error or "server",
        status=attempt.status,
        retry_after_ms=None if retry_after is None else milliseconds(retry_after),
        headers=tuple(attempt.headers.items()),
        body=attempt.body,
        then=attempt.then or "eof",
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
