"""Scenario files to scenarios: one file, the built-in catalogue, or whatever patterns name."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from math import isfinite
from pathlib import Path

from pydantic import ValidationError

import loopcheck
from loopcheck.harness.scenario import variants, wording
from loopcheck.harness.scenario.errors import Problem, ScenarioError, did_you_mean
from loopcheck.harness.scenario.lint import lint
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.yaml_source import Path as KeyPath
from loopcheck.harness.scenario.yaml_source import Source, read

CATALOGUE = Path(loopcheck.__file__).parent / "scenarios"
ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A scenario file, and the folder that its id is relative to. `ids` is a glob of the
    scenarios that are meant, of the file itself and its variants."""

    path: Path
    root: Path
    ids: str = "*"

    @property
    def id(self) -> str:
        return self.path.relative_to(self.root).with_suffix("").as_posix()


def load_text(text: bytes, *, file: str, id: str) -> Scenario:
    """The scenario in this text. Raises ScenarioError with everything that is wrong, also with
    its variants."""
    return load_variants(text, file=file, id=id)[0]


def load_variants(text: bytes, *, file: str, id: str) -> list[Scenario]:
    """The scenario in this text, then its variants. Raises ScenarioError."""
    source = read(text, file)
    found = [_load(source, id)]
    problems: list[Problem] = []
    for name, varied in variants.sources(source):
        try:
            found.append(_load(varied, f"{id}@{name}"))
        except ScenarioError as error:
            problems.extend(error.problems)
    problems.extend(variants.problems(source))
    if problems:
        raise ScenarioError(dict.fromkeys(problems))
    return found


def _load(source: Source, id: str) -> Scenario:
    problems = list(_not_json((), source.data, source))
    if "id" in source.data:
        hint = "the id of a scenario is its path below the scenarios folder"
        problems.append(source.problem(("id",), "unknown key 'id'", hint, key=True))
    if problems:
        raise ScenarioError(problems)
    try:
        scenario = Scenario.model_validate({**source.data, "id": id})
    except ValidationError as error:
        raise ScenarioError(wording.problems(error, source)) from None
    problems = lint(scenario, source)
    if problems:
        raise ScenarioError(problems)
    return scenario


def load_file(path: Path, root: Path) -> Scenario:
    """The scenario in this file; its id is its path below `root`. Raises ScenarioError."""
    return load_family(path, root)[0]


def load_family(path: Path, root: Path) -> list[Scenario]:
    """The scenario in this file, then its variants. Raises ScenarioError."""
    try:
        text = path.read_bytes()
    except OSError as error:
        problem = Problem(str(path), 0, 0, f"cannot be read: {error.strerror or error}")
        raise ScenarioError([problem]) from None
    return load_variants(text, file=str(path), id=ScenarioFile(path, root).id)


def load_builtin() -> list[Scenario]:
    """Every scenario of the catalogue that comes with loopcheck, by id."""
    return load_all(_files_below(CATALOGUE, CATALOGUE))


@cache
def _load_once(path: Path, root: Path) -> list[Scenario]:
    return load_family(path, root)


def load_all(files: Iterable[ScenarioFile]) -> list[Scenario]:
    """All of these files. Raises one ScenarioError with the problems of every file."""
    scenarios: list[Scenario] = []
    problems: list[Problem] = []
    for file in files:
        try:
            load = _load_once if file.root == CATALOGUE else load_family
            family = load(file.path, file.root)
        except ScenarioError as error:
            problems.extend(error.problems)
        else:
            scenarios.extend(one for one in family if fnmatchcase(one.id, file.ids))
    if problems:
        raise ScenarioError(problems)
    return scenarios


def discover(patterns: Sequence[str], *, cwd: Path) -> list[Scenario]:
    """The scenarios that these patterns name, in the order of the patterns, each once.

    A pattern is `builtin:all` (the catalogue) or `builtin:core` (what a pull request can
    afford), a file, a folder or a glob of files (relative to `cwd`), or an id or glob of ids of
    the built-in catalogue. Raises ScenarioError for a pattern that names nothing.
    """
    return load_all(find_files(patterns, cwd=cwd))


def _nothing(pattern: str, cwd: Path) -> Problem:
    if (cwd / pattern).is_dir():
        return Problem(pattern, 0, 0, "the folder holds no scenario", "files end in .yaml")
    return Problem(pattern, 0, 0, "no scenario has this name", _nearest(pattern))


