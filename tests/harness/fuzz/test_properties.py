"""Each property holds for the reference loop on whatever is drawn, and catches a loop that lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings

from loopcheck.harness.cases import CaseSpec, Death, expand
from loopcheck.harness.cli.trial import driver
from loopcheck.harness.config import TargetSource
from loopcheck.harness.fuzz import (
    PropertyBroken,
    Trial,
    check_deaths,
    check_delivery,
    check_ends,
    check_history,
    check_portable,
    check_progress,
    check_repeatable,
    check_results,
    check_retries,
    check_rules,
    check_safety,
    check_same_verdicts,
)
from loopcheck.harness.fuzz.wanted import given_up
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.runner import RunOptions
from loopcheck.harness.scenario.model import (
    CallModel,
    DeliveryModel,
    Scenario,
    ToolModel,
    TurnModel,
)
from loopcheck.harness.selftest import exchange
from loopcheck.harness.selftest.liar import target_of
from loopcheck.harness.selftest.loop import Loop
from loopcheck.harness.selftest.trial import HONEST, LIARS
from loopcheck.harness.selftest.voices import Call, Reply, Result
from loopcheck.harness.stage import Stage
from loopcheck.harness.strategies import (
    PLAIN,
    Feature,
    deliveries,
    features_for,
    portable_scenarios,
    scenarios,
)
from loopcheck.harness.target import Target
from loopcheck.harness.targets.reference import reference
from loopcheck.harness.task import Task

FEW = settings(max_examples=6, derandomize=True, database=None)
DISTURBING = frozenset[Feature]({"faults", "quirks", "delivery", "stops"})
UNDISTURBED = frozenset(PLAIN) - DISTURBING
MANY = DeliveryModel(data_lines=2, segments="byte", newline="crlf")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.05) as open_stage:
        yield open_stage


@pytest.fixture(scope="module")
def honest(stage: Stage) -> Iterator[Trial]:
    with InProcess(reference) as driver:
        yield Trial(driver=driver, card=reference.card(), stage=stage)


@pytest.fixture
def on_trial(stage: Stage) -> Callable[[Target], Trial]:
    options = RunOptions(case_seconds=10)

    def make(target: Target) -> Trial:
        return Trial(driver=InProcess(target), card=target.card(), stage=stage, options=options)

    return make


def liar(name: str) -> Target:
    return next(one.target for one in LIARS if one.name == name)


def booking(label: str, seat: int) -> CallModel:
    return CallModel.model_validate({"as": label, "tool": "book", "args": {"seat": seat}})


def scenario(**given: object) -> Scenario:
    """Two writes of one response, and then one more."""
    book = ToolModel(kind="write", args={"seat": "integer"})
    calls = [booking(label, n) for n, label in enumerate("abc")]
    document: dict[str, object] = {
        "format": 1,
        "title": "Three seats",
        "rule": "Each is booked once.",
        "prompt": "Book three seats.",
        "dialects": ("chat",),
        "modes": ("stream",),
        "tools": {"book": book},
        "turns": [TurnModel(calls=(calls[0], calls[1])), TurnModel(calls=(calls[2],))],
        **given,
    }
    return Scenario.model_validate(document)


@FEW
@given(script=scenarios(features=features_for(reference.can)))
def test_the_reference_loop_keeps_every_rule(honest: Trial, script: Scenario) -> None:
    check_rules(honest, script)


@FEW
@given(
    script=scenarios(modes=["stream"], features=UNDISTURBED),
    delivery=deliveries(),
)
def test_it_does_the_same_under_every_delivery(
    honest: Trial, script: Scenario, delivery: DeliveryModel
) -> None:
    check_delivery(honest, script, delivery)


@settings(FEW, max_examples=3)
@given(portable_scenarios())
def test_and_in_every_dialect_and_mode(honest: Trial, script: Scenario) -> None:
    check_portable(honest, script)


@FEW
@given(script=scenarios(features=UNDISTURBED))
def test_a_retried_request_runs_nothing_again(honest: Trial, script: Scenario) -> None:
    check_retries(honest, script, turn=len(script.turns))


@FEW
@given(script=scenarios(features=features_for(reference.can)))
def test_one_seed_gives_one_journal(honest: Trial, script: Scenario) -> None:
    check_repeatable(honest, script)


@FEW
@given(script=scenarios(features=["endless", "parallel"]).filter(lambda one: one.limits.given))
def test_it_ends_within_its_limits(honest: Trial, script: Scenario) -> None:
    check_ends(honest, script)


class Stumbling(Loop):
    """Reads events line by line, as if each had one."""

    def request(self) -> Reply:
        url = self.task.base_url + self.voice.path
        headers = self.voice.headers(self.task.api_key)
        body = self.voice.body(self.task, self.history)
        lines = exchange.lines(url, headers, body)
        texts = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
        events = [json.loads(text) for text in texts if text.startswith("{")]
        return self.voice.reply(self.voice.assembled(iter(events)))


class Speaks(Loop):
    """Runs everything twice in one protocol."""

    def results(self, calls: list[Call]) -> list[Result]:
        if self.task.dialect == "messages":
            super().results(calls)
        return super().results(calls)


class Dicing(Loop):
    """Asks with another word each time."""

    _words = count()

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.history.append({"role": "user", "content": f"word {next(Dicing._words)}"})


def test_a_loop_that_stumbles_over_a_delivery_is_caught(
    on_trial: Callable[[Target], Trial],
) -> None:
    trial = on_trial(target_of(Stumbling))
    with pytest.raises(PropertyBroken, match=r"delivery\.same: executions") as caught:
        check_delivery(trial, scenario(), DeliveryModel(), MANY)
    shown = caught.value.failure.shown.scenario
    assert shown.delivery == MANY
    assert shown.expect.must.executions == {"book": 3}


def test_one_that_is_otherwise_in_one_dialect_is_caught(
    on_trial: Callable[[Target], Trial],
) -> None:
    trial = on_trial(target_of(Speaks))
    everywhere = scenario(dialects=("chat", "messages"), modes=("whole",))
    with pytest.raises(PropertyBroken, match=r"dialects\.same: executions") as caught:
        check_portable(trial, everywhere)
    assert caught.value.failure.shown.scenario.dialects == ("messages",)


@pytest.mark.parametrize(
    ("name", "check", "found"),
    [
        ("Retrying", partial(check_retries, turn=2), "retry.nothing-again: executions"),
        ("Repairing", check_safety, "execution.complete-only"),
        ("Zipping", check_results, "correlation.own-result"),
        ("Chatty", check_history, "history.valid"),
        ("Endless", check_ends, "limits.kept"),
    ],
)
def test_the_liars_are_caught(
    name: str,
    check: Callable[[Trial, Scenario], None],
    found: str,
    on_trial: Callable[[Target], Trial],
) -> None:
    with pytest.raises(PropertyBroken, match=found):
        check(on_trial(liar(name)), SHOWS.get(name, scenario()))


AGAIN = TurnModel(calls=(booking("again", 9),))
CUT = TurnModel.model_validate({"calls": [{"as": "a", "tool": "book", "raw_args": '{"seat":1'}]})
SHOWS = {
    "Endless": scenario(otherwise=[AGAIN], limits={"rounds": 3}, needs=("limits",)),
    "Repairing": scenario(turns=[CUT]),
}


def test_one_that_draws_lots_is_caught(on_trial: Callable[[Target], Trial]) -> None:
    with pytest.raises(PropertyBroken, match=r"repeat.same-journal: request\.body"):
        check_repeatable(on_trial(target_of(Dicing)), scenario())


def test_another_verdict_elsewhere_is_caught(on_trial: Callable[[Target], Trial]) -> None:
    fine, broken = on_trial(target_of(Loop)), on_trial(liar("Retrying"))
    check_same_verdicts(fine, fine, scenario())
    with pytest.raises(PropertyBroken, match=r"worker\.same-verdict: verdicts"):
        check_same_verdicts(fine, broken, FAILING)


FAILING = scenario(
    turns=[
        TurnModel(calls=(booking("a", 1),)),
        TurnModel.model_validate({"say": "Done.", "attempts": [{"fault": "close"}, "normal"]}),
    ]
)


def test_a_worker_gives_the_same_verdicts(stage: Stage) -> None:
    source = TargetSource(name="honest", python="loopcheck.harness.selftest.trial:HONEST")
    with driver(source) as worker, InProcess(HONEST) as here:
        apart = Trial(driver=worker, card=worker.card(), stage=stage)
        trial = Trial(driver=here, card=HONEST.card(), stage=stage)
        for script in (scenario(), FAILING, SHOWS["Repairing"]):
            check_same_verdicts(trial, apart, script)


DONE = scenario()
GIVEN_UP = given_up(scenario(turns=[TurnModel(calls=(booking("a", 1),))]))


@pytest.mark.parametrize(("name", "script"), [("Pretending", DONE), ("Heedless", GIVEN_UP)])
def test_one_that_does_not_what_it_has_to_is_caught(
    name: str, script: Scenario, honest: Trial, on_trial: Callable[[Target], Trial]
) -> None:
    check_progress(honest, script)
    with pytest.raises(PropertyBroken, match=r"scenario\.expects: (executions|outcome)"):
        check_progress(on_trial(liar(name)), script)


def test_what_may_go_otherwise_is_passed_over(on_trial: Callable[[Target], Trial]) -> None:
    check_progress(on_trial(liar("Pretending")), SHOWS["Repairing"])
    equal = TurnModel(calls=(booking("a", 1), booking("b", 1)))
    check_progress(on_trial(liar("Pretending")), scenario(turns=[equal]))


LIARS_FOLDER = Path(__file__).parents[2] / "liars"


def test_death_at_any_point(stage: Stage) -> None:
    (spec,) = expand([scenario(turns=[TurnModel(calls=(booking("a", 1),))])])
    deaths = [Death("turn1.asked"), Death("a.committed")]
    for attribute in ("honest", "afresh"):
        source = TargetSource(name="t", python=f"durable:{attribute}", cwd=LIARS_FOLDER)
        with driver(source, spare=True) as worker:
            trial = Trial(driver=worker, card=worker.card(), stage=stage)
            if attribute == "honest":
                check_deaths(trial, spec, *deaths)
                continue
            with pytest.raises(PropertyBroken, match=r"scenario\.expects: effects") as caught:
                check_deaths(trial, spec, *deaths)
            assert caught.value.failure.shown.death == Death("a.committed")


def test_nothing_dies_in_this_process(on_trial: Callable[[Target], Trial]) -> None:
    check_deaths(on_trial(HONEST), scenario(), Death("turn1.asked"), Death("turn9.asked"))


def test_what_a_target_does_not_declare_is_left_out(on_trial: Callable[[Target], Trial]) -> None:
    check_rules(on_trial(liar("Endless")), scenario(needs=("images",)))


def test_a_case_is_as_good_as_a_scenario(honest: Trial) -> None:
    (spec,) = expand([scenario()])
    assert isinstance(spec, CaseSpec)
    check_safety(honest, spec)
    check_delivery(honest, spec, MANY)
