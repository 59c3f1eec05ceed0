"""Secrets never get into telemetry: every span, metric, log line and event is searched."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import httpx2
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from recorded_telemetry import Recorded
from sdk_replies import Answer, Service, typed
from watched_runs import SCHEMA, Seen, calls, failure, final, streamed

from loopcheck.reference_loop import (
    Approval,
    LoopOutcome,
    LoopTool,
    Policy,
    Question,
    ReferenceLoop,
    Retries,
    ToolFailure,
)
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.adapters.messages import MessagesAdapter
from loopcheck.reference_loop.approvals import PersonsAnswer
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.telemetry.events import Observer, RunEvent
from loopcheck.reference_loop.tools import Invoke

# What was said: told to those who ask for it.
PROMPT = "canary-prompt"
ARGUMENTS = "canary-arguments"
RESULT = "canary-result"
ANSWER = "canary-answer"
RAISED = "canary-raised"
# What nobody is told.
KEY = "canary-key"
HEADER = "canary-header"
ERROR_BODY = "canary-error-body"
ERROR_IN_STREAM = "canary-error-in-stream"
REASON = "canary-reason"
DESCRIPTION = "canary-description"
BUG = "canary-bug-of-an-observer"

SAID = {PROMPT, ARGUMENTS, RESULT, ANSWER, RAISED}
NEVER = {KEY, HEADER, ERROR_BODY, ERROR_IN_STREAM, REASON, DESCRIPTION, BUG}
CHAT_ERROR = f'data: {{"error": {{"message": "{ERROR_IN_STREAM}"}}}}\n\n'
MESSAGES_ERROR = typed({"type": "error", "error": {"type": "x", "message": ERROR_IN_STREAM}})
ASKED = [
    ("c1", "look", json.dumps({"n": 1, "note": ARGUMENTS})),
    ("c2", "book", json.dumps({"n": 1, "note": ARGUMENTS})),
    ("c3", "look", json.dumps({"n": ARGUMENTS})),
    ("c4", "look", f"{{{ARGUMENTS}"),
    ("c5", "book", json.dumps({"n": 2, "note": ARGUMENTS})),
]


def tools() -> list[LoopTool]:
    async def look(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        return RESULT

    async def book(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        if arguments["n"] == 2:
            raise ToolFailure("full", RAISED)
        raise ValueError(RAISED)

    def tool(name: str, kind: Literal["read", "write"], invoke: Invoke) -> LoopTool:
        return LoopTool(
            name=name,
            description=DESCRIPTION,
            parameters=SCHEMA,
            kind=kind,
            invoke=invoke,
            operation=("n",),
        )

    return [tool("look", "read", look), tool("book", "write", book)]


async def ask(questions: Sequence[Question]) -> Sequence[PersonsAnswer]:
    return [
        Approval(digest=question.digest, approved=True, reason=REASON) for question in questions
    ]


def broken(event: RunEvent) -> None:
    raise RuntimeError(f"{BUG} {event}")


@dataclass
class Told:
    """Everything that came of a run, by who was told it."""

    recorded: Recorded = field(default_factory=Recorded)
    seen: Seen = field(default_factory=Seen)

    def observers(self, *, content: bool) -> list[Observer]:
        return [
            Observer(self.seen, content=content),
            self.recorded.observer(content=content),
            Observer(broken, content=content),
        ]

    def rendered(self, caplog: pytest.LogCaptureFixture) -> dict[str, str]:
        data = self.recorded.reader.get_metrics_data()
        assert data is not None
        spans = self.recorded.spans.get_finished_spans()
        return {
            "events": repr(self.seen.events),
            "spans": "\n".join(span.to_json() for span in spans),
            "metrics": data.to_json(),
            "logs": caplog.text + repr([vars(record) for record in caplog.records]),
        }


def adapter(
    dialect: Literal["chat", "messages"], answers: list[Answer]
) -> ChatAdapter | MessagesAdapter:
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(Service(answers).handle))
    headers = {"x-secret": HEADER}
    if dialect == "chat":
        return ChatAdapter(
            client=AsyncOpenAI(
                base_url="http://fake.invalid/v1",
                api_key=KEY,
                http_client=http,
                default_headers=headers,
            ),
            model="gpt-4o",
            stream=True,
        )
    return MessagesAdapter(
        client=AsyncAnthropic(
            base_url="http://fake.invalid",
            api_key=KEY,
            http_client=http,
            default_headers={**headers, "authorization": f"Bearer {KEY}"},
        ),
        model="claude",
        stream=True,
    )


def message(blocks: Sequence[JsonObject], stop: str) -> str:
    events: list[JsonObject] = [{"type": "message_start", "message": {"id": "m", "content": []}}]
    for index, block in enumerate(blocks):
        text = block.pop("written", None)
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        if text is not None:
            delta = {"type": "input_json_delta", "partial_json": text}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    end: JsonObject = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {}}
    return typed(*events, end, {"type": "message_stop"})


def answers_of(dialect: Literal["chat", "messages"]) -> list[Answer]:
    error = f"{ERROR_BODY}: the key {KEY} is unknown"
    if dialect == "chat":
        return [
            failure(503, error),
            CHAT_ERROR,
            streamed(calls(*ASKED)),
            streamed(final(ANSWER)),
            failure(401, error),
        ]
    blocks: list[JsonObject] = [
        {"type": "tool_use", "id": call_id, "name": name, "input": {}, "written": text}
        for call_id, name, text in ASKED
    ]
    return [
        failure(503, error),
        MESSAGES_ERROR,
        message(blocks, "tool_use"),
        message([{"type": "text", "text": ANSWER}], "end_turn"),
        failure(401, error),
    ]


def watched(dialect: Literal["chat", "messages"], told: Told, *, content: bool) -> None:
    """Two runs: one that gets to its answer, and one that the service turns away."""
    loop: ReferenceLoop[object] = ReferenceLoop(
        adapter(dialect, answers_of(dialect)),  # type: ignore[arg-type]
        tools(),
        policy=Policy(permissions={"book": "ask"}),
        ask=ask,
        retries=Retries(first_seconds=0.0),
        observe=told.observers(content=content),
    )

    async def work() -> list[LoopOutcome]:
        return [await loop.run(PROMPT), await loop.run(PROMPT)]

    done, refused = asyncio.run(work())
    # The outcome itself is for the application: it holds everything.
    assert (done.state, done.text) == ("completed", ANSWER)
    assert ERROR_BODY in refused.text
    assert {call.outcome for call in done.calls} == {"done", "failed", "unknown", "rejected"}


@pytest.mark.parametrize("dialect", ["chat", "messages"])
def test_nothing_that_was_said_is_told_unless_asked_for(
    dialect: Literal["chat", "messages"], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "loopcheck.reference_loop")
    told = Told()
    watched(dialect, told, content=False)
    for place, text in told.rendered(caplog).items():
        assert len(text) > 1000, place
        assert "canary" not in text, place


@pytest.mark.parametrize("dialect", ["chat", "messages"])
def test_what_was_said_is_told_to_those_who_ask_and_keys_to_nobody(
    dialect: Literal["chat", "messages"], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "loopcheck.reference_loop")
    told = Told()
    watched(dialect, told, content=True)
    rendered = told.rendered(caplog)
    found = {
        place: {canary for canary in SAID | NEVER if canary in text}
        for place, text in rendered.items()
    }
    assert found == {"events": SAID, "spans": SAID, "metrics": set(), "logs": set()}


def test_nothing_is_imported_without_it() -> None:
    code = (
        "import sys, loopcheck.reference_loop, loopcheck.reference_loop.adapters.chat\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
