"""Anthropic Messages, over the official SDK's raw responses and events.

With `state="server"` the service holds the conversation as a thread, and a request brings what is
new. The history is kept here all the same, and sent in full where the thread is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from anthropic import AnthropicError, AsyncAnthropic, Omit, omit

from loopcheck.reference_loop.adapters import failures, fields
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    HoldsConversation,
    ProviderName,
    ResponseRecord,
    replayed_name,
)
from loopcheck.reference_loop.adapters.held import (
    UNSUPPORTED,
    StateAt,
    code_of,
    held,
    is_lost,
    noted,
    previous_id,
    unsent,
)
from loopcheck.reference_loop.adapters.messages_assembly import (
    MessagesAssembly,
    MessagesTurn,
    whole_turn,
)
from loopcheck.reference_loop.adapters.parts import messages_parts
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
    from anthropic.types import MessageParam, ToolChoiceParam, ToolUnionParam


# The service worked on its own, and goes on with that once it gets it back.
_HANDED_BACK = ("pause_turn", "compaction")

_THREAD = "thread"
_PREVIOUS = "previous_message_id"
_CREATE: JsonObject = {"type": "create"}
_BETA_HEADER = "anthropic-beta"
_THREADS_BETA = "message-threads-2026-08-12"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesAdapter(HoldsConversation):
    """Speaks Messages; `stream` says how responses are asked for, `state` who keeps the
    conversation."""

    provider: ClassVar[str] = "anthropic"
    dialect: ClassVar[ProviderName] = "messages"

    client: AsyncAnthropic
    model: str
    stream: bool
    state: StateAt = "client"
    max_tokens: int = 4096

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", failures.without_retries(self.client))

    async def request(self, conversation: Conversation) -> Reply:
        return await self._ask(conversation, self._thread(conversation))

    def _thread(self, conversation: Conversation) -> JsonObject | None:
        """The thread that the next request is one of. A service which has said that it has none
        is not asked for one again."""
        if self.state == "client" or conversation.state.get(_THREAD) == "":
            return None
        previous = previous_id(conversation, _THREAD)
        return {"type": "continue", _PREVIOUS: previous} if previous else _CREATE

    async def _ask(self, conversation: Conversation, thread: JsonObject | None) -> Reply:
        previous = fields.text(thread, _PREVIOUS)
        messages = cast("list[MessageParam]", unsent(conversation, previous))
        body = None if thread is None else {"thread": thread}
        headers = None if thread is None else self._with_beta()
        tools, choice = _offers(conversation), _choice(conversation)
        container = fields.text(conversation.state, "container") or omit
        version = str(self.client.default_headers.get("anthropic-version", ""))
        create = self.client.messages.create
        try:
            if not self.stream:
                message: object = await create(
                    model=self.model,
                    max_tokens=self.max_tokens,
                    messages=messages,
                    tools=tools or omit,
                    tool_choice=choice,
                    container=container,
                    extra_body=body,
                    extra_headers=headers,
                )
                return self._kept(_whole_reply(message, conversation, version), thread)
            stream = await create(
                model=self.model,
                max_tokens=self.max_tokens,
                messages=messages,
                tools=tools or omit,
                tool_choice=choice,
                container=container,
                stream=True,
                extra_body=body,
                extra_headers=headers,
            )
        except AnthropicError as error:
            if thread is not None and code_of(error) == UNSUPPORTED:
                return await self._ask(conversation, None)
            if previous and is_lost(error):
                return await self._ask(conversation, _CREATE)
            return failures.before_stream(error)
        except ValueError as error:
            return failures.unreadable(error)
        assembly = MessagesAssembly()
        failed = await fill(assembly, stream)
        return failed or self._kept(interpret(assembly.turn(), conversation, version), thread)

    def _kept(self, reply: Reply, thread: JsonObject | None) -> Reply:
        is_held = thread is not None
        return noted(reply, _THREAD, is_held=is_held) if self.state == "server" else reply

    def _with_beta(self) -> dict[str, str]:
        """The header that threads want, beside what the client's own asks for."""
        own = str(self.client.default_headers.get(_BETA_HEADER, ""))
        return {_BETA_HEADER: ",".join(filter(None, (own, _THREADS_BETA)))}

    def append(
        self, conversation: Conversation, calls: Calls, results: Sequence[CallResult]
    ) -> Conversation:
        record = cast("ResponseRecord", calls.turn)
        asked = [item for item in record.items if _is_call(item)]
        answered = iter(list(zip(asked, calls.calls, results, strict=True)))
        content = [
            _replayed(*next(answered)) if _is_call(item) else item
            for item in record.items
            if not _is_blank(item)
        ]
        messages: list[JsonObject] = []
        if content:
            messages.append({"role": "assistant", "content": content})
        if results:
            messages.append({"role": "user", "content": [_answer(result) for result in results]})
        ids = [fields.text(item, "id") for item in asked]
        return conversation.extended(
            messages,
            record,
            asked,
            held=held(record, _THREAD, bool(content), zip(ids, calls.calls, strict=True)),
        )


