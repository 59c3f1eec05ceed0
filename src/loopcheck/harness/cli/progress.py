"""What is printed while a target is on trial: one line a case, on a terminal or not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.expected import Expected, apply
from loopcheck.harness.results import CaseResult, TargetCard, TargetResult
from loopcheck.harness.runner import declared
from loopcheck.harness.scoring import scored
from loopcheck.harness.shards import Shard
from loopcheck.reports import terminal


@dataclass(slots=True)
class Progress:
    """Tells the run of one target as it goes, to `say`. `without` says which scenarios do not
    count, and why."""

    say: Callable[[str], None]
    _: KW_ONLY
    cases: Sequence[CaseSpec]
    suite: str
    without: Mapping[str, str]
    listed: Expected
    samples: bool = False
    shard: Shard | None = None
    _card: TargetCard | None = None
    _width: int = 0
    _clock: float = 0.0
    _smoked: bool = field(default=False)
    _below: str | None = None

    def started(self, card: TargetCard) -> None:
        """The target answered; its smoke case comes next."""
        chosen = declared(self.cases, card, samples=self.samples)
        left_out = len(declared(self.cases, card)) - len(chosen)
        mine = declared(self.cases, card, samples=self.samples, shard=self.shard)
        self._card, self._clock = card, time.perf_counter()
        self._width = max((len(spec.id) for spec in mine), default=0)
        dialects = dict.fromkeys(spec.dialect for spec in mine)
        part = str(self.shard or "")
        self.say(
            terminal.opening(card, suite=self.suite, cases=len(mine), dialects=dialects, part=part)
        )
        if left_out:
            self.say(terminal.sample_line(left_out))

    def case(self, result: CaseResult) -> None:
        """A case was judged. The smoke case went well, since none runs otherwise."""
        self._smoke(time.perf_counter() - self._clock - result.seconds)
        if self._card is not None:
            result = scored(result, self.without.get(result.scenario))
            result = apply(result, self.listed, self._card, today=date.today())
        self.say(terminal.case_line(result, width=self._width, below=self._below))
        if not result.is_death:
            self._below = result.case

    def ended(self, result: TargetResult) -> None:
        """All cases were judged, or the target is broken."""
        if result.broken is None:
            self._smoke(time.perf_counter() - self._clock)

    def _smoke(self, seconds: float) -> None:
        if not self._smoked:
            self._smoked = True
            self.say(terminal.smoke_line(seconds))
