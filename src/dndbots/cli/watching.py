"""Who looks on while a game is played, and what is told to them: everything, or what a seat perceives.

A seat's screen is made from what its character perceived, event by event, and from nothing else: the same
events are the same screen.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

from dndbots.cli import show
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.events import GameEvent
    from dndbots.game.playing import Game
    from dndbots.memory.context import Context

# More than a round has; if it has more, there is another look.
_LOOK_BACK: Final = 64


class Front(Protocol):
    """Whoever sits in front of the screen."""

    def tell(self) -> None:
        """What was recorded since the last time, by whomever."""
        ...

    def end_round(self, prompts: "Mapping[str, Context]") -> None: ...
    def hold_nothing_back(self) -> None: ...
    def begin_anew(self) -> None:
        """Looks at the campaign as it is now: something was taken back."""
        ...


class Teller(Protocol):
    """Somebody who tells a game while it is played."""

    def tell(self, events: "Iterable[GameEvent]") -> None: ...
    def end_round(self, prompts: "Mapping[str, Context]") -> None: ...
    def hold_nothing_back(self) -> None: ...
    def begin_anew(self) -> None: ...


class Lines:
    """Tells every event as a line of JSON."""

    def __init__(self) -> None:
        self._header = 0

    def tell(self, events: "Iterable[GameEvent]") -> None:
        from dndbots.interop.jsonl import to_lines

        show.say_json_lines(islice(to_lines(events), self._header, None))
        self._header = 1  # it was told

    def end_round(self, _: "Mapping[str, Context]") -> None: ...
    def hold_nothing_back(self) -> None: ...
    def begin_anew(self) -> None: ...


class Gallery:
    """Sees everything, as the DM does. Memory is kept in order beside the steps, so the log is read."""

    def __init__(
        self, game: "Game", *, after: int, quiet: bool = False, teller: Teller | None = None
    ) -> None:
        self._game, self._at = game, after
        if teller is None:
            from dndbots.cli.screens import Stage

            teller = Stage(lambda: game.table, quiet=quiet)
        self._teller = teller
        self._foretold: set[str] = set()

    def tell(self) -> None:
        with self._game.campaign.view(DM) as view:
            after, self._at = self._at, view.head
            found = view.at(range(after + 1, view.head + 1))
        self._teller.tell(event for event in found if event.event_id not in self._foretold)
        self._foretold.clear()

    def foretell(self, events: "Iterable[GameEvent]") -> None:
        """What a DM is about to have happened, who may add to it before it is recorded."""
        new = [event for event in events if event.event_id not in self._foretold]
        self._teller.tell(new)
        self._foretold |= {event.event_id for event in new}

    def end_round(self, prompts: "Mapping[str, Context]") -> None:
        self._teller.end_round(prompts)

    def hold_nothing_back(self) -> None:
        self._teller.hold_nothing_back()

    def begin_anew(self) -> None:
        self._at = self._game.campaign.head
        self._foretold.clear()
        self._teller.begin_anew()


class SeatView:
    """What one character perceives, told as it comes."""

    def __init__(self, campaign: "Campaign", who: str, *, after: int, quiet: bool = False) -> None:
        from dndbots.cli.screens import Stage

        self.who = who
        self.stage: Stage = Stage(lambda: self.table, quiet=quiet)
        self.look_at(campaign, after=after)

    def look_at(self, campaign: "Campaign", *, after: int) -> None:
        """Takes in silently what came before a place, and tells what comes behind it."""
        from dndbots.game.table import Table

        self._campaign, self._at = campaign, after
        self.table: Table = Table(self.who)
        with campaign.view(self.who) as view:
            for event in view.until(after).events():
                self.table.heard(event)

    def tell(self) -> None:
        with self._campaign.view(self.who) as view:
            after, self._at = self._at, view.head
            for event in view.events(after=after):
                self.table.heard(event)
                self.stage.tell([event])


class Seats:
    """People who share a screen: it belongs to one seat at a time, and tells what that one perceived."""

    def __init__(self, game: "Game", people: Sequence[str], *, quiet: bool = False) -> None:
        self._game = game
        self._views = {
            who: SeatView(game.campaign, who, after=begin_of_round(game.campaign, who), quiet=quiet)
            for who in people
        }
        # Of several, nobody is shown anything before it is their turn.
        self.front: str | None = people[0] if len(people) == 1 else None

    def view_of(self, who: str) -> SeatView:
        return self._views[who]

    def turn_to(self, who: str) -> None:
        self.front = who
        self.tell()

    def tell(self) -> None:
        if self.front is not None:
            self._views[self.front].tell()

    def end_round(self, _: "Mapping[str, Context]") -> None:
        """That the others are done is nothing that a character perceives."""

    def hold_nothing_back(self) -> None: ...

    def begin_anew(self) -> None:
        for view in self._views.values():
            view.look_at(self._game.campaign, after=self._game.campaign.head)
            view.stage.begin_anew()


def begin_of_round(campaign: "Campaign", who: str) -> int:
    """The place in the log behind which a character's newest round begins."""
    limit = _LOOK_BACK
    while True:
        with campaign.view(who) as view:
            found = view.placed(view.places(limit=limit))
        newest = max((event.turn or 0 for event in found.values()), default=0)
        earlier = [seq for seq, event in found.items() if (event.turn or 0) < newest]
        if earlier or len(found) < limit:
            return max(earlier, default=0)
        limit *= 4
