"""What a function's signature, annotations and docstring say about its parameters."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args, get_origin

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.tools import ToolDefinitionError


@dataclass(frozen=True, slots=True)
class FromLoop:
    """Marks a parameter that the loop fills in, and the model never sees."""

    what: Literal["call_id", "operation_id"]


CallId: TypeAlias = Annotated[str, FromLoop("call_id")]
OperationId: TypeAlias = Annotated[str | None, FromLoop("operation_id")]

_CONFIG: Final = ConfigDict(extra="forbid")
_UNUSABLE: Final = (PydanticUserError, NameError, TypeError, ValueError)


class _Schema(GenerateJsonSchema):
    """JSON Schema without what a model has no use for: titles, and defaults that are no JSON."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A function's parameters: `schema` is for the model, `bind` for what the model wrote.

    `fields` has the field of `model` for each parameter that the model may fill, since parameters
    may have names that fields may not; `from_loop` has the others.
    """

    description: str
    schema: JsonObject
    model: type[BaseModel]
    fields: Mapping[str, str]
    from_loop: Mapping[str, str]
    parameters: tuple[Parameter, ...]

    def bind(
        self, arguments: Mapping[str, object], call_id: str, operation_id: str | None
    ) -> tuple[list[object], dict[str, object]]:
        """The function's arguments, by position and by name. Raises pydantic's ValidationError."""
        given = self.model.model_validate_json(json.dumps(arguments))
        loops = {"call_id": call_id, "operation_id": operation_id}
        positional: list[object] = []
        named: dict[str, object] = {}
        for parameter in self.parameters:
            name, field = parameter.name, self.fields.get(parameter.name, "")
            value = getattr(given, field) if field else loops[self.from_loop[name]]
            if parameter.kind is Parameter.POSITIONAL_ONLY:
                positional.append(value)
            elif not field or field in given.model_fields_set or not _keeps_default(parameter):
                named[name] = value
        return positional, named


def read_signature(function: Callable[..., object], name: str) -> Signature:
    """The function's signature. Raises ToolDefinitionError where it says too little."""
    parameters = _parameters(function, name)
    from_loop = {
        parameter.name: mark.what for parameter in parameters if (mark := _mark(parameter))
    }
    fields = {
        parameter.name: f"p{position}"
        for position, parameter in enumerate(parameters)
        if parameter.name not in from_loop
    }
    asked = [parameter for parameter in parameters if parameter.name in fields]
    for parameter in asked:
        _check(parameter, name)
    model = _model(name, {fields[parameter.name]: parameter for parameter in asked})
    description, descriptions = _documented(function)
    return Signature(
        description=description,
        schema=_schema(model, descriptions),
        model=model,
        fields=fields,
        from_loop=from_loop,
        parameters=parameters,
    )


def body_of(function: Callable[..., object]) -> object:
    """The function that runs when this is called: that of a partial, or of a callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    is_plain = inspect.isroutine(function) or inspect.isclass(function)
    return function if is_plain else type(function).__call__


def _parameters(function: Callable[..., object], name: str) -> tuple[Parameter, ...]:
    try:
        signature = inspect.signature(function, eval_str=True)
    except _UNUSABLE as error:
        raise ToolDefinitionError(f"function {name}: {error}") from error
    for parameter in signature.parameters.values():
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            stars = "*" if parameter.kind is Parameter.VAR_POSITIONAL else "**"
            raise ToolDefinitionError(
                f"function {name}, parameter {stars}{parameter.name}: the model has to know each "
                f"parameter by name"
            )
        if parameter.annotation is Parameter.empty:
            raise ToolDefinitionError(
                f"function {name}, parameter {parameter.name} has no annotation"
            )
    return tuple(signature.parameters.values())


def _mark(parameter: Parameter) -> FromLoop | None:
    if get_origin(parameter.annotation) is not Annotated:
        return None
    return next((one for one in get_args(parameter.annotation) if isinstance(one, FromLoop)), None)


def _keeps_default(parameter: Parameter) -> bool:
    """Whether the function itself has the value of a parameter that is left out."""
    return parameter.default is not Parameter.empty and not isinstance(parameter.default, FieldInfo)


def _check(parameter: Parameter, function: str) -> None:
    """Finds what is wrong with a parameter by itself, so that it can be said of this one."""
    try:
        _schema(_model(function, {"p": parameter}), {})
    except _UNUSABLE as error:
        reason = str(error).partition("\n")[0]
        raise ToolDefinitionError(
            f"function {function}, parameter {parameter.name}: {reason}"
        ) from error


def _model(name: str, fields: Mapping[str, Parameter]) -> type[BaseModel]:
    """A model whose fields are known outside by the names of the parameters."""
    namespace: dict[str, object] = {
        "__module__": __name__,
        "__annotations__": {field: _annotated(one) for field, one in fields.items()},
        "model_config": _CONFIG,
        **{field: one.default for field, one in fields.items() if _keeps_default(one)},
    }
    metaclass: Any = type(BaseModel)
    model: type[BaseModel] = metaclass(name, (BaseModel,), namespace)
    return model


def _annotated(parameter: Parameter) -> object:
    annotation: Any = parameter.annotation
    if isinstance(parameter.default, FieldInfo):
        annotation = Annotated[annotation, parameter.default]
    return Annotated[annotation, Field(alias=parameter.name, validation_alias=parameter.name)]


def _documented(function: Callable[..., object]) -> tuple[str, dict[str, str]]:
    """What the docstring says of the function and of each parameter."""
    body = body_of(function)
    is_told = getattr(body, "__doc__", None) and body is not type.__call__
    told = body if is_told else function
    # A class without words of its own has those of its base, which are about something else.
    own = told.__doc__ if inspect.isclass(told) else inspect.getdoc(told)
    parsed = docstring_parser.parse(inspect.cleandoc(own or ""))
    texts = {one.arg_name: one.description for one in parsed.params if one.description}
    return (parsed.description or "").strip(), texts


def _schema(model: type[BaseModel], descriptions: Mapping[str, str]) -> JsonObject:
    schema = model.model_json_schema(schema_generator=_Schema)
    del schema["title"]
    for name, text in descriptions.items():
        if name in schema["properties"]:
            schema["properties"][name].setdefault("description", text)
    return schema
