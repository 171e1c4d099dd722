"""Timeline: sessions and scenes as a line, what was told in each, and the branches that fork from it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from dndbots.game.state.told_lines import told_line
from dndbots.server.pages.site import SeatRequest, enter_seat, only_dm, posted, text_field
from dndbots.server.tables.served_campaigns import BRANCH_MARK
from dndbots.server.tables.story import PageLine, SceneMark, SeatStory, page_line
from dndbots.storage.ports import MAIN

_MOST_LINES: Final = 200
_LONGEST_ID: Final = 500
_SEPARATORS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchMark:
    """A branch on the timeline: where it forks off, and the address of its pages."""

    name: str
    address: str
    scene: str
    events: int
    is_here: bool


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [
        Route("/timeline", show_timeline),
        Route("/fork", posted(fork, enter=only_dm), methods=["POST"]),
    ]


def show_timeline(request: Request) -> Response:
    """Show the line of scenes, and the lines of one of them."""
    entered = enter_seat(request)
    story = entered.served.story(entered.seat)
    at = request.query_params.get("at", "")[:_LONGEST_ID]
    with story.lock:
        scenes = list(story.scenes)
    chosen = _scene_at(entered, scenes, at)
    lines = _lines_of(entered, story, scenes, chosen) if chosen is not None else []
    places = [index for index, one in enumerate(scenes) if not one.is_session]
    index = scenes.index(chosen) if chosen is not None else -1
    return entered.render(
        "timeline.html",
        page="timeline",
        scenes=scenes,
        chosen=chosen,
        lines=lines,
        at=at,
        previous=next((scenes[one] for one in reversed(places) if one < index), None),
        following=next((scenes[one] for one in places if one > index), None),
        branches=_branches(entered, scenes) if entered.is_dm else [],
    )


def _scene_at(entered: SeatRequest, scenes: list[SceneMark], at: str) -> SceneMark | None:
    """Return the scene that an event belongs to; the last one if none is given."""
    places = [scene for scene in scenes if not scene.is_session] or scenes
    if not at:
        return places[-1] if places else None
    with entered.served.reader.view(entered.seat) as view:
        seq = view.seq_of(at)
    if seq is None:
        raise HTTPException(404, "Nothing that you perceived has that id.")
    earlier = [scene for scene in places if scene.seq <= seq]
    return earlier[-1] if earlier else (places[0] if places else None)


def _lines_of(
    entered: SeatRequest, story: SeatStory, scenes: list[SceneMark], chosen: SceneMark
) -> list[PageLine]:
    later = [scene.seq for scene in scenes if scene.seq > chosen.seq and not scene.is_session]
    upto = (later[0] - 1) if later else None
    lines: list[PageLine] = []
    with entered.served.reader.view(entered.seat) as view:
        for event in view.until(upto).events(after=chosen.seq - 1):
            line = told_line(event, story.table)
            if line is not None:
                lines.append(replace(page_line(line, story.table), number=chosen.number + len(lines)))
            if len(lines) >= _MOST_LINES:
                break
    return lines


def _branches(entered: SeatRequest, scenes: list[SceneMark]) -> list[BranchMark]:
    served = entered.served
    name = served.name.partition(BRANCH_MARK)[0]
    marks = []
    for branch in served.reader.branches():
        path = name if branch.name == MAIN else f"{name}{BRANCH_MARK}{branch.name}"
        earlier = [scene.title for scene in scenes if scene.seq <= branch.forked_at]
        marks.append(
            BranchMark(
                name=branch.name,
                address=f"/c/{quote(path)}/dm/play",
                scene=earlier[-1] if earlier and branch.parent is not None else "",
                events=branch.head - branch.forked_at,
                is_here=branch.name == served.branch,
            )
        )
    return marks


def fork(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Fork a branch from an event, or from now, and go there."""
    served = entered.served
    name = _SEPARATORS.sub("-", text_field(form, "name", longest=80).casefold()).strip("-")
    at = text_field(form, "at", longest=_LONGEST_ID) or None
    if not name:
        raise HTTPException(400, "name: give the branch a name of letters and digits.")
    served.reader.fork(name, at=at).close()
    path = quote(f"{served.name.partition(BRANCH_MARK)[0]}{BRANCH_MARK}{name}")
    return RedirectResponse(f"/c/{path}/dm/play", 303)
