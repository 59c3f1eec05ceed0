"""`loopcheck doctor`: what is wrong with a target's description, in plain words."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from loopcheck.fake_providers.script import DIALECTS, MODES
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.cli.trial import driver
from loopcheck.harness.config import find
from loopcheck.harness.exit_code import AS_EXPECTED, TARGET_BROKEN
from loopcheck.harness.results import TargetCard
from loopcheck.harness.runner import Broken, Driver, RunOptions, declared, play
from loopcheck.harness.smoke import SMOKE, complaint
from loopcheck.harness.stage import Stage
from loopcheck.reports.inert import inert


def run(options: Namespace) -> int:
    """Prints the target's card, and how its smoke case went in each dialect and mode."""
    source = find(Path.cwd()).target(options.target)
    setting = RunOptions(case_seconds=options.case_seconds)
    with driver(source) as driven, Stage() as stage:
        try:
            card = driven.card()
        except Broken as broken:
            print(f"BROKEN target {inert(source.name)}: {inert(broken.what)}")
            return TARGET_BROKEN
        print("\n".join(_described(card)))
        complaints = list(_complaints(driven, card, stage, setting))
    print(_verdict(card, complaints))
    return TARGET_BROKEN if complaints or not card.dialects or not card.modes else AS_EXPECTED


def _described(card: TargetCard) -> list[str]:
    about = {
        "target": " ".join(filter(None, (card.name, card.version))),
        "runtime": card.runtime,
        "packages": ", ".join(f"{name} {version}" for name, version in card.packages.items()),
        "dialects": ", ".join(card.dialects) or "none",
        "modes": ", ".join(card.modes) or "none",
        "can": ", ".join(card.can) or "nothing declared: cases that need more are not declared",
    }
    return [f"{name:<10}{inert(text)}" for name, text in about.items() if text]


def _complaints(
    driven: Driver, card: TargetCard, stage: Stage, setting: RunOptions
) -> Iterator[str]:
    specs = [CaseSpec(SMOKE, dialect, mode) for dialect in DIALECTS for mode in MODES]
    for spec in declared(specs, card):
        entries, seconds = play(driven, card, spec, stage, setting)
        wrong = complaint(entries, spec)
        how = f"ok   {seconds:.2f} s" if wrong is None else f"WRONG: {inert(wrong)}"
        print(f"{spec.id:<24}{how}", flush=True)
        if wrong is not None:
            yield wrong


def _verdict(card: TargetCard, complaints: list[str]) -> str:
    if not card.dialects or not card.modes:
        return "the card names no dialect or no mode; declare what the loop speaks"
    if complaints:
        many = len(complaints) > 1
        went = f"{len(complaints)} smoke {'cases' if many else 'case'} went wrong"
        return f"{went}; put {'these' if many else 'this'} right before a trial"
    return f"ready for trial: loopcheck run --target {inert(card.name)}"
