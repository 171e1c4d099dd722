"""A game at a campaign: who sits where, and the steps of its rounds. The log is all that it needs to go on.

Each step is drafted against the tables and recorded in one transaction. Tables are folds of the log: a game
that was killed anywhere folds them again, and goes on with the same chance.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, Final, Self

from dndbots.campaign import Campaign
from dndbots.errors import ActRefused, EventRefused, GameExists, NoGame, StoryExists
from dndbots.events import EventType, GameEvent
from dndbots.game import graph, referee
from dndbots.game.acts import Act
from dndbots.game.agents import Cast, SafePlayer, Screen, Turn
from dndbots.game.budgets import Budgets
from dndbots.game.chance import chance
from dndbots.game.collecting import collected_rarely
from dndbots.game.ledger import Ledger
from dndbots.game.looking import Looking
from dndbots.game.played import DM_STEP, MARCH, REFEREE, GameNote
from dndbots.game.seating import ENDLESS, cast_of, module_of, seated, sit_down
from dndbots.game.steps import Step
from dndbots.game.table import Due, Table, told
from dndbots.game.undoing import TakenBack, take_back
from dndbots.ids import DM
from dndbots.llm.asking import Role, Usage
from dndbots.memory.context import Context
from dndbots.models import Character
from dndbots.prompts import build_dm_prompt, build_player_prompt

log = logging.getLogger("dndbots.game")

Watch = Callable[[list[GameEvent]], None]

BUDGET: Final = 2_000
SEATS: Final = 4
# Compaction is asked for every so many rounds.
EVERY_ROUNDS: Final = 5
_EVENTS_A_SEAT: Final = 2


class Game:
    """A game that is played. `Game.begin` and `Game.resume` make one.

    `cast` says who plays; without one, those whom the game was begun with.
    """

    def __init__(
        self, campaign: Campaign, note: GameNote, tables: dict[str, Table], *, cast: Cast | None = None
    ) -> None:
        self.campaign, self.note, self.tables = campaign, note, tables
        self.prompts: dict[str, Context] = {}
        self.cast = cast or cast_of(note)
        self.budgets = Budgets(campaign, note)
        self._ledger, self._look = Ledger(self.cast.cost), Looking(campaign)
        self._tended: tuple[str, ...] = ()
        self._number = self.table.round
        self._paused = False
        self._watch: Watch = _nobody
        self._graph = graph.graph_of(self)
        self._module = lru_cache(maxsize=4)(lambda number: module_of(note, number))

    # Beginning and going on.

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
        """Begins a game: the party takes its seats where the adventure starts.

        `StoryExists`, if the campaign tells a story already that was not played, such as an imported one.
        """
        earlier = _folded(campaign)[DM].game
        if earlier is not None:
            raise GameExists(campaign.address or "this campaign", module=earlier.module)
        if _has_story(campaign):
            raise StoryExists(campaign.address or "this campaign")
        party = seated(characters, seats=seats, seed=seed)
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
        opening = sit_down(note, party)
        cast = cast or cast_of(note)
        campaign.record_many(opening)
        return cls(campaign, note, _folded(campaign), cast=cast)

    @classmethod
    def resume(
        cls,
        campaign: Campaign,
        *,
        progress: Callable[[int, int], None] | None = None,
        cast: Cast | None = None,
        casting: Callable[[GameNote], Cast] | None = None,
    ) -> Self:
        """Goes on with the game of a campaign, from its log alone.

        `casting` says who plays, by how it was begun, where that is not known beforehand.
        """
        tables = _folded(campaign, progress)
        note = tables[DM].game
        if note is None:
            raise NoGame(campaign.address or "this campaign")
        return cls(campaign, note, tables, cast=cast if casting is None else casting(note))

    # What there is to see.

    @property
    def table(self) -> Table:
        """The DM's table, with everything on it."""
        return self.tables[DM]

    @property
    def round(self) -> int:
        return self.table.round

    @property
    def over(self) -> bool:
        """Whether the story has come to its end."""
        return "over" in self.table.beats

    def sheet(self, who: str) -> Character | None:
        """The sheet of a seat, as its character knows it: what happened to it unseen is not on it."""
        own = self.tables.get(who)
        return None if own is None else own.character(who)

    def system_message(self, who: str) -> str:
        """The prompt of a seat, with its memory of this moment."""
        return self._prompt(who).prompt

    # Playing.

    def play(self, rounds: int | None = None, *, watch: Watch | None = None, compact: bool = True) -> int:
        """Plays so many rounds, or until the story is over; says how many were played to their end.

        `watch` is told of each step once it is recorded. `compact` reads in the background what was said.
        """
        self._watch, self._paused = watch or _nobody, False
        done = 0
        try:
            with self._compacting(wanted=compact), collected_rarely():
                while (rounds is None or done < rounds) and not self.over and not self._paused:
                    self._begin_round()
                    self._round()
                    done += self.over or self.table.due() is None
        finally:
            self._note_what_is_left()
        return done

    def took(self, role: Role, model: str, usage: Usage) -> None:
        """What a model took beside the steps: for summaries, or to read facts. Any thread may say so."""
        self._ledger.took(role, model, usage)

    def _note_what_is_left(self) -> None:
        """What was taken after the last step that was recorded was paid for, too."""
        step = self._step(f"left at {self.campaign.head}")
        taken = self._ledger.notes(step)
        if taken:
            self._ledger.clear()
            self.campaign.record_many(taken)

    def _round(self) -> None:
        try:
            self._graph.invoke(
                graph.Cursor(round=self._number, who=""), {"recursion_limit": graph.MOST_STEPS}
            )
        except BaseException:  # whatever it was, the tables may have taken in what never came to be
            self.tables = _folded(self.campaign)
            raise

    def pause(self) -> None:
        """Stops after the step under way. It may be called from a signal's handler."""
        self._paused = True

    def undo(self, who: str | None = None, *, before: int | None = None) -> TakenBack:
        """Takes the last round back, or the last one in which somebody acted; says which it was.

        It is not for while a round is played: a player who wants it has the game wait first.
        """
        taken = take_back(self.campaign, who, before=before)
        self.tables = _folded(self.campaign)
        self.prompts, self._tended, self._number = {}, (), self.table.round
        return taken

    def _begin_round(self) -> None:
        self._catch_up()
        table = self.table
        if table.ended or table.session_since < table.since:
            self.start_session()
        self._number = table.round if table.due() is not None and table.round else table.round + 1

    def _compacting(self, *, wanted: bool) -> AbstractContextManager[Any]:
        if not wanted or self.campaign.address is None:
            return nullcontext()
        return self.campaign.compacting(every=EVERY_ROUNDS * _EVENTS_A_SEAT * (self.note.seats + 1))

    def start_session(self) -> None:
        """Begins another session."""
        number = self.table.sessions + 1
        if not self.table.ended:
            self.end_session()
        step = self._step(f"session {number}", session=f"s{number:02d}")
        step.add(EventType.SESSION_START, f"Session {number}.")
        self._commit(step)

    def end_session(self) -> None:
        """Ends the session. The next time somebody plays, another begins."""
        step = self._step(f"end of {self.table.session}")
        step.add(EventType.SESSION_END, "The session ends.")
        self._commit(step)

    # The nodes of the turn graph.

    def due(self) -> Due | None:
        if self._paused or self.over:
            return None
        table = self.table
        return Due(DM_STEP, DM) if table.round < self._number else table.due()

    def context_manager(self) -> None:
        """Everybody's memory in order, before the DM's turn."""
        agents = (DM, *self.table.living())
        if agents != self._tended:
            self._tending, self._tended = self.campaign.tending(agents), agents
        self._tending.tend()

    def dm(self) -> None:
        try:
            self._run_world()
        except EventRefused as exc:
            if not self.cast.dm.has_tools:
                raise
            log.warning("%s", exc)
            self._run_world(refused=str(exc))

    def _run_world(self, refused: str = "") -> None:
        step = self._step(DM_STEP)
        screen = Screen(
            step=step,
            module=self._module,
            prompt=self._prompt(DM),
            rng=step.rng,
            seed=self.note.seed,
            look=self._look,
            ledger=self._ledger,
            refused=refused,
        )
        self.cast.dm.run(screen)
        referee.time_passes(step)
        self._commit(step)

    def player(self, who: str) -> None:
        prompt, player, refused = self._prompt(who), self.cast.of(who), ""
        safe = [player.otherwise] if isinstance(player, SafePlayer) else []
        for choose in chain(repeat(player.act, player.attempts), safe):
            step = self._step(who)
            turn = Turn(
                who=who,
                table=self.tables[who],
                prompt=prompt,
                rng=step.rng,
                seed=self.note.seed,
                refused=refused,
                ledger=self._ledger,
            )
            try:
                act = choose(turn)
                if act is None:
                    self.pause()
                    return
                self._act(step, who, act)
            except (ActRefused, EventRefused) as exc:
                log.info("%s", exc)
                refused = getattr(exc, "reason", str(exc))
            else:
                return
        log.warning("the turn of %s passes: %s", who, refused)
        self._act(self._step(who), who, Act())

    def _act(self, step: Step, who: str, act: Act) -> None:
        referee.player_acts(step, who, act)
        self._commit(step)

    def referee(self, who: str) -> None:
        """The dice: on what was declared, or for a group of foes."""
        if self.table.declared is not None:
            step = self._step(f"{REFEREE} {who}")
            referee.decide(step)
        else:
            step = self._step(who)
            referee.foes_act(step, who)
        self._commit(step)

    def march(self) -> None:
        step = self._step(MARCH)
        referee.march(step)
        self._commit(step)

    # How a step is made.

    def _step(self, name: str, *, session: str | None = None) -> Step:
        return Step(
            name,
            seed=self.note.seed,
            round_=self._number,
            session=session or self.table.session,
            tables=self.tables,
            rng=chance(self.note.seed, self._number, name),
            leads=self.cast.dm.leads,
            called=self.cast.dm.called,
        )

    def _commit(self, step: Step) -> None:
        taken = self._ledger.notes(step)
        try:
            stored = self.campaign.record_many([*step.events, *taken])
        except EventRefused:
            # The tables have taken in what never came to be.
            self.tables = _folded(self.campaign)
            raise
        if taken:
            self._ledger.clear()
            self.budgets.forget()
        self._between(stored[0].seq or 0)
        self.table.at = stored[-1].seq or 0
        for gone in [who for who in self.tables if who != DM and who not in self.table.seats]:
            del self.tables[gone]
            self.prompts.pop(gone, None)
            self.campaign.let_go(gone)
        self._watch(stored)

    def _between(self, seq: int) -> None:
        """What others recorded meanwhile is taken in too, if late."""
        if seq > self.table.at + 1:
            with self.campaign.view(DM) as view:
                for event in view.until(seq - 1).events(after=self.table.at):
                    told(event, self.tables)

    def _catch_up(self) -> None:
        with self.campaign.view(DM) as view:
            for event in view.events(after=self.table.at):
                told(event, self.tables)

    def _prompt(self, who: str) -> Context:
        """What a model in this seat is given: all of it within the limit, by exact count."""
        table = self.table
        if who == DM:
            party = [sheet for uid in table.living() if (sheet := table.character(uid)) is not None]
            scenario = self.note.scenario or self.note.module
            beside = build_dm_prompt(scenario, party, tools=self.cast.dm.has_tools)
        else:
            sheet = self.sheet(who)
            beside = build_player_prompt(sheet) if sheet is not None else ""
        budget, encoding = self.budgets.of(who, beside)
        found = self.campaign.context(who, budget, beside=beside, encoding=encoding)
        self.prompts[who] = found
        return found


def _nobody(_events: list[GameEvent]) -> None:
    """Nobody watches."""


def _has_story(campaign: Campaign) -> bool:
    """Whether anything happened in a campaign. Who was only introduced is no story yet."""
    with campaign.view(DM) as view:
        return any(not event.is_note and event.event_type is not EventType.SYSTEM for event in view.events())


def _folded(campaign: Campaign, progress: Callable[[int, int], None] | None = None) -> dict[str, Table]:
    """Everybody's table, from the log."""
    tables: dict[str, Table] = {DM: Table()}
    with campaign.view(DM) as view:
        head = view.head
        for event in view.events():
            told(event, tables)
            if progress is not None and event.seq is not None:
                progress(event.seq, head)
    tables[DM].at = head
    seats = tables[DM].seats
    return {who: table for who, table in tables.items() if who == DM or who in seats}
