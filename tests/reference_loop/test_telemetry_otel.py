"""Runs as spans and metrics, with OpenTelemetry's own SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from crashing import Played, turn
from opentelemetry import propagate, trace
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.attributes import error_attributes, http_attributes
from recorded_telemetry import Recorded
from sdk_replies import Answer
from watched_runs import BUSY, Time, Tools, calls, failure, final, service, streamed

from loopcheck.reference_loop import (
    Approval,
    Final,
    LoopTool,
    Policy,
    Question,
    ReferenceLoop,
    Retries,
    SqliteStore,
    ToolLimits,
)
from loopcheck.reference_loop.approvals import PersonsAnswer
from loopcheck.reference_loop.telemetry import otel_names

pytestmark = pytest.mark.asyncio

AT_ONCE = Retries(first_seconds=0.0)


def tree(recorded: Recorded) -> set[tuple[str, str | None]]:
    """Each span's name with its parent's."""
    spans = recorded.spans.get_finished_spans()
    names = {span.context.span_id: span.name for span in spans if span.context is not None}
    return {(span.name, names[span.parent.span_id] if span.parent else None) for span in spans}


async def test_spans_by_the_conventions() -> None:
    time, recorded = Time(), Recorded()
    answers: list[Answer] = [
        failure(503),
        streamed(calls(("c1", "look", '{"n": 1}'), ("c2", "book", '{"n": 1}'))),
        streamed(final("Booked.")),
    ]
    loop = ReferenceLoop(
        service(time, *answers).chat(),
        Tools(time).both(),
        retries=Retries(first_seconds=4.0),
        clock=time.clock(),
        observe=recorded.observer(agent_name="clerk"),
    )
    await loop.run("Book it.", run_id="r")
    run = "invoke_agent clerk"
    assert tree(recorded) == {
        (run, None),
        ("chat gpt-4o", run),
        ("execute_tool look", run),
        ("execute_tool book", run),
    }
    [agent] = recorded.named(run)
    assert (agent.kind, agent.status.status_code) == (
        trace.SpanKind.INTERNAL,
        trace.StatusCode.UNSET,
    )
    assert dict(agent.attributes or {}) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.conversation.id": "r",
        "gen_ai.agent.name": "clerk",
        "loopcheck.run.state": "completed",
        "loopcheck.run.reason": "final_answer",
        "loopcheck.run.rounds": 2,
        "loopcheck.run.calls": 2,
    }
    failed, asked, _ = recorded.named("chat gpt-4o")
    assert failed.status.status_code is trace.StatusCode.ERROR
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "503"
    assert (asked.kind, asked.status.status_code) == (
        trace.SpanKind.CLIENT,
        trace.StatusCode.UNSET,
    )
    assert dict(asked.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.conversation.id": "r",
        "gen_ai.response.id": "chatcmpl-tool_calls",
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.response.time_to_first_chunk": 1.0,
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.reasoning.output_tokens": 0,
        "http.response.status_code": 200,
        "loopcheck.round": 1,
        "loopcheck.request.attempt": 2,
        "loopcheck.response": "calls",
    }
    [look] = recorded.named("execute_tool look")
    assert dict(look.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
        "loopcheck.tool.kind": "read",
        "loopcheck.arguments.digest": (look.attributes or {})["loopcheck.arguments.digest"],
        "loopcheck.call.outcome": "done",
    }
    assert [event.name for event in agent.events] == [
        "loopcheck.retry.scheduled",
        "loopcheck.call.decided",
        "loopcheck.call.decided",
    ]


def _named_by_us(prefix: str) -> set[str]:
    values = [value for value in vars(otel_names).values() if isinstance(value, str)]
    return {value for value in values if value.startswith(prefix)}


async def test_the_names_are_those_of_the_conventions() -> None:
    known = {
        value
        for module in (gen_ai_attributes, error_attributes, http_attributes)
        for value in vars(module).values()
        if isinstance(value, str)
    }
    ours = _named_by_us("gen_ai.") | _named_by_us("error.") | _named_by_us("http.")
    assert len(ours) == 21
    assert ours <= known


async def test_metrics() -> None:
    time, recorded = Time(), Recorded()
    asked = calls(("c1", "look", '{"n": 1}'), ("c2", "look", "{}"), ("c3", "madeup", "{}"))
    answers: list[Answer] = [failure(503), streamed(asked), streamed(final("Ok."))]
    slow = service(time, *answers)
    loop = ReferenceLoop(
        slow.chat(),
        Tools(time, [BUSY]).both(),
        retries=Retries(first_seconds=4.0),
        tool_limits=ToolLimits(retries=Retries(count=1, first_seconds=8.0)),
        clock=time.clock(),
        observe=recorded.observer(),
    )
    await loop.run("Go.")
    points = recorded.points()
    chat = (
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "gpt-4o"),
    )
    assert points["gen_ai.client.operation.duration"] == {
        (("error.type", "503"), *chat): (1.0, 1),
        chat: (2.0, 2),
    }
    assert points["gen_ai.client.operation.time_to_first_chunk"] == {chat: (2.0, 2)}
    assert points["gen_ai.client.token.usage"] == {
        (*chat, ("gen_ai.token.type", "input")): (30, 2),
        (*chat, ("gen_ai.token.type", "output")): (8, 2),
    }
    assert points["gen_ai.execute_tool.duration"] == {
        (
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "look"),
            ("loopcheck.call.outcome", "done"),
        ): (12.0, 1)
    }
    assert points["gen_ai.invoke_agent.duration"] == {
        (("gen_ai.operation.name", "invoke_agent"), ("loopcheck.run.state", "completed")): (
            19.0,
            1,
        )
    }
    assert points["loopcheck.rounds"] == {
        (*chat, ("loopcheck.response", "calls")): 1,
        (*chat, ("loopcheck.response", "final")): 1,
    }
    assert points["loopcheck.calls"] == {
        (("gen_ai.tool.name", "look"), ("loopcheck.decision", "allowed")): 1,
        (("gen_ai.tool.name", "look"), ("loopcheck.decision", "invalid")): 1,
        (("gen_ai.tool.name", "_OTHER"), ("loopcheck.decision", "invalid")): 1,
    }
    assert points["loopcheck.calls.invalid"] == {
        (("gen_ai.tool.name", "look"), ("loopcheck.code", "invalid_arguments")): 1,
        (("gen_ai.tool.name", "_OTHER"), ("loopcheck.code", "unknown_tool")): 1,
    }
    assert points["loopcheck.retries"] == {
        (("error.type", "503"),): 1,
        (("error.type", "busy"), ("gen_ai.tool.name", "look")): 1,
    }
    assert points["loopcheck.http.responses"] == {
        (*chat, ("http.response.status_code", 503)): 1,
        (*chat, ("http.response.status_code", 200)): 2,
    }
    assert points["loopcheck.http.sent"] == {chat: sum(slow.sizes)}
    received = 53 + sum(len(str(answer)) for answer in answers[1:])
    assert points["loopcheck.http.received"] == {chat: received}


async def test_the_names_of_client_metrics_are_those_of_the_conventions() -> None:
    recorded = Recorded()
    known = {value for value in vars(gen_ai_metrics).values() if isinstance(value, str)}
    loop = ReferenceLoop(
        service(Time(), streamed(final("Ok."))).chat(), observe=recorded.observer()
    )
    await loop.run("Go.")
    ours = {name for name in recorded.points() if name.startswith("gen_ai.client.")}
    assert len(ours) == 3
    assert ours <= known


async def test_waits_for_people_and_commits(tmp_path: Path) -> None:
    async def ask(questions: Sequence[Question]) -> Sequence[PersonsAnswer]:
        time.now += 60.0
        return [Approval(digest=questions[0].digest, approved=True, by="Ada")]

    time, recorded = Time(), Recorded()
    store = SqliteStore(tmp_path / "runs.sqlite3", wall=time.wall)
    asked = calls(("c2", "book", '{"n": 1}'))
    loop = ReferenceLoop(
        service(time, asked, final("Ok.")).chat(stream=False),
        Tools(time).both(),
        policy=Policy(permissions={"book": "ask"}),
        ask=ask,
        store=store,
        clock=time.clock(),
        observe=recorded.observer(),
    )
    await loop.run("Go.")
    store.close()
    points = recorded.points()
    assert points["loopcheck.approval.wait"] == {
        (("gen_ai.tool.name", "book"), ("loopcheck.decision", "approved")): (60.0, 1)
    }
    saved = points["loopcheck.checkpoint.duration"]
    assert saved[(("loopcheck.checkpoint", "finished"),)] == (0.0, 1)
    [agent] = recorded.named("invoke_agent")
    assert [event.name for event in agent.events] == [
        "loopcheck.call.decided",
        "loopcheck.approval.asked",
        "loopcheck.approval.decided",
        "loopcheck.call.decided",
    ]


async def test_an_answer_between_two_processes_belongs_to_no_span(tmp_path: Path) -> None:
    recorded, store = Recorded(), SqliteStore(tmp_path / "runs.sqlite3")
    loop = ReferenceLoop(
        Played((turn("book 1"), Final("Ok."))),
        Tools(Time()).both(),
        policy=Policy(permissions={"book": "ask"}),
        retries=AT_ONCE,
        store=store,
        observe=recorded.observer(),
    )
    [question] = (await loop.run("Go.", run_id="r")).questions
    answers = [Approval(digest=question.digest, approved=True)]
    assert (await loop.resume("r", decisions=answers)).state == "completed"
    store.close()
    first, second = recorded.named("invoke_agent")
    assert "loopcheck.approval.asked" in [event.name for event in first.events]
    assert "loopcheck.approval.decided" not in [event.name for event in second.events]
    assert (second.attributes or {})["gen_ai.conversation.id"] == "r"


async def test_concurrent_runs_and_reads_have_their_own_context() -> None:
    """Each body sees its own span as the current one, inside that of its own run."""
    recorded = Recorded()
    carried: dict[str, str] = {}
    met = asyncio.Barrier(4)

    async def look(arguments: dict[str, object], *, call_id: str, operation_id: object) -> str:
        await met.wait()
        headers: dict[str, str] = {}
        propagate.inject(headers)
        carried[f"{arguments['n']}"] = headers["traceparent"].split("-")[2]
        return "seen"

    tools = [replace(Tools(Time()).both()[0], invoke=look)]
    observer = recorded.observer()

    async def run(first: int) -> None:
        batch = turn(f"look {first}", f"look {first + 1}")
        adapter = Played((batch, Final("Ok.")))
        await ReferenceLoop(adapter, tools, retries=AT_ONCE, observe=observer).run("Go.")

    with recorded.tracers.get_tracer("application").start_as_current_span("request") as outer:
        await asyncio.gather(run(1), run(3))
        assert trace.get_current_span() is outer
    looks = recorded.named("execute_tool look")
    ids = {f"{span.context.span_id:016x}" for span in looks if span.context is not None}
    assert set(carried.values()) == ids
    assert len(ids) == 4
    agents = recorded.named("invoke_agent")
    parents = [span.parent.span_id for span in looks if span.parent is not None]
    for agent in agents:
        assert agent.context is not None
        assert parents.count(agent.context.span_id) == 2
        assert agent.parent is not None
        assert agent.parent.span_id == outer.get_span_context().span_id


async def test_reads_that_are_given_up_end_their_spans() -> None:
    recorded, stop = Recorded(), asyncio.Event()

    async def hang(arguments: object, *, call_id: str, operation_id: str | None) -> str:
        stop.set()
        await asyncio.Event().wait()
        return ""

    tools = [replace(Tools(Time()).both()[0], invoke=hang)]
    adapter = Played((turn("look 1", "look 2"), Final("Ok.")))
    await ReferenceLoop(adapter, tools, observe=recorded.observer()).run("Go.", stop=stop)
    looks = recorded.named("execute_tool look")
    assert [(span.attributes or {})["error.type"] for span in looks] == ["CancelledError"] * 2
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_how_failures_look() -> None:
    recorded = Recorded()
    time = Time()
    asked = calls(("c1", "look", '{"n": 1}'), ("c2", "look", '{"n": 2}'))
    tools: list[LoopTool] = Tools(time, [ValueError("secret")], '{"error": "secret"}').both()
    loop = ReferenceLoop(
        service(time, asked, failure(401)).chat(stream=False), tools, observe=recorded.observer()
    )
    await loop.run("Go.")
    looks = recorded.named("execute_tool look")
    types = [(span.attributes or {})["error.type"] for span in looks]
    assert sorted(map(str, types)) == ["_OTHER", "tool_failed"]
    [agent] = recorded.named("invoke_agent")
    assert (agent.attributes or {})["error.type"] == "provider_failure"
    assert agent.status.description is None
