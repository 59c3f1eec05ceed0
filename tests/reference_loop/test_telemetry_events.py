"""What observers are told, event by event."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from crashing import Played
from sdk_replies import Answer
from watched_runs import BUSY, Seen, Time, Tools, calls, failure, final, service, streamed

from loopcheck.reference_loop import (
    Approval,
    Final,
    LookUp,
    Policy,
    Question,
    ReferenceLoop,
    Reply,
    Retries,
    Settlement,
    SqliteStore,
    ToolFailure,
    ToolLimits,
    Usage,
)
from loopcheck.reference_loop.approvals import PersonsAnswer
from loopcheck.reference_loop.arguments import digest
from loopcheck.reference_loop.telemetry import events as t

pytestmark = pytest.mark.asyncio

MODEL = t.ModelName(provider="openai", model="gpt-4o")
FAILURE = b'{"error": {"message": "No.", "type": "server_error"}}'
LOOK = t.CallName(
    round=1,
    position=0,
    call_id="c1",
    tool="look",
    kind="read",
    arguments_digest=digest({"n": 1}),
    operation_id=None,
)
BOOK = replace(LOOK, position=1, call_id="c2", tool="book", kind="write")


async def test_a_run_from_its_start_to_its_end() -> None:
    time, seen = Time(), Seen()
    answers: list[Answer] = [
        failure(503),
        streamed(calls(("c1", "look", '{"n": 1}'), ("c2", "book", '{"n": 1}'))),
        streamed(final("Booked.")),
    ]
    loop = ReferenceLoop(
        service(time, *answers).chat(),
        Tools(time, [BUSY]).both(),
        retries=Retries(first_seconds=4.0),
        tool_limits=ToolLimits(retries=Retries(count=1, first_seconds=8.0)),
        clock=time.clock(),
        observe=seen,
    )
    await loop.run("Book it.", run_id="r")
    book = replace(BOOK, operation_id=_operation(seen))
    request = t.RequestStarted(run_id="r", model=MODEL, round=1, attempt=1)
    failed, asked, answered = _ended(seen)
    assert seen.events == [
        t.RunStarted(run_id="r", model=MODEL, tools=2),
        request,
        failed,
        t.RetryScheduled(run_id="r", round=1, error="503", failures=1, after_seconds=4.0),
        replace(request, attempt=2),
        asked,
        t.CallDecided(run_id="r", call=LOOK, decision="allowed", code="", by=""),
        t.CallDecided(run_id="r", call=book, decision="allowed", code="", by=""),
        t.ToolStarted(run_id="r", call=LOOK),
        t.RetryScheduled(
            run_id="r", round=1, error="busy", failures=1, after_seconds=8.0, call=LOOK
        ),
        t.ToolEnded(run_id="r", call=LOOK, outcome="done", code="", seconds=12.0),
        t.ToolStarted(run_id="r", call=book),
        t.ToolEnded(run_id="r", call=book, outcome="done", code="", seconds=3.0),
        replace(request, round=2),
        answered,
        t.RunEnded(
            run_id="r",
            state="completed",
            reason="final_answer",
            error="",
            rounds=2,
            calls=2,
            tokens=38,
            cost=0.0,
            seconds=22.0,
        ),
    ]


def _operation(seen: Seen) -> str | None:
    [_, book] = [event for event in seen.events if isinstance(event, t.CallDecided)]
    assert book.call.operation_id is not None
    return book.call.operation_id


def _ended(seen: Seen) -> list[t.RequestEnded]:
    return [event for event in seen.events if isinstance(event, t.RequestEnded)]


async def test_what_is_known_of_requests() -> None:
    time, seen = Time(), Seen()
    answers: list[Answer] = [
        failure(503),
        streamed(calls(("c1", "look", '{"n": 1}'))),
        streamed(final("Ok.")),
    ]
    slow = service(time, *answers)
    loop = ReferenceLoop(slow.chat(), Tools(time).both(), clock=time.clock(), observe=[seen])
    await loop.run("Go.", run_id="r")
    failed, asked, answered = _ended(seen)
    assert failed == t.RequestEnded(
        run_id="r",
        model=MODEL,
        round=1,
        attempt=1,
        response="failed",
        error="503",
        calls=0,
        usage=None,
        seconds=1.0,
        first_seconds=None,
        response_id="",
        finish="",
        status=503,
        bytes_sent=slow.sizes[0],
        bytes_received=len(FAILURE),
    )
    assert asked == replace(
        failed,
        attempt=2,
        response="calls",
        error="",
        calls=1,
        usage=Usage(input_tokens=10, output_tokens=5),
        first_seconds=1.0,
        response_id="chatcmpl-tool_calls",
        finish="tool_calls",
        status=200,
        bytes_sent=slow.sizes[1],
        bytes_received=len(str(answers[1])),
    )
    assert (answered.round, answered.attempt, answered.response) == (2, 1, "final")


async def test_a_whole_response_has_no_first_event_and_the_sdk_hides_its_size() -> None:
    time, seen = Time(), Seen()
    loop = ReferenceLoop(
        service(time, final("Ok.")).chat(stream=False), clock=time.clock(), observe=seen
    )
    await loop.run("Go.")
    [ended] = _ended(seen)
    assert (ended.response, ended.finish, ended.seconds) == ("final", "stop", 1.0)
    assert (ended.first_seconds, ended.status, ended.bytes_received) == (None, None, None)


async def test_a_request_that_gets_no_answer_says_what_was_raised() -> None:
    time, seen = Time(), Seen()
    loop = ReferenceLoop(
        service(time, httpx2.ConnectError("secret"), final("Ok.")).chat(stream=False),
        retries=Retries(first_seconds=0.0),
        clock=time.clock(),
        observe=seen,
    )
    await loop.run("Go.")
    assert [event.error for event in _ended(seen)] == ["APIConnectionError", ""]
    [retry] = seen.of(t.RetryScheduled)
    assert retry.error == "APIConnectionError"  # type: ignore[union-attr]


async def test_decisions_and_their_reasons() -> None:
    time, seen = Time(), Seen()
    asked = calls(("c1", "look", '{"n": "one"}'), ("c2", "book", '{"n": 1}'), ("c3", "lok", "{}"))
    loop = ReferenceLoop(
        service(time, asked, final("Ok.")).chat(stream=False),
        Tools(time).both(),
        policy=Policy(permissions={"book": "disabled"}),
        observe=seen,
    )
    await loop.run("Go.")
    decided = [event for event in seen.events if isinstance(event, t.CallDecided)]
    assert [(one.call.tool, one.call.kind, one.decision, one.code) for one in decided] == [
        ("look", "read", "invalid", "invalid_arguments"),
        ("book", "write", "denied", "denied"),
        ("lok", None, "invalid", "unknown_tool"),
    ]
    assert seen.of(t.ToolStarted) == []


async def test_failures_of_tools_have_codes() -> None:
    time, seen = Time(), Seen()
    asked = calls(("c1", "look", '{"n": 1}'), ("c2", "look", '{"n": 2}'))
    tools = Tools(time, [BUSY, ValueError("secret")])
    loop = ReferenceLoop(
        service(time, asked, final("Ok.")).chat(stream=False), tools.both(), observe=seen
    )
    await loop.run("Go.")
    ended = [event for event in seen.events if isinstance(event, t.ToolEnded)]
    assert [(one.outcome, one.code) for one in ended] == [
        ("failed", "busy"),
        ("failed", "tool_failed"),
    ]


async def test_a_code_that_is_no_word_is_not_told() -> None:
    time, seen = Time(), Seen()
    tools = Tools(time, [ToolFailure("secret words of a service", "No.", retryable=True)] * 2)
    loop = ReferenceLoop(
        service(time, calls(("c1", "look", '{"n": 1}')), final("Ok.")).chat(stream=False),
        tools.both(),
        tool_limits=ToolLimits(retries=Retries(count=1, first_seconds=0.0)),
        observe=seen,
    )
    outcome = await loop.run("Go.")
    assert outcome.calls[0].code == "secret words of a service"
    assert "secret" not in repr(seen.events)
    [retry], [ended] = seen.of(t.RetryScheduled), seen.of(t.ToolEnded)
    assert isinstance(retry, t.RetryScheduled)
    assert isinstance(ended, t.ToolEnded)
    assert (retry.error, ended.code) == ("_OTHER", "_OTHER")


async def test_an_approval_and_how_long_it_took() -> None:
    time, seen = Time(), Seen()

    async def ask(questions: Sequence[Question]) -> Sequence[PersonsAnswer]:
        time.now += 60.0
        return [Approval(digest=questions[0].digest, approved=True, by="Ada")]

    loop = ReferenceLoop(
        service(time, calls(("c2", "book", '{"n": 1}')), final("Ok.")).chat(stream=False),
        Tools(time).both(),
        policy=Policy(permissions={"book": "ask"}),
        ask=ask,
        clock=time.clock(),
        observe=seen,
    )
    await loop.run("Go.", run_id="r")
    [question] = seen.of(t.ApprovalAsked)
    assert isinstance(question, t.ApprovalAsked)
    asked = ("r", "c2", "book", "approval")
    assert (question.run_id, question.call_id, question.tool, question.about) == asked
    assert seen.of(t.ApprovalDecided) == [
        t.ApprovalDecided(
            run_id="r",
            call_id="c2",
            tool="book",
            about="approval",
            digest=question.digest,
            decision="approved",
            by="Ada",
            seconds=60.0,
        )
    ]
    decided = [event for event in seen.events if isinstance(event, t.CallDecided)]
    assert [(one.decision, one.by) for one in decided] == [("asked", ""), ("approved", "Ada")]


async def test_a_stored_run_that_pauses_and_is_resumed(tmp_path: Path) -> None:
    time, seen = Time(), Seen()
    store = SqliteStore(tmp_path / "runs.sqlite3", wall=time.wall)
    loop = ReferenceLoop(
        service(time, calls(("c2", "book", '{"n": 1}')), final("Ok.")).chat(stream=False),
        Tools(time).both(),
        policy=Policy(permissions={"book": "ask"}),
        store=store,
        clock=time.clock(),
        observe=seen,
    )
    paused = await loop.run("Go.", run_id="r")
    [question] = paused.questions
    time.now += 3600.0
    answers = [Approval(digest=question.digest, approved=False, by="Ada")]
    await loop.resume("r", decisions=answers)
    await loop.resume("r")
    store.close()
    names = [
        event.name if isinstance(event, t.CheckpointSaved) else type(event).__name__
        for event in seen.events
    ]
    assert names == [
        "RunStarted",
        "run_started",
        "RequestStarted",
        "RequestEnded",
        "response_received",
        "CallDecided",
        "ApprovalAsked",
        "paused",
        "RunEnded",
        "approval_decided",
        "ApprovalDecided",
        "RunResumed",
        "CallDecided",
        "results_saved",
        "RequestStarted",
        "RequestEnded",
        "finished",
        "RunEnded",
    ]
    [resumed], [decided] = seen.of(t.RunResumed), seen.of(t.ApprovalDecided)
    assert resumed == t.RunResumed(run_id="r", model=MODEL, tools=2, phase="paused", rounds=1)
    assert isinstance(decided, t.ApprovalDecided)
    assert (decided.decision, decided.seconds) == ("denied", 3600.0)


async def test_a_person_finds_out_what_became_of_a_write(tmp_path: Path) -> None:
    """Nobody can look it up, and nobody knows since when that was asked."""
    time, seen = Time(), Seen()
    store = SqliteStore(tmp_path / "runs.sqlite3", wall=time.wall)
    tools = [replace(tool, invoke=_lost, look_up=_unknown) for tool in Tools(time).both()]
    loop = ReferenceLoop(
        service(time, calls(("c2", "book", '{"n": 1}')), final("Ok.")).chat(stream=False),
        tools,
        store=store,
        observe=seen,
    )
    [question] = (await loop.run("Go.", run_id="r")).questions
    settlement = Settlement(digest=question.digest, answer="found", text="done", by="Ada")
    await loop.resume("r", decisions=[settlement])
    store.close()
    [ended], [decided] = seen.of(t.ToolEnded), seen.of(t.ApprovalDecided)
    assert isinstance(ended, t.ToolEnded)
    assert (ended.outcome, ended.code) == ("begun", "Unsettled")
    assert isinstance(decided, t.ApprovalDecided)
    assert (decided.about, decided.decision, decided.seconds) == ("outcome", "found", None)
    [asked] = seen.of(t.ApprovalAsked)
    assert isinstance(asked, t.ApprovalAsked)
    assert asked.digest == decided.digest


async def _lost(arguments: object, *, call_id: str, operation_id: str | None) -> str:
    raise ConnectionError("the answer was lost")


async def _unknown(operation_id: str) -> LookUp:
    return LookUp("inconclusive")


async def test_stop_is_told_of_what_it_gives_up() -> None:
    time, seen, stop = Time(), Seen(), asyncio.Event()

    async def hang(arguments: object, *, call_id: str, operation_id: str | None) -> str:
        stop.set()
        await asyncio.Event().wait()
        return ""

    look = replace(Tools(time).both()[0], invoke=hang)
    answers = service(time, calls(("c1", "look", '{"n": 1}')))
    loop = ReferenceLoop(answers.chat(stream=False), [look], observe=seen)
    await loop.run("Go.", stop=stop)
    [tool], [run] = seen.of(t.ToolEnded), seen.of(t.RunEnded)
    assert isinstance(tool, t.ToolEnded)
    assert (tool.outcome, tool.code) == ("begun", "CancelledError")
    assert isinstance(run, t.RunEnded)
    assert (run.state, run.error) == ("cancelled", "")


async def test_a_request_that_is_given_up_and_one_that_raises() -> None:
    class Stopping(Played):
        async def request(self, conversation: tuple[object, ...]) -> Reply:
            stop.set()
            await asyncio.Event().wait()
            return Final("")

    class Broken(Played):
        async def request(self, conversation: tuple[object, ...]) -> Reply:
            raise LookupError("secret")

    seen, stop = Seen(), asyncio.Event()
    await ReferenceLoop(Stopping(()), observe=seen).run("Go.", stop=stop)
    with pytest.raises(LookupError):
        await ReferenceLoop(Broken(()), observe=seen).run("Go.")
    told = [(event.response, event.error) for event in _ended(seen)]
    assert told == [("cancelled", ""), ("error", "LookupError")]
    assert [event.model for event in _ended(seen)] == [t.ModelName()] * 2
    ends = [event for event in seen.events if isinstance(event, t.RunEnded)]
    assert [(event.state, event.error) for event in ends] == [
        ("cancelled", ""),
        (None, "LookupError"),
    ]


async def test_an_observer_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: t.RunEvent) -> None:
        raise RuntimeError(f"secret {event}")

    time, seen = Time(), Seen()
    loop = ReferenceLoop(
        service(time, streamed(final("Ok."))).chat(), clock=time.clock(), observe=[broken, seen]
    )
    outcome = await loop.run("Go.")
    assert (outcome.state, outcome.text) == ("completed", "Ok.")
    assert len(seen.events) == 4
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 4
    assert messages[0].startswith("an observer raised RuntimeError at RunStarted, ")
    assert "secret" not in caplog.text


async def test_content_is_for_those_who_ask_for_it() -> None:
    time, shown, told = Time(), Seen(), Seen()
    asked = calls(("c1", "look", '{"n": 1}'), ("c2", "look", '{"n": "x"}'))
    loop = ReferenceLoop(
        service(time, asked, final("Ok.")).chat(stream=False),
        Tools(time).both(),
        observe=[shown, t.Observer(told, content=True)],
    )
    await loop.run("Go.")
    content = [
        (name, getattr(event, name))
        for event in told.events
        for name in ("prompt", "arguments", "message", "result", "text")
        if getattr(event, name, None)
    ]
    assert content == [
        ("prompt", "Go."),
        ("arguments", '{"n": 1}'),
        ("arguments", '{"n": "x"}'),
        ("message", "$.n: 'x' is not of type 'integer'"),
        ("arguments", '{"n":1}'),
        ("result", "done"),
        ("text", "Ok."),
    ]
    bare = [
        replace(event, **{name: None for name in t.CONTENT if hasattr(event, name)})  # type: ignore[arg-type]
        for event in told.events
    ]
    assert shown.events == bare


async def test_each_event_is_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "loopcheck.reference_loop")
    time = Time()
    loop = ReferenceLoop(
        service(time, calls(("c1", "look", '{"n": 1}')), final("Ok.")).chat(stream=False),
        Tools(time).both(),
        clock=time.clock(),
    )
    await loop.run("Go.", run_id="r")
    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    whole = f"arguments_digest='{digest({'n': 1})}'"
    named = f"run_id='r' round=1 position=0 call_id='c1' tool='look' kind='read' {whole}"
    assert lines[0] == (
        "INFO",
        "run started: run_id='r' provider='openai' model='gpt-4o' tools=2",
    )
    assert lines[3:6] == [
        ("INFO", f"call decided: {named} decision='allowed'"),
        ("DEBUG", f"tool started: {named}"),
        ("INFO", f"tool ended: {named} outcome='done' seconds=2.0"),
    ]
    assert isinstance(caplog.records[3].event, t.CallDecided)  # type: ignore[attr-defined]


async def test_the_log_can_be_without_details(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "loopcheck.reference_loop")
    await ReferenceLoop(Played((Final("Ok."),))).run("Go.")
    assert [record.getMessage().split(":")[0] for record in caplog.records] == [
        "run started",
        "request ended",
        "run ended",
    ]
