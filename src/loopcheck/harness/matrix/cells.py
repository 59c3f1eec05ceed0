"""From the matrix to its cells: each with its packages resolved, or with the reason why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.matrix import own_wheel, uv
from loopcheck.harness.matrix.cell import (
    Cell,
    NodeEnvironment,
    code_digest,
    digest,
    scenarios_digest,
)
from loopcheck.harness.matrix.chosen import chosen
from loopcheck.harness.matrix.environment import Environments
from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.executor import Prepared
from loopcheck.harness.matrix.node import NodeEnvironments
from loopcheck.harness.matrix.node_lock import package_of, present
from loopcheck.harness.matrix.plan import DependencySet, Matrix, PlannedTarget
from loopcheck.harness.matrix.projects import Project, of_folder, of_ready_made
from loopcheck.harness.matrix.reading import ready_made
from loopcheck.harness.matrix.resolution import Resolved, Resolver, changes, place_of
from loopcheck.harness.matrix.results import CellResult, Trouble
from loopcheck.harness.scoring import left_out

FOLDER = Path(".loopcheck", "matrix")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How every cell is run. `anew`: what was resolved before is resolved again."""

    seed: int = 0
    lenient: tuple[str, ...] = ()
    case_seconds: float = 30.0
    anew: bool = False


