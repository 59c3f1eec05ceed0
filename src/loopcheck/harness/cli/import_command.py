"""`loopcheck import`: what was recorded becomes a scenario."""

from __future__ import annotations

import sys
from argparse import Namespace

from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.cli.scenario_file import checked, create, wanted
from loopcheck.harness.exit_code import AS_EXPECTED
from loopcheck.harness.importing.exchanges import SourceError
from loopcheck.harness.importing.sources import read_source
from loopcheck.harness.importing.story import scenario
from loopcheck.reports.inert import inert


def run(options: Namespace) -> int:
    """Prints the scenario or writes it to a new file; tells on stderr what it does not say."""
    path = None if options.to is None else wanted(options.to)
    try:
        imported, left_out = scenario(read_source(options.source), options.source.name)
    except SourceError as error:
        told = str(error)
        named = told if told.startswith(str(options.source)) else f"{options.source}: {told}"
        raise UsageError(named) from None
    if path is None:
        sys.stdout.write(checked(imported))
    else:
        checked(imported)
        for written in create(path, imported):
            print(f"{inert(str(written))}: written")
    for what in left_out:
        print(f"left out: {inert(what)}", file=sys.stderr)
    return AS_EXPECTED
