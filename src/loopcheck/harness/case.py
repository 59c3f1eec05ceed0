"""A case as a test sees it: run the target through it, and say what came of it."""

from __future__ import annotations

import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.judge import judge
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import Broken, RunOptions, not_declared, run_case
from loopcheck.harness.session import Session, session
from loopcheck.harness.target import Target


class LoopcheckWarning(UserWarning):
    """A finding below must: good practice on which honest loops differ."""


@dataclass(slots=True, kw_only=True)
class Case:
    """One case for one target. `properties` is what the test's report carries along."""

    spec: CaseSpec
    target: Target
    seed: int = 0
    seconds: float = 30.0
    properties: list[tuple[str, object]] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.spec.id

    def __str__(self) -> str:
        return self.spec.id

    def run(self) -> CaseResult:
        """Runs the target through this case and judges it, whatever the verdict."""
        here = session()
        missing = self._missing()
        if missing:
            return not_declared(self.spec, missing)
        driver = here.driver(self.target)
        return run_case(driver, self.target.card(), self.spec, here.stage, self._options(here))

    async def arun(self) -> CaseResult:
        """The same within a running event loop; an async target runs in that loop."""
        here = session()
        missing = self._missing()
        if missing:
            return not_declared(self.spec, missing)
        return await _arun(here.driver(self.target), self, here)

    def check(self) -> None:
        """Runs the case and fails the test on findings under must; others become warnings."""
        self._smoke(session())
        self._conclude(self.run())

    async def acheck(self) -> None:
        """The same for async tests."""
        self._smoke(session())
        self._conclude(await self.arun())

    def _missing(self) -> list[str]:
        return [need for need in self.spec.scenario.needs if need not in self.target.can]

    def _options(self, here: Session) -> RunOptions:
        return RunOptions(
            seed=self.seed, case_seconds=self.seconds, journal_folder=here.journal_folder
        )

    def _smoke(self, here: Session) -> None:
        import pytest

        complaint = here.smoke(self.target, self.spec)
        if complaint is not None:
            pytest.fail(f"target {self.target.name} is broken: {complaint}", pytrace=False)

    def _conclude(self, result: CaseResult) -> None:
        import pytest

        from loopcheck.reports.terminal import failure_block

        here = session()
        result = here.expect(result, self.target)
        self.properties.append(("loopcheck", [self.target.name, result.case, result.verdict]))
        for finding in result.findings:
            if finding.level == "should":
                text = f"{result.case}: {finding.check} (should): {finding.seen}"
                warnings.warn(LoopcheckWarning(text), stacklevel=3)
        if result.verdict == "not declared":
            pytest.skip(f"not declared: {result.reason}")
        if result.verdict in ("expected", "policy", "flaky"):
            pytest.xfail("; ".join(entry.reason for entry in result.expectations))
        if result.verdict == "stale":
            pytest.fail(
                f"{result.case} is listed as a known failure but passes; "
                "remove it: loopcheck expected update",
                pytrace=False,
            )
        if result.verdict not in ("pass", "not exercised"):
            pytest.fail(failure_block(result), pytrace=False)


async def _arun(driver: InProcess, case: Case, here: Session) -> CaseResult:
    card = case.target.card()
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory(prefix="loopcheck-") as folder,
        here.stage.open(
            case.spec, target=card.name, seed=case.seed, seconds=case.seconds
        ) as opened,
    ):
        try:
            outcome = await driver.adrive(opened, Path(folder), case.seconds)
        except Broken as broken:
            opened.record_broken(broken.kind, broken.what)
        else:
            opened.record_outcome(outcome)
    result = judge(opened.journal.entries(), case.spec, frozenset(card.can))
    return result.model_copy(update={"seconds": time.perf_counter() - started})
