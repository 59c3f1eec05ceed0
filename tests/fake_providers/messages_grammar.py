"""The order of events in a Messages stream, checked by itself: no code of the dialect is used.

stream = message_start ( ping | block )* message_delta+ message_stop
block  = content_block_start ( content_block_delta | ping )* content_block_stop
"""

from __future__ import annotations

from collections.abc import Sequence

_DELTAS = {
    "text": r"text_delta",
    "thinking": "thinking_delta",
    "tool_use": "input_json_delta",
    "server_tool_use": "input_json_delta",
    "mcp_tool_use": "input_json_delta",
}


def check(events: Sequence[tuple[str | None, object]]) -> None:
    """Fails where the events, as (name of the event, data), are not in the service's order."""
    kinds = [_field(data, "type") for _, data in events]
    assert [name for name, _ in events] == kinds, "the event line names the type"
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"
    assert kinds.count("message_start") == kinds.count("message_stop") == 1
    deltas = kinds.count("message_delta")
    assert deltas >= 1
    assert kinds[-1 - deltas : -1] == ["message_delta"] * deltas
    _blocks([data for _, data in events[1 : -1 - deltas]])


def _blocks(events: Sequence[object]) -> None:
    running: str | None = None
    number = -1
    deltas: list[object] = []
    for data in events:
        match _field(data, "type"):
            case "ping":
                assert data == {"type": "ping"}
            case "content_block_start":
                assert running is None, "blocks are never interleaved"
                number += 1
                deltas = []
                running = str(_field(_field(data, "content_block"), "type"))
                assert _field(data, "index") == number, "blocks count without gaps"
            case "content_block_delta":
                assert running is not None
                assert _field(data, "index") == number
                deltas.append(_field(data, "delta"))
            case "content_block_stop":
                assert running is not None
                assert _field(data, "index") == number
                _deltas(running, deltas)
                running = None
            case kind:
                raise AssertionError(f"{kind} stands among the blocks")
    assert running is None, "the last block is closed"


def _deltas(block: str, deltas: Sequence[object]) -> None:
    kinds = [_field(delta, "type") for delta in deltas]
    if block == "thinking":
        assert kinds.pop() == "signature_delta"
    allowed = [_DELTAS[block]] if block in _DELTAS else []
    assert set(kinds) <= set(allowed), f"{kinds} in a block of {block}"
    if allowed == ["input_json_delta"]:
        assert _field(deltas[0], "partial_json") == "", "the first fragment of a call is empty"


def _field(data: object, name: str) -> object:
    assert isinstance(data, dict)
    return data[name]
