"""A case that is put on: its task, its endpoints, and its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from stdlib_loop import ask
from trial_cases import HEAD, RESERVES, case

from loopcheck.fake_providers.script import DialectName
from loopcheck.harness.stage import OpenCase, Stage
from loopcheck.harness.task import Limits
from loopcheck.harness.worker.protocol import TaskDocument
from loopcheck.harness.world.gates import CaseEnded


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=60.0) as stage:
        yield stage


def posted(url: str, body: object, **headers: str) -> tuple[int, object]:
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.netloc)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", parts.path, json.dumps(body), named)
        answer = connection.getresponse()
        return answer.status, json.load(answer)


def kinds(opened: OpenCase) -> list[object]:
    return [entry["kind"] for entry in opened.journal]


@pytest.mark.parametrize(
    ("dialect", "below", "model"),
    [
        ("responses", "/v1", "gpt-4o"),
        ("chat", "/v1", "gpt-4o"),
        ("messages", "", "claude-sonnet-4-6"),
    ],
)
def test_the_task_has_what_the_dialects_sdk_expects(
    stage: Stage, tmp_path: Path, dialect: DialectName, below: str, model: str
) -> None:
    head = HEAD + "needs: [limits]\nlimits: {rounds: 3}\ntool_choice: none\n"
    with stage.open(case(dialect=dialect, mode="stream", head=head), target="x") as opened:
        task = opened.task(opened.conductor.first, blocking=True, folder=tmp_path)
    assert task.base_url == opened.root + below
    assert (task.case, task.dialect, task.stream, task.model, task.prompt) == (
        f"once/seat[{dialect}-stream]",
        dialect,
        True,
        model,
        "Reserve seat 12.",
    )
    assert task.limits == Limits(rounds=3)
    assert (task.tool_choice, task.folder) == ("none", tmp_path / "r1")
    assert [spec.name for spec in task.specs] == ["reserve"]


def test_a_workers_document_says_the_same_as_the_task(stage: Stage, tmp_path: Path) -> None:
    with stage.open(case(), target="x") as opened:
        task = opened.task(opened.conductor.first, blocking=True, folder=tmp_path)
        document = TaskDocument.model_validate(
            opened.document(opened.conductor.first, folder=tmp_path)
        )
    for name in ("case", "dialect", "stream", "base_url", "api_key", "model", "prompt"):
        assert getattr(document, name) == getattr(task, name)
    assert document.folder == str(task.folder)
    assert (document.run, document.follows, document.clock_seconds) == ("r1", False, 0)
    assert (document.openapi, document.mcp) == (task.openapi, task.mcp)
    (tool,) = document.tools
    (spec,) = task.specs
    assert (tool.name, tool.parameters, tool.kind, tool.operation) == (
        spec.name,
        spec.parameters,
        spec.kind,
        spec.operation,
    )
    assert tool.invoke == f"{opened.root}/tools/reserve"
    assert tool.lookup == f"{opened.root}/operations"


def test_tools_and_look_ups_are_endpoints_beside_the_provider(stage: Stage) -> None:
    with stage.open(case(), target="x") as opened:
        document = TaskDocument.model_validate(
            opened.document(opened.conductor.first, folder=Path())
        )
        (tool,) = document.tools
        status, answer = posted(tool.invoke, {"seat": 12}, idempotency_key="op-1")
        assert status == 200
        assert isinstance(answer, dict)
        assert '"ok":true' in str(answer["result"])
        assert tool.lookup is not None
        status, _ = posted(tool.lookup, {"tool": "reserve", "operation_id": "op-1"})
        assert status == 200
    assert kinds(opened) == ["case", "execution", "effect", "ended", "lookup"]
    assert opened.journal.entries()[-1]["answer"] == "found"


@pytest.mark.parametrize(("lenient", "status"), [((), 400), (("C1",), 200)])
def test_a_request_rule_can_be_left_out(
    stage: Stage, lenient: tuple[str, ...], status: int
) -> None:
    with stage.open(case(), target="x", lenient=frozenset(lenient)) as opened:
        task = opened.task(opened.conductor.first, blocking=True, folder=Path())
        start = [{"role": "user", "content": task.prompt}]
        first = ask(task, [*start])
        body = {
            "model": task.model,
            "messages": [*start, first["message"], {"role": "user", "content": "And?"}],
            "tools": [{"type": "function", "function": {"name": "reserve"}}],
        }
        given, _ = posted(
            f"{task.base_url}/chat/completions", body, authorization=f"Bearer {task.api_key}"
        )
    assert given == status


def test_cases_stand_beside_each_other(stage: Stage) -> None:
    with stage.open(case(), target="x") as one, stage.open(case(), target="x") as other:
        assert one.root != other.root
        assert one.api_key != other.api_key
        for opened in (one, other):
            task = opened.task(opened.conductor.first, blocking=True, folder=Path())
            ask(task, [{"role": "user", "content": task.prompt}])
    assert kinds(one) == kinds(other) == ["case", "request", "response", "sent"]


def test_an_ended_case_answers_nothing_more(stage: Stage) -> None:
    with stage.open(case(), target="x") as opened:
        task = opened.task(opened.conductor.first, blocking=True, folder=Path())
    status, answer = posted(f"{task.base_url}/chat/completions", {})
    assert status == 404
    assert "it has ended" in json.dumps(answer)
    with pytest.raises(CaseEnded):
        task.specs[0].call({"seat": 12})
    assert kinds(opened) == ["case"]


def test_the_key_of_a_case_stands_nowhere_in_its_journal(stage: Stage) -> None:
    with stage.open(case(), target="x") as opened:
        task = opened.task(opened.conductor.first, blocking=True, folder=Path())
        ask(task, [{"role": "user", "content": f"{task.prompt} My key: {task.api_key}"}])
    assert opened.api_key not in json.dumps(opened.journal.entries())


def test_a_case_is_given_up_after_its_bound(stage: Stage) -> None:
    gated = HEAD.replace("lookup: found", "lookup: found, returns_after: other.ended")
    turns = RESERVES.replace("}}]", "}}, {as: other, tool: reserve, args: {seat: 13}}]", 1)
    with stage.open(case(turns, head=gated), target="x", seconds=0.05) as opened:
        assert opened.timed_out.wait(20)
        task = opened.task(opened.conductor.first, blocking=True, folder=Path())
        with pytest.raises(CaseEnded):
            task.specs[0].call({"seat": 12})
        with pytest.raises(ConnectionError, match="status 404"):
            ask(task, [{"role": "user", "content": task.prompt}])


def test_a_case_that_ended_in_time_is_not_given_up(stage: Stage) -> None:
    with stage.open(case(), target="x", seconds=0.05) as early:
        pass
    with stage.open(case(), target="x", seconds=0.06) as late:
        assert late.timed_out.wait(20)  # by now the bound of the first is past, too
    assert not early.timed_out.is_set()
