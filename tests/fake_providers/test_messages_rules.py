"""Each rule about contents and pairs, and what holds for all rules."""

from __future__ import annotations

import json

import pytest
from messages_cases import (
    USER,
    Case,
    answers,
    asks,
    calls,
    check,
    found,
    judged,
    result,
    said,
    search,
    text,
    use,
    user,
)
from test_messages_parameter_rules import PARAMETERS

from loopcheck.fake_providers.dialects import Memory
from loopcheck.fake_providers.dialects.kept import Kept
from loopcheck.fake_providers.dialects.messages import DIALECT

NO_RESULT = (
    "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
NO_CALL = (
    "{}: unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must "
    "have a corresponding `tool_use` block in the previous message."
)
_NOTHING: list[object] = ["", [], None]
_NO_OBJECTS: list[object] = [None, [], "{}"]

PAIRS: list[Case] = [
    (
        "M1",
        "messages.1",
        NO_RESULT.format(1, "a, c"),
        asks(USER, calls("a", "b", "c"), answers("b")),
        asks(USER, calls("a", "b", "c"), answers("b", "c", "a")),
    ),
    (
        "M1",
        "messages.1",
        NO_RESULT.format(1, "a"),
        asks(USER, calls("a"), USER),
        asks(USER, calls("a"), answers("a"), USER),
    ),
    (
        "M1",
        "messages.1",
        NO_RESULT.format(1, "a"),
        asks(USER, calls("a")),
        asks(USER, calls("a"), answers("a")),
    ),
    (
        "M1",
        "messages.3",
        NO_RESULT.format(3, "b"),
        asks(USER, calls("a"), answers("a"), calls("b"), USER),
        asks(USER, calls("a"), answers("a"), calls("b"), answers("b")),
    ),
    (
        "M1",
        "messages.1",
        NO_RESULT.format(1, "a"),
        asks(USER, said(search("s"), use("a")), USER),
        asks(USER, said(search("s"), use("a")), answers("a")),
    ),
    (
        "M1-order",
        "messages.1",
        NO_RESULT.format(1, "a, b"),
        asks(USER, calls("a", "b"), user(text("Here:"), result("a"), result("b"))),
        asks(USER, calls("a", "b"), user(result("a"), result("b"), text("There."))),
    ),
    (
        "M1-order",
        "messages.1",
        NO_RESULT.format(1, "b"),
        asks(USER, calls("a", "b"), user(result("a"), text("And:"), result("b"))),
        asks(USER, calls("a", "b"), answers("a"), answers("b"), USER),
    ),
    (
        "M2",
        "messages.0.content.0",
        NO_CALL.format("messages.0.content.0", "x"),
        asks(answers("x")),
        asks(USER),
    ),
    (
        "M2",
        "messages.2.content.1",
        NO_CALL.format("messages.2.content.1", "x"),
        asks(USER, calls("a"), answers("a", "x")),
        asks(USER, calls("a", "x"), answers("a", "x")),
    ),
    (
        "M2",
        "messages.4.content.0",
        NO_CALL.format("messages.4.content.0", "a"),
        asks(USER, calls("a"), answers("a"), said(text("k")), answers("a")),
        asks(USER, calls("a"), said(use("b")), answers("a", "b")),
    ),
    (
        "M2",
        "messages.2.content.0",
        NO_CALL.format("messages.2.content.0", "srvtoolu_1"),
        asks(USER, said(search("srvtoolu_1"), found("srvtoolu_1")), answers("srvtoolu_1")),
        asks(USER, said(search("srvtoolu_1"), found("srvtoolu_1")), USER),
    ),
    (
        "M3",
        "messages.1.content.0",
        "messages.1.content.0: unexpected `tool_use_id` found in `advisor_tool_result` blocks: s. "
        "Each `advisor_tool_result` block must have a corresponding `server_tool_use` block "
        "before it.",
        asks(USER, said(found("s", "advisor_tool_result"), search("s")), USER),
        asks(USER, said(search("s")), said(found("s", "advisor_tool_result")), USER),
    ),
    (
        "M3",
        "messages.1.content.0",
        "messages.1.content.0: unexpected `tool_use_id` found in `mcp_tool_result` blocks: s. "
        "Each `mcp_tool_result` block must have a corresponding `mcp_tool_use` block before it.",
        asks(USER, said(found("s", "mcp_tool_result")), USER),
        asks(
            USER,
            said({**search("s"), "type": "mcp_tool_use", "server_name": "x"}, use("a")),
            answers("a"),
        ),
    ),
    (
        "M4",
        "messages.3.content.0",
        "messages.3.content.0: `tool_use` ids must be unique",
        asks(USER, calls("a"), answers("a"), calls("a"), answers("a")),
        asks(USER, calls("a"), answers("a"), calls("b"), answers("b")),
    ),
    (
        "M5",
        "messages.3.content.0",
        "messages.3.content.0: each tool_use must have a single result. Found multiple "
        "`tool_result` blocks with id: a",
        asks(USER, calls("a"), answers("a"), answers("a")),
        asks(USER, calls("a", "b"), answers("a"), answers("b")),
    ),
    (
        "M22",
        "messages.1.content.0",
        "source tool `s` not found for tool use block `a`",
        asks(USER, said(use("a", caller={"type": "x", "tool_id": "s"})), answers("a")),
        asks(USER, said(search("s"), use("a", caller={"type": "x", "tool_id": "s"})), answers("a")),
    ),
    (
        "M24",
        "messages.1.content.0",
        "`web_search` tool use with id `s` was found without a corresponding "
        "`web_search_tool_result` block",
        asks(USER, said(search("s"), use("a")), user(result("a"), text("Go on."))),
        asks(USER, said(search("s"), use("a")), answers("a"), said(found("s")), USER),
    ),
]
CONTENTS: list[Case] = [
    (
        "M6",
        "messages.1.content.0.tool_use.id",
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        asks(USER, calls("functions.f:0"), answers("functions.f:0")),
        asks(USER, calls("functions_f-0"), answers("functions_f-0")),
    ),
    (
        "M7",
        "messages.1.content.0",
        "messages: text content blocks must be non-empty",
        asks(USER, said(text(""), use("a")), answers("a")),
        asks(USER, said(text(" "), use("a")), answers("a")),
    ),
    *[
        (
            "M8",
            "messages.1",
            "messages.1: all messages must have non-empty content except for the optional final "
            "assistant message",
            asks(USER, {"role": "assistant", "content": empty}, USER),
            asks(USER, {"role": "assistant", "content": empty}),
        )
        for empty in _NOTHING[:2]
    ],
    (
        "M8",
        "messages.0",
        "messages.0: all messages must have non-empty content except for the optional final "
        "assistant message",
        asks({"role": "user", "content": ""}),
        asks({"role": "user", "content": "."}),
    ),
    *[
        (
            "M9",
            "messages.2.content.0",
            "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
            asks(USER, calls("a"), user(result("a", content=empty, is_error=True))),
            asks(USER, calls("a"), user(result("a", content=empty, is_error=False))),
        )
        for empty in _NOTHING
    ],
    (
        "M10",
        "messages.0.content.0",
        "messages.0: `tool_use` blocks can only be in `assistant` messages",
        asks(user(use("a"))),
        asks(USER, calls("a"), answers("a")),
    ),
    (
        "M10",
        "messages.1.content.1",
        "messages.1: `tool_result` blocks can only be in `user` messages",
        asks(USER, said(use("a"), result("a")), answers("a")),
        asks(USER, calls("a"), answers("a")),
    ),
    (
        "M16",
        "messages.1",
        "This model does not support assistant message prefill. The conversation must end with a "
        "user message.",
        asks(USER, said(text("It is")), model="claude-sonnet-4-6"),
        asks(USER, said(text("It is")), model="claude-sonnet-4-5"),
    ),
    (
        "M16",
        "messages.1",
        "This model does not support assistant message prefill. The conversation must end with a "
        "user message.",
        asks(USER, said(text("It is")), model="claude-opus-5-5"),
        asks(USER, said(text("It is"), search("s")), model="claude-opus-5-5"),
    ),
    *[
        (
            "M25",
            "messages.1.role",
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` '
            'parameter, not "system" as an input message role.',
            asks(USER, {"role": "system", "content": "Be brief."}, model=old),
            asks(USER, {"role": "system", "content": "Be brief."}, model=new),
        )
        for old, new in [
            ("claude-3-5-sonnet-20241022", "claude-opus-4-8"),
            ("claude-sonnet-4-20250514", "claude-sonnet-5"),
            ("claude-haiku-4-5-20251001", "m"),
        ]
    ],
    *[
        (
            "M26",
            "messages.1.content.0.tool_use.input",
            "messages.1.content.0.tool_use.input: Input should be an object",
            asks(USER, said(use("a", input=wrong)), answers("a")),
            asks(USER, said(use("a", input={})), answers("a")),
        )
        for wrong in _NO_OBJECTS
    ],
]


@pytest.mark.parametrize("case", PAIRS + CONTENTS)
def test_a_rule_is_broken_or_just_not(case: Case) -> None:
    check(case)


def test_every_rule_has_a_case_and_its_evidence() -> None:
    grades = {rule.id: rule.grade for rule in DIALECT.rules}
    assert len(grades) == len(DIALECT.rules)
    by_grade = {g: sorted(i for i in grades if grades[i] == g) for g in set(grades.values())}
    assert by_grade == {
        "R": ["M1", "M2", "M20", "M22", "M23", "M27", "M28", "M30"],
        "I": ["M-known-version", "M11", "M12", "M3", "M4", "M6"],
        "S": [
            *(
                "M-choice",
                "M-empty",
                "M-range",
                "M-role",
                "M-types",
                "M-version",
                "M1-order",
                "M10",
            ),
            "M13",
            *("M14", "M15", "M16", "M18", "M19", "M25", "M26", "M29", "M38-continued"),
            *("M38-fingerprint", "M38-not-found", "M39", "M5", "M7", "M8", "M9"),
        ],
        "D": ["M24", "M31", "M32", "M34", "M38-unsupported"],
        "unsure": ["M17", "M21", "M38-organization"],
    }
    cases = {case[0] for case in PAIRS + CONTENTS + PARAMETERS}
    elsewhere = {"M-empty", "M-role", "M-types", "M-version", "M-known-version", "M27", "M34"}
    elsewhere |= {"M30", "M17"}
    stateful = {i for i in grades if i.startswith(("M38", "M39"))} | {"M11", "M12", "M13", "M14"}
    assert cases | elsewhere | stateful == set(grades)


def test_ids_that_the_fake_repeated_or_made_are_not_held_against_the_client() -> None:
    twice = asks(USER, calls("a", "a", "b"), answers("a", "a", "b"))
    assert judged(twice, Memory(repeated={"a"})) == []
    assert [rule for rule, _ in judged(twice, Memory(repeated={"b"}))] == ["M4", "M5"]
    odd = asks(USER, calls(""), answers(""))
    assert judged(odd, Memory(issued={""})) == []
    assert [rule for rule, _ in judged(odd)] == ["M6"]


def test_a_paused_turn_may_be_sent_back_as_it_is() -> None:
    body = asks(USER, said(text("One moment.")), model="claude-opus-5-5")
    paused = Memory(responses=Kept({"msg_1": {"stop_reason": "pause_turn", "content": []}}))
    ended = Memory(responses=Kept({"msg_1": {"stop_reason": "end_turn", "content": []}}))
    assert judged(body, paused) == []
    assert [rule for rule, _ in judged(body, ended)] == ["M16"]


def test_a_result_that_comes_a_message_late_breaks_both() -> None:
    late = asks(USER, calls("a"), USER, said(text("Well.")), answers("a"))
    assert [rule for rule, _ in judged(late)] == ["M1", "M2"]


def test_no_rule_fails_on_a_body_that_breaks_all_forms() -> None:
    odd: list[object] = [None, 3, "x", [], {}, [None], [[]], [{}], [{"type": 3}]]
    for value in odd:
        for name in ("model", "max_tokens", "messages", "tools", "tool_choice", "thinking"):
            judged({**asks(USER), name: value})
        for content in odd:
            body = json.loads(json.dumps(asks(USER, {"role": value, "content": content})))
            judged(body)
