"""What a matrix came to, as data: the source of every rendering of it."""

from __future__ import annotations

import json
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from loopcheck.harness.matrix.results import CellStatus, Trouble
from loopcheck.harness.results import CaseResult
from loopcheck.reports.difference import Change, Kind, PackageChange

MATRIX_FORMAT: Final = 1

DriftKind: TypeAlias = Literal["endpoint", "header", "body", "retries"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DependencySet(_Model):
    """A set of dependencies, as it was asked for."""

    name: str
    asked: tuple[str, ...]


class Cell(_Model):
    """One target under one set."""

    target: str
    dependency_set: str
    status: CellStatus
    trouble: Trouble | None = None
    cases: int = 0
    verdicts: dict[str, int] = Field(default_factory=dict)
    runtime: str = ""
    packages: dict[str, str] = Field(default_factory=dict, description="resolved versions")
    environment: str = Field(default="", description="key of its environment")
    environment_seconds: float | None = Field(
        default=None, description="what it took to make; absent where it was there"
    )
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    resumed: int = Field(default=0, description="cases that an earlier run had measured")
    report: str | None = Field(default=None, description="path of its own JSON report")


class Upgrade(_Model):
    """What changed in the cases of a target from one set to the other."""

    change: Change
    package: PackageChange | None = Field(
        default=None, description="what is behind it: the only package that is not the same"
    )
    was: CaseResult | None = Field(default=None, description="the case before")
    now: CaseResult | None = Field(default=None, description="the case after")


class Drift(_Model):
    """One difference between the requests of the same script."""

    kind: DriftKind
    name: str = Field(description="the header, the path in the body, or what was answered")
    before: str | None = Field(description="absent where it was not sent")
    after: str | None
    targets: tuple[str, ...]
    dialects: tuple[str, ...]
    cases: int = Field(description="cases in which it is seen")
    first_turn: int | None = Field(default=None, description="the first turn it is seen in")
    example: str = Field(description="one of these cases")
    package: PackageChange | None = Field(
        default=None, description="what is behind it, where only one package is not the same"
    )


class Comparison(_Model):
    """Two sets side by side."""

    base: str
    head: str
    targets: dict[str, Kind] = Field(description="what became of each target, the worst first")
    counts: dict[Kind, int] = Field(description="cases of each kind")
    changes: tuple[Upgrade, ...]
    packages: tuple[PackageChange, ...] = ()
    compared: int = Field(default=1, description="targets that ran under both sets")
    drift: tuple[Drift, ...] = ()
    versioned: tuple[str, ...] = Field(
        default=(), description="headers that name the version of a package, and nothing else new"
    )
    retries: dict[str, int] = Field(
        default_factory=dict,
        description="attempts that are made under both sets, by what was answered",
    )

    def of(self, kind: Kind) -> list[str]:
        """The targets that this became of."""
        return [target for target, found in self.targets.items() if found == kind]


class Header(_Model):
    """What was asked for, and where it ran."""

    format: int = MATRIX_FORMAT
    loopcheck: str
    suite: str
    seed: int
    lenient: tuple[str, ...] = ()
    only_present: bool = False
    python: str
    platform: str
    started: str = Field(description="RFC 3339")
    command: str = Field(default="", description="what runs it again")


class Footer(_Model):
    """The counts. A report without it is a truncated run."""

    cells: int
    cases: int
    resumed: int = Field(description="cells that were measured before, and were not run again")
    exit_code: int
    seconds: float
    narrow_down: str = Field(
        default="", description="what finds the release that a regression came with"
    )


class MatrixReport(_Model):
    """A whole matrix."""

    header: Header
    sets: tuple[DependencySet, ...]
    cells: tuple[Cell, ...]
    comparisons: tuple[Comparison, ...]
    footer: Footer


def dump(report: MatrixReport) -> str:
    """The matrix as a JSON document."""
    return json.dumps(report.model_dump(mode="json"), indent=2) + "\n"


def schema_text() -> str:
    """The JSON Schema of the document, as it stands in the package."""
    schema = MatrixReport.model_json_schema(mode="validation")
    schema["$defs"]["Header"]["properties"]["format"]["const"] = MATRIX_FORMAT
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"loopcheck matrix report, format {MATRIX_FORMAT}",
        **{name: value for name, value in schema.items() if name != "title"},
    }
    return json.dumps(document, indent=2) + "\n"
