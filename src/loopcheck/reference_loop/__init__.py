"""The tool-calling loop done right: the answer key."""

from loopcheck.reference_loop.adapters.interface import ProviderAdapter, TaskInfo, ToolOffer
from loopcheck.reference_loop.events import (
    CallResult,
    Calls,
    Failed,
    Final,
    Incomplete,
    ProposedCall,
    Refused,
    Reply,
)
from loopcheck.reference_loop.limits import Limits, Retries
from loopcheck.reference_loop.loop import LoopOutcome, ReferenceLoop
from loopcheck.reference_loop.tools import LookUp, LoopTool, ToolDefinitionError

__all__ = [
    "CallResult",
    "Calls",
    "Failed",
    "Final",
    "Incomplete",
    "Limits",
    "LookUp",
    "LoopOutcome",
    "LoopTool",
    "ProposedCall",
    "ProviderAdapter",
    "ReferenceLoop",
    "Refused",
    "Reply",
    "Retries",
    "TaskInfo",
    "ToolDefinitionError",
    "ToolOffer",
]
