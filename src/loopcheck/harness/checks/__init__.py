"""What loops are held to: pure functions from the journal of a case to findings."""

from __future__ import annotations

from typing import Final

from loopcheck.harness.checks import (
    control,
    correlation,
    effects,
    execution,
    expectations,
    history,
    limits,
    outcome,
)
from loopcheck.harness.checks.interface import Check

CHECKS: Final[tuple[Check, ...]] = (
    correlation.ANSWERED,
    correlation.KNOWN_ID,
    correlation.OWN_RESULT,
    execution.ONCE,
    execution.COMPLETE_ONLY,
    execution.EXACT_ARGUMENTS,
    execution.ALLOWED,
    control.BOUND,
    effects.ONCE,
    effects.REPORTED,
    history.VALID,
    history.CARRIED,
    history.CONTINUOUS,
    outcome.NAMED,
    limits.KEPT,
    control.STOPS,
    expectations.EXPECTS,
)

__all__ = ["CHECKS"]
