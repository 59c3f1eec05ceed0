"""What a search has covered, by what really came: in scenarios, and in journals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from loopcheck.harness.fuzz.trial import Ran
from loopcheck.harness.scenario.compile import quirk_of
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.tool_model import name_of

SECTIONS: Final = (
    "dialects",
    "events",
    "stops",
    "ends",
    "faults",
    "quirks",
    "behaviours",
    "outcomes",
)
_EVENT: Final = re.compile(r"^event: ?([a-z_.]+)", re.MULTILINE)
_CHUNK: Final = re.compile(r'"object": ?"(chat\.completion\.chunk)"|data: ?(\[DONE\])')


@dataclass(slots=True)
class Coverage:
    """Counts by section and word."""

    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {section: Counter() for section in SECTIONS}
    )

    def add(self, ran: Ran) -> None:
        """Counts a case that was run."""
        spec = ran.spec
        self.counts["dialects"][f"{spec.dialect}-{spec.mode}"] += 1
        for section, words in _written(spec.scenario):
            self.counts[section].update(words)
        for entry in ran.entries:
            match entry["kind"]:
                case "response":
                    self.counts["stops"][str(entry.get("stop"))] += 1
                    self.counts["ends"][str(entry.get("ends"))] += 1
                    if entry.get("fault"):
                        self.counts["faults"][str(entry["fault"])] += 1
                case "sent":
                    self.counts["events"].update(_events(entry.get("frames")))
                case "outcome":
                    self.counts["outcomes"][str(entry.get("state"))] += 1

    def lines(self) -> Iterator[str]:
        """One line a section, the most frequent words first."""
        for section, counts in self.counts.items():
            words = [f"{word} {count}" for word, count in _sorted(counts)]
            yield f"{section:<11} {', '.join(words) or 'none'}"


def _sorted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _written(scenario: Scenario) -> Iterator[tuple[str, Iterable[str]]]:
    if isinstance(scenario.quirks, tuple):
        yield "quirks", [quirk_of(quirk).name for quirk in scenario.quirks]
    for tool in scenario.client_tools.values():
        listed = () if isinstance(tool.behaves, dict) else tool.behaves
        yield "behaviours", [name_of(entry) for entry in listed]


def _events(frames: object) -> Iterator[str]:
    for frame in frames if isinstance(frames, list) else ():
        text = str(frame)[:400]
        if found := _EVENT.search(text):
            yield found[1]
        elif chunk := _CHUNK.search(text):
            yield chunk[1] or chunk[2]
