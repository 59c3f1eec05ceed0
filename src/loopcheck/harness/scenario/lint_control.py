"""What further messages and `meanwhile` may get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from loopcheck.harness.results import Level
from loopcheck.harness.scenario import point_names, walk
from loopcheck.harness.scenario.compile import arguments_text
from loopcheck.harness.scenario.control_model import (
    AnswerModel,
    ApproveModel,
    DenyModel,
    InsideModel,
    MeanwhileModel,
    MessageModel,
)
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.yaml_source import Path, Source

_UNDECLARED: Final = "a target that does not claim it is then not declared"


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of every message, every rule of `meanwhile`, and the outcomes they call for."""
    yield from _messages(scenario, source)
    for number, rule in enumerate(scenario.meanwhile):
        path: Path = ("meanwhile", number)
        for where, when in _each((*path, "when"), rule.when, source):
            yield from _when(where, when, scenario, source)
        for where, action in _each((*path, "do"), rule.do, source):
            yield from _action(where, action, rule, scenario, source)
    yield from _outcomes(scenario, source)


def _each(path: Path, entries: tuple[object, ...], source: Source) -> Iterator[tuple[Path, object]]:
    """The entries with their places; one alone may stand without a list."""
    is_list = (*path, 0) in source.values
    for number, entry in enumerate(entries):
        yield (*path, number) if is_list else path, entry


def _messages(scenario: Scenario, source: Source) -> Iterator[Problem]:
    for number, entry in enumerate(scenario.entries):
        if not isinstance(entry, MessageModel):
            continue
        path: Path = ("turns", number)
        if (entry.user is None) == (entry.run is None):
            yield source.problem(path, "a message is one of user, run")
        if number == 0:
            hint = "the prompt begins the first run; turns answer it"
            yield source.problem(path, "'turns' begins with a message", hint)
        if entry.user is not None and "follow_up" not in scenario.needs:
            yield source.problem((*path, "user"), "'user' wants needs: [follow_up]", _UNDECLARED)


def _when(path: Path, when: object, scenario: Scenario, source: Source) -> Iterator[Problem]:
    if isinstance(when, InsideModel):
        yield from _place(path, when, scenario, source)
    else:
        wrong = point_names.complaint(str(when), scenario)
        if wrong is not None:
            yield source.problem(path, *wrong)


def _place(path: Path, when: InsideModel, scenario: Scenario, source: Source) -> Iterator[Problem]:
    if "whole" in scenario.modes:
        hint = "narrow with modes: [stream]"
        yield source.problem(path, "only streams have places such as this one", hint)
    texts = _texts(when.in_, scenario, source)
    if not texts:
        known = (*scenario.labels, "say", "think")
        message = f"{when.in_!r} is said nowhere in this file"
        yield source.problem((*path, "in"), message, did_you_mean(when.in_, known))
    elif not any(when.after in text for text in texts):
        message = f"{when.after!r} does not stand in {when.in_!r}: {' or '.join(texts)}"
        yield source.problem((*path, "after"), message)


def _texts(what: str, scenario: Scenario, source: Source) -> list[str]:
    """The texts of what a place is in: the arguments of a call, or what is said or thought."""
    if what in ("say", "think"):
        said = (getattr(item, what) for _, item in walk.pieces(scenario, source))
        return [text for text in said if isinstance(text, str)]
    calls = (call for _, call in walk.calls(scenario, source) if call.label == what)
    return list(dict.fromkeys(arguments_text(call) for call in calls))


def _action(
    path: Path, action: object, rule: MeanwhileModel, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    for need in _needs(action):
        if need not in scenario.needs:
            message = f"{_named(action)!r} wants needs: [{need}]"
            yield source.problem(path, message, _UNDECLARED)
    match action:
        case "approve" | "deny":
            yield from _about_its_point(path, str(action), rule, scenario, source)
        case ApproveModel(approve=label):
            yield from _decided((*path, "approve"), label, scenario, source)
        case DenyModel(deny=label):
            yield from _decided((*path, "deny"), label, scenario, source)
        case AnswerModel(to=label):
            yield from _answered((*path, "to"), label, scenario, source)


def _named(action: object) -> str:
    if isinstance(action, str):
        return action
    return type(action).__name__.removesuffix("Model").lower()


def _needs(action: object) -> tuple[str, ...]:
    match _named(action):
        case "approve" | "deny":
            return ("approval",)
        case "answer":
            return ("input",)
        case "resume" | "cancel" as word:
            return (word,)
    return ()


def _about_its_point(
    path: Path, word: str, rule: MeanwhileModel, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    points = [when.partition(".")[0] for when in rule.when if isinstance(when, str)]
    labels = dict.fromkeys(label for label in points if label in scenario.labels)
    if len(labels) != 1:
        message = f"{word!r} alone is about the call in 'when', and {len(labels)} calls stand there"
        yield source.problem(path, message, f"write {{{word}: call}}")
    for label in labels if len(labels) == 1 else ():
        yield from _decided(path, label, scenario, source)


def _decided(path: Path, label: str, scenario: Scenario, source: Source) -> Iterator[Problem]:
    tool = _tool(label, scenario, source)
    if tool is None:
        yield _no_call(path, label, scenario, source)
    elif tool not in scenario.tools or scenario.tools[tool].approval != "ask":
        message = f"{label!r} is a call of {tool}, which nobody has to approve"
        yield source.problem(path, message, f"give {tool} approval: ask")


def _answered(path: Path, label: str, scenario: Scenario, source: Source) -> Iterator[Problem]:
    tool = _tool(label, scenario, source)
    if tool is None:
        yield _no_call(path, label, scenario, source)
    elif tool not in scenario.tools or scenario.tools[tool].kind != "ask":
        message = f"{label!r} is a call of {tool}, which no person answers"
        yield source.problem(path, message, f"give {tool} kind: ask")


def _tool(label: str, scenario: Scenario, source: Source) -> str | None:
    if label not in scenario.labels:
        return None
    calls = (call for _, call in walk.calls(scenario, source))
    return next((call.tool for call in calls if call.label == label), None)


def _no_call(path: Path, label: str, scenario: Scenario, source: Source) -> Problem:
    return source.problem(
        path, f"{label!r} is no call of this file", did_you_mean(label, scenario.labels)
    )


def _outcomes(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """A list of outcomes has one for the prompt and one for each message."""
    parts = 1 + len(scenario.messages)
    levels: tuple[Level, ...] = get_args(Level)
    for level in levels:
        outcome = scenario.expect.level(level).outcome
        given = len(outcome) if isinstance(outcome, tuple) else 1
        if outcome is not None and given != parts:
            said = "one outcome" if given == 1 else f"{given} outcomes"
            message = f"{said} for {parts} parts: the prompt and each user or run entry"
            if parts == 1:
                message = f"{given} outcomes, and only the prompt begins a run"
            yield source.problem(("expect", level, "outcome"), message)
