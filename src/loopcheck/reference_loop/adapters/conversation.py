"""The conversation of the three ready-made adapters: a history that only grows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from typing import ClassVar, Final, Literal, TypeAlias, cast, get_args

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.adapters.interface import Said, TaskInfo, ToolOffer
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.events import CallResult

ProviderName: TypeAlias = Literal["chat", "responses", "messages"]

_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRecord:
    """What is kept of one response.

    `items` are its message, items or content blocks as they came. Once they are part of the
    history, only the calls are kept here, since history may hold them mended; the rest stands
    there as it came. `state` is what later requests have to name besides.
    """

    provider: ProviderName
    api_version: str = ""
    response_id: str = ""
    items: tuple[JsonObject, ...] = ()
    state: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The task, the provider's own messages or items so far, and what came in responses.

    `held` is how much of the history the service has itself, under the id of the latest response.
    All of it stands here nevertheless: a service forgets.
    """

    task: TaskInfo
    provider: ProviderName
    history: tuple[JsonObject, ...]
    tool_choice: str
    responses: tuple[ResponseRecord, ...] = ()
    held: int = 0

    def extended(
        self,
        items: Iterable[JsonObject],
        response: ResponseRecord | None = None,
        calls: Sequence[JsonObject] = (),
        *,
        held: int = 0,
    ) -> Conversation:
        """This conversation with more history, which comes of a response with these calls. The
        service has so many of the new items, and all before them; none at all if it is 0.

        A forced tool choice has been obeyed by now.
        """
        kept = () if response is None else (replace(response, items=tuple(calls)),)
        return replace(
            self,
            history=(*self.history, *items),
            tool_choice="none" if self.tool_choice == "none" else "auto",
            responses=(*self.responses, *kept),
            held=len(self.history) + held if held else 0,
        )

    def followed(self, task: TaskInfo, provider: ProviderName) -> Conversation:
        """This conversation, once the user has said something more. Raises ValueError for one of
        another provider."""
        self.check(provider)
        asked: JsonObject = {"role": "user", "content": task.prompt}
        return replace(
            self, task=task, history=(*self.history, asked), tool_choice=task.tool_choice
        )

    def check(self, provider: ProviderName) -> None:
        """Raises ValueError if this is a conversation of another provider."""
        if self.provider != provider:
            raise ValueError(
                f"this conversation is one of {self.provider}, not of {provider}: switch it"
            )

    @property
    def state(self) -> JsonObject:
        """What the responses so far want to be named in the next request."""
        named: JsonObject = {}
        for response in self.responses:
            named |= response.state
        return named

    def local_id(self, ordinal: int) -> str:
        """An id for a call that came without one: the same whenever this turn is read again."""
        return f"call_local_{len(self.history)}_{ordinal}"

    def stored(self, turn: object = None) -> JsonObject:
        """This conversation as JSON, with the record of a response that is not part of it yet."""
        return {
            "task": {
                "prompt": self.task.prompt,
                "tools": [_shallow(tool) for tool in self.task.tools],
                "tool_choice": self.task.tool_choice,
            },
            "provider": self.provider,
            "history": list(self.history),
            "tool_choice": self.tool_choice,
            "responses": [_shallow(response) for response in self.responses],
            "held": self.held,
            "turn": stored_turn(turn),
        }


def _shallow(value: ToolOffer | ResponseRecord) -> JsonObject:
    """Its fields as they are: a history is long, is saved twice a round, and never changes."""
    return {field.name: getattr(value, field.name) for field in dataclass_fields(value)}


def begin(task: TaskInfo, provider: ProviderName) -> Conversation:
    """A conversation that holds what was said earlier, and the prompt."""
    said = (*task.earlier, Said(role="user", text=task.prompt))
    history: tuple[JsonObject, ...] = tuple({"role": s.role, "content": s.text} for s in said)
    return Conversation(replace(task, earlier=()), provider, history, task.tool_choice)


def stored_turn(turn: object) -> JsonObject | None:
    """The record of a response as JSON."""
    return _shallow(turn) if isinstance(turn, ResponseRecord) else None


def restored(value: object, provider: ProviderName) -> tuple[Conversation, ResponseRecord | None]:
    """The conversation and the record from what `stored` gave. Raises ValueError."""
    task = _object(fields.value(value, "task"))
    info = TaskInfo(
        prompt=fields.text(task, "prompt"),
        tools=tuple(_offer(tool) for tool in fields.entries(task, "tools")),
        tool_choice=fields.text(task, "tool_choice"),
    )
    conversation = Conversation(
        info,
        _provider(value),
        tuple(map(_object, fields.entries(value, "history"))),
        fields.text(value, "tool_choice"),
        tuple(map(restored_turn, fields.entries(value, "responses"))),
        fields.number(value, "held") or 0,
    )
    conversation.check(provider)
    if not 0 <= conversation.held <= len(conversation.history):
        raise ValueError("this is no stored conversation: its service holds more than there is")
    turn = fields.value(value, "turn")
    return conversation, None if turn is None else restored_turn(turn)


def restored_turn(value: object) -> ResponseRecord:
    """The record from what `stored_turn` gave. Raises ValueError."""
    return ResponseRecord(
        provider=_provider(value),
        api_version=fields.text(value, "api_version"),
        response_id=fields.text(value, "response_id"),
        items=tuple(map(_object, fields.entries(value, "items"))),
        state=_object(fields.value(value, "state")),
    )


def _provider(value: object) -> ProviderName:
    name = fields.text(value, "provider")
    if name not in get_args(ProviderName):
        raise ValueError(f"this is no stored conversation: its provider is {name!r}")
    return cast("ProviderName", name)


def _object(value: object) -> JsonObject:
    if not isinstance(value, dict):
        raise ValueError("this is no stored conversation")
    return value


def _offer(tool: object) -> ToolOffer:
    return ToolOffer(
        name=fields.text(tool, "name"),
        description=fields.text(tool, "description"),
        parameters=_object(fields.value(tool, "parameters")),
    )


class HoldsConversation:
    """The part of an adapter that is the same for the three ready-made ones: a conversation
    begins, goes on, and is stored. `dialect` says whose conversations it holds."""

    __slots__ = ()
    dialect: ClassVar[ProviderName]

    def start(self, task: TaskInfo) -> Conversation:
        return begin(task, self.dialect)

    def follow(self, conversation: Conversation, task: TaskInfo) -> Conversation:
        return conversation.followed(task, self.dialect)

    def dump(self, conversation: Conversation, turn: object = None) -> JsonObject:
        return conversation.stored(turn)

    def load(self, value: object) -> tuple[Conversation, ResponseRecord | None]:
        return restored(value, self.dialect)

    def dump_turn(self, turn: object) -> JsonObject | None:
        return stored_turn(turn)

    def load_turn(self, value: object) -> ResponseRecord:
        return restored_turn(value)


def replayed_name(name: str) -> str:
    """The tool name as history may hold it: services refuse a history with an ill-formed one."""
    return name if _TOOL_NAME.fullmatch(name) else "invalid_tool_name"


def replayed_arguments(text: str, result: CallResult) -> str:
    """The argument text as history holds it: what the model wrote, if it was usable.

    Text that was no JSON object is replaced by an empty one, since services may refuse it; the
    error result that follows tells the model what it wrote.
    """
    return text if text and result.arguments is not None else "{}"
