"""The JSON report: one versioned document per run, the source of every other rendering."""

from __future__ import annotations

import json

from pydantic import ValidationError

from loopcheck.harness.results import REPORT_FORMAT, Report


class ReportError(Exception):
    """A report that cannot be used: which one, and why."""


def dump(report: Report) -> str:
    """The report as a JSON document. Half characters of hostile text survive as escapes."""
    return json.dumps(report.model_dump(mode="json"), indent=2) + "\n"


def load(text: str, name: str) -> Report:
    """The report in this text; `name` is its name in errors. Raises ReportError."""
    document = _document(text, name)
    header = document.get("header")
    if not isinstance(header, dict) or "loopcheck" not in header:
        raise ReportError(f"{name}: not a loopcheck report (it has no header that says so)")
    _check_format(header.get("format"), name)
    if "footer" not in document:
        raise ReportError(f"{name}: has no footer, so the run was cut off; run it again")
    try:
        return Report.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ReportError(f"{name}: damaged at {where}: {first['msg']}") from None


def _document(text: str, name: str) -> dict[str, object]:
    try:
        document = json.loads(text)
    except RecursionError:
        raise ReportError(f"{name}: nested too deep for a report") from None
    except ValueError as error:
        if text.lstrip().startswith("{") and not text.rstrip().endswith("}"):
            raise ReportError(f"{name}: ends in the middle; the file was cut off") from None
        raise ReportError(f"{name}: not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ReportError(f"{name}: not a loopcheck report")
    return document


def _check_format(found: object, name: str) -> None:
    if found == REPORT_FORMAT and not isinstance(found, bool):
        return
    if isinstance(found, int) and found > REPORT_FORMAT:
        raise ReportError(
            f"{name}: written by a newer loopcheck (format {found}; this one reads "
            f"{REPORT_FORMAT}); upgrade loopcheck"
        )
    raise ReportError(f"{name}: unknown format {found!r}; this loopcheck reads {REPORT_FORMAT}")
