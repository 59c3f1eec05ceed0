"""A new scenario file, and the schema by which editors complete and check it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.matrix.storage import write_whole
from loopcheck.harness.scenario import json_schema
from loopcheck.harness.scenario.load import ENDINGS, load_text
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.write import write

SCHEMA: Final = "scenario.schema.json"


def wanted(path: Path) -> Path:
    """The path as a scenario's, with its ending. Raises UsageError where no file can be new."""
    ended = path if path.suffix in ENDINGS else path.with_name(f"{path.name}.yaml")
    if ended.exists():
        raise UsageError(f"{ended}: there is such a file already, and it stays as it is")
    return ended


def create(path: Path, scenario: Scenario) -> list[Path]:
    """Writes the scenario to a new file; returns what was written: the file, and beside the
    scenarios the schema where there was none. Raises UsageError."""
    schema = next(filter(Path.is_file, _places(path)), None)
    chosen = schema or list(_places(path))[-1]
    named = Path(os.path.relpath(chosen, path.parent)).as_posix()
    text = checked(scenario, comment=f"yaml-language-server: $schema={named}")
    written = [(path, text)] if schema else [(path, text), (chosen, json_schema.text())]
    for file, content in written:
        _write(file, content)
    return [file for file, _ in written]


def checked(scenario: Scenario, *, comment: str = "") -> str:
    """The text of this scenario. Raises ScenarioError where the linter would refuse it."""
    text = write(scenario, comment=comment)
    load_text(text.encode(), file="the new scenario", id="new")
    return text


def _places(path: Path) -> Iterator[Path]:
    """Where the schema may be: beside the file, or in a folder above it, up to `scenarios`."""
    folder = path.parent
    yield folder / SCHEMA
    above = [parent for parent in (folder, *folder.parents) if parent.name == "scenarios"]
    while above and folder != above[0]:
        folder = folder.parent
        yield folder / SCHEMA


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(exist_ok=False)
        write_whole(path, text)
    except FileExistsError:
        raise UsageError(f"{path}: there is such a file already, and it stays as it is") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
