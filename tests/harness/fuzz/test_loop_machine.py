"""A loop that is driven round by round: who passes, who is caught, and what is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

import loopcheck
from loopcheck.harness.canonical import canonical
from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.cli.trial import driver
from loopcheck.harness.config import TargetSource
from loopcheck.harness.fuzz import PropertyBroken, Trial
from loopcheck.harness.fuzz.live import LiveCase
from loopcheck.harness.fuzz.trial import Ran
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.journal import load
from loopcheck.harness.runner import RunOptions
from loopcheck.harness.scenario.control_model import MeanwhileModel, MessageModel
from loopcheck.harness.scenario.load import load_file
from loopcheck.harness.scenario.model import AttemptModel, Scenario, TurnModel
from loopcheck.harness.selftest.trial import HONEST, LIARS
from loopcheck.harness.stage import Stage
from loopcheck.harness.strategies import Feature
from loopcheck.harness.target import Target
from loopcheck.harness.targets.reference import over_sdks

CAUGHT = {
    "Renaming": "correlation.known-id",
    "Trimming": "correlation.known-id",
    "Caching": "correlation.own-result",
    "LateBinding": "execution.exact-arguments",
    "Zipping": "correlation.own-result",
    "Overdue": "effect.reported",
    "Shrugging": "outcome.named",
    "Inventing": "history.continuous",
}
LIARS_FOLDER = Path(__file__).parents[2] / "liars"
MakeTrial = Callable[..., Trial]
# A step is drawn while the service is silent, which may take long on a loaded machine.
PATIENT = over_sdks(silence_seconds=30.0)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with Stage(quiet_seconds=0.05) as open_stage:
        yield open_stage


@pytest.fixture
def on_trial(stage: Stage) -> MakeTrial:
    def make(target: Target, heard: Callable[[Ran], None] = lambda ran: None) -> Trial:
        return Trial(
            driver=InProcess(target),
            card=target.card(),
            stage=stage,
            options=RunOptions(case_seconds=10),
            heard=heard,
        )

    return make


def driven(
    trial: Trial, folder: Path, *, examples: int, features: tuple[Feature, ...] | None = None
) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=12,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    made = seed(1)(loopcheck.machine(trial, features=features, folder=folder))
    run_state_machine_as_test(made, settings=chosen)


@pytest.mark.parametrize("target", [HONEST, PATIENT], ids=["honest", "reference"])
def test_an_honest_loop_keeps_every_rule(
    target: Target, on_trial: MakeTrial, tmp_path: Path
) -> None:
    ends: list[str] = []
    driven(on_trial(target, lambda ran: ends.append(ran.result.verdict)), tmp_path, examples=6)
    assert len(ends) >= 6
    assert set(ends) == {"pass"}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", CAUGHT)
def test_the_liars_are_caught(name: str, on_trial: MakeTrial, tmp_path: Path) -> None:
    trial = on_trial(next(one.target for one in LIARS if one.name == name))
    with pytest.raises(PropertyBroken) as caught:
        driven(trial, tmp_path, examples=80, features=("parallel", "faults"))
    check = CAUGHT[name]
    assert caught.value.failure.check == check
    written = tmp_path / f"{check}.yaml"
    (spec,) = expand([load_file(written, tmp_path)])
    again = trial.run(spec)
    assert again is not None
    assert check in {one.check for one in again.result.findings}
    assert load(written.with_suffix(".jsonl")) == caught.value.failure.entries


def scenario(**more: object) -> Scenario:
    document: dict[str, object] = {
        "format": 1,
        "title": "Written as it goes",
        "rule": "It goes the same from its file.",
        "dialects": ["chat"],
        "modes": ["whole"],
        "prompt": "Book two seats.",
        "tools": {"book": {"kind": "write", "args": {"seat": "integer"}, "approval": "ask"}},
        "turns": [],
        **more,
    }
    return Scenario.model_validate(document)


def calling(*seats: int, attempts: tuple[object, ...] = ("normal",)) -> TurnModel:
    calls = [{"as": f"seat{n}", "tool": "book", "args": {"seat": n}} for n in seats]
    return TurnModel.model_validate({"calls": calls, "attempts": list(attempts)})


def test_what_is_written_as_it_goes_goes_the_same_from_a_file(on_trial: MakeTrial) -> None:
    trial = on_trial(HONEST)
    live = LiveCase(trial, CaseSpec(scenario(), "chat", "whole"))
    live.start()
    assert live.asked == 1
    failing = AttemptModel(fault="close")
    live.answers(calling(1, 2, attempts=(failing,)))
    assert live.open is not None
    live.answers(calling(1, 2, attempts=(failing, "normal")))
    assert live.open is None
    assert live.waiting() == ["seat1.waiting", "seat2.waiting"]
    live.happens(MeanwhileModel(when=("seat2.waiting",), do=("approve",)))
    live.go_on()
    assert live.waiting() == ["seat1.waiting.2"]
    live.happens(MeanwhileModel(when=("seat1.waiting.2",), do=("deny",)))
    live.go_on()
    assert live.asked == 2
    live.answers(TurnModel(say="One is booked."))
    assert [outcome.state for outcome in live.ended or ()] == ["completed"]
    live.follows(MessageModel(run="Book another one."))
    live.answers(calling(3))
    ran = live.close()
    assert ran is not None
    assert ran.spec.scenario.needs == ("approval",)
    assert [entry["state"] for entry in ran.entries if entry["kind"] == "outcome"] == [
        *("paused", "paused", "completed", "paused")
    ]
    again = trial.run(ran.spec)
    assert again is not None
    assert canonical(again.entries) == canonical(ran.entries)
    assert ran.result.verdict == "pass"


def test_what_breaks_is_told(on_trial: MakeTrial) -> None:
    @loopcheck.loop(dialects=["chat"], can=["approval"])
    def broken(task: loopcheck.Task) -> loopcheck.Outcome:
        return None  # type: ignore[return-value]

    live = LiveCase(on_trial(broken), CaseSpec(scenario(), "chat", "whole"))
    live.start()
    assert (live.asked, live.ended, live.is_over) == (None, None, True)
    ran = live.close()
    assert ran is not None
    assert ran.result.verdict == "target broken"


def test_a_machine_is_for_what_the_target_speaks_and_bears() -> None:
    @loopcheck.loop(dialects=["chat"], modes=["whole"], can=["limits"])
    def small(task: loopcheck.Task) -> loopcheck.Outcome:
        return loopcheck.final("done")

    made = loopcheck.machine(small)
    assert (list(made.dialects), list(made.modes)) == (["chat"], ["whole"])
    assert not {"approvals", "cancels", "messages"} & made.features
    assert "TestCase" in dir(made)


def test_a_process_that_dies_is_resumed(stage: Stage) -> None:
    source = TargetSource(name="t", python="durable:honest", cwd=LIARS_FOLDER)
    with driver(source, spare=True) as worker:
        trial = Trial(driver=worker, card=worker.card(), stage=stage)
        book = {"kind": "write", "args": {"seat": "integer"}, "operation": ["seat"]}
        keyed = scenario(tools={"book": {**book, "deduplicates": True}})
        live = LiveCase(trial, CaseSpec(keyed, "chat", "whole"))
        live.start()
        live.happens(MeanwhileModel(when=("seat1.committed",), do=("kill", "resume")))
        live.answers(calling(1))
        assert live.asked == 2
        live.answers(TurnModel(say="It is booked."))
        ran = live.close()
    assert ran is not None
    assert [entry["kind"] for entry in ran.entries].count("died") == 1
    assert (ran.spec.scenario.needs, ran.result.verdict) == (("resume",), "pass")
