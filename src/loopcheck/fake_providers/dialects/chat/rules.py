"""The rules of the chat service about requests, in the order in which it is thought to look.

Schema first, then tools, then the pairing of calls and results; the first broken rule is the
answer. Whether a rule is applied is the provider's decision.
"""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects import openai_bounds
from loopcheck.fake_providers.dialects.chat import limits, pairing
from loopcheck.fake_providers.dialects.interface import Rule
from loopcheck.fake_providers.dialects.openai_rules import rule

_TOKEN_LIMITS: Final = {"max_completion_tokens": (1, None), "max_tokens": (1, None)}
_RANGES: Final = {
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
    "temperature": (0, 2),
    "top_p": (0, 1),
}

RULES: Final[tuple[Rule, ...]] = (
    rule("C20", "R", "the model exists", limits.unknown_model),
    rule("C7", "S", "messages are not empty", limits.no_messages),
    rule("C6", "S", "tool_calls are left out rather than empty", limits.empty_calls),
    rule("C8", "S", "tools are left out rather than empty", limits.empty_tools),
    rule("C9", "S", "there are at most 128 tools", limits.too_many_tools),
    rule("C10", "S", "a call id has at most 40 characters", limits.long_call_id),
    rule("C11", "S", "the id in a tool message has at most 40 characters", limits.long_result_id),
    rule("C12", "S", "function names hold letters, digits, _ and - only", limits.ill_named),
    rule("C22", "S", "a tool's name has at most 64 characters", limits.long_named),
    rule("C17", "R", "sound goes to models that hear", limits.sound_for_deaf),
    rule("C23", "D", "a tool message holds text or images only", limits.foreign_block),
    # Some models have narrower bounds of their own; these are the widest.
    rule("C24", "S", "n is between 1 and 128", openai_bounds.integers({"n": (1, 128)})),
    rule("C25", "S", "token limits are 1 or more", openai_bounds.integers(_TOKEN_LIMITS)),
    rule("C26", "S", "there are at most 4 stop sequences", openai_bounds.many_stops),
    rule("C27", "I", "metadata keep to their limits", openai_bounds.metadata),
    rule("C28", "S", "sampling parameters keep to their ranges", openai_bounds.decimals(_RANGES)),
    # That some models refuse these is recorded; which ones do is a guess.
    rule("C18", "unsure", "the model takes messages of this role", limits.unsupported_role),
    rule("C19", "unsure", "reasoning models get max_completion_tokens", limits.max_tokens),
    rule("C21", "S", "stream_options come with stream", limits.stream_options),
    rule("C13", "S", "tool_choice comes with tools", limits.choice_without_tools),
    rule("C14", "S", "parallel_tool_calls comes with tools", limits.parallel_without_tools),
    rule("C16", "S", "a tool's parameters are an object", limits.not_objects),
    rule("C15", "S", "the schema of a strict tool is closed", limits.not_closed),
    rule(
        "C29", "S", "top_logprobs is at most 20 and comes with logprobs", openai_bounds.top_logprobs
    ),
    rule("C4", "S", "a tool message has a tool_call_id", pairing.result_without_id),
    rule(
        "C2",
        "I",
        "tool messages follow an assistant message with tool_calls",
        pairing.result_without_calls,
    ),
    rule(
        "C3",
        "I",
        "a tool message answers a call of the message before it",
        pairing.result_of_no_call,
    ),
    rule("C5", "unsure", "a call has one tool message", pairing.second_result),
    rule(
        "C1",
        "I",
        "every tool call is answered by the tool messages that directly follow it",
        pairing.calls_unanswered,
    ),
)
