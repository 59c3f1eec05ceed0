"""Gives a scripted answer its ids, counts and times, all derived from the seed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import cast

from loopcheck.fake_providers.dialects import Dialect, dialect
from loopcheck.fake_providers.dialects.interface import ItemIdKind
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.script import (
    Attempt,
    Call,
    Content,
    DialectName,
    Hosted,
    Refuse,
    Say,
    Think,
    Usage,
)
from loopcheck.fake_providers.wire import (
    Answer,
    IssuedCall,
    IssuedHosted,
    IssuedThought,
    Piece,
    Reading,
)

_EPOCH = 1_780_000_000
_ANY_DIGEST = "0" * 64
# What opaque thinking counts as: 64 tokens, the least that was recorded most often.
_HIDDEN_CHARACTERS = 256


def prepare(
    reading: Reading,
    attempt: Attempt,
    *,
    turn: int,
    asked: int,
    seed: int,
    number: int,
    before: Answer | None = None,
) -> Answer:
    """The answer to the `asked`-th request for this turn, which is request `number` of the case.

    `before` is an answer of this attempt to an earlier request for the turn. The content of an
    answer is the attempt's own where nothing in it has an id that the client gives back.
    """
    spoken = dialect(reading.dialect)
    if before is None or before.content is not attempt.content:
        item_ids, content = _with_ids(spoken, attempt.content, (seed, turn, asked))
    else:
        item_ids, content = before.item_ids, before.content
        if any(item_ids):
            item_ids = tuple(
                [
                    spoken.item_id(_kind(piece), digest(seed, turn, asked, ordinal))
                    for ordinal, piece in enumerate(attempt.content)
                ]
            )
    return Answer(
        response_id=spoken.response_id(digest(seed, turn, asked)),
        item_ids=item_ids,
        model=reading.model,
        created=_EPOCH + number,
        content=content,
        stop=attempt.stop,
        usage=_usage_of(attempt, reading, before),
        reading=reading,
    )


def _with_ids(
    spoken: Dialect, contents: tuple[Content, ...], asked: tuple[int, int, int]
) -> tuple[tuple[str, ...], tuple[Piece, ...]]:
    """The item ids of these contents, and what becomes of them with their ids; the same object
    where nothing does."""
    pieces: list[Piece] = []
    item_ids: list[str] = []
    for ordinal, content in enumerate(contents):
        kind = _kind(content)
        mark = digest(*asked, ordinal) if _is_marked(spoken.name, kind) else ""
        item_ids.append(spoken.item_id(kind, mark))
        pieces.append(_issued(spoken, content, mark, item_ids[-1], pieces))
    said = tuple(pieces)
    return tuple(item_ids), cast(tuple[Piece, ...], contents) if said == contents else said


@cache
def _is_marked(dialect_name: DialectName, kind: ItemIdKind) -> bool:
    """Whether anything in a piece of this kind is derived: text has an id or nothing."""
    return kind not in ("say", "refuse") or bool(dialect(dialect_name).item_id(kind, _ANY_DIGEST))


def _kind(content: Content) -> ItemIdKind:
    match content:
        case Say():
            return "say"
        case Refuse():
            return "refuse"
        case Think():
            return "think"
        case Hosted():
            return "hosted"
        case Call(form="custom"):
            return "custom"
        case Call():
            return "call"


def _issued(
    spoken: Dialect, content: Content, mark: str, item_id: str, before: Sequence[Piece]
) -> Piece:
    match content:
        case Call():
            return IssuedCall(
                label=content.label,
                tool=content.tool,
                arguments=content.arguments,
                call_id=_call_id(spoken, content, mark),
                item_id=item_id,
                form=content.form,
            )
        case Think():
            seal = spoken.seal(mark, redacted=content.redacted)
            return IssuedThought(
                text=content.text, redacted=content.redacted, item_id=item_id, seal=seal
            )
        case Hosted():
            call_id = _hosted_id(before, content.of) or spoken.call_id(content.label, mark)
            return IssuedHosted(
                label=content.label,
                kind=content.kind,
                name=content.name,
                arguments=content.arguments,
                result=content.result,
                call_id=call_id,
                item_id=item_id,
                of=content.of,
            )
        case Say() | Refuse():
            return content


def _call_id(spoken: Dialect, call: Call, mark: str) -> str:
    return spoken.call_id(call.label, mark) if call.wire_id is None else call.wire_id


def _hosted_id(before: Sequence[Piece], label: str | None) -> str | None:
    """The id of the hosted call that a separate result belongs to."""
    for piece in before:
        if isinstance(piece, IssuedHosted) and piece.label == label:
            return piece.call_id
    return None


def _usage_of(attempt: Attempt, reading: Reading, before: Answer | None) -> Usage:
    """What the attempt says, or plausible token counts: a quarter of the characters, as
    tokenizers give for English."""
    if attempt.usage is not None:
        return attempt.usage
    if before is not None and before.reading is reading:
        return before.usage
    said = thought = 0
    for content in attempt.content:
        size = _size(content)
        said += size
        if isinstance(content, Think):
            thought += size
    heard = sum([len(item.text) + len(item.arguments or "") for item in reading.items])
    return _usage(heard // 4 + 8, said // 4 + 1, (thought + 3) // 4)


@lru_cache(maxsize=256)
def _usage(heard: int, said: int, thought: int) -> Usage:
    return Usage(input=heard, output=said, reasoning=thought)


def _size(content: Content) -> int:
    match content:
        case Call():
            return len(content.arguments) + len(content.tool)
        case Hosted():
            return len(content.arguments) + len(content.name)
        case Think(redacted=True):
            return _HIDDEN_CHARACTERS
        case _:
            return len(content.text)
