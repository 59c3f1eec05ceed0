"""The project's settings: `[tool.loopcheck]` of pyproject.toml, or loopcheck.toml.

A project names its targets once, so that nobody types module paths. The file is looked for in a
folder and its parents; paths in it are relative to it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from loopcheck.harness.naming import hinted
from loopcheck.harness.scenario.errors import did_you_mean
from loopcheck.harness.suites import CURRENT, check_suite

DEFAULT_SCENARIOS: Final = ("builtin:all",)
EXPECTED_NAME: Final = "loopcheck-expected.yaml"
KEYS: Final = ("suite", "scenarios", "expected", "targets", "matrix")
TARGET_KEYS: Final = ("python", "worker", "cwd")


class ConfigError(Exception):
    """Settings or a target's name that cannot be used. Says the file, the key and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSource:
    """Where a target comes from: `module:attr`, or the command of a worker in any language.
    `env` is added to the variables that its process inherits."""

    name: str
    python: str | None = None
    worker: tuple[str, ...] | None = None
    cwd: Path | None = None
    env: Mapping[str, str] | None = None


def _ready_made(name: str) -> TargetSource:
    attribute = name.replace("-", "_")
    return TargetSource(name=name, python=f"loopcheck.harness.targets.{attribute}:{attribute}")


READY_MADE: Final[Mapping[str, TargetSource]] = {
    name: _ready_made(name)
    for name in (
        "reference",
        "openai-sdk",
        "anthropic-sdk",
        "langchain",
        "pydantic-ai",
        "openai-agents",
        "litellm",
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings in force; `file` is None where no file was found and defaults hold."""

    root: Path
    file: Path | None = None
    suite: str = CURRENT
    scenarios: tuple[str, ...] = DEFAULT_SCENARIOS
    expected: Path | None = None
    targets: Mapping[str, TargetSource] = field(default_factory=dict)
    matrix: Mapping[str, object] | None = None

    @property
    def known_targets(self) -> Mapping[str, TargetSource]:
        """The project's targets and the ready-made ones, by name."""
        return {**READY_MADE, **self.targets}

    def target(self, name: str) -> TargetSource:
        """The target of this name, or the one at `module:attr`. Raises ConfigError."""
        known = self.known_targets
        if name in known:
            return known[name]
        if ":" not in name:
            message = f"unknown target {name!r}, and no Python target as package.module:attr"
            raise ConfigError(hinted(message, did_you_mean(name, known)))
        if not _is_reference(name):
            raise ConfigError(f"target {name!r} is not of the form package.module:attr")
        return TargetSource(name=name, python=name, cwd=self.root)

    @property
    def expected_file(self) -> Path:
        """The list of known failures: as set, else the usual name beside the settings."""
        return self.expected or self.root / EXPECTED_NAME


def find(start: Path) -> Config:
    """The settings that hold in this folder. Raises ConfigError."""
    start = start.resolve()
    for folder in (start, *start.parents):
        found = [table for table in (_own_file(folder), _pyproject(folder)) if table is not None]
        if len(found) == 2:
            raise ConfigError(
                f"{folder}: settings both in loopcheck.toml and in [tool.loopcheck] of "
                "pyproject.toml; keep one of them"
            )
        if found:
            return _Reader(*found[0]).config()
    return Config(root=start)


Table = dict[str, object]


def _own_file(folder: Path) -> tuple[Path, str, Table] | None:
    path = folder / "loopcheck.toml"
    return (path, "", _toml(path)) if path.is_file() else None


def _pyproject(folder: Path) -> tuple[Path, str, Table] | None:
    path = folder / "pyproject.toml"
    if not path.is_file():
        return None
    tool = _toml(path).get("tool")
    table = tool.get("loopcheck") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.loopcheck must be a table, [tool.loopcheck]")
    return path, "tool.loopcheck.", table


def _toml(path: Path) -> Table:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None


def _is_reference(text: str) -> bool:
    return re.fullmatch(r"\w+(\.\w+)*:\w+(\.\w+)*", text) is not None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns one table into settings, naming file and key of whatever is wrong."""

    path: Path
    prefix: str
    table: Table

    def config(self) -> Config:
        self._known(self.table, KEYS, "")
        expected = self._optional_text("expected")
        return Config(
            root=self.path.parent,
            file=self.path,
            suite=self._suite(),
            scenarios=self._scenarios(),
            expected=self.path.parent / expected if expected else None,
            targets=self._targets(),
            matrix=self._matrix(),
        )

    def _wrong(self, key: str, what: str) -> ConfigError:
        return ConfigError(f"{self.path}: {self.prefix}{key} {what}")

    def _known(self, table: Table, keys: tuple[str, ...], below: str) -> None:
        for key in table:
            if key not in keys:
                hint = did_you_mean(key, keys)
                raise self._wrong(f"{below}{key}", hinted("is no setting", hint))

    def _text(self, value: object, key: str) -> str:
        if not isinstance(value, str) or not value:
            raise self._wrong(key, f"must be text in quotes, not {value!r}")
        return value

    def _texts(self, value: object, key: str, example: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise self._wrong(key, f"must be a list of text, such as {example}, not {value!r}")
        return tuple(self._text(item, key) for item in value)

    def _optional_text(self, key: str) -> str | None:
        return self._text(self.table[key], key) if key in self.table else None

    def _suite(self) -> str:
        try:
            return check_suite(self._optional_text("suite"))
        except ValueError as error:
            raise self._wrong("suite", f"is wrong: {error}") from None

    def _scenarios(self) -> tuple[str, ...]:
        if "scenarios" not in self.table:
            return DEFAULT_SCENARIOS
        return self._texts(self.table["scenarios"], "scenarios", '["builtin:core", "qa"]')

    def _targets(self) -> dict[str, TargetSource]:
        targets = self.table.get("targets", {})
        if not isinstance(targets, dict):
            raise self._wrong("targets", 'must be a table of name = "module:attr"')
        return {name: self._target(name, value) for name, value in targets.items()}

    def _matrix(self) -> Table | None:
        """As it stands; `loopcheck matrix` reads it."""
        table = self.table.get("matrix")
        if table is None or isinstance(table, dict):
            return table
        raise self._wrong("matrix", "must be a table with targets and sets")

    def _target(self, name: str, value: object) -> TargetSource:
        key = f"targets.{name}"
        if not isinstance(value, dict):
            return TargetSource(name=name, python=self._reference(value, key), cwd=self.path.parent)
        self._known(value, TARGET_KEYS, f"{key}.")
        if ("python" in value) == ("worker" in value):
            raise self._wrong(key, "must have one of 'python' and 'worker'")
        cwd = self._text(value["cwd"], f"{key}.cwd") if "cwd" in value else "."
        python = self._reference(value["python"], f"{key}.python") if "python" in value else None
        worker = (
            self._texts(value["worker"], f"{key}.worker", '["node", "trial/worker.mjs"]')
            if "worker" in value
            else None
        )
        return TargetSource(name=name, python=python, worker=worker, cwd=self._folder(key, cwd))

    def _folder(self, key: str, cwd: str) -> Path:
        folder = self.path.parent / cwd
        if not folder.is_dir():
            raise self._wrong(f"{key}.cwd", f"is no folder: {folder}")
        return folder

    def _reference(self, value: object, key: str) -> str:
        text = self._text(value, key)
        if not _is_reference(text):
            raise self._wrong(key, f"must be of the form 'package.module:attr', not {text!r}")
        return text
