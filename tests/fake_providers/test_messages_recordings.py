"""Requests that the service answered, and the words in which it refused others."""

from __future__ import annotations

import json

from openai_answers import material
from sample_answers import VERSION, read, refusals

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.messages import DIALECT
from loopcheck.fake_providers.wire import JsonObject

ASKED: JsonObject = {"role": "user", "content": "x"}
TOOL: JsonObject = {"name": "f", "input_schema": {"type": "object"}}


def said(*blocks: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": list(blocks)}


def use(call_id: str, **fields: object) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": {}, **fields}


def result(call_id: str) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}


def results(*blocks: JsonObject) -> JsonObject:
    return {"role": "user", "content": list(blocks)}


def found(tool: str) -> JsonObject:
    content = {"tool_references": [{"type": "tool_reference", "tool_name": tool}]}
    return {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": content}


# Of these only the answer was recorded; this is a conversation that gets it.
CONVERSATIONS: dict[str, list[JsonObject]] = {
    "msg_err_orphan_caller": [
        ASKED,
        said(
            use(
                "toolu_01Issue12504Lookup",
                caller={
                    "type": "code_execution_20260120",
                    "tool_id": "srvtoolu_01Issue12504Source",
                },
            )
        ),
        results(result("toolu_01Issue12504Lookup")),
    ],
    "msg_err_srvtoolu_result_without_call": [
        ASKED,
        {"role": "assistant", "content": "Well."},
        results(result("srvtoolu_issue_17366_invalid")),
    ],
    "msg_err_tool_reference_unresolved": [
        ASKED,
        said(
            {
                "type": "server_tool_use",
                "id": "srvtoolu_1",
                "name": "tool_search_tool_bm25",
                "input": {},
            },
            found("lookup_documents"),
        ),
        ASKED,
    ],
    "msg_err_tool_use_without_result": [
        ASKED,
        said(use("toolu_issue8112_custom")),
        ASKED,
    ],
    "msg_err_unexpected_tool_use_id": [results({"type": "text", "text": "x"}, result("T1"))],
}


def test_requests_that_the_service_took_break_no_rule() -> None:
    checked = 0
    for path in sorted(material("recordings").glob("msg_*.json")):
        recorded = json.loads(path.read_text())
        body = recorded["request"]["body"]
        if not body or recorded["response"]["status"] != 200:
            continue
        headers = {**VERSION, **recorded["request"].get("headers", {})}
        got = read("messages", body, headers=headers)
        assert all(item.text or item.kind != "user" for item in got.items), path.name
        assert refusals(got, Memory(), on=["M17", "M21", "M24"]) == [], path.name
        checked += 1
    assert checked > 10


def test_refused_requests_get_the_words_of_the_service() -> None:
    checked = 0
    for path in sorted(material("recordings").glob("msg_err_*.json")):
        recorded = json.loads(path.read_text())
        body = recorded["request"]["body"] or {
            "model": "m",
            "max_tokens": 9,
            "tools": [TOOL],
            "messages": CONVERSATIONS[path.stem],
        }
        memory = Memory(models=frozenset({"m", "claude-opus-4-6"}))
        _, error = refusals(read("messages", body), memory)[0]
        response = recorded["response"]
        ours = DIALECT.error_body(error, response["body"]["request_id"])
        assert (error.status, ours) == (response["status"], response["body"]), path.name
        checked += 1
    assert checked == 7
