"""What generated scenarios may hold, and which of it a target bears."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, get_args

Feature: TypeAlias = Literal[
    "parallel",
    "delivery",
    "invalid",
    "stops",
    "refusals",
    "behaviours",
    "operations",
    "faults",
    "quirks",
    "ids",
    "custom",
    "gates",
    "runs",
    "thinking",
    "hosted",
    "images",
    "earlier",
    "state",
    "lanes",
    "approvals",
    "answers",
    "cancels",
    "resumes",
    "messages",
    "endless",
    "hangs",
    "stalls",
]
FEATURES: Final[tuple[Feature, ...]] = get_args(Feature)
# What a feature needs is a capability that the target has to declare.
_NEEDS: Final[dict[Feature, str]] = {
    "thinking": "thinking",
    "hosted": "hosted",
    "images": "images",
    "earlier": "earlier",
    "state": "server_state",
    "lanes": "lanes",
    "approvals": "approval",
    "answers": "input",
    "cancels": "cancel",
    "resumes": "resume",
    "messages": "follow_up",
    "endless": "limits",
    "hangs": "tool_timeout",
}
# Each costs the time that a loop waits before it gives something up.
_SLOW: Final[frozenset[Feature]] = frozenset({"hangs", "stalls"})
PLAIN: Final[tuple[Feature, ...]] = tuple(
    feature for feature in FEATURES if feature not in _NEEDS and feature not in _SLOW
)


def features_for(can: Iterable[str], *, slow: bool = False) -> tuple[Feature, ...]:
    """The features that a target with these capabilities bears; `slow` adds those that take
    seconds a case."""
    declared = frozenset(can)
    return tuple(
        feature
        for feature in FEATURES
        if (feature not in _NEEDS or _NEEDS[feature] in declared) and (slow or feature not in _SLOW)
    )
