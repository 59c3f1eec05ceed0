"""Rules about the fields of input items. Path style: `input[0].role`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from loopcheck.fake_providers.dialects.openai_common import invalid, missing
from loopcheck.fake_providers.dialects.openai_rules import Asked, listed, long_text, over
from loopcheck.fake_providers.dialects.responses import form
from loopcheck.fake_providers.dialects.responses.items import kind_of
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_ROLES: Final = ("assistant", "system", "developer", "user")
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "message": ("role", "content"),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id", "output"),
    "shell_call_output": ("call_id", "output"),
    "reasoning": ("summary",),
    "item_reference": ("id",),
    "mcp_approval_response": ("approval_request_id", "approve"),
}
_BY_PROGRAM: Final = ("caller", "async", "namespace")
# What the service knows beside the required fields, `type`, `id` and `status`.
_OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    "message": ("phase",),
    "function_call": _BY_PROGRAM,
    "function_call_output": ("name", "namespace", "caller"),
    "custom_tool_call": _BY_PROGRAM,
    "custom_tool_call_output": ("caller",),
    "reasoning": ("content", "encrypted_content"),
}
_PREFIXES: Final = {
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "message": "msg",
    "reasoning": "rs",
}
_LONGEST_ID: Final = 64
_UNREADABLE_DATA: Final = re.compile(r"data:((?:audio|video)/[^;,]+)")
_UNREADABLE_ADDRESS: Final = re.compile(r"[^?#]+\.(mp3|mp4|wav|mov|avi|ogg|flac)(?:[?#].*)?")


def unknown_role(asked: Asked) -> Iterator[ServiceError]:
    """Messages with a role of another protocol, such as `tool`."""
    for position, item in _sent(asked):
        role = item.get("role")
        if kind_of(item) == "message" and "role" in item and role not in _ROLES:
            known = ", ".join(f"'{name}'" for name in _ROLES[:-1])
            yield invalid(
                f"Invalid value: '{role}'. Supported values are: {known}, and '{_ROLES[-1]}'.",
                param=f"input[{position}]",
                code="invalid_value",
            )


def missing_field(asked: Asked) -> Iterator[ServiceError]:
    """Items without a field that their kind needs."""
    for position, item in _sent(asked):
        for key in _REQUIRED.get(kind_of(item), ()):
            if key not in item:
                yield missing(f"input[{position}].{key}")


def unknown_field(asked: Asked) -> Iterator[ServiceError]:
    """Items with a field that their kind does not have."""
    for position, item in _sent(asked):
        kind = kind_of(item)
        if kind not in _OPTIONAL:
            continue
        known = known_fields(kind)
        for key in item:
            if key not in known:
                path = f"input[{position}].{key}"
                yield invalid(f"Unknown parameter: '{path}'.", param=path, code="unknown_parameter")


def known_fields(kind: str) -> frozenset[str]:
    """The fields that an item of this kind may have, where they are known."""
    return frozenset({"type", "id", "status", *_REQUIRED[kind], *_OPTIONAL[kind]})


def wrong_prefix(asked: Asked) -> Iterator[ServiceError]:
    """Items with the id of another kind, such as a call id."""
    for position, item in _sent(asked):
        named, prefix = item.get("id"), _PREFIXES.get(kind_of(item))
        if isinstance(named, str) and prefix is not None and not named.startswith(prefix):
            path = f"input[{position}].id"
            yield invalid(
                f"Invalid '{path}': '{named}'. Expected an ID that begins with '{prefix}'.",
                param=path,
                code="invalid_value",
            )


def long_id(asked: Asked) -> Iterator[ServiceError]:
    """Items with an id that is too long, and not of the service's own making."""
    for position, item in _sent(asked):
        for key in ("id", "call_id"):
            length = over(item.get(key), _LONGEST_ID)
            if length and item[key] not in asked.memory.issued:
                yield long_text(f"input[{position}].{key}", _LONGEST_ID, length)


def unreadable_file(asked: Asked) -> Iterator[ServiceError]:
    """Tool outputs with sound or film in them."""
    for position, item in _sent(asked):
        for place, part in enumerate(listed(item.get("output"))):
            found = _UNREADABLE_DATA.match(str(part.get("file_data")))
            if found is not None:
                path = f"input[{position}].output[{place}].file_data"
                yield invalid(
                    f"Invalid file data: '{path}'. Expected a base64-encoded data URL with a "
                    "valid file MIME type (e.g. 'data:text/plain;base64,SGVsbG8sIFdvcmxkIQ=='), "
                    f"but got unsupported MIME type '{found[1]}'. Please see https://"
                    "platform.openai.com/docs/assistants/tools/file-search#supported-files for "
                    "supported file types.",
                    param=path,
                    code="invalid_value",
                )


def unreadable_address(asked: Asked) -> Iterator[ServiceError]:
    """Addresses of files with sound or film in them."""
    for _, item in _sent(asked):
        for part in (*listed(item.get("output")), *listed(item.get("content"))):
            if _UNREADABLE_ADDRESS.fullmatch(str(part.get("file_url"))):
                yield invalid(
                    "The file type you uploaded is not supported. Please try again with a pdf",
                    param="input",
                    code="unsupported_file",
                )


def _sent(asked: Asked) -> Iterator[tuple[int, JsonObject]]:
    yield from enumerate(form.sent(asked.body))
