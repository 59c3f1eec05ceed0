"""What an MCP server answered a call with, as the text that the model gets."""

from __future__ import annotations

import json
from collections.abc import Iterable

from mcp import types


def text_of(result: types.CallToolResult) -> str:
    """The content as text: what is text stays, everything else becomes a mark that says what it
    was and how large. Structured content is added where no text block says the same."""
    lines = [_line(block) for block in result.content]
    structured: object = result.structured_content
    if structured is not None and not _is_said(structured, result.content):
        lines.append(json.dumps(structured, ensure_ascii=False))
    return "\n".join(lines)


def _line(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.EmbeddedResource():
            return _resource(block.resource)
        case types.ResourceLink():
            size = None if block.size is None else _bytes(block.size)
            return _mark("link to resource", block.uri, block.title, block.mime_type, size)
    return _mark(block.type, block.mime_type, _size(block.data))


def _resource(resource: types.TextResourceContents | types.BlobResourceContents) -> str:
    if isinstance(resource, types.TextResourceContents):
        return f"{_mark('resource', resource.uri, resource.mime_type)}\n{resource.text}"
    return _mark("resource", resource.uri, resource.mime_type, _size(resource.blob))


def _mark(*parts: str | None) -> str:
    kind, *rest = [part for part in parts if part]
    return f"[{kind} {', '.join(rest)}]"


def _size(base64: str) -> str:
    return _bytes(len(base64.rstrip("=")) * 3 // 4)


def _bytes(count: int) -> str:
    return f"{count} bytes"


def _is_said(structured: object, content: Iterable[types.ContentBlock]) -> bool:
    texts = (block.text for block in content if isinstance(block, types.TextContent))
    return any(_value(text) == structured for text in texts)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
