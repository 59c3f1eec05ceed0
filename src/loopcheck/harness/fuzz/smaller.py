"""Smaller scenarios: one with a turn less, a call less, or a word less of what is said of either.

What Hypothesis draws in one piece it can take away in one piece. What belongs together across a
scenario, as a call with the tool that it names, is taken away here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Final, Literal, TypeVar

from loopcheck.harness.scenario.control_model import InsideModel, MeanwhileModel, When
from loopcheck.harness.scenario.json_text import whole_object
from loopcheck.harness.scenario.model import (
    CallModel,
    LaneModel,
    MessageModel,
    Scenario,
    ToolModel,
    TurnModel,
)
from loopcheck.harness.scenario.shapes import Strict
from loopcheck.harness.strategies.tools import argument_names, without_argument

_OF_SCENARIO: Final = (
    "state",
    "quirks",
    "delivery",
    "otherwise",
    "limits",
    "meanwhile",
    "earlier",
)
_OF_TURN: Final = ("attempts", "stop", "say", "think", "delivery", "quirks")
_OF_TOOL: Final = (
    "behaves",
    "deduplicates",
    "lookup",
    "operation",
    "approval",
    "returns",
    "returns_parts",
    "commits_after",
    "returns_after",
)
_NO_CALL: Final = re.compile(r"(run|turn[0-9]+)\Z")
M = TypeVar("M", bound=Strict)


def smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Scenarios with one thing less, the greatest first. Not each of them is a valid file."""
    entries = scenario.entries
    for place in range(len(entries)):
        if len(entries) > 1:
            yield _pruned(scenario, "entries", (*entries[:place], *entries[place + 1 :]))
    for lanes in _fewer_lanes(scenario.lanes):
        yield _pruned(scenario, "lanes", lanes)
    for place, entry in enumerate(entries):
        for less in _smaller_turns(entry):
            yield _pruned(scenario, "entries", (*entries[:place], less, *entries[place + 1 :]))
    for key in _OF_SCENARIO:
        yield from _without(scenario, key)
    for place in range(len(scenario.meanwhile)):
        rest = (*scenario.meanwhile[:place], *scenario.meanwhile[place + 1 :])
        yield scenario.model_copy(update={"meanwhile": rest})
    for name, tool in scenario.tools.items():
        for key in _OF_TOOL:
            for less_tool in _without(tool, key):
                update = {"tools": {**scenario.tools, name: less_tool}}
                yield scenario.model_copy(update=update)
    yield from _with_fewer_arguments(scenario)
    for need in scenario.needs:
        needs = tuple(other for other in scenario.needs if other != need)
        yield scenario.model_copy(update={"needs": needs})


def _fewer_lanes(lanes: dict[str, LaneModel]) -> Iterator[dict[str, LaneModel]]:
    """The lanes with one of them less, or with a turn less, or a smaller one."""
    for name, lane in lanes.items():
        yield {other: kept for other, kept in lanes.items() if other != name}
        turns = lane.turns
        for place, turn in enumerate(turns):
            shorter = [()] if len(turns) > 1 else []
            for less in (*shorter, *((one,) for one in _smaller_turns(turn))):
                rest = (*turns[:place], *less, *turns[place + 1 :])
                yield {**lanes, name: lane.model_copy(update={"turns": rest})}


def _smaller_turns(entry: TurnModel | MessageModel) -> Iterator[TurnModel]:
    if not isinstance(entry, TurnModel):
        return
    calls = entry.calls
    for place in range(len(calls)):
        if len(calls) > 1 or entry.say:
            left = (*calls[:place], *calls[place + 1 :])
            if entry.attempts != ("normal",):
                yield entry.model_copy(update={"calls": left, "attempts": ("normal",)})
            yield entry.model_copy(update={"calls": left})
    for place, call in enumerate(calls):
        args = whole_object(call.raw_args or "")
        if call.form == "custom" and args is not None:
            update = {"args": args, "raw_args": None, "form": "function"}
            plain = call.model_copy(update=update)
            yield entry.model_copy(update={"calls": (*calls[:place], plain, *calls[place + 1 :])})
    items = entry.items or ()
    for size in (2, 1):  # what the service did itself is a call with its result
        for place in range(len(items) + 1 - size):
            rest = (*items[:place], *items[place + size :])
            if rest:
                yield _in_short(entry.model_copy(update={"items": rest}))
    for key in _OF_TURN:
        yield from _without(entry, key)


def _in_short(turn: TurnModel) -> TurnModel:
    """The turn without items, where its own keys say the same."""
    pieces = [piece.model_dump(exclude_none=True, by_alias=True) for piece in turn.items or ()]
    keys = [key for piece in pieces for key in piece]
    said = [key for key in keys if key != "call"]
    in_order = [key for key in ("think", "say") if key in said]
    if keys != [*in_order, *["call" for key in keys if key == "call"]]:
        return turn
    calls = tuple(piece.call for piece in turn.items or () if piece.call is not None)
    update = {key: value for piece in pieces for key, value in piece.items() if key != "call"}
    return turn.model_copy(update={**update, "items": None, "calls": calls})


def _with_fewer_arguments(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario with a tool that takes one argument less, in all of its calls."""
    for name, tool in scenario.client_tools.items():
        written = tool.model_dump(by_alias=True, exclude_defaults=True)
        for argument in argument_names(written):
            less = deepcopy(written)
            without_argument(less, argument)
            tools = {**scenario.tools, name: ToolModel.model_validate(less)}
            entries = tuple(_without_it(entry, name, argument) for entry in scenario.entries)
            lanes = {
                lane_name: lane.model_copy(
                    update={"turns": tuple(_without_it(one, name, argument) for one in lane.turns)}
                )
                for lane_name, lane in scenario.lanes.items()
            }
            update = {"tools": tools, "entries": entries, "lanes": lanes}
            yield scenario.model_copy(update=update)


def _without_it(
    entry: TurnModel | MessageModel, tool: str, argument: str
) -> TurnModel | MessageModel:
    if not isinstance(entry, TurnModel):
        return entry

    def less(call: CallModel) -> CallModel:
        if call.tool != tool or call.args is None:
            return call
        args = {name: value for name, value in call.args.items() if name != argument}
        return call.model_copy(update={"args": args})

    items = entry.items and tuple(
        piece if piece.call is None else piece.model_copy(update={"call": less(piece.call)})
        for piece in entry.items
    )
    return entry.model_copy(update={"calls": tuple(map(less, entry.calls)), "items": items})


def _without(model: M, key: str) -> Iterator[M]:
    """The model with this key as if it were not written; nothing where it is not."""
    default = type(model).model_fields[key].get_default(call_default_factory=True)
    if getattr(model, key) != default:
        yield model.model_copy(update={key: default})


def _pruned(scenario: Scenario, key: Literal["entries", "lanes"], less: object) -> Scenario:
    """The scenario with less under this key, and without what is then about nothing."""
    bare = scenario.model_copy(update={key: less})
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
    return all(_about(when) in labels or _NO_CALL.match(_about(when)) for when in rule.when)


def _about(when: When) -> str:
    return when.in_ if isinstance(when, InsideModel) else when.partition(".")[0]
