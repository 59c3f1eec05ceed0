"""The search finds what is wrong, once for each kind, small, and the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis.database import ExampleDatabase, InMemoryExampleDatabase

from loopcheck.fake_providers.script import DialectName
from loopcheck.harness.cases import expand
from loopcheck.harness.fuzz import Trial
from loopcheck.harness.fuzz.hunt import Found, Hunt
from loopcheck.harness.fuzz.keep import clear, keep
from loopcheck.harness.fuzz.storage import database
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.journal import load
from loopcheck.harness.runner import RunOptions
from loopcheck.harness.scenario.load import load_file
from loopcheck.harness.scenario.write import write
from loopcheck.harness.selftest.liar import target_of
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.trial import HONEST, LIARS
from loopcheck.harness.selftest.voices import Call, Result
from loopcheck.harness.stage import Stage
from loopcheck.harness.strategies import Feature
from loopcheck.harness.target import Target

CHAT: tuple[DialectName, ...] = ("chat",)
SOME: tuple[Feature, ...] = ("parallel",)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.05) as open_stage:
        yield open_stage


@pytest.fixture
def hunt(stage: Stage) -> Callable[..., Hunt]:
    def make(
        target: Target,
        *,
        features: tuple[Feature, ...] = SOME,
        seed: int = 0,
        limit: int = 25,
        database: ExampleDatabase | None = None,
    ) -> Hunt:
        options = RunOptions(case_seconds=10)
        driver = InProcess(target)
        trial = Trial(driver=driver, card=target.card(), stage=stage, options=options)
        return Hunt(
            trial=trial,
            dialects=CHAT,
            modes=("whole",),
            features=features,
            seed=seed,
            limit=limit,
            database=database,
        )

    return make


ZIPPING = next(one.target for one in LIARS if one.name == "Zipping")


def told(found: list[Found]) -> list[tuple[str, str]]:
    return [(one.failure.check, write(one.failure.shown.scenario)) for one in found]


def test_an_honest_loop_is_found_to_do_nothing_wrong(hunt: Callable[..., Hunt]) -> None:
    search = hunt(HONEST)
    assert search.run() == []
    assert search.drawn == 25
    counts = search.coverage.counts
    assert set(counts["dialects"]) == {"chat-whole"}
    assert counts["outcomes"]["completed"] >= 20
    assert list(search.coverage.lines())[-1].startswith("outcomes    completed ")


def test_a_liar_is_found_out_by_a_small_scenario(hunt: Callable[..., Hunt], tmp_path: Path) -> None:
    search = hunt(ZIPPING)
    (found,) = search.run()
    assert (found.failure.check, found.steady, found.known) == (
        "correlation.own-result",
        True,
        False,
    )
    (kept,) = keep([found], tmp_path)
    scenario = load_file(kept.scenario, tmp_path)
    assert len(write(scenario).splitlines()) <= 20
    assert [len(turn.calls) for turn in scenario.turns] == [2]
    assert kept.scenario.read_text(encoding="utf-8").startswith("# correlation.own-result: ")
    assert load(kept.journal) == found.failure.entries
    (spec,) = expand([scenario])
    again = search.trial.run(spec)
    assert again is not None
    assert again.result.findings[0].check == "correlation.own-result"


def test_the_same_seed_gives_the_same_result(hunt: Callable[..., Hunt]) -> None:
    kept = InMemoryExampleDatabase()
    first = hunt(ZIPPING, seed=3, limit=12, database=kept).run()
    second = hunt(ZIPPING, seed=3, limit=12, database=kept).run()
    assert told(first) == told(second) != []


def test_what_was_found_before_is_tried_first(hunt: Callable[..., Hunt]) -> None:
    kept = InMemoryExampleDatabase()
    assert hunt(ZIPPING, database=kept).run()
    (found,) = hunt(ZIPPING, database=kept, seed=5, limit=1).run()
    assert (found.failure.check, found.known) == ("correlation.own-result", True)


def test_what_is_no_longer_wrong_is_forgotten(hunt: Callable[..., Hunt]) -> None:
    kept = InMemoryExampleDatabase()
    assert hunt(ZIPPING, database=kept).run()
    mended = replace(target_of(Loop), name="Zipping")
    assert hunt(mended, database=kept, limit=1).run() == []
    assert not list(hunt(mended, database=kept).remembered())


class Moody(Loop):
    """Runs things twice, now and then."""

    _times = count()

    def results(self, calls: list[Call]) -> list[Result]:
        if next(Moody._times) in (4, 9):
            super().results(calls)
        return super().results(calls)


def test_what_does_not_come_again_is_said_to_be_unsteady(hunt: Callable[..., Hunt]) -> None:
    search = hunt(target_of(Moody), limit=12)
    search.most_smaller = 20
    found = search.run()
    assert [one.steady for one in found] == [False] * len(found)
    assert found


def test_only_what_a_search_left_behind_is_cleared(tmp_path: Path) -> None:
    for name in ("one.yaml", "one.jsonl", "mine.txt"):
        (tmp_path / name).write_text("", encoding="utf-8")
    clear(tmp_path)
    clear(tmp_path / "nothing")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_where_examples_are_kept(tmp_path: Path) -> None:
    kept = database(None, tmp_path / "default")
    assert kept is not None
    kept.save(b"key", b"value")
    assert (tmp_path / "default").is_dir()
    assert database("none", tmp_path) is None
    assert database(str(tmp_path / "other"), tmp_path) is not None
    with pytest.raises(ValueError, match="is no folder, no redis:// URL and not 'none'"):
        database("https://example.test", tmp_path)
