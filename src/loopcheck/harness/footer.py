"""The footer of a report: what stands above it, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from loopcheck.harness.results import Footer, TargetResult


def footer(targets: Sequence[TargetResult], *, exit_code: int, seconds: float) -> Footer:
    """The counts of these targets' cases."""
    cases = [case for target in targets for case in target.cases]
    return Footer(
        targets=len(targets),
        cases=len(cases),
        verdicts=dict(Counter(case.verdict for case in cases)),
        exit_code=exit_code,
        seconds=round(seconds, 3),
    )
