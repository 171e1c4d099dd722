"""A model that runs the world beside the house: the adventure's file is played as ever, the model tells on.

Each scene is a question of its own, and what is answered is told in that scene alone. What the model calls
for is carried out by the engine or refused, once with the reason. If it has nothing to say, the house has
said enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from dndbots.errors import ActRefused, DndbotsError
from dndbots.events import GameEvent
from dndbots.game.agents import Screen
from dndbots.game.house.dm import HouseDM, is_made_up
from dndbots.game.house.places import asked_in, since_the_dm
from dndbots.game.house.telling import Telling
from dndbots.game.models.cleaning import cleaned
from dndbots.game.models.deeds import Deeds
from dndbots.game.models.forms import ASKING, TOOLS
from dndbots.game.models.lasting import answer_offers, stop_clocks
from dndbots.game.models.making import mentioned
from dndbots.game.models.npcs import MOST_SPOKEN, People, spoken_to
from dndbots.game.models.scenes import scene_text
from dndbots.game.pieces import Waiting
from dndbots.game.played import Clock
from dndbots.game.table import Table
from dndbots.llm.asking import Answer, Call, Question, Reply, Role, Voice
from dndbots.text.cleaning import one_line

_ROUNDS: Final = 3  # of calls, in a scene
_MOST_CALLS: Final = 8  # in an answer
_FIRST: Final = "introduce_npc"  # before the words that name them
_LONGEST_WORDS: Final = 2_000
_TOO_MANY: Final = f"This was not looked at: at most {_MOST_CALLS} calls at once."
_TOLD: Final = "Your words were told to them already; do not repeat them."


class ModelDM:
    """Runs any module with a model. `npcs` is the voice of its people, if they speak for themselves."""

    has_tools = True

    def __init__(self, voice: Voice, *, npcs: Voice | None = None, house: HouseDM | None = None) -> None:
        self._voice, self._npcs = voice, npcs
        self._house = house or HouseDM()

    def run(self, screen: Screen) -> None:
        """Drafts the DM's step: what the house makes of the adventure, then what the model tells of it."""
        screen = replace(screen, voiced=self._npcs is not None and screen.look is not None)
        table = screen.table
        since = since_the_dm(table, screen.step.round)
        waiting = list(table.waiting) or asked_in(since)
        (self._house.keep if is_made_up(screen) else self._house.run)(screen)
        if screen.refused:
            screen.ledger.fault(Role.DM, f"the house alone: {screen.refused}")
        else:
            _Asked(self, screen, self._house.telling(screen), since, waiting).tell()
        if not screen.step.events:
            self._house.telling(screen).secretly("Time passes.", beats=())

    def leads(self, table: Table, place: str, way: str) -> str | None:
        return self._house.leads(table, place, way)

    def called(self, table: Table, place: str) -> str:
        return self._house.called(table, place)

    def telling(self, screen: Screen) -> Telling:
        return self._house.telling(screen)

    def ask(self, question: Question) -> Answer:
        return self._voice.ask(question)

    def people(self, screen: Screen) -> People | None:
        if self._npcs is None or screen.look is None:
            return None
        return People(self._npcs, screen.look, screen.ledger)


