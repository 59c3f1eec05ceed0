"""Files as bytes, so that a machine without the same disk can read them."""

from __future__ import annotations

import errno
import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopcheck.harness.cli.selection import is_place
from loopcheck.harness.matrix.cell import Cell, project_files
from loopcheck.harness.scenario.load import CATALOGUE, find_files

_MOST_BYTES: Final = 100_000_000
_DATE: Final = (2020, 1, 1, 0, 0, 0)  # the same files make the same parcel


@dataclass(frozen=True, slots=True)
class Parcel:
    """Files below the folder `root`, by their places in it."""

    root: str
    content: bytes

    def unpack(self, folder: Path) -> Path:
        """Lays the files below this folder; returns what stands for `root` there."""
        # Ids of scenarios may depend on the folder's name.
        home = folder / (Path(self.root).name or "root")
        home.mkdir(parents=True)
        with zipfile.ZipFile(io.BytesIO(self.content)) as files:
            files.extractall(home)
        return home


def code(cell: Cell) -> list[Path]:
    """The folders that the cell's target is read from; none lies in another."""
    named = [cell.project, cell.cwd, *cell.modules]
    folders = {Path(name).resolve() for name in named if name is not None}
    return sorted(one for one in folders if not any(other in one.parents for other in folders))


def of_project(folder: Path) -> Parcel:
    """The project's files. Raises OSError, also where they are too many to be sent."""
    return _packed(folder, project_files(folder))


def of_scenarios(cell: Cell) -> Parcel:
    """The user's scenarios that the cell names; those of the catalogue are there already.
    Raises ScenarioError and OSError."""
    root = Path(cell.scenarios_root)
    places = [pattern for pattern in cell.scenarios if is_place(pattern, root)]
    found = (file.path for file in find_files(places, cwd=root) if file.root != CATALOGUE)
    return _packed(root, (path for path in found if path.is_relative_to(root)))


def _packed(root: Path, paths: Iterable[Path]) -> Parcel:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as files:
        for path, data in _bounded(root, paths):
            files.writestr(zipfile.ZipInfo(path.relative_to(root).as_posix(), _DATE), data)
    return Parcel(root=str(root), content=content.getvalue())


def _bounded(root: Path, paths: Iterable[Path]) -> Iterator[tuple[Path, bytes]]:
    size = 0
    for path in sorted(paths):
        size += path.stat().st_size
        if size > _MOST_BYTES:
            told = f"holds more than {_MOST_BYTES // 1_000_000} MB, too much to be sent"
            raise OSError(errno.EFBIG, told, str(root))
        yield path, path.read_bytes()
