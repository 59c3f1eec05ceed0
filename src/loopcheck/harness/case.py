"""A case as a test sees it: run the target through it, and say what came of it."""

from __future__ import annotations

import asyncio
import shlex
import warnings
from dataclasses import dataclass, field, replace

from loopcheck.harness.cases import CaseSpec, delivered
from loopcheck.harness.config import ConfigError
from loopcheck.harness.exit_code import is_answered
from loopcheck.harness.expected import ExpectedError
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, arun_case, run_case, undeclared
from loopcheck.harness.scenario.model import DeliveryModel
from loopcheck.harness.scoring import scored
from loopcheck.harness.session import Session, session
from loopcheck.harness.suites import CURRENT
from loopcheck.harness.target import Target
from loopcheck.harness.warning import LoopcheckWarning

_FINE = ("pass", "not exercised")
_LISTED = ("expected", "policy", "flaky")


@dataclass(slots=True, kw_only=True, eq=False)
class Case:
    """One case for one target.

    `unscored` says why it does not count in the suite: whatever comes of it fails no test.
    `node_id` is how pytest names its test, and `properties` is what the test's report carries
    along; the plugin sets both.
    """

    spec: CaseSpec
    target: Target
    seed: int = 0
    seconds: float = 30.0
    suite: str = CURRENT
    unscored: str | None = None
    node_id: str | None = None
    properties: list[tuple[str, object]] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.spec.id

    def __str__(self) -> str:
        return self.spec.id

    def delivered(self, delivery: DeliveryModel) -> Case:
        """The same case with its streams delivered so, where its turns do not say otherwise."""
        return replace(self, spec=delivered(self.spec, delivery))

    def run(self) -> CaseResult:
        """Runs the target through this case and judges it, whatever the verdict."""
        here = session()
        driver, card = here.driver(self.target), here.card(self.target)
        return run_case(driver, card, self.spec, here.stage, self._options(here))

    async def arun(self) -> CaseResult:
        """The same within a running event loop; an async target runs in that loop."""
        here = session()
        driver, card = here.driver(self.target), here.card(self.target)
        return await arun_case(driver, card, self.spec, here.stage, self._options(here))

    def check(self) -> None:
        """Runs the case and fails the test on findings under must; others become warnings."""
        __tracebackhide__ = True
        if not undeclared(self.spec, self.target.can, has_process=False):
            here = session()
            self._refuse_if(here.smoke(self.target, self.spec, self._options(here)))
        self._conclude(self.run())

    async def acheck(self) -> None:
        """The same for async tests, which have to run under asyncio."""
        __tracebackhide__ = True
        _require_asyncio()
        if not undeclared(self.spec, self.target.can, has_process=False):
            here = session()
            self._refuse_if(await here.asmoke(self.target, self.spec, self._options(here)))
        self._conclude(await self.arun())

    def _options(self, here: Session) -> RunOptions:
        return RunOptions(
            seed=self.seed, case_seconds=self.seconds, journal_folder=here.journal_folder
        )

    def _refuse_if(self, complaint: str | None) -> None:
        import pytest

        if complaint is not None:
            self._note("target broken", should=0)
            pytest.fail(f"target {self.target.name} is broken: {complaint}", pytrace=False)

    def _conclude(self, result: CaseResult) -> None:
        __tracebackhide__ = True
        import pytest

        mistake: str | None = None
        try:
            result = session().expect(scored(result, self.unscored), self.target)
        except (ExpectedError, ConfigError) as error:
            mistake = str(error)
        if mistake is not None:
            pytest.fail(mistake, pytrace=False)  # not above, where it would tell both errors
        remarks = [f for f in result.findings if f.level == "should" and not is_answered(result, f)]
        if result.verdict == "unscored":
            self._note(result.verdict, should=0)
            pytest.skip(f"unscored: {result.reason}")
        self._note(result.verdict, should=len(remarks))
        if result.verdict not in (*_FINE, *_LISTED, "not declared"):
            pytest.fail(self._failure(result), pytrace=False)
        for finding in remarks:
            said = f"expected {finding.expected}, seen {finding.seen}"
            text = f"{result.case}: {finding.check} (should): {said}"
            warnings.warn(LoopcheckWarning(text), stacklevel=3)
        if result.verdict == "not declared":
            pytest.skip(f"not declared: {result.reason}")
        if result.verdict in _LISTED:
            pytest.xfail(f"{result.verdict}: {result.reason}")

    def _failure(self, result: CaseResult) -> str:
        from loopcheck.harness.checks import CHECKS
        from loopcheck.reports.terminal import failure_block, stale_block

        if result.verdict == "stale":
            return stale_block(result)
        rerun = f"pytest {shlex.quote(self.node_id)}" if self.node_id is not None else None
        return failure_block(result, rerun=rerun, advice={c.id: c.advice for c in CHECKS})

    def _note(self, verdict: str, *, should: int) -> None:
        """What the report of the test says, for the summary of the whole run."""
        said = {
            "target": self.target.name,
            "case": self.id,
            "verdict": verdict,
            "should": should,
            "suite": self.suite,
            "packages": session().card(self.target).packages,
        }
        # A test that is run again says it anew.
        self.properties[:] = [pair for pair in self.properties if pair[0] != "loopcheck"]
        self.properties.append(("loopcheck", said))


def _require_asyncio() -> None:
    import pytest

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pytest.fail(
            "case.acheck() needs a running asyncio loop, and this test has none; "
            "run it under asyncio, or use case.check()",
            pytrace=False,
        )
