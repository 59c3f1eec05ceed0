"""From raw Chat Completions chunks to one turn.

A call is identified by its index. Gateways leave the index out, repeat it for every call, repeat
or delay ids, and split names; the rules for that stand in `_find`. Whatever cannot be attributed
to a call without guessing makes the whole response unusable.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.chat_calls import (
    CALL_TEXT,
    ChatCall,
    id_of,
    kind_of,
    whole_call,
)
from loopcheck.reference_loop.adapters.usage import chat_usage
from loopcheck.reference_loop.events import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """What one response said. `finish` is None where the protocol's end signal is missing."""

    text: str = ""
    refusal: str | None = None
    calls: tuple[ChatCall, ...] = ()
    finish: str | None = None
    unattributed: bool = False
    response_id: str = ""
    usage: Usage | None = None


def whole_turn(completion: object) -> ChatTurn:
    """The turn of a response that came in one piece."""
    choices = fields.entries(completion, "choices")
    choice = choices[0] if choices else None
    message = fields.value(choice, "message")
    refusal = fields.value(message, "refusal")
    return ChatTurn(
        text=fields.text(message, "content"),
        refusal=refusal if isinstance(refusal, str) else None,
        calls=tuple(whole_call(entry) for entry in fields.entries(message, "tool_calls")),
        finish=fields.text(choice, "finish_reason") or None,
        response_id=fields.text(completion, "id"),
        usage=chat_usage(fields.value(completion, "usage")),
    )


@dataclass(slots=True, eq=False)
class _Slot:
    index: int | None
    kind: str
    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class ChatAssembly:
    """Builds a turn from chunks, in the order in which they came."""

    _slots: list[_Slot] = field(default_factory=list)
    _current: _Slot | None = None
    _text: list[str] = field(default_factory=list)
    _refusal: str | None = None
    _finish: str | None = None
    _unattributed: bool = False
    _went_back: bool = False
    _assumed: bool = False
    _response_id: str = ""
    _usage: Usage | None = None

    @property
    def is_over(self) -> bool:
        """Never: usage and `[DONE]` follow the finish reason, and the SDK stops there itself."""
        return False

    def feed(self, chunk: object) -> None:
        self._response_id = self._response_id or fields.text(chunk, "id")
        self._usage = chat_usage(fields.value(chunk, "usage")) or self._usage
        for choice in fields.entries(chunk, "choices"):
            if fields.number(choice, "index") in (None, 0):
                self._take(choice)

    def turn(self) -> ChatTurn:
        return ChatTurn(
            text="".join(self._text),
            refusal=self._refusal,
            calls=tuple(
                ChatCall(slot.call_id, slot.name, slot.arguments, slot.kind) for slot in self._slots
            ),
            finish=self._finish,
            unattributed=self._unattributed or (self._assumed and self._is_doubtful()),
            response_id=self._response_id,
            usage=self._usage,
        )

    def _is_doubtful(self) -> bool:
        """Whether a fragment that names no call may be of another than the latest one.

        It may where calls took turns, and where one call has nothing while another has more than
        one text.
        """
        texts = [slot.arguments for slot in self._slots]
        return self._went_back or ("" in texts and not all(map(_is_json, filter(None, texts))))

    def _take(self, choice: object) -> None:
        delta = fields.value(choice, "delta")
        self._text.append(fields.text(delta, "content"))
        refusal = fields.value(delta, "refusal")
        if isinstance(refusal, str):
            self._refusal = (self._refusal or "") + refusal
        for entry in fields.entries(delta, "tool_calls"):
            self._extend(entry)
        self._finish = fields.text(choice, "finish_reason") or self._finish

    def _extend(self, entry: object) -> None:
        index, call_id, kind = fields.number(entry, "index"), id_of(entry), kind_of(entry)
        said = fields.value(entry, kind)
        name, arguments = fields.text(said, "name"), fields.argument_text(said, CALL_TEXT[kind])
        slot = self._find(index, call_id, name)
        if slot is None:
            if not name and (not call_id or self._without_id()):
                self._unattributed = self._unattributed or bool(arguments or call_id)
                return
            slot = _Slot(index, kind)
            self._slots.append(slot)
        elif slot is not self._current:
            self._went_back = True
        elif arguments and not call_id and self._is_shared(index):
            self._assumed = True
        self._current = slot
        slot.call_id = slot.call_id or call_id
        if name != slot.name:  # a repeated name is no second half of it
            slot.name += name
        slot.arguments += arguments

    def _find(self, index: int | None, call_id: str, name: str) -> _Slot | None:
        """The call that a delta continues; None where it opens one, or belongs to none."""
        if index is None:
            return self._find_without_index(call_id, name)
        same = [slot for slot in self._slots if slot.index == index]
        if same:
            slot = _named(same, call_id) or same[-1]
            return None if _opens_another(slot, call_id, name) else slot
        begun = [slot for slot in self._slots if slot.index is None]
        late = _named(begun, call_id)
        if late is None and not name:
            # The only one that began without an index; or a growing index on an only call.
            late = begun[0] if begun == [self._current] else self._only()
            if late is not None and call_id and late.call_id:
                return None
        if late is not None and late.index is None:
            late.index = index
        return late

    def _find_without_index(self, call_id: str, name: str) -> _Slot | None:
        if slot := _named(self._slots, call_id):
            return slot
        if call_id and not name:
            # A late id, if only one call still waits for its own.
            waiting = self._without_id()
            return waiting[0] if len(waiting) == 1 else None
        current = self._current
        if current is None or call_id or (name and current.arguments and name != current.name):
            return None
        return current

    def _without_id(self) -> list[_Slot]:
        return [slot for slot in self._slots if not slot.call_id]

    def _only(self) -> _Slot | None:
        return self._slots[0] if len(self._slots) == 1 else None

    def _is_shared(self, index: int | None) -> bool:
        return index is None or sum(slot.index == index for slot in self._slots) > 1


def _named(slots: list[_Slot], call_id: str) -> _Slot | None:
    return next((slot for slot in reversed(slots) if call_id and slot.call_id == call_id), None)


def _opens_another(slot: _Slot, call_id: str, name: str) -> bool:
    """Whether a delta under this call's index begins another one.

    A new id does. So does a new name after arguments, where there is no id to tell.
    """
    if slot.call_id:
        return call_id not in ("", slot.call_id)
    return bool(name and slot.arguments and name != slot.name)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
