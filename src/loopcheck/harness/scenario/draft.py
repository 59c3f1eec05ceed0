"""A first scenario from a few answers: one tool, one call, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.scenario.answers import Answers, Twist
from loopcheck.harness.scenario.model import Scenario

_RAISING: Final[JsonObject] = {"any_of": ["error", "none"]}
_MAY_END: Final[JsonObject] = {"any_of": ["completed", "failed"]}


def draft(answers: Answers) -> Scenario:
    """The scenario that these answers describe; it is one that the linter accepts."""
    tool: JsonObject = {"kind": answers.kind, "args": dict(answers.args)}
    document: JsonObject = {
        "format": 1,
        "title": answers.title,
        "rule": answers.rule,
        "prompt": answers.prompt or _prompt(answers),
        "tools": {answers.tool: tool},
        **_TWISTS[answers.twist](answers, tool),
    }
    return Scenario.model_validate(document)


def _prompt(answers: Answers) -> str:
    given = ", ".join(f"{name} {compact(value)}" for name, value in answers.sample.items())
    return f"Use {answers.tool} with {given}." if given else f"Use {answers.tool}."


def _call(answers: Answers, label: str) -> JsonObject:
    return {"as": label, "tool": answers.tool, "args": answers.sample}


def _nothing(answers: Answers, _: JsonObject) -> JsonObject:
    must = {**answers.counts(1), "results": {"call": "own"}, "outcome": "completed"}
    turns = [{"calls": [_call(answers, "call")]}, {"say": "Done."}]
    return {"turns": turns, "expect": {"must": must}}


def _cut(answers: Answers, _: JsonObject) -> JsonObject:
    """Cuts a value and not only a brace, so that a completed call can be told from the meant."""
    cut = compact(answers.sample).rstrip('"]}')[:-1]
    call = {"as": "call", "tool": answers.tool, "raw_args": cut, "meant": answers.sample}
    turns = [{"calls": [call], "stop": "length"}, _told("It was not done.")]
    must = {**answers.counts(0), "results": {"call": _RAISING}}
    return {"modes": ["stream"], "turns": turns, "expect": {"must": must}}


def _error(answers: Answers, _: JsonObject) -> JsonObject:
    fault = {"fault": "error-event", "at": {"after": "call"}}
    turn = {"calls": [_call(answers, "call")], "attempts": [fault, "normal"]}
    must = {**answers.counts({"at_most": 1}), "outcome": _MAY_END}
    return {"modes": ["stream"], "turns": [turn, _told("Done.")], "expect": {"must": must}}


def _raises(answers: Answers, tool: JsonObject) -> JsonObject:
    tool["behaves"] = ["raises"]
    turns = [{"calls": [_call(answers, "call")]}, _told("It could not be done.")]
    must = {**answers.counts(0), "executions": {answers.tool: 1}}
    must = {**must, "results": {"call": _RAISING}, "outcome": _MAY_END}
    should = {"results": {"call": "error"}, "outcome": "completed"}
    return {"turns": turns, "expect": {"must": must, "should": should}}


def _twice(answers: Answers, tool: JsonObject) -> JsonObject:
    if answers.kind == "write" and answers.args:
        tool["operation"] = list(answers.args)
    turns = [{"calls": [_call(answers, label)]} for label in ("first", "again")]
    must = {
        **answers.counts({"any_of": [1, 2]}),
        "results": {"first": "own"},
        "outcome": {"any_of": ["completed", "failed", "limit"]},
    }
    should: JsonObject = {"results": {"again": "own"}, "outcome": "completed"}
    if answers.kind == "write":
        should = {"effects": {answers.tool: 1}, "outcome": "completed"}
    said = [*turns, {"say": "Done."}]
    return {"turns": said, "expect": {"must": must, "should": should}}


def _told(text: str) -> JsonObject:
    return {"optional": True, "say": text}


_TWISTS: Final[Mapping[Twist, Callable[[Answers, JsonObject], JsonObject]]] = {
    "nothing": _nothing,
    "cut": _cut,
    "error": _error,
    "raises": _raises,
    "twice": _twice,
}
