"""Cases over several processes: results travel with the reports of their tests."""

from __future__ import annotations

from pathlib import Path

import pytest

LOOPS = Path(__file__).with_name("stdlib_loop.py").read_text(encoding="utf-8")
INI = """
[pytest]
filterwarnings =
    error
    default::loopcheck.LoopcheckWarning
"""
TESTS = """
import loopcheck
from loops import careless, honest

CHOSEN = ["truncation/trunc-length-p*-args", "basics/final-answer", "limits/max-turns-exact"]

@loopcheck.cases(careless, scenarios=CHOSEN)
def test_careless(case):
    case.check()

@loopcheck.cases(honest, scenarios=["basics/final-answer"])
def test_honest(case):
    case.check()
"""


def test_the_summary_is_the_same_as_in_one_process(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three processes that load every plugin of this environment take long.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(loops=LOOPS, test_agents=TESTS)
    pytester.makefile(".ini", pytest=INI)
    result = pytester.runpytest_subprocess(
        "-p", "loopcheck.harness.plugin", "-p", "xdist", "-n", "2"
    )
    result.assert_outcomes(passed=6, failed=2, skipped=2, warnings=6)
    start = next(n for n, line in enumerate(result.outlines) if "loopcheck, suite 2026.1" in line)
    section = result.outlines[start + 1 : start + 5]
    assert sorted(section[::2]) == [
        f"careless (pytest {pytest.__version__}, no-such-package not installed)",
        f"honest (pytest {pytest.__version__})",
    ]
    assert sorted(section[1::2]) == [
        "  2 cases: 2 pass, 0 FAIL (must), 0 should, 0 expected, 0 by policy, 0 not declared",
        "  8 cases: 4 pass, 2 FAIL (must), 6 should, 0 expected, 0 by policy, 2 not declared",
    ]
    node = "test_careless[truncation/trunc-length-partial-args-chat-stream]"
    assert f"rerun         pytest 'test_agents.py::{node}'" in result.outlines
