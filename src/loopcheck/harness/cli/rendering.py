"""Makes the reports that were asked for, and writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from loopcheck.harness.checks import CHECKS
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.matrix.storage import write_whole
from loopcheck.harness.results import Report
from loopcheck.reports import html, json_report, junit, markdown, requirements

ADVICE: Mapping[str, str] = {check.id: check.advice for check in CHECKS}
SENTENCES: Mapping[str, str] = {check.id: check.sentence for check in CHECKS}


def rendered(kind: str, report: Report, *, strict_should: bool = False) -> str:
    """The report as a text of this kind."""
    if kind == "json":
        return json_report.dump(report)
    if kind == "junit":
        return junit.render(report, advice=ADVICE, strict_should=strict_should)
    if kind == "html":
        return html.render(report, advice=ADVICE)
    if kind == "requirements":
        return requirements.render(report, sentences=SENTENCES)
    return markdown.render(report, advice=ADVICE)


def check_paths(paths: Sequence[Path], option: str) -> None:
    """Finds out before the work, and not after it, that a report cannot be written."""
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(f"{option}: two reports would be written to {path}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("a", encoding="utf-8").close()
        except OSError as error:
            raise UsageError(f"{option}: {path} cannot be written: {error.strerror}") from None


def write(texts: Mapping[Path, str], option: str) -> None:
    """Writes each text to its file. Where one cannot be written, the others are all the same."""
    failed = []
    for path, text in texts.items():
        try:
            write_whole(path, text)
        except OSError as error:
            failed.append(f"{path} cannot be written: {error.strerror}")
    if failed:
        raise UsageError(f"{option}: {'; '.join(failed)}")
