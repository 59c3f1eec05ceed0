"""The simulated world: tools, what they do, and the ledger of what really happened."""

from loopcheck.harness.world.world import World

__all__ = ["World"]
