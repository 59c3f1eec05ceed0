"""Shards: the cases of one run, divided among several machines.

Where a case belongs follows from its id alone, so that a new scenario moves no other. A death
belongs where its case does, for the case as it is undisturbed says at which points it can die.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

# More machines than this nobody has; a slip of the finger is more likely.
MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run: the `number`th `of` so many."""

    number: int
    of: int

    def holds(self, case_id: str) -> bool:
        """Whether the case of this id, without a death, belongs to this shard."""
        return number_of(case_id, self.of) == self.number

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def number_of(case_id: str, of: int) -> int:
    """The number of the shard to which the case belongs, of so many."""
    found = sha256(case_id.encode(errors="surrogatepass")).digest()
    return int.from_bytes(found[:8], "big") % of + 1


def parse(text: str) -> Shard:
    """The shard that is meant by `2/5`. Raises ValueError, which says what would be right."""
    found = re.fullmatch(r"([0-9]{1,5})/([0-9]{1,5})", text)
    if found is None:
        raise ValueError(f"{text!r} is no shard; write K/N, as in 2/5")
    number, of = int(found[1]), int(found[2])
    if not 1 <= of <= MOST:
        raise ValueError(f"{text!r} is no shard; N is 1 to {MOST}")
    if not 1 <= number <= of:
        raise ValueError(f"{text!r} is no shard; of {of} shards there are 1/{of} to {of}/{of}")
    return Shard(number, of)


def digest(words: Iterable[str]) -> str:
    """A short digest of what a run was asked for, equal in all shards of one run."""
    text = "\n".join(words).encode(errors="surrogatepass")
    return sha256(text).hexdigest()[:16]
