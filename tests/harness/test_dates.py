"""What depends on the day or the hour, on a clock that is held still."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from freezegun import freeze_time
from result_cases import finding, judged

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.script import Attempt, Fault
from loopcheck.fake_providers.wire import Reading
from loopcheck.harness.session import Session
from loopcheck.harness.target import loop
from loopcheck.harness.task import Outcome, Task, final

LISTED = """
format: 1
entries:
  - case: once/x[chat-stream]
    check: effect.once
    kind: bug
    reason: known
    until: 2027-03-31
"""


@loop(dialects=["chat"])
def booking(task: Task) -> Outcome:
    return final("")


@pytest.mark.parametrize(("day", "verdict"), [("2027-03-31", "expected"), ("2027-04-01", "fail")])
def test_an_entry_counts_to_the_end_of_its_day(tmp_path: Path, day: str, verdict: str) -> None:
    (tmp_path / "loopcheck-expected.yaml").write_text(LISTED, encoding="utf-8")
    session = Session(tmp_path)
    with freeze_time(day):
        result = session.expect(judged("once/x[chat-stream]", finding("effect.once")), booking)
    assert result.verdict == verdict


def test_a_retry_date_is_seen_from_now() -> None:
    reading = Reading(
        dialect="chat", model="m", stream=False, items=(), history=[], tools=(), body={}
    )
    fault = Fault(kind="http", error="rate_limit", retry_after_ms=90_000, retry_after_date=True)
    attempt = Attempt(fault=fault)
    answer = prepare(reading, attempt, turn=1, asked=1, seed=0, number=1)
    with freeze_time("2026-11-30 12:00:00"):
        rendered = faults.render(dialect("chat"), answer, attempt, "whole", seed=0)
    announced = parsedate_to_datetime(dict(rendered.headers)["retry-after"])
    assert announced == datetime(2026, 11, 30, 12, 1, 30, tzinfo=UTC)
