"""A request as a scenario expects it, for rendering its responses without a loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.fake_providers.wire import OfferedTool, Reading
from loopcheck.harness.scenario.model import Scenario

_MODELS: Final[Mapping[DialectName, str]] = {
    "responses": "gpt-4.1",
    "chat": "gpt-4.1",
    "messages": "claude-sonnet-4-5",
}


def reading(scenario: Scenario, dialect: DialectName, mode: Mode) -> Reading:
    """A request of this dialect that offers the scenario's tools and says nothing else."""
    tools = (OfferedTool(name=n, schema=tool.parameters) for n, tool in scenario.tools.items())
    return Reading(
        dialect=dialect,
        model=_MODELS[dialect],
        stream=mode == "stream",
        items=(),
        history=(),
        tools=tuple(tools),
        body={},
    )
