"""What the tools of a scenario may get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from loopcheck.harness.scenario import point_names, walk
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.model import Scenario, ToolModel
from loopcheck.harness.scenario.schemas import complaint
from loopcheck.harness.scenario.yaml_source import Path, Source

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of every tool."""
    for name, tool in scenario.tools.items():
        path: Path = ("tools", name)
        if not _NAME.match(name):
            hint = "letters, digits, - and _, at most 64; the services take no others"
            yield source.problem(path, f"{name!r} is no tool name", hint, key=True)
        yield from _schema(path, tool, source)
        yield from _operation(path, tool, source)
        yield from _behaviours(path, name, tool, scenario, source)
        yield from _gates(path, tool, scenario, source)


def _schema(path: Path, tool: ToolModel, source: Source) -> Iterator[Problem]:
    key = "args" if tool.schema_ is None else "schema"
    if tool.args and tool.schema_ is not None:
        yield source.problem((*path, "schema"), "'schema' stands instead of 'args'", key=True)
    elif tool.schema_ is not None and tool.schema_.get("type") != "object":
        yield source.problem((*path, "schema"), "the schema of a tool has type: object")
    wrong = complaint(tool.parameters)
    if wrong is not None:
        inner, message = wrong
        inside = inner[1:] if key == "args" else inner
        yield source.problem((*path, key, *inside), f"not a JSON Schema: {message}")


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
    single = (*path, "returns_after", 0) not in source.values
    for number, point in enumerate(tool.returns_after):
        wrong = point_names.complaint(point, scenario)
        if wrong is not None:
            place = (*path, "returns_after") if single else (*path, "returns_after", number)
            yield source.problem(place, *wrong)
