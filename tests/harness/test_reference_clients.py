"""The HTTP client that all cases of an event loop share."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpcore2
import httpx2
import pytest

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.smoke import SMOKE
from loopcheck.harness.stage import Stage
from loopcheck.harness.targets.clients import client
from loopcheck.harness.targets.reference import reference


def test_each_event_loop_has_one_which_ends_with_it() -> None:
    async def used() -> httpx2.AsyncClient:
        one = await client()
        assert one is await client()
        assert not one.is_closed
        return one

    first, second = asyncio.run(used()), asyncio.run(used())
    assert first is not second
    assert first.is_closed
    assert second.is_closed


def test_cases_share_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Counter[str] = Counter()
    opened = httpcore2.AsyncHTTPConnection.__init__

    def counted(self: httpcore2.AsyncHTTPConnection, *args: object, **more: object) -> None:
        made["connections"] += 1
        opened(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(httpcore2.AsyncHTTPConnection, "__init__", counted)
    with Stage() as stage, InProcess(reference) as driver:
        for dialect in ("chat", "messages", "responses"):
            spec = CaseSpec(SMOKE, dialect, "stream")
            result = run_case(driver, reference.card(), spec, stage, RunOptions())
            assert result.verdict == "pass"
    assert made == {"connections": 1}
