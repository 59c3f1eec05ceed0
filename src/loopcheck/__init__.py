"""loopcheck puts a tool-calling loop on trial.

Importing this package loads nothing else: a plugin that is installed and unused must cost a
pytest start almost nothing. Each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopcheck.fake_providers.inprocess import in_process as in_process
    from loopcheck.harness.case import Case as Case
    from loopcheck.harness.parametrize import cases as cases
    from loopcheck.harness.prices import Prices as Prices
    from loopcheck.harness.shorthand import call as call
    from loopcheck.harness.shorthand import refuse as refuse
    from loopcheck.harness.shorthand import say as say
    from loopcheck.harness.stop import Stop as Stop
    from loopcheck.harness.strategies import deliveries as deliveries
    from loopcheck.harness.strategies import scenarios as scenarios
    from loopcheck.harness.strategies.machines import machine as machine
    from loopcheck.harness.target import Target as Target
    from loopcheck.harness.target import adapter as adapter
    from loopcheck.harness.target import loop as loop
    from loopcheck.harness.task import Decision as Decision
    from loopcheck.harness.task import Lane as Lane
    from loopcheck.harness.task import Limits as Limits
    from loopcheck.harness.task import Message as Message
    from loopcheck.harness.task import Outcome as Outcome
    from loopcheck.harness.task import Pending as Pending
    from loopcheck.harness.task import Resume as Resume
    from loopcheck.harness.task import Task as Task
    from loopcheck.harness.task import Tool as Tool
    from loopcheck.harness.task import ended as ended
    from loopcheck.harness.task import final as final
    from loopcheck.harness.task import paused as paused
    from loopcheck.harness.tool_values import ImagePart as ImagePart
    from loopcheck.harness.tool_values import Parts as Parts
    from loopcheck.harness.tool_values import RateLimited as RateLimited
    from loopcheck.harness.tool_values import TextPart as TextPart
    from loopcheck.harness.warning import LoopcheckWarning as LoopcheckWarning

_HOMES = {
    "Case": "loopcheck.harness.case",
    "Decision": "loopcheck.harness.task",
    "ImagePart": "loopcheck.harness.tool_values",
    "Lane": "loopcheck.harness.task",
    "Limits": "loopcheck.harness.task",
    "LoopcheckWarning": "loopcheck.harness.warning",
    "Message": "loopcheck.harness.task",
    "Outcome": "loopcheck.harness.task",
    "Parts": "loopcheck.harness.tool_values",
    "Pending": "loopcheck.harness.task",
    "Prices": "loopcheck.harness.prices",
    "RateLimited": "loopcheck.harness.tool_values",
    "Resume": "loopcheck.harness.task",
    "Stop": "loopcheck.harness.stop",
    "Target": "loopcheck.harness.target",
    "Task": "loopcheck.harness.task",
    "TextPart": "loopcheck.harness.tool_values",
    "Tool": "loopcheck.harness.task",
    "adapter": "loopcheck.harness.target",
    "call": "loopcheck.harness.shorthand",
    "cases": "loopcheck.harness.parametrize",
    "deliveries": "loopcheck.harness.strategies",
    "ended": "loopcheck.harness.task",
    "final": "loopcheck.harness.task",
    "in_process": "loopcheck.fake_providers.inprocess",
    "loop": "loopcheck.harness.target",
    "machine": "loopcheck.harness.strategies.machines",
    "paused": "loopcheck.harness.task",
    "refuse": "loopcheck.harness.shorthand",
    "say": "loopcheck.harness.shorthand",
    "scenarios": "loopcheck.harness.strategies",
}

__all__ = [
    "Case",
    "Decision",
    "ImagePart",
    "Lane",
    "Limits",
    "LoopcheckWarning",
    "Message",
    "Outcome",
    "Parts",
    "Pending",
    "Prices",
    "RateLimited",
    "Resume",
    "Stop",
    "Target",
    "Task",
    "TextPart",
    "Tool",
    "adapter",
    "call",
    "cases",
    "deliveries",
    "ended",
    "final",
    "in_process",
    "loop",
    "machine",
    "paused",
    "refuse",
    "say",
    "scenarios",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'loopcheck' has no attribute {name!r}")
    return getattr(import_module(home), name)
