"""A game in a campaign: its seats, and the steps of its rounds. It can resume from the log alone.

Each step is drafted against the tables and recorded in one transaction. Tables are folds of the log: a game
that was killed folds them again and goes on with the same dice.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, repeat
from typing import Any, Final, Self

from dndbots.campaign import Campaign
from dndbots.errors import ActRefused, EventRefused, GameExists, NoGame, StoryExists
from dndbots.events import EventType, GameEvent
from dndbots.game import referee
from dndbots.game.acts import Act
from dndbots.game.adventures.library import ENDLESS
from dndbots.game.agents import Cast, SafePlayer, SeatTurn
from dndbots.game.dm.inventions import find_mentions
from dndbots.game.ledger import Ledger
from dndbots.game.live_words import LiveAnswers, LiveHear
from dndbots.game.lookups import CampaignLookup
from dndbots.game.models.seat_prompts import SeatPrompts
from dndbots.game.retellings import Retellings, Telling
from dndbots.game.rounds import play_round, play_step, rare_garbage_collection
from dndbots.game.setup import cast_from_note, opening_events, seat_party
from dndbots.game.state.campaign_tables import fold_tables, has_story
from dndbots.game.state.game_notes import DM_STEP, MARCH, REFEREE, GameNote
from dndbots.game.state.step import Step, seeded_rng
from dndbots.game.state.table import Due, Table, deliver_event
from dndbots.game.story_seats import StoryWish, continue_story
from dndbots.game.undo import TakenBack, take_back
from dndbots.game.world.narration import Screen
from dndbots.ids import DM
from dndbots.llm.protocol import Role, Usage
from dndbots.memory.context import Context
from dndbots.models import Character

log = logging.getLogger("dndbots.game")

Watch = Callable[[list[GameEvent]], None]

BUDGET: Final = 2_000
SEATS: Final = 4
# Rounds between two compactions.
EVERY_ROUNDS: Final = 5
_EVENTS_A_SEAT: Final = 2


class Game:
    """A game in play. Make one with `Game.begin` or `Game.resume`.

    Without a `cast`, the players are those that the game was begun with.
    """

    def __init__(
        self, campaign: Campaign, note: GameNote, tables: dict[str, Table], *, cast: Cast | None = None
    ) -> None:
        self.campaign, self.note, self.tables = campaign, note, tables
        self.prompts: dict[str, Context] = {}
        self.cast = cast or cast_from_note(note)
        self._seats = SeatPrompts(campaign, note)
        self.budgets = self._seats.budgets
        self._ledger, self._look = Ledger(self.cast.cost), CampaignLookup(campaign)
        self._number = self.table.round
        self._paused = False
        self._watch: Watch = _ignore
        self._live, self._retellings = LiveAnswers(), Retellings(self)
        self._wish: tuple[str, str] | None = None  # who tells a turn again, and how it is wished for

    # Begin and resume.

    @classmethod
    def begin(
        cls,
        campaign: Campaign,
        *,
        module: str = ENDLESS,
        seed: int = 0,
        characters: Sequence[Character] | None = None,
        seats: int = SEATS,
        budget: int = BUDGET,
        scenario: str = "",
        dm: str = "house",
        players: str = "house",
        cast: Cast | None = None,
    ) -> Self:
        """Begin a game: the party takes its seats at the adventure's first place.

        Raises `GameExists` if the campaign has a game, and `StoryExists` if it holds a story that was not
        played, such as an imported one.
        """
        earlier = fold_tables(campaign)[DM].game
        if earlier is not None:
            raise GameExists(campaign.address or "this campaign", module=earlier.module)
        if has_story(campaign):
            raise StoryExists(campaign.address or "this campaign")
        party = seat_party(characters, seats=seats, seed=seed)
        note = GameNote(
            seed=seed,
            module=module,
            dm=dm,
            players=players,
            seats=len(party),
            budget=budget,
            scenario=scenario,
            uids="names",
        )
        opening = opening_events(note, party)
        cast = cast or cast_from_note(note)
        campaign.record_many(opening)
        return cls(campaign, note, fold_tables(campaign), cast=cast)

    @classmethod
    def go_on(cls, campaign: Campaign, wish: StoryWish, *, cast: Cast | None = None) -> Self:
        """Begin a game where a story stopped that was told elsewhere, such as an imported chat.

        Raises `GameExists` if the campaign has a game.
        """
        note = wish.note_for(campaign)
        cast = cast or cast_from_note(note)
        continue_story(campaign, note, wish)
        return cls(campaign, note, fold_tables(campaign), cast=cast)

    @classmethod
    def resume(
        cls,
        campaign: Campaign,
        *,
        progress: Callable[[int, int], None] | None = None,
        cast: Cast | None = None,
        casting: Callable[[GameNote], Cast] | None = None,
    ) -> Self:
        """Resume the game of a campaign from its log alone. Raises `NoGame` if there is none.

        `casting` makes the cast from the game's settings, for callers who do not know them beforehand.
        """
        tables = fold_tables(campaign, progress)
        note = tables[DM].game
        if note is None:
            raise NoGame(campaign.address or "this campaign")
        return cls(campaign, note, tables, cast=cast if casting is None else casting(note))

    # Views.

    @property
    def table(self) -> Table:
        """The DM's table, with everything on it."""
        return self.tables[DM]

    @property
    def round(self) -> int:
        return self.table.round

    @property
    def over(self) -> bool:
        """True once the story has come to its end."""
        return "over" in self.table.beats

    def sheet(self, who: str) -> Character | None:
        """Return the sheet of a seat as its character knows it, without changes that it did not perceive."""
        own = self.tables.get(who)
        return None if own is None else own.character(who)

    def system_message(self, who: str) -> str:
        """Return the prompt of a seat, with its memory at this moment."""
        return self._prompt(who).prompt

    # Play.

    def play(
        self,
        rounds: int | None = None,
        *,
        watch: Watch | None = None,
        hear: LiveHear | None = None,
        compact: bool = True,
        compact_every: int = EVERY_ROUNDS,
    ) -> int:
        """Play some rounds, or until the story is over. Return how many were played to their end.

        `watch` gets the events of each step once they are recorded, `hear` the words of models as they come.
        With `compact`, new events are compacted in the background, every few rounds.
        """
        self._watch, self._live.hear, self._paused = watch or _ignore, hear, False
        done = 0
        try:
            with self._compacting(compact_every if compact else 0), rare_garbage_collection():
                while (rounds is None or done < rounds) and not self.over and not self._paused:
                    self._begin_round()
                    self._round()
                    done += self.over or self.table.due() is None
        finally:
            self._note_unrecorded_usage()
        return done

    def record_usage(self, role: Role, model: str, usage: Usage) -> None:
        """Add usage of a model outside the steps, such as for summaries. Any thread may call this."""
        self._ledger.record_usage(role, model, usage)

    def _note_unrecorded_usage(self) -> None:
        """Record the usage after the last recorded step: it was paid for, too."""
        step = self._step(f"left at {self.campaign.head}")
        taken = self._ledger.notes(step)
        if taken:
            self._ledger.clear()
            self.campaign.record_many(taken)

    def _round(self) -> None:
        try:
            play_round(self)
        except BaseException:  # after any error the tables may hold events that were never recorded
            self.tables = fold_tables(self.campaign)
            raise

    def pause(self) -> None:
        """Stop after the current step. A signal handler may call this."""
        self._paused = True

    def stop_answer(self) -> bool:
        """Stop a model's answer that is coming: what came is told. Any thread may call this."""
        return self._live.stop_answer()

    def undo(self, who: str | None = None, *, before: int | None = None) -> TakenBack:
        """Take back the last round, or the last one in which `who` acted, and return it.

        Do not call this while a round is played: a player who wants it must pause the game first.
        """
        taken = take_back(self.campaign, who, before=before)
        self.refold()
        return taken

    def refold(self) -> None:
        """Fold everything from the log again, after it was taken back to an earlier event."""
        self.tables = fold_tables(self.campaign)
        self.prompts, self._number = {}, self.table.round
        self._seats.forget()
        self.budgets.forget()

    # Other tellings of the last turn. As with `undo`, no round may be in play.

    def tellings(self, *, seen_by: str = DM) -> list[Telling]:
        """Return all tellings of the last turn that `seen_by` perceived, the oldest first."""
        return self._retellings.list_all(seen_by)

    def retry(
        self,
        wish: str = "",
        *,
        who: str | None = None,
        seen_by: str = DM,
        watch: Watch | None = None,
        hear: LiveHear | None = None,
    ) -> Telling:
        """Have the last turn of a model told again, perhaps with a wish. Return the new telling.

        Without `who`, the last turn that a model told and `seen_by` perceived. What came after it is taken
        back, too. Raises `NothingToRetell`.
        """
        self._watch, self._live.hear = watch or self._watch, hear or self._live.hear
        return self._retellings.retry(wish, who, seen_by)

    def swipe(self, by: int = 1, *, seen_by: str = DM) -> Telling:
        """Put the next telling of the last turn in its place, or the one `by` steps on. Return it.

        After the last telling comes the first. Raises `NothingToRetell` if there is no other.
        """
        return self._retellings.swipe(by, seen_by)

    def edit(self, text: str, *, seen_by: str = DM) -> Telling:
        """Replace the text of the last turn that `seen_by` perceived. What the rules decided stays."""
        return self._retellings.edit(text, seen_by, names=find_mentions(self.table, text))

    def replay_turn(self, number: int, who: str, wish: str) -> None:
        """Play the turn of `who` in a round again, after it was taken back."""
        self._number, self._wish, self._paused = number, (who, wish), False
        try:
            due = self.due()
            if due is not None:
                play_step(self, due)
        except BaseException:  # as in a round: the tables may hold events that were never recorded
            self.tables = fold_tables(self.campaign)
            raise
        finally:
            self._wish = None
            self._note_unrecorded_usage()

    def tellers(self) -> list[str]:
        """Return who is played by a model: the DM, seats."""
        seats = [who for who in self.table.seats if getattr(self.cast.of(who), "retells", False)]
        return [*([DM] if getattr(self.cast.dm, "retells", False) else []), *seats]

    def _wish_of(self, who: str) -> str | None:
        return self._wish[1] if self._wish is not None and self._wish[0] == who else None

    def _begin_round(self) -> None:
        self._catch_up()
        table = self.table
        if table.ended or table.session_since < table.since:
            self.start_session()
        self._number = self._next_number()

    def _next_number(self) -> int:
        table = self.table
        return table.round if table.due() is not None and table.round else table.round + 1

    def _compacting(self, rounds: int) -> AbstractContextManager[Any]:
        if rounds < 1 or self.campaign.address is None:
            return nullcontext()
        return self.campaign.compacting(every=rounds * _EVENTS_A_SEAT * (self.note.seats + 1))

    def start_session(self) -> None:
        """Begin another session; end the current one first."""
        number = self.table.sessions + 1 + self.note.earlier_sessions
        if not self.table.ended:
            self.end_session()
        step = self._step(f"session {number}", session=f"s{number:02d}")
        step.add(EventType.SESSION_START, f"Session {number}.")
        self._commit(step)
        self._seats.begin_session(self.table)

    def end_session(self) -> None:
        """End the session. The next round begins another one."""
        step = self._step(f"end of {self.table.session}")
        step.add(EventType.SESSION_END, "The session ends.")
        self._commit(step)

    # The steps of a round.

    def due(self) -> Due | None:
        """Return the next step of the round; None if the round is over or the game is paused."""
        if self._paused or self.over:
            return None
        table = self.table
        return Due(DM_STEP, DM) if table.round < self._number else table.due()

    def context_manager(self) -> None:
        """Bring everybody's memory up to date, before the DM's turn."""
        self._seats.tend(self.table, {who: self.sheet(who) for who in self.table.living()}, self.cast.dm)

    def dm(self) -> None:
        """Play the DM's step. A model whose draft is refused leaves the step to the house DM."""
        try:
            self._run_world()
        except EventRefused as exc:
            if not self.cast.dm.has_tools:
                raise
            log.warning("%s", exc)
            self._run_world(refused=str(exc))

    def _run_world(self, refused: str = "") -> None:
        step = self._step(DM_STEP)
        self.cast.dm.run(self._screen(step, self._ledger, refused=refused))
        if self._is_left:
            self.tables = fold_tables(self.campaign)  # the step was drafted on them
            return
        referee.expire_conditions(step)
        self._commit(step)

    def _screen(self, step: Step, ledger: Ledger, *, refused: str = "") -> Screen:
        return Screen(
            step=step,
            module=self._seats.module,
            prompt=self._prompt(DM),
            rng=step.rng,
            seed=self.note.seed,
            look=self._look,
            ledger=ledger,
            refused=refused,
            live=self._live,
            wish=self._wish_of(DM),
        )

    def draft(self, run: Callable[[Screen], None]) -> None:
        """Let somebody draft the DM's next step, and throw it away. Nothing is recorded."""
        number, self._number = self._number, self._next_number()
        try:
            run(self._screen(self._step(DM_STEP), Ledger()))
        finally:
            self._number = number
            self.tables = fold_tables(self.campaign)

    def player(self, who: str) -> None:
        """Play a character's step: ask its player until an act is possible or its attempts are used up."""
        prompt, player, refused = self._prompt(who), self.cast.of(who), ""
        safe = [player.fallback_act] if isinstance(player, SafePlayer) else []
        for choose in chain(repeat(player.act, player.attempts), safe):
            step = self._step(who)
            turn = SeatTurn(
                who=who,
                table=self.tables[who],
                prompt=prompt,
                rng=step.rng,
                seed=self.note.seed,
                refused=refused,
                free=self.cast.dm.has_tools,
                ledger=self._ledger,
                live=self._live,
                wish=self._wish_of(who),
                people=self.cast.people,
            )
            try:
                act = choose(turn)
                if act is None or self._is_left:
                    self.pause()
                    return
                self._act(step, who, act)
            except (ActRefused, EventRefused) as exc:
                log.info("%s", exc)
                refused = getattr(exc, "reason", str(exc))
            else:
                return
        log.warning("%s does nothing this turn: %s", who, refused)
        self._act(self._step(who), who, Act())

    @property
    def _is_left(self) -> bool:
        """True if somebody stopped an answer to leave the game: the step is played when it resumes."""
        return self._paused and self._live.stop.is_set()

    def _act(self, step: Step, who: str, act: Act) -> None:
        referee.record_act(step, who, act)
        self._commit(step)

    def referee(self, who: str) -> None:
        """Roll the dice for a declared act, or play the turn of a group of foes."""
        if self.table.declared is not None:
            step = self._step(f"{REFEREE} {who}")
            referee.resolve_declared(step)
        else:
            step = self._step(who)
            referee.foes_act(step, who)
        self._commit(step)

    def march(self) -> None:
        """Move all characters who said where to go."""
        step = self._step(MARCH)
        referee.march(step)
        self._commit(step)

    # One step.

    def _step(self, name: str, *, session: str | None = None) -> Step:
        return Step(
            name,
            seed=self.note.seed,
            round_=self._number,
            session=session or self.table.session,
            tables=self.tables,
            rng=seeded_rng(self.note.seed, self._number, name),
            leads=self.cast.dm.leads,
            called=self.cast.dm.called,
        )

    def _commit(self, step: Step) -> None:
        taken = self._ledger.notes(step)
        try:
            stored = self.campaign.record_many([*step.events, *taken])
        except EventRefused:
            # The tables hold events that were never recorded.
            self.tables = fold_tables(self.campaign)
            raise
        if taken:
            self._ledger.clear()
            self._seats.budgets.forget()
        self._take_in_others(stored[0].seq or 0)
        self.table.at = stored[-1].seq or 0
        for gone in [who for who in self.tables if who != DM and who not in self.table.seats]:
            del self.tables[gone]
            self.prompts.pop(gone, None)
            self.campaign.drop_cache(gone)
        self._watch(stored)

    def _take_in_others(self, seq: int) -> None:
        """Take in events that others recorded in the meantime."""
        if seq > self.table.at + 1:
            with self.campaign.view(DM) as view:
                for event in view.until(seq - 1).events(after=self.table.at):
                    deliver_event(event, self.tables)

    def _catch_up(self) -> None:
        with self.campaign.view(DM) as view:
            for event in view.events(after=self.table.at):
                deliver_event(event, self.tables)

    def _prompt(self, who: str) -> Context:
        """Return the prompt of a model in this seat, within its limit by exact count."""
        if who == DM:
            context = self._seats.of_dm(self.table, tools=self.cast.dm.has_tools)
        else:
            context = self._seats.of_player(who, self.sheet(who))
        self.prompts[who] = context
        return context


def _ignore(_events: list[GameEvent]) -> None:
    """Ignore events: nobody watches."""
