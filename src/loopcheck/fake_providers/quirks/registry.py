"""Every quirk by name. A new one is one entry here, and its functions in a dialect's module."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from loopcheck.fake_providers.quirks import chat_chunks, chat_deltas, messages, responses
from loopcheck.fake_providers.quirks.entry import (
    Accepts,
    Entry,
    alone,
    is_number,
    number_or_list,
    one_of,
    some_of,
)

_WAYS: Final = ("absent", "growing", "mixed")
_DROPPED: Final = ("item-added", "args-delta", "args-done", "item-done", "final-output")
_SHAPES: Final = ("object", "absent", "empty")
_FILTERS: Final = ("first", "between", "after")
_ALONE: Final = "nothing"


def _index(value: object) -> bool:
    if isinstance(value, dict):
        return list(value) == ["from"] and is_number(value["from"])
    if isinstance(value, list | tuple):
        return bool(value) and all(entry is None or is_number(entry) for entry in value)
    return value is None or value in _WAYS or is_number(value)


def _fields(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and set(value) <= {"id", "type", "name"}


def _split(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) > 1 and all(isinstance(piece, str) and piece for piece in value)
    return is_number(value, least=2)


def _word_or_null(value: object) -> bool:
    return value is None or (isinstance(value, str) and bool(value))


def _word(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _dropped(value: object) -> bool:
    """Something has to be left that states the arguments, and something that names the call."""
    given = set(value if isinstance(value, list | tuple) else [value])
    states, names = set(_DROPPED[1:]), {"item-added", "item-done", "final-output"}
    return some_of(*_DROPPED)(value) and not (states <= given or names <= given)


def _at_least(least: int) -> Accepts:
    return lambda value: is_number(value, least=least)


_ENTRIES: Final = (
    Entry(
        name="index",
        sentence="The index of tool-call deltas is missing or wrong.",
        grounds=("B001", "B005", "B007", "B010", "B015", "B017"),
        takes="`absent`; `null`; a number for all calls; `{from: n}`; a list, one per call; "
        "`growing` with each delta; `mixed` (every other delta lacks it)",
        accepts=_index,
        words=_WAYS,
        frames={"chat": chat_deltas.index},
    ),
    Entry(
        name="continuation",
        sentence="Every later delta of a call has fields of its head, too.",
        grounds=("B019",),
        takes="a mapping of `id`, `type` and `name`; the value `same` repeats the head's",
        accepts=_fields,
        frames={"chat": chat_deltas.continuation},
    ),
    Entry(
        name="late-id",
        sentence="The id of a call comes with its n-th delta, or with its last.",
        grounds=("B011",),
        takes="a number from 2",
        accepts=_at_least(2),
        frames={"chat": chat_deltas.late_id},
    ),
    Entry(
        name="batch-deltas",
        sentence="Neighbouring deltas share one chunk's list.",
        grounds=("B003", "B004"),
        takes="how many: a number from 2, or a list of numbers of which the last repeats",
        accepts=number_or_list(2),
        frames={"chat": chat_deltas.batch_deltas},
    ),
    Entry(
        name="split-name",
        sentence="The name of the tool comes in pieces, each in a delta of its own.",
        grounds=("B047",),
        takes="a number of pieces from 2, or the pieces",
        accepts=_split,
        frames={"chat": chat_deltas.split_name},
    ),
    Entry(
        name="id-in-function",
        sentence="The id stands inside `function`, and `type` is missing.",
        grounds=("B031",),
        takes=_ALONE,
        accepts=alone,
        frames={"chat": chat_deltas.id_in_function},
        bodies={"chat": chat_chunks.whole_id_in_function},
    ),
    Entry(
        name="args-in-head",
        sentence="The first fragment of the arguments rides on the head of the call.",
        grounds=("B032",),
        takes=_ALONE,
        accepts=alone,
        frames={"chat": chat_deltas.args_in_head},
    ),
    Entry(
        name="repeat-args",
        sentence="All arguments of a call come once more at its end.",
        grounds=("B033",),
        takes=_ALONE,
        accepts=alone,
        frames={
            "responses": responses.repeat_args,
            "chat": chat_deltas.repeat_args,
            "messages": messages.repeat_args,
        },
    ),
    Entry(
        name="drop",
        sentence="Events of each call are left out, or the output of the terminal event. "
        "One that states the arguments has to stay, and one that names the call.",
        grounds=("B022", "B024"),
        takes="one or a list of `item-added`, `args-delta`, `args-done`, `item-done`, "
        "`final-output`",
        accepts=_dropped,
        words=_DROPPED,
        frames={"responses": responses.drop},
    ),
    Entry(
        name="item-id",
        sentence="The item id of each call is missing, or is its call id.",
        grounds=("B025", "B026", "B027"),
        takes="`null`, `absent`, or `call-id`",
        accepts=one_of(None, "absent", "call-id"),
        words=("absent", "call-id"),
        frames={"responses": responses.item_id},
        bodies={"responses": responses.whole_item_id},
    ),
    Entry(
        name="repeat-item",
        sentence="The item events of each call come twice.",
        grounds=("B131",),
        takes="nothing, or `empty`: the second `done` has no arguments",
        accepts=one_of(True, "empty"),
        words=("empty",),
        frames={"responses": responses.repeat_item},
    ),
    Entry(
        name="bare-terminal",
        sentence="The response of the terminal event has its status and its output, no more.",
        grounds=("B028",),
        takes=_ALONE,
        accepts=alone,
        frames={"responses": responses.bare_terminal},
        bodies={"responses": responses.whole_bare_terminal},
        of_calls=False,
    ),
    Entry(
        name="item-status",
        sentence="Each call has this status when it is done, also with cut arguments.",
        grounds=("B079",),
        takes="a word",
        accepts=_word,
        frames={"responses": responses.item_status},
        bodies={"responses": responses.whole_item_status},
    ),
    Entry(
        name="arguments",
        sentence="The arguments of a call are no text. Only `object` touches calls that have "
        "arguments.",
        grounds=("B040", "B041", "B044", "B048", "B050", "B051"),
        takes="`object` or `null` (chat, responses), `absent`, or `empty` (on messages: no delta; "
        "streams only)",
        accepts=one_of("object", None, "absent", "empty"),
        words=_SHAPES,
        frames={
            "responses": responses.arguments,
            "chat": chat_deltas.arguments,
            "messages": messages.arguments,
        },
        bodies={
            "responses": responses.whole_arguments,
            "chat": chat_chunks.whole_arguments,
            "messages": messages.whole_arguments,
        },
        misfits={
            ("messages", "stream"): frozenset({"object", "null"}),
            ("messages", "whole"): frozenset({"object", "null", "empty"}),
        },
    ),
    Entry(
        name="finish",
        sentence="The stop reason is this word; with `none`, what holds it is left out.",
        grounds=("B062", "B074", "B084", "B085", "B088"),
        takes="a word, `null`, or `none`",
        accepts=_word_or_null,
        frames={"chat": chat_chunks.finish, "messages": messages.finish},
        bodies={"chat": chat_chunks.whole_finish, "messages": messages.whole_finish},
        of_calls=False,
    ),
    Entry(
        name="finish-on-last-delta",
        sentence="The finish reason rides on the last delta.",
        grounds=("B091",),
        takes=_ALONE,
        accepts=alone,
        frames={"chat": chat_chunks.finish_on_last_delta},
        of_calls=False,
    ),
    Entry(
        name="usage-frame",
        sentence="A chunk with token counts comes although nobody asked for one.",
        grounds=("B120",),
        takes=_ALONE,
        accepts=alone,
        frames={"chat": chat_chunks.usage_frame},
        of_calls=False,
    ),
    Entry(
        name="filter-frames",
        sentence="Chunks of a content filter come: one without choices at first, or ones whose "
        "choice has no delta, between the deltas of calls or after the finish reason.",
        grounds=("B106", "B107", "B108"),
        takes="one or a list of `first`, `between`, `after`",
        accepts=some_of(*_FILTERS),
        words=_FILTERS,
        frames={"chat": chat_chunks.filter_frames},
        of_calls=False,
    ),
    Entry(
        name="odd-field",
        sentence="An unrelated field of an unexpected type stands beside each delta.",
        grounds=("B102",),
        takes=_ALONE,
        accepts=alone,
        frames={
            "responses": responses.odd_field,
            "chat": chat_chunks.odd_field,
            "messages": messages.odd_field,
        },
        bodies={
            "responses": responses.whole_odd_field,
            "chat": chat_chunks.whole_odd_field,
            "messages": messages.whole_odd_field,
        },
        of_calls=False,
    ),
    Entry(
        name="unknown-event",
        sentence="Events of a type that nobody knows come at the start and inside each piece.",
        grounds=("B118",),
        takes=_ALONE,
        accepts=alone,
        frames={
            "responses": responses.unknown_event,
            "chat": chat_chunks.unknown_event,
            "messages": messages.unknown_event,
        },
        of_calls=False,
    ),
    Entry(
        name="unknown-block",
        sentence="A content block of a type that nobody knows comes first.",
        grounds=("B118",),
        takes=_ALONE,
        accepts=alone,
        frames={"messages": messages.unknown_block},
        bodies={"messages": messages.whole_unknown_block},
        of_calls=False,
    ),
    Entry(
        name="bare-ping",
        sentence="Pings have no data; one comes at the start.",
        grounds=("B114",),
        takes=_ALONE,
        accepts=alone,
        frames={"messages": messages.bare_ping},
        of_calls=False,
    ),
)

QUIRKS: Final[Mapping[str, Entry]] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
