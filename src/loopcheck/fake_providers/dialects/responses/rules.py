"""The rules of the Responses service about requests, in the order in which it is thought to look.

Schema first, then tools and stored state, then the pairing of calls and outputs, then reasoning;
the first broken rule is the answer. Whether a rule is applied is the provider's decision.
"""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects import openai_bounds
from loopcheck.fake_providers.dialects.interface import Rule
from loopcheck.fake_providers.dialects.openai_rules import rule
from loopcheck.fake_providers.dialects.responses import pairing, parameters, shape, stored

_RANGES: Final = {"temperature": (0, 2), "top_p": (0, 1)}
_COUNTS: Final = {
    "max_tool_calls": (1, None),
    "top_logprobs": (0, openai_bounds.MOST_LOGPROBS),
}

RULES: Final[tuple[Rule, ...]] = (
    rule("R25", "R", "the model exists", parameters.unknown_model),
    rule("R19", "S", "input messages have a role of this protocol", shape.unknown_role),
    rule("R13", "R", "input items have their fields", shape.missing_field),
    rule("R20", "S", "input items have no other fields", shape.unknown_field),
    rule("R12", "S", "an item's id begins as those of its kind do", shape.wrong_prefix),
    rule("R21", "S", "ids in the input have at most 64 characters", shape.long_id),
    rule("R17", "R", "files in tool outputs have a type that can be read", shape.unreadable_file),
    rule("R18", "R", "files at addresses have a type that can be read", shape.unreadable_address),
    rule("R22", "S", "context_management is left out rather than empty", parameters.no_context),
    rule("R23", "R", "the temperature is not below 0", parameters.cold),
    rule("R37", "S", "sampling parameters keep to their ranges", openai_bounds.decimals(_RANGES)),
    rule("R38", "S", "counts keep to their bounds", openai_bounds.integers(_COUNTS)),
    rule("R39", "I", "metadata keep to their limits", openai_bounds.metadata),
    rule("R30", "S", "max_output_tokens is 16 or more", parameters.too_few_tokens),
    # That some models refuse these is recorded; which ones do is a guess.
    rule("R24", "unsure", "reasoning models get no temperature", parameters.temperature),
    rule("R33", "S", "tool names hold letters, digits, _ and - only", parameters.ill_named),
    rule("R34", "D", "a tool's name has at most 128 characters", parameters.long_named),
    rule("R26", "S", "tool_choice comes with tools", parameters.choice_without_tools),
    rule("R32", "S", "tool_choice names one of the tools", parameters.choice_of_no_tool),
    rule("R36", "S", "a tool's parameters are an object", parameters.not_objects),
    rule("R35", "S", "the schema of a strict tool is closed", parameters.not_closed),
    rule(
        "R27",
        "D",
        "previous_response_id and conversation exclude one another",
        stored.two_pasts,
    ),
    rule("R10", "I", "previous_response_id is spelt like an id", stored.ill_spelt_response),
    rule("R9", "I", "previous_response_id names a stored response", stored.unknown_response),
    rule("R29", "unsure", "conversation names a stored one", stored.unknown_conversation),
    rule("R11", "I", "items that are only named are stored", stored.unknown_item),
    rule("R8", "R", "no item comes twice", stored.duplicate_item),
    rule("R14", "R", "a call keeps its namespace", pairing.namespace_lost),
    rule("R2", "R", "every function call output has its call before it", pairing.OUTPUT_ORPHAN),
    rule("R4", "S", "every custom tool call output has its call", pairing.CUSTOM_OUTPUT_ORPHAN),
    rule("R3", "R", "every shell call output has its call", pairing.SHELL_OUTPUT_ORPHAN),
    rule("R1", "I", "every function call has its output", pairing.CALL_UNANSWERED),
    rule("R31", "S", "every custom tool call has its output", pairing.CUSTOM_CALL_UNANSWERED),
    rule("R15", "R", "an output is JSON where its tool says so", pairing.output_not_json),
    rule("R16", "S", "encrypted content comes back as it was", stored.broken_seal),
    rule("R5", "R", "reasoning stands before the item that it led to", stored.reasoning_alone),
    rule("R6", "S", "a stored call stands behind its reasoning", stored.call_without_reasoning),
    rule(
        "R7",
        "S",
        "a stored message stands behind its reasoning",
        stored.message_without_reasoning,
    ),
)
