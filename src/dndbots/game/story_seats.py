"""Seats in a story that was told elsewhere: an imported chat or transcript that is played on.

Its people take seats with sheets of their own, its last place is where they are, and its log is their memory.
Nothing that was told is told again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from dndbots.campaign import Campaign
from dndbots.errors import GameExists, InvalidSetting
from dndbots.events import EventType, GameEvent
from dndbots.game import referee
from dndbots.game.adventures.library import OPEN, open_module
from dndbots.game.setup import seat_party
from dndbots.game.state.campaign_tables import fold_tables
from dndbots.game.state.game_notes import HOUSE, MOST_SEATS, SETUP, GameNote, Sights
from dndbots.game.state.step import Step, seeded_rng
from dndbots.game.state.table import Table
from dndbots.game.world.atlas import Atlas
from dndbots.game.world.story import OPENING
from dndbots.game.world.world_state import LOOKS
from dndbots.ids import DM, fold_name, mint
from dndbots.models import Character
from dndbots.rules.characters.creation import new_character

UNNAMED: Final = "a place without a name"
_SESSION: Final = re.compile(r"s(\d{1,6})\Z")
_SCORES: Final = "4d6kh3"
GOES_ON: Final = "The story so far is in your memory. Go on from where it stopped."


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryPerson:
    """A character of a story who can take a seat: `lines` is how often it spoke or acted."""

    uid: str
    name: str
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryEnd:
    """The end of a story: its last place and turn, and the highest number of a session."""

    place: str | None
    turn: int
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryWish:
    """How a story is played on. `wanted` characters get seats first.

    `sheets` are used for the characters of their names; other sheets are those of newcomers.
    """

    seed: int = 0
    sheets: Sequence[Character] = ()
    wanted: Sequence[str] = ()
    seats: int | None = None
    budget: int = 2_000
    scenario: str = ""
    dm: str = HOUSE
    players: str = HOUSE

    def note_for(self, campaign: Campaign) -> GameNote:
        """Return the settings of the game. Raises `GameExists` if the campaign has one."""
        there = fold_tables(campaign)[DM].game
        if there is not None:
            raise GameExists(campaign.address or "this campaign", module=there.module)
        return GameNote(
            seed=self.seed,
            module=OPEN,
            dm=self.dm,
            players=self.players,
            seats=len(self.party_of(campaign)),
            budget=self.budget,
            scenario=self.scenario or GOES_ON,
            uids="names",
            earlier_sessions=find_end(campaign).sessions,
        )

    def party_of(self, campaign: Campaign) -> list[Character]:
        """Return the sheets of all who take a seat."""
        return seat_people(
            find_people(campaign), seed=self.seed, sheets=self.sheets, wanted=self.wanted, seats=self.seats
        )


def continue_story(campaign: Campaign, note: GameNote, wish: StoryWish) -> None:
    """Record that a told story becomes a game: a session opens, and its people sit down."""
    table, end = fold_tables(campaign)[DM], find_end(campaign)
    campaign.record_many(continuing_events(note, wish.party_of(campaign), end, table))


def find_people(campaign: Campaign) -> list[StoryPerson]:
    """Return the characters of a story, the busiest first."""
    lines: dict[str, int] = {}
    with campaign.view(DM) as view:
        for event in view.events():
            if not event.is_note:
                lines[event.source] = lines.get(event.source, 0) + 1
    people = [
        StoryPerson(uid=entity.uid, name=entity.name, lines=lines.get(entity.uid, 0))
        for entity in campaign.entities(viewer=DM, category="PC")
    ]
    return sorted(people, key=lambda person: (-person.lines, person.uid))


def find_end(campaign: Campaign) -> StoryEnd:
    """Return where a story stopped."""
    place, turn, sessions = None, 0, 0
    with campaign.view(DM) as view:
        for event in view.events():
            place = event.known.location or place
            turn = max(turn, event.turn or 0)
            numbered = _SESSION.match(event.session_id)
            sessions = max(sessions, int(numbered[1]) if numbered else 0)
    return StoryEnd(place=place, turn=turn, sessions=sessions)


def seat_people(
    people: Sequence[StoryPerson],
    *,
    seed: int,
    sheets: Sequence[Character] = (),
    wanted: Sequence[str] = (),
    seats: int | None = None,
) -> list[Character]:
    """Return sheets for the people of a story: those given under their names, else rolled up.

    `wanted` are names that must have a seat. Characters that the story does not know may join it.
    """
    given = {fold_name(sheet.name): sheet for sheet in sheets}
    known = {fold_name(person.name): person for person in people}
    first = [person for person in people if _is_wanted(person, wanted)]
    order = [*first, *(person for person in people if person not in first)]
    most = min(seats or max(len(order), 1), MOST_SEATS)
    party: list[Character] = []
    for person in order[: max(most, len(first))]:
        sheet = given.get(fold_name(person.name))
        if sheet is None:
            rng = seeded_rng(seed, "sheet", person.uid)
            sheet = new_character(person.name, rng=rng, scores=_SCORES, char_id=person.uid)
        party.append(sheet.model_copy(update={"char_id": person.uid, "name": person.name}))
    party += [sheet for name, sheet in given.items() if name not in known]
    if not party:
        raise InvalidSetting(
            "characters", "none", reason="the story has no characters of players; bring one with --character"
        )
    return party


def _is_wanted(person: StoryPerson, wanted: Sequence[str]) -> bool:
    names = {fold_name(name) for name in wanted}
    return bool(names & {fold_name(person.name), fold_name(person.name.split()[0]), person.uid})


def continuing_events(
    note: GameNote, party: Sequence[Character], end: StoryEnd, table: Table
) -> list[GameEvent]:
    """Return the events with which a told story becomes a game: a session opens, and its people sit down."""
    tables = {DM: table}
    atlas = Atlas(open_module(), 0, uids=note.uids)
    is_known = end.place is not None and atlas.key(end.place) is not None and end.place in table.names
    place = str(end.place) if is_known else mint("LOC", UNNAMED, taken=table.names)
    session = f"s{end.sessions + 1:02d}"
    rng = seeded_rng(note.seed, SETUP)
    step = Step(SETUP, seed=note.seed, round_=end.turn, session=session, tables=tables, rng=rng)
    uids = [sheet.uid for sheet in party]
    name = table.names.get(place, UNNAMED)
    step.add(EventType.SESSION_START, "The story goes on.", witnesses=uids, names={place: name})
    step.add(
        EventType.SYSTEM,
        "A game goes on from here.",
        witnesses=[],
        play={"game": note.model_dump(), "beats": (OPENING,), "laid": {place: {}}},
        facts=_looks(table, place),
    )
    for number, member in enumerate(seat_party(party, seats=len(party), seed=note.seed), 1):
        referee.seat_character(
            step,
            member.character,
            seat=number,
            temper=member.temper,
            goal=member.goal,
            place=place,
            text=f"{member.character.name} is here.",
            witnesses=uids,
        )
    step.add(
        EventType.DM_NARRATION,
        f"The story goes on where it stopped{f', at {name}' if is_known else ''}.",
        place=place,
        witnesses=uids,
        names={place: name},
        play={"sights": Sights().model_dump(mode="json")},
    )
    return step.events


def _looks(table: Table, place: str) -> list[JsonValue]:
    """Return a description for a place that has none, so that it can be stood in."""
    if table.fact(place, LOOKS):
        return []
    looks = f"This is {table.names[place]}." if place in table.names else "You are where the story stopped."
    return [{"subject": place, "key": LOOKS, "value": looks}]
