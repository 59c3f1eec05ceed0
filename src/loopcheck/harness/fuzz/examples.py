"""What is tried: a scenario, and the property that it is held against. Needs `loopcheck[fuzz]`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.cases import expand
from loopcheck.harness.fuzz.failure import Failure
from loopcheck.harness.fuzz.properties import (
    RETRIED,
    broken_delivery,
    broken_portability,
    broken_repetition,
    broken_retry,
    broken_rule,
)
from loopcheck.harness.fuzz.trial import Trial
from loopcheck.harness.scenario.errors import ScenarioError
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import AttemptModel, DeliveryModel, Scenario
from loopcheck.harness.scenario.write import write
from loopcheck.harness.strategies import deliveries, portable_scenarios, scenarios
from loopcheck.harness.strategies.features import Feature

Property: TypeAlias = Literal["rules", "delivery", "retries", "portable", "repeatable"]
# Most examples are about the rules, of which there are many; a comparison runs its case twice.
_OFTEN: Final[tuple[Property, ...]] = ("rules",) * 5
_STREAMED: Final = frozenset[Feature]({"faults", "quirks", "delivery"})
_UNDISTURBED: Final = frozenset[Feature]({"faults", "quirks", "stops", "endless"})
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

    @property
    def text(self) -> str:
        """What makes it this example and no other."""
        return f"{self.tried} {self.delivery!r} {self.turn} {self.fault!r}\n{write(self.scenario)}"

    def to_bytes(self) -> bytes:
        """The example as it is kept in a database."""
        document = {
            "tried": self.tried,
            "scenario": write(self.scenario),
            "delivery": self.delivery.model_dump(by_alias=True, exclude_none=True),
            "turn": self.turn,
            "fault": self.fault.model_dump(by_alias=True, exclude_defaults=True),
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
            ran = trial.run(spec)
            return None if ran is None else broken_rule(ran)
        return None


def examples(
    *, dialects: Iterable[DialectName], modes: Iterable[Mode], features: Iterable[Feature]
) -> SearchStrategy[Example]:
    """Examples in these dialects and modes; the simplest is about the rules."""
    return _examples(tuple(dialects), tuple(modes), frozenset(features))


@st.composite
def _examples(
    draw: DrawFn,
    dialects: tuple[DialectName, ...],
    modes: tuple[Mode, ...],
    features: frozenset[Feature],
) -> Example:
    tried = draw(st.sampled_from(_properties(dialects, modes)))
    if tried == "portable":
        scenario = draw(portable_scenarios(dialects=dialects, modes=modes))
        return Example(tried=tried, scenario=scenario)
    if tried == "delivery":
        less = features - _STREAMED
        scenario = draw(scenarios(dialects=dialects, modes=["stream"], features=less))
        return Example(tried=tried, scenario=scenario, delivery=draw(deliveries()))
    if tried == "retries":
        less = features - _UNDISTURBED
        scenario = draw(scenarios(dialects=dialects, modes=modes, features=less))
        turn = draw(st.integers(1, len(scenario.turns)))
        fault = draw(st.sampled_from(_FAULTS))
        return Example(tried=tried, scenario=scenario, turn=turn, fault=fault)
    scenario = draw(scenarios(dialects=dialects, modes=modes, features=features))
    return Example(tried=tried, scenario=scenario)


def _properties(dialects: Sequence[DialectName], modes: Sequence[Mode]) -> list[Property]:
    found: list[Property] = [*_OFTEN, "retries", "repeatable"]
    if "stream" in modes:
        found.append("delivery")
    if len(dialects) * len(modes) > 1:
        found.append("portable")
    return found
