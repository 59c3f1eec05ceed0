"""The value of the `loopcheck_provider` fixture."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

from loopcheck.fake_providers.script import Content
from loopcheck.fake_providers.server import Server
from loopcheck.harness.fake import FakeProvider


class Providing:
    """Makes fake providers on one loopback server, and takes them down at the end of the test."""

    def __init__(self) -> None:
        self._server = Server()
        self._made: list[FakeProvider] = []

    def __enter__(self) -> Providing:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for fake in self._made:
            fake.close()
        self._server.__exit__(kind, error, trace)

    def turns(self, *turns: Content | Iterable[Content]) -> FakeProvider:
        """A fake that answers with these turns, in whatever dialect it is asked."""
        fake = FakeProvider(self._server, f"fake-{len(self._made) + 1}", turns)
        self._made.append(fake)
        return fake
