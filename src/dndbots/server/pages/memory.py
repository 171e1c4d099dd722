"""Memory: what a seat knows, believes and heard, its memories and threads, and decisions on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from dndbots.campaign import Campaign
from dndbots.events import LONGEST_CONTENT
from dndbots.memory.human_gates import Gates
from dndbots.server.pages.site import SeatRequest, enter_seat, only_dm, posted, text_field
from dndbots.server.pages.take_out import list_take_outs
from dndbots.server.tables.profiles import KnownStatement, list_profiles
from dndbots.text.labels import write_name

_CERTAIN: Final = ("fact", "belief", "rumor")
_MOST_KNOWN: Final = 60
# Threads that are names, not open ends: worth a line when nobody has spoken of them for a while.
_NAMES: Final = ("person", "item", "place")
_LONGEST_ID: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCard:
    """A memory with its subject, its text, and the decisions on it."""

    id: str
    subject: str
    text: str
    session: str
    marks: tuple[str, ...]
    sources: tuple[str, ...] = ()


def routes() -> list[Route]:
    """Return the routes of this page."""
    return [
        Route("/memory", show_memory),
        Route("/decide", posted(decide), methods=["POST"]),
        Route("/review", posted(review, enter=only_dm), methods=["POST"]),
    ]


def show_memory(request: Request) -> Response:
    """Show everything that a seat remembers."""
    entered = enter_seat(request)
    campaign, seat = entered.served.reader, entered.seat
    gates, threads = campaign.gates(seat), campaign.threads(seat)
    return entered.render(
        "memory.html",
        page="memory",
        take_outs=list_take_outs(entered.seat),
        known=_known(campaign, seat),
        memories=_memories(campaign, seat, gates),
        summaries=[
            MemoryCard(
                id=block.id,
                subject=block.layer,
                text=block.text,
                session=block.session,
                marks=tuple(gates.marks(block.id)),
            )
            for block in campaign.summaries(seat)
        ],
        threads=[one for one in threads if one.kind not in _NAMES],
        callbacks=[one for one in threads if one.kind in _NAMES and one.state == "dormant"],
        pinned=_decided_events(campaign, seat, gates),
        proposals=campaign.proposals() if entered.is_dm else [],
    )


def _known(campaign: Campaign, seat: str) -> dict[str, list[tuple[str, KnownStatement]]]:
    """Return the newest statements by certainty, each with the uid of its subject."""
    found: dict[str, list[tuple[str, KnownStatement]]] = {name: [] for name in _CERTAIN}
    for kind, profiles in list_profiles(campaign, seat, most=_MOST_KNOWN).items():
        for profile in profiles:
            for statement in profile.statements:
                if statement.certainty != "fact" or kind not in ("PC", "MON"):
                    found[statement.certainty].append((profile.uid, statement))
    return {name: statements for name, statements in found.items() if statements}


def _memories(campaign: Campaign, seat: str, gates: Gates) -> dict[str, list[MemoryCard]]:
    cards: dict[str, list[MemoryCard]] = {"location": [], "npc": [], "world": []}
    entries = campaign.memories(seat)
    uids = {uid for entry in entries for uid in (*entry.npc_ids[:1], entry.location_id) if uid}
    names = {uid: _name_of(campaign, seat, uid) for uid in uids}
    for entry in entries:
        about = entry.npc_ids[0] if entry.npc_ids else entry.location_id
        is_world = entry.source == "world" or about is None
        cards["world" if is_world else entry.source].append(
            MemoryCard(
                id=entry.memory_id,
                subject="The world" if is_world else names[str(about)],
                text=entry.summary,
                session=entry.session_id,
                marks=tuple(gates.marks(entry.memory_id)),
                sources=entry.sources,
            )
        )
    return {source: found for source, found in cards.items() if found}


def _name_of(campaign: Campaign, seat: str, uid: str) -> str:
    with campaign.view(seat) as view:
        return write_name(view.called([uid])[uid].name)


def _decided_events(campaign: Campaign, seat: str, gates: Gates) -> list[MemoryCard]:
    """Return events that somebody pinned, forgot or corrected, so that it can be taken back."""
    ids = list(dict.fromkeys([*gates.pinned, *sorted({*gates.forgotten, *gates.locked, *gates.corrected})]))
    with campaign.view(seat) as view:
        events = view.by_id(ids)
        moments = {moment.event_id: moment for moment in view.moments(events.values())}
    return [
        MemoryCard(
            id=one,
            subject=moments[one].who,
            text=gates.corrected.get(one, moments[one].text),
            session=moments[one].session,
            marks=tuple(gates.marks(one)),
        )
        for one in ids
        if one in moments and not events[one].is_note
    ]


def decide(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Pin, lock, forget or correct a memory, or take that back. A player decides for its own seat alone."""
    campaign = entered.served.reader
    target = text_field(form, "target", longest=_LONGEST_ID)
    what, is_on = text_field(form, "what"), text_field(form, "on") != "no"
    holder = None if entered.is_dm else entered.seat
    with campaign.view(entered.seat) as view:
        if target not in view.by_id([target]):
            raise HTTPException(404, "There is no such memory.")
    if what == "correct":
        text = text_field(form, "text", longest=LONGEST_CONTENT) or None
        campaign.correct(target, text if is_on else None, viewer=holder)
    elif what in ("pin", "lock", "forget"):
        {"pin": campaign.pin, "lock": campaign.lock, "forget": campaign.forget}[what](
            target, on=is_on, viewer=holder
        )
    else:
        raise HTTPException(400, "what: choose pin, lock, forget or correct.")
    entered.served.bell.ring()
    return _back(entered, form)


def review(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    """Accept or reject a proposed fact."""
    campaign, proposal = entered.served.reader, text_field(form, "proposal", longest=_LONGEST_ID)
    if text_field(form, "do") == "accept":
        campaign.accept(proposal)
    else:
        campaign.reject(proposal)
    return _back(entered, form)


def _back(entered: SeatRequest, form: Mapping[str, Any]) -> Response:
    pages = ("memory", "xray", "timeline", "recall")
    page = text_field(form, "page")
    return RedirectResponse(f"{entered.base}/{page if page in pages else 'memory'}", 303)
