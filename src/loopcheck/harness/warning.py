"""The warning by which a test tells of findings that do not fail it."""

from __future__ import annotations


class LoopcheckWarning(UserWarning):
    """A finding below must: good practice on which honest loops differ."""
