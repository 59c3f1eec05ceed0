"""The order of events that the Responses service keeps, told apart from how the fake makes it.

One letter stands for each event of an item, so that the grammar of each kind of item is a
regular expression over its events; other items may come in between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopcheck.fake_providers.wire import Frame, JsonObject

_LETTERS = {
    "output_item.added": "A",
    "output_item.done": "Z",
    "content_part.added": "p",
    "content_part.done": "q",
    "output_text.delta": "t",
    "output_text.done": "T",
    "refusal.delta": "r",
    "refusal.done": "R",
    "function_call_arguments.delta": "f",
    "function_call_arguments.done": "F",
    "custom_tool_call_input.delta": "c",
    "custom_tool_call_input.done": "C",
    "reasoning_summary_part.added": "s",
    "reasoning_summary_part.done": "S",
    "reasoning_summary_text.delta": "u",
    "reasoning_summary_text.done": "U",
    "mcp_call_arguments.delta": "m",
    "mcp_call_arguments.done": "M",
    "code_interpreter_call_code.delta": "k",
    "code_interpreter_call_code.done": "K",
    "in_progress": "1",
    "searching": "2",
    "generating": "2",
    "interpreting": "3",
    "completed": "4",
    "failed": "5",
}
_ITEMS = {
    "message": "A(pt*Tq|pr*Rq)Z",
    "function_call": "Af*FZ",
    "custom_tool_call": "Ac*CZ",
    "reasoning": "A(su*US)*Z",
    "mcp_list_tools": "A1[45]?Z",
    "mcp_call": "A1m*M[45]?Z",
    "web_search_call": "A124?Z",
    "file_search_call": "A124?Z",
    "image_generation_call": "A124?Z",
    "code_interpreter_call": "A1k*K(34)?Z",
}
_COUNTERS = {"content": ("output_text.", "refusal.", "content_part."), "summary": ("reasoning_",)}


def check(frames: Sequence[Frame]) -> None:
    """Fails where the stream is not one that the service sends."""
    events = [frame.data for frame in frames if isinstance(frame.data, dict)]
    assert len(events) == len(frames)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events] == [frame.event for frame in frames]
    assert [_short(event) for event in events[:2]] == ["created", "in_progress"]
    assert _short(events[-1]) in ("completed", "incomplete", "failed")
    items: dict[int, list[JsonObject]] = {}
    for event in events[2:-1]:
        items.setdefault(int(str(event["output_index"])), []).append(event)
    # They are numbered as they begin, without a gap, and the end repeats them all.
    assert list(items) == list(range(len(items)))
    response = events[-1]["response"]
    assert isinstance(response, dict)
    assert response["output"] == [_item(members[-1]) for members in items.values()]
    for members in items.values():
        _check_item(members)


def _check_item(events: Sequence[JsonObject]) -> None:
    begun, ended = _item(events[0]), _item(events[-1])
    for key in ("id", "type", "call_id", "name", "namespace", "server_label"):
        assert begun.get(key) == ended.get(key)
    kind = str(begun["type"])
    told = "".join(_letter(event) for event in events)
    assert re.fullmatch(_ITEMS.get(kind, "AZ"), told), f"{kind}: {told}"
    # What a program printed is there at once.
    assert begun.get("status") == ended.get("status") or begun["status"] == "in_progress"
    for event in events[1:-1]:
        assert event["item_id"] == begun["id"]
        for counter, names in _COUNTERS.items():
            counted = _short(event).startswith(names)
            assert (event.get(f"{counter}_index") == 0) is counted
    deltas = "".join(str(event["delta"]) for event in events if "delta" in event)
    for event in events:
        if _short(event).endswith(("text.done", "refusal.done", "arguments.done")):
            assert deltas in [event.get(key) for key in ("text", "refusal", "arguments")]
        if _short(event).endswith(("input.done", "code.done")):
            assert deltas in [event.get(key) for key in ("input", "code")]


def _letter(event: JsonObject) -> str:
    name = _short(event)
    return _LETTERS.get(name) or _LETTERS[name.rpartition(".")[2]]


def _short(event: JsonObject) -> str:
    return str(event["type"]).removeprefix("response.")


def _item(event: JsonObject) -> JsonObject:
    item = event["item"]
    assert isinstance(item, dict)
    return item
