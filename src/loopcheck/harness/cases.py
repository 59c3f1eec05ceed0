"""A case: one scenario in one dialect and mode, and how it is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from loopcheck.fake_providers.script import DIALECTS, DialectName, Mode
from loopcheck.harness.scenario.model import DeliveryModel, Scenario


@dataclass(frozen=True, slots=True)
class Death:
    """The process dies when this point in time has come, and the run is resumed; by `rivals`, in
    two processes at once."""

    point: str
    rivals: bool = False

    def __str__(self) -> str:
        return f"{'rivals' if self.rivals else 'death'}@{self.point}"


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """What is run: `str()` of it is the case's id, such as `once/lost[chat-stream]`, and with a
    death `once/lost[chat-stream]+death@book.committed`."""

    scenario: Scenario
    dialect: DialectName
    mode: Mode
    death: Death | None = None

    @property
    def id(self) -> str:
        return self.undisturbed if self.death is None else f"{self.undisturbed}+{self.death}"

    @property
    def undisturbed(self) -> str:
        """The id of the case as it is when no process dies."""
        return f"{self.scenario.id}[{self.dialect}-{self.mode}]"

    def __str__(self) -> str:
        return self.id


def expand(scenarios: Iterable[Scenario]) -> Iterator[CaseSpec]:
    """Every case of these scenarios, in the order of the format's dialects and modes."""
    for scenario in scenarios:
        dialects = DIALECTS if scenario.dialects == "all" else scenario.dialects
        for dialect in dialects:
            for mode in scenario.modes:
                yield CaseSpec(scenario, dialect, mode)


def delivered(spec: CaseSpec, delivery: DeliveryModel) -> CaseSpec:
    """The case with its streams delivered so, where its turns do not say otherwise."""
    given = delivery.model_dump(exclude_none=True)
    both = spec.scenario.delivery.model_copy(update=given)
    return replace(spec, scenario=spec.scenario.model_copy(update={"delivery": both}))
