"""Takes schemas out of an OpenAPI document, so that they stand by themselves.

What a schema refers to comes along under `$defs`, where cycles may stay cycles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.tool_sources.openapi_document import (
    Document,
    check_dialect,
    mapping,
)
from loopcheck.reference_loop.tools import ToolDefinitionError

_OF_SCHEMAS: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_DATA: Final = frozenset({"const", "enum", "default", "examples"})
# Words of OpenAPI that say nothing to JSON Schema, and definitions, which come along if used.
_LEFT_OUT: Final = frozenset(
    {"$schema", "$defs", "$comment", "discriminator", "xml", "externalDocs", "example"}
)
# They would change what the references around them mean; the last two are of an older draft.
_NOT_READ: Final = (
    "$id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
)


class Schemas:
    """The schemas of one tool; `definitions` is what they refer to, by the name it gets here."""

    def __init__(self, document: Document, where: str) -> None:
        self.definitions: JsonObject = {}
        self._document = document
        self._where = where
        self._names: dict[str, str] = {}

    def taken(self, schema: object) -> object:
        """The schema with references into the document made references into `$defs`."""
        if isinstance(schema, bool):
            return schema
        node = mapping(schema, f"{self._where}: a schema")
        check_dialect(node.get("$schema"), self._where)
        for word in _NOT_READ:
            if word in node:
                raise ToolDefinitionError(f"{self._where}: {word} is not read in schemas here")
        return {
            word: self._value(word, value) for word, value in node.items() if word not in _LEFT_OUT
        }

    def _value(self, word: str, value: object) -> object:
        if word == "$ref" and isinstance(value, str):
            return f"#/$defs/{self._definition(value)}"
        if word in _OF_SCHEMAS and isinstance(value, Mapping):
            return {name: self.taken(one) for name, one in value.items()}
        if word in _DATA:
            return value
        if isinstance(value, Mapping):
            return self.taken(value)
        if isinstance(value, list):
            return [self.taken(one) if isinstance(one, Mapping) else one for one in value]
        return value

    def _definition(self, reference: str) -> str:
        """The name under which what is referred to comes along."""
        if reference not in self._names:
            name = self._names[reference] = self._free_name(reference)
            self.definitions[name] = {}  # keeps the place; a cycle ends here
            self.definitions[name] = self.taken(self._document.target(reference, self._where))
        return self._names[reference]

    def _free_name(self, reference: str) -> str:
        base = re.sub(r"[^a-zA-Z0-9_.-]+", "_", reference.rpartition("/")[2]) or "_"
        name, number = base, 1
        while name in self.definitions:
            number += 1
            name = f"{base}_{number}"
        return name
