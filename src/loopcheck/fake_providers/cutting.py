"""Cuts a text in pieces of given lengths, as quickly as Python can."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import AnyStr, cast


class Cut:
    """Gives the pieces of any text that is as long as all these lengths together."""

    def __init__(self, lengths: Iterable[int]) -> None:
        ends = accumulate(lengths, initial=0)
        self._slices = [slice(start, end) for start, end in pairwise(ends)]
        # Half as long as slice by slice; of a single one it would give no tuple.
        self._pieces = itemgetter(*self._slices) if len(self._slices) > 1 else None

    def __call__(self, whole: AnyStr) -> tuple[AnyStr, ...]:
        if self._pieces is not None:
            return cast(tuple[AnyStr, ...], self._pieces(whole))
        return tuple([whole[piece] for piece in self._slices])
