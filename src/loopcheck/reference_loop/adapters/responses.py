"""OpenAI Responses, over the official SDK's raw responses and events.

The history is kept here and sent in full: every output item goes back as it came, in its place,
with its ids and its encrypted content. So a run does not depend on what the service stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from openai import AsyncOpenAI, Omit, OpenAIError, omit

from loopcheck.reference_loop.adapters import failures, fields
from loopcheck.reference_loop.adapters.background import Polling, settled
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    ResponseRecord,
    begin,
    replayed_arguments,
    replayed_name,
    restored,
)
from loopcheck.reference_loop.adapters.interface import TaskInfo
from loopcheck.reference_loop.adapters.responses_assembly import (
    CALL_TEXT,
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

# Tools of these types were never offered here, so nobody could answer.
_FOR_THE_CLIENT: Final = frozenset(
    {"apply_patch_call", "computer_call", "local_shell_call", "shell_call"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesAdapter:
    """Speaks Responses; `stream` says how responses are asked for."""

    client: AsyncOpenAI
    model: str
    stream: bool
    polling: Polling = Polling()

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", failures.without_retries(self.client))

    def start(self, task: TaskInfo) -> Conversation:
        return begin(task, "responses")

    async def request(self, conversation: Conversation) -> Reply:
        items = cast("ResponseInputParam", list(conversation.history))
        tools, choice = _offers(conversation), _choice(conversation)
        create = self.client.responses.create
        version = self.client.base_url.path.strip("/")
        try:
            if not self.stream:
                response: object = await create(
                    model=self.model, input=items, tools=tools or omit, tool_choice=choice
                )
                response = await settled(response, self.client.responses.retrieve, self.polling)
                if isinstance(response, Failed):
                    return response
                return interpret(whole_turn(response), conversation, version)
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
        return failed or interpret(assembly.turn(), conversation, version)

    def append(
        self, conversation: Conversation, calls: Calls, results: Sequence[CallResult]
    ) -> Conversation:
        record = cast("ResponseRecord", calls.turn)
        answered = zip(calls.calls, results, strict=True)
        items = [
            _replayed(item, *next(answered)) if _is_call(item) else item
            for item in record.items
            if item["type"] != "message" or item.get("content")
        ]
        asked = [item for item in record.items if _is_call(item)]
        outputs: list[JsonObject] = [
            {
                "type": f"{item['type']}_output",
                "call_id": result.call_id,
                "output": result.text,
            }
            for item, result in zip(asked, results, strict=True)
        ]
        return conversation.extended([*items, *outputs], record, asked)

    def dump(self, conversation: Conversation, turn: object = None) -> JsonObject:
        return conversation.stored(turn)

    def load(self, value: object) -> tuple[Conversation, ResponseRecord | None]:
        return restored(value, "responses")


def interpret(turn: ResponsesTurn, conversation: Conversation, version: str = "") -> Reply:
    """What a turn means. Only `completed` is an end that anything may be done upon."""
    usage = turn.usage
    if turn.status == "incomplete":
        why = "content_filter" if turn.why == "content_filter" else "length"
        return Incomplete(why, usage=usage)
    if turn.status != "completed":
        otherwise = (
            f"the response ended as {turn.status}" if turn.status else "no response.completed"
        )
        return replace(failures.reported(turn.error, otherwise=otherwise), usage=usage)
    parts = list(_parts(turn))
    refusals = [fields.text(part, "refusal") for part in parts if _is(part, "refusal")]
    if refusals:
        return Refused("".join(refusals), usage=usage)
    calls = [item for item in turn.items if _is_call(item)]
    if any(item.get("status") == "incomplete" for item in calls):
        return Incomplete("length", usage=usage)
    if turn.unattributed:
        return Failed("argument fragments belong to no call", retryable=True, usage=usage)
    if foreign := _unanswerable(turn):
        return Failed(
            f"the response waits for an answer to {foreign}, which is not offered here",
            retryable=False,
            usage=usage,
        )
    if calls:
        return _proposal(turn, calls, conversation, version)
    text = "".join(fields.text(part, "text") for part in parts)
    return Final(text, usage=usage) if text else Incomplete("empty", usage=usage)


def _proposal(
    turn: ResponsesTurn, calls: Sequence[JsonObject], conversation: Conversation, version: str
) -> Calls:
    proposed = tuple(
        ProposedCall(
            call_id=fields.text(item, "call_id") or conversation.local_id(ordinal),
            name=fields.text(item, "name"),
            arguments_text=fields.text(item, CALL_TEXT[fields.text(item, "type")]),
        )
        for ordinal, item in enumerate(calls)
    )
    record = ResponseRecord(
        provider="responses",
        api_version=version,
        response_id=turn.response_id,
        items=turn.items,
    )
    return Calls(proposed, record, usage=turn.usage)


def _unanswerable(turn: ResponsesTurn) -> str:
    """The type of an item that somebody has to answer, and that the service did not itself."""
    answered = {
        item.get("call_id") for item in turn.items if fields.text(item, "type").endswith("_output")
    }
    for item in turn.items:
        kind = fields.text(item, "type")
        if kind == "mcp_approval_request":
            return kind
        if kind in _FOR_THE_CLIENT and item.get("call_id") not in answered:
            return kind
    return ""


def _parts(turn: ResponsesTurn) -> Iterator[object]:
    for item in turn.items:
        if _is(item, "message"):
            yield from fields.entries(item, "content")


def _is(item: object, kind: str) -> bool:
    return fields.value(item, "type") == kind


def _is_call(item: JsonObject) -> bool:
    return fields.text(item, "type") in CALL_TEXT


def _replayed(item: JsonObject, call: ProposedCall, result: CallResult) -> JsonObject:
    mended = {**item, "call_id": call.call_id, "name": replayed_name(call.name)}
    if _is(item, "custom_tool_call"):
        return mended  # its input is free text, never wrong as such
    return {**mended, "arguments": replayed_arguments(call.arguments_text, result)}


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
