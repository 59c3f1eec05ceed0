"""Users' own properties: strategies of loopcheck in their tests, sync and async."""

from __future__ import annotations

import pytest

LOOP = """
import loopcheck
from loopcheck.harness.selftest.trial import HONEST, LIARS
from hypothesis import Phase, given, settings
import pytest

renaming = next(one.target for one in LIARS if one.name == "Renaming")
settings.register_profile("few", max_examples=3, derandomize=True, database=None, deadline=None)
settings.load_profile("few")
"""


def run(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(LOOP + tests)
    off = ("-p", "no:cacheprovider", "-p", "no:xdist")
    return pytester.runpytest_subprocess(*off, *options)


def test_a_case_under_deliveries(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@loopcheck.cases(HONEST, scenarios=["basics/lookup-then-reserve"])
@given(delivery=loopcheck.deliveries())
def test_sync(case, delivery):
    case.delivered(delivery).check()


@pytest.mark.asyncio
@loopcheck.cases(HONEST, scenarios=["once/identical-calls-one-turn"])
@given(delivery=loopcheck.deliveries())
async def test_asyncio(case, delivery):
    await case.delivered(delivery).acheck()


@pytest.mark.anyio
@loopcheck.cases(HONEST, scenarios=["once/identical-calls-one-turn"])
@given(delivery=loopcheck.deliveries())
async def test_anyio(case, delivery, anyio_backend):
    await case.delivered(delivery).acheck()


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"
""",
        "-k",
        "chat-stream",
    )
    counts = result.parseoutcomes()
    assert counts["passed"] >= 3
    assert not {"failed", "errors"} & counts.keys()


def test_properties_over_generated_scenarios(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
from loopcheck.harness import fuzz


@given(scenario=loopcheck.scenarios(dialects=["chat"]), delivery=loopcheck.deliveries())
def test_honest(scenario, delivery):
    fuzz.check_rules(HONEST, scenario)


@pytest.mark.asyncio
@given(scenario=loopcheck.scenarios(dialects=["chat"]))
async def test_in_a_loop(scenario):
    fuzz.check_history(HONEST, scenario)


@settings(max_examples=10, phases=[Phase.generate])
@given(scenario=loopcheck.scenarios(dialects=["chat"], modes=["whole"], features=["parallel"]))
def test_liar(scenario):
    fuzz.check_results(renaming, scenario)
""",
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*PropertyBroken: correlation.known-id: *", "*tools:*"])
