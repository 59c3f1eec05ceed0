"""What is tried: a scenario, and the property that it is held against. Needs `loopcheck[fuzz]`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.cases import Death, expand
from loopcheck.harness.fuzz.failure import Failure
from loopcheck.harness.fuzz.properties import (
    RETRIED,
    broken_death,
    broken_delivery,
    broken_portability,
    broken_progress,
    broken_repetition,
    broken_retry,
    broken_rule,
)
from loopcheck.harness.fuzz.trial import Trial
from loopcheck.harness.fuzz.wanted import given_up
from loopcheck.harness.scenario.errors import ScenarioError
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import AttemptModel, DeliveryModel, Scenario
from loopcheck.harness.scenario.write import write
from loopcheck.harness.strategies import deaths, deliveries, portable_scenarios, scenarios
from loopcheck.harness.strategies.features import Feature
from loopcheck.harness.strategies.tools import SELDOM

Property: TypeAlias = Literal[
    "rules", "delivery", "retries", "portable", "repeatable", "progress", "deaths"
]
# Most examples are about the rules, of which there are many; a comparison runs its case twice.
_OFTEN: Final[tuple[Property, ...]] = ("rules",) * 5
# How far a loop has come when something happens to it from outside is a matter of moments.
_TIMED: Final = frozenset[Feature]({"cancels", "resumes", "gates", "lanes"})
_STREAMED: Final = _TIMED | frozenset[Feature]({"faults", "quirks", "delivery"})
_UNDISTURBED: Final = _TIMED | frozenset[Feature]({"faults", "quirks", "stops", "endless"})
_STRAIGHT: Final = frozenset[Feature]({"parallel", "delivery", "thinking", "state"})
PLAINEST: Final = DeliveryModel()
_FAULTS: Final = (
    RETRIED,
    AttemptModel(fault="close"),
    AttemptModel(fault="eof", at="start"),
    AttemptModel(fault="eof"),
    AttemptModel(fault="reset"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A scenario and what is tried with it."""

    tried: Property
    scenario: Scenario
    delivery: DeliveryModel = PLAINEST
    turn: int = 1
    fault: AttemptModel = RETRIED
    death: Death | None = None

    @property
    def text(self) -> str:
        """What makes it this example and no other."""
        beside = (self.tried, self.delivery, self.turn, self.fault, self.death)
        return f"{beside!r}\n{write(self.scenario)}"

    def to_bytes(self) -> bytes:
        """The example as it is kept in a database."""
        document = {
            "tried": self.tried,
            "scenario": write(self.scenario),
            "delivery": self.delivery.model_dump(by_alias=True, exclude_none=True),
            "turn": self.turn,
            "fault": self.fault.model_dump(by_alias=True, exclude_defaults=True),
            "death": None if self.death is None else [self.death.point, self.death.rivals],
        }
        return json.dumps(document).encode()

    @classmethod
    def from_bytes(cls, value: bytes) -> Example | None:
        """The example that was kept so; None for one of another version."""
        try:
            document = json.loads(value)
            return cls(
                tried=document["tried"],
                scenario=load_text(document["scenario"].encode(), file="kept", id=""),
                delivery=DeliveryModel.model_validate(document["delivery"]),
                turn=document["turn"],
                fault=AttemptModel.model_validate(document["fault"]),
                death=Death(*document["death"]) if document["death"] else None,
            )
        except (ValueError, LookupError, TypeError, AttributeError, ScenarioError):
            return None

    def failure(self, trial: Trial) -> Failure | None:
        """What this target breaks in it."""
        if self.tried == "portable":
            return broken_portability(trial, self.scenario)
        for spec in expand([self.scenario]):
            if self.tried == "delivery":
                return broken_delivery(trial, spec, self.delivery)
            if self.tried == "retries":
                return broken_retry(trial, spec, self.turn, self.fault)
            if self.tried == "repeatable":
                return broken_repetition(trial, spec)
            if self.tried == "progress":
                return broken_progress(trial, spec)
            if self.death is not None:
                return broken_death(trial, spec, self.death)
            ran = trial.run(spec)
            return None if ran is None else broken_rule(ran)
        return None


def examples(
    *,
    dialects: Iterable[DialectName],
    modes: Iterable[Mode],
    features: Iterable[Feature],
    dies: bool = False,
) -> SearchStrategy[Example]:
    """Examples in these dialects and modes; the simplest is about the rules. `dies` says that
    processes can be ended, and their runs resumed: half of the examples are about that."""
    return _examples(tuple(dialects), tuple(modes), frozenset(features), dies)


@st.composite
def _examples(
    draw: DrawFn,
    dialects: tuple[DialectName, ...],
    modes: tuple[Mode, ...],
    features: frozenset[Feature],
    dies: bool,
) -> Example:
    tried = draw(st.sampled_from(_properties(dialects, modes, dies=dies)))
    if tried == "portable":
        return Example(
            tried=tried, scenario=draw(portable_scenarios(dialects=dialects, modes=modes))
        )
    if tried == "delivery":
        modes = ("stream",)
    less = _features(tried, features)
    scenario = draw(scenarios(dialects=dialects, modes=modes, features=less))
    match tried:
        case "delivery":
            return Example(tried=tried, scenario=scenario, delivery=draw(deliveries()))
        case "retries":
            turn = draw(st.integers(1, len(scenario.turns)))
            fault = draw(st.sampled_from(_FAULTS))
            return Example(tried=tried, scenario=scenario, turn=turn, fault=fault)
        case "progress" if "cancels" in features and draw(SELDOM):
            return Example(tried=tried, scenario=given_up(scenario))
        case "deaths":
            (spec,) = expand([scenario])
            death = draw(deaths(spec, rivals=True))
            return Example(tried=tried, scenario=scenario, death=death)
    return Example(tried=tried, scenario=scenario)


def _features(tried: Property, features: frozenset[Feature]) -> frozenset[Feature]:
    """What may be in a scenario with which this is tried."""
    match tried:
        case "delivery":
            return features - _STREAMED
        case "retries":
            return features - _UNDISTURBED
        case "repeatable" | "deaths":
            return features - _TIMED
        case "progress":
            return features & _STRAIGHT
        case _:
            return features


def _properties(
    dialects: Sequence[DialectName], modes: Sequence[Mode], *, dies: bool
) -> list[Property]:
    found: list[Property] = [*_OFTEN, "retries", "repeatable", "progress"]
    if "stream" in modes:
        found.append("delivery")
    if len(dialects) * len(modes) > 1:
        found.append("portable")
    deaths_: list[Property] = ["deaths"] * len(found)
    return [*found, *deaths_] if dies else found
