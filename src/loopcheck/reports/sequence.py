"""The journal of a case as the steps of a sequence between service, loop and world."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Way: TypeAlias = Literal["ask", "tell", "do", "world", "return", "loop", "note"]

LEAD: Final = 8
MOST: Final = 40
_LINE: Final = re.compile(r"\s*(\d+)\s+(re(?:quest|sponse) \d+|\S+)(\s*)(.*)", re.DOTALL)
_LABEL_COLUMN: Final = 12
_WAYS: Final[dict[str, Way]] = {
    "request": "ask",
    "response": "tell",
    "sent": "tell",
    "refused": "tell",
    "execution": "do",
    "effect": "world",
    "lookup": "do",
    "look-up": "do",
    "ended": "return",
    "outcome": "loop",
    "broken": "loop",
    "died": "loop",
    "leg": "loop",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the journal: its number, kind, the label of its call, and what it says."""

    number: int | None
    kind: str
    label: str
    text: str
    way: Way
    proof: bool = False
    first: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """Steps that are not shown."""

    steps: int


def steps(lines: Sequence[str], proof: Sequence[int] = ()) -> list[Step]:
    """Every line as a step; those that prove the finding are marked, its first one doubly."""
    return [_step(line, proof) for line in lines]


def shown(all_steps: Sequence[Step], *, lead: int = LEAD, most: int = MOST) -> list[Step | Gap]:
    """The steps around the proof, gaps counted: a journal may have thousands."""
    if len(all_steps) <= most:
        return list(all_steps)
    proofs = [place for place, step in enumerate(all_steps) if step.proof][: most // 2]
    near = {0} | {
        place
        for proof in proofs or [len(all_steps) - 1]
        for place in range(proof - lead, proof + lead // 2)
        if 0 <= place < len(all_steps)
    }
    kept = sorted({*proofs, *sorted(near)[:most]})
    picked: list[Step | Gap] = []
    before = -1
    for place in [*kept, len(all_steps)]:
        if place > before + 1:
            picked.append(Gap(place - before - 1))
        if place < len(all_steps):
            picked.append(all_steps[place])
        before = place
    return picked


def _step(line: str, proof: Sequence[int]) -> Step:
    found = _LINE.fullmatch(line)
    if found is None:
        return Step(None, "", "", line.strip(), "note")
    number, kind, label, said = int(found[1]), found[2], "", found[4]
    if len(kind + found[3]) == _LABEL_COLUMN:
        label, _, said = said.partition(" ")
    return Step(
        number=number,
        kind=kind,
        label=label,
        text=said.strip(),
        way=_WAYS.get(kind.partition(" ")[0], "note"),
        proof=number in proof,
        first=number == next(iter(proof), None),
    )
