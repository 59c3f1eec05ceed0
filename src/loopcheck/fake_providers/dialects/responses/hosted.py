"""Calls that the service runs itself: their items and the events on the way to the result.

What a scenario calls arguments stands where the service keeps what the model asked for: the
search action, the queries, the code, the text of an MCP call's arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from loopcheck.fake_providers.dialects.openai_common import objects
from loopcheck.fake_providers.wire import IssuedHosted, JsonObject

_Fields: TypeAlias = Callable[[IssuedHosted, JsonObject, bool], JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """The events of one kind of call, between the item's addition and its completion.

    `begins` come first, then the fragments of the text under `text` (an event and the field of
    its last one), then `ends`. `state` says whether the item tells its status; `begun` and `cut`
    are what it says at first and where the token limit struck.
    """

    prefix: str
    fields: _Fields
    begins: tuple[str, ...] = ()
    text: tuple[str, str] | None = None
    ends: tuple[str, ...] = ()
    state: bool = True
    begun: str = "in_progress"
    cut: str = "incomplete"


def item(call: IssuedHosted, status: str, body: JsonObject) -> JsonObject:
    """The output item; empty while in progress."""
    grammar = grammar_of(call)
    told = {"in_progress": grammar.begun, "incomplete": grammar.cut}.get(status, status)
    if status == "completed" and failure(call) is not None:
        told = "failed"
    return {
        "id": item_id(call),
        "type": call.kind,
        **({"status": told} if grammar.state else {}),
        **grammar.fields(call, body, status == "in_progress"),
    }


def item_id(call: IssuedHosted) -> str:
    """The id of the item, with the prefix of its kind."""
    return f"{grammar_of(call).prefix}_{call.item_id}"


def grammar_of(call: IssuedHosted) -> Grammar:
    """The events and fields of this kind of call; of kinds unknown here, as little as can be."""
    return _GRAMMARS.get(call.kind, _PLAIN)


def failure(call: IssuedHosted) -> str | None:
    """What went wrong with an MCP call, whose result is then `{"error": …}`."""
    result = call.result
    if call.kind.startswith("mcp_") and isinstance(result, dict) and list(result) == ["error"]:
        return str(result["error"])
    return None


def _web_search(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    if begun:
        return {}
    action = {"type": "search", "query": call.name, **_arguments(call)}
    sources = {"sources": call.result} if isinstance(call.result, list) else {}
    return {"action": {**action, **sources}}


def _file_search(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    asked = _arguments(call)
    queries = asked.get("queries")
    found = queries if isinstance(queries, list) else [asked.get("query", call.name)]
    results = call.result if isinstance(call.result, list) and not begun else None
    return {"queries": [] if begun else found, "results": results}


def _code(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    printed = call.result if isinstance(call.result, list) else [_logs(call.result)]
    return {
        "code": "" if begun else call.arguments,
        "container_id": f"cntr_{call.item_id}",
        "outputs": None if begun or call.result is None else printed,
    }


def _logs(value: object) -> JsonObject:
    return {"type": "logs", "logs": _text(value)}


def _image(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    return {"result": None if begun or call.result is None else _text(call.result)}


def _mcp_list(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    tools = call.result if isinstance(call.result, list) and not begun else []
    wrong = None if begun else failure(call)
    told = {} if wrong is None else {"error": wrong}
    return {"server_label": call.name, "tools": tools, **told}


def _mcp_call(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    wrong = None if begun else failure(call)
    silent = begun or call.result is None or wrong is not None
    return {
        "approval_request_id": None,
        "arguments": "" if begun else call.arguments,
        "error": None
        if wrong is None
        else {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": wrong}]},
        "name": call.name,
        "output": None if silent else _text(call.result),
        "server_label": _server(body),
    }


def _mcp_approval(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    return {"arguments": call.arguments, "name": call.name, "server_label": _server(body)}


def _tool_search(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    return {
        "arguments": {} if begun else _arguments(call),
        "call_id": None,
        "execution": "server",
    }


def _tools_found(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    tools = call.result if isinstance(call.result, list) else []
    return {"call_id": None, "execution": "server", "tools": tools}


def _program(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    return {
        "call_id": call.call_id,
        "code": "" if begun else call.arguments,
        "fingerprint": f"gAAAAAB{call.item_id}",
    }


def _program_output(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    return {"call_id": call.call_id, "result": "" if begun else _text(call.result)}


def _plain(call: IssuedHosted, body: JsonObject, begun: bool) -> JsonObject:
    return {
        "call_id": call.call_id,
        "name": call.name,
        "arguments": "" if begun else call.arguments,
        "output": None if begun else call.result,
    }


def _arguments(call: IssuedHosted) -> JsonObject:
    try:
        parsed: object = json.loads(call.arguments)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _server(body: JsonObject) -> str:
    """The label of the MCP server that the request names."""
    labels = (tool.get("server_label") for tool in objects(body, "tools"))
    return next((label for label in labels if isinstance(label, str)), "server")


def _search(kind: str) -> tuple[str, ...]:
    return (f"{kind}.in_progress", f"{kind}.searching")


_PLAIN: Final = Grammar(prefix="item", fields=_plain)
_GRAMMARS: Final[Mapping[str, Grammar]] = {
    "web_search_call": Grammar(
        prefix="ws",
        fields=_web_search,
        begins=_search("web_search_call"),
        ends=("web_search_call.completed",),
    ),
    "file_search_call": Grammar(
        prefix="fs",
        fields=_file_search,
        begins=_search("file_search_call"),
        ends=("file_search_call.completed",),
    ),
    "code_interpreter_call": Grammar(
        prefix="ci",
        fields=_code,
        begins=("code_interpreter_call.in_progress",),
        text=("code_interpreter_call_code", "code"),
        ends=("code_interpreter_call.interpreting", "code_interpreter_call.completed"),
    ),
    "image_generation_call": Grammar(
        prefix="ig",
        fields=_image,
        begins=("image_generation_call.in_progress", "image_generation_call.generating"),
        ends=("image_generation_call.completed",),
        cut="generating",
    ),
    "mcp_list_tools": Grammar(
        prefix="mcpl",
        fields=_mcp_list,
        begins=("mcp_list_tools.in_progress",),
        ends=("mcp_list_tools.completed",),
        state=False,
    ),
    "mcp_call": Grammar(
        prefix="mcp",
        fields=_mcp_call,
        begins=("mcp_call.in_progress",),
        text=("mcp_call_arguments", "arguments"),
        ends=("mcp_call.completed",),
    ),
    "mcp_approval_request": Grammar(prefix="mcpr", fields=_mcp_approval, state=False),
    "tool_search_call": Grammar(prefix="tsc", fields=_tool_search),
    "tool_search_output": Grammar(prefix="tso", fields=_tools_found),
    "program": Grammar(prefix="cm", fields=_program, state=False),
    "program_output": Grammar(
        prefix="cmo", fields=_program_output, begun="completed", cut="completed"
    ),
}
