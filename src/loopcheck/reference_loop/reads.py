"""Reads: run together, tried again where that may help, and given up when the user stops."""

from __future__ import annotations

from loopcheck.reference_loop.cancellation import Stopped, unless
from loopcheck.reference_loop.execution import Bench, ToCall
from loopcheck.reference_loop.records import CallRecord
from loopcheck.reference_loop.results import CANCELLED
from loopcheck.reference_loop.tools import ToolFailure


async def read(bench: Bench, item: ToCall) -> CallRecord:
    """The record of the read, with its result."""
    try:
        async with bench.room:
            return await unless(bench.stop, _attempts(bench, item))
    except Stopped:
        return bench.failed(item.record, "cancelled", CANCELLED, outcome="cancelled")


async def _attempts(bench: Bench, item: ToCall) -> CallRecord:
    record = bench.began(item.record)
    return await bench.watch.tool(record, _result(bench, item, record))


async def _result(bench: Bench, item: ToCall, record: CallRecord) -> CallRecord:
    retries = bench.limits.retries
    failures = 0
    failure = await _attempt(bench, item)
    while isinstance(failure, ToolFailure) and failure.retryable and failures < retries.count:
        failures += 1
        wait = retries.delay(failures, failure.retry_after)
        if wait is None or not bench.may_retry():
            break
        bench.watch.trying_again(record, failure.code, failures, wait)
        await bench.clock.sleep(wait)
        failure = await _attempt(bench, item)
    if isinstance(failure, ToolFailure):
        return bench.failed(record, failure.code, failure.message, retryable=failure.retryable)
    return bench.succeeded(record, failure)


async def _attempt(bench: Bench, item: ToCall) -> str | ToolFailure:
    try:
        return await bench.invoke(item)
    except ToolFailure as failure:
        return failure
    except PermissionError as error:
        return ToolFailure("not_permitted", f"The tool was not run: {error}")
    except TimeoutError as error:
        return ToolFailure("timed_out", f"It took too long. {error}".rstrip(), retryable=True)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        return ToolFailure("tool_failed", what, retryable=isinstance(error, ConnectionError))
