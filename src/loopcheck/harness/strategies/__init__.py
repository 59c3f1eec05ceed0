"""Hypothesis strategies for scenarios and their parts. Needs `loopcheck[fuzz]`."""

from __future__ import annotations

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

__all__ = [
    "FEATURES",
    "PLAIN",
    "Feature",
    "arguments",
    "deaths",
    "deliveries",
    "features_for",
    "portable_scenarios",
    "scenarios",
    "wrong_arguments",
]
