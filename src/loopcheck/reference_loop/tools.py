"""The tools that a loop offers to the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from loopcheck.reference_loop import schema
from loopcheck.reference_loop.arguments import JsonObject


class Invoke(Protocol):
    """Carries out one call. The operation id is None for tools without operation key."""

    def __call__(
        self, arguments: JsonObject, *, call_id: str, operation_id: str | None
    ) -> Awaitable[str]: ...


@dataclass(frozen=True, slots=True)
class LookUp:
    """What became of an operation. `found` comes with the result that was missed."""

    answer: Literal["found", "absent", "inconclusive"]
    text: str = ""


AskAfter: TypeAlias = Callable[[str], Awaitable[LookUp]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopTool:
    """A tool. A `read` changes nothing; a `write` may.

    `operation` names the arguments that make two calls the same business action (none of them:
    all calls are one); None means that each call is an action of its own. `look_up` asks what
    became of an operation by its id. A tool that fails in an orderly way, with nothing done,
    returns a JSON object with the member `error`; PermissionError says that it was not allowed.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    kind: Literal["read", "write"]
    invoke: Invoke
    operation: tuple[str, ...] | None = None
    look_up: AskAfter | None = None


class ToolDefinitionError(Exception):
    """A tool cannot be offered as it is defined. The message names the tool and the reason."""


def catalogue(tools: Iterable[LoopTool]) -> dict[str, LoopTool]:
    """The tools by name. Raises ToolDefinitionError for a name used twice or a bad schema."""
    named: dict[str, LoopTool] = {}
    for tool in tools:
        if tool.name in named:
            raise ToolDefinitionError(f"two tools are named {tool.name!r}; names must be unique")
        try:
            schema.check(tool.parameters)
        except schema.InvalidSchema as error:
            raise ToolDefinitionError(f"parameters of tool {tool.name!r}: {error}") from error
        named[tool.name] = tool
    return named
