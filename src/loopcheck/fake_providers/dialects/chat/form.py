"""What a chat request must look like to be read at all. Path style: `messages[0].role`."""

from __future__ import annotations

from collections.abc import Sequence

from loopcheck.fake_providers.dialects.openai_common import (
    invalid,
    missing,
    objects,
    require_text,
    wrong_type,
)
from loopcheck.fake_providers.wire import JsonObject

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
# The two kinds of tool calls, and where each keeps what the model wrote.
CALL_TEXT = {"function": "arguments", "custom": "input"}


def model(body: JsonObject) -> str:
    """The model that was asked for."""
    value = body.get("model")
    if not isinstance(value, str) or not value:
        raise invalid("you must provide a model parameter")
    return value


def messages(body: JsonObject) -> Sequence[JsonObject]:
    """The messages, each with a known role, content of the right type and whole tool calls."""
    if body.get("messages") is None:
        raise missing("messages")
    found = objects(body, "messages")
    for position, message in enumerate(found):
        _check_role(message, f"messages[{position}]")
        _check_calls(message, f"messages[{position}]")
        _check_content(message, position)
    return found


def tools(body: JsonObject) -> Sequence[JsonObject]:
    """The tools, each with its name where its kind has one."""
    found = objects(body, "tools")
    for position, tool in enumerate(found):
        kind = tool.get("type")
        if not isinstance(kind, str):
            raise missing(f"tools[{position}].type")
        if kind in CALL_TEXT:
            require_text(
                _holder(tool, kind, f"tools[{position}]"), "name", f"tools[{position}].{kind}"
            )
    return found


def _check_role(message: JsonObject, path: str) -> None:
    if "role" not in message:
        raise missing(f"{path}.role")
    role = message["role"]
    if role not in _ROLES:
        known = ", ".join(f"'{name}'" for name in _ROLES[:-1])
        raise invalid(
            f"Invalid value: '{role}'. Supported values are: {known}, and '{_ROLES[-1]}'.",
            param=f"{path}.role",
            code="invalid_value",
        )


def _check_content(message: JsonObject, position: int) -> None:
    content = message.get("content")
    if content is not None:
        if not isinstance(content, str | list):
            expected = "one of a string or array of objects"
            raise wrong_type(f"messages[{position}].content", expected, content)
        return
    if message["role"] == "function" or _speaks_otherwise(message):
        return
    # An older check of the service, hence the dot in the path.
    raise invalid(
        "Invalid value for 'content': expected a string, got null.",
        param=f"messages.[{position}].content",
    )


def _speaks_otherwise(message: JsonObject) -> bool:
    others = ("tool_calls", "function_call", "refusal", "audio")
    return message["role"] == "assistant" and any(message.get(key) is not None for key in others)


def _check_calls(message: JsonObject, path: str) -> None:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list):
        raise wrong_type(f"{path}.tool_calls", "an array of objects", calls)
    for position, call in enumerate(calls):
        _check_call(call, f"{path}.tool_calls[{position}]")


def _check_call(call: object, path: str) -> None:
    if not isinstance(call, dict):
        raise wrong_type(path, "an object", call)
    require_text(call, "id", path)
    require_text(call, "type", path)
    kind = call["type"]
    if kind not in CALL_TEXT:
        raise invalid(
            f"Invalid value: '{kind}'. Supported values are: 'function' and 'custom'.",
            param=f"{path}.type",
            code="invalid_value",
        )
    holder = _holder(call, kind, path)
    require_text(holder, "name", f"{path}.{kind}")
    require_text(holder, CALL_TEXT[kind], f"{path}.{kind}")


def _holder(owner: JsonObject, key: str, path: str) -> JsonObject:
    if key not in owner:
        raise missing(f"{path}.{key}")
    value = owner[key]
    if not isinstance(value, dict):
        raise wrong_type(f"{path}.{key}", "an object", value)
    return value
