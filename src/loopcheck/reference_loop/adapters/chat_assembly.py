"""From raw Chat Completions chunks to one turn.

A call is identified by its index. Gateways leave the index out, repeat it for every call, repeat
or delay ids, and split names; the rules for that stand in `_find`. Whatever cannot be attributed
to a call without guessing makes the whole response unusable.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loopcheck.reference_loop.adapters import fields


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A call as it was sent; the id may be empty."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """What one response said. `finish` is None where the protocol's end signal is missing."""

    text: str = ""
    refusal: str | None = None
    calls: tuple[ChatCall, ...] = ()
    finish: str | None = None
    unattributed: bool = False


def whole_turn(completion: object) -> ChatTurn:
    """The turn of a response that came in one piece."""
    choices = fields.entries(completion, "choices")
    choice = choices[0] if choices else None
    message = fields.value(choice, "message")
    refusal = fields.value(message, "refusal")
    return ChatTurn(
        text=fields.text(message, "content"),
        refusal=refusal if isinstance(refusal, str) else None,
        calls=tuple(
            ChatCall(
                _id(entry),
                fields.text(fields.value(entry, "function"), "name"),
                fields.argument_text(fields.value(entry, "function"), "arguments"),
            )
            for entry in fields.entries(message, "tool_calls")
        ),
        finish=fields.text(choice, "finish_reason") or None,
    )


@dataclass(slots=True)
class _Slot:
    index: int | None
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

    @property
    def is_over(self) -> bool:
        """Never: usage and `[DONE]` follow the finish reason, and the SDK stops there itself."""
        return False

    def feed(self, chunk: object) -> None:
        for choice in fields.entries(chunk, "choices"):
            if fields.number(choice, "index") in (None, 0):
                self._take(choice)

    def turn(self) -> ChatTurn:
        return ChatTurn(
            text="".join(self._text),
            refusal=self._refusal,
            calls=tuple(ChatCall(slot.call_id, slot.name, slot.arguments) for slot in self._slots),
            finish=self._finish,
            # Where calls take turns, a fragment that names none of them may be of any.
            unattributed=self._unattributed or (self._went_back and self._assumed),
        )

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
        index, call_id = fields.number(entry, "index"), _id(entry)
        function = fields.value(entry, "function")
        name = fields.text(function, "name")
        arguments = fields.argument_text(function, "arguments")
        slot = self._find(index, call_id, name)
        if slot is None:
            if not call_id and not name:
                self._unattributed = self._unattributed or bool(arguments)
                return
            slot = _Slot(index)
            self._slots.append(slot)
        elif slot is not self._current:
            self._went_back = True
        elif index is None and not call_id and arguments:
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
        slot = self._latest(index)
        if slot is not None:
            return None if _opens_another(slot, call_id, name) else slot
        current = self._current
        if current is not None and current.index is None and call_id in ("", current.call_id):
            if not name or call_id:
                current.index = index  # the call began without one
                return current
            return None
        # A growing index on the fragments of an only call names no other call.
        return self._slots[0] if len(self._slots) == 1 and not call_id and not name else None

    def _find_without_index(self, call_id: str, name: str) -> _Slot | None:
        if call_id:
            for slot in reversed(self._slots):
                if slot.call_id == call_id:
                    return slot
        current = self._current
        if current is None or _opens_another(current, call_id, name):
            return None
        # An id alone is a late one; an id with a name opens a call.
        return None if call_id and name else current

    def _latest(self, index: int) -> _Slot | None:
        return next((slot for slot in reversed(self._slots) if slot.index == index), None)


def _opens_another(slot: _Slot, call_id: str, name: str) -> bool:
    """Whether a delta that seems to go on with this call begins another one.

    A new id does. So does a new name after arguments, where there is no id to tell.
    """
    if call_id and slot.call_id:
        return call_id != slot.call_id
    return bool(name and slot.arguments and name != slot.name)


def _id(entry: object) -> str:
    return fields.text(entry, "id") or fields.text(fields.value(entry, "function"), "id")
