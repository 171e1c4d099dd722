"""Requests of chat clients: what each speaker was given, why, and what was left out. For the DM alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dndbots.ids import DM
from dndbots.interop.history.chat_history import Followed
from dndbots.server.chat.chat_desk import RequestXRay
from dndbots.server.chat.chat_request import text_of
from dndbots.server.pages.site import SeatRequest, only_dm
from dndbots.server.pages.xray import sections_of
from dndbots.tokens import count_tokens

_MOST_SENT: Final = 40
_LONGEST_SENT: Final = 2_000
_CHANGES: Final = {
    "started": "begins",
    "unchanged": "as before",
    "appended": "goes on",
    "edited": "was edited",
    "cut": "was cut",
    "unrelated": "another chat",
}


@runtime_checkable
class KeepsRequests(Protocol):
    """A door for chat clients, which keeps the X-rays of their last requests."""

    def requests(self, campaign: str) -> Sequence[RequestXRay]:
        """Return the last requests for a campaign, newest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLine:
    """A request in the list."""

    number: int
    time: str
    chat: str
    seat: str
    kind: str
    story: str
    tokens: str
    lines: int
    dropped: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message that was sent on to the model. The memory is one of them."""

    role: str
    text: str
    is_memory: bool


def routes() -> list[Route]:
    """Return the routes of these pages."""
    return [Route("/requests", show_requests), Route("/requests/{number:int}", show_request)]


def show_requests(request: Request) -> Response:
    """List the last requests."""
    entered = only_dm(request)
    kept = _kept_requests(entered)
    lines = [_line(xray) for xray in kept or ()]
    return entered.render("requests.html", page="table", requests=lines, has_endpoint=kept is not None)


def show_request(request: Request) -> Response:
    """Show one request: the memory that was added line by line, and what was sent on."""
    entered = only_dm(request)
    number = request.path_params["number"]
    xray = next((one for one in _kept_requests(entered) or () if one.number == number), None)
    if xray is None:
        raise HTTPException(404, "This request is not kept any more; the last 50 are.")
    context = xray.context
    beside = count_tokens(context.beside, context.encoding) if context is not None and context.beside else 0
    return entered.render(
        "request.html",
        page="table",
        xray=_line(xray),
        note=xray.note,
        context=context,
        beside_tokens=beside,
        sections=[] if context is None else sections_of(context),
        sent=_sent(xray),
        more=max(len(xray.sent) - _MOST_SENT, 0),
    )


def _kept_requests(entered: SeatRequest) -> Sequence[RequestXRay] | None:
    """Return the requests for a campaign; None if this server has no door for chat clients."""
    doors = entered.request.app.state.doors
    kept = [door.requests(entered.served.name) for door in doors if isinstance(door, KeepsRequests)]
    return kept[0] if kept else None


def _line(xray: RequestXRay) -> RequestLine:
    context = xray.context
    return RequestLine(
        number=xray.number,
        time=f"{xray.at:%H:%M:%S}" if xray.at is not None else "",
        chat=xray.chat or "not followed",
        seat="the DM" if xray.speaker == DM else xray.speaker or "nobody",
        kind=xray.kind,
        story=xray.note if xray.followed is None else _told(xray.followed),
        tokens="" if context is None else f"{context.prompt_tokens} of {context.budget}",
        lines=0 if context is None else len(context.items),
        dropped=0 if context is None else len(context.dropped),
        left_out=xray.left_out,
    )


def _told(followed: Followed) -> str:
    """Return what a request did to the log, in words."""
    parts = [_CHANGES[followed.change]]
    counts = ((followed.added, "new"), (followed.replaced, "replaced"), (followed.provisional, "waiting"))
    parts += [f"{count} {what}" for count, what in counts if count]
    if followed.branch is not None:
        parts.append(f"before: {followed.branch}")
    return ", ".join(parts)


def _sent(xray: RequestXRay) -> list[SentMessage]:
    memory = xray.context.prompt if xray.context is not None else None
    return [_message(message, memory) for message in xray.sent[-_MOST_SENT:]]


def _message(message: dict[str, Any], memory: str | None) -> SentMessage:
    text = text_of(message.get("content"))
    is_memory = memory is not None and memory.strip() in text
    shown = text if is_memory or len(text) <= _LONGEST_SENT else f"{text[:_LONGEST_SENT]}…"
    name = message.get("name")
    role = f"{message.get('role')} ({name})" if isinstance(name, str) and name else str(message.get("role"))
    return SentMessage(role=role, text=shown, is_memory=is_memory)
