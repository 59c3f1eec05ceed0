"""What the request rules of both OpenAI protocols are written with: a request, its refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from loopcheck.fake_providers.dialects.interface import Grade, Memory, Rule
from loopcheck.fake_providers.dialects.openai_common import invalid
from loopcheck.fake_providers.wire import JsonObject, ServiceError


class Asked(NamedTuple):
    """A request on trial: the effective conversation, the body and what the service keeps."""

    history: Sequence[JsonObject]
    body: JsonObject
    memory: Memory


Finder: TypeAlias = Callable[[Asked], Iterator[ServiceError]]


def rule(rule_id: str, grade: Grade, summary: str, finds: Finder) -> Rule:
    """The rule that a request breaks where `finds` finds something; the first find counts."""

    def check(
        history: Sequence[JsonObject], body: JsonObject, memory: Memory
    ) -> ServiceError | None:
        found = next(finds(Asked(history, body, memory)), None)
        return None if found is None else replace(found, rule=rule_id)

    return Rule(id=rule_id, grade=grade, summary=summary, check=check)


def empty_array(path: str) -> ServiceError:
    """The refusal of a list without entries."""
    return invalid(
        f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        param=path,
        code="empty_array",
    )


def long_array(path: str, limit: int, length: int) -> ServiceError:
    """The refusal of a list with too many entries."""
    return invalid(
        f"Invalid '{path}': array too long. Expected an array with maximum length {limit}, but "
        f"got an array with length {length} instead.",
        param=path,
        code="array_above_max_length",
    )


def long_text(path: str, limit: int, length: int) -> ServiceError:
    """The refusal of a text that is too long."""
    return invalid(
        f"Invalid '{path}': string too long. Expected a string with maximum length {limit}, but "
        f"got a string with length {length} instead.",
        param=path,
        code="string_above_max_length",
    )


def ill_formed(path: str, pattern: str) -> ServiceError:
    """The refusal of a text in other letters than those allowed."""
    return invalid(
        f"Invalid '{path}': string does not match pattern. Expected a string that matches the "
        f"pattern '{pattern}'.",
        param=path,
        code="invalid_value",
    )


def too_small(path: str, kind: str, limit: int, value: object) -> ServiceError:
    """The refusal of a number below the least allowed; `kind` is `integer` or `decimal`."""
    return invalid(
        f"Invalid '{path}': {kind} below minimum value. Expected a value >= {limit}, but got "
        f"{value} instead.",
        param=path,
        code=f"{kind}_below_min_value",
    )


def too_big(path: str, kind: str, limit: int, value: object) -> ServiceError:
    """The refusal of a number above the most allowed; `kind` is `integer` or `decimal`."""
    return invalid(
        f"Invalid '{path}': {kind} above maximum value. Expected a value <= {limit}, but got "
        f"{value} instead.",
        param=path,
        code=f"{kind}_above_max_value",
    )


def only_with(path: str, condition: str) -> ServiceError:
    """The refusal of a parameter that makes sense only beside another one."""
    message = f"Invalid value for '{path}': '{path}' is only allowed when {condition}."
    return invalid(message, param=path)


def over(value: object, limit: int) -> int | None:
    """The length of a text where it is above the limit."""
    length = len(value) if isinstance(value, str) else 0
    return length if length > limit else None


def listed(value: object) -> list[JsonObject]:
    """The objects of a list, wherever the list itself is in order."""
    entries = value if isinstance(value, list) else []
    return [entry for entry in entries if isinstance(entry, dict)]


def model_of(asked: Asked) -> str:
    """The model that the request names."""
    return str(asked.body.get("model"))


def is_unknown(asked: Asked) -> bool:
    """Whether the model does not exist, where it is known which do."""
    return bool(asked.memory.models) and model_of(asked) not in asked.memory.models
