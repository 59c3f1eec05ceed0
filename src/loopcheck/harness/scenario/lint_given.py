"""What a scenario may get wrong about what the target is given: what was said earlier, who keeps
the conversation, and answers that depend on what is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopcheck.harness.scenario import walk
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.yaml_source import Path, Source

_WORDS: Final = ("auto", "required", "none")


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of `tool_choice`, `earlier`, `state`, and of `if` in turns."""
    yield from _choice(("tool_choice",), scenario.tool_choice, scenario, source)
    yield from _earlier(scenario, source)
    yield from _state(scenario, source)
    yield from _conditions(scenario, source)


def _choice(path: Path, word: str, scenario: Scenario, source: Source) -> Iterator[Problem]:
    known = (*_WORDS, *scenario.client_tools)
    if word not in known:
        message = f"tool_choice {word!r} is no tool of this file"
        yield source.problem(path, message, did_you_mean(word, known))


def _earlier(scenario: Scenario, source: Source) -> Iterator[Problem]:
    for number, entry in enumerate(scenario.earlier):
        if (entry.user is None) == (entry.say is None):
            message = "what was said earlier is one of user, say"
            yield source.problem(("earlier", number), message)
    if scenario.earlier and scenario.earlier[0].say is not None:
        hint = "a service may refuse a conversation that the model begins"
        yield source.problem(("earlier", 0), "'earlier' begins with what the user said", hint)
    if scenario.earlier and "earlier" not in scenario.needs:
        hint = "a target that cannot begin with a conversation is then not declared"
        yield source.problem(("earlier",), "'earlier' wants needs: [earlier]", hint, key=True)


def _state(scenario: Scenario, source: Source) -> Iterator[Problem]:
    if scenario.state == "client":
        return
    if "server_state" not in scenario.needs:
        hint = "a target that keeps the conversation itself is then not declared"
        yield source.problem(("state",), "'state: server' wants needs: [server_state]", hint)
    if "chat" in walk.dialects(scenario):
        hint = "narrow with dialects: [responses, messages]"
        yield source.problem(("state",), "chat keeps no conversation on the server", hint)


def _conditions(scenario: Scenario, source: Source) -> Iterator[Problem]:
    for path, turn in walk.turns(scenario, source):
        if turn.if_ is None:
            continue
        if path[0] != "otherwise":
            hint = "turns of the script are given in their order"
            yield source.problem((*path, "if"), "'if' stands in 'otherwise' alone", hint, key=True)
        place = (*path, "if", "tool_choice")
        yield from _choice(place, turn.if_.tool_choice, scenario, source)
    if all(turn.if_ is not None for turn in scenario.otherwise):
        hint = "add one without 'if', which answers every other request"
        yield source.problem(("otherwise",), "each turn of 'otherwise' has an 'if'", hint, key=True)
