"""Reads a journal into the evidence that checks ask about. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.fake_providers.wire import Item, ItemKind, JsonObject, OfferedTool
from loopcheck.harness.checks.evidence import (
    Broken,
    Effect,
    Ended,
    Evidence,
    Execution,
    Issued,
    Lookup,
    Refused,
    Request,
    Response,
    Thought,
)
from loopcheck.harness.journal import Entry
from loopcheck.harness.points import PointTracker
from loopcheck.harness.scenario.model import Scenario

_ITEM_KINDS: Mapping[str, ItemKind] = {kind: kind for kind in get_args(ItemKind)}
_DIALECTS: Mapping[str, DialectName] = {name: name for name in get_args(DialectName)}
_MODES: Mapping[str, Mode] = {name: name for name in get_args(Mode)}


def read(
    entries: Sequence[Entry],
    scenario: Scenario,
    can: frozenset[str],
    limit_unit: str = "rounds",
) -> Evidence:
    """The evidence of a case. `can` is what the target declares, `limit_unit` what its limit
    counts; fields that are missing in the journal read as empty."""
    case = entries[0] if entries else {}
    requests = tuple(_request(entry) for entry in _of_kind(entries, "request"))
    for_turns = tuple(request for request in requests if request.role != "side")
    responses = _accepted(tuple(_responses(entries)), for_turns)
    return Evidence(
        scenario=scenario,
        dialect=_DIALECTS.get(_text(case, "dialect"), "chat"),
        mode=_MODES.get(_text(case, "mode"), "whole"),
        can=can,
        limit_unit=limit_unit,
        entries=entries,
        requests=for_turns,
        side=tuple(request for request in requests if request.role == "side"),
        responses=responses,
        executions=tuple(_executions(entries, responses)),
        effects=tuple(_effect(entry) for entry in _of_kind(entries, "effect")),
        refused=tuple(_refused(entry) for entry in _of_kind(entries, "refused")),
        lookups=tuple(_lookup(entry) for entry in _of_kind(entries, "lookup")),
        forced=tuple(
            _text(entry, "gate")
            for entry in _of_kind(entries, "gate")
            if entry.get("how") == "forced"
        ),
        points=_points(entries),
        outcome=next(map(_ended, _of_kind(entries, "outcome")), None),
        broken=tuple(_broken(entry) for entry in _of_kind(entries, "broken")),
    )


def _of_kind(entries: Iterable[Entry], kind: str) -> Iterator[Entry]:
    return (entry for entry in entries if entry.get("kind") == kind)


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _text_or_none(entry: Mapping[str, object], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) else None


def _number(entry: Mapping[str, object], key: str) -> int:
    return _number_or_none(entry, key) or 0


def _number_or_none(entry: Mapping[str, object], key: str) -> int | None:
    value = entry.get(key)
    return value if isinstance(value, int) else None


def _object(entry: Mapping[str, object], key: str) -> JsonObject:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def _objects(entry: Mapping[str, object], key: str) -> list[JsonObject]:
    value = entry.get(key)
    if not isinstance(value, list | tuple):
        return []
    return [element for element in value if isinstance(element, dict)]


def _request(entry: Entry) -> Request:
    return Request(
        n=_number(entry, "n"),
        number=_number(entry, "request"),
        role=_text(entry, "role"),
        turn=_number_or_none(entry, "turn"),
        attempt=_number_or_none(entry, "attempt"),
        recognised=_object(entry, "recognised"),
        items=tuple(_item(item) for item in _objects(entry, "conversation")),
        tools=tuple(
            OfferedTool(name=_text(tool, "name"), schema=_object(tool, "schema"))
            for tool in _objects(entry, "tools")
        ),
        tool_choice=entry.get("tool_choice"),
        body=entry.get("body"),
        why=_text_or_none(entry, "why"),
    )


def _item(item: JsonObject) -> Item:
    is_error = item.get("is_error")
    return Item(
        kind=_ITEM_KINDS.get(_text(item, "kind"), "other"),
        path=_text(item, "path"),
        origin="stored" if item.get("origin") == "stored" else "sent",
        text=_text(item, "text"),
        call_id=_text_or_none(item, "call_id"),
        name=_text_or_none(item, "name"),
        arguments=_text_or_none(item, "arguments"),
        is_error=is_error if isinstance(is_error, bool) else None,
        reply=_number_or_none(item, "reply"),
        item_id=_text_or_none(item, "item_id"),
        seal=_text_or_none(item, "seal"),
    )


def _responses(entries: Sequence[Entry]) -> Iterator[Response]:
    sent = {_number(entry, "request"): entry for entry in _of_kind(entries, "sent")}
    for entry in _of_kind(entries, "response"):
        if _number(entry, "turn") < 1:
            continue
        written = sent.get(_number(entry, "request"))
        frames = written.get("frames") if written is not None else None
        yield Response(
            n=_number(entry, "n"),
            request=_number(entry, "request"),
            turn=_number(entry, "turn"),
            attempt=_number(entry, "attempt"),
            status=_number(entry, "status"),
            calls=tuple(_issued(entry)),
            text=_text(entry, "text"),
            refusal=_text_or_none(entry, "refusal"),
            stop=_text(entry, "stop"),
            fault=_text_or_none(entry, "fault"),
            ends=_text(entry, "ends"),
            accepted=False,
            carry=tuple(_thoughts(entry)),
            tokens=_tokens(entry),
            odd=entry.get("odd") is True,
            frames=tuple(map(str, frames)) if isinstance(frames, list | tuple) else (),
            sent_n=_number(written, "n") if written is not None else None,
        )


def _issued(response: Entry) -> Iterator[Issued]:
    for ordinal, call in enumerate(_objects(response, "calls")):
        yield Issued(
            turn=_number(response, "turn"),
            attempt=_number(response, "attempt"),
            ordinal=ordinal,
            label=_text(call, "label"),
            tool=_text(call, "tool"),
            arguments=_text(call, "arguments"),
            call_id=_text(call, "call_id"),
            sent=_text(call, "sent"),
            n=_number(response, "n"),
            position=_number(call, "position"),
        )


def _thoughts(response: Entry) -> Iterator[Thought]:
    for thought in _objects(response, "carry"):
        yield Thought(
            text=_text(thought, "text"),
            item_id=_text(thought, "item_id"),
            seal=_text(thought, "seal"),
            position=_number(thought, "position"),
            redacted=thought.get("kind") == "redacted",
        )


def _tokens(response: Entry) -> int | None:
    usage = _object(response, "usage")
    return _number(usage, "input") + _number(usage, "output") if usage else None


def _accepted(responses: tuple[Response, ...], requests: Iterable[Request]) -> tuple[Response, ...]:
    accepted = {
        found.n
        for request in requests
        if request.role == "turn" and (found := continued_from(request, responses)) is not None
    }
    return tuple(replace(response, accepted=response.n in accepted) for response in responses)


def continued_from(request: Request, responses: Iterable[Response]) -> Response | None:
    """The response that a request continues: of the turn that was recognised in it, the attempt
    whose call ids it holds, else the latest one."""
    turn = request.recognised.get("turn")
    attempt = request.recognised.get("attempt")
    given = [
        response
        for response in responses
        if response.turn == turn and response.n < request.n and attempt in (None, response.attempt)
    ]
    held = {item.call_id for item in request.items if item.kind == "call"}
    by_id = [response for response in given if any(call.call_id in held for call in response.calls)]
    latest = by_id or given
    return latest[-1] if latest else None


def _executions(entries: Sequence[Entry], responses: Sequence[Response]) -> Iterator[Execution]:
    ends = {_number(entry, "execution"): entry for entry in _of_kind(entries, "ended")}
    for entry in _of_kind(entries, "execution"):
        n = _number(entry, "n")
        end = ends.get(_number(entry, "execution"), {})
        yield Execution(
            n=n,
            number=_number(entry, "execution"),
            tool=_text(entry, "tool"),
            arguments=_object(entry, "arguments"),
            label=_text_or_none(entry, "label"),
            call_id=_text_or_none(entry, "call_id"),
            operation_id=_text_or_none(entry, "operation_id"),
            token=_text(entry, "token"),
            response=max((r.n for r in responses if r.n < n), default=None),
            ended=_text_or_none(end, "how"),
            ended_n=_number_or_none(end, "n"),
            result=_text(end, "result"),
        )


def _effect(entry: Entry) -> Effect:
    operation = entry.get("operation")
    return Effect(
        n=_number(entry, "n"),
        execution=_number(entry, "execution"),
        tool=_text(entry, "tool"),
        arguments=_object(entry, "arguments"),
        operation=operation if isinstance(operation, dict) else None,
        deduplicated=entry.get("deduplicated") is True,
    )


def _refused(entry: Entry) -> Refused:
    return Refused(
        n=_number(entry, "n"),
        request=_number(entry, "request"),
        rule=_text_or_none(entry, "rule"),
        grade=_text_or_none(entry, "grade"),
        status=_number(entry, "status"),
        message=_text(entry, "message"),
        param=_text_or_none(entry, "param"),
    )


def _lookup(entry: Entry) -> Lookup:
    return Lookup(
        n=_number(entry, "n"),
        tool=_text(entry, "tool"),
        operation_id=_text_or_none(entry, "operation_id"),
        answer=_text(entry, "answer"),
    )


def _ended(entry: Entry) -> Ended:
    return Ended(
        n=_number(entry, "n"),
        state=_text(entry, "state"),
        reason=_text(entry, "reason"),
        text=_text(entry, "text"),
        exception=_text_or_none(entry, "exception"),
    )


def _broken(entry: Entry) -> Broken:
    return Broken(n=_number(entry, "n"), fault=_text(entry, "fault"), what=_text(entry, "what"))


def _points(entries: Iterable[Entry]) -> dict[str, int]:
    tracker = PointTracker()
    points: dict[str, int] = {}
    for entry in entries:
        for point in tracker.feed(entry):
            points.setdefault(point, _number(entry, "n"))
    return points
