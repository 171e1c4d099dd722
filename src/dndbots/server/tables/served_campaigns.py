"""The campaigns that the server has open: each with its readers, its stories, and its game if it has one."""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final, Protocol

from dndbots.campaign import Campaign
from dndbots.errors import CampaignMissing, DndbotsError, NoGame, UnknownBranch
from dndbots.game.adventures.library import list_shipped
from dndbots.game.agents import Cast
from dndbots.game.game import Game
from dndbots.game.setup import cast_from_note
from dndbots.game.state.game_notes import HOUSE, GameNote
from dndbots.game.story_seats import StoryWish
from dndbots.ids import DM, category_of
from dndbots.server.security.seat_book import SeatBook
from dndbots.server.tables.bell import Bell
from dndbots.server.tables.game_host import GameHost
from dndbots.server.tables.story import SeatStory
from dndbots.storage.address import name_of
from dndbots.storage.ports import MAIN

log = logging.getLogger("dndbots.server")

# Separates a campaign's name from that of a branch, in addresses of pages.
BRANCH_MARK: Final = "~"
# Other programs write to the same log: look this often, while somebody watches.
_LOOK_EVERY: Final = 0.1
_MOST_STREAMS: Final = 400


class GameSeating(Protocol):
    """The models that play, as the program was told to use them."""

    @property
    def dm(self) -> str:
        """The name of the model that is DM of new games, or `house`."""
        ...

    @property
    def players(self) -> str:
        """The name of the model that plays the characters of new games, or `house`."""
        ...

    def cast(self, note: GameNote) -> Cast:
        """Return the cast of a game."""
        ...

    def equip(self, campaign: Campaign) -> None:
        """Give a campaign the models that write its summaries and read its facts."""
        ...

    def hear_usage_of(self, game: Game) -> None:
        """Let a game record what those models use."""
        ...


class HouseSeating:
    """GameSeating without models: the house plays."""

    dm = players = HOUSE

    def cast(self, note: GameNote) -> Cast:
        return cast_from_note(note)

    def equip(self, campaign: Campaign) -> None: ...
    def hear_usage_of(self, game: Game) -> None: ...


class ServedCampaign:
    """One branch of a campaign, open for pages. Threads may share it.

    Pages read through a connection of their own, beside the one of the game.
    """

    def __init__(
        self,
        name: str,
        where: str,
        branch: str,
        *,
        book: SeatBook,
        casting: GameSeating,
        compact: bool = True,
    ) -> None:
        self.name, self.branch, self._compact = name, branch, compact
        self._book, self._casting = book, casting
        self.bell = Bell()
        self._lock = threading.RLock()
        self._stories: dict[str, SeatStory] = {}
        self.reader = Campaign.open(where, create=False, branch=branch)
        # Seats on a branch have tokens of their own: what happens there may be meant for the DM alone.
        self.key = name_of(where) if branch == MAIN else f"{name_of(where)}{BRANCH_MARK}{branch}"
        self.host: GameHost | None = None
        self._head = self.reader.head
        self.branch_id = self._branch_id()
        self._open_game()
        self.title = self._find_title()

    def _open_game(self) -> None:
        campaign = self.reader.another()
        self._casting.equip(campaign)
        try:
            game = Game.resume(campaign, casting=self._casting.cast)
        except NoGame:
            campaign.close()
            return
        self._casting.hear_usage_of(game)
        campaign.listen(lambda _: self.bell.ring())
        people = self._book.people(self.key)
        self.host = GameHost(game, people=people, changed=self.bell.ring, compact=self._compact)
        self.host.start()

    @property
    def has_model_dm(self) -> bool:
        """True if a model is DM of new games: the house has no story of its own."""
        return self._casting.dm != HOUSE

    def play_on(self, seat: str, *, seed: int) -> None:
        """Make a game of a story that was told elsewhere. Its people take the seats, a person `seat`."""
        with self._lock:
            if self.host is None:
                wanted = [] if seat == DM else [self.seats()[seat]]
                wish = StoryWish(seed=seed, wanted=wanted, dm=self._casting.dm, players=self._casting.players)
                with self.reader.another() as campaign:
                    Game.go_on(campaign, wish, cast=self._casting.cast(wish.note_for(campaign)))
                self._open_game()
            if self.host is not None:
                self.host.take_seat(seat)
                self.keep_people()
        self.bell.ring()

    def _find_title(self) -> str:
        """Return the title for the pages: that of the adventure, or else the campaign's name in words."""
        name, mark, branch = self.name.partition(BRANCH_MARK)
        title = "" if self.host is None else list_shipped().get(self.host.game.note.module, "")
        number = name.rpartition("_")[2]
        shown = f"{title} {number}".strip() if title and number.isdecimal() else title or title_of(name)
        return f"{shown} ({branch})" if mark else shown

    def story(self, viewer: str) -> SeatStory:
        """Return the story of a viewer, up to date. Only somebody who perceives anything has one."""
        with self._lock:
            self.refresh()
            if viewer not in self._stories:
                with self.reader.view(viewer):  # raises if nobody is called that
                    self._stories[viewer] = SeatStory(viewer)
            story = self._stories[viewer]
            story.catch_up(self.reader)
        return story

    def seats(self) -> dict[str, str]:
        """Return the seats beside the DM's, with the names of their characters."""
        table = self.story(DM).table
        if self.host is not None:
            return {uid: table.name(uid) for uid in table.living()}
        found = self.reader.entities(viewer=DM, category="PC")
        return {entity.uid: entity.name for entity in found}

    def has_seat(self, seat: str) -> bool:
        """Tell whether a uid is the DM's or that of a character."""
        if seat == DM:
            return True
        return category_of(seat) == "PC" and seat in self.reader_uids()

    def reader_uids(self) -> frozenset[str]:
        """Return the uids of all characters, dead ones included."""
        with self.reader.view(DM) as view:
            return frozenset(uid for uid in view.everybody() if category_of(uid) == "PC")

    def refresh(self) -> None:
        """Take in what other programs did: a round that was taken back leaves this branch another id."""
        with self._lock:
            if self._branch_id() != self.branch_id:
                self.reopen()

    def reopen(self) -> None:
        """Open the branch again, after a round was taken back. Stories begin anew."""
        with self._lock:
            old, self.reader = self.reader, self.reader.another_branch(self.branch)
            old.close()
            self._stories = {}
            self.branch_id = self._branch_id()
            host = self.host
            if host is not None and host.game.campaign.branch != self.branch:
                # Another program took it back: the game's own log is the one that was kept aside.
                host.stop()
                host.game.campaign.close()
                self.host = None
                self._open_game()

    def _branch_id(self) -> int:
        found = [one.id for one in self.reader.branches() if one.name == self.branch]
        if not found:
            raise UnknownBranch(self.branch, known=[one.name for one in self.reader.branches()])
        return found[0]

    def look(self) -> None:
        """Ring if the log has grown or changed since the last look."""
        head, branch = self.reader.head, self._branch_id()
        if (head, branch) != (self._head, self.branch_id):
            self._head = head
            self.bell.ring()

    def keep_people(self) -> None:
        """Keep who sits at the table, for the next start."""
        if self.host is not None:
            self._book.keep_people(self.key, self.host.people)

    def close(self) -> None:
        """Stop the game after its step, and close the campaign."""
        if self.host is not None:
            self.host.stop()
            self.host.game.campaign.close()
        self.reader.close()


