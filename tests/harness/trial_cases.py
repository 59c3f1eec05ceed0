"""Cases and stages for tests of how a target is run."""

from __future__ import annotations

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario

HEAD = """\
format: 1
title: A seat is reserved
rule: A rule.
prompt: Reserve seat 12.
tools:
  reserve: {kind: write, args: {seat: integer}, operation: [seat], lookup: found}
"""
RESERVES = """\
turns:
  - calls: [{as: seat, tool: reserve, args: {seat: 12}}]
  - say: Done.
"""
STALLS = """\
turns:
  - say: Done.
    attempts: [{fault: stall, at: {frame: finish}}]
"""


def scenario(tail: str = RESERVES, *, head: str = HEAD, name: str = "once/seat") -> Scenario:
    return load_text((head + tail).encode(), file="x.yaml", id=name)


def case(
    tail: str = RESERVES,
    *,
    dialect: DialectName = "chat",
    mode: Mode = "whole",
    head: str = HEAD,
    name: str = "once/seat",
) -> CaseSpec:
    return CaseSpec(scenario(tail, head=head, name=name), dialect, mode)
