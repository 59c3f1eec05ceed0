"""From a matrix's document to the matrix: each target found, each set understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement

from loopcheck.harness.config import READY_MADE, Config, ConfigError, TargetSource
from loopcheck.harness.config import find as settings
from loopcheck.harness.matrix.document import Document, Where
from loopcheck.harness.matrix.plan import DependencySet, Matrix, PlannedTarget
from loopcheck.harness.scenario.errors import did_you_mean
from loopcheck.harness.suites import check_suite

KEYS: Final = ("format", "suite", "scenarios", "targets", "sets", "only_present", "compare")
_TARGET_KEYS: Final = ("name", "path", "target", "worker", "include")
_SET_KEYS: Final = ("python", "npm", "node", "python_version")
_NPM: Final = re.compile(r"(@[\w.~-]+/)?[\w.~-]+@[^\s@]+")
_VERSION: Final = re.compile(r"[0-9]+(\.[0-9]+){0,2}")


def matrix(document: Document, config: Config) -> Matrix:
    """The matrix that the document describes; `config` are the settings beside it. Raises
    MatrixError with everything that is wrong."""
    data = document.data
    document.known(data, KEYS, ())
    for key in ("targets", "sets"):
        if key not in data:
            document.wrong((), f"{key!r} is missing", _MISSING[key])
    targets = _Targets(document, config)
    found = Matrix(
        root=document.folder,
        targets=tuple(targets.all(data["targets"])) if "targets" in data else (),
        sets=tuple(_sets(document, data["sets"])) if "sets" in data else (),
        suite=_suite(document, config),
        scenarios=_scenarios(document),
        only_present=document.flag(data.get("only_present", False), ("only_present",)),
    )
    compare = _compare(document, [one.name for one in found.sets])
    document.finish()
    return replace(found, compare=compare)


_MISSING: Final = {
    "targets": "targets: [openai-sdk], or {name: …, path: …, target: module:attr}",
    "sets": 'sets: {now: locked, next: {python: ["openai==3.57.0"]}}',
}


def _suite(document: Document, config: Config) -> str:
    if "suite" not in document.data:
        return config.suite
    try:
        return check_suite(document.text(document.data["suite"], ("suite",)) or None)
    except ValueError as error:
        document.wrong(("suite",), str(error))
        return config.suite


def _scenarios(document: Document) -> tuple[str, ...]:
    if "scenarios" not in document.data:
        return ()
    example = '["builtin:core"]'
    return document.texts(document.data["scenarios"], ("scenarios",), example)


def _compare(document: Document, names: Sequence[str]) -> tuple[str, str] | None:
    if "compare" not in document.data:
        return None
    where: Where = ("compare",)
    example = "{base: now, head: next}"
    table = document.table(document.data["compare"], where, example)
    document.known(table, ("base", "head"), where)
    for side in ("base", "head"):
        if table and table.get(side) not in names:
            at = (*where, side) if side in table else where
            hint = did_you_mean(str(table.get(side, "")), names)
            document.wrong(at, f"{side!r} must name one of the sets", hint)
    return str(table.get("base")), str(table.get("head"))


def _sets(document: Document, value: object) -> Iterator[DependencySet]:
    for name, held in document.table(value, ("sets",), _MISSING["sets"]).items():
        where: Where = ("sets", name)
        if held == "locked":
            yield DependencySet(name=name)
        elif isinstance(held, dict):
            yield _set(document, name, held, where)
        else:
            document.wrong(where, "a set is 'locked' or a mapping of what it changes")


def _set(document: Document, name: str, held: dict[str, object], where: Where) -> DependencySet:
    document.known(held, _SET_KEYS, where)
    places: dict[str, str] = {}

    def pins(key: str, example: str) -> tuple[str, ...]:
        if key not in held:
            return ()
        at = (*where, key)
        found = document.texts(held[key], at, example)
        for number, text in enumerate(found):
            complaint = python_complaint(text) if key == "python" else npm_complaint(text)
            if complaint:
                document.wrong((*at, number), complaint)
            places[text] = document.place((*at, number))
        return found

    return DependencySet(
        name=name,
        python=pins("python", '["openai==3.57.0"]'),
        npm=pins("npm", '["openai@7.59.0"]'),
        node=_version(document, held, where, "node"),
        python_version=_version(document, held, where, "python_version"),
        places=places,
    )


def _version(document: Document, held: dict[str, object], where: Where, key: str) -> str | None:
    if key not in held:
        return None
    text = document.text(held[key], (*where, key))
    if text and not _VERSION.fullmatch(text):
        document.wrong((*where, key), f"{text!r} is no version", 'write it as "22" or "22.1.0"')
    return text or None


def python_complaint(text: str) -> str | None:
    """What is wrong with a Python requirement."""
    try:
        Requirement(text)
    except InvalidRequirement as error:
        return f"{text!r} is no requirement: {str(error).splitlines()[0]}"
    return None


def npm_complaint(text: str) -> str | None:
    """What is wrong with a package of npm."""
    is_package = _NPM.fullmatch(text) is not None
    return None if is_package else f"{text!r} is no package of npm; write name@version"


@dataclass(slots=True)
class _Targets:
    document: Document
    config: Config

    def all(self, value: object) -> Iterator[PlannedTarget]:
        """Each target once. An `include` leaves out what was named before."""
        found: dict[str, PlannedTarget] = {}
        for number, item in enumerate(self.document.items(value, ("targets",), "[openai-sdk]")):
            where: Where = ("targets", number)
            included = isinstance(item, dict) and "include" in item
            for target in self._item(item, where):
                if included and any(_same(target, other) for other in found.values()):
                    continue
                if target.name in found:
                    hint = "give one of them another name"
                    self.document.wrong(where, f"a second target is named {target.name!r}", hint)
                found.setdefault(target.name, target)
        yield from found.values()

    def _item(self, item: object, where: Where) -> list[PlannedTarget]:
        if isinstance(item, str):
            return self._named(item, where)
        table = self.document.table(item, where, '{name: billing, path: ., target: "a.b:loop"}')
        self.document.known(table, _TARGET_KEYS, where)
        if "include" in table:
            return list(self._included(table["include"], (*where, "include")))
        return self._described(table, where) if table else []

    def _named(self, name: str, where: Where) -> list[PlannedTarget]:
        try:
            source = self.config.target(name)
        except ConfigError as error:
            self.document.wrong(where, str(error))
            return []
        return [planned(source, self.config)]

    def _described(self, table: dict[str, object], where: Where) -> list[PlannedTarget]:
        folder = self.document.folder
        if "path" in table:
            folder = folder / self.document.text(table["path"], (*where, "path"))
            if not folder.is_dir():
                self.document.wrong((*where, "path"), f"is no folder: {folder}")
                return []
        if ("target" in table) == ("worker" in table):
            self.document.wrong(where, "a target has one of 'target' and 'worker'")
            return []
        config = settings(folder)
        source = self._source(table, where, config)
        if source is None:
            return []
        name = self.document.text(table.get("name", source.name), (*where, "name"))
        found_here = source.cwd is None or source.name == source.python
        source = replace(source, name=name, cwd=folder.resolve() if found_here else source.cwd)
        is_ready_made = "path" not in table and ready_made(source) is not None
        home = None if is_ready_made else folder.resolve()
        return [PlannedTarget(source=source, folder=home, config=config)]

    def _source(
        self, table: dict[str, object], where: Where, config: Config
    ) -> TargetSource | None:
        if "worker" in table:
            command = self.document.texts(table["worker"], (*where, "worker"), '["node", "w.mjs"]')
            return TargetSource(name=command[-1] if command else "", worker=command)
        name = self.document.text(table["target"], (*where, "target"))
        try:
            return config.target(name) if name else None
        except ConfigError as error:
            self.document.wrong((*where, "target"), str(error))
            return None

    def _included(self, value: object, where: Where) -> Iterator[PlannedTarget]:
        pattern = self.document.text(value, where)
        files = sorted(self.document.folder.glob(pattern)) if pattern else []
        if pattern and not files:
            self.document.wrong(where, f"no file matches {pattern!r}")
        for file in files:
            try:
                config = settings(file.parent)
            except ConfigError as error:
                self.document.wrong(where, str(error))
                continue
            if not config.targets:
                self.document.wrong(where, f"{file} names no targets")
            for source in config.targets.values():
                yield PlannedTarget(source=source, folder=file.parent.resolve(), config=config)


def ready_made(source: TargetSource) -> str | None:
    """The name that loopcheck has for this target, if it is one of its own."""
    names = (name for name, own in READY_MADE.items() if own.python == source.python)
    return next(names, None) if source.python is not None else None


def planned(source: TargetSource, config: Config) -> PlannedTarget:
    """A target by its name in the settings; a ready-made one belongs to no project."""
    folder = None if ready_made(source) is not None else _folder(source, config)
    return PlannedTarget(source=source, folder=folder, config=config)


def _folder(source: TargetSource, config: Config) -> Path:
    """Where the project of a target begins: the nearest folder with one of its files."""
    start = (source.cwd or config.root).resolve()
    names = ("pyproject.toml", "package.json", "requirements.txt")
    for folder in (start, *start.parents):
        if any((folder / name).is_file() for name in names):
            return folder
        if folder == config.root:
            break
    return start


def _same(one: PlannedTarget, other: PlannedTarget) -> bool:
    return replace(one.source, name="") == replace(other.source, name="")
