"""The command that runs a matrix, or narrows it down, once more."""

from __future__ import annotations

import shlex
from argparse import Namespace

from loopcheck.harness.cli.matrix_arguments import PLACES


def command(options: Namespace, **instead: object) -> str:
    """What runs the same again; with other values for some of its options, where they are
    named."""
    asked = {**vars(options), **instead}
    words = ["loopcheck", "matrix", *([str(asked["file"])] if asked["file"] else [])]
    for name in ("target", "set", "scenario", "lenient", "bisect", "only"):
        for value in asked[name]:
            words += [f"--{name}", value]
    words += ["--only-present"] if asked["only_present"] else []
    words += ["--compare", asked["compare"]] if asked["compare"] else []
    words += ["--expected", str(asked["expected"])] if asked["expected"] else []
    words += ["--seed", str(asked["seed"])] if asked["seed"] else []
    words += ["--on", asked["on"]] if asked["on"] != PLACES[0] else []
    return shlex.join(words)
