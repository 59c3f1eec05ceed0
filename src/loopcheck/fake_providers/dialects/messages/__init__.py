"""The Anthropic Messages protocol."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects.messages.protocol import Messages

__all__ = ["DIALECT"]

DIALECT: Final = Messages()
