"""Runs one cell in a process of its own: python -m loopcheck.harness.matrix.child"""

from __future__ import annotations

import os
import sys

from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.running import run_cell


def main() -> int:
    """Reads a cell from stdin, and writes its result to stdout; nothing else gets there."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    cell = Cell.model_validate_json(sys.stdin.buffer.read())
    result = run_cell(cell)
    with answers:
        answers.write(result.model_dump_json().encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
