"""Cases in async tests, under the plugins that run them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import loopcheck.harness.parametrize  # noqa: F401  loaded once, and not in each inner run

LOOPS = Path(__file__).with_name("stdlib_loop.py").read_text(encoding="utf-8")
INI = "[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function\n"
HEAD = """
import asyncio
import pytest
import loopcheck
from loops import asynchronous, honest
CHOSEN = ["basics/final-answer", "basics/lookup-then-reserve"]
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(loops=LOOPS)
    pytester.makefile(".ini", pytest=INI)
    return pytester


@pytest.mark.parametrize("target", ["asynchronous", "honest"])
@pytest.mark.parametrize("mark", ["asyncio", "anyio"])
def test_acheck(project: pytest.Pytester, mark: str, target: str) -> None:
    project.makepyfile(
        test_agent=f"""{HEAD}
@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.{mark}
@loopcheck.cases({target}, scenarios=CHOSEN)
async def test_agent(case):
    await case.acheck()
"""
    )
    result = project.runpytest("-k", "whole")
    result.assert_outcomes(passed=2, deselected=0 if target == "asynchronous" else 2)


def test_an_async_target_runs_in_the_loop_of_its_test(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent=f"""{HEAD}
loops = []

@loopcheck.loop(dialects=["chat"], modes=["whole"])
async def noting(task):
    loops.append(asyncio.get_running_loop())
    return await asynchronous(task)

@pytest.mark.asyncio
@loopcheck.cases(noting, scenarios=CHOSEN[:1])
async def test_agent(case):
    await case.acheck()
    assert loops == [asyncio.get_running_loop()] * 2      # the smoke case and the case
"""
    )
    project.runpytest().assert_outcomes(passed=1)


def test_a_failing_case_shows_its_block_only(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent=f"""{HEAD}
from loops import careless

@pytest.mark.asyncio
@loopcheck.cases(careless, scenarios=["truncation/trunc-length-partial-args"])
async def test_agent(case):
    await case.acheck()
"""
    )
    result = project.runpytest("-k", "stream")
    result.assert_outcomes(failed=1, deselected=1)
    said = [line for line in result.outlines if line.startswith("execution.complete-only")]
    assert len(said) == 1
    assert not [line for line in result.outlines if line.startswith(("E  ", ">  "))]


def test_check_works_in_async_tests_too(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent=f"""{HEAD}
@pytest.mark.asyncio
@loopcheck.cases(asynchronous, scenarios=CHOSEN)
async def test_agent(case):
    case.check()
"""
    )
    project.runpytest().assert_outcomes(passed=2)


def test_a_sync_test_runs_an_async_target(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent=f"""{HEAD}
@loopcheck.cases(asynchronous, scenarios=CHOSEN)
def test_agent(case):
    case.check()
"""
    )
    project.runpytest().assert_outcomes(passed=2)


def test_acheck_says_what_it_needs(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent=f"""{HEAD}
@loopcheck.cases(asynchronous, scenarios=CHOSEN[:1])
def test_agent(case):
    coroutine = case.acheck()
    coroutine.send(None)
"""
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["case.acheck() needs a running asyncio loop, *"])


def test_nothing_is_left_unclosed(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_agent=f"""{HEAD}
@pytest.mark.asyncio
@loopcheck.cases(asynchronous, scenarios=CHOSEN)
async def test_async(case):
    await case.acheck()

@loopcheck.cases(asynchronous, scenarios=CHOSEN)
def test_sync(case):
    case.check()

def test_fake(loopcheck_provider):
    loopcheck_provider.turns(loopcheck.say("Hello."))
"""
    )
    # In development mode Python tells of sockets and loops that are never closed.
    result = project.run(sys.executable, "-X", "dev", "-m", "pytest", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=5)
    assert "ResourceWarning" not in result.stderr.str()
