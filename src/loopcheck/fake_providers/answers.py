"""Gives a scripted answer its ids, counts and times, all derived from the seed."""

from __future__ import annotations

from loopcheck.fake_providers.dialects import Dialect, dialect
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.script import Attempt, Call, Refuse, Say, Usage
from loopcheck.fake_providers.wire import Answer, IssuedCall, Piece, Reading

_EPOCH = 1_780_000_000


def prepare(
    reading: Reading, attempt: Attempt, *, turn: int, asked: int, seed: int, number: int
) -> Answer:
    """The answer to the `asked`-th request for this turn, which is request `number` of the case."""
    spoken = dialect(reading.dialect)
    pieces: list[Piece] = []
    item_ids: list[str] = []
    for ordinal, content in enumerate(attempt.content):
        mark = digest(seed, turn, asked, ordinal)
        match content:
            case Say():
                item_ids.append(spoken.item_id("say", mark))
                pieces.append(content)
            case Refuse():
                item_ids.append(spoken.item_id("refuse", mark))
                pieces.append(content)
            case Call():
                item_ids.append(spoken.item_id("call", mark))
                pieces.append(_issue(spoken, content, mark, item_ids[-1]))
    return Answer(
        response_id=spoken.response_id(digest(seed, turn, asked)),
        item_ids=tuple(item_ids),
        model=reading.model,
        created=_EPOCH + number,
        content=tuple(pieces),
        stop=attempt.stop,
        usage=attempt.usage or _counted(reading, attempt),
        reading=reading,
    )


def _issue(spoken: Dialect, call: Call, mark: str, item_id: str) -> IssuedCall:
    wire_id = spoken.call_id(call.label, mark) if call.wire_id is None else call.wire_id
    return IssuedCall(
        label=call.label,
        tool=call.tool,
        arguments=call.arguments,
        call_id=wire_id,
        item_id=item_id,
    )


def _counted(reading: Reading, attempt: Attempt) -> Usage:
    """Plausible token counts: a quarter of the characters, as tokenizers give for English."""
    said = sum(
        len(item.arguments) + len(item.tool) if isinstance(item, Call) else len(item.text)
        for item in attempt.content
    )
    heard = sum(len(item.text) + len(item.arguments or "") for item in reading.items)
    return Usage(input=heard // 4 + 8, output=said // 4 + 1)
