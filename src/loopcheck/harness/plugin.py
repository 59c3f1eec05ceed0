"""The pytest plugin. Loaded in every pytest run where loopcheck is installed: nothing heavy is
imported before a test needs it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopcheck.harness.providing import Providing


def _used() -> bool:
    return "loopcheck.harness.session" in sys.modules


@pytest.fixture
def loopcheck_provider() -> Iterator[Providing]:
    """Fake providers for this test: `loopcheck_provider.turns(...)` makes one."""
    from loopcheck.harness.providing import Providing

    with Providing() as providing:
        yield providing


def pytest_runtest_setup(item: pytest.Item) -> None:
    if "loopcheck.harness.case" not in sys.modules:
        return
    from loopcheck.harness.case import Case

    callspec = getattr(item, "callspec", None)
    for value in callspec.params.values() if callspec else ():
        if isinstance(value, Case):
            value.properties = item.user_properties


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[_results_key] = []
    _config.append(session.config)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and _config:
        found = [value for name, value in report.user_properties if name == "loopcheck"]
        _config[-1].stash[_results_key].extend(found)


def pytest_collection_finish(session: pytest.Session) -> None:
    if "loopcheck.harness.case" in sys.modules:
        from loopcheck.harness import session as sessions

        sessions.begin(session.config.rootpath)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _config and _config[-1] is config:
        _config.pop()
    if _used():
        from loopcheck.harness import session as sessions

        sessions.end()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    results = config.stash.get(_results_key, [])
    if not results:
        return
    from loopcheck.reports.terminal import pytest_summary

    terminalreporter.section("loopcheck")
    for line in pytest_summary(results):
        terminalreporter.write_line(line)


_results_key = pytest.StashKey[list[object]]()
_config: list[pytest.Config] = []