def find_files(patterns: Sequence[str], *, cwd: Path) -> list[ScenarioFile]:
    """The files that `discover` would load. Raises ScenarioError."""
    found: dict[Path, ScenarioFile] = {}
    problems: list[Problem] = []
    for pattern in patterns:
        files = list(_matches(pattern, cwd))
        if not files:
            problems.append(_nothing(pattern, cwd))
        for file in files:
            first = found.setdefault(file.path, file)
            if first.ids != file.ids:
                found[file.path] = ScenarioFile(file.path, file.root)
    problems.extend(_doubled(found.values()))
    if problems:
        raise ScenarioError(problems)
    return list(found.values())


def _matches(pattern: str, cwd: Path) -> Iterator[ScenarioFile]:
    builtin = _files_below(CATALOGUE, CATALOGUE)
    if pattern in ("builtin:core", "builtin:all"):
        core = _core() if pattern == "builtin:core" else frozenset(file.id for file in builtin)
        yield from (file for file in builtin if file.id in core)
        return
    path = cwd / pattern
    if path.is_dir():
        yield from _files_below(path, _root(path, cwd))
    elif path.is_file():
        yield ScenarioFile(path, _root(path.parent, cwd))
    else:
        users = list(_glob(pattern, cwd))
        yield from users or _by_id(pattern, builtin)


def _core() -> frozenset[str]:
    """The ids of the scenarios that a pull request can afford."""
    lines = (CATALOGUE / "core.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def _by_id(pattern: str, files: Iterable[ScenarioFile]) -> Iterator[ScenarioFile]:
    """Files by the id of what they hold: `a/b` is a file with all its variants, `a/b@c` one."""
    name, variant, _ = pattern.partition("@")
    for file in files:
        if not fnmatchcase(file.id, name):
            continue
        if not variant:
            yield file
        elif any(fnmatchcase(id, pattern) for id in _ids(file)):
            yield ScenarioFile(file.path, file.root, pattern)


def _ids(file: ScenarioFile) -> list[str]:
    """The ids of the scenarios in a file; of one that is wrong, its own."""
    try:
        return [scenario.id for scenario in load_family(file.path, file.root)]
    except ScenarioError:
        return [file.id]


def _glob(pattern: str, cwd: Path) -> Iterator[ScenarioFile]:
    if not glob.has_magic(pattern):
        return
    parts = Path(pattern).parts
    fixed = next(n for n, part in enumerate(parts) if glob.has_magic(part))
    root = _root(cwd.joinpath(*parts[:fixed]), cwd)
    seen: set[Path] = set()
    for match in sorted(glob.glob(pattern, root_dir=cwd, recursive=True)):
        path = cwd / match
        for file in _files_below(path, root) if path.is_dir() else [ScenarioFile(path, root)]:
            if file.path.suffix in ENDINGS and file.path not in seen:
                seen.add(file.path)
                yield file


def _root(folder: Path, cwd: Path) -> Path:
    """The nearest folder named `scenarios` from here up to `cwd`, else the folder itself."""
    for parent in (folder, *folder.parents):
        if parent.name == "scenarios":
            return parent
        if parent == cwd:
            break
    return folder


def _files_below(folder: Path, root: Path) -> list[ScenarioFile]:
    paths = (path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file())
    return sorted((ScenarioFile(path, root) for path in paths), key=lambda file: file.id)


def _doubled(files: Iterable[ScenarioFile]) -> Iterator[Problem]:
    by_id: dict[str, ScenarioFile] = {}
    for file in files:
        first = by_id.setdefault(file.id, file)
        if first is not file:
            yield Problem(str(file.path), 0, 0, f"id {file.id!r} is also that of {first.path}")


def _nearest(pattern: str) -> str:
    ids = [file.id for file in _files_below(CATALOGUE, CATALOGUE)]
    return did_you_mean(pattern, ["builtin:core", "builtin:all", *ids])


def _not_json(path: KeyPath, value: object, source: Source) -> Iterator[Problem]:
    if isinstance(value, float) and not isfinite(value):
        yield source.problem(path, f"{value} is no JSON number")
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _not_json((*path, key), child, source)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _not_json((*path, index), child, source)
