"""A model as DM: the house DM runs the adventure's file, and the model narrates and calls tools on top.

Each scene is a question of its own, and the answer is told in that scene alone. The engine carries out tool
calls or refuses them; a refusal goes back to the model once, with the reason. If the model says nothing, the
house DM's narration stands alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from dndbots.errors import ActRefused, DndbotsError
from dndbots.events import GameEvent
from dndbots.game.dm.inventions import answer_offers, find_mentions, stop_due_clocks
from dndbots.game.dm.tool_calls import MOST_SPOKEN, ToolCalls
from dndbots.game.dm.tools import ASKING, TOOLS
from dndbots.game.input.answer_filter import filter_answer
from dndbots.game.models.model_npcs import ModelNpcs, npcs_spoken_to
from dndbots.game.models.scene_text import render_dm_scene
from dndbots.game.state.game_notes import Clock
from dndbots.game.state.pieces import PendingAct
from dndbots.game.state.table import Table
from dndbots.game.world.house_dm import HouseDM, is_open_game
from dndbots.game.world.narration import Narration, Screen
from dndbots.game.world.places import events_since_dm, find_waiting_acts
from dndbots.llm.protocol import Answer, Call, Question, Reply, Role, Voice
from dndbots.text.clean import one_line

_ROUNDS: Final = 3  # questions in a scene
_MOST_CALLS: Final = 8  # tool calls in an answer
_FIRST: Final = "introduce_npc"  # runs before the words that name the NPC
_LONGEST_WORDS: Final = 2_000
_TOO_MANY: Final = f"This was not looked at: at most {_MOST_CALLS} calls at once."
_TOLD: Final = "Your words were told to them already; do not repeat them."


class ModelDM:
    """A DM that runs any module with a model. With `npcs`, that voice speaks for the NPCs."""

    has_tools = True

    def __init__(self, voice: Voice, *, npcs: Voice | None = None, house: HouseDM | None = None) -> None:
        self._voice, self._npcs = voice, npcs
        self._house = house or HouseDM()

    def run(self, screen: Screen) -> None:
        """Draft the DM's step: first the house DM's answers, then the model's narration."""
        screen = replace(screen, voiced=self._npcs is not None and screen.look is not None)
        table = screen.table
        since = events_since_dm(table, screen.step.round)
        waiting = list(table.waiting) or find_waiting_acts(since)
        (self._house.keep if is_open_game(screen) else self._house.run)(screen)
        if screen.refused:
            screen.ledger.record_fault(Role.DM, f"only the house DM told this step: {screen.refused}")
        else:
            _ModelStep(self, screen, self._house.narration_for(screen), since, waiting).tell()
        if not screen.step.events:
            self._house.narration_for(screen).tell_dm("Time passes.", beats=())

    def leads(self, table: Table, place: str, way: str) -> str | None:
        return self._house.leads(table, place, way)

    def called(self, table: Table, place: str) -> str:
        return self._house.called(table, place)

    def narration_for(self, screen: Screen) -> Narration:
        return self._house.narration_for(screen)

    def ask(self, question: Question) -> Answer:
        return self._voice.ask(question)

    def people(self, screen: Screen) -> ModelNpcs | None:
        if self._npcs is None or screen.look is None:
            return None
        return ModelNpcs(self._npcs, screen.look, screen.ledger)


