"""OpenAI Chat Completions, over the official SDK's raw responses and chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from openai import AsyncOpenAI, Omit, OpenAIError, omit

from loopcheck.reference_loop.adapters import failures, fields
from loopcheck.reference_loop.adapters.chat_assembly import ChatAssembly, ChatTurn, whole_turn
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    begin,
    replayed_arguments,
    replayed_name,
)
from loopcheck.reference_loop.adapters.interface import TaskInfo
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
    from openai.types.chat import (
        ChatCompletionMessageParam,
        ChatCompletionToolChoiceOptionParam,
        ChatCompletionToolUnionParam,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAdapter:
    """Speaks Chat Completions; `stream` says how responses are asked for."""

    client: AsyncOpenAI
    model: str
    stream: bool

    def start(self, task: TaskInfo) -> Conversation:
        return begin(task, {"role": "user", "content": task.prompt})

    async def request(self, conversation: Conversation) -> Reply:
        messages = cast("list[ChatCompletionMessageParam]", list(conversation.history))
        tools, choice = _offers(conversation), _choice(conversation)
        create = self.client.chat.completions.create
        try:
            if not self.stream:
                completion: object = await create(
                    model=self.model, messages=messages, tools=tools or omit, tool_choice=choice
                )
                return _whole_reply(completion, conversation)
            stream = await create(
                model=self.model,
                messages=messages,
                tools=tools or omit,
                tool_choice=choice,
                stream=True,
            )
        except OpenAIError as error:
            return failures.before_stream(error)
        except ValueError as error:
            return failures.unreadable(error)
        assembly = ChatAssembly()
        failed = await fill(assembly, stream)
        return failed or interpret(assembly.turn(), conversation)

    def append(
        self, conversation: Conversation, calls: Calls, results: Sequence[CallResult]
    ) -> Conversation:
        answered = zip(calls.calls, results, strict=True)
        assistant: JsonObject = {
            "role": "assistant",
            "content": calls.turn or None,
            "tool_calls": [_replayed(call, result) for call, result in answered],
        }
        answers: list[JsonObject] = [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
            for result in results
        ]
        return conversation.extended([assistant, *answers])


def interpret(turn: ChatTurn, conversation: Conversation) -> Reply:
    """What a turn means. Only the finish reason ends it; the calls say whether there are any."""
    if turn.finish is None:
        return Failed("the response ended without a finish_reason", retryable=True)
    if turn.finish == "error":
        return Failed("the provider ended the response with an error", retryable=True)
    if turn.finish == "length":
        return Incomplete("length")
    if turn.finish == "content_filter":
        return Incomplete("content_filter")
    if turn.refusal or (turn.refusal == "" and not turn.text and not turn.calls):
        return Refused(turn.refusal)
    if turn.unattributed:
        return Failed("argument fragments belong to no call", retryable=True)
    if turn.calls:
        proposed = tuple(
            ProposedCall(
                call_id=call.call_id or conversation.local_id(ordinal),
                name=call.name,
                arguments_text=call.arguments,
            )
            for ordinal, call in enumerate(turn.calls)
        )
        return Calls(proposed, turn.text)
    return Final(turn.text) if turn.text else Incomplete("empty")


def _whole_reply(completion: object, conversation: Conversation) -> Reply:
    if error := fields.value(completion, "error"):
        return failures.reported(error, otherwise="the provider reported an error")
    return interpret(whole_turn(completion), conversation)


def _replayed(call: ProposedCall, result: CallResult) -> JsonObject:
    function = {
        "name": replayed_name(call.name),
        "arguments": replayed_arguments(call.arguments_text, result),
    }
    return {"id": call.call_id, "type": "function", "function": function}


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
