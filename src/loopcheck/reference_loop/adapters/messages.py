"""Anthropic Messages, over the official SDK's raw responses and events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from anthropic import AnthropicError, AsyncAnthropic, Omit, omit

from loopcheck.reference_loop.adapters import failures, fields
from loopcheck.reference_loop.adapters.conversation import (
    Conversation,
    begin,
    replayed_name,
    restored,
)
from loopcheck.reference_loop.adapters.interface import TaskInfo
from loopcheck.reference_loop.adapters.messages_assembly import (
    MessagesAssembly,
    MessagesBlock,
    MessagesTurn,
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
    from anthropic.types import MessageParam, ToolChoiceParam, ToolUnionParam


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesAdapter:
    """Speaks Messages; `stream` says how responses are asked for."""

    client: AsyncAnthropic
    model: str
    stream: bool
    max_tokens: int = 4096

    def start(self, task: TaskInfo) -> Conversation:
        return begin(task, {"role": "user", "content": task.prompt})

    async def request(self, conversation: Conversation) -> Reply:
        messages = cast("list[MessageParam]", list(conversation.history))
        tools, choice = _offers(conversation), _choice(conversation)
        create = self.client.messages.create
        try:
            if not self.stream:
                message: object = await create(
                    model=self.model,
                    max_tokens=self.max_tokens,
                    messages=messages,
                    tools=tools or omit,
                    tool_choice=choice,
                )
                return _whole_reply(message, conversation)
            stream = await create(
                model=self.model,
                max_tokens=self.max_tokens,
                messages=messages,
                tools=tools or omit,
                tool_choice=choice,
                stream=True,
            )
        except AnthropicError as error:
            return failures.before_stream(error)
        except ValueError as error:
            return failures.unreadable(error)
        assembly = MessagesAssembly()
        failed = await fill(assembly, stream)
        return failed or interpret(assembly.turn(), conversation)

    def append(
        self, conversation: Conversation, calls: Calls, results: Sequence[CallResult]
    ) -> Conversation:
        blocks = cast("tuple[MessagesBlock, ...]", calls.turn)
        answered = zip(calls.calls, results, strict=True)
        content = [
            _replayed(block.content, *next(answered)) if block.is_call else block.content
            for block in blocks
            if not _is_blank(block)
        ]
        messages: list[JsonObject] = []
        if content:
            messages.append({"role": "assistant", "content": content})
        if results:
            messages.append({"role": "user", "content": [_answer(result) for result in results]})
        return conversation.extended(messages)

    def dump(self, conversation: Conversation, turn: object = None) -> JsonObject:
        blocks = cast("tuple[MessagesBlock, ...]", turn or ())
        return conversation.stored([asdict(block) for block in blocks])

    def load(self, value: object) -> tuple[Conversation, object]:
        conversation, turn = restored(value)
        blocks = turn if isinstance(turn, list) else []
        return conversation, tuple(
            MessagesBlock(fields.as_object(block["content"]), fields.text(block, "arguments"))
            for block in blocks
        )


def interpret(turn: MessagesTurn, conversation: Conversation) -> Reply:
    """What a turn means. Only a stop reason followed by message_stop ends it."""
    text = "".join(fields.text(block.content, "text") for block in turn.blocks)
    if turn.stop is None:
        return Failed("the response ended without stop reason and message_stop", retryable=True)
    if turn.stop == "refusal":
        return Refused(text)
    if turn.stop == "max_tokens":
        return Incomplete("length")
    if turn.stop == "model_context_window_exceeded":
        return Incomplete("context")
    if turn.unattributed:
        return Failed("argument fragments belong to no call", retryable=True)
    calls = tuple(
        ProposedCall(
            call_id=fields.text(block.content, "id") or conversation.local_id(ordinal),
            name=fields.text(block.content, "name"),
            arguments_text=block.arguments,
        )
        for ordinal, block in enumerate(block for block in turn.blocks if block.is_call)
    )
    if calls or turn.stop == "pause_turn":
        return Calls(calls, turn.blocks)
    return Final(text) if text else Incomplete("empty")


def _whole_reply(message: object, conversation: Conversation) -> Reply:
    if error := fields.value(message, "error"):
        return failures.reported(error, otherwise="the provider reported an error")
    return interpret(whole_turn(message), conversation)


def _is_blank(block: MessagesBlock) -> bool:
    """Whether this is a text block without text, which the service sends and then refuses."""
    kind, text = block.content.get("type"), fields.text(block.content, "text")
    return kind == "text" and not text.strip()


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
        "content": result.text,
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
