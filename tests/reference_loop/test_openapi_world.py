"""The reference loop with tools from the document of a world, over HTTP all the way."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI

from loopcheck.fake_providers.dialects import dialect
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.journal import Entry
from loopcheck.harness.judge import judge
from loopcheck.harness.scenario.load import load_builtin
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.stage import OpenCase, Stage
from loopcheck.harness.task import Outcome
from loopcheck.harness.world.openapi import LOOK_UP
from loopcheck.reference_loop import (
    LookUp,
    LoopTool,
    ReferenceLoop,
    openapi_tools,
)
from loopcheck.reference_loop.adapters.chat import ChatAdapter
from loopcheck.reference_loop.tools import AskAfter

CAN = frozenset({"operation_ids", "parallel", "validates"})
FROM_LOOP: dict[str, Any] = {
    "Idempotency-Key": "operation_id",
    "X-Operation-Id": "operation_id",
    "X-Call-Id": "call_id",
}


@dataclass
class Played:
    entries: list[Entry]
    state: str
    failed: list[str]

    def number_of(self, kind: str, tool: str) -> int:
        return Counter((entry["kind"], entry.get("tool")) for entry in self.entries)[kind, tool]


def tools_of(document: dict[str, Any], client: httpx2.AsyncClient) -> tuple[LoopTool, ...]:
    """The tools, with what the document says of them in members of its own."""
    nodes = {item["post"]["operationId"]: item["post"] for item in document["paths"].values()}
    asking = nodes.pop(LOOK_UP, None) and openapi_tools(
        document, client=client, include=[LOOK_UP], kinds={LOOK_UP: "read"}
    )
    keys = {name: node.get("x-loopcheck-operation") for name, node in nodes.items()}
    tools = openapi_tools(
        document,
        client=client,
        include=nodes,
        kinds={name: node["x-loopcheck-kind"] for name, node in nodes.items()},
        operation={name: tuple(key) for name, key in keys.items() if key is not None},
        from_loop=FROM_LOOP,
    )
    return tuple(
        replace(tool, look_up=look_up(asking[0], tool.name)) if asking else tool for tool in tools
    )


def look_up(asking: LoopTool, tool: str) -> AskAfter:
    """Looks operations up by an operation of the same document."""

    async def ask(operation_id: str) -> LookUp:
        arguments: dict[str, object] = {"tool": tool, "operation_id": operation_id}
        told = json.loads(await asking.invoke(arguments, call_id="", operation_id=None))
        return LookUp(told["status"], json.dumps({"result": told.get("result", "")}))

    return ask


async def play(case: OpenCase) -> str:
    async with httpx2.AsyncClient(trust_env=False) as client:
        document = (await client.get(f"{case.root}/openapi.json")).json()
        sdk = AsyncOpenAI(
            base_url=dialect("chat").base_url(case.root),
            api_key=case.api_key,
            http_client=client,
            max_retries=0,
        )
        adapter = ChatAdapter(client=sdk, model="gpt-4o", stream=case.spec.mode == "stream")
        loop = ReferenceLoop(adapter, tools_of(document, client))
        outcome = await loop.run(case.spec.scenario.prompt)
    case.record_outcome(Outcome(state=outcome.state, reason=outcome.reason, text=outcome.text))
    return outcome.state


def played(scenario: Scenario) -> Played:
    spec = CaseSpec(scenario=scenario, dialect="chat", mode="stream")
    with Stage() as stage, stage.open(spec, target="reference") as case:
        state = asyncio.run(play(case))
        entries = list(case.journal)
    result = judge(entries, spec, CAN)
    return Played(entries, state, [finding.sentence for finding in result.findings])


@pytest.mark.parametrize("scenario", ["basics/lookup-then-reserve", "once/write-response-lost"])
def test_the_catalogue_is_passed_with_tools_from_the_document(scenario: str) -> None:
    (one,) = [each for each in load_builtin() if each.id == scenario]
    run = played(one)
    assert (run.state, run.failed) == ("completed", [])
    assert run.number_of("effect", "reserve_seat") == 1
    assert run.number_of("execution", "reserve_seat") == 1


def lossy(**keys: object) -> Scenario:
    book = {"tool": "reserve", "args": {"seat": 12}}
    return Scenario.model_validate(
        {
            "format": 1,
            "title": "A response is lost, and the model asks again",
            "rule": "A seat is reserved once.",
            "prompt": "Reserve seat 12.",
            "tools": {
                "reserve": {
                    "kind": "write",
                    "args": {"seat": "integer"},
                    "operation": ["seat"],
                    "behaves": ["commit-then-lose-response", "normal"],
                    **keys,
                }
            },
            "turns": [
                {"calls": [{"as": "book", **book}]},
                {"calls": [{"as": "again", **book}]},
                {"say": "Done."},
            ],
            "expect": {"must": {"effects": {"reserve": 1}, "outcome": "completed"}},
        }
    )


@pytest.mark.parametrize(
    ("keys", "executions", "lookups"),
    [
        ({"lookup": "found"}, 1, 1),
        ({"deduplicates": True}, 2, 0),
        # Neither helps: the model hears that the outcome is unknown, and nothing is repeated.
        ({}, 1, 0),
    ],
)
def test_a_lost_response_is_one_effect(
    keys: dict[str, object], executions: int, lookups: int
) -> None:
    run = played(lossy(**keys))
    assert (run.state, run.failed) == ("completed", [])
    committed = [one for one in run.entries if one["kind"] == "effect" and not one["deduplicated"]]
    assert len(committed) == 1
    assert run.number_of("execution", "reserve") == executions
    assert run.number_of("lookup", "reserve") == lookups


def test_a_busy_system_is_told_to_the_model_and_asked_again_by_it() -> None:
    run = played(lossy(behaves=[{"rate-limited": "2 s"}, "normal"]))
    assert (run.state, run.failed) == ("completed", [])
    assert run.number_of("execution", "reserve") == 2
