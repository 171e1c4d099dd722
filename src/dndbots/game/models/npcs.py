"""People who speak for themselves: each is asked from its own view, and answers in its own words.

What is that person's own stands beside its memory: what it wants and hides, by the adventure's file or by
the DM who brought it in. What others know of it, and what happens elsewhere, it does not know.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from dndbots.events import EventType, GameEvent, audience
from dndbots.game.acts import Verb
from dndbots.game.house.talking import speak
from dndbots.game.house.telling import Telling
from dndbots.game.ledger import Ledger
from dndbots.game.looking import Looking
from dndbots.game.models.cleaning import cleaned
from dndbots.game.models.fitting import cut, fitted
from dndbots.game.models.making import CALLED, ROLE, WANTS, called_here, mentioned
from dndbots.game.played import played_of
from dndbots.ids import DM
from dndbots.llm.asking import Question, Role, Voice
from dndbots.prompts import build_npc_prompt
from dndbots.text.labels import write_label

MOST_SPOKEN: Final = 2  # in a scene, in a round
_BUDGET: Final = 900
_LONGEST_WORDS: Final = 600
_MOST_LINES: Final = 6
MOST_TOKENS: Final = 500
_LENGTHS: Final = (300, 150, 75, 40, 20)
_TO_SOMEBODY: Final = (Verb.ASK, Verb.SAY, Verb.WHISPER)


class People:
    """The people of one step, as far as a voice speaks for them."""

    def __init__(self, voice: Voice, look: Looking, ledger: Ledger) -> None:
        self._voice, self._look, self._ledger = voice, look, ledger

    def say(
        self, telling: Telling, place: str, npc: str, *, since: Sequence[GameEvent], wish: str = ""
    ) -> bool:
        """Has somebody say something to all who are there; whether there was anything to say."""
        question = self.question(telling, npc, since=since, wish=wish)
        answer = self._voice.ask(question)
        own = [*self._own_names(telling, npc), "I"]
        table = telling.step.table
        said = cleaned(
            answer.words,
            own=own,
            others=[table.name(uid) for uid in telling.step.present(place) if uid != npc],
            names={},
            longest=_LONGEST_WORDS,
        )
        nothing = [] if said.words else ["no answer"]
        self._ledger.asked(Role.NPC, answer, faults=(*said.faults, *nothing))
        words = said.words or wish
        if words:
            spoken_by(telling, place, npc, words)
        return bool(words)

    def question(self, telling: Telling, npc: str, *, since: Sequence[GameEvent], wish: str = "") -> Question:
        """What somebody is asked. All of it is its own, or was perceived by it."""
        name = self._own_names(telling, npc)[0]
        system = self._look.mind(npc, build_npc_prompt(name, persona(telling, npc)), _BUDGET)
        heard = [
            event for event in (*since, *telling.step.events) if npc in audience(event) and event.content
        ]
        lines = list(self._lines(npc, heard[-_MOST_LINES:]))

        def text(longest: int) -> str:
            just_now = "\n".join(f"- {cut(line, longest)}" for line in lines)
            parts = [
                f"JUST NOW:\n{just_now}" if lines else "",
                f"YOU WANT TO SAY: {cut(wish, longest)}" if wish else "",
                f"What do you, {name}, say to them now?",
            ]
            return "\n".join(filter(None, parts))

        return Question(role=Role.NPC, system=system, text=fitted(text, _LENGTHS, most=MOST_TOKENS))

    def _lines(self, npc: str, events: Sequence[GameEvent]) -> Iterable[str]:
        """What was told; and what was said, by whom, as this person calls them."""
        people = {event.source for event in events if event.source not in (DM, npc)}
        names = self._look.called(npc, people) if people else {}
        for event in events:
            name = names.get(event.source)
            who = "You" if event.source == npc else "Somebody" if name is None else write_label(name)
            yield event.content if event.source == DM else f"{who}: {event.content}"

    @staticmethod
    def _own_names(telling: Telling, npc: str) -> list[str]:
        person = telling.world.person(npc)
        if person is not None:
            return [person.name, person.name.split(maxsplit=1)[0]]
        name = str(telling.step.table.fact(npc, CALLED) or telling.step.table.name(npc))
        return [name, name.split(maxsplit=1)[0]]


def persona(telling: Telling, npc: str) -> list[str]:
    """What somebody is and wants, for itself alone."""
    person, table = telling.world.person(npc), telling.step.table
    if person is not None:
        said = {"others see": person.seen_as, "you want": person.wants, "your secret": person.secret}
        said["you speak"] = f"in a {person.voice} way" if person.voice != "plain" else None
    else:
        said = {"you are": table.fact(npc, ROLE), "you want": table.fact(npc, WANTS)}
    return [f"{key}: {value}" for key, value in said.items() if value]


def spoken_by(telling: Telling, place: str, npc: str, words: str) -> None:
    """Somebody says something, to all who are there. Who was not met before gives a name first."""
    person, table = telling.world.person(npc), telling.step.table
    if person is not None:
        speak(telling, place, person, words, names=mentioned(table, words))
        return
    telling.tell(
        place,
        words,
        kind=EventType.DIALOGUE,
        source=npc,
        participants=table.together(place),
        witnesses=telling.step.present(place),
        names={npc: called_here(telling, npc, place), **mentioned(table, words)},
    )


def spoken_to(telling: Telling, place: str, since: Sequence[GameEvent]) -> list[str]:
    """The people at a place to whom somebody spoke since the DM's last turn, in order."""
    here = {uid for uid in telling.step.present(place) if uid.startswith("npc_")}
    found: dict[str, None] = {}
    for event in since:
        note = played_of(event)
        act = None if note is None else note.act
        if act is not None and act.verb in _TO_SOMEBODY and act.target in here:
            found.setdefault(str(act.target))
    return list(found)
