"""The reference loop over the official SDKs: the answer key. Needs `loopcheck[reference]`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any, Final

import httpx2

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness.target import Target, adapter
from loopcheck.harness.targets.clients import client
from loopcheck.harness.task import Task
from loopcheck.reference_loop import ProviderAdapter

for _sdk in ("openai", "anthropic"):  # imported late, but missed early
    if find_spec(_sdk) is None:
        raise ModuleNotFoundError(f"No module named {_sdk!r}", name=_sdk)

# The fakes pause for a second at most: longer silence is a stall, not a slow service.
SILENCE_SECONDS: Final = 1.5


def over_sdks(*, silence_seconds: float = SILENCE_SECONDS) -> Target:
    """The reference loop as a target, which takes silence of that length for a stall."""

    @adapter(
        name="reference",
        dialects=DIALECTS,
        can=(
            "approval",
            "earlier",
            "follow_up",
            "hosted",
            "images",
            "input",
            "lanes",
            "resume",
            "server_state",
            "thinking",
        ),
        packages=["openai", "anthropic", "jsonschema"],
    )
    @asynccontextmanager
    async def reference(task: Task) -> AsyncIterator[ProviderAdapter[Any]]:
        yield _adapter(task, await client(), silence_seconds)

    return reference


reference = over_sdks()


def _adapter(task: Task, http: httpx2.AsyncClient, silence: float) -> ProviderAdapter[Any]:
    # Each import is heavy; a run of one dialect pays for one SDK.
    if task.dialect == "messages":
        from anthropic import AsyncAnthropic

        from loopcheck.reference_loop.adapters.messages import MessagesAdapter

        anthropic = AsyncAnthropic(
            base_url=task.base_url,
            api_key=task.api_key,
            timeout=silence,
            max_retries=0,
            http_client=http,
        )
        return MessagesAdapter(
            client=anthropic, model=task.model, stream=task.stream, state=task.state
        )
    from openai import AsyncOpenAI

    from loopcheck.reference_loop.adapters.chat import ChatAdapter
    from loopcheck.reference_loop.adapters.responses import ResponsesAdapter

    openai = AsyncOpenAI(
        base_url=task.base_url,
        api_key=task.api_key,
        timeout=silence,
        max_retries=0,
        http_client=http,
    )
    if task.dialect == "chat":
        return ChatAdapter(client=openai, model=task.model, stream=task.stream)
    return ResponsesAdapter(client=openai, model=task.model, stream=task.stream, state=task.state)