def title_of(name: str) -> str:
    """Return a campaign's name in words."""
    return name.replace("_", " ").replace("-", " ").capitalize()


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignShelf:
    """The campaigns that the server may open: single ones by name, and all in a folder."""

    named: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None

    def names(self) -> Iterator[str]:
        """Yield the names of all campaigns, in order."""
        from dndbots.storage.sql.sqlite import FILE

        yield from self.named
        found = sorted(self.folder.glob(f"*/{FILE}")) if self.folder is not None else ()
        yield from (file.parent.name for file in found if file.parent.name not in self.named)

    def free_name(self, base: str) -> str:
        """Return a name that no campaign has: the given one, or the same with a number."""
        taken = {*self.names()}
        names = (base if number == 1 else f"{base}_{number}" for number in count(1))
        return next(name for name in names if name not in taken)

    def address_of(self, name: str) -> str | None:
        """Return the address of a campaign; None if there is none of that name."""
        if name in self.named:
            return self.named[name]
        return str(self.folder / name) if self.folder is not None and name in self.names() else None


class ServedCampaigns:
    """All campaigns of the server. They are opened when somebody first asks for them."""

    def __init__(
        self,
        shelf: CampaignShelf,
        book: SeatBook,
        *,
        casting: GameSeating | None = None,
        compact: bool = True,
    ) -> None:
        self.shelf, self.book, self.casting = shelf, book, casting or HouseSeating()
        self._compact = compact
        self._lock = threading.RLock()
        self._open: dict[str, ServedCampaign] = {}
        self._closed = threading.Event()
        self._watch = threading.Thread(target=self._look, name="dndbots-watch", daemon=True)
        self._watch.start()

    def key_of(self, name: str) -> str | None:
        """Return the key of a campaign in the seat book, without opening it."""
        campaign, _, branch = name.partition(BRANCH_MARK)
        where = self.shelf.address_of(campaign)
        if where is None:
            return None
        return name_of(where) if not branch else f"{name_of(where)}{BRANCH_MARK}{branch}"

    def get(self, name: str) -> ServedCampaign:
        """Return a campaign by its name, or `name~branch`. Raises `CampaignMissing`."""
        with self._lock:
            if name not in self._open:
                campaign, _, branch = name.partition(BRANCH_MARK)
                where = self.shelf.address_of(campaign)
                if where is None:
                    raise CampaignMissing(campaign)
                self._open[name] = ServedCampaign(
                    name,
                    where,
                    branch or MAIN,
                    book=self.book,
                    casting=self.casting,
                    compact=self._compact,
                )
            return self._open[name]

    def forget(self, name: str) -> None:
        """Close a campaign; it is opened again when somebody asks for it."""
        with self._lock:
            served = self._open.pop(name, None)
        if served is not None:
            served.close()

    def ring(self) -> None:
        """Wake all streams."""
        for served in [*self._open.values()]:
            served.bell.ring()

    @property
    def streams(self) -> int:
        return sum(served.bell.listeners for served in [*self._open.values()])

    @property
    def is_full(self) -> bool:
        """True if no more streams can be opened."""
        return self.streams >= _MOST_STREAMS

    def close(self) -> None:
        """Stop all games, and close all campaigns."""
        self._closed.set()
        self._watch.join()
        with self._lock:
            for served in self._open.values():
                served.close()
            self._open.clear()

    def _look(self) -> None:
        """Look for what other programs recorded, as long as the server runs."""
        while not self._closed.wait(_LOOK_EVERY):
            for served in [*self._open.values()]:
                if served.bell.listeners:
                    with suppress(DndbotsError):
                        served.look()
