"""The tool-calling loop done right: the answer key."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from loopcheck.reference_loop.adapters.interface import (
    FollowableAdapter,
    ProviderAdapter,
    Said,
    StorableAdapter,
    TaskInfo,
    ToolOffer,
)
from loopcheck.reference_loop.adapters.neutral import SwitchError
from loopcheck.reference_loop.adapters.switching import Switched, switch
from loopcheck.reference_loop.approvals import AnswerError, Approval, Question, Settlement
from loopcheck.reference_loop.clock import Clock
from loopcheck.reference_loop.content import Content, ImagePart, Part, TextPart
from loopcheck.reference_loop.events import (
    CallResult,
    Calls,
    Failed,
    Final,
    Incomplete,
    ProposedCall,
    Refused,
    Reply,
    Usage,
)
from loopcheck.reference_loop.limits import Limits, Retries, ToolLimits
from loopcheck.reference_loop.loop import ReferenceLoop
from loopcheck.reference_loop.outcome import LoopOutcome
from loopcheck.reference_loop.policy import Caller, Policy, Ruling, ToolUse
from loopcheck.reference_loop.records import CallRecord
from loopcheck.reference_loop.store.interface import (
    Checkpoint,
    Lease,
    LeaseLostError,
    RunExistsError,
    RunTakenError,
    Store,
    StoreBusyError,
    StoredRun,
    StoreError,
    StoreVersionError,
    UnknownRunError,
)
from loopcheck.reference_loop.store.sqlite import SqliteStore
from loopcheck.reference_loop.tools import (
    AskAfter,
    LookUp,
    LoopTool,
    ToolDefinitionError,
    ToolFailure,
)

if TYPE_CHECKING:
    from loopcheck.reference_loop.tool_sources.functions import function_tool as function_tool
    from loopcheck.reference_loop.tool_sources.http_responses import (
        OutcomeUnknownError as OutcomeUnknownError,
    )
    from loopcheck.reference_loop.tool_sources.http_tools import HttpCall as HttpCall
    from loopcheck.reference_loop.tool_sources.openapi import openapi_tools as openapi_tools
    from loopcheck.reference_loop.tool_sources.signatures import CallId as CallId
    from loopcheck.reference_loop.tool_sources.signatures import OperationId as OperationId
    from loopcheck.reference_loop.tool_sources.trace_context import trace_headers as trace_headers

# Loaded when they are used: they need packages that a loop with tools of its own does not.
_LATE = {
    "CallId": "signatures",
    "HttpCall": "http_tools",
    "OperationId": "signatures",
    "OutcomeUnknownError": "http_responses",
    "function_tool": "functions",
    "openapi_tools": "openapi",
    "trace_headers": "trace_context",
}

__all__ = [
    "AnswerError",
    "Approval",
    "AskAfter",
    "CallId",
    "CallRecord",
    "CallResult",
    "Caller",
    "Calls",
    "Checkpoint",
    "Clock",
    "Content",
    "Failed",
    "Final",
    "FollowableAdapter",
    "HttpCall",
    "ImagePart",
    "Incomplete",
    "Lease",
    "LeaseLostError",
    "Limits",
    "LookUp",
    "LoopOutcome",
    "LoopTool",
    "OperationId",
    "OutcomeUnknownError",
    "Part",
    "Policy",
    "ProposedCall",
    "ProviderAdapter",
    "Question",
    "ReferenceLoop",
    "Refused",
    "Reply",
    "Retries",
    "Ruling",
    "RunExistsError",
    "RunTakenError",
    "Said",
    "Settlement",
    "SqliteStore",
    "StorableAdapter",
    "Store",
    "StoreBusyError",
    "StoreError",
    "StoreVersionError",
    "StoredRun",
    "SwitchError",
    "Switched",
    "TaskInfo",
    "TextPart",
    "ToolDefinitionError",
    "ToolFailure",
    "ToolLimits",
    "ToolOffer",
    "ToolUse",
    "UnknownRunError",
    "Usage",
    "function_tool",
    "openapi_tools",
    "switch",
    "trace_headers",
]


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.tool_sources.{_LATE[name]}"), name)
    globals()[name] = value
    return value
