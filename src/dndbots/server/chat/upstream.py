"""The model behind the chat endpoint: any server that speaks OpenAI's API. Answers pass through unchanged."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final, NamedTuple

import httpx2

from dndbots.errors import InvalidSetting

# Headers of the upstream's answer that the client gets.
_PASSED: Final = ("content-type", "retry-after", "x-request-id", "openai-processing-ms")
_CONNECT: Final = 10.0
_SILENCE: Final = 300.0  # seconds without a byte; a large model may think for long
_MOST_KEPT: Final = 1 << 20
_DATA: Final = b"data:"


class UpstreamSettings(NamedTuple):
    """The address of the upstream, the key for it, and the model to ask for, if it is fixed here."""

    url: str
    key: str | None = None
    model: str | None = None

    def __repr__(self) -> str:
        return f"UpstreamSettings(url={self.url!r}, model={self.model!r})"  # keys are never shown


class UpstreamFailed(Exception):
    """An upstream that cannot be reached or does not answer. `status` is what the client is told."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class UpstreamAnswer:
    """An answer of the upstream: its status, its headers, and its body as it comes in."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers = {name: response.headers[name] for name in _PASSED if name in response.headers}

    async def body(self) -> AsyncGenerator[bytes]:
        """Yield the body. Raises `UpstreamFailed` if the connection breaks."""
        try:
            async for chunk in self._response.aiter_bytes():
                yield chunk
        except httpx2.HTTPError as exc:
            raise UpstreamFailed(502, f"the model stopped in the middle: {type(exc).__name__}") from exc
        finally:
            await self._response.aclose()

    async def read(self) -> bytes:
        """Return the whole body."""
        async with aclosing(self.body()) as chunks:
            return b"".join([chunk async for chunk in chunks])


class Upstream:
    """A client of the upstream. `transport` stands in for the network in tests."""

    def __init__(
        self, settings: UpstreamSettings, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self.settings = _checked(settings)
        timeout = httpx2.Timeout(_SILENCE, connect=_CONNECT)
        self._client = httpx2.AsyncClient(timeout=timeout, transport=transport, trust_env=False)

    async def close(self) -> None:
        await self._client.aclose()

    async def complete(self, body: dict[str, Any], key: str | None) -> UpstreamAnswer:
        """Send a chat on. `key` is the client's own key for the upstream, if it brought one."""
        if self.settings.model is not None:
            body = {**body, "model": self.settings.model}
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return await self._send("POST", "/chat/completions", key, content)

    async def models(self, key: str | None) -> UpstreamAnswer:
        """Ask for the list of models."""
        return await self._send("GET", "/models", key, None)

    async def _send(self, method: str, path: str, key: str | None, content: bytes | None) -> UpstreamAnswer:
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if used := key or self.settings.key:
            headers["authorization"] = f"Bearer {used}"
        request = self._client.build_request(
            method, f"{self.settings.url}{path}", headers=headers, content=content
        )
        try:
            return UpstreamAnswer(await self._client.send(request, stream=True))
        except httpx2.TimeoutException as exc:
            raise UpstreamFailed(504, f"the model at {self.settings.url} does not answer") from exc
        except httpx2.HTTPError as exc:
            reason = f"the model at {self.settings.url} cannot be reached: {type(exc).__name__}"
            raise UpstreamFailed(502, reason) from exc


class ReplyText:
    """The text of a reply, gathered from an answer that passes through: streamed or whole."""

    def __init__(self, *, is_stream: bool) -> None:
        self._is_stream, self._rest, self._whole = is_stream, b"", bytearray()
        self._texts: list[str] = []

    def take(self, chunk: bytes) -> None:
        """Take in a part of the answer."""
        if len(self._whole) > _MOST_KEPT:
            return
        self._whole += chunk
        if not self._is_stream:
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(_DATA):
                self._add(line.removeprefix(_DATA).strip(), "delta")

    @property
    def text(self) -> str:
        """The first choice of the reply, as far as it came."""
        if not self._is_stream:
            self._texts.clear()
            self._add(bytes(self._whole), "message")
        return "".join(self._texts)

    def _add(self, data: bytes, field: str) -> None:
        try:
            choice = json.loads(data)["choices"][0]
            content = choice[field]["content"] if choice.get("index", 0) == 0 else None
        except (ValueError, LookupError, TypeError, AttributeError):
            return  # an answer that makes no sense passes through, and nothing is kept of it
        if isinstance(content, str):
            self._texts.append(content)


def _checked(settings: UpstreamSettings) -> UpstreamSettings:
    url = settings.url.rstrip("/").removesuffix("/chat/completions")
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, TypeError) as exc:
        raise InvalidSetting("upstream", settings.url, reason="is not an address") from exc
    if parsed.scheme not in ("http", "https") or not parsed.host:
        reason = "must be the address of an OpenAI-compatible server, as http://localhost:8080/v1"
        raise InvalidSetting("upstream", settings.url, reason=reason)
    return settings._replace(url=url)
