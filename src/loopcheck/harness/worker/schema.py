"""The worker protocol as a JSON Schema: python -m loopcheck.harness.worker.schema"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.worker.protocol import PROTOCOL, Answer, Command

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
PATH: Final = Path(__file__).with_name("protocol.schema.json")


def protocol_schema() -> JsonObject:
    """What a line of either direction has to match: `$defs/command` what a worker reads,
    `$defs/answer` what it writes, and the whole either of the two."""
    commands: TypeAdapter[Command] = TypeAdapter(Command)
    answers: TypeAdapter[Answer] = TypeAdapter(Answer)
    sides, rest = TypeAdapter.json_schemas(
        [("command", "validation", commands), ("answer", "validation", answers)]
    )
    named: dict[str, JsonObject] = rest["$defs"]
    return {
        "$schema": DIALECT,
        "title": f"loopcheck worker protocol {PROTOCOL}",
        "description": "One line of the protocol. Members that are not named here are ignored.",
        "anyOf": [{"$ref": "#/$defs/command"}, {"$ref": "#/$defs/answer"}],
        "$defs": {
            "command": sides["command", "validation"],
            "answer": sides["answer", "validation"],
            **{name: _with_its_tag(definition) for name, definition in named.items()},
        },
    }


def _with_its_tag(definition: JsonObject) -> JsonObject:
    """A command with `cmd` required: to the models it has a default, on the wire it has none."""
    members, required = definition.get("properties"), definition.get("required", [])
    if not isinstance(members, dict) or "cmd" not in members or not isinstance(required, list):
        return definition
    return {**definition, "required": ["cmd", *required]}


def schema_text() -> str:
    """The schema as the file that the package brings."""
    return json.dumps(protocol_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
