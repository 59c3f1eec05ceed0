"""A service that uses the made-up SDK, with its lock and a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SCENARIO: Final = """\
format: 1
title: A call that was cut off is not executed
rule: A call whose arguments were cut never runs.
dialects: [chat]
modes: [whole, stream]
prompt: Reserve seat 12 at event E1.
tools:
  reserve_seat: {kind: write, args: {event: string, seat: integer}}
turns:
  - calls:
      - as: seat
        tool: reserve_seat
        raw_args: '{"event":"E1","seat":1'
        meant: {event: E1, seat: 12}
    stop: length
  - optional: true
    say: The reservation was not made.
expect:
  must:
    executions: {reserve_seat: 0}
"""
TARGET: Final = """\
import loopcheck
import tinysdk


@loopcheck.loop(dialects=["chat"], packages=["tinysdk"])
def plain(task):
    return tinysdk.run(task)
"""
MATRIX: Final = """\
format: 1
scenarios: [cut.yaml]
targets:
  - {name: tiny, path: service, target: "trial:plain"}
sets:
  now: locked
  next: {python: ["tinysdk==2.0"]}
  call: {python: ["tinysdk==3.0"]}
  import: {python: ["tinysdk==4.0"]}
  needs: {python: ["tinysdk==5.0"]}
"""


def write(folder: Path, matrix: str = MATRIX) -> Path:
    """Writes the service and its matrix into this folder."""
    service = folder / "service"
    service.mkdir()
    (service / "pyproject.toml").write_text(
        '[project]\nname = "service"\nversion = "1"\ndependencies = ["tinysdk"]\n'
    )
    (service / "requirements.txt").write_text("tinysdk==1.0\n")
    (service / "trial.py").write_text(TARGET)
    (folder / "cut.yaml").write_text(SCENARIO)
    (folder / "loopcheck-matrix.yaml").write_text(matrix)
    return folder
