"""The request rules that a command is told to leave out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.script import DialectName
from loopcheck.harness.cli.arguments import UsageError


def rules_left_out(named: Sequence[str], dialects: Iterable[DialectName]) -> frozenset[str]:
    """The named rules. Raises UsageError where one is no rule of these dialects."""
    left_out = frozenset(named)
    if left_out:
        known = {rule.id for name in dialects for rule in dialect(name).rules}
        for rule in sorted(left_out - known):
            raise UsageError(f"no rule {rule!r} to be lenient about; {', '.join(sorted(known))}")
    return left_out
