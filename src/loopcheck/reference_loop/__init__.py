"""The tool-calling loop done right: the answer key."""

from loopcheck.reference_loop.adapters.interface import (
    ProviderAdapter,
    StorableAdapter,
    TaskInfo,
    ToolOffer,
)
from loopcheck.reference_loop.approvals import AnswerError, Approval, Question, Settlement
from loopcheck.reference_loop.clock import Clock
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
from loopcheck.reference_loop.tools import LookUp, LoopTool, ToolDefinitionError, ToolFailure

__all__ = [
    "AnswerError",
    "Approval",
    "CallRecord",
    "CallResult",
    "Caller",
    "Calls",
    "Checkpoint",
    "Clock",
    "Failed",
    "Final",
    "Incomplete",
    "Lease",
    "LeaseLostError",
    "Limits",
    "LookUp",
    "LoopOutcome",
    "LoopTool",
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
    "Settlement",
    "SqliteStore",
    "StorableAdapter",
    "Store",
    "StoreBusyError",
    "StoreError",
    "StoreVersionError",
    "StoredRun",
    "TaskInfo",
    "ToolDefinitionError",
    "ToolFailure",
    "ToolLimits",
    "ToolOffer",
    "ToolUse",
    "UnknownRunError",
    "Usage",
]
