"""OpenAI Chat Completions: POST /v1/chat/completions."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects.chat.dialect import ChatDialect

__all__ = ["DIALECT"]

DIALECT: Final = ChatDialect()
