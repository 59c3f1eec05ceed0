"""Joins the reports of shards, and of other parts of one run, to the report of the whole."""

from __future__ import annotations

from loopcheck.harness.merging.named import MergeError, Named
from loopcheck.harness.merging.whole import merge

__all__ = ["MergeError", "Named", "merge"]