def interpret(turn: MessagesTurn, conversation: Conversation, version: str = "") -> Reply:
    """What a turn means. Only a stop reason followed by message_stop ends it."""
    exchange.said(response_id=turn.response_id, finish=turn.stop or "")
    usage = turn.usage
    text = "".join(fields.text(block.content, "text") for block in turn.blocks)
    if turn.stop is None:
        missing = "the response ended without stop reason and message_stop"
        return Failed(missing, retryable=True, usage=usage)
    if turn.stop == "refusal":
        return Refused(text, usage=usage)
    if turn.stop == "max_tokens":
        return Incomplete("length", usage=usage)
    if turn.stop == "model_context_window_exceeded":
        return Incomplete("context", usage=usage)
    if turn.unattributed:
        return Failed("argument fragments belong to no call", retryable=True, usage=usage)
    if turn.stop in _HANDED_BACK or any(block.is_call for block in turn.blocks):
        return _proposal(turn, conversation, version)
    if not text:
        return Incomplete("empty", usage=usage)
    return Final(text, usage=usage, turn=_record(turn, version))


def _proposal(turn: MessagesTurn, conversation: Conversation, version: str) -> Calls:
    proposed = tuple(
        ProposedCall(
            call_id=fields.text(block.content, "id") or conversation.local_id(ordinal),
            name=fields.text(block.content, "name"),
            arguments_text=block.arguments,
        )
        for ordinal, block in enumerate(block for block in turn.blocks if block.is_call)
    )
    return Calls(proposed, _record(turn, version), usage=turn.usage)


def _record(turn: MessagesTurn, version: str) -> ResponseRecord:
    return ResponseRecord(
        provider="messages",
        api_version=version,
        response_id=turn.response_id,
        items=tuple(block.item() for block in turn.blocks),
        state={"container": turn.container} if turn.container else {},
    )


def _whole_reply(message: object, conversation: Conversation, version: str) -> Reply:
    if error := fields.value(message, "error"):
        return failures.reported(error, otherwise="the provider reported an error")
    return interpret(whole_turn(message), conversation, version)


def _is_call(item: JsonObject) -> bool:
    return item.get("type") == "tool_use"


def _is_blank(item: JsonObject) -> bool:
    """Whether this is a text block without text, which the service sends and then refuses."""
    return item.get("type") == "text" and not fields.text(item, "text").strip()


def _replayed(content: JsonObject, call: ProposedCall, result: CallResult) -> JsonObject:
    return {
        **content,
        "id": call.call_id,
        "name": replayed_name(call.name),
        "input": result.arguments or {},
    }


def _answer(result: CallResult) -> JsonObject:
    answer: JsonObject = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": messages_parts(result.parts) or result.text,
    }
    return {**answer, "is_error": True} if result.is_error else answer


def _offers(conversation: Conversation) -> list[ToolUnionParam]:
    offers = [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": dict(tool.parameters),
        }
        for tool in conversation.task.tools
    ]
    return cast("list[ToolUnionParam]", offers)


def _choice(conversation: Conversation) -> ToolChoiceParam | Omit:
    choice = conversation.tool_choice
    if choice == "auto" or not conversation.task.tools:
        return omit
    if choice == "required":
        return {"type": "any"}
    if choice == "none":
        return {"type": "none"}
    return {"type": "tool", "name": choice}
