"""NPCs that a model speaks for: each is asked from its own view and answers in its own words.

The prompt of an NPC holds its wishes and secrets (from the adventure's file, or from the DM who invented it)
and its own memory. It never holds what the NPC did not perceive.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from dndbots.events import GameEvent, audience
from dndbots.game.acts import Verb
from dndbots.game.adventures.module import Person
from dndbots.game.dm.inventions import CALLED, ROLE, WANTS, tell_npc_line
from dndbots.game.input.answer_filter import FilteredAnswer, filter_answer
from dndbots.game.ledger import Ledger
from dndbots.game.live_words import LiveAnswers
from dndbots.game.lookups import CampaignLookup
from dndbots.game.models.echoes import texts_told
from dndbots.game.models.first_person import turn_to_first_person
from dndbots.game.models.guards import GuardedAnswer, guard_npc
from dndbots.game.models.scene_text import clip_line, fit_text
from dndbots.game.state.game_notes import played_of
from dndbots.game.world.narration import Narration
from dndbots.ids import DM
from dndbots.llm.protocol import Question, Role, Voice
from dndbots.prompts import build_npc_prompt
from dndbots.text.labels import write_label

_BUDGET: Final = 900
_LONGEST_WORDS: Final = 600
_MOST_LINES: Final = 6
MOST_TOKENS: Final = 500
_LENGTHS: Final = (300, 150, 75, 40, 20)
_SAYS: Final = re.compile(
    r"([^\"\u201c\n:]{1,80}?)\b(?:says?|said|asks?|asked|replies|replied|answers|answered|mutters|whispers)"
    r"[^\"\u201c\n:]{0,40}[:,]\s*[\"\u201c]([^\"\u201c\u201d]+)[\"\u201d]?\s*$"
)
_TO_SOMEBODY: Final = (Verb.ASK, Verb.SAY, Verb.WHISPER)


class ModelNpcs:
    """The NPCs of one step, spoken for by one voice. Implements `dndbots.game.dm.tool_calls.NpcVoices`."""

    def __init__(
        self, voice: Voice, look: CampaignLookup, ledger: Ledger, live: LiveAnswers | None = None
    ) -> None:
        self._voice, self._look, self._ledger = voice, look, ledger
        self._live = live or LiveAnswers()

    def say(
        self, narration: Narration, place: str, npc: str, *, since: Sequence[GameEvent], wish: str = ""
    ) -> bool:
        """Ask an NPC for a line and tell it at the place. Return False if it has nothing to say.

        If the answer is empty, `wish` is told instead.
        """
        question = self.question(narration, npc, since=since, wish=wish)
        viewers = {DM, *narration.step.table.together(place)}

        def clean(begun: str) -> str:
            return self._guard(narration, place, npc, begun, question)[1].words

        with self._live.coming(npc, place=place, viewers=viewers, clean=clean) as hear:
            answer = self._voice.ask(replace(question, stop=self._live.stop), hear=hear)
        said, guarded = self._guard(narration, place, npc, answer.words, question)
        nothing = [] if guarded.words else ["no answer"]
        self._ledger.record_answer(Role.NPC, answer, faults=(*said.faults, *nothing), cuts=guarded.cuts)
        if not guarded.words and wish:
            self._ledger.record_fallback(Role.NPC, "the DM's gist was said instead")
        words = guarded.words or wish
        if words:
            tell_npc_line(narration, place, npc, words)
        return bool(words)

    def _guard(
        self, narration: Narration, place: str, npc: str, words: str, question: Question
    ) -> tuple[FilteredAnswer, GuardedAnswer]:
        table = narration.step.table
        own = self._own_names(narration, npc)
        others = [table.name(uid) for uid in narration.step.present(place) if uid != npc]
        said = filter_answer(words, own=[*own, "I"], others=others, names={}, longest=_LONGEST_WORDS)
        earlier = texts_told(table, hearers=(npc,), without=narration.step.untold)
        turned = turn_to_first_person(_drop_label(said.words, own), own)
        prompt = f"{question.system}\n{question.text}"
        return said, guard_npc(turned, earlier=earlier, others=others, prompt=prompt)

    def question(
        self, narration: Narration, npc: str, *, since: Sequence[GameEvent], wish: str = ""
    ) -> Question:
        """Return the question to an NPC. It holds only what the NPC is, or perceived."""
        name = self._own_names(narration, npc)[0]
        fresh = (event for event in narration.step.events if event.event_id not in narration.step.untold)
        heard = [event for event in (*since, *fresh) if npc in audience(event) and event.content]
        heard = heard[-_MOST_LINES:]
        beside = build_npc_prompt(name, describe_persona(narration, npc))
        told = [event.event_id for event in heard]
        system = self._look.npc_prompt(npc, beside, _BUDGET, told=told)
        lines = list(self._lines(npc, heard))

        def text(longest: int) -> str:
            just_now = "\n".join(f"- {clip_line(line, longest)}" for line in lines)
            parts = [
                f"JUST NOW:\n{just_now}" if lines else "",
                f"YOU WANT TO SAY: {clip_line(wish, longest)}" if wish else "",
                f"What do you, {name}, say to them now?",
            ]
            return "\n".join(filter(None, parts))

        return Question(role=Role.NPC, system=system, text=fit_text(text, _LENGTHS, most=MOST_TOKENS))

    def _lines(self, npc: str, events: Sequence[GameEvent]) -> Iterable[str]:
        """Yield events as lines, with the speakers' names as this NPC knows them."""
        people = {event.source for event in events if event.source not in (DM, npc)}
        names = self._look.called(npc, people) if people else {}
        for event in events:
            name = names.get(event.source)
            who = "You" if event.source == npc else "Somebody" if name is None else write_label(name)
            yield event.content if event.source == DM else f"{who}: {event.content}"

    @staticmethod
    def _own_names(narration: Narration, npc: str) -> list[str]:
        person = narration.world.person(npc)
        if person is not None:
            return [person.name, person.name.split(maxsplit=1)[0]]
        name = str(narration.step.table.fact(npc, CALLED) or narration.step.table.name(npc))
        return [name, name.split(maxsplit=1)[0]]


