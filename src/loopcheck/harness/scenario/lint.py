"""What a scenario file that is well formed may still get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from loopcheck.harness.scenario import (
    lint_control,
    lint_demands,
    lint_dialects,
    lint_expect,
    lint_given,
    lint_history,
    lint_lanes,
    lint_quirks,
    lint_reach,
    lint_stream,
    lint_tools,
    walk,
)
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.json_text import whole_object
from loopcheck.harness.scenario.model import (
    AttemptModel,
    CallModel,
    ItemModel,
    Scenario,
    TurnModel,
)
from loopcheck.harness.scenario.yaml_source import Path, Source
from loopcheck.harness.target import CAPABILITIES

_LABEL: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}\Z")
_RESERVED: Final = re.compile(r"(run|say|think|turn[0-9]+)\Z")


def lint(scenario: Scenario, source: Source) -> list[Problem]:
    """Everything in this scenario that can do nothing, contradicts itself or claims too much."""
    rules = (
        _needs,
        _repeated_words,
        _labels,
        _calls,
        _content,
        _reached,
        _request_rules,
        lint_given.lint,
        lint_lanes.lint,
        lint_tools.lint,
        lint_dialects.lint,
        lint_stream.lint,
        lint_quirks.lint,
        lint_control.lint,
        lint_expect.lint,
        lint_demands.lint,
        lint_history.lint,
        lint_reach.lint_turns,
    )
    found = [problem for rule in rules for problem in rule(scenario, source)]
    # Only what is right otherwise can be sent, to see whether its faults strike.
    return found or list(lint_reach.lint_faults(scenario, source))


def _needs(scenario: Scenario, source: Source) -> Iterator[Problem]:
    for number, need in enumerate(scenario.needs):
        if need not in CAPABILITIES:
            hint = did_you_mean(need, CAPABILITIES)
            yield source.problem(("needs", number), f"{need!r} is no capability", hint)
    hosted = next((name for name in scenario.tools if scenario.is_hosted(name)), None)
    if hosted is not None and "hosted" not in scenario.needs:
        hint = "a target that does not know such tools is then not declared"
        place = ("tools", hosted, "kind")
        yield source.problem(place, "a hosted tool wants needs: [hosted]", hint)
    thought = next((path for path, item in walk.pieces(scenario, source) if _thinks(item)), None)
    if thought is not None and "thinking" not in scenario.needs:
        hint = "a target that does not carry it back is then not declared"
        yield source.problem(thought, "thinking wants needs: [thinking]", hint)
    if scenario.limits.given and "limits" not in scenario.needs:
        hint = "a target that cannot be given limits is then not declared"
        yield source.problem(("limits",), "'limits' wants needs: [limits]", hint, key=True)


def _thinks(item: ItemModel) -> bool:
    return item.think is not None or item.redacted is True


def _repeated_words(scenario: Scenario, source: Source) -> Iterator[Problem]:
    lists: list[tuple[str, tuple[str, ...]]] = [
        ("needs", scenario.needs),
        ("grounds", scenario.grounds),
        ("modes", scenario.modes),
    ]
    if scenario.dialects != "all":
        lists.append(("dialects", scenario.dialects))
    for key, words in lists:
        for number, word in enumerate(words):
            if word in words[:number]:
                yield source.problem((key, number), f"{word!r} stands twice in {key!r}")


def _labels(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Attempts of one turn may say the same call again; nothing else may."""
    owners: dict[str, Path] = {}
    for path, turn in walk.turns(scenario, source):
        contents = [(path, walk.own_content(path, turn))]
        for where, attempt in walk.attempts(path, turn):
            if not attempt.replaces_nothing:
                contents.append((where, walk.content(path, turn, where, attempt)))
        for _, content in contents:
            for number, (place, call) in enumerate(content.calls):
                taken = call.label in content.labels[:number]
                if taken or owners.setdefault(call.label, path) != path:
                    message = f"label {call.label!r} is taken by another call"
                    yield source.problem((*place, "as"), message)
    for place, call in walk.calls(scenario, source):
        if not _LABEL.match(call.label) or _RESERVED.match(call.label):
            hint = "letters, digits, - and _; not run, say, think or turn1"
            yield source.problem((*place, "as"), f"{call.label!r} is no label", hint)


def _calls(scenario: Scenario, source: Source) -> Iterator[Problem]:
    cannot_be_cut = "whole" in scenario.modes and "messages" in walk.dialects(scenario)
    for place, call in walk.calls(scenario, source):
        yield from _arguments(place, call, source)
        if call.raw_args and cannot_be_cut and whole_object(call.raw_args) is None:
            message = "a whole response of messages cannot hold these raw_args: no JSON object"
            hint = "narrow with modes: [stream], or with dialects"
            yield source.problem((*place, "raw_args"), message, hint)


def _arguments(place: Path, call: CallModel, source: Source) -> Iterator[Problem]:
    if call.args is None and call.raw_args is None:
        yield source.problem(place, f"call {call.label!r} has neither args nor raw_args")
    if call.args is not None and call.raw_args is not None:
        message = f"call {call.label!r} has both args and raw_args"
        yield source.problem((*place, "raw_args"), message, key=True)
    if call.meant is not None and call.raw_args is None:
        message = f"call {call.label!r} has meant beside args, which say what is meant themselves"
        yield source.problem((*place, "meant"), message, key=True)
    if call.form == "custom" and call.raw_args is None:
        message = f"the custom call {call.label!r} wants raw_args: its input is a text"
        yield source.problem((*place, "form"), message)


def _content(scenario: Scenario, source: Source) -> Iterator[Problem]:
    for path, turn in walk.turns(scenario, source):
        yield from _items(path, turn, source)
        for where, attempt in walk.attempts(path, turn):
            yield from _items(where, attempt, source)
    for path, item in walk.pieces(scenario, source):
        given = [key for key, value in item if value is not None]
        if len(given) != 1:
            message = f"an item is one of {', '.join(ItemModel.model_fields)}"
            yield source.problem(path, message)


def _items(path: Path, owner: TurnModel | AttemptModel, source: Source) -> Iterator[Problem]:
    others = (owner.think, owner.say, owner.calls or None, owner.refuse)
    if owner.items is not None and any(value is not None for value in others):
        message = "'items' stands instead of think, say, calls and refuse"
        yield source.problem((*path, "items"), message)


def _reached(scenario: Scenario, source: Source) -> Iterator[Problem]:
    for path, turn in walk.turns(scenario, source):
        if turn.optional and turn.must_reach:
            message = "a turn is not both optional and must_reach"
            yield source.problem((*path, "must_reach"), message, key=True)


def _request_rules(scenario: Scenario, source: Source) -> Iterator[Problem]:
    named = [("on", n, id) for n, id in enumerate(scenario.rules.on)]
    named += [("off", n, id) for n, id in enumerate(scenario.rules.off)]
    if not named:
        return
    from loopcheck.fake_providers.dialects import dialect

    known = [rule.id for name in walk.dialects(scenario) for rule in dialect(name).rules]
    for key, number, id in named:
        if id not in known:
            message = f"{id!r} is no request rule of these dialects"
            yield source.problem(("rules", key, number), message, did_you_mean(id, known))
