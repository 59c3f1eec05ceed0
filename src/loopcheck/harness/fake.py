"""A bare fake provider for a project's ordinary tests: scripted turns, and what was asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.inprocess import InProcess, in_process
from loopcheck.fake_providers.provider import Provider
from loopcheck.fake_providers.script import DIALECTS, Content, DialectName
from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.harness.journal import Entry, Journal
from loopcheck.harness.shorthand import script

_API_KEY = "sk-loopcheck-fake"


@dataclass(frozen=True, slots=True)
class FakeRequest:
    """A request for a turn, as the fake received it."""

    entry: Entry
    calls: Mapping[str, str]

    @property
    def body(self) -> object:
        """The JSON body as sent."""
        return self.entry["body"]

    def result(self, label: str) -> str:
        """The text that this request holds as the result of the call with this label.

        Raises KeyError naming the labels that it does hold.
        """
        held: dict[str, str] = {}
        items = self.entry["conversation"]
        for item in items if isinstance(items, list) else ():
            if item.get("kind") == "result":
                name = self.calls.get(item.get("call_id"), str(item.get("call_id")))
                held[name] = item.get("text", "")
        if label not in held:
            raise KeyError(f"no result of {label!r} in this request; it holds {sorted(held)}")
        return held[label]


class FakeProvider:
    """A scripted provider in all dialects at once. Made by the `loopcheck_provider` fixture."""

    def __init__(self, server: Server, key: str, turns: Iterable[Content | Iterable[Content]]):
        self._journal = Journal()
        self._server, self._key = server, key
        told = script(turns)
        providers = {
            name: Provider(
                script=told, dialect=name, mode="whole", seed=0, record=self._journal.record
            )
            for name in DIALECTS
        }

        def app(request: HttpRequest) -> Reply:
            return providers[_spoken(request)].handle(request)

        self._app = app
        self._root = server.mount(key, app)

    def in_process(self) -> InProcess:
        """Answers for the real services' URLs in this process, without a socket, for a block.
        Needs the extra `respx`."""
        return in_process(self._app)

    def base_url(self, name: DialectName) -> str:
        """The base URL that this dialect's SDK expects."""
        return dialect(name).base_url(self._root)

    @contextmanager
    def environ(self) -> Iterator[None]:
        """Sets the variables that the official SDKs read, for this block."""
        wanted = {
            "OPENAI_BASE_URL": self.base_url("chat"),
            "OPENAI_API_KEY": _API_KEY,
            "ANTHROPIC_BASE_URL": self.base_url("messages"),
            "ANTHROPIC_API_KEY": _API_KEY,
        }
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    @property
    def requests(self) -> list[FakeRequest]:
        """The requests for a turn so far, in order."""
        found: list[FakeRequest] = []
        calls: dict[str, str] = {}
        for entry in self._journal:
            if entry["kind"] == "request" and entry["role"] == "turn":
                found.append(FakeRequest(entry, dict(calls)))
            issued = entry.get("calls")
            if entry["kind"] == "response" and isinstance(issued, list):
                calls.update({call["call_id"]: call["label"] for call in issued})
        return found

    def close(self) -> None:
        """Takes the fake off the server."""
        self._server.unmount(self._key)


def _spoken(request: HttpRequest) -> DialectName:
    for name in DIALECTS:
        if dialect(name).serves(request.method, request.path) == "generate":
            return name
    return "messages" if "anthropic-version" in request.headers else "chat"
