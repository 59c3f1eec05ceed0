"""Whether what ran had been offered to the model, and fits the schema that it was offered with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from referencing.exceptions import Unresolvable

from loopcheck.fake_providers.wire import JsonObject, OfferedTool
from loopcheck.harness.checks.evidence import Evidence, Execution, Request
from loopcheck.harness.checks.interface import finding
from loopcheck.harness.checks.matching import Matching
from loopcheck.harness.checks.wording import as_json, executions
from loopcheck.harness.results import Finding


def offer_findings(evidence: Evidence, matching: Matching) -> Iterator[Finding]:
    """What executions of calls break of the offer in the request that their response answered."""
    for found in matching.matches:
        execution = found.execution
        request = next((r for r in evidence.requests if r.number == found.response.request), None)
        if request is None:
            continue
        offered = _offered(execution.tool, request)
        if offered is None or _is_none(request.tool_choice):
            yield _withheld(execution, request)
        elif (complaint := _complaint(execution.arguments, offered.schema)) is not None:
            yield _invalid(execution, request, offered, complaint, evidence.can)


def _offered(tool: str, request: Request) -> OfferedTool | None:
    """The tool in the request; a framework may have put a prefix to its name."""
    exact = [offered for offered in request.tools if offered.name == tool]
    prefixed = [offered for offered in request.tools if offered.name.endswith(tool)]
    return next(iter([*exact, *prefixed]), None)


def _is_none(tool_choice: object) -> bool:
    word = tool_choice.get("type") if isinstance(tool_choice, dict) else tool_choice
    return word == "none"


def _withheld(execution: Execution, request: Request) -> Finding:
    return finding(
        "execution.allowed",
        "should",
        "no tool runs that the request withheld",
        expected=f"0 executions of {execution.tool}: request {request.number} offered "
        f"{', '.join(tool.name for tool in request.tools) or 'no tools'}, "
        f"tool_choice {as_json(request.tool_choice)}",
        seen=executions([execution]),
        entries=(execution.n, request.n),
    )


def _complaint(arguments: JsonObject, schema: JsonObject) -> str | None:
    """What is wrong with the arguments in every form that they may have had before the call."""
    try:
        validator = _validator(json.dumps(schema))
        errors = [best_match(validator.iter_errors(form)) for form in _forms(arguments, schema)]
    except (SchemaError, Unresolvable, RecursionError, re.error):
        # What the target sent is no schema to hold it to.
        return None
    found = [error for error in errors if error is not None]
    return _sentence(found[0]) if len(found) == len(errors) else None


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    """The validator of a schema, given as JSON. Raises SchemaError, also the second time."""
    parsed = json.loads(schema)
    Draft202012Validator.check_schema(parsed)
    return Draft202012Validator(parsed)


def _forms(arguments: JsonObject, schema: JsonObject) -> list[dict[str, Any]]:
    """The arguments; without nulls, which stand for what was left out; and with null for what
    the schema demands, since functions do not tell null from absent."""
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    said = {name: value for name, value in arguments.items() if value is not None}
    return [arguments, said, {**{str(name): None for name in needed}, **said}]


def _sentence(error: ValidationError) -> str:
    where = ".".join(map(str, error.absolute_path))
    return f"{where}: {error.message}" if where else error.message


def _invalid(
    execution: Execution,
    request: Request,
    offered: OfferedTool,
    complaint: str,
    can: frozenset[str],
) -> Finding:
    return finding(
        "execution.allowed",
        "must" if "validates" in can else "should",
        "nothing runs that breaks the schema which the target itself sent",
        expected=f"an error result: {complaint}",
        seen=executions([execution]),
        entries=(execution.n, request.n),
        why=f"the arguments of {offered.name} are not validated before it runs",
    )
