"""Items as the service lists them: each with an id, messages in parts.

What a client sent without an id gets one here that follows from what it says, so that an item
keeps its id as long as it is there.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from loopcheck.fake_providers.dialects.responses.items import kind_of
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import JsonObject

_ID_DIGITS: Final = 50
_PREFIXES: Final = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
    "compaction": "cmp",
}
_WITH_STATUS: Final = tuple(kind for kind in _PREFIXES if kind not in ("reasoning", "compaction"))


def identified(items: Iterable[JsonObject]) -> Iterator[tuple[str, JsonObject]]:
    """The items, each with its id; what only names another item is left out."""
    alike: Counter[str] = Counter()
    for item in items:
        kind, named = kind_of(item), item.get("id")
        if kind == "item_reference":
            continue
        if not isinstance(named, str) or not named:
            text = compact(item)
            named = made_id(kind, f"{alike[text]} {text}")
            alike[text] += 1
        yield named, item


def made_id(kind: str, text: str) -> str:
    """The id of an item of that kind that this text describes."""
    digits = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_ID_DIGITS]
    return f"{_PREFIXES.get(kind, 'item')}_{digits}"


def resources(items: Iterable[JsonObject]) -> list[JsonObject]:
    """The items in full, as lists have them."""
    return [_resource(named, item) for named, item in identified(items)]


def _resource(named: str, item: JsonObject) -> JsonObject:
    kind = kind_of(item)
    full: JsonObject = {**item, "id": named, "type": kind}
    if kind in _WITH_STATUS:
        full["status"] = item.get("status") or "completed"
    if kind == "message":
        full["content"] = _parts(item)
    return full


def _parts(message: JsonObject) -> object:
    content = message.get("content")
    if not isinstance(content, str):
        return content
    if message.get("role") == "assistant":
        return [{"type": "output_text", "text": content, "annotations": [], "logprobs": []}]
    return [{"type": "input_text", "text": content}]
