"""Reads OpenAPI 3.1 documents: their operations, and what their references stand for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote

from loopcheck.reference_loop.tools import ToolDefinitionError

Node: TypeAlias = Mapping[str, object]

# TRACE is none of them: it hands the caller's own headers back, credentials included.
METHODS: Final = ("get", "head", "options", "put", "delete", "post", "patch")

_DIALECTS: Final = frozenset(
    {
        "https://spec.openapis.org/oas/3.1/dialect/base",
        "https://spec.openapis.org/oas/3.1/dialect/2024-10-25",
        "https://spec.openapis.org/oas/3.1/dialect/2024-11-10",
        "https://json-schema.org/draft/2020-12/schema",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawOperation:
    """One operation, as the document has it."""

    method: str
    path: str
    node: Node
    item: Node

    @property
    def where(self) -> str:
        """How the operation is named to people."""
        return f"{self.method.upper()} {self.path}"


class Document:
    """An OpenAPI 3.1 document. Everything that cannot be read raises ToolDefinitionError."""

    def __init__(self, root: Node) -> None:
        self._root = root
        _check_version(root)
        check_dialect(root.get("jsonSchemaDialect"), "the document")

    def operations(self) -> Iterator[RawOperation]:
        """Every operation, in the order of the document."""
        for path, value in mapping(self._root.get("paths"), "paths").items():
            if path.startswith("x-"):
                continue
            if not path.startswith("/") or "?" in path or "#" in path:
                # Behind an address without a slash at its end, it could name another host.
                raise ToolDefinitionError(f"path {path}: a path begins with '/' and has no '?'")
            item = self.resolve(value, f"path {path}")
            for method in METHODS:
                if method in item:
                    node = mapping(item[method], f"{method.upper()} {path}")
                    yield RawOperation(method=method, path=path, node=node, item=item)

    def nearest(self, member: str, operation: RawOperation) -> list[object]:
        """A list that the operation, its path or else the document has: servers, or security."""
        for owner in (operation.node, operation.item, self._root):
            found = owner.get(member)
            if isinstance(found, list):
                return found
        return []

    def resolve(self, value: object, where: str) -> Node:
        """The object itself, where this is a reference to it."""
        seen: set[str] = set()
        node = mapping(value, where)
        while isinstance(reference := node.get("$ref"), str):
            if reference in seen:
                raise ToolDefinitionError(f"{where}: {reference} refers to itself")
            seen.add(reference)
            node = mapping(self.target(reference, where), reference)
        return node

    def target(self, reference: str, where: str) -> object:
        """What a reference points to: a JSON pointer into this document."""
        if not reference.startswith("#"):
            raise ToolDefinitionError(
                f"{where}: {reference} is outside of the document; put everything into one"
            )
        if reference != "#" and not reference.startswith("#/"):
            raise ToolDefinitionError(
                f"{where}: {reference} is no JSON pointer; anchors are not read"
            )
        node: object = self._root
        for part in unquote(reference).split("/")[1:]:
            node = _child(node, part.replace("~1", "/").replace("~0", "~"), reference, where)
        return node


def read_document(source: Node | Path | str) -> Document:
    """The document itself, or that of a JSON file."""
    if isinstance(source, Mapping):
        return Document(source)
    path = Path(source)
    try:
        value: object = json.loads(path.read_bytes())
    except ValueError as error:
        hint = "; load YAML yourself, and pass what you get" if _is_yaml(path) else ""
        raise ToolDefinitionError(f"{path} is not JSON: {error}{hint}") from error
    return Document(mapping(value, str(path)))


def mapping(value: object, where: str) -> Node:
    """The value, which has to be an object."""
    if not isinstance(value, Mapping):
        raise ToolDefinitionError(f"{where} has to be an object, not {type(value).__name__}")
    return value


def check_dialect(dialect: object, where: str) -> None:
    """Raises ToolDefinitionError for a dialect of schemas other than JSON Schema 2020-12."""
    if dialect is not None and str(dialect).rstrip("#") not in _DIALECTS:
        raise ToolDefinitionError(
            f"{where}: schemas of {dialect} are not read here; JSON Schema 2020-12 is"
        )


def _check_version(root: Node) -> None:
    swagger, version = root.get("swagger"), root.get("openapi")
    if isinstance(version, str) and (version == "3.1" or version.startswith("3.1.")):
        return
    if version is None and swagger is None:
        raise ToolDefinitionError("this is no OpenAPI document: it has no member 'openapi'")
    found = version if swagger is None else swagger
    older = swagger is not None or str(found).startswith("3.0")
    why = "its schemas are not JSON Schema 2020-12" if older else "it is none that is known"
    raise ToolDefinitionError(
        f"OpenAPI {found} is not read here: {why}; convert the document to 3.1"
    )


def _child(node: object, part: str, reference: str, where: str) -> object:
    if isinstance(node, Mapping) and part in node:
        child: object = node[part]
        return child
    if isinstance(node, list) and part.isascii() and part.isdigit() and int(part) < len(node):
        return node[int(part)]
    raise ToolDefinitionError(f"{where}: {reference} points to nothing")


def _is_yaml(path: Path) -> bool:
    return path.suffix in (".yaml", ".yml")
