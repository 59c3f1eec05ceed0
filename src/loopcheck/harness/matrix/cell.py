"""A cell of a matrix: everything that a machine has to know to run it."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.config import TargetSource

# Not what a target is made of, and large.
_LEFT_OUT: Final = frozenset({"node_modules", "__pycache__", "build", "dist", "venv"})
_CODE: Final = frozenset(
    {".py", ".mjs", ".cjs", ".js", ".ts", ".mts", ".cts", ".json", ".toml", ".yaml", ".yml", ".txt"}
)


class NodeEnvironment(BaseModel):
    """A Node project with these packages changed, under this version of Node (None: the one on
    the PATH)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: str
    changed: tuple[str, ...] = ()
    node: str | None = None


class Cell(BaseModel):
    """One target under one set of dependencies. Every value is plain, so that it can be sent.

    `requirements` are exact; whoever runs the cell sees to an environment with these. Where that
    is another one than the process that calls `run_cell`, `interpreter` says which Python hosts
    the target, and `binaries` is what goes before the PATH.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    dependency_set: str
    key: str = Field(description="digest of everything that its results depend on")
    folder: str = Field(description="where what it has measured is kept")

    python: str | None = None
    worker: tuple[str, ...] | None = None
    cwd: str | None = None
    project: str | None = Field(default=None, description="the folder that holds its code")
    modules: tuple[str, ...] = Field(default=(), description="further folders of Python modules")

    environment: str = Field(description="key of its environment")
    requirements: tuple[str, ...] = ()
    packages: dict[str, str] = Field(default_factory=dict)
    python_version: str | None = None
    node: NodeEnvironment | None = None
    interpreter: str | None = None
    binaries: str | None = None

    scenarios: tuple[str, ...] = ()
    scenarios_root: str
    suite: str
    seed: int = 0
    lenient: tuple[str, ...] = ()
    case_seconds: float = 30.0

    def source(self, interpreter: str) -> TargetSource:
        """The target as a worker, hosted by this Python where it is none of its own."""
        command = self.worker or (interpreter, "-m", _HOST, self.python or "")
        cwd = Path(self.cwd) if self.cwd is not None else None
        return TargetSource(name=self.target, worker=command, cwd=cwd, env=self._variables())

    def _variables(self) -> dict[str, str]:
        """What the target's process finds its programs and modules by."""
        found: dict[str, str] = {}
        if self.binaries is not None:
            rest = os.environ.get("PATH", os.defpath)
            found["PATH"] = f"{self.binaries}{os.pathsep}{rest}"
        if self.modules:
            own = os.environ.get("PYTHONPATH")
            found["PYTHONPATH"] = os.pathsep.join([*self.modules, *([own] if own else [])])
        return found


_HOST: Final = "loopcheck.harness.worker.host"


def digest(*words: object) -> str:
    """A short digest of these."""
    return sha256(repr(words).encode(errors="surrogatepass")).hexdigest()[:16]


def scenarios_digest(specs: list[CaseSpec]) -> str:
    """What stands for the cases: which they are, and every word of their scenarios."""
    texts = {spec.scenario.id: spec.scenario.model_dump_json() for spec in specs}
    return digest([spec.id for spec in specs], sorted(texts.items()))


def code_digest(folder: Path | None) -> str:
    """What stands for the code of a target: its project's files by name, size and date."""
    if folder is None:
        return ""
    found = []
    for path in sorted(path for path in project_files(folder) if path.suffix in _CODE):
        held = path.stat()
        found.append((path.relative_to(folder).as_posix(), held.st_size, held.st_mtime_ns))
    return digest(found)


def project_files(folder: Path) -> list[Path]:
    """The files of a project, without what was installed or built there."""
    found: list[Path] = []
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name in _LEFT_OUT:
            continue
        if path.is_symlink():
            continue
        if path.is_dir():
            found += project_files(path)
        elif path.is_file():
            found.append(path)
    return found
