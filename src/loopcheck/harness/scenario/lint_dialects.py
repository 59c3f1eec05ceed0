"""What a dialect cannot carry: thinking, hosted tools, custom calls, stops, forms of errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopcheck.fake_providers.error_replies import FORMS
from loopcheck.fake_providers.script import DialectName
from loopcheck.harness.scenario import walk
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.model import ItemModel, Scenario
from loopcheck.harness.scenario.walk import Content
from loopcheck.harness.scenario.yaml_source import Path, Source

_NARROW: Final = "narrow the file with dialects"


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Everything that one of the file's dialects has no place for."""
    names = walk.dialects(scenario)
    for path, item in walk.pieces(scenario, source):
        for lacking, what in _needed(item, scenario):
            if lacking in names:
                yield source.problem(path, f"{lacking} has no {what}", _NARROW)
    for content in walk.contents(scenario, source):
        yield from _results(content, scenario, source)
    yield from _stops(scenario, source)
    yield from _forms(scenario, source)


def _needed(item: ItemModel, scenario: Scenario) -> Iterator[tuple[DialectName, str]]:
    if item.think is not None or item.redacted:
        yield "chat", "thinking"
    if item.hosted_result is not None:
        yield "chat", "hosted tools"
    if item.call is not None and scenario.is_hosted(item.call.tool):
        yield "chat", "hosted tools"
    if item.call is not None and item.call.form == "custom":
        yield "messages", "custom calls"


def _results(content: Content, scenario: Scenario, source: Source) -> Iterator[Problem]:
    """A result belongs to a call of the same response, or to one of a paused turn before."""
    every = {call.label: call.tool for _, call in walk.calls(scenario, source)}
    hosted = [label for label, tool in every.items() if scenario.is_hosted(tool)]
    for path, item in content.pieces:
        found = item.hosted_result
        if found is not None and found.of not in hosted:
            message = f"{found.of!r} is no call of a hosted tool"
            place = (*path, "hosted_result", "of")
            yield source.problem(place, message, did_you_mean(found.of, hosted))


def _stops(scenario: Scenario, source: Source) -> Iterator[Problem]:
    names = walk.dialects(scenario)
    for path, turn in walk.turns(scenario, source):
        for where, stop in walk.stops(path, turn):
            by_dialect = stop if isinstance(stop, dict) else dict.fromkeys(names, stop)
            if any(word == "pause" and name != "messages" for name, word in by_dialect.items()):
                yield source.problem(where, "only messages has the stop 'pause'")


def _forms(scenario: Scenario, source: Source) -> Iterator[Problem]:
    for path, turn in walk.turns(scenario, source):
        for where, attempt in walk.attempts(path, turn):
            form = attempt.form
            by_dialect = (
                form if isinstance(form, dict) else dict.fromkeys(walk.dialects(scenario), form)
            )
            for name, word in by_dialect.items():
                if word is not None and word not in FORMS[name]:
                    place: Path = (*where, "form", *([name] if isinstance(form, dict) else []))
                    message = f"{name} has no error of the form {word!r}"
                    yield source.problem(place, message, f"known: {', '.join(FORMS[name])}")
