"""Reads a journal into the evidence that checks ask about. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.fake_providers.wire import Item, ItemKind, JsonObject, OfferedTool
from loopcheck.harness.checks import course, fields
from loopcheck.harness.checks.current import with_current
from loopcheck.harness.checks.evidence import (
    Broken,
    Decided,
    Effect,
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
    requests = tuple(_request(entry) for entry in fields.of_kind(entries, "request"))
    for_turns = tuple(request for request in requests if request.role != "side")
    responses = _accepted(tuple(_responses(entries)), for_turns)
    return Evidence(
        scenario=scenario,
        dialect=_DIALECTS.get(fields.text(case, "dialect"), "chat"),
        mode=_MODES.get(fields.text(case, "mode"), "whole"),
        can=can,
        limit_unit=limit_unit,
        entries=entries,
        requests=for_turns,
        side=tuple(request for request in requests if request.role == "side"),
        responses=responses,
        executions=with_current(_executions(entries), responses, scenario),
        effects=tuple(_effect(entry) for entry in fields.of_kind(entries, "effect")),
        refused=tuple(_refused(entry) for entry in fields.of_kind(entries, "refused")),
        lookups=tuple(_lookup(entry) for entry in fields.of_kind(entries, "lookup")),
        forced=tuple(
            fields.text(entry, "gate")
            for entry in fields.of_kind(entries, "gate")
            if entry.get("how") == "forced"
        ),
        points=_points(entries),
        outcome=max(
            map(course.ended, fields.of_kind(entries, "outcome")), key=lambda e: e.n, default=None
        ),
        ends=tuple(course.ends(entries)),
        decisions=tuple(course.decisions(entries)),
        pauses=tuple(course.pauses(entries)),
        cancelled_n=course.cancelled(entries),
        told=tuple(map(course.ended, fields.of_kind(entries, "outcome"))),
        legs=tuple(fields.number(entry, "n") for entry in fields.of_kind(entries, "leg")),
        deaths=tuple(fields.number(entry, "n") for entry in fields.of_kind(entries, "died")),
        broken=tuple(_broken(entry) for entry in fields.of_kind(entries, "broken")),
    )


def _request(entry: Entry) -> Request:
    return Request(
        n=fields.number(entry, "n"),
        number=fields.number(entry, "request"),
        role=fields.text(entry, "role"),
        turn=fields.number_or_none(entry, "turn"),
        attempt=fields.number_or_none(entry, "attempt"),
        recognised=fields.object_(entry, "recognised"),
        items=tuple(_item(item) for item in fields.objects(entry, "conversation")),
        tools=tuple(
            OfferedTool(name=fields.text(tool, "name"), schema=fields.object_(tool, "schema"))
            for tool in fields.objects(entry, "tools")
        ),
        tool_choice=entry.get("tool_choice"),
        body=entry.get("body"),
        why=fields.text_or_none(entry, "why"),
    )


def _item(item: JsonObject) -> Item:
    is_error = item.get("is_error")
    return Item(
        kind=_ITEM_KINDS.get(fields.text(item, "kind"), "other"),
        path=fields.text(item, "path"),
        origin="stored" if item.get("origin") == "stored" else "sent",
        text=fields.text(item, "text"),
        call_id=fields.text_or_none(item, "call_id"),
        name=fields.text_or_none(item, "name"),
        arguments=fields.text_or_none(item, "arguments"),
        is_error=is_error if isinstance(is_error, bool) else None,
        reply=fields.number_or_none(item, "reply"),
        item_id=fields.text_or_none(item, "item_id"),
        seal=fields.text_or_none(item, "seal"),
    )


def _responses(entries: Sequence[Entry]) -> Iterator[Response]:
    approved = course.approvals(entries)
    replaced = course.replaced(entries)
    for entry in fields.of_kind(entries, "response"):
        if fields.number(entry, "turn") < 1:
            continue
        yield Response(
            n=fields.number(entry, "n"),
            request=fields.number(entry, "request"),
            turn=fields.number(entry, "turn"),
            attempt=fields.number(entry, "attempt"),
            status=fields.number(entry, "status"),
            calls=tuple(_issued(entry, approved, replaced)),
            text=fields.text(entry, "text"),
            refusal=fields.text_or_none(entry, "refusal"),
            stop=fields.text(entry, "stop"),
            fault=fields.text_or_none(entry, "fault"),
            ends=fields.text(entry, "ends"),
            accepted=False,
            carry=tuple(_thoughts(entry)),
            usage=_usage(entry),
            odd=entry.get("odd") is True,
        )


def _issued(
    response: Entry, approved: Mapping[str, Decided], replaced: Collection[str]
) -> Iterator[Issued]:
    for ordinal, call in enumerate(fields.objects(response, "calls")):
        label = fields.text(call, "label")
        yield Issued(
            attempt=fields.number(response, "attempt"),
            ordinal=ordinal,
            label=label,
            tool=fields.text(call, "tool"),
            arguments=fields.text(call, "arguments"),
            call_id=fields.text(call, "call_id"),
            sent=fields.text(call, "sent"),
            n=fields.number(response, "n"),
            position=fields.number(call, "position"),
            approved=approved[label].arguments if label in approved else None,
            replaced=label in replaced,
        )


def _thoughts(response: Entry) -> Iterator[Thought]:
    for thought in fields.objects(response, "carry"):
        yield Thought(
            text=fields.text(thought, "text"),
            item_id=fields.text(thought, "item_id"),
            seal=fields.text(thought, "seal"),
            position=fields.number(thought, "position"),
            redacted=thought.get("kind") == "redacted",
        )


def _usage(response: Entry) -> tuple[int, int] | None:
    usage = fields.object_(response, "usage")
    return (fields.number(usage, "input"), fields.number(usage, "output")) if usage else None


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
    given = [one for one in responses if one.turn == turn and one.n < request.n]
    held = {item.call_id for item in request.items if item.kind == "call"}
    by_id = [response for response in given if any(call.call_id in held for call in response.calls)]
    latest = by_id or given
    return latest[-1] if latest else None


def _executions(entries: Sequence[Entry]) -> Iterator[Execution]:
    ends = {fields.number(entry, "execution"): entry for entry in fields.of_kind(entries, "ended")}
    for entry in fields.of_kind(entries, "execution"):
        end = ends.get(fields.number(entry, "execution"), {})
        yield Execution(
            n=fields.number(entry, "n"),
            number=fields.number(entry, "execution"),
            tool=fields.text(entry, "tool"),
            arguments=fields.object_(entry, "arguments"),
            label=fields.text_or_none(entry, "label"),
            call_id=fields.text_or_none(entry, "call_id"),
            operation_id=fields.text_or_none(entry, "operation_id"),
            token=fields.text(entry, "token"),
            ended=fields.text_or_none(end, "how"),
            ended_n=fields.number_or_none(end, "n"),
            result=fields.text(end, "result"),
        )


def _effect(entry: Entry) -> Effect:
    operation = entry.get("operation")
    return Effect(
        n=fields.number(entry, "n"),
        execution=fields.number(entry, "execution"),
        tool=fields.text(entry, "tool"),
        arguments=fields.object_(entry, "arguments"),
        operation=operation if isinstance(operation, dict) else None,
        deduplicated=entry.get("deduplicated") is True,
    )


def _refused(entry: Entry) -> Refused:
    return Refused(
        n=fields.number(entry, "n"),
        request=fields.number(entry, "request"),
        rule=fields.text_or_none(entry, "rule"),
        grade=fields.text_or_none(entry, "grade"),
        status=fields.number(entry, "status"),
        message=fields.text(entry, "message"),
        param=fields.text_or_none(entry, "param"),
    )


def _lookup(entry: Entry) -> Lookup:
    return Lookup(
        n=fields.number(entry, "n"),
        tool=fields.text(entry, "tool"),
        operation_id=fields.text_or_none(entry, "operation_id"),
        answer=fields.text(entry, "answer"),
    )


def _broken(entry: Entry) -> Broken:
    return Broken(
        n=fields.number(entry, "n"),
        fault=fields.text(entry, "fault"),
        what=fields.text(entry, "what"),
    )


def _points(entries: Iterable[Entry]) -> dict[str, int]:
    tracker = PointTracker()
    points: dict[str, int] = {}
    for entry in entries:
        for point in tracker.feed(entry):
            points.setdefault(point, fields.number(entry, "n"))
    return points
