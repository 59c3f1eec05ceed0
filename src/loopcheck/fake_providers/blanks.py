"""A text with blanks, which is filled in again and again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from loopcheck.fake_providers.cutting import Cut
from loopcheck.fake_providers.padding import STAND_IN, Pads

_Run: TypeAlias = tuple[slice, int]

_PAD: Final = re.compile(rf"{STAND_IN}(\d+):(\d+)~")
_ANY_PAD: Final = rf"{STAND_IN}\d+:\d+~"


class Blanks:
    """A text in which each of `blanks` stands for a value, and stand-ins for paddings; filled in,
    it has these segments, or others of their sizes. `size` is that of all of them."""

    def __init__(self, text: str, blanks: Sequence[str], segments: Sequence[bytes]) -> None:
        any_blank = "|".join([_ANY_PAD, *blanks])
        parts = re.split(f"({any_blank})", text)
        places = range(1, len(parts), 2)
        pads = {at: found for at in places if (found := _PAD.fullmatch(parts[at]))}
        self._parts = [b"" if at % 2 else part.encode() for at, part in enumerate(parts)]
        self._places = [_runs([at for at in places if parts[at] == value]) for value in blanks]
        self._pad_places = _runs(list(pads))
        self._pads = Pads((int(found[1]), int(found[2])) for found in pads.values())
        self.size = sum(map(len, segments))
        self.segments = Cut(map(len, segments))

    def filled(self, values: Sequence[str]) -> bytes:
        """The text with a value for each blank, of which the first is the id of the response."""
        parts = list(self._parts)
        for value, runs in zip(values, self._places, strict=True):
            for run, size in runs:
                parts[run] = [value.encode()] * size
        if self._pad_places:
            pads, start = self._pads.of(values[0]), 0
            for run, size in self._pad_places:
                parts[run] = pads[start : start + size]
                start += size
        return b"".join(parts)


def _runs(places: Sequence[int]) -> list[_Run]:
    """The places in stretches of equal steps, each with how many it has: in a stream most are
    filled in by one assignment."""
    runs: list[_Run] = []
    start = 0
    while start < len(places):
        step = places[start + 1] - places[start] if start + 1 < len(places) else 1
        end = start + 1
        while end < len(places) and places[end] - places[end - 1] == step:
            end += 1
        runs.append((slice(places[start], places[end - 1] + 1, step), end - start))
        start = end
    return runs
