"""OpenAI Responses, over the official SDK's raw responses and events.

The history is kept here and sent in full: every output item goes back as it came, in its place,
with its ids and its encrypted content. So a run does not depend on what the service stores. With
`state="server"` a request names the latest response and brings what is new since; the history is
kept here all the same, and sent in full where the service no longer has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, cast

from openai import AsyncOpenAI, Omit, OpenAIError, omit

from loopcheck.reference_loop.adapters import failures, fields
from loopcheck.reference_loop.adapters.background import Polling, settled
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    HoldsConversation,
    ProviderName,
    ResponseRecord,
)
from loopcheck.reference_loop.adapters.held import (
    StateAt,
    held,
    is_lost,
    noted,
    previous_id,
    unsent,
)
from loopcheck.reference_loop.adapters.responses_assembly import (
    ResponsesAssembly,
    ResponsesTurn,
    whole_turn,
)
from loopcheck.reference_loop.adapters.responses_items import (
    CALL_TEXT,
    answer_to,
    calls_among,
    replayed,
    text_name,
    waits_for,
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
from loopcheck.reference_loop.telemetry import exchange

if TYPE_CHECKING:
    from openai.types.responses import ResponseInputParam, ToolParam
    from openai.types.responses.response_create_params import ToolChoice


_PREVIOUS = "previous_response_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesAdapter(HoldsConversation):
    """Speaks Responses; `stream` says how responses are asked for, `state` who keeps the
    conversation."""

    provider: ClassVar[str] = "openai"
    dialect: ClassVar[ProviderName] = "responses"

    client: AsyncOpenAI
    model: str
    stream: bool
    state: StateAt = "client"
    polling: Polling = field(default_factory=Polling)

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", failures.without_retries(self.client))

    async def request(self, conversation: Conversation) -> Reply:
        is_kept = self.state == "server"
        return await self._ask(
            conversation, previous_id(conversation, _PREVIOUS) if is_kept else ""
        )

    async def _ask(self, conversation: Conversation, previous: str) -> Reply:
        items = cast("ResponseInputParam", unsent(conversation, previous))
        store = True if self.state == "server" else omit
        tools, choice = _offers(conversation), _choice(conversation)
        create = self.client.responses.create
        version = self.client.base_url.path.strip("/")
        try:
            if not self.stream:
                response: object = await create(
                    model=self.model,
                    input=items,
                    tools=tools or omit,
                    tool_choice=choice,
                    store=store,
                    previous_response_id=previous or omit,
                )
                response = await settled(response, self.client.responses.retrieve, self.polling)
                if isinstance(response, Failed):
                    return response
                return self._kept(interpret(whole_turn(response), conversation, version))
            stream = await create(
                model=self.model,
                input=items,
                tools=tools or omit,
                tool_choice=choice,
                store=store,
                previous_response_id=previous or omit,
                stream=True,
            )
        except OpenAIError as error:
            if previous and is_lost(error):
                return await self._ask(conversation, "")
            return failures.before_stream(error)
        except ValueError as error:
            return failures.unreadable(error)
        assembly = ResponsesAssembly()
        failed = await fill(assembly, stream)
        return failed or self._kept(interpret(assembly.turn(), conversation, version))

    def _kept(self, reply: Reply) -> Reply:
        return noted(reply, _PREVIOUS) if self.state == "server" else reply

    def append(
        self, conversation: Conversation, calls: Calls, results: Sequence[CallResult]
    ) -> Conversation:
        record = cast("ResponseRecord", calls.turn)
        asked = calls_among(record.items)
        answered = iter(list(zip(asked, calls.calls, results, strict=True)))
        items = [
            replayed(*next(answered)) if text_name(item) else item
            for item in record.items
            if item["type"] != "message" or item.get("content")
        ]
        outputs = list(map(answer_to, asked, results))
        ids = [fields.text(item, "call_id") for item in asked]
        return conversation.extended(
            [*items, *outputs],
            record,
            asked,
            held=held(record, _PREVIOUS, len(items), zip(ids, calls.calls, strict=True)),
        )


def interpret(turn: ResponsesTurn, conversation: Conversation, version: str = "") -> Reply:
    """What a turn means. Only `completed` is an end that anything may be done upon."""
    exchange.said(response_id=turn.response_id, finish=turn.why or turn.status or "")
    usage = turn.usage
    if turn.status == "incomplete":
        return Incomplete(
            "content_filter" if turn.why == "content_filter" else "length", usage=usage
        )
    if turn.status != "completed":
        otherwise = (
            f"the response ended as {turn.status}" if turn.status else "no response.completed"
        )
        return replace(failures.reported(turn.error, otherwise=otherwise), usage=usage)
    parts = list(_parts(turn))
    refusals = [fields.text(part, "refusal") for part in parts if _is(part, "refusal")]
    if refusals:
        return Refused("".join(refusals), usage=usage)
    calls = calls_among(turn.items)
    if any(item.get("status") == "incomplete" for item in calls):
        return Incomplete("length", usage=usage)
    if turn.unattributed:
        return Failed("argument fragments belong to no call", retryable=True, usage=usage)
    if foreign := waits_for(turn.items):
        return Failed(
            f"the response waits for an answer to {foreign}, which is not offered here",
            retryable=False,
            usage=usage,
        )
    if calls:
        return _proposal(turn, calls, conversation, version)
    text = "".join(fields.text(part, "text") for part in parts)
    if not text:
        return Incomplete("empty", usage=usage)
    return Final(text, usage=usage, turn=_record(turn, version))


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
    return Calls(proposed, _record(turn, version), usage=turn.usage)


def _record(turn: ResponsesTurn, version: str) -> ResponseRecord:
    return ResponseRecord(
        provider="responses",
        api_version=version,
        response_id=turn.response_id,
        items=turn.items,
    )


def _parts(turn: ResponsesTurn) -> Iterator[object]:
    for item in turn.items:
        if _is(item, "message"):
            yield from fields.entries(item, "content")


def _is(item: object, kind: str) -> bool:
    return fields.value(item, "type") == kind


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
