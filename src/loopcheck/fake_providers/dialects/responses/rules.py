"""Rules of the service about Responses requests and their histories, one entry each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory, Rule
from loopcheck.fake_providers.dialects.openai_common import invalid, missing
from loopcheck.fake_providers.dialects.responses import form, state
from loopcheck.fake_providers.dialects.responses.items import kind_of
from loopcheck.fake_providers.wire import JsonObject, ServiceError

_REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "message": ("role", "content"),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id", "output"),
    "item_reference": ("id",),
}
_ROLES: Final = ("assistant", "system", "developer", "user")


def _unknown_role(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for position, item in enumerate(form.sent(body)):
        role = item.get("role")
        if kind_of(item) == "message" and "role" in item and role not in _ROLES:
            known = ", ".join(f"'{name}'" for name in _ROLES[:-1])
            return invalid(
                f"Invalid value: '{role}'. Supported values are: {known}, and '{_ROLES[-1]}'.",
                param=f"input[{position}]",
                code="invalid_value",
                rule="R19",
            )
    return None


def _missing_field(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for position, item in enumerate(form.sent(body)):
        for key in _REQUIRED.get(kind_of(item), ()):
            if key not in item:
                return missing(f"input[{position}].{key}", rule="R13")
    return None


def _unknown_response(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    previous = form.previous(body)
    if previous is None or previous in memory.conversations:
        return None
    return invalid(
        f"Previous response with id '{previous}' not found.",
        param="previous_response_id",
        code="previous_response_not_found",
        rule="R9",
    )


def _unknown_item(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    for item in form.sent(body):
        if kind_of(item) == "item_reference" and state.stored_item(item["id"], memory) is None:
            return ServiceError(
                status=404,
                type="invalid_request_error",
                message=f"Item with id '{item['id']}' not found. Items are not persisted when "
                "`store` is set to false. Try again with `store` set to true, or remove this "
                "item from your input.",
                param="input",
                rule="R11",
            )
    return None


def _ids(history: Sequence[JsonObject], kind: str) -> Iterator[tuple[int, str]]:
    for position, item in enumerate(history):
        if kind_of(item) == kind:
            yield position, str(item["call_id"])


def _call_without_output(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    answered = {call_id for _, call_id in _ids(history, "function_call_output")}
    for _, call_id in _ids(history, "function_call"):
        if call_id not in answered and call_id not in memory.repeated:
            return invalid(
                f"No tool output found for function call {call_id}.", param="input", rule="R1"
            )
    return None


def _output_without_call(
    history: Sequence[JsonObject], body: JsonObject, memory: Memory
) -> ServiceError | None:
    first: dict[str, int] = {}
    for position, call_id in _ids(history, "function_call"):
        first.setdefault(call_id, position)
    for position, call_id in _ids(history, "function_call_output"):
        if first.get(call_id, position) >= position and call_id not in memory.repeated:
            return invalid(
                f"No tool call found for function call output with call_id {call_id}.",
                param="input",
                rule="R2",
            )
    return None


# Rules that a request is held to before it can be read.
FORM: tuple[Rule, ...] = (
    Rule(
        id="R19",
        grade="S",
        summary="input messages have a role of this protocol (there is no role tool)",
        check=_unknown_role,
    ),
    Rule(id="R13", grade="R", summary="input items have their fields", check=_missing_field),
    Rule(
        id="R9",
        grade="I",
        summary="previous_response_id names a stored response",
        check=_unknown_response,
    ),
    Rule(id="R11", grade="I", summary="item references name stored items", check=_unknown_item),
)
# In the order in which the service is thought to look.
RULES: tuple[Rule, ...] = (
    *FORM,
    Rule(
        id="R2",
        grade="R",
        summary="every function call output has its call before it",
        check=_output_without_call,
    ),
    Rule(
        id="R1",
        grade="I",
        summary="every function call has its output",
        check=_call_without_output,
    ),
)
