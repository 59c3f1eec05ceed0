"""From a Responses request to a neutral conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.openai_common import objects, request_body
from loopcheck.fake_providers.dialects.responses import form
from loopcheck.fake_providers.dialects.responses.items import kind_of, neutral
from loopcheck.fake_providers.dialects.responses.state import expanded
from loopcheck.fake_providers.wire import HttpRequest, JsonObject, OfferedTool, Reading

# What these stand for is known to the service alone.
_LOOKED_UP: Final = ("item_reference", "compaction")


def read(request: HttpRequest, memory: Memory) -> Reading:
    """The request as a conversation. Raises ServiceError where its JSON has the wrong types;
    whatever else the service refuses is a rule."""
    body = request_body(request)
    model = form.model(body)
    sent = form.sent(body)
    form.check_types(sent)
    previous = form.previous(body)
    continues = form.conversation(body) or previous
    text = isinstance(body.get("input"), str)
    conversation = tuple(expanded(sent, continues=continues, memory=memory, text=text))
    return Reading(
        dialect="responses",
        model=model,
        stream=body.get("stream") is True,
        items=tuple(neutral(conversation)),
        history=[placed.item for placed in conversation],
        tools=tuple(_offered(form.tools(body))),
        body=body,
        tool_choice=body.get("tool_choice"),
        previous=previous,
        self_contained=not continues and all(kind_of(item) not in _LOOKED_UP for item in sent),
    )


def _offered(tools: Iterable[JsonObject]) -> Iterator[OfferedTool]:
    for tool in tools:
        if tool["type"] == "namespace":
            yield from _offered(objects(tool, "tools"))
        elif tool["type"] in ("function", "custom"):
            schema = tool.get("parameters")
            parameters = schema if isinstance(schema, dict) else {}
            yield OfferedTool(name=str(tool["name"]), schema=parameters)
