"""A scripted provider on a real server, and the official clients that talk to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import anthropic
import openai

from loopcheck.fake_providers.auto import AutoProvider
from loopcheck.fake_providers.provider import Provider, nothing
from loopcheck.fake_providers.script import Attempt, DialectName, Script, Turn
from loopcheck.fake_providers.server import App, Server


def scripted(name: DialectName, attempts: Sequence[Attempt], *, keep: int | None = None) -> App:
    """A provider that answers one turn after the other; the last one is given for ever."""
    turns = tuple(
        Turn(number=number, attempts=(attempt,)) for number, attempt in enumerate(attempts, 1)
    )
    script = Script(turns=turns, otherwise=turns[-1:], prompt=None)
    return Provider(
        script=script, dialect=name, mode="whole", seed=1, record=nothing, keep=keep
    ).handle


@contextmanager
def openai_client(app: App) -> Iterator[openai.OpenAI]:
    with (
        Server() as server,
        openai.OpenAI(
            api_key="sk-test", base_url=f"{server.mount_root(app)}/v1", max_retries=0
        ) as client,
    ):
        yield client


@contextmanager
def anthropic_client(app: App, **headers: str) -> Iterator[anthropic.Anthropic]:
    with (
        Server() as server,
        anthropic.Anthropic(
            api_key="sk-test",
            base_url=server.mount_root(app),
            max_retries=0,
            default_headers=headers,
        ) as client,
    ):
        yield client


def improvising(name: DialectName) -> App:
    """A provider that answers anything without tools."""
    return AutoProvider(name, values=lambda schema, seed: {}).handle
