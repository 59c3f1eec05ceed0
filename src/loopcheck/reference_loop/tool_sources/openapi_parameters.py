"""The parameters of an OpenAPI operation, as the document has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from loopcheck.reference_loop.tool_sources.openapi_document import (
    Document,
    Node,
    RawOperation,
    mapping,
)
from loopcheck.reference_loop.tool_sources.parameter_values import Parameter, Place
from loopcheck.reference_loop.tools import ToolDefinitionError

_STYLES: Final[Mapping[str, str]] = {
    "path": "simple",
    "query": "form",
    "header": "simple",
    "cookie": "form",
}
# OpenAPI has other places for these.
_IGNORED: Final = frozenset({"accept", "authorization", "content-type"})
# These say where a message goes and where it ends, which is nothing that a model may write.
_REFUSED: Final = frozenset(
    {
        "connection",
        "content-length",
        "cookie",
        "host",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
TEMPLATED: Final = re.compile(r"\{([^{}/]+)\}")


def read_parameters(document: Document, raw: RawOperation) -> tuple[Parameter, ...]:
    """The operation's parameters: its own, and those of its path that it does not replace."""
    nodes = [*_nodes(document, raw, raw.item), *_nodes(document, raw, raw.node)]
    found = {(str(node.get("name")), str(node.get("in"))): node for node in nodes}
    parameters = tuple(
        _parameter(node, name, place, raw.where)
        for (name, place), node in found.items()
        if not (place == "header" and name.lower() in _IGNORED)
    )
    _check_path(parameters, raw)
    return parameters


def _nodes(document: Document, raw: RawOperation, owner: Node) -> Iterator[Node]:
    listed = owner.get("parameters", [])
    if not isinstance(listed, list):
        raise ToolDefinitionError(f"{raw.where}: parameters have to be a list")
    for one in listed:
        yield document.resolve(one, f"{raw.where}: a parameter")


def _parameter(node: Node, name: str, place: str, where: str) -> Parameter:
    whose = f"{where}, parameter {name}"
    if place not in _STYLES:
        raise ToolDefinitionError(f"{whose}: parameters in {place!r} are not known")
    if place in ("header", "cookie") and not _TOKEN.fullmatch(name):
        raise ToolDefinitionError(f"{whose}: this is no name of a {place}")
    if place == "header" and name.lower() in _REFUSED:
        raise ToolDefinitionError(f"{whose}: this header is not for callers to write")
    style = node.get("style", _STYLES[place])
    if style != _STYLES[place]:
        raise ToolDefinitionError(
            f"{whose}: style {style} is not written here; {_STYLES[place]} is, in the {place}"
        )
    schema, is_json = _schema(node, whose)
    return Parameter(
        name=name,
        place=cast(Place, place),
        is_required=place == "path" or node.get("required") is True,
        schema=schema,
        description=str(node.get("description", "")),
        explode=bool(node.get("explode", style == "form")),
        is_json=is_json,
    )


def _schema(node: Node, whose: str) -> tuple[object, bool]:
    content = node.get("content")
    if content is None:
        return node.get("schema", True), False
    kinds = mapping(content, f"{whose}: content")
    if list(kinds) != ["application/json"]:
        raise ToolDefinitionError(f"{whose}: of content, only application/json is written here")
    return mapping(kinds["application/json"], whose).get("schema", True), True


def _check_path(parameters: tuple[Parameter, ...], raw: RawOperation) -> None:
    wanted = set(TEMPLATED.findall(raw.path))
    given = {one.name for one in parameters if one.place == "path"}
    if wanted != given:
        names = ", ".join(sorted(wanted ^ given))
        raise ToolDefinitionError(
            f"{raw.where}: the path and its parameters do not agree about {names}"
        )
