"""What the Messages service refuses, in the order in which it is thought to look.

Only the first breach is reported, as at the service.
"""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects.interface import Rule
from loopcheck.fake_providers.dialects.messages import (
    content_rules,
    form_rules,
    pairing_rules,
    parameter_rules,
    thinking_rules,
    thread_rules,
    tool_rules,
)

RULES: Final[tuple[Rule, ...]] = (
    *form_rules.RULES,
    *parameter_rules.RULES,
    *tool_rules.RULES,
    *thread_rules.RULES,
    *content_rules.RULES,
    *pairing_rules.RULES,
    *thinking_rules.RULES,
)
