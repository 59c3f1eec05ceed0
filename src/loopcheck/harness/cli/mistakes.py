"""Which errors are mistakes of the user, told in one line and without a traceback."""

from __future__ import annotations

from loopcheck.harness.config import ConfigError
from loopcheck.harness.expected import ExpectedError
from loopcheck.harness.journal import JournalError
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.merging import MergeError
from loopcheck.harness.scenario.errors import ScenarioError
from loopcheck.harness.target import TargetError
from loopcheck.reports.json_report import ReportError


def is_mistake(error: Exception) -> bool:
    """Whether the message already says what is wrong, where, and how to mend it."""
    mistakes = (
        ConfigError,
        ExpectedError,
        JournalError,
        MatrixError,
        MergeError,
        ReportError,
        ScenarioError,
        TargetError,
    )
    return isinstance(error, mistakes)
