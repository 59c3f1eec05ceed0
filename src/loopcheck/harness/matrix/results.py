"""What came of the cells of a matrix, as data. A leaf, like `loopcheck.harness.results`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from loopcheck.harness.results import Report

CellStatus: TypeAlias = Literal[
    "ran",
    "cannot install",
    "breaks at import",
    "breaks at the first call",
    "not finished",
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trouble(_Model):
    """Why a cell has no results, or not all of them."""

    message: str
    package: str | None = Field(default=None, description="the package that it is about, if known")
    place: str | None = Field(
        default=None, description="file:line of the code, or of the line that asked for it"
    )


class Asked(_Model):
    """One request of a case, as far as the client's packages shape it. `headers` and `body` are
    places in the tables of the `Wire`."""

    turn: int | None = Field(description="absent for requests beside the script's turns")
    attempt: int
    endpoint: str = Field(description="method and path")
    headers: int
    body: int
    answered: str = Field(
        default="", description="what it was answered with, where that calls for another attempt"
    )


class AskedCase(_Model):
    """The requests of one case."""

    case: str
    dialect: str
    requests: tuple[Asked, ...]


class Wire(_Model):
    """The requests of a cell. Equal headers and bodies are held once."""

    headers: tuple[dict[str, str], ...] = ()
    bodies: tuple[dict[str, tuple[str, ...]], ...] = Field(
        default=(), description="the short values, or the types, at each path of a JSON body"
    )
    cases: tuple[AskedCase, ...] = ()


class CellResult(_Model):
    """One cell: a target under a set of dependencies."""

    target: str
    dependency_set: str
    key: str = Field(description="digest of everything that its results depend on")
    status: CellStatus
    trouble: Trouble | None = None
    packages: dict[str, str] = Field(default_factory=dict, description="resolved versions")
    environment: str = Field(default="", description="key of its environment")
    environment_seconds: float | None = Field(
        default=None, description="what it took to make; absent where it was there"
    )
    report: Report | None = None
    report_file: str | None = None
    wire: Wire = Wire()
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    resumed: int = Field(default=0, description="cases that an earlier run had measured")

    @property
    def name(self) -> str:
        """Target and set, as messages name it."""
        return named(self.target, self.dependency_set)


def named(target: str, dependency_set: str) -> str:
    """How a cell is called."""
    return f"{target} under {dependency_set}"


def reports(cells: Sequence[CellResult]) -> list[Report]:
    """The reports of the cells that have one."""
    return [cell.report for cell in cells if cell.report is not None]
