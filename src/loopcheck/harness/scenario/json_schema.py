"""The scenario format as a JSON Schema, for editors.

It says what may stand where. What contradicts itself, or can do nothing, only the linter finds.
Its file is made by: python -m loopcheck.harness.scenario.json_schema
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from loopcheck.fake_providers.quirks import QUIRKS
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.scenario.shapes import as_list
from loopcheck.harness.target import CAPABILITIES

PATH: Final = Path(__file__).with_name("scenario.schema.json")
_OF_A_FILE: Final = ("format", "variants")


class _Generator(GenerateJsonSchema):
    """Knows where one value may stand for a list of it, and that the members of a union, which are
    told apart by their shapes, may share one."""

    def function_before_schema(
        self, schema: core_schema.BeforeValidatorFunctionSchema
    ) -> JsonSchemaValue:
        listed = super().function_before_schema(schema)
        if schema["function"]["function"] is not as_list:
            return listed
        return {"anyOf": [listed["items"], listed]}

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        members: JsonSchemaValue = super().tagged_union_schema(schema)
        found = members.pop("oneOf", None)
        return members if found is None else {**members, "anyOf": found}


def document() -> JsonObject:
    """The schema of a scenario file."""
    made = Scenario.model_json_schema(by_alias=True, schema_generator=_Generator)
    keys: dict[str, Any] = {name: key for name, key in made["properties"].items() if name != "id"}
    keys["needs"]["items"] = {"enum": list(CAPABILITIES)}
    keys["quirks"] = {"$ref": "#/$defs/Quirks"}
    varied = {name: key for name, key in keys.items() if name not in _OF_A_FILE}
    definitions: dict[str, Any] = {
        **made["$defs"],
        "Quirks": _quirks(),
        "Variant": {
            "description": "Top-level keys that replace those of the file.",
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "properties": varied,
        },
    }
    for owner in ("TurnModel", "AttemptModel"):
        definitions[owner]["properties"]["quirks"] = {"$ref": "#/$defs/Quirks"}
    keys["variants"]["additionalProperties"] = {"$ref": "#/$defs/Variant"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "loopcheck scenario, format 1",
        "description": "One file is one scenario; its id is its path below the scenarios folder.",
        "type": "object",
        "required": made["required"],
        "additionalProperties": False,
        "properties": keys,
        "$defs": dict(sorted(definitions.items())),
    }


def _quirks() -> JsonObject:
    """A list of quirks by their names, alone or with a value; also by dialect."""
    quirk = {
        "anyOf": [
            {"enum": sorted(QUIRKS)},
            {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "propertyNames": {"enum": sorted(QUIRKS)},
            },
        ]
    }
    listed: JsonObject = {"type": "array", "items": quirk}
    dialects = {"propertyNames": {"enum": ["responses", "chat", "messages"]}}
    by_dialect: JsonObject = {"type": "object", "additionalProperties": listed, **dialects}
    return {"anyOf": [listed, by_dialect, {"type": "null"}]}


def text() -> str:
    """The schema as the file that the package brings."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
