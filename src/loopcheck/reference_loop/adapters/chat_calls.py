"""Tool calls of Chat Completions: as they came, as a proposal, and as history holds them."""

from __future__ import annotations

from dataclasses import dataclass

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.conversation import replayed_arguments, replayed_name
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import CallResult, ProposedCall

CALL_TEXT = {"function": "arguments", "custom": "input"}


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A call as it was sent; the id may be empty. A custom call's arguments are free text."""

    call_id: str
    name: str
    arguments: str
    kind: str = "function"

    def item(self) -> JsonObject:
        """The call in the words of the protocol."""
        said = {"name": self.name, CALL_TEXT[self.kind]: self.arguments}
        return {"id": self.call_id, "type": self.kind, self.kind: said}


def kind_of(entry: object) -> str:
    """What sort of call an entry is, or a part of one."""
    return "custom" if fields.value(entry, "custom") is not None else "function"


def whole_call(entry: object) -> ChatCall:
    """The call of a response that came in one piece."""
    kind = kind_of(entry)
    said = fields.value(entry, kind)
    return ChatCall(
        id_of(entry),
        fields.text(said, "name"),
        fields.argument_text(said, CALL_TEXT[kind]),
        kind,
    )


def id_of(entry: object) -> str:
    """The id of a call; some gateways put it inside the function."""
    return fields.text(entry, "id") or fields.text(fields.value(entry, "function"), "id")


def replayed(item: JsonObject, call: ProposedCall, result: CallResult) -> JsonObject:
    """The call as the next request holds it."""
    kind, name = fields.text(item, "type"), replayed_name(call.name)
    text = (
        call.arguments_text if kind == "custom" else replayed_arguments(call.arguments_text, result)
    )
    return {"id": call.call_id, "type": kind, kind: {"name": name, CALL_TEXT[kind]: text}}