class _Asked:
    """One step in which a model is asked, scene by scene."""

    def __init__(
        self,
        dm: ModelDM,
        screen: Screen,
        telling: Telling,
        since: Sequence[GameEvent],
        waiting: Sequence[Waiting],
    ) -> None:
        self._dm, self._screen, self._telling = dm, screen, telling
        self._since, self._waiting = since, waiting
        self._people = dm.people(screen)

    def tell(self) -> None:
        telling, table = self._telling, self._telling.step.table
        answer_offers(telling, self._waiting)
        due = stop_clocks(telling)
        for place in list(table.scenes()):
            if any(map(table.can_act, table.together(place))):
                self._scene(place, due)

    def _scene(self, place: str, due: Sequence[Clock]) -> None:
        telling = self._telling
        look = self._screen.look
        deeds = Deeds(telling, place, look=look, people=self._people, since=self._since)
        if self._people is not None and place not in telling.step.table.fights:
            for npc in spoken_to(telling, place, self._since)[:MOST_SPOKEN]:
                deeds.spoken += self._people.say(telling, place, npc, since=self._since)
        question = Question(
            role=Role.DM,
            system=self._screen.prompt.prompt,
            text=scene_text(telling, place, since=self._since, told=telling.step.events, due=due),
            tools=TOOLS,
        )
        self._converse(deeds, question)

    def _converse(self, deeds: Deeds, question: Question) -> None:
        """Asks until nothing is left to be answered, a few times at most."""
        refusals = 0
        for number in range(1, _ROUNDS + 1):
            answer = self._dm.ask(question)
            asks = [n for n, call in enumerate(answer.calls) if call.tool in ASKING]
            words = self._words(answer, told=not asks or number == _ROUNDS)
            results, refused = self._carried_out(deeds, answer, words)
            asking = any(n in results and n not in refused for n in asks)
            amiss = bool(refused or answer.failed)
            if amiss and refusals:
                self._screen.ledger.fault(Role.DM, "a call that was refused twice, and dropped")
            if not (asking or (amiss and not refusals)):
                return
            refusals += amiss
            said = " ".join((*(f"{one.rstrip('.')}." for one in answer.failed), *([_TOLD] if words else [])))
            reply = Reply(answer=answer, results=results, text=said)
            question = replace(question, so_far=(*question.so_far, reply))

    def _words(self, answer: Answer, *, told: bool) -> str:
        """The narration in an answer. What is said beside a question is thinking aloud."""
        table = self._telling.step.table
        said = cleaned(
            answer.words,
            own=("dm",),
            others=[table.name(uid) for uid in table.living()],
            names=table.names,
            longest=_LONGEST_WORDS,
        )
        extra = [] if said.words or answer.calls else ["no answer"]
        if len(answer.calls) > _MOST_CALLS:
            extra.append(f"{len(answer.calls)} calls at once; {_MOST_CALLS} were looked at")
        self._screen.ledger.asked(Role.DM, answer, faults=(*said.faults, *extra))
        return said.words if told else ""

    def _carried_out(self, deeds: Deeds, answer: Answer, words: str) -> tuple[dict[int, str], set[int]]:
        """What came of each call, by its place, and which were refused. Words are told among them."""
        results: dict[int, str] = {}
        refused: set[int] = set()
        told = not words
        for number, call in _in_order(answer.calls[:_MOST_CALLS]):
            if not told and call.tool != _FIRST:
                self._narrate(deeds.place, words)
                told = True
            try:
                results[number] = deeds.do(call.form)
            except (ActRefused, ValidationError) as exc:
                refused.add(number)
                results[number] = f"That cannot be: {_reason(exc)}"
                self._screen.ledger.fault(Role.DM, f"{call.tool}: {_reason(exc)}")
        if not told:
            self._narrate(deeds.place, words)
        return results | dict.fromkeys(range(_MOST_CALLS, len(answer.calls)), _TOO_MANY), refused

    def _narrate(self, place: str, words: str) -> None:
        telling = self._telling
        telling.tell(place, words, names=mentioned(telling.step.table, words))


def _in_order(calls: Sequence[Call]) -> Iterator[tuple[int, Call]]:
    """Those first who have to be there before the words name them."""
    numbered = list(enumerate(calls))
    yield from sorted(numbered, key=lambda one: one[1].tool != _FIRST)


def _reason(exc: Exception) -> str:
    if isinstance(exc, ValidationError):
        return one_line(str(exc.errors()[0]["msg"]))
    return one_line(str(getattr(exc, "reason", exc)) if isinstance(exc, DndbotsError) else str(exc))
