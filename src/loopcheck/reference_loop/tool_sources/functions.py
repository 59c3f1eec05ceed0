"""Tools that are plain Python functions: the signature says what the model may pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Final, Literal

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.tool_sources.names import check_name
from loopcheck.reference_loop.tool_sources.signatures import Signature, body_of, read_signature
from loopcheck.reference_loop.tool_sources.threads import in_own_thread
from loopcheck.reference_loop.tools import AskAfter, LoopTool, ToolDefinitionError, ToolFailure

MAX_PROBLEMS: Final = 5


def function_tool(
    function: Callable[..., object],
    *,
    kind: Literal["read", "write"],
    name: str | None = None,
    description: str | None = None,
    operation: tuple[str, ...] | None = None,
    look_up: AskAfter | None = None,
    deduplicates: bool = False,
    version: str = "1",
    resource: str | None = None,
    seconds: float | None = None,
) -> LoopTool:
    """A tool whose parameters come from the function's annotations, and their descriptions from
    its docstring. What else can be said about it is as LoopTool has it.

    A parameter annotated `CallId` or `OperationId` is filled in by the loop and hidden from the
    model. A plain function runs in a thread, where nothing can stop it: given up, it goes on. What
    it gives is text, a `Content` where it has images, or whatever can be written as JSON.
    Raises ToolDefinitionError, which names function and parameter, for a signature that says
    less than a model has to know.
    """
    named: str = name or getattr(function, "__name__", "") or repr(function)
    check_name(named, f"function {named}")
    body = body_of(function)
    if inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body):
        raise ToolDefinitionError(f"function {named} is a generator; a tool gives one result")
    signature = read_signature(function, named)
    _check_operation(named, signature, operation or ())
    is_async = inspect.iscoroutinefunction(body)

    async def invoke(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
        try:
            positional, keywords = signature.bind(arguments, call_id, operation_id)
        except ValidationError as error:
            raise ToolFailure("invalid_arguments", _in_words(error)) from None
        if is_async:
            result = function(*positional, **keywords)
        else:
            result = await in_own_thread(lambda: function(*positional, **keywords))
        return _text(await result if inspect.isawaitable(result) else result, kind)

    return LoopTool(
        name=named,
        description=signature.description if description is None else description,
        parameters=signature.schema,
        kind=kind,
        invoke=invoke,
        operation=operation,
        look_up=look_up,
        deduplicates=deduplicates,
        version=version,
        resource=resource,
        seconds=seconds,
    )


def _check_operation(name: str, signature: Signature, operation: tuple[str, ...]) -> None:
    unknown = [key for key in operation if key not in signature.fields]
    if unknown:
        raise ToolDefinitionError(
            f"function {name}: its operation names {', '.join(unknown)}, which the model is not "
            f"asked for"
        )


def _in_words(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        f"$.{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems[:MAX_PROBLEMS]
    )


def _text(result: object, kind: Literal["read", "write"]) -> str:
    if isinstance(result, str):
        return result
    try:
        return to_json(result, fallback=str, inf_nan_mode="null", bytes_mode="base64").decode()
    except (PydanticSerializationError, ValueError) as error:
        if kind == "read":
            raise
        # The function has returned: what cannot be shown was done all the same.
        return f"It was done. Its result cannot be written as JSON: {error}"
