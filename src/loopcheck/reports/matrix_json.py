"""The JSON report of a matrix, read back: what was not asked for can be rendered later."""

from __future__ import annotations

import json

from pydantic import ValidationError

from loopcheck.reports.json_report import ReportError
from loopcheck.reports.matrix_report import MATRIX_FORMAT, MatrixReport


def is_matrix(text: str) -> bool:
    """Whether this is the report of a matrix, whole or not, and not that of a run."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "cells" in document and "targets" not in document


def load(text: str, name: str) -> MatrixReport:
    """The matrix in this text; `name` is its name in errors. Raises ReportError."""
    document = json.loads(text)
    header = document.get("header")
    found = header.get("format") if isinstance(header, dict) else None
    if isinstance(found, int) and found > MATRIX_FORMAT:
        raise ReportError(
            f"{name}: written by a newer loopcheck (format {found}; this one reads "
            f"{MATRIX_FORMAT}); upgrade loopcheck"
        )
    if "footer" not in document:
        raise ReportError(
            f"{name}: has no footer, so the matrix was cut off; the same command goes on with it"
        )
    try:
        return MatrixReport.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ReportError(
            f"{name}: damaged at {where}: {first['msg']}; take the file as loopcheck wrote it"
        ) from None
