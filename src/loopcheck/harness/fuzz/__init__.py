"""Properties that hold for every script and every loop, and the search for what breaks them."""

from __future__ import annotations

from loopcheck.harness.fuzz.failure import Failure, PropertyBroken
from loopcheck.harness.fuzz.properties import (
    check_deaths,
    check_delivery,
    check_ends,
    check_history,
    check_portable,
    check_progress,
    check_repeatable,
    check_results,
    check_retries,
    check_rules,
    check_safety,
    check_same_verdicts,
)
from loopcheck.harness.fuzz.trial import Trial

__all__ = [
    "Failure",
    "PropertyBroken",
    "Trial",
    "check_deaths",
    "check_delivery",
    "check_ends",
    "check_history",
    "check_portable",
    "check_progress",
    "check_repeatable",
    "check_results",
    "check_retries",
    "check_rules",
    "check_safety",
    "check_same_verdicts",
]
