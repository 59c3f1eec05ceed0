"""Names of attributes: those of OpenTelemetry's conventions, and our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from loopcheck.reference_loop.telemetry.events import ModelName

Attributes: TypeAlias = dict[str, str | int | float | tuple[str, ...]]

OTHER: Final = "_OTHER"
ERROR_TYPE: Final = "error.type"
STATUS_CODE: Final = "http.response.status_code"
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
AGENT_NAME: Final = "gen_ai.agent.name"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE: Final = "gen_ai.token.type"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
CALL_ID: Final = "gen_ai.tool.call.id"
CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
CALL_RESULT: Final = "gen_ai.tool.call.result"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"

STATE: Final = "loopcheck.run.state"
REASON: Final = "loopcheck.run.reason"
ROUNDS: Final = "loopcheck.run.rounds"
CALLS: Final = "loopcheck.run.calls"
ROUND: Final = "loopcheck.round"
ATTEMPT: Final = "loopcheck.request.attempt"
RESPONSE: Final = "loopcheck.response"
KIND: Final = "loopcheck.tool.kind"
OUTCOME: Final = "loopcheck.call.outcome"
DECISION: Final = "loopcheck.decision"
CODE: Final = "loopcheck.code"
DIGEST: Final = "loopcheck.arguments.digest"
OPERATION_ID: Final = "loopcheck.operation.id"
QUESTION: Final = "loopcheck.question.about"
QUESTION_DIGEST: Final = "loopcheck.question.digest"
AFTER_SECONDS: Final = "loopcheck.retry.after"
FAILURES: Final = "loopcheck.retry.failures"
CHECKPOINT: Final = "loopcheck.checkpoint"


def known(attributes: Mapping[str, str | int | float | tuple[str, ...] | None]) -> Attributes:
    """Those that there is something to say about."""
    return {name: value for name, value in attributes.items() if value not in (None, "", ("",))}


def operation(name: str, model: ModelName) -> Attributes:
    """What spans and metrics of an operation with a model have in common."""
    provider = model.provider or OTHER
    return known({OPERATION: name, PROVIDER: provider, REQUEST_MODEL: model.model})
