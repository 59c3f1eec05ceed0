"""The moments at which a run is saved, each in one commit."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

CheckpointName: TypeAlias = Literal[
    "run_started",
    "request_started",
    "response_received",
    "approval_requested",
    "approval_decided",
    "effect_about_to_run",
    "effect_committed",
    "results_saved",
    "paused",
    "finished",
]

CHECKPOINTS: Final[tuple[CheckpointName, ...]] = get_args(CheckpointName)
