"""What a task of Ray does: runs a cell, and gives each case away as soon as it is measured."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import TypeAlias

from packaging.utils import canonicalize_name
from pydantic import BaseModel, ConfigDict

from loopcheck.harness.matrix import own_wheel
from loopcheck.harness.matrix.cell import Cell
from loopcheck.harness.matrix.kept import Kept
from loopcheck.harness.matrix.parcel import Parcel
from loopcheck.harness.matrix.results import CellResult, Wire
from loopcheck.harness.matrix.running import run_cell
from loopcheck.harness.matrix.thin import bare_environment, site_packages
from loopcheck.harness.results import CaseResult


class Message(BaseModel):
    """What a task says: nothing but that it has begun; then each case with its requests and its
    journal; and, last of all, the result."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    case: CaseResult | None = None
    wire: Wire = Wire()
    journal: str | None = None
    result: CellResult | None = None


def run_here(text: str, kept: str, scenarios: Parcel, *code: Parcel) -> Iterator[str]:
    """Runs the cell that is described, with these files and with what was kept of it before, in
    an environment with its packages. Yields messages as JSON, in which every path is that of the
    machine that asked."""
    yield Message().model_dump_json()
    cell = Cell.model_validate_json(text)
    # A Ray that was started for this matrix removes that folder in any case.
    with TemporaryDirectory(prefix="loopcheck-cell-", dir=os.environ.get("RAY_TMPDIR")) as name:
        folder = Path(name).resolve()
        places = _Places(
            cell=(str(folder / "cell"), cell.folder),
            environment=(str(folder / "python"), f"envs/{cell.environment}"),
            scenarios=_laid(scenarios, folder / "scenarios"),
            code=[_laid(one, folder / f"code-{number}") for number, one in enumerate(code)],
        )
        python = _apart(folder / "python", cell.packages)
        binaries = os.pathsep.join((str(python.parent), str(Path(sys.executable).parent)))
        update = {"interpreter": str(python), "binaries": binaries}
        here = places.here(cell).model_copy(update=update)
        earlier = Kept(Path(here.folder))
        earlier.begin()
        earlier.take(kept)
        result = yield from _messages(here, places)
    yield result


def _messages(cell: Cell, places: _Places) -> Generator[str, None, str]:
    """Yields the cases, and returns the result."""
    said = SimpleQueue[str | None]()

    def measured(case: CaseResult, wire: Wire) -> None:
        said.put(places.there(Message(case=case, wire=wire, journal=_journal(case))))

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run_cell, cell, measured=measured)
        result.add_done_callback(lambda _: said.put(None))
        while (message := said.get()) is not None:
            yield message
        return places.there(Message(result=result.result()))


def _journal(case: CaseResult) -> str | None:
    if case.journal is None:
        return None
    with suppress(OSError):
        return Path(case.journal).read_text(encoding="utf-8")
    return None


def _laid(parcel: Parcel, folder: Path) -> _Pair:
    return str(parcel.unpack(folder)), parcel.root


# A folder of this machine, and what it stands for on the machine that asked.
_Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    cell: _Pair
    environment: _Pair
    scenarios: _Pair
    code: Sequence[_Pair]

    def here(self, cell: Cell) -> Cell:
        """The cell with the folders of this machine."""
        update = {
            "folder": self.cell[0],
            "scenarios_root": self.scenarios[0],
            "cwd": self._here(cell.cwd),
            "project": self._here(cell.project),
            "modules": tuple(self._here(one) for one in cell.modules),
        }
        return cell.model_copy(update=update)

    def _here(self, path: str | None) -> str | None:
        for here, there in self.code:
            if path is not None and Path(path).resolve().is_relative_to(there):
                return str(Path(here) / Path(path).resolve().relative_to(there))
        return path

    def there(self, message: Message) -> str:
        """The message as JSON, with the folders of the machine that asked."""
        text = message.model_dump_json()
        for here, there in (self.cell, self.environment, self.scenarios, *self.code):
            text = text.replace(_quoted(here), _quoted(there))
        return text


def _quoted(path: str) -> str:
    return json.dumps(path, ensure_ascii=False)[1:-1]


def _apart(home: Path, names: Iterable[str]) -> Path:
    """A Python with these packages of this environment, and with nothing of what Ray copies there
    or puts beneath it: a target must not find what is not among its packages."""
    python, wanted = bare_environment(home), {*names, own_wheel.NAME}
    own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    for found in metadata.distributions(path=list(own)):
        # What was asked for by its place need not be called like that.
        if canonicalize_name(found.name) in wanted or found.read_text("direct_url.json"):
            _link(found, site_packages(home))
    return python


def _link(found: metadata.Distribution, folder: Path) -> None:
    for name in {file.parts[0] for file in found.files or ()} - {".."}:
        there = Path(str(found.locate_file(name)))
        if there.exists() and not (folder / name).exists():
            (folder / name).symlink_to(there)
