"""The document of a matrix, from a YAML file or from the project's settings, with its places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.scenario.errors import Problem, ScenarioError, did_you_mean
from loopcheck.harness.scenario.yaml_source import read

FORMAT = 1
Where: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class Document:
    """Plain values that are read bit by bit. Every mistake is noted with its place, and what was
    meant is left out; `finish` raises for all of them at once."""

    data: dict[str, object]
    folder: Path
    problem: Callable[[Where, str, str, bool], Problem]
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, where: Where, message: str, hint: str = "", *, key: bool = False) -> None:
        """Notes a mistake at this place, or at the key of it."""
        self.problems.append(self.problem(where, message, hint, key))

    def place(self, where: Where) -> str:
        """The place as `file:line`, or as `file: key`."""
        spot = self.problem(where, "", "", False)
        return f"{spot.file}:{spot.line}" if spot.line else spot.file

    def finish(self) -> None:
        """Raises MatrixError when anything was wrong."""
        if self.problems:
            raise MatrixError(self.problems)

    def known(self, table: Mapping[str, object], keys: Iterable[str], where: Where) -> None:
        """Every key is one of these."""
        for key in table:
            if key not in keys:
                hint = did_you_mean(key, keys)
                self.wrong((*where, key), f"unknown key {key!r}", hint, key=True)

    def table(self, value: object, where: Where, example: str) -> dict[str, object]:
        """A mapping; empty where it is none."""
        if isinstance(value, dict) and value:
            return value
        self.wrong(where, f"must be a mapping, such as {example}")
        return {}

    def items(self, value: object, where: Where, example: str) -> list[object]:
        """A list; empty where it is none."""
        if isinstance(value, list) and value:
            return value
        self.wrong(where, f"must be a list, such as {example}")
        return []

    def text(self, value: object, where: Where) -> str:
        """Text; empty where it is none."""
        if isinstance(value, str) and value:
            return value
        self.wrong(where, f"must be text, not {value!r}", "put it in quotes")
        return ""

    def texts(self, value: object, where: Where, example: str) -> tuple[str, ...]:
        """A list of text."""
        items = enumerate(self.items(value, where, example))
        return tuple(filter(None, (self.text(item, (*where, n)) for n, item in items)))

    def flag(self, value: object, where: Where) -> bool:
        """Yes or no."""
        if not isinstance(value, bool):
            self.wrong(where, f"must be true or false, not {value!r}")
        return value is True


def from_file(path: Path) -> Document:
    """The document in this file. Raises MatrixError."""
    try:
        source = read(path.read_bytes(), str(path))
    except OSError as error:
        raise MatrixError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ScenarioError as error:
        raise MatrixError(error.problems) from None
    document = Document(
        data=source.data,
        folder=path.resolve().parent,
        problem=lambda where, message, hint, key: source.problem(where, message, hint, key=key),
    )
    if source.data.get("format") != FORMAT:
        at: Where = ("format",) if "format" in source.data else ()
        document.wrong(at, f"format must be {FORMAT}", f"begin the file with format: {FORMAT}")
    return document


def from_settings(file: Path, key: str, table: Mapping[str, object]) -> Document:
    """The document in the project's settings, under this key."""

    def problem(where: Where, message: str, hint: str, key_is_meant: bool) -> Problem:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
        return Problem(f"{file}: {key}{path}", 0, 0, message, hint)

    return Document(data=dict(table), folder=file.resolve().parent, problem=problem)
