"""pydantic-ai's Agent over its OpenAI and Anthropic models. Needs `loopcheck[pydantic-ai]`.

Releases before 2.55 keep no conversation, so they declare neither approvals nor cancellation nor
messages that follow.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

import anthropic
import openai
from pydantic_ai import exceptions
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from loopcheck.harness.target import loop
from loopcheck.harness.targets.certificates import certificates
from loopcheck.harness.task import Outcome, Task

_KEEPS: Final = find_spec("pydantic_ai.conversation") is not None
if _KEEPS:
    from loopcheck.harness.targets.pydantic_ai_kept import kept_run as _run
else:
    from loopcheck.harness.targets.pydantic_ai_run import whole_run as _run

_CONTROL: Final = ("approval", "cancel", "follow_up", "input")
# Unknown to early releases, which know a filtered answer by no name.
_FILTERED: Final = getattr(exceptions, "ContentFilterError", None)


@loop(
    name="pydantic-ai",
    dialects=["responses", "chat", "messages"],
    can=["earlier", "limits", "parallel", "validates", *(_CONTROL if _KEEPS else ())],
    ends={
        UsageLimitExceeded: "limit",
        **({_FILTERED: "refused"} if _FILTERED else {}),
        UnexpectedModelBehavior: "failed",
    },
    packages=["pydantic-ai-slim", "openai", "anthropic"],
)
async def pydantic_ai(task: Task) -> Outcome:
    if task.dialect == "messages":
        async with anthropic.AsyncAnthropic(
            base_url=task.base_url,
            api_key=task.api_key,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=certificates()),
        ) as client:
            provider = AnthropicProvider(anthropic_client=client)
            # Without a limit of its own it streams even where a whole response is asked for.
            model = AnthropicModel(
                task.model, provider=provider, settings=ModelSettings(max_tokens=1024)
            )
            return await _run(model, task)
    kind = OpenAIChatModel if task.dialect == "chat" else OpenAIResponsesModel
    async with openai.AsyncOpenAI(
        base_url=task.base_url,
        api_key=task.api_key,
        http_client=openai.DefaultAsyncHttpxClient(verify=certificates()),
    ) as openai_client:
        openai_model = kind(task.model, provider=OpenAIProvider(openai_client=openai_client))
        return await _run(openai_model, task)
