"""State machines that drive a loop round by round. They run cases, so they stand apart."""

from __future__ import annotations

from loopcheck.harness.fuzz.machines import LoopMachine, machine

__all__ = ["LoopMachine", "machine"]
