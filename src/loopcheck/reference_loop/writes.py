"""Writes: one at a time, on record before they begin, and never carried out twice.

An exception does not say how far a write came: it may have been raised after the effect, or the
answer alone may have been lost. The same holds for a process that died. Such an outcome is looked
up; where that tells nothing, a system that deduplicates can be asked again under the same
operation id, and otherwise the run pauses for a person.
"""

from __future__ import annotations

from dataclasses import replace

from loopcheck.reference_loop.execution import Bench, ToCall
from loopcheck.reference_loop.intents import Intents
from loopcheck.reference_loop.records import CallRecord
from loopcheck.reference_loop.results import CANCELLED, NOT_DONE, OUTCOME_UNKNOWN
from loopcheck.reference_loop.tools import LookUp, ToolFailure


class Unsettled(Exception):
    """Nobody here can say whether a write took effect. The message says which."""


async def write(intents: Intents, item: ToCall) -> CallRecord:
    """The record of the write, with its result. Raises Unsettled when a person has to find out."""
    bench, record = intents.bench, item.record
    if record.outcome == "begun":
        return await _recover(intents, item, record)
    operation = record.operation_id
    prior = None if operation is None else bench.records.operation(operation)
    if prior is None or intents.has_ahead(record):
        return await _begin(intents, item)
    if prior.outcome == "done":
        return _repeat(bench, record, prior)
    return await _recover(intents, item, prior)


async def _recover(intents: Intents, item: ToCall, prior: CallRecord) -> CallRecord:
    """Goes on from an operation that was begun, by this call or by an earlier one."""
    bench = intents.bench
    found = await _look_up(item)
    if found.answer == "found":
        done = bench.succeeded(prior, found.text)
        return done if prior.place == item.record.place else _repeat(bench, item.record, done)
    if found.answer == "absent":
        if prior.place != item.record.place:
            bench.records.put(replace(prior, outcome="not_done"))
        return await _begin(intents, item)
    if item.tool.deduplicates and item.may_begin and not bench.is_stopped:
        return await _begin(intents, item)
    return _leave_open(bench, item, prior)


def _leave_open(bench: Bench, item: ToCall, prior: CallRecord) -> CallRecord:
    is_own = prior.place == item.record.place
    if bench.is_stopped or not (is_own or item.tool.look_up):
        message = f"It was begun before. {OUTCOME_UNKNOWN}"
        return bench.failed(item.record, "outcome_unknown", message, outcome="unknown")
    raise Unsettled(f"it is unknown whether {prior.tool} took effect")


def _repeat(bench: Bench, record: CallRecord, prior: CallRecord) -> CallRecord:
    """The answer to a call whose operation was done before."""
    if prior.arguments_digest != record.arguments_digest:
        message = f"This was already done, with other arguments: {prior.arguments}"
        return bench.failed(record, "already_done", message)
    return bench.ended(record, "done", prior.text, parts=prior.parts)


async def _look_up(item: ToCall) -> LookUp:
    operation = item.record.operation_id
    if item.tool.look_up is None or operation is None:
        return LookUp("inconclusive")
    try:
        return await item.tool.look_up(operation)
    except Exception:
        return LookUp("inconclusive")  # a look-up that fails tells nothing


async def _begin(intents: Intents, item: ToCall) -> CallRecord:
    bench = intents.bench
    if not item.may_begin:
        checked = item.checked
        return bench.failed(item.record, checked.code, checked.message, outcome="rejected")
    if bench.is_stopped:
        return bench.failed(item.record, "cancelled", CANCELLED, outcome="cancelled")
    record = intents.begin(item)
    return await bench.watch.tool(record, _carry_out(bench, item, record))


async def _carry_out(bench: Bench, item: ToCall, record: CallRecord) -> CallRecord:
    try:
        text = await bench.invoke(item)
    except PermissionError as error:
        return bench.failed(record, "not_permitted", f"The tool was not run: {error}")
    except ToolFailure as error:
        return bench.failed(record, error.code, error.message, retryable=error.retryable)
    except Exception as error:
        return await _after(bench, replace(item, record=record), error)
    return bench.succeeded(record, text)


async def _after(bench: Bench, item: ToCall, error: Exception) -> CallRecord:
    """Finds out what became of a write that raised."""
    found = await _look_up(item)
    what = f"{type(error).__name__}: {error}"
    if found.answer == "found":
        return bench.succeeded(item.record, found.text)
    if found.answer == "absent":
        message = f"{what}. {NOT_DONE}"
        return bench.failed(item.record, "not_done", message, outcome="not_done", retryable=True)
    if item.tool.look_up is not None and not item.tool.deduplicates and not bench.is_stopped:
        raise Unsettled(f"it is unknown whether {item.record.tool} took effect: {what}")
    message = f"{what}. {OUTCOME_UNKNOWN}"
    return bench.failed(item.record, "outcome_unknown", message, outcome="unknown")
