"""Tools as real Python functions, for frameworks that introspect what they are given.

Each function is compiled from generated source, which stands in `linecache`, so that its
signature, annotations, docstring and source are those of an ordinary function.
"""

from __future__ import annotations

import keyword
import linecache
import textwrap
from collections.abc import Awaitable, Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, Literal

from loopcheck.harness.task import Permission, Tool

_HINTS: Final[Mapping[str, str]] = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "dict[str, Any]",
    "null": "None",
}
_INVOKE: Final = "__loopcheck_invoke__"


def build_tool(
    name: str,
    description: str,
    parameters: dict[str, object],
    kind: Literal["read", "write", "ask"],
    operation: tuple[str, ...] | None,
    *,
    approval: Permission = "allow",
    look_up: Callable[[str], dict[str, object]] | None = None,
    deduplicates: bool = False,
    call: Callable[..., str],
    acall: Callable[..., Awaitable[str]],
    blocking: bool,
) -> Tool:
    """A tool with a real function of that name, signature and docstring.

    `call` and `acall` take the arguments, then optionally `call_id` and `operation_id`. An
    optional argument without a default that is left at None is passed on only where its schema
    allows null. A parameter whose name is no identifier makes the function take `**kwargs`.
    """
    description = description or f"{name.replace('_', ' ').capitalize()}."
    schemas, required = _properties(parameters)
    left_out = {
        arg
        for arg, schema in schemas.items()
        if arg not in required and "default" not in schema and not _allows_null(schema)
    }

    def passed_on(arguments: Mapping[str, object]) -> dict[str, object]:
        return {
            arg: value
            for arg, value in arguments.items()
            if value is not None or arg not in left_out
        }

    def invoke(arguments: Mapping[str, object]) -> str:
        return call(passed_on(arguments))

    async def ainvoke(arguments: Mapping[str, object]) -> str:
        return await acall(passed_on(arguments))

    source = _source(name, description, schemas, required, blocking=blocking)
    return Tool(
        name=name,
        description=description,
        parameters=parameters,
        kind=kind,
        operation=operation,
        approval=approval,
        look_up=look_up,
        deduplicates=deduplicates,
        function=_compiled(name, source, invoke if blocking else ainvoke),
        call=call,
        acall=acall,
    )


def _allows_null(schema: Mapping[str, object]) -> bool:
    """Whether None is a value of this schema, as far as its types say."""
    if "enum" in schema:
        return None in _list(schema["enum"])
    choices = _list(schema.get("anyOf")) or _list(schema.get("oneOf"))
    if choices:
        return any(isinstance(choice, dict) and _allows_null(choice) for choice in choices)
    return "type" not in schema or "null" in _types(schema)


def _properties(
    parameters: Mapping[str, object],
) -> tuple[dict[str, dict[str, object]], frozenset[object]]:
    properties = parameters.get("properties")
    schemas = {
        str(arg): schema if isinstance(schema, dict) else {}
        for arg, schema in (properties if isinstance(properties, dict) else {}).items()
    }
    return schemas, frozenset(_list(parameters.get("required")))


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _types(schema: Mapping[str, object]) -> list[object]:
    types = schema.get("type")
    return _list(types) or [types]


def _hint(schema: Mapping[str, object]) -> str:
    values = _list(schema.get("enum"))
    if values and all(value is None or isinstance(value, str | int) for value in values):
        return f"Literal[{', '.join(map(repr, values))}]"
    choices = _list(schema.get("anyOf")) or _list(schema.get("oneOf"))
    hints = [_hint(choice) if isinstance(choice, dict) else "Any" for choice in choices]
    return _union(hints or [_hint_of_type(word, schema) for word in _types(schema)])


def _hint_of_type(word: object, schema: Mapping[str, object]) -> str:
    if word == "array":
        items = schema.get("items")
        return f"list[{_hint(items) if isinstance(items, dict) else 'Any'}]"
    return _HINTS.get(str(word), "Any")


def _union(hints: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(hints))
    return "Any" if "Any" in distinct else " | ".join(distinct)


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("__")


def _source(
    name: str,
    description: str,
    schemas: Mapping[str, Mapping[str, object]],
    required: frozenset[object],
    *,
    blocking: bool,
) -> str:
    if all(map(_is_name, schemas)):
        # Python wants parameters without a default first.
        ordered = sorted(schemas, key=lambda arg: arg not in required)
        signature = ", ".join(_parameter(arg, schemas[arg], arg in required) for arg in ordered)
        given = "{" + ", ".join(f"{arg!r}: {arg}" for arg in schemas) + "}"
    else:
        signature, given = "**kwargs: Any", "kwargs"
    head = "def" if blocking else "async def"
    wait = "" if blocking else "await "
    docstring = textwrap.indent(f'"""{_docstring(description, schemas)}"""', "    ")
    return (
        f"{head} {name if _is_name(name) else 'tool'}({signature}) -> str:\n"
        f"{docstring}\n"
        f"    return {wait}{_INVOKE}({given})\n"
    )


def _parameter(arg: str, schema: Mapping[str, object], required: bool) -> str:
    # The hint of an optional argument stays without None, for frameworks make the schema that
    # they send, and validate by, from it.
    default = "" if required else f" = {schema.get('default')!r}"
    return f"{arg}: {_hint(schema)}{default}"


def _docstring(description: str, schemas: Mapping[str, Mapping[str, object]]) -> str:
    lines = [
        f"    {arg}: {' '.join(str(schema['description']).split())}"
        for arg, schema in schemas.items()
        if schema.get("description")
    ]
    text = description.strip()
    if lines:
        text = "\n".join([text, "", "Args:", *lines, ""])
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _compiled(name: str, source: str, invoke: Callable[..., object]) -> Callable[..., object]:
    # Named after its content: the same tool in a thousand cases is one entry in linecache.
    filename = f"<loopcheck tool {name} {sha256(source.encode()).hexdigest()[:12]}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {
        "Any": Any,
        "Literal": Literal,
        "__name__": __name__,
        _INVOKE: invoke,
    }
    exec(compile(source, filename, "exec", dont_inherit=True), namespace)
    function: Callable[..., object] = namespace[name if _is_name(name) else "tool"]
    function.__name__ = function.__qualname__ = name
    return function
