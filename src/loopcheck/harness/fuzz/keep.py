"""Keeps what was found: one scenario file for each distinct failure, and its journal beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopcheck.harness.fuzz.failure import Failure
from loopcheck.harness.fuzz.hunt import Found
from loopcheck.harness.journal import to_lines
from loopcheck.harness.scenario.write import write

_ENDINGS: Final = (".yaml", ".jsonl")
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Kept:
    """A failure with the files that show it."""

    found: Found
    scenario: Path
    journal: Path


def clear(folder: Path) -> None:
    """Removes what an earlier search has left in its own folder."""
    for path in folder.glob("*") if folder.is_dir() else ():
        if path.suffix in _ENDINGS:
            path.unlink()


def keep(found: Iterable[Found], folder: Path) -> Iterator[Kept]:
    """Writes the files of each failure, named by its check."""
    names: Counter[str] = Counter()
    for one in found:
        check = one.failure.check
        names[check] += 1
        name = check if names[check] == 1 else f"{check}-{names[check]}"
        yield Kept(one, *keep_failure(one.failure, folder, name=name, notes=_notes(one)))


def keep_failure(
    failure: Failure, folder: Path, *, name: str | None = None, notes: Iterable[str] = ()
) -> tuple[Path, Path]:
    """Writes the scenario that shows a failure, and its journal; both are named by its check."""
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / (name or failure.check)
    scenario, journal = base.with_name(f"{base.name}.yaml"), base.with_name(f"{base.name}.jsonl")
    lines = [
        f"{failure.check}: {failure.kind}",
        f"expected  {failure.expected}",
        f"seen      {failure.seen}",
        *notes,
    ]
    text = write(failure.shown.scenario, comment="\n".join(map(_short, lines)))
    scenario.write_text(text, encoding="utf-8")
    journal.write_text(to_lines(failure.entries), encoding="utf-8")
    return scenario, journal


def _notes(found: Found) -> list[str]:
    if found.example.tried in COMPARED:
        return [f"found by comparison: {COMPARED[found.example.tried]}"]
    return []


COMPARED: Final = {
    "delivery": "the same script in its plainest delivery went otherwise",
    "retries": "the same script without the fault ran less",
    "portable": "the same script in another dialect or mode went otherwise",
    "repeatable": "the same case with the same seed went otherwise",
}


def _short(line: str) -> str:
    """A line that a YAML comment can hold."""
    line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
    return line.encode("unicode_escape").decode() if not line.isprintable() else line
