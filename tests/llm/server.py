"""A server on loopback that speaks the OpenAI chat API, and does wrong whatever it is told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.waiting import HANG

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 8,
    "total_tokens": 108,
    "prompt_tokens_details": {"cached_tokens": 60},
}


class Say:
    """What the server does with one request: a message, or bytes with a status, or it hangs up."""

    def __init__(
        self,
        message: dict[str, Any] | str | None = None,
        *,
        status: int = 200,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        finish: str = "stop",
        drops: bool = False,
        hangs: threading.Event | None = None,
        recounts: bool = False,
    ) -> None:
        self.message = {"content": message} if isinstance(message, str) else message or {"content": ""}
        self.status, self.body, self.headers = status, body, headers or {}
        self.finish, self.drops, self.hangs, self.recounts = finish, drops, hangs, recounts


def fault(status: int, message: str, **headers: str) -> Say:
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    return Say(
        status=status, body=body, headers={name.replace("_", "-"): one for name, one in headers.items()}
    )


class Server:
    """Its requests in order, and the address it listens at.

    It says one thing after the other, and the last one from then on; or what `answers` makes of a request.
    It lists its `models`.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.says: list[Say] = []
        self.answers: Callable[[dict[str, Any]], Say] | None = None
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.models: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    table: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.table.requests.append(request)
        self.table.keys.append(self.headers["Authorization"])
        if self.table.answers is not None:
            say = self.table.answers(request)
        else:
            say = self.table.says[min(len(self.table.requests), len(self.table.says)) - 1]
        if say.hangs:
            say.hangs.wait(HANG)
        if say.body is not None:
            self._send(say.status, say.body, say.headers)
        elif request.get("stream"):
            self._stream(say)
        elif say.drops:
            self._drop()
        else:
            choice = {
                "index": 0,
                "message": {"role": "assistant", **say.message},
                "finish_reason": say.finish,
            }
            self._send(200, json.dumps(_completion("chat.completion", [choice], USAGE)).encode(), {})

    def do_GET(self) -> None:
        self.table.keys.append(self.headers["Authorization"])
        found = [{"id": name, "object": "model"} for name in self.table.models]
        self._send(200, json.dumps({"object": "list", "data": found}).encode(), {})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):  # who reads may have had enough
            self.wfile.write(body)

    def _drop(self) -> None:
        self.close_connection = True

    def _stream(self, say: Say) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        words = (say.message.get("content") or "").split(" ")
        deltas: list[dict[str, Any]] = [
            {"content": word if not n else f" {word}"} for n, word in enumerate(words)
        ]
        deltas[0]["role"] = "assistant"  # as providers begin a stream; libraries count on it
        for n, call in enumerate(say.message.get("tool_calls", ())):
            deltas.append({"tool_calls": [{"index": n, **call}]})
        if say.drops:
            self._event(_completion("chat.completion.chunk", [{"index": 0, "delta": deltas[0]}]))
            return
        for n, delta in enumerate(deltas):
            so_far = {**USAGE, "completion_tokens": n} if say.recounts else None
            self._event(_completion("chat.completion.chunk", [{"index": 0, "delta": delta}], so_far))
        last = {"index": 0, "delta": {}, "finish_reason": say.finish}
        self._event(_completion("chat.completion.chunk", [last]))
        self._event(_completion("chat.completion.chunk", [], USAGE))
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, value: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Tests say what they have to say."""


def _completion(kind: str, choices: list[Any], usage: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 1, "model": "m", "choices": choices, "usage": usage}


@contextmanager
def serving() -> Iterator[Server]:
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    table = handler.table = Server(f"http://127.0.0.1:{server.server_port}/v1")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield table
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
