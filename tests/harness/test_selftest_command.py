"""`loopcheck selftest`: the table, and what it says of liars that get away."""

from __future__ import annotations

import pytest

from loopcheck.harness.checks import CHECKS
from loopcheck.harness.cli import main, selftest
from loopcheck.harness.selftest import trial
from loopcheck.harness.selftest.liar import Liar, liar
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.trial import LIARS, Row

FEW = (LIARS[0], LIARS[-1])


def run(monkeypatch: pytest.MonkeyPatch, liars: tuple[Liar, ...], untried: list[str]) -> int:
    rows = trial.rows
    monkeypatch.setattr(selftest, "rows", lambda stage: rows(stage, liars))
    monkeypatch.setattr(selftest, "untried", lambda: untried)
    return main(["selftest"])


def test_it_shows_who_trips_what(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, FEW, []) == 0
    head, honest, first, second, *rest = capsys.readouterr().out.splitlines()
    assert head.split() == [str(number) for number in range(1, len(CHECKS) + 1)]
    assert honest.split()[0] == "honest"
    assert not set(honest.split()[1:]) & {"X", "x"}
    assert first.split()[:2] == ["Unanswering", "X"]
    assert second.split()[0] == "Stopping"
    assert "  1 correlation.answered" in rest
    assert rest[-1].endswith("and the honest loop by none")


def test_it_fails_where_a_liar_gets_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = liar(Loop, "effect.once", "basics/final-answer[chat-whole]")
    assert run(monkeypatch, (honest,), ["limits.kept"]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "WRONG  Loop, basics/final-answer[chat-whole]: found nothing, not effect.once",
        "WRONG  limits.kept: no liar trips it",
    ]


def test_a_blank_cell_ends_no_line_with_spaces() -> None:
    cells = {check.id: "" for check in CHECKS} | {CHECKS[0].id: "caught"}
    line = selftest.table([Row(name="Some", cells=cells, complaints=())])[1]
    assert line == "Some  X"
