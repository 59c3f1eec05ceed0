"""OpenAI Responses, over the official SDK's raw responses and events.

The history is kept here and sent in full: every output item goes back as it came, in its place,
with its ids and its encrypted content. So a run does not depend on what the service stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from openai import AsyncOpenAI, Omit, OpenAIError, omit

from loopcheck.reference_loop.adapters import failures, fields
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    begin,
    replayed_arguments,
    replayed_name,
)
from loopcheck.reference_loop.adapters.interface import TaskInfo
from loopcheck.reference_loop.adapters.responses_assembly import (
    ResponsesAssembly,
    ResponsesTurn,
    whole_turn,
)
from loopcheck.reference_loop.adapters.streams import fill
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import (
    CallResult,
    Calls,
    Failed,
    Final,
    Incomplete,
    ProposedCall,
    Refused,
    Reply,
)

if TYPE_CHECKING:
    from openai.types.responses import ResponseInputParam, ToolParam
    from openai.types.responses.response_create_params import ToolChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesAdapter:
    """Speaks Responses; `stream` says how responses are asked for."""

    client: AsyncOpenAI
    model: str
    stream: bool

    def start(self, task: TaskInfo) -> Conversation:
        return begin(task, {"role": "user", "content": task.prompt})

    async def request(self, conversation: Conversation) -> Reply:
        items = cast("ResponseInputParam", list(conversation.history))
        tools, choice = _offers(conversation), _choice(conversation)
        create = self.client.responses.create
        try:
            if not self.stream:
                response: object = await create(
                    model=self.model, input=items, tools=tools or omit, tool_choice=choice
                )
                return interpret(whole_turn(response), conversation)
            stream = await create(
                model=self.model,
                input=items,
                tools=tools or omit,
                tool_choice=choice,
                stream=True,
            )
        except OpenAIError as error:
            return failures.before_stream(error)
        except ValueError as error:
            return failures.unreadable(error)
        assembly = ResponsesAssembly()
        failed = await fill(assembly, stream)
        return failed or interpret(assembly.turn(), conversation)

    def append(
        self, conversation: Conversation, calls: Calls, results: Sequence[CallResult]
    ) -> Conversation:
        turn = cast("tuple[JsonObject, ...]", calls.turn)
        answered = zip(calls.calls, results, strict=True)
        items = [
            _replayed(item, *next(answered)) if item["type"] == "function_call" else item
            for item in turn
            if item["type"] != "message" or item.get("content")
        ]
        outputs: list[JsonObject] = [
            {"type": "function_call_output", "call_id": result.call_id, "output": result.text}
            for result in results
        ]
        return conversation.extended([*items, *outputs])


def interpret(turn: ResponsesTurn, conversation: Conversation) -> Reply:
    """What a turn means. Only `completed` is an end that anything may be done upon."""
    if turn.status == "incomplete":
        return Incomplete("content_filter" if turn.why == "content_filter" else "length")
    if turn.status != "completed":
        otherwise = (
            f"the response ended as {turn.status}" if turn.status else "no response.completed"
        )
        return failures.reported(turn.error, otherwise=otherwise)
    parts = list(_parts(turn))
    refusals = [fields.text(part, "refusal") for part in parts if _is(part, "refusal")]
    if refusals:
        return Refused("".join(refusals))
    calls = [item for item in turn.items if _is(item, "function_call")]
    if any(item.get("status") == "incomplete" for item in calls):
        return Incomplete("length")
    if turn.unattributed:
        return Failed("argument fragments belong to no call", retryable=True)
    if calls:
        proposed = tuple(
            ProposedCall(
                call_id=fields.text(item, "call_id") or conversation.local_id(ordinal),
                name=fields.text(item, "name"),
                arguments_text=fields.text(item, "arguments"),
            )
            for ordinal, item in enumerate(calls)
        )
        return Calls(proposed, turn.items)
    text = "".join(fields.text(part, "text") for part in parts)
    return Final(text) if text else Incomplete("empty")


def _parts(turn: ResponsesTurn) -> Iterator[object]:
    for item in turn.items:
        if _is(item, "message"):
            yield from fields.entries(item, "content")


def _is(item: object, kind: str) -> bool:
    return fields.value(item, "type") == kind


def _replayed(item: JsonObject, call: ProposedCall, result: CallResult) -> JsonObject:
    return {
        **item,
        "call_id": call.call_id,
        "name": replayed_name(call.name),
        "arguments": replayed_arguments(call.arguments_text, result),
    }


def _offers(conversation: Conversation) -> list[ToolParam]:
    offers = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            "strict": False,
        }
        for tool in conversation.task.tools
    ]
    return cast("list[ToolParam]", offers)


def _choice(conversation: Conversation) -> ToolChoice | Omit:
    choice = conversation.tool_choice
    if choice == "auto" or not conversation.task.tools:
        return omit
    if choice in ("required", "none"):
        return cast("ToolChoice", choice)
    return {"type": "function", "name": choice}
