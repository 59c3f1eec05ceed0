"""Divides an answer into fragments and puts the steps of its pieces in order."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from loopcheck.fake_providers.script import Delivery, Fragments, Interleave, Refuse, Say
from loopcheck.fake_providers.wire import (
    Close,
    Fragment,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    Open,
    Piece,
    Step,
)

_LONGEST_SEEDED: Final = 12
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NO_CUTS: Final[Mapping[int, Collection[int]]] = MappingProxyType({})


def steps(
    content: Sequence[Piece],
    delivery: Delivery,
    *,
    seed: int,
    cuts: Mapping[int, Collection[int]] = _NO_CUTS,
) -> list[Step]:
    """The order in which the pieces are opened, sent fragment by fragment, and closed.

    Only neighbouring calls are interleaved, never text. `cuts` maps the position of a piece to
    character offsets in its text where a fragment ends, whatever the fragments are. Raises
    ValueError when the listed pieces of a call do not join to its arguments.
    """
    queues = [
        _steps_of(index, _fragments_of(index, piece, delivery, seed, cuts.get(index, ())))
        for index, piece in enumerate(content)
    ]
    ordered: list[Step] = []
    for run in _runs(content):
        members = {index: deque(queues[index]) for index in run}
        ordered.extend(_woven(members, content, delivery.interleave, seed))
    return ordered


def wire_text(piece: Piece) -> str:
    """What the fragments of this piece join to; opaque pieces have none."""
    match piece:
        case IssuedCall():
            return piece.arguments
        case IssuedHosted():
            return "" if piece.of else piece.arguments
        case IssuedThought(redacted=True):
            return ""
        case _:
            return piece.text


def label_of(piece: Piece) -> str:
    """The label under which places find this piece: the call's, `say` or `think`."""
    match piece:
        case IssuedCall() | IssuedHosted():
            return piece.label
        case IssuedThought():
            return "think"
        case Say() | Refuse():
            return "say"


def random_places(length: int, longest: int, numbers: random.Random) -> list[int]:
    """Where to cut something of this length into random parts of 1 to `longest`."""
    places = []
    place = numbers.randint(1, longest)
    while place < length:
        places.append(place)
        place += numbers.randint(1, longest)
    return places


def _steps_of(index: int, fragments: Sequence[str]) -> list[Step]:
    return [Open(index), *(Fragment(index, text) for text in fragments), Close(index)]


def _fragments_of(
    index: int, piece: Piece, delivery: Delivery, seed: int, cuts: Collection[int]
) -> list[str]:
    text = wire_text(piece)
    label = piece.label if isinstance(piece, IssuedCall) else f"say:{index}"
    listed = dict(delivery.pieces).get(label) if isinstance(piece, IssuedCall) else None
    if listed is None:
        fragments = _divided(text, delivery.fragments, random.Random(f"{seed}:{label}"))
    elif "".join(listed) == text:
        fragments = list(listed)
    else:
        raise ValueError(
            f"the pieces of {label!r} join to {''.join(listed)!r}, not to its arguments {text!r}"
        )
    for cut in cuts:
        fragments = list(_cut_at(fragments, cut))
    return fragments


def _divided(text: str, how: Fragments, numbers: random.Random) -> list[str]:
    match how:
        case "whole":
            places: list[int] = []
        case "char":
            places = list(range(1, len(text)))
        case "escapes":
            places = [place for match in _ESCAPE.finditer(text) for place in _inside(match)]
        case "seeded":
            places = random_places(len(text), _LONGEST_SEEDED, numbers)
        case int():
            if how < 1:
                raise ValueError(f"fragments of {how} characters; at least 1 is needed")
            places = list(range(how, len(text), how))
    return [text[start:end] for start, end in pairwise([0, *places, len(text)]) if start < end]


def _inside(escape: re.Match[str]) -> Iterator[int]:
    yield escape.start() + 1
    if escape.end() - escape.start() > 2:
        yield escape.start() + 4


def _cut_at(fragments: Sequence[str], cut: int) -> Iterator[str]:
    start = 0
    for text in fragments:
        inner = cut - start
        if 0 < inner < len(text):
            yield text[:inner]
            yield text[inner:]
        else:
            yield text
        start += len(text)


def _runs(content: Sequence[Piece]) -> list[list[int]]:
    runs: list[list[int]] = []
    for index, piece in enumerate(content):
        after_call = index > 0 and isinstance(content[index - 1], IssuedCall)
        if after_call and isinstance(piece, IssuedCall):
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def _woven(
    members: dict[int, deque[Step]], content: Sequence[Piece], how: Interleave, seed: int
) -> Iterator[Step]:
    for index in _turns_taken(members, content, how, seed):
        if members[index]:
            yield members[index].popleft()
    for queue in members.values():
        yield from queue


def _turns_taken(
    members: Mapping[int, Sequence[Step]], content: Sequence[Piece], how: Interleave, seed: int
) -> Sequence[int]:
    lengths = {index: len(queue) for index, queue in members.items()}
    if how is True:
        return list(lengths) * max(lengths.values())
    if how == "seeded":
        return _shuffled(lengths, random.Random(f"{seed}:interleave:{min(lengths)}"))
    if isinstance(how, tuple):
        labels = {piece.label: i for i in members if isinstance(piece := content[i], IssuedCall)}
        return [labels[label] for label in how if label in labels]
    return []


def _shuffled(lengths: Mapping[int, int], numbers: random.Random) -> list[int]:
    """Every step in random order, but the calls are opened in theirs: a call that begins before
    its predecessor would be another answer."""
    order = [index for index, length in lengths.items() for _ in range(length)]
    numbers.shuffle(order)
    unopened = deque(lengths)
    return [unopened.popleft() if index in unopened else index for index in order]
