"""What requests ask for, by what was given so far: which turn, in which conversation of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from loopcheck.fake_providers.branches import Branches
from loopcheck.fake_providers.known import Asked, Known
from loopcheck.fake_providers.script import Script, Section
from loopcheck.fake_providers.sections import asked_in, lane_of, without_earlier
from loopcheck.fake_providers.turns import Given, TokenSource, asks_for_a_turn
from loopcheck.fake_providers.wire import IssuedCall, Reading


@dataclass(slots=True, kw_only=True)
class Asking:
    """The memory of one case. `begun` tells how many parts of the script have begun, `rivals`
    whether several processes go on with one run, as they may."""

    script: Script
    tokens: TokenSource
    begun: Callable[[], int]
    rivals: Callable[[], bool]
    _all: Given = field(default_factory=Given)
    _by_lane: dict[int, Given] = field(default_factory=dict)
    _branches: Branches = field(default_factory=Branches)
    _sections: tuple[Section, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.follow(self.script)

    def follow(self, script: Script) -> None:
        """Goes on by this script."""
        self.script = script
        self._sections = script.sections[: 1 + len(script.later)]

    def of(self, known: Known) -> Asked:
        """What the request asks for; as it was found before where nothing could change that."""
        state = (self._all.changes, self.begun())
        if known.asked is None or known.asked_at != state or self._all.looks_for_tokens:
            known.asked, known.asked_at = self._recognised(known.reading), state
        return known.asked

    def _recognised(self, reading: Reading) -> Asked:
        script = self.script
        own = without_earlier(reading.items, script.earlier, script.prompt)
        lane = lane_of(script, reading) if script.lanes else None
        section, items = (lane, own) if lane else asked_in(self._sections, own, self.begun())
        found = self._given_in(lane.number if lane else 0).recognise(items, self.tokens)
        continues = found.turn > 0 and found.by != "count"
        is_turn = continues or asks_for_a_turn(
            own, reading.tools, prompt=section.text, tools=script.tools
        )
        turn = script.after(found.turn, section) if is_turn else None
        return Asked(found, turn, self._all.invented_call(reading.items))

    def _given_in(self, lane: int) -> Given:
        """What was given in the lane with this number; 0 is what no lane claims."""
        if not self.script.lanes:
            return self._all
        return self._by_lane.setdefault(lane, Given())

    def divergence(self, asked: Asked, reading: Reading) -> str | None:
        """Why the request goes on from nothing that was said, or from what somebody else goes on
        from; None where it does neither."""
        invented = asked.invented
        if invented is not None:
            return (
                f"the call of {invented.name!r} with id {invented.call_id!r} at {invented.path} "
                "was never issued in this case"
            )
        fork = self._branches.fork(asked.found.turn, reading.items)
        if fork is None or self.rivals():
            return None
        return (
            f"two conversations go on at once, from attempts {fork[0]} and {fork[1]} of turn "
            f"{asked.found.turn}, and the scenario declares no lanes for them"
        )

    def has_issued(self, call_id: str) -> bool:
        """Whether any response so far issued a call under this id."""
        return self._all.has_issued(call_id)

    def given(self, turn: int, attempt: int, calls: Sequence[IssuedCall], *, text: str) -> None:
        """This attempt was the response to a request for this turn."""
        scripted = turn <= len(self.script.turns)
        self._all.add(turn, calls, text=text, scripted=scripted)
        if self.script.lanes:
            number = self.script.section_of(turn)
            lane = number if number > len(self.script.later) else 0
            self._given_in(lane).add(turn, calls, text=text, scripted=scripted)
        self._branches.issue(turn, attempt, [call.call_id for call in calls])

    def forget(self, keep: int) -> None:
        """Drops the oldest until so much is left."""
        self._all.forget(keep)
        self._branches.forget(keep)
