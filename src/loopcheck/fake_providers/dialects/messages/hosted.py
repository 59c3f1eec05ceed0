"""Calls that the service runs itself: their blocks, their results and what they count as."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from loopcheck.fake_providers.dialects.messages.blocks import sides, text_of
from loopcheck.fake_providers.dialects.messages.lenient import completed_json
from loopcheck.fake_providers.wire import Answer, IssuedHosted, JsonObject

USES: Final = ("server_tool_use", "mcp_tool_use")

_MCP: Final = "mcp"
_SEARCHES: Final = "tool_search"
_SERVER: Final = "loopcheck"
_IN_CONTAINER: Final = (
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
)
_EXPIRES: Final = "2026-11-30T12:05:00Z"


def result_kind(use: JsonObject) -> str:
    """The type of the block that holds the result of this call."""
    if text_of(use, "type") == "mcp_tool_use":
        return "mcp_tool_result"
    name = text_of(use, "name")
    return f"{_SEARCHES if name.startswith(_SEARCHES) else name}_tool_result"


def call_block(call: IssuedHosted, *, empty: bool) -> JsonObject:
    """The block of the call; without its input, as a stream begins it, when `empty`."""
    block: JsonObject = {
        "type": "mcp_tool_use" if _is_mcp(call) else "server_tool_use",
        "id": _own_id(call),
        "name": call.name,
        "input": {} if empty else completed_json(call.arguments),
    }
    return {**block, "server_name": _SERVER} if _is_mcp(call) else block


def result_block(call: IssuedHosted, answer: Answer) -> JsonObject:
    """The block with the result, for the call that it belongs to."""
    block: JsonObject = {"type": _result_type(call), "tool_use_id": _answered_id(call, answer)}
    if _is_mcp(call):
        block["is_error"] = False
    if isinstance(call.result, dict) and "content" in call.result:
        return {**block, **call.result}
    return {**block, "content": _content(call)}


def requests(answer: Answer) -> JsonObject | None:
    """What the usage counts of them; None where the service has no part in the answer. A call
    that waits, as where a turn pauses, counts in the answer that has its result."""
    hosted = [piece for piece in answer.content if isinstance(piece, IssuedHosted)]
    if not hosted:
        return None
    done = [piece.kind for piece in hosted if piece.of is not None or piece.result is not None]
    return {
        "web_search_requests": done.count("web_search"),
        "web_fetch_requests": done.count("web_fetch"),
    }


def container(answer: Answer) -> JsonObject:
    """Where the service ran code for this answer, if it did."""
    kinds = {piece.kind for piece in answer.content if isinstance(piece, IssuedHosted)}
    if kinds.isdisjoint(_IN_CONTAINER):
        return {}
    named = f"container_{answer.response_id.removeprefix('msg_')}"
    return {"container": {"id": named, "expires_at": _EXPIRES}}


def _is_mcp(call: IssuedHosted) -> bool:
    return call.kind.startswith(_MCP)


def _own_id(call: IssuedHosted) -> str:
    return ("mcp" if _is_mcp(call) else "srv") + call.call_id


def _result_type(call: IssuedHosted) -> str:
    if _is_mcp(call):
        return "mcp_tool_result"
    return f"{_SEARCHES if call.kind.startswith(_SEARCHES) else call.kind}_tool_result"


def _answered_id(call: IssuedHosted, answer: Answer) -> str:
    """The call may stand in this answer or, where a turn was paused, in an earlier one."""
    here = any(
        isinstance(piece, IssuedHosted) and piece.of is None and piece.label == call.of
        for piece in answer.content
    )
    if call.of is None or here:
        return _own_id(call)
    return _waiting(answer.reading.history, _result_type(call)) or _own_id(call)


def _waiting(history: Sequence[JsonObject], result_type: str) -> str | None:
    """The id of the latest call in the conversation that has no result of this type yet."""
    blocks = [block for side in sides(history) for block in side.blocks]
    answered = {text_of(block.value, "tool_use_id") for block in blocks}
    for block in reversed(blocks):
        waits = block.kind in USES and text_of(block.value, "id") not in answered
        if waits and result_kind(block.value) == result_type:
            return text_of(block.value, "id")
    return None


def _content(call: IssuedHosted) -> object:
    """The result in the form of its kind; what is no plain text already has one."""
    text = call.result
    if not isinstance(text, str):
        return text if call.result is not None else []
    if _is_mcp(call):
        return [{"type": "text", "text": text}]
    if call.kind == "web_search":
        return [_found(text)]
    if call.kind == "code_execution":
        done = {"return_code": 0, "stdout": text, "stderr": "", "content": []}
        return {"type": "code_execution_result", **done}
    return text


def _found(text: str) -> JsonObject:
    return {
        "type": "web_search_result",
        "title": text,
        "url": "https://example.org/",
        "encrypted_content": json.dumps(text),
        "page_age": None,
    }
