"""Output items of Responses: which are calls, and how history holds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.conversation import replayed_arguments, replayed_name
from loopcheck.reference_loop.adapters.parts import responses_parts
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import CallResult, ProposedCall

# The calls that the loop answers, and the field with what the model wrote for them.
CALL_TEXT: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_ITEM_ID: Final = {"function_call": "fc", "custom_tool_call": "ctc"}
# Calls that a client answers to which such tools are offered; here none ever is.
_FOREIGN: Final = frozenset(
    {"apply_patch_call", "computer_call", "local_shell_call", "shell_call", "mcp_approval_request"}
)


def text_name(item: JsonObject) -> str | None:
    """The field with what the model wrote, if this is a call that the loop answers."""
    return CALL_TEXT.get(fields.text(item, "type"))


def calls_among(items: Iterable[JsonObject]) -> list[JsonObject]:
    """The calls that the loop answers."""
    return [item for item in items if text_name(item)]


def waits_for(items: Sequence[JsonObject]) -> str:
    """The type of an item that somebody else has to answer, and that nobody did; empty if none."""
    answered = {
        item.get("call_id") for item in items if fields.text(item, "type").endswith("_output")
    }
    for item in items:
        kind = fields.text(item, "type")
        if kind in _FOREIGN and item.get("call_id", "") not in answered:
            return kind
    return ""


def tidy(item: JsonObject) -> JsonObject:
    """What the model wrote for a call as text, whatever it came as."""
    name = text_name(item)
    return item if name is None else {**item, name: fields.argument_text(item, name)}


def without_repeats(items: Iterable[JsonObject]) -> list[JsonObject]:
    """The items without a call that is told again: the same ids, and nothing else in it."""
    kept: dict[object, JsonObject] = {}
    for position, item in enumerate(items):
        key: object = position
        name = text_name(item)
        if name and item.get("id"):
            key = (item.get("id"), item.get("call_id"))
            first = kept.get(key)
            if first is not None and item[name] not in ("", first.get(name)):
                key = position
        kept.setdefault(key, item)
    return list(kept.values())


def replayed(item: JsonObject, call: ProposedCall, result: CallResult) -> JsonObject:
    """The call as the next request holds it: without an id that cannot be an item's own."""
    mended = {**item, "call_id": call.call_id, "name": replayed_name(call.name)}
    if not fields.text(item, "id").startswith(_ITEM_ID[fields.text(item, "type")]):
        mended.pop("id", None)
    if item["type"] == "custom_tool_call":
        return mended  # its input is free text, never wrong as such
    return {**mended, "arguments": replayed_arguments(call.arguments_text, result)}


def answer_to(item: JsonObject, result: CallResult) -> JsonObject:
    """The result in the form that this call wants."""
    output = responses_parts(result.parts) or result.text
    return {"type": f"{item['type']}_output", "call_id": result.call_id, "output": output}
