"""What tokens cost, where a scenario limits the cost of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from loopcheck.fake_providers.script import DialectName

_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What tokens cost, in dollars a million."""

    input: float = 2.5
    output: float = 10.0

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What a response costs, in dollars."""
        return (self.input * input_tokens + self.output * output_tokens) / _MILLION


# Those of the models that tasks name.
PRICES: Final[Mapping[DialectName, Prices]] = {
    "responses": Prices(),
    "chat": Prices(),
    "messages": Prices(input=3.0, output=15.0),
}
