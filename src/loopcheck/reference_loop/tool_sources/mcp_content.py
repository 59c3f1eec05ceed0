"""What an MCP server answered a call with, as the model gets it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from mcp import types

from loopcheck.reference_loop.content import (
    MEDIA_TYPES,
    Content,
    ImagePart,
    Part,
    TextPart,
    decoded,
)


def text_of(result: types.CallToolResult) -> str:
    """The content as text: what is text stays, everything else becomes a mark that says what it
    was and how large. Structured content is added where no text block says the same."""
    lines = [_line(block) for block in result.content]
    return "\n".join([*lines, *_structured(result)])


def content_of(result: types.CallToolResult) -> str:
    """The content as `text_of` has it, but with those of its images that models can see."""
    parts = [_image(block) or TextPart(_line(block)) for block in result.content]
    if not any(isinstance(part, ImagePart) for part in parts):
        return text_of(result)
    return Content([*parts, *map(TextPart, _structured(result))])


def _structured(result: types.CallToolResult) -> list[str]:
    structured: object = result.structured_content
    if structured is None or _is_said(structured, result.content):
        return []
    return [json.dumps(structured, ensure_ascii=False)]


def _image(block: types.ContentBlock) -> Part | None:
    if not isinstance(block, types.ImageContent) or block.mime_type not in MEDIA_TYPES:
        return None
    try:
        return ImagePart(decoded(block.data), block.mime_type)
    except ValueError:
        return None


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
