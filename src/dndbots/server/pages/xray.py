"""X-ray: the prompt of a seat's model, line by line with cost, reason and sources, at any turn."""

from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dndbots.game.game import Game
from dndbots.game.models.seat_prompts import SeatPrompts
from dndbots.ids import DM
from dndbots.memory.context import Context
from dndbots.memory.context.xray import SECTIONS, ContextItem
from dndbots.memory.documents.builder_input import character_of
from dndbots.prompts import build_dm_prompt, build_player_prompt
from dndbots.server.pages.site import SeatRequest, enter_seat
from dndbots.server.tables.served_campaigns import ServedCampaign
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

_BUDGET: Final = 2_000
_TITLES: Final = {
    "names": "Names",
    "identity": "Who you are",
    "quests": "Quests",
    "story": "Story so far",
    "known": "Known",
    "deeds": "Deeds",
    "pinned": "Pinned",
    "memories": "Memories",
    "open": "Open threads",
    "lately": "Lately",
    "recent": "Recent events",
    "scene": "Scene",
    "asked": "Asked",
    "adventure": "The adventure, for the DM",
    "knowledge": "Who has not heard what",
    "place": "This place",
    "people": "People here",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class XrayLine:
    """A line of a prompt. `change` says whether it is new or gone, against the other turn."""

    text: str
    tokens: int
    reason: str
    sources: tuple[str, ...]
    is_dropped: bool = False
    change: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class XraySection:
    """A section of a prompt: its lines, and the share of the budget that it takes."""

    name: str
    title: str
    tokens: int
    lines: tuple[XrayLine, ...]


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [Route("/xray", show_xray)]


def show_xray(request: Request) -> Response:
    """Show the prompt of a turn, or two turns compared."""
    entered = enter_seat(request)
    story = entered.served.story(entered.seat)
    rounds = sorted(story.rounds)
    chosen = _chosen(request, "turn", rounds)
    other = _chosen(request, "with", rounds)
    context = build_prompt(entered, story.rounds.get(chosen) if chosen is not None else None)
    before = build_prompt(entered, story.rounds[other]) if other is not None else None
    spent = count_tokens(context.beside, context.encoding) if context.beside else 0
    return entered.render(
        "xray.html",
        page="xray",
        context=context,
        beside_tokens=spent,
        sections=sections_of(context, before),
        rounds=rounds,
        chosen=chosen,
        other=other,
        newest=rounds[-1] if rounds else None,
    )


def build_prompt(entered: SeatRequest, as_of: str | None) -> Context:
    """Return the prompt that a model in this seat is given, now or as of an event."""
    served, seat = entered.served, entered.seat
    if as_of is None and served.host is not None:
        return _game_prompt(served, served.host.game, seat)
    beside = _beside(served, seat, as_of)
    budget = served.host.game.note.budget if served.host is not None else _BUDGET
    if beside and budget < count_tokens(beside, DEFAULT_ENCODING) + 200:
        beside = ""
    return served.reader.context(seat, budget, beside=beside, as_of=as_of)


def _game_prompt(served: ServedCampaign, game: Game, seat: str) -> Context:
    """Return the prompt as the game itself builds it for a model in the seat."""
    prompts, table = SeatPrompts(served.reader, game.note), served.story(seat).table
    if seat == DM:
        return prompts.of_dm(table, tools=game.cast.dm.has_tools)
    return prompts.of_player(seat, table.character(seat))


def _beside(served: ServedCampaign, seat: str, as_of: str | None) -> str:
    """Return what stands in the prompt beside the memory: rules, and the sheet as it was."""
    if served.host is None:
        return ""
    if seat == DM:
        game = served.host.game
        table = served.story(DM).table
        party = [sheet for uid in table.living() if (sheet := table.character(uid)) is not None]
        return build_dm_prompt(game.note.scenario or game.note.module, party, tools=game.cast.dm.has_tools)
    entity = served.reader.entity(seat, viewer=seat, as_of=as_of)
    sheet = character_of(seat, entity.name, entity.properties, entity.inventory)
    return build_player_prompt(sheet) if sheet is not None else ""


def _chosen(request: Request, name: str, rounds: list[int]) -> int | None:
    given = request.query_params.get(name, "")
    if not given:
        return None
    if not given.isdecimal() or len(given) > 9:
        raise HTTPException(400, f"{name}: give the number of a turn.")
    # A slider may stand between two turns that this seat perceived.
    return max((one for one in rounds if one <= int(given)), default=None)


def sections_of(context: Context, before: Context | None = None) -> list[XraySection]:
    """Return the sections of a prompt with their lines, and how these differ from another prompt."""
    earlier = None if before is None else {(item.section, item.text) for item in before.items}
    now = {(item.section, item.text) for item in context.items}
    sections = []
    for name in SECTIONS:
        lines = [
            _line(item, change="new" if earlier is not None and (name, item.text) not in earlier else "")
            for item in context.items
            if item.section == name
        ]
        lines += [_line(item, is_dropped=True) for item in context.dropped if item.section == name]
        lines += [
            _line(item, change="gone")
            for item in (before.items if before is not None else ())
            if item.section == name and (name, item.text) not in now
        ]
        tokens = sum(line.tokens for line in lines if not line.is_dropped and line.change != "gone")
        if lines:
            sections.append(XraySection(name=name, title=_title(name), tokens=tokens, lines=tuple(lines)))
    return sections


def _title(section: str) -> str:
    return _TITLES.get(section) or section.replace("_", " ").capitalize()


def _line(item: ContextItem, *, is_dropped: bool = False, change: str = "") -> XrayLine:
    return XrayLine(
        text=item.text,
        tokens=item.tokens,
        reason=item.reason,
        sources=item.sources,
        is_dropped=is_dropped,
        change=change,
    )
