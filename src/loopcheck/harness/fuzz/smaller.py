"""Smaller scenarios: one with a turn less, a call less, or a word less of what is said of either.

What Hypothesis draws in one piece it can take away in one piece. What belongs together across a
scenario, as a call with the tool that it names, is taken away here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

from loopcheck.harness.scenario.control_model import MeanwhileModel
from loopcheck.harness.scenario.model import (
    MessageModel,
    Scenario,
    ToolModel,
    TurnModel,
)
from loopcheck.harness.scenario.shapes import Strict

_OF_SCENARIO: Final = ("quirks", "delivery", "otherwise", "limits", "meanwhile")
_OF_TURN: Final = ("attempts", "stop", "say", "think", "delivery", "quirks")
_OF_TOOL: Final = ("behaves", "deduplicates", "lookup", "operation", "approval")
M = TypeVar("M", bound=Strict)


def smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Scenarios with one thing less, the greatest first. Not each of them is a valid file."""
    entries = scenario.entries
    for place in range(len(entries)):
        if len(entries) > 1:
            yield _pruned(scenario, (*entries[:place], *entries[place + 1 :]))
    for place, entry in enumerate(entries):
        for less in _smaller_turns(entry):
            yield _pruned(scenario, (*entries[:place], less, *entries[place + 1 :]))
    for key in _OF_SCENARIO:
        yield from _without(scenario, key)
    for name, tool in scenario.tools.items():
        for key in _OF_TOOL:
            for less_tool in _without(tool, key):
                update = {"tools": {**scenario.tools, name: less_tool}}
                yield scenario.model_copy(update=update)
    for need in scenario.needs:
        rest = tuple(other for other in scenario.needs if other != need)
        yield scenario.model_copy(update={"needs": rest})


def _smaller_turns(entry: TurnModel | MessageModel) -> Iterator[TurnModel]:
    if not isinstance(entry, TurnModel):
        return
    calls = entry.calls
    for place in range(len(calls)):
        if len(calls) > 1 or entry.say:
            rest = (*calls[:place], *calls[place + 1 :])
            yield entry.model_copy(update={"calls": rest, "attempts": ("normal",)})
            yield entry.model_copy(update={"calls": rest})
    for key in _OF_TURN:
        yield from _without(entry, key)


def _without(model: M, key: str) -> Iterator[M]:
    """The model with this key as if it were not written; nothing where it is not."""
    default = type(model).model_fields[key].get_default(call_default_factory=True)
    if getattr(model, key) != default:
        yield model.model_copy(update={key: default})


def _pruned(scenario: Scenario, entries: tuple[TurnModel | MessageModel, ...]) -> Scenario:
    """The scenario with these entries, and without what is then about nothing."""
    bare = scenario.model_copy(update={"entries": entries})
    labels, called = set(bare.labels), _called(bare)
    tools: dict[str, ToolModel] = {n: t for n, t in scenario.tools.items() if n in called}
    update = {
        "tools": tools or scenario.tools,
        "meanwhile": tuple(rule for rule in scenario.meanwhile if _is_about(rule, labels)),
    }
    return bare.model_copy(update=update)


def _called(scenario: Scenario) -> set[str]:
    turns = (*scenario.turns, *scenario.otherwise)
    return {call.tool for turn in turns for call in turn.every_call}


def _is_about(rule: MeanwhileModel, labels: set[str]) -> bool:
    return all(str(when).partition(".")[0] in labels for when in rule.when)
