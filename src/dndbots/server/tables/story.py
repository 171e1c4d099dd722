"""The story of a seat: what its character perceived, as lines of a page.

A story is folded from the events that the seat perceived and from nothing else: same events, same lines, same
numbers. The number of a line is its place in the seat's own log, so that gaps tell a player nothing about
events elsewhere.
"""

from collections import deque
from dataclasses import dataclass, replace
from threading import RLock
from typing import Final

from dndbots.campaign import Campaign
from dndbots.events import EventType, GameEvent
from dndbots.game.state.game_notes import SETUP, played_of
from dndbots.game.state.table import Table
from dndbots.game.state.told_lines import Manner, ToldLine, told_line
from dndbots.ids import DM
from dndbots.text.clean import drop_hidden
from dndbots.text.labels import write_name

# Lines that stay in memory. The timeline has older ones.
MOST_LINES: Final = 1_500
_MARKS: Final = {EventType.DEATH: "death", EventType.COMBAT_START: "fight", EventType.QUEST_UPDATE: "quest"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine:
    """A line of the story on a page.

    `colour` is the seat of a speaker of the party, 0 for anybody else. `scene` and `session` are headings
    that stand before the line, if one begins here. `is_mine` says that the seat's own character speaks.
    """

    number: int = 0
    event_id: str
    manner: str
    speaker: str = ""
    initials: str = ""
    colour: int = 0
    hearers: tuple[str, ...] = ()
    paragraphs: tuple[str, ...] = ()
    rolls: tuple[str, ...] = ()
    scene: str = ""
    company: tuple[str, ...] = ()
    session: str = ""
    mark: str = ""
    round: int | None = None
    is_mine: bool = False
    is_unseen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneMark:
    """A scene or session that begins in a story: the event it begins with, and its title.

    `seq` is the event's place in the log, which is never shown to a player.
    """

    event_id: str
    title: str
    number: int
    is_session: bool
    seq: int
    company: tuple[str, ...] = ()


class SeatStory:
    """The story of one viewer, kept up to date with the log. Threads may share it."""

    def __init__(self, viewer: str) -> None:
        self.viewer = viewer
        self.lock = RLock()
        self.table = Table(viewer)
        self.told = 0
        self.lines: deque[PageLine] = deque(maxlen=MOST_LINES)
        self.scenes: list[SceneMark] = []
        # The last event that the viewer perceived in each round.
        self.rounds: dict[int, str] = {}
        self._at = 0
        self._scene: str | None = None

    def catch_up(self, campaign: Campaign) -> None:
        """Take in what the viewer perceived since the last call."""
        with self.lock, campaign.view(self.viewer) as view:
            after, self._at = self._at, view.head
            for seq, event in view.play(after=after, upto=self._at) if after < self._at else ():
                self.table.heard(event)
                line = told_line(event, self.table)
                if line is not None:
                    self.told += 1
                    self._add(self._page_line(line, self.told), event, seq)

    def _add(self, line: PageLine, event: GameEvent, seq: int) -> None:
        self.lines.append(line)
        if event.turn is not None:
            self.rounds[event.turn] = event.event_id
        for title, is_session in ((line.session, True), (line.scene, False)):
            if title:
                self.scenes.append(
                    SceneMark(
                        event_id=line.event_id,
                        title=title,
                        number=line.number,
                        is_session=is_session,
                        seq=seq,
                        company=line.company,
                    )
                )

    def after(self, number: int) -> list[PageLine]:
        """Return the lines after a number, oldest first."""
        with self.lock:
            new = min(max(self.told - number, 0), len(self.lines))
            return [self.lines[index] for index in range(len(self.lines) - new, len(self.lines))]

    def _page_line(self, line: ToldLine, number: int) -> PageLine:
        event = line.event
        is_new = line.place is not None and line.place != self._scene
        self._scene = line.place or self._scene
        return replace(
            page_line(line, self.table),
            number=number,
            session=event.content if event.event_type is EventType.SESSION_START else "",
            scene=self._name(line.place) if is_new and line.place else "",
            company=tuple(map(self._name, self.table.together(line.place))) if is_new else (),
        )

    def _name(self, uid: str) -> str:
        return name_at(self.table, uid)


def name_at(table: Table, uid: str) -> str:
    """Return the name of somebody as the viewer of a table knows it."""
    return "DM" if uid == DM else write_name(table.name(uid))


def initials_of(name: str) -> str:
    """Return one or two letters for a name."""
    words = [word for word in name.replace("-", " ").split() if word[:1].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper() or "·"


def page_line(line: ToldLine, table: Table) -> PageLine:
    """Return a line without its number and headings, such as for an event that is not recorded yet."""
    event, speaker = line.event, ""
    if line.manner is not Manner.NARRATION:
        speaker = name_at(table, event.source)
    seat = table.seats.get(event.source)
    return PageLine(
        event_id=event.event_id,
        manner=line.manner.value,
        speaker=speaker,
        initials=initials_of(speaker) if speaker else "",
        colour=seat.seat if seat is not None and speaker else 0,
        hearers=tuple(name_at(table, uid) for uid in line.hearers),
        paragraphs=_paragraphs(event),
        rolls=tuple(map(drop_hidden, line.rolls)),
        mark="level" if line.is_level_up else _mark(event),
        round=event.turn,
        is_mine=event.source == table.viewer,
        is_unseen=line.is_unseen,
    )


def _mark(event: GameEvent) -> str:
    note = played_of(event)
    return "setup" if note is not None and note.step == SETUP else _MARKS.get(event.event_type, "")


def _paragraphs(event: GameEvent) -> tuple[str, ...]:
    if event.event_type is EventType.SESSION_START:
        return ()
    lines = (line.strip() for line in drop_hidden(event.content).split("\n"))
    return tuple(line for line in lines if line)
