"""MCP over HTTP at `/mcp`: the token of a seat is the seat. Each seat has a server of its own."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from dndbots.server.mcp.seat_memory import SeatMemory
from dndbots.server.mcp.seat_server import build_server
from dndbots.server.security.access import access_of
from dndbots.server.security.seat_book import Grant
from dndbots.server.tables.branch_follower import BranchFollower
from dndbots.server.tables.served_campaigns import ServedCampaigns

if TYPE_CHECKING:
    from anyio.abc import TaskGroup, TaskStatus
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class McpEndpoint:
    """The MCP servers of all seats. Assistants read; with `write` they record lines and decisions too."""

    def __init__(self, campaigns: ServedCampaigns, *, write: bool = False) -> None:
        self._campaigns, self._write = campaigns, write
        self._managers: dict[Grant, StreamableHTTPSessionManager] = {}
        self._followers: list[BranchFollower] = []
        self._tasks: TaskGroup | None = None
        self._lock = anyio.Lock()

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes, for `build_app`."""
        return [Route("/mcp", endpoint=_Asgi(self))]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the servers until the application stops."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                for follower in self._followers:
                    follower.close()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with the server of the seat that its token opens."""
        grant = self._grant_of(HTTPConnection(scope))
        if grant is None:
            message = "give the token of a seat: Authorization: Bearer TOKEN"
            refusal = JSONResponse({"error": message}, 401, headers={"www-authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        manager = await self._manager(grant)
        await manager.handle_request(scope, receive, send)

    def _grant_of(self, connection: HTTPConnection) -> Grant | None:
        """Return the one seat that a request's header opens. Cookies and the owner's token do not count."""
        if not connection.headers.get("authorization"):
            return None
        grants = access_of(connection, self._campaigns.book).grants
        return grants[0] if len(grants) == 1 and grants[0].seat is not None else None

    async def _manager(self, grant: Grant) -> "StreamableHTTPSessionManager":
        async with self._lock:
            if grant not in self._managers:
                memory = await run_in_threadpool(self._open, grant)
                self._managers[grant] = await self._start(memory)
            return self._managers[grant]

    def _open(self, grant: Grant) -> SeatMemory:
        name = next(
            name for name in self._campaigns.shelf.names() if self._campaigns.key_of(name) == grant.campaign
        )
        follower = BranchFollower(self._campaigns.get(name).reader.another())
        self._followers.append(follower)
        return SeatMemory(lambda: follower.campaign, str(grant.seat))

    async def _start(self, memory: SeatMemory) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        server: Any = build_server(memory, write=self._write)
        # Without sessions: a token that is renewed counts from the next request on.
        manager = StreamableHTTPSessionManager(server._lowlevel_server, stateless=True)  # noqa: SLF001
        if self._tasks is None:
            raise RuntimeError("the application is not running")
        await self._tasks.start(_keep_running, manager)
        return manager


class _Asgi:
    """The endpoint as an ASGI application."""

    def __init__(self, endpoint: McpEndpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.handle(scope, receive, send)


async def _keep_running(
    manager: "StreamableHTTPSessionManager", *, task_status: "TaskStatus[None]" = anyio.TASK_STATUS_IGNORED
) -> None:
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()
