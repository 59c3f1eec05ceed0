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
    from loopcheck.harness.shorthand import call as call
    from loopcheck.harness.shorthand import refuse as refuse
    from loopcheck.harness.shorthand import say as say
    from loopcheck.harness.target import Target as Target
    from loopcheck.harness.target import adapter as adapter
    from loopcheck.harness.target import loop as loop
    from loopcheck.harness.task import Limits as Limits
    from loopcheck.harness.task import Outcome as Outcome
    from loopcheck.harness.task import Task as Task
    from loopcheck.harness.task import Tool as Tool
    from loopcheck.harness.task import ended as ended
    from loopcheck.harness.task import final as final
    from loopcheck.harness.warning import LoopcheckWarning as LoopcheckWarning

_HOMES = {
    "Case": "loopcheck.harness.case",
    "Limits": "loopcheck.harness.task",
    "LoopcheckWarning": "loopcheck.harness.warning",
    "Outcome": "loopcheck.harness.task",
    "Target": "loopcheck.harness.target",
    "Task": "loopcheck.harness.task",
    "Tool": "loopcheck.harness.task",
    "adapter": "loopcheck.harness.target",
    "call": "loopcheck.harness.shorthand",
    "cases": "loopcheck.harness.parametrize",
    "ended": "loopcheck.harness.task",
    "final": "loopcheck.harness.task",
    "in_process": "loopcheck.fake_providers.inprocess",
    "loop": "loopcheck.harness.target",
    "refuse": "loopcheck.harness.shorthand",
    "say": "loopcheck.harness.shorthand",
}

__all__ = [
    "Case",
    "Limits",
    "LoopcheckWarning",
    "Outcome",
    "Target",
    "Task",
    "Tool",
    "adapter",
    "call",
    "cases",
    "ended",
    "final",
    "in_process",
    "loop",
    "refuse",
    "say",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'loopcheck' has no attribute {name!r}")
    return getattr(import_module(home), name)