@dataclass
class Workshop:
    """Resolves and makes what the cells of a matrix need, each thing once."""

    matrix: Matrix
    setting: Setting
    note: Callable[[str], None] = lambda text: None
    _projects: dict[object, Project] = field(default_factory=dict)
    _cases: dict[object, list[CaseSpec]] = field(default_factory=dict)
    _scenarios: dict[object, str] = field(default_factory=dict)
    _left_out: dict[object, dict[str, str]] = field(default_factory=dict)
    _code: dict[Path | None, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.matrix.root / FOLDER

    @cached_property
    def uv(self) -> uv.Uv:
        """uv, looked for when it is needed first. Raises MatrixError."""
        found = uv.find(self.matrix.root)
        if found.carried:
            self.note(
                f"uv has no index settings of its own, pip's are used: {', '.join(found.carried)}"
            )
        return found

    @cached_property
    def _resolver(self) -> Resolver:
        return Resolver(lambda: self.uv, self.folder / "resolved", anew=self.setting.anew)

    @cached_property
    def _environments(self) -> Environments:
        return Environments(lambda: self.uv, self.folder / "envs")

    @cached_property
    def _node(self) -> NodeEnvironments:
        return NodeEnvironments(self.folder, anew=self.setting.anew)

    def cell(self, target: PlannedTarget, dependencies: DependencySet) -> Cell | CellResult:
        """The cell; its result where its packages do not go together."""
        try:
            if target.is_node:
                return self._node_cell(target, dependencies)
            return self._python_cell(target, dependencies)
        except CannotInstall as error:
            trouble = Trouble(
                message=error.message, package=error.package, place=place_of(error, dependencies)
            )
            return CellResult(
                target=target.name,
                dependency_set=dependencies.name,
                key="",
                status="cannot install",
                trouble=trouble,
            )

    def prepare(self, cell: Cell) -> Prepared:
        """The cell with its environment. Raises CannotInstall and OSError."""
        if cell.node is not None:
            made_node = self._node.get(self._node.resolve(cell.node))
            moved = made_node.home / Path(cell.cwd or ".").relative_to(cell.node.folder)
            binaries = str(made_node.binaries) if made_node.binaries is not None else None
            update: dict[str, object] = {"cwd": str(moved), "binaries": binaries}
            return Prepared(cell.model_copy(update=update), made_node.seconds)
        resolved = Resolved(lines=cell.requirements, python=cell.python_version)
        made = self._environments.get(resolved)
        update = {"interpreter": str(made.python), "binaries": str(made.python.parent)}
        return Prepared(cell.model_copy(update=update), made.seconds)

    def _python_cell(self, target: PlannedTarget, dependencies: DependencySet) -> Cell:
        project = self._project(target)
        changed = changes(dependencies, project, only_present=self.matrix.only_present)
        resolved = self._resolver.resolve(project, changed, dependencies.python_version)
        sources = target.folder / "src" if target.folder is not None else None
        return self._finished(
            target,
            dependencies,
            environment=resolved.key,
            packages=resolved.packages,
            requirements=resolved.lines,
            python_version=dependencies.python_version,
            python=target.source.python,
            modules=(str(sources),) if sources is not None and sources.is_dir() else (),
        )

    def _node_cell(self, target: PlannedTarget, dependencies: DependencySet) -> Cell:
        folder = target.folder or target.config.root
        has = present(folder)
        wanted = NodeEnvironment(
            folder=str(folder),
            changed=tuple(
                text
                for text in dependencies.npm
                if not self.matrix.only_present or package_of(text) in has
            ),
            node=dependencies.node,
        )
        resolved = self._node.resolve(wanted)
        return self._finished(
            target,
            dependencies,
            environment=resolved.key,
            packages=resolved.packages,
            node=wanted,
            worker=target.source.worker,
        )

    def _finished(
        self,
        target: PlannedTarget,
        dependencies: DependencySet,
        *,
        environment: str,
        **fields: object,
    ) -> Cell:
        patterns, root = self._patterns(target)
        key = digest(
            environment,
            own_wheel.digest(),
            self._digest_of(patterns, root),
            (target.source.python, target.source.worker, str(target.source.cwd)),
            self._code_of(target.folder),
            self.matrix.suite,
            self.setting.seed,
            self.setting.lenient,
            self.setting.case_seconds,
        )
        return Cell.model_validate(
            {
                "target": target.name,
                "dependency_set": dependencies.name,
                "key": key,
                "folder": str(self.folder / "cells" / key),
                "cwd": str(target.source.cwd) if target.source.cwd is not None else None,
                "project": str(target.folder) if target.folder is not None else None,
                "environment": environment,
                "scenarios": patterns,
                "scenarios_root": str(root),
                "suite": self.matrix.suite,
                "seed": self.setting.seed,
                "lenient": self.setting.lenient,
                "case_seconds": self.setting.case_seconds,
                **fields,
            }
        )

    def _patterns(self, target: PlannedTarget) -> tuple[tuple[str, ...], Path]:
        """What the matrix says, else the settings of the target's own project."""
        if self.matrix.scenarios:
            return self.matrix.scenarios, self.matrix.root
        return target.config.scenarios, target.config.root

    def _project(self, target: PlannedTarget) -> Project:
        name = ready_made(target.source) if target.folder is None else None
        where: object = target.folder or name
        if where not in self._projects:
            self._projects[where] = (
                of_folder(target.folder, lambda: self.uv)
                if target.folder is not None
                else of_ready_made(name or target.name)
            )
        return self._projects[where]

    def left_out(self, target: PlannedTarget) -> Mapping[str, str]:
        """Why scenarios of this target's do not count in the suite, by id."""
        place = self._patterns(target)
        if place not in self._left_out:
            scenarios = {one.scenario.id: one.scenario for one in self._cases_of(*place)}
            self._left_out[place] = left_out(scenarios.values(), self.matrix.suite)
        return self._left_out[place]

    def _cases_of(self, patterns: tuple[str, ...], root: Path) -> list[CaseSpec]:
        place = (patterns, root)
        if place not in self._cases:
            self._cases[place] = chosen(patterns, root)
        return self._cases[place]

    def _digest_of(self, patterns: tuple[str, ...], root: Path) -> str:
        place = (patterns, root)
        if place not in self._scenarios:
            self._scenarios[place] = scenarios_digest(self._cases_of(patterns, root))
        return self._scenarios[place]

    def _code_of(self, folder: Path | None) -> str:
        if folder not in self._code:
            self._code[folder] = code_digest(folder)
        return self._code[folder]
