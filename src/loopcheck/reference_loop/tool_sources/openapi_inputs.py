"""What an OpenAPI operation takes in: one schema for the model, and where each argument goes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.tool_sources.http_requests import BODY, Body
from loopcheck.reference_loop.tool_sources.openapi_document import (
    Document,
    Node,
    RawOperation,
    mapping,
)
from loopcheck.reference_loop.tool_sources.openapi_parameters import read_parameters
from loopcheck.reference_loop.tool_sources.openapi_schemas import Schemas
from loopcheck.reference_loop.tool_sources.parameter_values import Parameter
from loopcheck.reference_loop.tools import ToolDefinitionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What an operation takes in. `hidden` are the headers, in lower case, that it declares and
    that the model is not asked for."""

    schema: JsonObject
    parameters: tuple[Parameter, ...]
    body: Body | None
    hidden: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    media_type: str
    schema: object
    is_required: bool
    description: str


@dataclass(frozen=True, slots=True)
class _Input:
    name: str
    schema: object
    description: str
    is_required: bool


def read_inputs(document: Document, raw: RawOperation, *, hide: Collection[str]) -> Inputs:
    """The operation's inputs without the headers that `hide` names, in lower case.

    Where there is nothing but a JSON object to be sent, its members are the arguments. Otherwise
    the arguments are the parameters, and the content is the argument `body`.
    """
    declared = read_parameters(document, raw)
    hidden = {one.name.lower() for one in declared if one.place == "header"}.intersection(hide)
    parameters = tuple(
        one for one in declared if one.place != "header" or one.name.lower() not in hidden
    )
    content = _content(document, raw)
    schemas = Schemas(document, raw.where)
    whole = None if parameters or content is None else _whole(document, content, raw.where)
    if whole is not None:
        schema = dict(mapping(schemas.taken(whole), raw.where))
    else:
        schema = _object(_inputs(parameters, content, raw.where), schemas)
    if schemas.definitions:
        schema["$defs"] = schemas.definitions
    body = None
    if content is not None:
        body = Body(media_type=content.media_type, is_arguments=whole is not None)
    return Inputs(schema=schema, parameters=parameters, body=body, hidden=frozenset(hidden))


def _content(document: Document, raw: RawOperation) -> _Content | None:
    if "requestBody" not in raw.node:
        return None
    node = document.resolve(raw.node["requestBody"], f"{raw.where}: requestBody")
    kinds = mapping(node.get("content"), f"{raw.where}: content of the requestBody")
    media_type = next(iter(sorted(filter(_is_json, kinds), key=_is_particular)), None)
    if media_type is None:
        raise ToolDefinitionError(
            f"{raw.where}: its content is {', '.join(kinds) or 'nothing'}; only JSON is sent here"
        )
    return _Content(
        media_type=media_type,
        schema=mapping(kinds[media_type], raw.where).get("schema", True),
        is_required=node.get("required") is True,
        description=str(node.get("description", "")),
    )


def _is_json(media_type: str) -> bool:
    essence = media_type.partition(";")[0].strip().lower()
    return essence == "application/json" or (essence.endswith("+json") and "*" not in essence)


def _is_particular(media_type: str) -> bool:
    return "+" in media_type


def _whole(document: Document, content: _Content, where: str) -> Node | None:
    """The schema of the content, if that is an object and has to be there."""
    schema = content.schema
    seen: set[str] = set()
    while isinstance(schema, dict) and set(schema) == {"$ref"} and schema["$ref"] not in seen:
        seen.add(schema["$ref"])
        schema = document.target(str(schema["$ref"]), where)
    is_object = isinstance(schema, dict) and schema.get("type") == "object"
    return schema if is_object and content.is_required and isinstance(schema, dict) else None


def _inputs(
    parameters: tuple[Parameter, ...], content: _Content | None, where: str
) -> list[_Input]:
    inputs = [_Input(one.name, one.schema, one.description, one.is_required) for one in parameters]
    if content is not None:
        inputs.append(_Input(BODY, content.schema, content.description, content.is_required))
    names = [one.name for one in inputs]
    for name in names:
        if names.count(name) > 1:
            raise ToolDefinitionError(f"{where}: two of its inputs are named {name!r}")
    return inputs


def _object(inputs: list[_Input], schemas: Schemas) -> JsonObject:
    return {
        "type": "object",
        "properties": {one.name: _described(one, schemas) for one in inputs},
        "required": [one.name for one in inputs if one.is_required],
        "additionalProperties": False,
    }


def _described(one: _Input, schemas: Schemas) -> object:
    schema = schemas.taken(one.schema)
    if isinstance(schema, dict) and one.description:
        return {"description": one.description, **schema}
    return {"description": one.description} if schema is True and one.description else schema
