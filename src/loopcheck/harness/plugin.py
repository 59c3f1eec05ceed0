"""The pytest plugin. Loaded in every pytest run where loopcheck is installed: nothing heavy is
imported before a test needs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopcheck.harness.case import Case
    from loopcheck.harness.providing import Providing
    from loopcheck.harness.session import Session

_session: pytest.StashKey[Session] = pytest.StashKey()
# pytest runs inside pytest, too; the last one is the one whose files are being imported.
_configs: list[pytest.Config] = []


@pytest.fixture
def loopcheck_provider() -> Iterator[Providing]:
    """Fake providers for this test: `loopcheck_provider.turns(...)` makes one."""
    from loopcheck.harness.providing import Providing

    with Providing() as providing:
        yield providing


def project_root() -> Path:
    """The rootdir of the pytest that runs, or the current folder where none does."""
    return _configs[-1].rootpath if _configs else Path.cwd()


def pytest_configure(config: pytest.Config) -> None:
    _configs.append(config)
    config.pluginmanager.register(_Results(), "loopcheck-results")


def pytest_unconfigure(config: pytest.Config) -> None:
    if config in _configs:
        _configs.remove(config)
    session = config.stash.get(_session, None)
    if session is not None:
        session.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for case in _cases(item):
        if _session not in item.config.stash:
            from loopcheck.harness.session import begin

            item.config.stash[_session] = begin(item.config.rootpath)
        case.node_id, case.properties = item.nodeid, item.user_properties


def _cases(item: pytest.Item) -> list[Case]:
    if "loopcheck.harness.case" not in sys.modules:
        return []
    from loopcheck.harness.case import Case

    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec is not None else ()
    return [value for value in values if isinstance(value, Case)]


def pytest_exception_interact(
    node: pytest.Item | pytest.Collector,
    call: pytest.CallInfo[object],
    report: pytest.CollectReport | pytest.TestReport,
) -> None:
    """A mistake of the test file is told in a line, and not by a traceback through this tool."""
    collecting = isinstance(report, pytest.CollectReport) and call.excinfo is not None
    if not collecting or "loopcheck.harness.target" not in sys.modules:
        return
    if node.config.getoption("fulltrace"):
        return
    from loopcheck.harness.mistakes import told

    line = told(call.excinfo.value) if call.excinfo is not None else None
    if line is not None:
        report.longrepr = line


class _Results:
    """What the reports of this run say of cases; under xdist they come from the workers."""

    def __init__(self) -> None:
        self._by_test: dict[str, list[tuple[str, object]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        found = [pair for pair in report.user_properties if pair[0] == "loopcheck"]
        if found:
            # A test that is run again replaces what it said before.
            self._by_test[report.nodeid] = found

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._by_test:
            return
        from loopcheck.reports.pytest_summary import summary

        title, lines = summary(pair for pairs in self._by_test.values() for pair in pairs)
        terminalreporter.write_sep("=", title)
        for line in lines:
            terminalreporter.write_line(line)
