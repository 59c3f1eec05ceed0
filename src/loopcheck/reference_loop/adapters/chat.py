"""OpenAI Chat Completions, over the official SDK's raw responses and chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from openai import AsyncOpenAI, Omit, OpenAIError, omit

from loopcheck.reference_loop.adapters import failures, fields
from loopcheck.reference_loop.adapters.chat_assembly import ChatAssembly, ChatTurn, whole_turn
from loopcheck.reference_loop.adapters.chat_calls import replayed
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    HoldsConversation,
    ProviderName,
    ResponseRecord,
)
from loopcheck.reference_loop.adapters.parts import chat_answers
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
    from openai.types.chat import (
        ChatCompletionMessageParam,
        ChatCompletionToolChoiceOptionParam,
        ChatCompletionToolUnionParam,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAdapter(HoldsConversation):
    """Speaks Chat Completions; `stream` says how responses are asked for."""

    provider: ClassVar[str] = "openai"
    dialect: ClassVar[ProviderName] = "chat"

    client: AsyncOpenAI
    model: str
    stream: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "client", failures.without_retries(self.client))

    async def request(self, conversation: Conversation) -> Reply:
        messages = cast("list[ChatCompletionMessageParam]", list(conversation.history))
        tools, choice = _offers(conversation), _choice(conversation)
        create = self.client.chat.completions.create
        version = self.client.base_url.path.strip("/")
        try:
            if not self.stream:
                completion: object = await create(
                    model=self.model, messages=messages, tools=tools or omit, tool_choice=choice
                )
                return _whole_reply(completion, conversation, version)
            stream = await create(
                model=self.model,
                messages=messages,
                tools=tools or omit,
                tool_choice=choice,
                stream=True,
                stream_options={"include_usage": True},
            )
        except OpenAIError as error:
            return failures.before_stream(error)
        except ValueError as error:
            return failures.unreadable(error)
        assembly = ChatAssembly()
        failed = await fill(assembly, stream)
        return failed or interpret(assembly.turn(), conversation, version)

    def append(
        self, conversation: Conversation, calls: Calls, results: Sequence[CallResult]
    ) -> Conversation:
        record = cast("ResponseRecord", calls.turn)
        [message] = record.items
        items = cast("list[JsonObject]", message.get("tool_calls", []))
        answered = zip(items, calls.calls, results, strict=True)
        called = {"tool_calls": [replayed(*one) for one in answered]} if items else {}
        assistant = {**message, **called}
        return conversation.extended([assistant, *chat_answers(results)], record, items)


def interpret(turn: ChatTurn, conversation: Conversation, version: str = "") -> Reply:
    """What a turn means. Only the finish reason ends it; the calls say whether there are any."""
    exchange.said(response_id=turn.response_id, finish=turn.finish or "")
    usage = turn.usage
    if turn.finish is None:
        return Failed("the response ended without a finish_reason", retryable=True, usage=usage)
    if turn.finish == "error":
        words = "the provider ended the response with an error"
        return Failed(words, retryable=True, usage=usage)
    if turn.finish == "length":
        return Incomplete("length", usage=usage)
    if turn.finish == "content_filter":
        return Incomplete("content_filter", usage=usage)
    if turn.refusal or (turn.refusal == "" and not turn.text and not turn.calls):
        return Refused(turn.refusal, usage=usage)
    if turn.unattributed:
        return Failed("argument fragments belong to no call", retryable=True, usage=usage)
    if turn.calls:
        return _proposal(turn, conversation, version)
    if not turn.text:
        return Incomplete("empty", usage=usage)
    return Final(turn.text, usage=usage, turn=_record(turn, version))


def _proposal(turn: ChatTurn, conversation: Conversation, version: str) -> Calls:
    proposed = tuple(
        ProposedCall(
            call_id=call.call_id or conversation.local_id(ordinal),
            name=call.name,
            arguments_text=call.arguments,
        )
        for ordinal, call in enumerate(turn.calls)
    )
    return Calls(proposed, _record(turn, version), usage=turn.usage)


def _record(turn: ChatTurn, version: str) -> ResponseRecord:
    message: JsonObject = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [call.item() for call in turn.calls]
    return ResponseRecord(
        provider="chat",
        api_version=version,
        response_id=turn.response_id,
        items=(message,),
    )


def _whole_reply(completion: object, conversation: Conversation, version: str) -> Reply:
    if error := fields.value(completion, "error"):
        return failures.reported(error, otherwise="the provider reported an error")
    return interpret(whole_turn(completion), conversation, version)


def _offers(conversation: Conversation) -> list[ChatCompletionToolUnionParam]:
    offers = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in conversation.task.tools
    ]
    return cast("list[ChatCompletionToolUnionParam]", offers)


def _choice(conversation: Conversation) -> ChatCompletionToolChoiceOptionParam | Omit:
    choice = conversation.tool_choice
    if choice == "auto" or not conversation.task.tools:
        return omit
    if choice in ("required", "none"):
        return cast("ChatCompletionToolChoiceOptionParam", choice)
    return {"type": "function", "function": {"name": choice}}
