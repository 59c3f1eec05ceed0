"""The examples on the page of the checks, made of real runs of the loops of the selftest.

After a change of the selftest or of the terminal report, run this file: it renews the blocks.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from textwrap import dedent

from doc_pages import DOCS, Block, blocks

from loopcheck.harness import selftest
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.selftest import loop as honest
from loopcheck.harness.selftest import trial
from loopcheck.harness.selftest.liar import Liar
from loopcheck.harness.stage import Stage
from loopcheck.reports.block import Setting, block
from loopcheck.reports.causes import Failure

PAGE = DOCS / "checks.md"
MARKS = ("broken", "seen", "mended")
_ADVICE = {check.id: check.advice for check in CHECKS}


def examples() -> Iterator[Block]:
    """The blocks of the page that belong to an example."""
    return (block for block in blocks(PAGE) if block.mark in MARKS)


def liar_of(example: Block) -> Liar:
    """The broken loop that the block is about."""
    name = example.about.partition(" ")[0]
    return next(liar for liar in trial.LIARS if liar.name == name)


def broken(name: str) -> str:
    """The code of a broken loop."""
    found = pkgutil.iter_modules(selftest.__path__, f"{selftest.__name__}.")
    modules = (import_module(one.name) for one in found)
    return inspect.getsource(next(vars(one)[name] for one in modules if name in vars(one)))


def mended(name: str) -> str:
    """The code of the same step of the honest loop."""
    return dedent(inspect.getsource(getattr(honest.Loop, name)))


def seen(liar: Liar, case: str, stage: Stage) -> str:
    """What `loopcheck run` says of the broken loop in this case."""
    spec = trial.cases([liar])[case]
    with InProcess(liar.target) as driver:
        result = run_case(driver, liar.target.card(), spec, stage, RunOptions())
    return block(Failure(result, ()), Setting(advice=_ADVICE)) + "\n"


def made(example: Block, stage: Stage) -> str:
    """What the block has to be."""
    if example.mark == "broken":
        return broken(example.about)
    if example.mark == "mended":
        return "\n".join(mended(name) for name in example.about.split(" "))
    return seen(liar_of(example), example.about.partition(" ")[2], stage)


def steady(told: str) -> str:
    """What is the same in each run. When the service has noted that it has sent is not, so of the
    journal it is the entries that prove the finding, without their numbers."""
    lines = [line for line in told.splitlines() if not re.match(r" {3}[ ] +\d| +…$", line)]
    return "\n".join(re.sub(r"^ {3}> +\d+|\((same )?entry \d+\)", "", line) for line in lines)


def renewed(text: str, stage: Stage) -> str:
    """The page with its examples as they are now."""
    for example in reversed(list(examples())):
        now = made(example, stage)
        if steady(now) != steady(example.text):
            text = text[: example.start] + now + text[example.start + len(example.text) :]
    return text


if __name__ == "__main__":
    with Stage(quiet_seconds=0.05) as open_stage:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), open_stage), encoding="utf-8")
