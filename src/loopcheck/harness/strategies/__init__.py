"""Hypothesis strategies for scenarios and their parts. Needs `loopcheck[fuzz]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "strategies need Hypothesis: pip install 'loopcheck[fuzz]'", name=error.name
    ) from None

from loopcheck.harness.strategies.arguments import arguments, wrong_arguments
from loopcheck.harness.strategies.deaths import deaths
from loopcheck.harness.strategies.deliveries import deliveries
from loopcheck.harness.strategies.features import FEATURES, PLAIN, Feature, features_for
from loopcheck.harness.strategies.scripts import portable_scenarios, scenarios

if TYPE_CHECKING:
    from loopcheck.harness.fuzz.machines import LoopMachine, machine

__all__ = [
    "FEATURES",
    "PLAIN",
    "Feature",
    "LoopMachine",
    "arguments",
    "deaths",
    "deliveries",
    "features_for",
    "machine",
    "portable_scenarios",
    "scenarios",
    "wrong_arguments",
]


def __getattr__(name: str) -> object:
    """A machine runs cases, so that it is made of all of this, and loaded last."""
    if name not in ("LoopMachine", "machine"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from loopcheck.harness.fuzz import machines

    return getattr(machines, name)
