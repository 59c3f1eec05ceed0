"""Turns a target and scenarios into parametrized tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from loopcheck.harness.case import Case
from loopcheck.harness.cases import expand
from loopcheck.harness.config import Config, find
from loopcheck.harness.scenario.load import discover
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scoring import left_out
from loopcheck.harness.suites import check_suite
from loopcheck.harness.target import Target, TargetError

if TYPE_CHECKING:
    import pytest


def cases(
    target: Target,
    *,
    scenarios: Iterable[str] | None = None,
    suite: str | None = None,
    seed: int = 0,
    seconds: float = 30.0,
) -> pytest.MarkDecorator:
    """Parametrizes a test function's `case` argument with every case the target speaks.

    `scenarios` are files, folders or globs relative to pytest's rootdir, `builtin:all`,
    `builtin:core`, or ids of built-in scenarios; `suite` names the frozen suite that counts. Both
    are those of the project's settings unless given. `seconds` is each case's bound. Raises
    ScenarioError, ConfigError or TargetError when the test file is collected.
    """
    import pytest

    if not isinstance(target, Target):
        raise TargetError(
            f"loopcheck.cases() wants a target made by @loopcheck.loop(...), not {target!r}"
        )
    counts, found = _chosen(scenarios, suite)
    without = left_out(found, counts)
    params = [
        pytest.param(
            Case(
                spec=spec,
                target=target,
                seed=seed,
                seconds=seconds,
                suite=counts,
                unscored=without.get(spec.scenario.id),
            ),
            id=f"{spec.scenario.id}-{spec.dialect}-{spec.mode}",
        )
        for spec in expand(found)
        if spec.dialect in target.dialects and spec.mode in target.modes
    ]
    if not params:
        spoken = f"{', '.join(target.dialects)} ({', '.join(target.modes)})"
        raise TargetError(
            f"loopcheck.cases(): no scenario has a case in what target {target.name!r} "
            f"declares: {spoken}"
        )
    return pytest.mark.parametrize("case", params)


def _chosen(scenarios: Iterable[str] | None, suite: str | None) -> tuple[str, list[Scenario]]:
    from loopcheck.harness.plugin import project_root

    root = project_root()
    config = find(root)
    try:
        counts = check_suite(suite or config.suite)
    except ValueError as error:
        raise TargetError(f"loopcheck.cases(): {error}") from None
    return counts, _discovered(scenarios, config)


def _discovered(scenarios: Iterable[str] | None, config: Config) -> list[Scenario]:
    from loopcheck.harness.plugin import project_root

    if scenarios is None:
        return discover(config.scenarios, cwd=config.root)
    if isinstance(scenarios, str):
        raise TargetError(
            f"loopcheck.cases(): scenarios wants a list of patterns, such as [{scenarios!r}]"
        )
    patterns = tuple(scenarios)
    if not patterns:
        raise TargetError("loopcheck.cases(): scenarios is empty; leave it out for the project's")
    return discover(patterns, cwd=project_root())
