"""OpenAI Responses: POST /v1/responses."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.dialects.responses.dialect import ResponsesDialect

__all__ = ["DIALECT"]

DIALECT: Final = ResponsesDialect()
