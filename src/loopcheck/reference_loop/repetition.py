"""Whether a model goes in circles: the same calls in a row, or two batches in turns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from loopcheck.reference_loop.arguments import ArgumentError, canonical, parse
from loopcheck.reference_loop.events import ProposedCall


def fingerprint(calls: Iterable[ProposedCall]) -> str:
    """The same for batches that ask for the same, whatever the ids, the order and the blanks."""
    wanted = sorted(f"{call.name} {_reading(call.arguments_text)}" for call in calls)
    return hashlib.sha256("\n".join(wanted).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def goes_in_circles(fingerprints: Sequence[str], repeats: int) -> bool:
    """Whether the last batch is one too many, where a circle may be gone `repeats` times.

    A circle is one batch, or two that alternate.
    """
    return any(_tail(fingerprints, length) > repeats * length for length in (1, 2))


def kept(fingerprints: Sequence[str], repeats: int) -> tuple[str, ...]:
    """The part of the fingerprints that still matters for a later batch."""
    return tuple(fingerprints[-2 * repeats :])


def _tail(fingerprints: Sequence[str], length: int) -> int:
    """How many batches at the end repeat the one that came `length` before, with the first."""
    same = 0
    for later, earlier in zip(
        reversed(fingerprints), reversed(fingerprints[:-length]), strict=False
    ):
        if later != earlier:
            break
        same += 1
    return same + length


def _reading(text: str) -> str:
    try:
        return canonical(parse(text))
    except ArgumentError:
        return text