class _ModelStep:
    """The step of a model, asked scene by scene."""

    def __init__(
        self,
        dm: ModelDM,
        screen: Screen,
        narration: Narration,
        since: Sequence[GameEvent],
        waiting: Sequence[PendingAct],
    ) -> None:
        self._dm, self._screen, self._narration = dm, screen, narration
        self._since, self._waiting = since, waiting
        self._people = dm.people(screen)

    def tell(self) -> None:
        narration, table = self._narration, self._narration.step.table
        answer_offers(narration, self._waiting)
        due = stop_due_clocks(narration)
        for place in list(table.scenes()):
            if any(map(table.can_act, table.together(place))):
                self._scene(place, due)

    def _scene(self, place: str, due: Sequence[Clock]) -> None:
        narration = self._narration
        look = self._screen.look
        calls = ToolCalls(narration, place, look=look, people=self._people, since=self._since)
        if self._people is not None and place not in narration.step.table.fights:
            for npc in npcs_spoken_to(narration, place, self._since)[:MOST_SPOKEN]:
                calls.spoken += self._people.say(narration, place, npc, since=self._since)
        question = Question(
            role=Role.DM,
            system=self._screen.prompt.prompt,
            text=render_dm_scene(narration, place, since=self._since, told=narration.step.events, due=due),
            tools=TOOLS,
        )
        self._converse(calls, question)

    def _converse(self, calls: ToolCalls, question: Question) -> None:
        """Ask the model until no call waits for a result, a few times at most."""
        refusals = 0
        for number in range(1, _ROUNDS + 1):
            answer = self._dm.ask(question)
            asks = [n for n, call in enumerate(answer.calls) if call.tool in ASKING]
            words = self._words(answer, told=not asks or number == _ROUNDS)
            results, refused = self._carry_out(calls, answer, words)
            asking = any(n in results and n not in refused for n in asks)
            amiss = bool(refused or answer.failed)
            if amiss and refusals:
                self._screen.ledger.record_fault(Role.DM, "dropped a call that was refused twice")
            if not (asking or (amiss and not refusals)):
                return
            refusals += amiss
            said = " ".join((*(f"{one.rstrip('.')}." for one in answer.failed), *([_TOLD] if words else [])))
            reply = Reply(answer=answer, results=results, text=said)
            question = replace(question, so_far=(*question.so_far, reply))

    def _words(self, answer: Answer, *, told: bool) -> str:
        """Return the narration in an answer. Words beside a lookup are not told: the model thinks aloud."""
        table = self._narration.step.table
        said = filter_answer(
            answer.words,
            own=("dm",),
            others=[table.name(uid) for uid in table.living()],
            names=table.names,
            longest=_LONGEST_WORDS,
        )
        extra = [] if said.words or answer.calls else ["no answer"]
        if len(answer.calls) > _MOST_CALLS:
            extra.append(f"{len(answer.calls)} calls at once; only {_MOST_CALLS} were used")
        self._screen.ledger.record_answer(Role.DM, answer, faults=(*said.faults, *extra))
        return said.words if told else ""

    def _carry_out(self, calls: ToolCalls, answer: Answer, words: str) -> tuple[dict[int, str], set[int]]:
        """Return the result of each call by its position, and the positions that were refused.

        The words are told after NPCs are introduced and before all other calls.
        """
        results: dict[int, str] = {}
        refused: set[int] = set()
        told = not words
        for number, call in _in_order(answer.calls[:_MOST_CALLS]):
            if not told and call.tool != _FIRST:
                self._narrate(calls.place, words)
                told = True
            try:
                results[number] = calls.do(call.form)
            except (ActRefused, ValidationError) as exc:
                refused.add(number)
                results[number] = f"Not possible: {_reason(exc)}"
                self._screen.ledger.record_fault(Role.DM, f"{call.tool}: {_reason(exc)}")
        if not told:
            self._narrate(calls.place, words)
        return results | dict.fromkeys(range(_MOST_CALLS, len(answer.calls)), _TOO_MANY), refused

    def _narrate(self, place: str, words: str) -> None:
        narration = self._narration
        narration.tell(place, words, names=find_mentions(narration.step.table, words))


def _in_order(calls: Sequence[Call]) -> Iterator[tuple[int, Call]]:
    """Yield calls with their positions, those that introduce NPCs first."""
    numbered = list(enumerate(calls))
    yield from sorted(numbered, key=lambda pair: pair[1].tool != _FIRST)


def _reason(exc: Exception) -> str:
    if isinstance(exc, ValidationError):
        return one_line(str(exc.errors()[0]["msg"]))
    return one_line(str(getattr(exc, "reason", exc)) if isinstance(exc, DndbotsError) else str(exc))