def _drop_label(words: str, own: Sequence[str]) -> str:
    """Return the quotation alone of `Pask, the clerk, says: "…"`: the screen shows who speaks."""
    found = _SAYS.match(words)
    return found[2] if found is not None and found[1].startswith(tuple(own)) else words


def describe_persona(narration: Narration, npc: str) -> list[str]:
    """Return lines on an NPC's looks, wishes and secrets, for its own prompt alone."""
    person, table = narration.world.person(npc), narration.step.table
    if person is not None:
        said = {"others see": person.seen_as, "you want": person.wants, "your secret": person.secret}
        said["you speak"] = f"in a {person.voice} way" if person.voice != "plain" else None
        said |= {"you are": person.role, **_own_words(person)}
    else:
        said = {"you are": table.fact(npc, ROLE), "you want": table.fact(npc, WANTS)}
    return [f"{key}: {value}" for key, value in said.items() if value]


_OF_LIFE: Final = {
    "self": "you say of yourself",
    "work": "of your work",
    "home": "of your home",
    "family": "of your family",
    "sells": "of what you sell",
    "past": "of your past",
    "mood": "of how you are",
}


def _own_words(person: Person) -> dict[str, str]:
    """Return what a person says of their life, each with what it is about; then their wares."""
    said = {_OF_LIFE.get(key, f"of {key.replace('_', ' ')}"): text for key, text in person.life.items()}
    wares = ", ".join(f"{ware} {price}" for ware, price in person.wares.items())
    return {**said, **({"your prices": wares} if wares else {})}


def npcs_spoken_to(narration: Narration, place: str, since: Sequence[GameEvent]) -> list[str]:
    """Return the NPCs at a place who were spoken to since the DM's last turn, in order."""
    here = {uid for uid in narration.step.present(place) if uid.startswith("npc_")}
    npcs: dict[str, None] = {}
    for event in since:
        note = played_of(event)
        act = None if note is None else note.act
        if act is not None and act.verb in _TO_SOMEBODY and act.target in here:
            npcs.setdefault(str(act.target))
    return list(npcs)
