"""Says in the words of the format what pydantic found wrong, and at which place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness.scenario.control_model import (
    ACTIONS,
    EarlierModel,
    InsideModel,
    MessageModel,
    action_key,
    entry_shape,
)
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.expectations import HistoryModel
from loopcheck.harness.scenario.model import (
    AnyOfOutcome,
    AttemptModel,
    Base64Model,
    CallModel,
    DeliveryModel,
    Expect,
    ExpectLevel,
    HostedResultModel,
    IfModel,
    ItemModel,
    LaneIfModel,
    LaneModel,
    LimitsModel,
    MeanwhileModel,
    PauseModel,
    PlaceModel,
    RequestsModel,
    RetryDateModel,
    RulesModel,
    Scenario,
    ToolModel,
    TurnModel,
    UsageModel,
)
from loopcheck.harness.scenario.shapes import shape
from loopcheck.harness.scenario.tool_model import PartModel, RateLimitedModel
from loopcheck.harness.scenario.yaml_source import Path, Source

_EXPECTED: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
_BOUNDS: Final = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
}


def problems(error: ValidationError, source: Source) -> list[Problem]:
    """One problem for each thing that is wrong with the document."""
    found = []
    for details in error.errors(include_url=False):
        path, value = _locate(details["loc"], source.data)
        if details["type"] == "too_short" and value:
            continue  # Its wrong items are reported themselves.
        found.append(_problem(details, path, value, source))
    return list(dict.fromkeys(found))


def place_of(path: Path, data: object) -> str:
    """The thing of the scenario that this path is in, such as `call 'book'`."""
    words = ""
    value = data
    for holder, part in pairwise(("", *path)):
        siblings, value = value, _child(value, part)
        words = _words(holder, part, value, siblings) or words
    return words


def _words(holder: str | int, part: str | int, value: object, siblings: object) -> str:
    match holder, part:
        case "turns", int():
            entries = siblings if isinstance(siblings, list) else []
            before = sum(entry_shape(entry) == "a turn" for entry in entries[:part])
            return f"turn {before + 1}" if entry_shape(value) == "a turn" else f"entry {part + 1}"
        case "meanwhile", int():
            return f"meanwhile {part + 1}"
        case "lanes", str():
            return f"lane {part!r}"
        case "tools", str() if isinstance(siblings, dict):
            return f"tool {part!r}"
        case "expect", str():
            return f"expect.{part}"
        case (("attempts" | "calls"), int()):
            label = value.get("as") if isinstance(value, dict) else None
            named = holder == "calls" and isinstance(label, str)
            return f"call {label!r}" if named else f"{str(holder)[:-1]} {part + 1}"
    return ""


def _locate(loc: tuple[int | str, ...], data: object) -> tuple[Path, object]:
    """The path in the document for a location of pydantic's, which also names union members
    and the list that a single value stands for."""
    path: Path = ()
    value = data
    for part in loc:
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            path, value = (*path, part), _child(value, part)
    return path, value


def _child(value: object, part: str | int) -> object:
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int):
        return value[part]
    return None


def _problem(details: ErrorDetails, path: Path, value: object, source: Source) -> Problem:
    kind, context = details["type"], details.get("ctx", {})
    name = details["loc"][-1]
    if kind == "missing":
        where = place_of(path, source.data)
        return source.problem(path, f"{where or 'the scenario'} has no {name!r}")
    if kind == "extra_forbidden":
        return _unknown_key(path, source)
    if details["loc"][-1:] == ("[key]",):
        message = f"{path[-1]!r} is no dialect"
        known = re.findall(r"'([^']+)'", str(context.get("expected")))
        return source.problem(path, message, did_you_mean(str(path[-1]), known), key=True)
    where = place_of(path, source.data)
    prefix = f"{where}: " if where else ""
    message, hint = _value_message(kind, context, _subject(path), value, details["msg"])
    return source.problem(path, prefix + message, hint)


def _subject(path: Path) -> str:
    keys = [part for part in path if isinstance(part, str) and part not in DIALECTS]
    item = path and isinstance(path[-1], int)
    return f"an item of {keys[-1]!r}" if item and keys else f"{keys[-1]!r}" if keys else "it"


def _value_message(
    kind: str, context: Mapping[str, object], subject: str, value: object, fallback: str
) -> tuple[str, str]:
    if kind == "literal_error":
        return _no_such_word(context, subject, value)
    if kind in _EXPECTED:
        return f"{subject} must be {_EXPECTED[kind]}, not {shape(value)}", ""
    if kind == "union_tag_invalid":
        tags: list[str] = re.findall(r"'([^']+)'", str(context["expected_tags"]))
        shapes: list[str] = [_TAGS.get(tag, tag) for tag in tags if tag != "nothing"]
        wanted = " or ".join(sorted(set(shapes), key=shapes.index))
        return f"{subject} must be {wanted}, not {shape(value)}", ""
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return f"{subject} must be {words} {context[key]}, not {value}", ""
    if kind in ("too_short", "string_too_short"):
        return f"{subject} must not be empty", ""
    if kind == "string_pattern_mismatch":
        return f"{value!r} is no bug id such as 'B139'", ""
    if kind == "value_error":
        return f"{subject}: {context['error']}", ""
    return f"{subject}: {fallback}", ""


_TAGS: Final = {
    "at_most": "{at_most: n}",
    "at_least": "{at_least: n}",
    "any_of": "{any_of: [...]}",
    "value": "{value: ...}",
}


def _no_such_word(context: Mapping[str, object], subject: str, value: object) -> tuple[str, str]:
    known = re.findall(r"'([^']+)'", str(context["expected"])) or [str(context["expected"])]
    if not isinstance(value, str):
        given = f"{value!r}" if isinstance(value, int) else shape(value)
        return f"{subject} must be {' or '.join(known)}, not {given}", ""
    return f"{value!r} is no value of {subject}", did_you_mean(value, known)


def _unknown_key(path: Path, source: Source) -> Problem:
    key = str(path[-1])
    holder = source.data if len(path) == 1 else _at(path[:-1], source.data)
    known = _known(tuple(part for part in path[:-1] if isinstance(part, str)), holder)
    where = place_of(path[:-1], source.data)
    message = f"unknown key {key!r}" + (f" in {where}" if where else "")
    return source.problem(path, message, did_you_mean(key, known), key=True)


def _at(path: Path, data: object) -> object:
    for part in path:
        data = _child(data, part)
    return data


def _known(keys: tuple[str, ...], holder: object) -> Sequence[str]:
    """The keys that may stand in the mapping that these keys lead to."""
    if keys[:1] == ("lanes",):
        match keys[2:]:
            case ():
                return _keys(LaneModel)
            case ("if",):
                return _keys(LaneIfModel)
            case inner:
                return _known(inner, holder)
    if keys == ("turns",) and entry_shape(holder) == "a message":
        return _keys(MessageModel)
    if keys[-1:] == ("do",):
        return _keys(ACTIONS[action_key(holder)])
    if keys[:1] == ("tools",):
        return _keys(_OF_TOOLS.get(keys[2], ToolModel) if len(keys) > 2 else ToolModel)
    if keys[:1] == ("expect",) and len(keys) > 3:
        return _WORDS_OF_A_VALUE.get(keys[2], ())
    path = [key for key in keys if key not in DIALECTS]
    return _keys(_OWNERS[path[-1]] if path else Scenario)


def _keys(model: type[BaseModel]) -> Sequence[str]:
    fields = model.model_fields.items()
    return [field.alias or name for name, field in fields if name != "id"]


_OF_TOOLS: Final[Mapping[str, type[BaseModel]]] = {
    "behaves": RateLimitedModel,
    "returns_parts": PartModel,
}
_OWNERS: Final[Mapping[str, type[BaseModel]]] = {
    "earlier": EarlierModel,
    "if": IfModel,
    "turns": TurnModel,
    "otherwise": TurnModel,
    "items": ItemModel,
    "call": CallModel,
    "calls": CallModel,
    "attempts": AttemptModel,
    "at": PlaceModel,
    "delivery": DeliveryModel,
    "pauses": PauseModel,
    "retry_after": RetryDateModel,
    "hosted_result": HostedResultModel,
    "raw": Base64Model,
    "usage": UsageModel,
    "limits": LimitsModel,
    "meanwhile": MeanwhileModel,
    "when": InsideModel,
    "rules": RulesModel,
    "expect": Expect,
    "must": ExpectLevel,
    "should": ExpectLevel,
    "may": ExpectLevel,
    "outcome": AnyOfOutcome,
    "requests": RequestsModel,
}
_WORDS_OF_A_VALUE: Final[Mapping[str, Sequence[str]]] = {
    "executions": ("at_most", "at_least", "any_of"),
    "effects": ("at_most", "at_least", "any_of"),
    "requests": ("at_most", "at_least", "any_of"),
    "results": ("any_of", "value"),
    "history": ("any_of", *HistoryModel.model_fields),
}
