"""Turns a target and scenarios into parametrized tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from loopcheck.harness.case import Case
from loopcheck.harness.cases import expand
from loopcheck.harness.scenario.load import discover
from loopcheck.harness.target import Target, TargetError

if TYPE_CHECKING:
    import pytest


def cases(
    target: Target,
    *,
    scenarios: Iterable[str] = ("builtin:core",),
    suite: str | None = None,
    seed: int = 0,
    seconds: float = 30.0,
) -> pytest.MarkDecorator | Callable[..., object]:
    """Parametrizes a test function's `case` argument with every case the target speaks.

    `scenarios` are patterns as on the command line; `suite` names the frozen suite that counts;
    `seconds` is each case's bound. Raises ScenarioError or TargetError at collection.
    """
    import pytest

    from loopcheck.harness.suites import check_suite

    if not isinstance(target, Target):
        raise TargetError(
            f"loopcheck.cases() wants a target made by @loopcheck.loop, not {target!r}"
        )
    check_suite(suite)
    found = discover(tuple(scenarios), cwd=Path.cwd())
    params = [
        pytest.param(
            Case(spec=spec, target=target, seed=seed, seconds=seconds),
            id=f"{spec.scenario.id}-{spec.dialect}-{spec.mode}",
        )
        for spec in expand(found)
        if spec.dialect in target.dialects and spec.mode in target.modes
    ]
    return pytest.mark.parametrize("case", params)
