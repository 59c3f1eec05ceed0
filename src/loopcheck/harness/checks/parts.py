"""Which part of a case a turn belongs to: that of the prompt, of a further message or run, or of a
lane."""

from __future__ import annotations

from loopcheck.harness.scenario.control_model import MessageModel
from loopcheck.harness.scenario.model import Scenario


def part_of(turn: int, scenario: Scenario) -> int:
    """The number of the message or run that the turn answers, 0 for the prompt; all lanes answer
    the prompt."""
    section = _section_of(turn, scenario)
    return section if section <= len(scenario.messages) else 0


def run_of(turn: int, scenario: Scenario) -> int:
    """The number of the run that the turn is given in; each begins a history of its own."""
    begun = scenario.messages[: part_of(turn, scenario)]
    return sum(message.run is not None for message in begun)


def lane_of(turn: int, scenario: Scenario) -> int:
    """The number of the lane that the turn is given in, 0 for what no lane claims."""
    return max(0, _section_of(turn, scenario) - len(scenario.messages))


def _section_of(turn: int, scenario: Scenario) -> int:
    """Turns beyond the script are numbered on, in turn for each section."""
    sizes = _sizes(scenario)
    for section, size in enumerate(sizes):
        if turn <= size:
            return section
        turn -= size
    return (turn - 1) % len(sizes)


def _sizes(scenario: Scenario) -> list[int]:
    sizes = [0]
    for entry in scenario.entries:
        if isinstance(entry, MessageModel):
            sizes.append(0)
        else:
            sizes[-1] += 1
    return [*sizes, *(len(lane.turns) for lane in scenario.lanes.values())]
