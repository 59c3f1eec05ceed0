"""What the world of a case serves over HTTP: tools, look-ups, own functions, OpenAPI and MCP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.world.http import tool_app
from loopcheck.harness.world.own_app import OwnApp
from loopcheck.harness.world.world import World

if TYPE_CHECKING:
    from loopcheck.harness.world.mcp_server import McpServer

_PREFIXES: Final = ("/tools/", "/own/", "/operations", "/openapi.json", "/mcp")


class Endpoints:
    """The app of a case's world. The package `mcp` is needed, and imported, by the first request
    that speaks MCP."""

    def __init__(
        self, world: World, scenario: Scenario, description: Callable[[], JsonObject]
    ) -> None:
        self._world = world
        self._scenario = scenario
        self._tools = tool_app(world, description)
        self._own = OwnApp(world.own)
        self._mcp: McpServer | None = None

    def serves(self, path: str) -> bool:
        """Whether this path is the world's, and not the provider's."""
        return path.startswith(_PREFIXES)

    def __call__(self, request: HttpRequest) -> Awaitable[Reply]:
        if request.path.startswith("/own/"):
            return self._own(request)
        if not request.path.startswith("/mcp"):
            return self._tools(request)
        if self._mcp is None:
            from loopcheck.harness.world.mcp_server import McpServer

            self._mcp = McpServer(self._world, self._scenario.client_tools)
        return self._mcp(request)

    def close(self) -> None:
        """Ends what waits, and every MCP session."""
        self._world.close()
        if self._mcp is not None:
            self._mcp.close()
