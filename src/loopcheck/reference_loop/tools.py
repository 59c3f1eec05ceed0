"""The tools that a loop offers to the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Literal, Protocol, TypeAlias

from loopcheck.reference_loop import schema
from loopcheck.reference_loop.arguments import JsonObject


class Invoke(Protocol):
    """Carries out one call. The operation id is None for tools without operation key.

    A result with images is a `Content`.
    """

    def __call__(
        self, arguments: JsonObject, *, call_id: str, operation_id: str | None
    ) -> Awaitable[str]: ...


@dataclass(frozen=True, slots=True)
class LookUp:
    """What became of an operation. `found` comes with the result that was missed."""

    answer: Literal["found", "absent", "inconclusive"]
    text: str = ""


AskAfter: TypeAlias = Callable[[str], Awaitable[LookUp]]


@dataclass(frozen=True, slots=True)
class ToolFailure(Exception):
    """A tool raises this when it failed in an orderly way, with nothing done.

    `retryable`: the same call may go better, after `retry_after` seconds if that is given.
    """

    code: str
    message: str
    retryable: bool = False
    retry_after: float | None = None

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopTool:
    """A tool. A `read` changes nothing; a `write` may.

    `operation` names the arguments that make two calls the same business action (none of them:
    all calls are one); None means that each call is an action of its own. `look_up` asks what
    became of an operation by its id; `deduplicates` says that the system behind the tool does
    nothing for an operation id that it has seen. A tool that fails in an orderly way, with
    nothing done, raises ToolFailure or returns a JSON object with the member `error`;
    PermissionError says that it was not allowed.

    `version` goes on record with each call, and an approval holds for one version only.
    `resource` names what a call touches, with arguments in braces: `accounts/{account}`. A call
    that takes longer than `seconds` is given up: a read fails, a write has an unknown outcome.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    kind: Literal["read", "write"]
    invoke: Invoke
    operation: tuple[str, ...] | None = None
    look_up: AskAfter | None = None
    deduplicates: bool = False
    version: str = "1"
    resource: str | None = None
    seconds: float | None = None


class ToolDefinitionError(Exception):
    """A tool cannot be offered as it is defined. The message names the tool and the reason."""


def catalogue(tools: Iterable[LoopTool]) -> dict[str, LoopTool]:
    """The tools by name.

    Raises ToolDefinitionError for a name used twice, a bad schema, or a resource that names
    arguments which the schema does not require.
    """
    named: dict[str, LoopTool] = {}
    for tool in tools:
        if tool.name in named:
            raise ToolDefinitionError(f"two tools are named {tool.name!r}; names must be unique")
        try:
            schema.check(tool.parameters)
        except schema.InvalidSchema as error:
            raise ToolDefinitionError(f"parameters of tool {tool.name!r}: {error}") from error
        _check_resource(tool)
        named[tool.name] = tool
    return named


def _check_resource(tool: LoopTool) -> None:
    required = tool.parameters.get("required", ())
    try:
        named = {name for _, name, _, _ in Formatter().parse(tool.resource or "") if name}
    except ValueError as error:
        raise ToolDefinitionError(f"resource of tool {tool.name!r}: {error}") from error
    missing = named.difference(required) if isinstance(required, list | tuple) else named
    if missing:
        raise ToolDefinitionError(
            f"resource of tool {tool.name!r} names {', '.join(sorted(missing))}, which its "
            f"parameters do not require"
        )
