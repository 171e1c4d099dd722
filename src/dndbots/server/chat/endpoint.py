"""Routes of the chat endpoint: `/c/{campaign}/v1/chat/completions` and `…/models`, OpenAI-compatible.

The key of the client is the DM's token of the campaign. A key for the model comes from the server's settings,
or in the header `x-upstream-key`; neither is ever logged or stored.
"""

import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from threading import RLock
from typing import Any, Final

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from dndbots._jsontext import read_json
from dndbots.errors import CampaignMissing, DndbotsError
from dndbots.server.chat.chat_desk import ChatDesk, Prepared, RequestXRay
from dndbots.server.chat.chat_request import read_request
from dndbots.server.chat.upstream import ReplyText, Upstream, UpstreamAnswer, UpstreamFailed
from dndbots.server.security.access import access_of
from dndbots.server.tables.served_campaigns import ServedCampaigns

log = logging.getLogger("dndbots.server.chat")

MOST_AT_ONCE: Final = 64
# Headers that name a chat: ours, and that of Open WebUI.
_CHAT_HEADERS: Final = ("x-dndbots-chat", "x-openwebui-chat-id")
_KEY_HEADER: Final = "x-upstream-key"
_NUMBER_HEADER: Final = "x-dndbots-request"


class ChatEndpoint:
    """The chat endpoint of a server. It has a desk for each campaign that clients ask for."""

    def __init__(self, campaigns: ServedCampaigns, upstream: Upstream) -> None:
        self._campaigns, self.upstream = campaigns, upstream
        self._desks: dict[str, ChatDesk] = {}
        self._lock = RLock()
        self._running = 0

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes, for `build_app`."""
        base = "/c/{campaign}/v1"
        return [
            Route(f"{base}/chat/completions", self.complete, methods=["POST"]),
            Route(f"{base}/models", self.list_models, methods=["GET"]),
        ]

    def desk(self, campaign: str) -> ChatDesk:
        """Return the desk of a campaign. Raises `CampaignMissing`."""
        with self._lock:
            if campaign not in self._desks:
                self._desks[campaign] = ChatDesk(self._campaigns.get(campaign).reader.another())
            return self._desks[campaign]

    def requests(self, campaign: str) -> list[RequestXRay]:
        """Return the X-rays of the last requests for a campaign, newest first."""
        with self._lock:
            desk = self._desks.get(campaign)
        return desk.requests() if desk is not None else []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve until the application stops; then close all desks and the connections to the upstream."""
        yield
        with self._lock:
            desks = [*self._desks.values()]
            self._desks.clear()
        for desk in desks:
            await run_in_threadpool(desk.close)
        await self.upstream.close()

    async def complete(self, request: Request) -> Response:
        """Answer a chat: follow it, add the speaker's memory, and pass the model's answer through."""
        refusal = self._refuse(request)
        if refusal is not None:
            return refusal
        if self._running >= MOST_AT_ONCE:
            return _error(429, "too many chats at once; try again in a moment")
        self._running += 1
        try:
            return await self._complete(request)
        finally:
            self._running -= 1

    async def _complete(self, request: Request) -> Response:
        try:
            body = read_json((await request.body()).decode("utf-8", "replace"))
            chat = next((request.headers[name] for name in _CHAT_HEADERS if name in request.headers), None)
            asked = read_request(body, chat=chat)
        except (ValueError, DndbotsError) as exc:
            return _error(400, str(exc))
        try:
            desk = await run_in_threadpool(self.desk, request.path_params["campaign"])
        except CampaignMissing as exc:
            return _error(404, str(exc))
        prepared = await run_in_threadpool(desk.prepare, asked)
        try:
            answer = await self.upstream.complete(prepared.body, request.headers.get(_KEY_HEADER))
        except UpstreamFailed as exc:
            return _error(exc.status, exc.reason)
        headers = {**answer.headers, _NUMBER_HEADER: str(prepared.xray.number), "x-accel-buffering": "no"}
        if asked.is_stream and answer.status < 300:
            return StreamingResponse(_stream(answer, desk, prepared), answer.status, headers=headers)
        try:
            content = await answer.read()
        except UpstreamFailed as exc:
            return _error(exc.status, exc.reason)
        if answer.status < 300:
            _hear(desk, prepared, content)
        return Response(content, answer.status, headers=headers)

    async def list_models(self, request: Request) -> Response:
        """Return the models of the upstream, or our own name if it has no list."""
        refusal = self._refuse(request)
        if refusal is not None:
            return refusal
        try:
            answer = await self.upstream.models(request.headers.get(_KEY_HEADER))
            content = await answer.read()
        except UpstreamFailed as exc:
            return _error(exc.status, exc.reason)
        # A client asks for the models when it connects: a chat will follow.
        warming = BackgroundTask(self._warm_up, request.path_params["campaign"])
        if answer.status in (404, 405, 501):
            own = {"id": self.upstream.settings.model or "dndbots", "object": "model", "owned_by": "dndbots"}
            return JSONResponse({"object": "list", "data": [own]}, background=warming)
        return Response(content, answer.status, headers=answer.headers, background=warming)

    def _warm_up(self, campaign: str) -> None:
        """Prepare for the first chat of a campaign."""
        try:
            self.desk(campaign).warm_up()
        except DndbotsError as exc:
            log.warning("a chat was not prepared for: %s", exc)

    def _refuse(self, request: Request) -> Response | None:
        """Return why a request may not use this campaign; None if it may."""
        name = request.path_params["campaign"]
        key = self._campaigns.key_of(name)
        access = access_of(request, self._campaigns.book)
        if key is not None and access.is_dm_of(key):
            return None
        if key is not None and access.grants:
            return _error(403, "this key is not the DM's; chats record what everybody says")
        return _error(401, "give the DM's key of this campaign as the API key; `dndbots serve` prints it")


async def _stream(answer: UpstreamAnswer, desk: ChatDesk, prepared: Prepared) -> AsyncIterator[bytes]:
    """Pass a streamed answer through, and keep its text until a request confirms it."""
    reply = ReplyText(is_stream=True)
    try:
        async with aclosing(answer.body()) as body:
            async for chunk in body:
                reply.take(chunk)
                yield chunk
    except UpstreamFailed as exc:
        # The status is sent already: say it in the stream, where clients show it.
        yield f"data: {json.dumps(_error_body(exc.status, exc.reason))}\n\n".encode()
        return
    desk.hear(prepared.xray, reply.text)


def _hear(desk: ChatDesk, prepared: Prepared, content: bytes) -> None:
    reply = ReplyText(is_stream=False)
    reply.take(content)
    desk.hear(prepared.xray, reply.text)


def _error(status: int, message: str) -> Response:
    return JSONResponse(_error_body(status, message), status)


def _error_body(status: int, message: str) -> dict[str, Any]:
    """Return an error in the form that OpenAI's clients read."""
    kind = "invalid_request_error" if status < 500 else "upstream_error"
    return {"error": {"message": message, "type": kind, "code": status}}
