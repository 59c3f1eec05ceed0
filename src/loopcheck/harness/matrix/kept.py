"""What a cell has measured, kept case by case: an interruption loses at most the case at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from loopcheck.harness.matrix.requests import WireLog
from loopcheck.harness.matrix.results import CellResult, Wire
from loopcheck.harness.matrix.storage import ignored, write_whole
from loopcheck.harness.results import CaseResult

_LINES: Final = "cases.jsonl"
_WHOLE: Final = "cell.json"


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder of a cell; its name follows from all that the results depend on."""

    folder: Path

    @property
    def journals(self) -> Path:
        return self.folder / "journals"

    def begin(self) -> None:
        """Makes the folder. Raises OSError."""
        ignored(self.folder.parent)
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, case: CaseResult, wire: Wire) -> None:
        """Keeps one more case. Raises OSError."""
        held = {"case": case.model_dump(mode="json"), "wire": wire.model_dump(mode="json")}
        line = json.dumps(held) + "\n"
        with (self.folder / _LINES).open("a", encoding="utf-8") as lines:
            lines.write(line)

    def cases(self) -> tuple[list[CaseResult], WireLog]:
        """What was kept. A line that was cut off is not there."""
        found: dict[str, CaseResult] = {}
        log = WireLog()
        for case, wire in self._read():
            if case.case not in found:
                log.take(wire, cases=frozenset({case.case}))
            found.setdefault(case.case, case)
        return list(found.values()), log

    @property
    def lines(self) -> str:
        """What was kept, as it stands in the file; nothing where that cannot be read."""
        try:
            return (self.folder / _LINES).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def take(self, lines: str) -> None:
        """Keeps what was kept elsewhere of the same cell. Raises OSError."""
        if lines:
            (self.folder / _LINES).write_text(lines, encoding="utf-8")

    def _read(self) -> Iterator[tuple[CaseResult, Wire]]:
        for line in self.lines.split("\n"):
            try:
                held = json.loads(line)
                case, wire = held["case"], held["wire"]
                found = CaseResult.model_validate(case), Wire.model_validate(wire)
            except (ValueError, TypeError, KeyError):
                continue
            yield found

    def finish(self, result: CellResult) -> None:
        """Keeps the whole result; the single cases are not needed any more. Raises OSError."""
        write_whole(self.folder / _WHOLE, result.model_dump_json())
        (self.folder / _LINES).unlink(missing_ok=True)

    def result(self) -> CellResult | None:
        """The whole result, if it is there and its report has its footer."""
        try:
            text = (self.folder / _WHOLE).read_text(encoding="utf-8")
            return CellResult.model_validate_json(text)
        except (OSError, UnicodeDecodeError, ValidationError):
            return None
