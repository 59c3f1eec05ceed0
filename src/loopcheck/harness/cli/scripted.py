"""The providers that play one scenario, in every dialect that it has."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from loopcheck.fake_providers.provider import LONG_LIVED, Provider, nothing
from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.selection import select
from loopcheck.harness.config import find
from loopcheck.harness.scenario.compile import compile_script


def scripted(pattern: str, options: Namespace) -> tuple[dict[DialectName, Provider], str]:
    """One provider for each dialect, and the scenario's id. Raises UsageError."""
    cases = select([pattern], find(Path.cwd()), cwd=Path.cwd())
    scenarios = {case.scenario.id: case.scenario for case in cases}
    if len(scenarios) > 1:
        raise UsageError(f"{pattern!r} names {len(scenarios)} scenarios; name one")
    chosen = [case for case in cases if options.dialect in (None, case.dialect)]
    if not chosen:
        there = ", ".join(dict.fromkeys(case.dialect for case in cases))
        raise UsageError(f"{pattern!r} is not for {options.dialect}; it is for {there}")
    (scenario,) = scenarios.values()
    # What a script says of streams does nothing to whole responses, so that of streams serves both.
    modes: dict[DialectName, Mode] = {}
    for case in chosen:
        if modes.get(case.dialect) != "stream":
            modes[case.dialect] = case.mode
    providers: dict[DialectName, Provider] = {
        name: Provider(
            script=compile_script(scenario, name, mode),
            dialect=name,
            mode=mode,
            seed=options.seed,
            record=nothing,
            keep=LONG_LIVED,
            on=frozenset(scenario.rules.on),
            off=frozenset(options.lenient) | frozenset(scenario.rules.off),
        )
        for name, mode in modes.items()
    }
    return providers, scenario.id
