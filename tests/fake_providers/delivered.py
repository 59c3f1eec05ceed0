"""What a client makes of a reply: over a socket, and in process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import anthropic
import openai

from loopcheck.fake_providers.inprocess import SyncApp, in_process
from loopcheck.fake_providers.provider import NOTHING, Provider
from loopcheck.fake_providers.script import Attempt, DialectName, Mode, Say, Script, Turn, answer
from loopcheck.fake_providers.server import Server

KEY = "sk-loopcheck-test"
ROOT = "https://api.openai.com"
QUESTION: list[Any] = [{"role": "user", "content": "Where is A-1?"}]
GENERATIONS = tuple(import_module(name) for name in ("httpx", "httpx2") if find_spec(name))
_keys = itertools.count(1)

Seen = tuple[list[object], tuple[str, ...]]


def recorded(
    attempt: Attempt, dialect: DialectName, mode: Mode = "stream"
) -> tuple[Provider, list[object]]:
    """A provider with this one turn, and where it notes what it answered and sent."""
    notes: list[object] = []

    def record(kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object) -> int:
        if kind in ("response", "sent"):
            # On a socket it is a race how far a client lets the provider get when it has enough.
            notes.append({"kind": kind, **shared, **fields} | {"how": None})
        return len(notes)

    told = Script(
        turns=(Turn(number=1, attempts=(attempt,)),),
        otherwise=(Turn(number=2, attempts=(answer([Say("Finished.")]),)),),
        prompt=None,
    )
    return Provider(script=told, dialect=dialect, mode=mode, seed=0, record=record), notes


@contextmanager
def on_socket(server: Server, app: SyncApp) -> Iterator[str]:
    """The root under which the app is served on the loopback server."""
    key = f"app-{next(_keys)}"
    yield server.mount(key, app)
    server.unmount(key)


@contextmanager
def without_socket(_: Server, app: SyncApp) -> Iterator[str]:
    """The root under which the app is served in process."""
    with in_process(app, base_url=ROOT):
        yield ROOT


WAYS = (on_socket, without_socket)


def client_of(generation: ModuleType, *, read_seconds: float = 10.0) -> Any:
    """A client that never takes a connection twice: a used one may be broken by the reply."""
    limits = generation.Limits(max_keepalive_connections=0)
    return generation.Client(limits=limits, timeout=generation.Timeout(10.0, read=read_seconds))


_CLIENTS = ("openai", "anthropic", "httpx", "httpx2", "httpcore", "httpcore2", "json")
_ERRORS = (
    openai.OpenAIError,
    anthropic.AnthropicError,
    *(generation.HTTPError for generation in GENERATIONS),
    # What the SDKs make of an event that was cut.
    ValueError,
)


def _classes(error: BaseException | None) -> Iterator[str]:
    while error is not None and type(error).__module__.partition(".")[0] in _CLIENTS:
        yield f"{type(error).__module__.partition('.')[0]}.{type(error).__name__}"
        error = error.__cause__


def seen(read: Callable[[], Iterator[object]]) -> Seen:
    """The events that a client read, and the classes of the error that ended it."""
    events: list[object] = []
    try:
        for event in read():
            events.append(event)
    except _ERRORS as error:
        return events, tuple(_classes(error))
    return events, ()


def sdk_events(client: Any, dialect: DialectName, root: str) -> Iterator[object]:
    """The raw stream events of the official SDK over this HTTPX2 client."""
    if dialect == "messages":
        spoken: Any = anthropic.Anthropic(
            base_url=root, api_key=KEY, max_retries=0, http_client=client
        )
        stream = spoken.messages.create(
            model="claude-sonnet-4-6", max_tokens=99, messages=QUESTION, stream=True
        )
    else:
        spoken = openai.OpenAI(
            base_url=f"{root}/v1", api_key=KEY, max_retries=0, http_client=client
        )
        if dialect == "chat":
            stream = spoken.chat.completions.create(model="m", messages=QUESTION, stream=True)
        else:
            stream = spoken.responses.create(model="m", input=QUESTION, stream=True)
    for event in stream:
        yield event.to_dict()


def sse_events(client: Any, dialect: DialectName, root: str) -> Iterator[object]:
    """The lines of the event stream as a plain client reads them, behind status and headers."""
    paths = {"chat": "chat/completions", "responses": "responses", "messages": "messages"}
    body: dict[str, object] = {"model": "m", "stream": True}
    body |= {"input": QUESTION} if dialect == "responses" else {"messages": QUESTION}
    if dialect == "messages":
        body["max_tokens"] = 99
    with client.stream(
        "POST",
        f"{root}/v1/{paths[dialect]}",
        json=body,
        headers={"authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"},
    ) as response:
        yield response.status_code, response.headers.multi_items()
        yield from response.iter_lines()
