"""From an output item of a recorded response to the content that a script would have for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from loopcheck.fake_providers.script import Call, Content, Hosted, Refuse, Say, Think
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import JsonObject

# The client runs these, and a script cannot ask it to.
_OF_CLIENT: Final = ("apply_patch_call", "computer_call", "local_shell_call", "shell_call")

# Name, arguments and result of a call that the service ran.
_Parts: TypeAlias = tuple[str, str, object]


class NotDerivedError(Exception):
    """A recorded response holds what no script can say. Says what."""


def response_content(item: JsonObject, number: int) -> Iterator[Content]:
    """What this item says; several pieces where a message has several parts. Raises
    NotDerivedError."""
    kind = str(item.get("type"))
    match kind:
        case "message":
            for part in _objects(item.get("content")):
                refused = part.get("type") == "refusal"
                yield Refuse(str(part.get("refusal"))) if refused else Say(str(part.get("text")))
        case "reasoning":
            yield Think("".join(str(part.get("text")) for part in _objects(item.get("summary"))))
        case "function_call":
            yield _call(item, "arguments", number)
        case "custom_tool_call":
            yield _call(item, "input", number)
        case _ if kind in _OF_CLIENT:
            raise NotDerivedError(f"an item of type {kind!r}")
        case _:
            name, text, result = _HOSTED.get(kind, _unknown)(item)
            yield Hosted(label=f"h{number}", kind=kind, name=name, arguments=text, result=result)


def _call(item: JsonObject, key: str, number: int) -> Call:
    return Call(
        label=f"c{number}",
        tool=str(item.get("name")),
        arguments=str(item.get(key)),
        wire_id=str(item.get("call_id")),
        form="custom" if key == "input" else "function",
    )


def _web_search(item: JsonObject) -> _Parts:
    action = _object(item.get("action"))
    sources = action.get("sources")
    rest = {key: value for key, value in action.items() if key != "sources"}
    return str(action.get("query", "")), compact(rest), sources


def _file_search(item: JsonObject) -> _Parts:
    return "", compact({"queries": item.get("queries")}), item.get("results")


def _code(item: JsonObject) -> _Parts:
    return "", str(item.get("code")), item.get("outputs")


def _mcp_call(item: JsonObject) -> _Parts:
    error = item.get("error")
    result = item.get("output") if error is None else {"error": error}
    return str(item.get("name")), str(item.get("arguments")), result


def _mcp_list(item: JsonObject) -> _Parts:
    error = item.get("error")
    result = item.get("tools") if error is None else {"error": error}
    return str(item.get("server_label")), "{}", result


def _tool_search(item: JsonObject) -> _Parts:
    return "", compact(item.get("arguments")), None


def _tools_found(item: JsonObject) -> _Parts:
    return "", "{}", item.get("tools")


def _program(item: JsonObject) -> _Parts:
    return "", str(item.get("code")), None


def _unknown(item: JsonObject) -> _Parts:
    text = item.get("arguments")
    result = item.get("result", item.get("output"))
    return str(item.get("name", "")), text if isinstance(text, str) else "{}", result


_HOSTED: Final[Mapping[str, Callable[[JsonObject], _Parts]]] = {
    "web_search_call": _web_search,
    "file_search_call": _file_search,
    "code_interpreter_call": _code,
    "mcp_call": _mcp_call,
    "mcp_list_tools": _mcp_list,
    "tool_search_call": _tool_search,
    "tool_search_output": _tools_found,
    "program": _program,
}


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
