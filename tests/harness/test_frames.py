"""The bytes that a finding is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stdlib_loop import careless
from trial_cases import HEAD, case

from loopcheck.fake_providers.script import Mode
from loopcheck.harness.frames import frames
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.journal import Entry
from loopcheck.harness.results import Finding
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.stage import Stage
from loopcheck.reports.terminal import failure_block

CHAT = HEAD + "dialects: [chat]\n"
CUT = """\
turns:
  - calls: [{as: seat, tool: reserve, raw_args: '{"seat":1'}]
    stop: length
    delivery: {fragments: 4}
  - optional: true
    say: Done.
"""


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage() as stage:
        yield stage


def shown(stage: Stage, mode: Mode) -> tuple[str, ...]:
    with InProcess(careless) as driver:
        result = run_case(
            driver, careless.card(), case(CUT, mode=mode, head=CHAT), stage, RunOptions()
        )
    assert result.verdict == "fail"
    block = failure_block(result)
    assert all(frame in block for frame in result.frames)
    return result.frames


def test_the_last_frames_of_a_cut_stream(stage: Stage) -> None:
    told = shown(stage, "stream")
    assert [frame.partition("  ")[0] for frame in told] == [
        "frame 3",
        "frame 4",
        "frame 5",
        "frame 6",
    ]
    assert all(frame.partition("  ")[2].startswith('data: {"id":"chatcmpl-') for frame in told)
    assert '"arguments":"1"' in told[2]
    assert '"finish_reason":"length"' in told[3]


def test_the_body_of_a_cut_whole_response(stage: Stage) -> None:
    (body,) = shown(stage, "whole")
    assert body.startswith('body  {"id":"chatcmpl-')
    assert r'"arguments":"{\"seat\":1"' in body


def finding(*entries: int) -> Finding:
    return Finding(check="c", level="must", sentence="s", expected="e", seen="s", entries=entries)


JOURNAL: list[Entry] = [
    {"n": 1, "kind": "case"},
    {"n": 2, "kind": "response", "request": 1},
    {"n": 3, "kind": "sent", "request": 1, "frames": ["one"]},
    {"n": 4, "kind": "execution"},
    {"n": 5, "kind": "response", "request": 2},
    {"n": 6, "kind": "sent", "request": 2, "frames": ["two"]},
    {"n": 7, "kind": "response", "request": 3},
]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ((2, 4), ("body  one",)),
        ((4,), ("body  one",)),
        ((6,), ("body  two",)),
        ((5, 2), ("body  one",)),
        ((7,), ()),
        ((1,), ()),
        ((), ()),
    ],
)
def test_which_response_a_finding_is_about(
    entries: tuple[int, ...], expected: tuple[str, ...]
) -> None:
    assert frames(JOURNAL, finding(*entries)) == expected
