"""Each rule about parameters and tools."""

from __future__ import annotations

import pytest
from messages_cases import (
    TOOL,
    USER,
    Case,
    answers,
    asks,
    calls,
    check,
    judged,
    result,
    said,
    text,
    user,
)
from sample_answers import VERSION, read, refusals

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.wire import JsonObject

OLD = {"anthropic-version": "2023-06-01"}


def offers(*tools: JsonObject, **fields: object) -> JsonObject:
    return asks(USER, **{"tools": list(tools), **fields})


def thinks(budget: int, limit: int = 9999) -> JsonObject:
    thinking = {"type": "enabled", "budget_tokens": budget}
    return asks(USER, thinking=thinking, max_tokens=limit)


PARAMETERS: list[Case] = [
    (
        "M-range",
        "max_tokens",
        "max_tokens: must be greater than or equal to 0",
        asks(USER, max_tokens=-1),
        asks(USER, max_tokens=0),
    ),
    (
        "M15",
        "tool_choice",
        "Thinking may not be enabled when tool_choice forces tool use.",
        {**thinks(1024), "tool_choice": {"type": "any"}},
        asks(USER, tool_choice={"type": "any"}, thinking={"type": "adaptive"}),
    ),
    (
        "M18",
        "tools",
        "tools: Tool names must be unique.",
        offers(TOOL, TOOL),
        offers(TOOL, {**TOOL, "name": "g"}),
    ),
    (
        "M19",
        "tools.1.custom.name",
        "tools.1.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        offers(TOOL, {**TOOL, "name": "a.b"}),
        offers(TOOL, {**TOOL, "name": "a_b"}),
    ),
    (
        "M19",
        "tools.0.custom.name",
        "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        offers({**TOOL, "name": "a" * 129}),
        offers({**TOOL, "name": "a" * 128}),
    ),
    (
        "M20",
        "tools.0.custom.input_schema.type",
        "tools.0.custom.input_schema.type: Field required",
        offers({**TOOL, "input_schema": {"anyOf": [{"type": "object"}]}}),
        offers({**TOOL, "input_schema": {"type": "object", "anyOf": []}}),
    ),
    (
        "M20",
        "tools.0.custom.input_schema.type",
        "tools.0.custom.input_schema.type: Input should be 'object'",
        offers({**TOOL, "input_schema": {"type": "string"}}),
        offers({"type": "custom", **TOOL}),
    ),
    (
        "M20",
        "tools.0.custom.input_schema",
        "tools.0.custom.input_schema: Input should be an object",
        offers({**TOOL, "input_schema": None}),
        offers({"type": "bash_20250124", "name": "bash"}),
    ),
    (
        "M21",
        "tools",
        "tools: List should have at least 1 item after validation, not 0",
        offers(),
        asks(USER, tools=None),
    ),
    (
        "M-choice",
        "tool_choice",
        "tool_choice.any may only be specified while providing tools",
        asks(USER, tools=None, tool_choice={"type": "any"}),
        asks(USER, tools=None, tool_choice={"type": "auto"}),
    ),
    (
        "M-choice",
        "tool_choice",
        "Tool 'g' not found in provided tools",
        offers(TOOL, tool_choice={"type": "tool", "name": "g"}),
        offers(TOOL, tool_choice={"type": "tool", "name": "f"}),
    ),
    (
        "M23",
        None,
        "Tool reference 'g' not found in available tools",
        asks(
            USER,
            calls("a"),
            user(result("a", content=[{"type": "tool_reference", "tool_name": "g"}])),
        ),
        asks(
            USER,
            calls("a"),
            user(result("a", content=[{"type": "tool_reference", "tool_name": "f"}])),
        ),
    ),
    (
        "M23",
        None,
        "Tool reference 'g' not found in available tools",
        asks(
            USER,
            {
                "role": "system",
                "content": [
                    {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "g"}}
                ],
            },
        ),
        asks(
            USER,
            calls("a"),
            user(result("a", content=[{"type": "tool_reference", "tool_name": "g"}])),
            mcp_servers=[{}],
        ),
    ),
    (
        "M28",
        "output_config.effort",
        "This model does not support effort level 'xhigh'. Supported levels: high, low, max, "
        "medium.",
        asks(USER, model="claude-opus-4-6", output_config={"effort": "xhigh"}),
        asks(USER, model="claude-opus-5-5", output_config={"effort": "xhigh"}),
    ),
    (
        "M29",
        "max_tokens",
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
        "documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
        "#max-tokens-and-context-window-size",
        thinks(1024, 1024),
        thinks(1024, 1025),
    ),
    (
        "M29",
        "thinking.enabled.budget_tokens",
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        thinks(1023),
        thinks(1024),
    ),
    *[
        (
            "M31",
            name,
            f"{name}: Extra inputs are not permitted",
            asks(USER, **{name: 1}),
            asks(USER),
        )
        for name in ("temperature", "top_p", "top_k")
    ],
    (
        "M32",
        None,
        "messages.1.content.0: `document` blocks cannot be in `assistant` messages",
        asks(USER, said({"type": "document", "source": {}}), USER),
        asks(user({"type": "document", "source": {}})),
    ),
    (
        "M32",
        "messages.0.content.0.text.citations",
        "messages.0.content.0.text.citations: Extra inputs are not permitted",
        asks(user({**text("x"), "citations": [{}]})),
        asks(user({**text("x"), "citations": []})),
    ),
]


@pytest.mark.parametrize("case", PARAMETERS)
def test_a_rule_is_broken_or_just_not(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("name", ["temperature", "top_p"])
@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (1.5, "range: 0..1"),
        (-0.5, "range: 0..1"),
        ("hot", "Input should be a valid number"),
        (True, "Input should be a valid number"),
        (None, "Input should be a valid number"),
    ],
)
def test_sampling_keeps_to_its_range(name: str, wrong: object, complaint: str) -> None:
    [(rule, error)] = refusals(read("messages", asks(USER, **{name: wrong}), headers=OLD))
    assert (rule, error.message) == ("M-range", f"{name}: {complaint}")
    for right in (0, 0.5, 1):
        assert refusals(read("messages", asks(USER, **{name: right}), headers=OLD)) == []


def test_m17_tool_blocks_without_tools() -> None:
    body = asks(USER, calls("a"), answers("a"), tools=None)
    [(rule, error)] = refusals(read("messages", body), on=["M17"])
    assert rule == "M17"
    assert error.message == (
        "Requests which include `tool_use` or `tool_result` blocks must define tools."
    )
    assert refusals(read("messages", asks(USER, tools=None)), on=["M17"]) == []


def test_m30_models_exist_where_they_are_named() -> None:
    assert judged(asks(USER, model="claude-x")) == []
    memory = Memory(models=frozenset({"claude-y"}))
    assert judged(asks(USER, model="claude-y"), memory) == []
    [(rule, error)] = judged(asks(USER, model="claude-x"), memory)
    assert (rule, error.status, error.type) == ("M30", 404, "not_found_error")
    assert error.message == "model: claude-x"


def test_what_is_new_in_2026_10_21_holds_for_no_older_version() -> None:
    body = asks(user({**text("x"), "citations": [{}]}), temperature=1)
    assert [rule for rule, _ in judged(body)] == ["M31", "M32"]
    assert judged(body, headers=OLD) == []


def test_interleaved_thinking_may_take_a_larger_budget() -> None:
    beta = {**VERSION, "anthropic-beta": "a, interleaved-thinking-2025-05-14"}
    assert judged(thinks(2048, 1024), headers=beta) == []
    assert judged(thinks(2048, 0)) == []
