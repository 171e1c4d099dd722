"""Play: the story as it is told, the composer, the party at the side, and the stream of what is new."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from dndbots.game.acts import LONGEST_WORDS
from dndbots.game.input.game_answers import answer_question
from dndbots.game.input.line_reader import understand_line
from dndbots.game.input.meanings import META, Understanding
from dndbots.game.state.campaign_tables import has_story
from dndbots.ids import DM
from dndbots.server.pages.site import (
    SeatRequest,
    campaigns_of,
    enter_seat,
    only_dm,
    posted,
    render_part,
    text_field,
)
from dndbots.server.tables.game_host import MOST_ROUNDS, GameHost, GameStatus, NotYourTurn, Phase
from dndbots.server.tables.party import list_ideas, read_panel
from dndbots.server.tables.served_campaigns import ServedCampaign
from dndbots.server.tables.story import PageLine, SeatStory, name_at

_FIRST_LINES: Final = 80
_PAGE_LINES: Final = 100
_HEARTBEAT: Final = 15.0
# How long a form waits for the game's answer before the stream brings it.
_PATIENCE: Final = 1.5
_SEEDS: Final = 1_000_000
_STREAM_HEADERS: Final = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [
        Route("/play", show_story),
        Route("/earlier", show_earlier),
        Route("/stream", stream),
        Route("/say", posted(say), methods=["POST"]),
        Route("/understand", posted(understand), methods=["POST"]),
        Route("/seat", posted(change_seat), methods=["POST"]),
        Route("/go-on", posted(go_on), methods=["POST"]),
        Route("/play-on", posted(play_on, enter=only_dm), methods=["POST"]),
        Route("/undo", posted(undo), methods=["POST"]),
        Route("/retell", posted(retell), methods=["POST"]),
        Route("/stop", posted(stop_answer), methods=["POST"]),
    ]


def show_story(request: Request) -> Response:
    """Show the play page with the newest lines."""
    entered = enter_seat(request)
    story = entered.served.story(entered.seat)
    lines = story.after(story.told - _FIRST_LINES)
    return entered.render(
        "play.html",
        page="play",
        lines=lines,
        earlier=lines[0].number if lines and lines[0].number > 1 else 0,
        position=_position(entered.served, story.told),
        panel=read_panel(story.table),
        found=None,
        answer=(),
        notice="",
        line="",
        **composer_of(entered, story),
    )


def show_earlier(request: Request) -> Response:
    """Return lines before a number, as a part of the page."""
    entered = enter_seat(request)
    before = request.query_params.get("before", "")
    if not before.isdecimal() or len(before) > 9:
        raise HTTPException(400, "before: give the number of a line.")
    story = entered.served.story(entered.seat)
    lines = [line for line in story.after(int(before) - 1 - _PAGE_LINES) if line.number < int(before)]
    more = lines[0].number if lines and lines[0].number > 1 else 0
    return HTMLResponse(render_part("parts/lines.html", lines=lines, earlier=more, base=entered.base))


def composer_of(entered: SeatRequest, story: SeatStory) -> dict[str, Any]:
    """Return what the composer of a seat shows now."""
    host, seat, table = entered.served.host, entered.seat, story.table
    status = host.status if host is not None else GameStatus(phase=Phase.IDLE)
    is_due = status.phase is Phase.WAITING and status.seat == seat
    return {
        "has_game": host is not None,
        "story_people": _story_people(entered) if host is None and seat == DM else {},
        "has_model_dm": entered.served.has_model_dm,
        "phase": status.phase.value,
        "is_due": is_due,
        "is_seated": host is not None and seat in host.people,
        "is_alive": seat == DM or seat in table.living(),
        "refused": status.refused if is_due else "",
        "told": status.told if is_due else "",
        "drafts": status.drafts if is_due else (),
        "asked_place": name_at(table, status.place) if is_due and status.place else "",
        "error": _error_for(status, seat) or (host.problem if _can_undo(host, seat) and host else ""),
        "waiting_for": _waiting_for(host, status, story),
        "can_undo": _can_undo(host, seat),
        "can_retell": host is not None and _can_undo(host, seat) and bool(host.game.tellers()),
        "ideas": list_ideas(table, seat) if is_due and seat != DM else [],
    }


def _story_people(entered: SeatRequest) -> dict[str, str]:
    """Return the characters of a story that has no game yet: somebody could play it on with them."""
    return entered.served.seats() if has_story(entered.served.reader) else {}


def _error_for(status: GameStatus, seat: str) -> str:
    """Return what went wrong. A player is told that something did: the details may be the DM's."""
    if not status.error:
        return ""
    return status.error if seat == DM else "The game stopped: a step could not be played."


def _waiting_for(host: GameHost | None, status: GameStatus, story: SeatStory) -> str:
    """Return the name of the one the game waits for, to the DM alone: others may be elsewhere."""
    if host is None or story.viewer != DM or status.seat in (None, DM):
        return ""
    return name_at(story.table, status.seat or "")


def _can_undo(host: GameHost | None, seat: str) -> bool:
    """Tell whether a seat may take back a round: the DM, or a player who plays with nobody else."""
    return host is not None and host.game.round > 0 and (seat == DM or host.people == {seat})


