"""The JSON report: one versioned document per run, the source of every other rendering."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from pydantic import ValidationError

from loopcheck.harness.results import REPORT_FORMAT, Report


class ReportError(Exception):
    """A report that cannot be used: which one, why, and what to do."""


def dump(report: Report) -> str:
    """The report as a JSON document. Half characters of hostile text survive as escapes."""
    return json.dumps(report.model_dump(mode="json"), indent=2) + "\n"


def read(path: Path) -> Report:
    """The report in this file. Raises ReportError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReportError(
            f"{path}: not UTF-8, so no report as loopcheck wrote it; use --report json:FILE, "
            "which writes the file itself"
        ) from None
    except OSError as error:
        raise ReportError(
            f"{path}: cannot be read: {error.strerror}; loopcheck run --report json:FILE writes "
            "a report"
        ) from None
    return load(text, str(path))


def load(text: str, name: str) -> Report:
    """The report in this text; `name` is its name in errors. Raises ReportError."""
    document = _document(text, name)
    header = document.get("header")
    if not isinstance(header, dict) or "loopcheck" not in header:
        raise ReportError(
            f"{name}: not a loopcheck report (it has no header that says so); "
            "loopcheck run --report json:FILE writes one"
        )
    _check_format(header.get("format"), name)
    if "footer" not in document:
        raise ReportError(f"{name}: has no footer, so the run was cut off; run it again")
    try:
        report = Report.model_validate(document)
    except ValidationError as error:
        raise ReportError(_damage(error, header["loopcheck"], name)) from None
    _check_counts(report, name)
    return report


def _document(text: str, name: str) -> dict[str, object]:
    if not text.strip():
        raise ReportError(f"{name}: empty; the run ended before it wrote its report; run it again")
    try:
        document = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ReportError(f"{name}: nested too deep for a report") from None
    except ValueError as error:
        if text.lstrip().startswith("{") and not text.rstrip().endswith("}"):
            raise ReportError(
                f"{name}: ends in the middle; the file was cut off; copy it again whole, or run "
                "it again"
            ) from None
        raise ReportError(
            f"{name}: not JSON: {error}; loopcheck reads the reports of --report json:FILE"
        ) from None
    if not isinstance(document, dict):
        raise ReportError(
            f"{name}: not a loopcheck report; loopcheck run --report json:FILE writes one"
        )
    return document


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _check_format(found: object, name: str) -> None:
    if found == REPORT_FORMAT and not isinstance(found, bool):
        return
    if isinstance(found, int) and found > REPORT_FORMAT:
        raise ReportError(
            f"{name}: written by a newer loopcheck (format {found}; this one reads "
            f"{REPORT_FORMAT}); upgrade loopcheck"
        )
    raise ReportError(
        f"{name}: unknown format {found!r}; this loopcheck reads {REPORT_FORMAT}; take the file "
        "as the run wrote it"
    )


def _damage(error: ValidationError, version: object, name: str) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return (
            f"{name}: holds {where}, which this loopcheck does not know: changed by hand, or "
            f"written by another version ({version}); read it with that one"
        )
    return f"{name}: damaged at {where}: {first['msg']}; take the file as the run wrote it"


def _check_counts(report: Report, name: str) -> None:
    """A footer that does not count what stands above it: cases were taken out or changed."""
    held = Counter(str(case.verdict) for target in report.targets for case in target.cases)
    counted = {verdict: n for verdict, n in report.footer.verdicts.items() if n}
    if counted != dict(held) or report.footer.cases != held.total():
        raise ReportError(
            f"{name}: changed by hand: its footer counts {report.footer.cases} cases "
            f"({_told(counted)}), it holds {held.total()} ({_told(held)}); take the file as the "
            "run wrote it"
        )


def _told(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items())) or "none"
