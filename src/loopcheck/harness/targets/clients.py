"""HTTP clients that last as long as the event loop they belong to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Final
from weakref import WeakKeyDictionary

import httpx2

from loopcheck.harness.targets.certificates import certificates

_Kept = tuple[AsyncGenerator[httpx2.AsyncClient], httpx2.AsyncClient]
_kept: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, _Kept]] = WeakKeyDictionary()


async def client() -> httpx2.AsyncClient:
    """The client of the running event loop, which all cases in it share, with its connections.

    It is closed when the loop ends its asynchronous generators, as `asyncio.run` and
    `asyncio.Runner` have it do.
    """
    loop = asyncio.get_running_loop()
    if loop not in _kept:
        opened = _open()
        _kept[loop] = opened, await anext(opened)
    return _kept[loop][1]


async def _open() -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(verify=certificates(), trust_env=False) as made:
        yield made