def say(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Hand a line of the person in this seat to the game."""
    host, line = _host_of(entered), text_field(form, "line", longest=LONGEST_WORDS)
    if "done" in form:
        line = ""
    if not line and not entered.is_dm:
        return _composer(entered)
    found = None if entered.is_dm else _meaning(entered, line)
    if found is not None and found.verb == META:
        return _composer(entered, answer=_answer(entered, found))
    if found is not None and found.act is None:
        return _composer(entered, line=line, found=found)
    version = host.version
    try:
        host.say(entered.seat, line)
    except NotYourTurn as exc:
        return _composer(entered, notice=str(exc), line=line, status=409)
    host.wait_for_change(version, timeout=_PATIENCE)
    refused = host.status.refused if host.status.seat == entered.seat else ""
    return _composer(entered, line=line if refused else "")


def understand(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Return how the game would understand a line, before it is sent."""
    line = text_field(form, "line", longest=LONGEST_WORDS)
    found = _meaning(entered, line) if line and not entered.is_dm else None
    return HTMLResponse(render_part("parts/understood.html", found=found, deed=_deed(found)))


def _meaning(entered: SeatRequest, line: str) -> Understanding:
    story = entered.served.story(entered.seat)
    with story.lock:
        return understand_line(story.table, entered.seat, line)


def _answer(entered: SeatRequest, found: Understanding) -> list[str]:
    """Return the game's answer to a question, in paragraphs. It costs no round."""
    story = entered.served.story(entered.seat)
    with story.lock:
        return answer_question(story.table, entered.seat, found).splitlines()


def _deed(found: Understanding | None) -> str:
    """Return a meaning in a few words: the deed, at whom, and with what."""
    if found is None or found.act is None:
        return ""
    said = [found.verb, found.target or "", found.what or ""]
    if found.check is not None:
        said.append(f"{found.check.ability.upper()} check")
    deed = " · ".join(dict.fromkeys(part for part in said if part))
    after = _deed(found.then)
    left = f"; left for later: {found.left}" if found.left else ""
    return f"{deed}, then {after}{left}" if after else f"{deed}{left}"


def change_seat(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Take this seat, or give it back to the house."""
    host = _host_of(entered)
    if text_field(form, "do") == "leave":
        host.leave_seat(entered.seat)
    else:
        host.take_seat(entered.seat)
        host.wait_for_change(host.version, timeout=_PATIENCE)
    entered.served.keep_people()
    return _back(entered)


def go_on(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Let the game play on, when it waits for nobody."""
    host, rounds = _host_of(entered), text_field(form, "rounds") or "1"
    if not rounds.isdecimal() or not 0 <= int(rounds[:4]) <= MOST_ROUNDS:
        raise HTTPException(400, f"rounds: give a number up to {MOST_ROUNDS}.")
    version = host.version
    if int(rounds) == 0:
        host.pause()
    else:
        host.go_on(int(rounds))
        host.wait_for_change(version, timeout=_PATIENCE)
    return _back(entered)


def play_on(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Play a story on that was told elsewhere, with its people in the seats."""
    seat = text_field(form, "seat")
    if entered.served.host is None:
        if seat not in (DM, *_story_people(entered)):
            raise HTTPException(404, "There is no such seat.")
        if seat != DM and not entered.served.has_model_dm:
            raise HTTPException(409, "This story needs a DM: be it yourself, or start with --model.")
        entered.served.play_on(seat, seed=secrets.randbelow(_SEEDS))
    return RedirectResponse(f"/c/{entered.served.name}/{seat}/play", 303)


def undo(entered: SeatRequest, _: Mapping[str, Any]) -> Response:
    """Take back the last round in which this seat acted."""
    host = _host_of(entered)
    if not _can_undo(host, entered.seat):
        raise HTTPException(403, "Several people play: ask the DM to take the round back.")
    version = host.version
    host.undo(entered.seat)
    host.wait_for_change(version, timeout=_PATIENCE)
    return _back(entered)


def retell(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Have the last turn of a model told again, swap it for another telling, or rewrite it."""
    host, how = _host_of(entered), text_field(form, "how")
    if not _can_undo(host, entered.seat):
        raise HTTPException(403, "Several people play: ask the DM to have it told again.")
    text, version = text_field(form, "text", longest=LONGEST_WORDS), host.version
    if how == "retry":
        host.retry(entered.seat, text)
    elif how in ("next", "previous"):
        host.swipe(entered.seat, 1 if how == "next" else -1)
    elif how == "edit" and text:
        host.edit(entered.seat, text)
    else:
        raise HTTPException(400, "how: choose retry, next, previous, or edit with a text.")
    host.wait_for_change(version, timeout=_PATIENCE)
    return _back(entered)


def stop_answer(entered: SeatRequest, _: Mapping[str, Any]) -> Response:
    """Stop the answer of a model that is coming: what came so far is told."""
    host = _host_of(entered)
    if not _can_undo(host, entered.seat):
        raise HTTPException(403, "Several people play: ask the DM to stop it.")
    host.stop_answer()
    return _back(entered)


def _host_of(entered: SeatRequest) -> GameHost:
    host = entered.served.host
    if host is None:
        raise HTTPException(409, "This campaign has no game: it can be read, not played.")
    return host


def _back(entered: SeatRequest) -> Response:
    """Return the composer to a script, and the whole page to a browser without one."""
    if entered.request.headers.get("hx-request"):
        return _composer(entered)
    return RedirectResponse(f"{entered.base}/play", 303)


def _composer(
    entered: SeatRequest,
    *,
    notice: str = "",
    line: str = "",
    found: Understanding | None = None,
    answer: Sequence[str] = (),
    status: int = 200,
) -> Response:
    if not entered.request.headers.get("hx-request"):
        return RedirectResponse(f"{entered.base}/play", 303)
    part = _composer_part(entered, notice=notice, line=line, found=found, answer=answer)
    return HTMLResponse(part, status)


def _composer_part(
    entered: SeatRequest,
    *,
    notice: str = "",
    line: str = "",
    found: Understanding | None = None,
    answer: Sequence[str] = (),
) -> str:
    story = entered.served.story(entered.seat)
    return render_part(
        "parts/composer.html",
        base=entered.base,
        form_token=entered.access.form_token,
        seat=entered.seat,
        seat_name=name_at(story.table, entered.seat),
        is_dm=entered.is_dm,
        notice=notice,
        line=line,
        found=found,
        answer=answer,
        **composer_of(entered, story),
    )


# The stream.


async def stream(request: Request) -> Response:
    """Stream what a seat perceives, from the line after `Last-Event-ID` on, so that nothing is missed."""
    entered = await run_in_threadpool(enter_seat, request)
    if campaigns_of(request).is_full:
        raise HTTPException(503, "Too many pages are open. Close some, then load this one again.")
    given = request.headers.get("last-event-id") or request.query_params.get("after", "")
    frames = _frames(request, entered, given[:60])
    return StreamingResponse(frames, media_type="text/event-stream", headers=_STREAM_HEADERS)


async def _frames(request: Request, entered: SeatRequest, given: str) -> AsyncIterator[str]:
    follower = _Follower(entered, given)
    with entered.served.bell.listening() as rung:
        yield "retry: 1000\n\n"
        while not request.app.state.is_stopping:
            rung.clear()
            if not await run_in_threadpool(follower.is_still_let_in):
                yield _frame("closed", "")
                return
            yield await run_in_threadpool(follower.collect)
            try:
                await asyncio.wait_for(rung.wait(), _HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"
                if await request.is_disconnected():
                    return


class _Follower:
    """Follows the story of one seat for one stream."""

    def __init__(self, entered: SeatRequest, given: str) -> None:
        self._entered, self._given = entered, given
        self._told: int | None = None
        self._sent: dict[str, str] = {}

    def is_still_let_in(self) -> bool:
        """Tell whether the tokens of this stream still open the seat: one may have been revoked."""
        entered = self._entered
        book = campaigns_of(entered.request).book
        return all(book.grant_of(token) is not None for token in entered.access.tokens)

    def collect(self) -> str:
        """Return the frames of everything that is new since the last call."""
        return "".join(self._collect())

    def _collect(self) -> Iterator[str]:
        served = self._entered.served
        story = served.story(self._entered.seat)
        with story.lock:
            branch, told = _parse_position(self._given)
            if self._told is None:
                self._told = told
            if branch != str(served.branch_id) or self._told > story.told:
                # A round was taken back: the page is loaded again.
                self._given, self._told = _position(served, story.told), story.told
                yield _frame("restart", "", self._given)
            lines = story.after(self._told)
            self._told = story.told
            panel = render_part("parts/panel.html", panel=read_panel(story.table), base=self._entered.base)
        for line in lines:
            yield _frame("line", _line_part(line), _position(served, line.number))
        yield from self._changed("panel", panel)
        yield from self._changed("composer", _composer_part(self._entered))
        if served.host is not None:
            yield from self._changed("draft", self._live(served.host, story), unless="")

    def _live(self, host: GameHost, story: SeatStory) -> str:
        speaker, words = host.live_words(self._entered.seat)
        if not speaker:
            return ""
        name = "The DM" if speaker == DM else name_at(story.table, speaker)
        return words if words and speaker == DM else f"{name}: {words}" if words else f"{name} is thinking …"

    def _changed(self, name: str, part: str, *, unless: str | None = None) -> Iterator[str]:
        if self._sent.get(name, unless) != part:
            self._sent[name] = part
            yield _frame(name, part)


def _line_part(line: PageLine) -> str:
    return render_part("parts/line.html", line=line)


def _position(served: ServedCampaign, number: int) -> str:
    return f"{served.branch_id}-{number}"


def _parse_position(given: str) -> tuple[str, int]:
    branch, _, number = given.partition("-")
    return (branch, int(number)) if number.isdecimal() else ("", 0)


def _frame(event: str, data: str, position: str = "") -> str:
    lines = "".join(f"data: {line}\n" for line in data.split("\n"))
    return f"{f'id: {position}' + chr(10) if position else ''}event: {event}\n{lines}\n"
