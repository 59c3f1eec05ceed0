"""What the tools of a scenario may get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness.scenario import point_names, walk
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.model import Scenario, ToolModel
from loopcheck.harness.scenario.schemas import complaint, unmet
from loopcheck.harness.scenario.tool_model import HANGING, name_of
from loopcheck.harness.scenario.yaml_source import Path, Source

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_OF_ASKED: Final = frozenset({"kind", "description", "args", "schema_"})
_RESULTS: Final = ("returns", "returns_each", "returns_parts")


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of every tool."""
    for name, tool in scenario.tools.items():
        path: Path = ("tools", name)
        if not _NAME.match(name):
            hint = "letters, digits, - and _, at most 64; the services take no others"
            yield source.problem(path, f"{name!r} is no tool name", hint, key=True)
        if tool.kind == "hosted":
            yield from _hosted(path, tool, scenario, source)
            continue
        if tool.type is not None:
            message = "'type' is for hosted tools"
            yield source.problem((*path, "type"), message, key=True)
        yield from _schema(path, tool, source)
        yield from _wanted(path, tool, scenario, source)
        if tool.kind == "ask":
            yield from _asked(path, tool, source)
            continue
        yield from _operation(path, tool, source)
        yield from _results(path, tool, source)
        yield from _behaviours(path, name, tool, scenario, source)
        yield from _gates(path, tool, scenario, source)


def _hosted(path: Path, tool: ToolModel, scenario: Scenario, source: Source) -> Iterator[Problem]:
    for key in tool.model_fields_set - {"kind", "type", "description"}:
        name = key.rstrip("_")
        message = f"{name!r} does nothing: a hosted tool never gets here"
        yield source.problem((*path, name), message, key=True)
    known = tool.type if isinstance(tool.type, dict) else dict.fromkeys(DIALECTS, tool.type)
    lacking = [name for name in walk.dialects(scenario) if name != "chat" and not known.get(name)]
    if lacking:
        hint = "such as type: {responses: web_search_call, messages: web_search}"
        message = f"a hosted tool has a type on the wire, also in {', '.join(lacking)}"
        yield source.problem(path, message, hint, key=True)


def _wanted(path: Path, tool: ToolModel, scenario: Scenario, source: Source) -> Iterator[Problem]:
    """What only some targets bear, and the scenario has to say that it needs."""
    for key, capability, what in _wants(tool):
        if capability not in scenario.needs:
            hint = "a target that does not claim it is then not declared"
            message = f"{what} wants needs: [{capability}]"
            yield source.problem((*path, *key), message, hint)


def _wants(tool: ToolModel) -> Iterator[tuple[Path, str, str]]:
    if tool.kind == "ask":
        yield ("kind",), "input", "a tool that a person answers"
    if tool.approval != "allow":
        yield ("approval",), "approval", f"'approval: {tool.approval}'"
    if any(part.image for part in tool.returns_parts or ()):
        yield ("returns_parts",), "images", "a result with an image"
    hanging = next((word for word in _every_behaviour(tool) if word in HANGING), None)
    if hanging is not None:
        yield ("behaves",), "tool_timeout", f"{hanging!r}"


def _every_behaviour(tool: ToolModel) -> Iterator[str]:
    lists = tool.behaves.values() if isinstance(tool.behaves, dict) else (tool.behaves,)
    return (name_of(entry) for entries in lists for entry in entries)


def _asked(path: Path, tool: ToolModel, source: Source) -> Iterator[Problem]:
    for key in tool.model_fields_set - _OF_ASKED:
        message = f"{key!r} does nothing: a person gives the answer"
        yield source.problem((*path, key), message, key=True)


def _results(path: Path, tool: ToolModel, source: Source) -> Iterator[Problem]:
    given = [key for key in _RESULTS if key in tool.model_fields_set]
    if "returns_parts" in given and len(given) > 1:
        message = f"'returns_parts' stands instead of {given[0]!r}"
        yield source.problem((*path, "returns_parts"), message, key=True)
    for number, part in enumerate(tool.returns_parts or ()):
        if (part.text is None) == (part.image is None):
            message = "a part is one of text, image"
            yield source.problem((*path, "returns_parts", number), message)


def _schema(path: Path, tool: ToolModel, source: Source) -> Iterator[Problem]:
    key = "args" if tool.schema_ is None else "schema"
    if tool.args and tool.schema_ is not None:
        yield source.problem((*path, "schema"), "'schema' stands instead of 'args'", key=True)
    elif tool.schema_ is not None and tool.schema_.get("type") != "object":
        yield source.problem((*path, "schema"), "the schema of a tool has type: object")
    wrong = complaint(tool.parameters)
    if wrong is not None:
        inner, message, hint = wrong
        inside = inner[1:] if key == "args" else inner
        yield source.problem((*path, key, *inside), f"not a JSON Schema: {message}", hint)
        return
    for inner in unmet(tool.parameters):
        inside = inner[1:] if key == "args" else inner
        message = "nothing meets this schema: a property is required that it does not allow"
        yield source.problem((*path, key, *inside), message)


def _operation(path: Path, tool: ToolModel, source: Source) -> Iterator[Problem]:
    properties = tool.parameters.get("properties")
    known = list(properties) if isinstance(properties, dict) else []
    for number, name in enumerate(tool.operation or ()):
        if name not in known:
            message = f"operation names {name!r}, which is no argument"
            place = (*path, "operation", number)
            yield source.problem(place, message, did_you_mean(name, known))
    for key, given in (("lookup", tool.lookup != "none"), ("deduplicates", tool.deduplicates)):
        if given and tool.operation is None:
            message = f"{key!r} needs 'operation', which says what one business action is"
            yield source.problem((*path, key), message, key=True)


def _behaviours(
    path: Path, name: str, tool: ToolModel, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    if not isinstance(tool.behaves, dict):
        return
    own = {call.label for _, call in walk.calls(scenario, source) if call.tool == name}
    for label in tool.behaves:
        if label not in own:
            message = f"{label!r} is no call of {name}"
            hint = did_you_mean(label, own)
            yield source.problem((*path, "behaves", label), message, hint, key=True)


def _gates(path: Path, tool: ToolModel, scenario: Scenario, source: Source) -> Iterator[Problem]:
    for key, points in (
        ("returns_after", tool.returns_after),
        ("commits_after", tool.commits_after),
    ):
        single = (*path, key, 0) not in source.values
        for number, point in enumerate(points):
            wrong = point_names.complaint(point, scenario)
            if wrong is not None:
                yield source.problem((*path, key) if single else (*path, key, number), *wrong)
    if tool.commits_after and tool.kind == "read":
        message = "'commits_after' does nothing: a read has no effect"
        yield source.problem((*path, "commits_after"), message, key=True)
