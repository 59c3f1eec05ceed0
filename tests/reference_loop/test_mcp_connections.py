"""Connections to MCP servers that never came about, and those that end badly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("mcp")

from loopcheck.reference_loop.tool_sources.mcp_connection import OwnConnection

pytestmark = pytest.mark.asyncio


async def test_one_that_was_never_needed_is_closed_at_once() -> None:
    await OwnConnection(["nobody-starts-this"]).close()


async def test_an_answer_that_was_lost_over_http_ends_no_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = []

    class Opened:
        session = "a session"

    @asynccontextmanager
    async def client(connection: OwnConnection) -> AsyncIterator[Opened]:
        starts.append(connection)
        yield Opened()

    monkeypatch.setattr(OwnConnection, "_client", client)
    connection = OwnConnection("http://127.0.0.1:9/mcp")
    await connection.session()
    connection.lost()
    await connection.session()
    await connection.close()
    assert starts == [connection]


async def test_an_end_that_fails_is_nobodys_business(monkeypatch: pytest.MonkeyPatch) -> None:
    class Opened:
        session = "a session"

    @asynccontextmanager
    async def client(connection: OwnConnection) -> AsyncIterator[Opened]:
        yield Opened()
        raise RuntimeError("the transport broke while it was closed")

    monkeypatch.setattr(OwnConnection, "_client", client)
    connection = OwnConnection(["nobody-starts-this"])
    opened: object = await connection.session()
    assert opened == "a session"
    async with asyncio.timeout(5):
        await connection.close()
    with pytest.raises(ConnectionError, match="the connection was closed"):
        await connection.session()
