"""Which matrix is meant: a file, the project's settings, or flags."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Final

from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.config import Config, find
from loopcheck.harness.matrix import flags
from loopcheck.harness.matrix.document import Document, from_file, from_settings
from loopcheck.harness.matrix.plan import Matrix
from loopcheck.harness.matrix.reading import matrix

DEFAULT_NAME: Final = "loopcheck-matrix.yaml"
_AS_IT_IS: Final = "now=locked"


def requested(options: Namespace, config: Config) -> Matrix:
    """The matrix that is asked for. Raises UsageError, MatrixError and ConfigError."""
    found = _found(options, config)
    if options.scenario:
        found = replace(found, scenarios=tuple(options.scenario))
    if options.only_present:
        found = replace(found, only_present=True)
    return flags.only(flags.compared(found, options.compare), options.only)


def _found(options: Namespace, config: Config) -> Matrix:
    by_flags = bool(options.target or options.set)
    if options.file is not None and by_flags:
        raise UsageError("a matrix is either a file or --target and --set; --only chooses targets")
    as_it_is = [_AS_IT_IS] if options.bisect else []
    if by_flags:
        return flags.matrix(options.target, options.set or as_it_is, config)
    document = _document(options, config)
    if document is None and options.bisect:
        return flags.matrix([], as_it_is, config)
    if document is None:
        raise UsageError(
            f"say what to run: a matrix file (there is no {DEFAULT_NAME} here), "
            "[tool.loopcheck.matrix] in the project's settings, or --target and --set"
        )
    return matrix(document, find(document.folder))


def _document(options: Namespace, config: Config) -> Document | None:
    if options.file is not None:
        return from_file(options.file)
    if Path(DEFAULT_NAME).is_file():
        return from_file(Path(DEFAULT_NAME))
    if config.matrix is not None and config.file is not None:
        prefix = "tool.loopcheck." if config.file.name == "pyproject.toml" else ""
        return from_settings(config.file, f"{prefix}matrix", config.matrix)
    return None
