"""Spectators of a game: those who see everything, and players who see what their seat perceives.

The screen of a seat is built from the events its character perceived and from nothing else: same events,
same screen.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

from dndbots.cli import console
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.events import GameEvent
    from dndbots.game.game import Game
    from dndbots.memory.context import Context

# More events than a round has; a longer round is read again with a larger limit.
_LOOK_BACK: Final = 64


class Spectator(Protocol):
    """A viewer of the game in front of this screen."""

    def tell(self) -> None:
        """Tell the events recorded since the last call."""
        ...

    def end_round(self, prompts: "Mapping[str, Context]") -> None: ...
    def flush(self) -> None: ...
    def restart(self, *, after: int | None = None) -> None:
        """Start again from the campaign as it is now, or after a seq: something was taken back."""
        ...


class Teller(Protocol):
    """A printer of events while a game is played."""

    def tell(self, events: "Iterable[GameEvent]") -> None: ...
    def end_round(self, prompts: "Mapping[str, Context]") -> None: ...
    def flush(self) -> None: ...
    def restart(self) -> None: ...


class JsonLines:
    """Prints every event as a line of JSON."""

    def __init__(self) -> None:
        self._header = 0

    def tell(self, events: "Iterable[GameEvent]") -> None:
        from dndbots.interop.log_lines import to_lines

        console.say_json_lines(islice(to_lines(events), self._header, None))
        self._header = 1  # printed once

    def end_round(self, _: "Mapping[str, Context]") -> None: ...
    def flush(self) -> None: ...
    def restart(self) -> None: ...


class Gallery:
    """A spectator who sees everything, like the DM.

    It reads the log, since memory is recorded beside the steps of the game.
    """

    def __init__(
        self, game: "Game", *, after: int, quiet: bool = False, teller: Teller | None = None
    ) -> None:
        self._game, self._at = game, after
        if teller is None:
            from dndbots.cli.play.screen import Stage

            teller = Stage(lambda: game.table, quiet=quiet)
        self._teller = teller
        self._told_ahead: set[str] = set()

    def tell(self) -> None:
        with self._game.campaign.view(DM) as view:
            after, self._at = self._at, view.head
            found = view.at(range(after + 1, view.head + 1))
        self._teller.tell(event for event in found if event.event_id not in self._told_ahead)
        self._told_ahead.clear()

    def tell_ahead(self, events: "Iterable[GameEvent]") -> None:
        """Tell events before they are recorded, so that a DM can add to them."""
        new = [event for event in events if event.event_id not in self._told_ahead]
        self._teller.tell(new)
        self._told_ahead |= {event.event_id for event in new}

    def end_round(self, prompts: "Mapping[str, Context]") -> None:
        self._teller.end_round(prompts)

    def flush(self) -> None:
        self._teller.flush()

    def restart(self, *, after: int | None = None) -> None:
        self._at = self._game.campaign.head if after is None else after
        self._told_ahead.clear()
        self._teller.restart()


class SeatView:
    """The view of one character: tells what it perceives as it happens."""

    def __init__(self, campaign: "Campaign", who: str, *, after: int, quiet: bool = False) -> None:
        from dndbots.cli.play.screen import Stage

        self.who = who
        self.stage: Stage = Stage(lambda: self.table, quiet=quiet)
        self.look_at(campaign, after=after)

    def look_at(self, campaign: "Campaign", *, after: int) -> None:
        """Read the events up to seq `after` silently, and tell those after it."""
        from dndbots.game.state.table import Table

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


class SharedScreen:
    """A screen shared by several seats. It belongs to one seat at a time and tells what it perceived."""

    def __init__(self, game: "Game", people: Sequence[str], *, quiet: bool = False) -> None:
        self._game = game
        self._views = {
            who: SeatView(game.campaign, who, after=find_round_start(game.campaign, who), quiet=quiet)
            for who in people
        }
        # With several seats, nobody sees anything before their turn.
        self.front: str | None = people[0] if len(people) == 1 else None

    def view_of(self, who: str) -> SeatView:
        """Return the view of a seat."""
        return self._views[who]

    def turn_to(self, who: str) -> None:
        """Give the screen to a seat, and tell what it perceived meanwhile."""
        self.front = who
        self.tell()

    def tell(self) -> None:
        if self.front is not None:
            self._views[self.front].tell()

    def end_round(self, _: "Mapping[str, Context]") -> None:
        """Tell nothing: a character does not perceive the end of a round."""

    def flush(self) -> None: ...

    def restart(self, *, after: int | None = None) -> None:
        seq = self._game.campaign.head if after is None else after
        for view in self._views.values():
            view.look_at(self._game.campaign, after=seq)
            view.stage.restart()


def find_round_start(campaign: "Campaign", who: str) -> int:
    """Return the seq after which a character's newest round begins."""
    limit = _LOOK_BACK
    while True:
        with campaign.view(who) as view:
            found = view.events_by_seq(view.newest_seqs(limit=limit))
        newest = max((event.turn or 0 for event in found.values()), default=0)
        earlier = [seq for seq, event in found.items() if (event.turn or 0) < newest]
        if earlier or len(found) < limit:
            return max(earlier, default=0)
        limit *= 4
