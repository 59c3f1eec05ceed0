"""Rules about the form of a request: fields that are missing, or of a wrong kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.messages import state
from loopcheck.fake_providers.dialects.messages.blocks import text_of
from loopcheck.fake_providers.dialects.messages.conversation import Conversation
from loopcheck.fake_providers.dialects.messages.errors import field_error, invalid, too_large
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_LARGEST_BODY: Final = 32 * 1024 * 1024
_VERSIONS: Final = ("2023-01-01", "2023-06-01", "2026-10-21")
_ROLES: Final = ("user", "assistant", "system")
_IN_BLOCKS: Final = {
    "text": ("text",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "thinking": ("signature", "thinking"),
    "redacted_thinking": ("data",),
    "server_tool_use": ("id", "name", "input"),
    "mcp_tool_use": ("id", "name", "input", "server_name"),
}
_TEXTS: Final = frozenset({"id", "name", "text", "tool_use_id", "thinking", "signature", "data"})


@dataclass(frozen=True, slots=True)
class _Flaw:
    kind: Literal["missing", "type"]
    path: str
    complaint: str = "Field required"


def _too_large(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    large = isinstance(history, Conversation) and history.size > _LARGEST_BODY
    return too_large() if large else None


def _no_version(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    if isinstance(history, Conversation) and history.version is None:
        return invalid("anthropic-version: header is required")
    return None


def _unknown_version(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    version = history.version if isinstance(history, Conversation) else None
    if version is None or version in _VERSIONS:
        return None
    return invalid(f'anthropic-version: "{version}" is not a valid version')


def _missing(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    return _first("missing", body)


def _wrong_type(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    return _first("type", body)


def _unknown_role(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for number, message in enumerate(history):
        role = message.get("role")
        if isinstance(role, str) and role not in _ROLES:
            return invalid(
                f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant".',
                f"messages.{number}.role",
            )
    return None


def _no_messages(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    if body.get("messages") == [] and state.previous_id(body) is None:
        return invalid("messages: at least one message is required", "messages")
    return None


def _first(kind: Literal["missing", "type"], body: JsonObject) -> ServiceError | None:
    flaw = next((flaw for flaw in _flaws(body) if flaw.kind == kind), None)
    return None if flaw is None else field_error(flaw.path, flaw.complaint)


def _flaws(body: JsonObject) -> Iterator[_Flaw]:
    yield from _absent("", body, ("model", "max_tokens", "messages"))
    if "model" in body and not isinstance(body["model"], str):
        yield _Flaw("type", "model", "Input should be a valid string")
    limit = body.get("max_tokens", 0)
    if not isinstance(limit, int) or isinstance(limit, bool):
        yield _Flaw("type", "max_tokens", "Input should be a valid integer")
    if not isinstance(body.get("system"), str | list | None):
        yield _Flaw("type", "system", "Input should be a valid list")
    yield from _in_choice(body.get("tool_choice"))
    yield from _in_thread(body.get("thread"))
    yield from _in_tools(body.get("tools"))
    messages = body.get("messages", [])
    if not isinstance(messages, list):
        yield _Flaw("type", "messages", "Input should be a valid list")
        return
    for number, message in enumerate(messages):
        yield from _in_message(f"messages.{number}", message)


def _in_choice(choice: object) -> Iterator[_Flaw]:
    if isinstance(choice, dict):
        yield from _absent("tool_choice.", choice, ("type",))
        if choice.get("type") == "tool":
            yield from _absent("tool_choice.tool.", choice, ("name",))
    elif choice is not None:
        yield _Flaw("type", "tool_choice", "Input should be an object")


def _in_thread(thread: object) -> Iterator[_Flaw]:
    if thread is None:
        return
    if not isinstance(thread, dict) or thread.get("type") not in ("create", "continue"):
        yield _Flaw("type", "thread.type", "Input should be 'create' or 'continue'")
    elif thread["type"] == "continue" and not isinstance(thread.get("previous_message_id"), str):
        yield _Flaw("missing", "thread.previous_message_id")


def _in_tools(tools: object) -> Iterator[_Flaw]:
    if not isinstance(tools, list):
        if tools is not None:
            yield _Flaw("type", "tools", "Input should be a valid list")
        return
    for number, tool in enumerate(tools):
        if not isinstance(tool, dict):
            yield _Flaw("type", f"tools.{number}", "Input should be an object")
        elif tool.get("type") in (None, "custom"):
            yield from _absent(f"tools.{number}.custom.", tool, ("name", "input_schema"))


def _in_message(path: str, message: object) -> Iterator[_Flaw]:
    if not isinstance(message, dict):
        yield _Flaw("type", path, "Input should be an object")
        return
    yield from _absent(f"{path}.", message, ("role", "content"))
    if not isinstance(message.get("role", ""), str):
        yield _Flaw("type", f"{path}.role", "Input should be a valid string")
    content = message.get("content", [])
    if isinstance(content, list):
        for place, block in enumerate(content):
            yield from _in_block(f"{path}.content.{place}", block)
    elif not isinstance(content, str):
        yield _Flaw("type", f"{path}.content", "Input should be a valid list")


def _in_block(path: str, block: object) -> Iterator[_Flaw]:
    if not isinstance(block, dict):
        yield _Flaw("type", path, "Input should be an object")
        return
    yield from _absent(f"{path}.", block, ("type",))
    kind = text_of(block, "type")
    fields = _IN_BLOCKS.get(kind, ())
    yield from _absent(f"{path}.{kind}.", block, fields)
    for name in fields:
        if name in _TEXTS and not isinstance(block.get(name, ""), str):
            yield _Flaw("type", f"{path}.{kind}.{name}", "Input should be a valid string")
    if kind == "tool_result" and not isinstance(block.get("content"), str | list | None):
        yield _Flaw("type", f"{path}.{kind}.content", "Input should be a valid list")


def _absent(prefix: str, holder: JsonObject, names: Sequence[str]) -> Iterator[_Flaw]:
    for name in names:
        if name not in holder:
            yield _Flaw("missing", f"{prefix}{name}")


RULES: Final = (
    Rule(id="M34", grade="D", summary="a body has at most 32 MB", check=_too_large),
    Rule(
        id="M-version",
        grade="S",
        summary="the header anthropic-version is sent",
        check=_no_version,
    ),
    Rule(
        id="M-known-version",
        grade="I",
        summary="the header anthropic-version names a version that there is",
        check=_unknown_version,
    ),
    Rule(id="M27", grade="R", summary="required fields are there", check=_missing),
    Rule(id="M-types", grade="S", summary="fields are of the right kind", check=_wrong_type),
    Rule(id="M-role", grade="S", summary="roles are user or assistant", check=_unknown_role),
    Rule(id="M-empty", grade="S", summary="there is a message", check=_no_messages),
)
