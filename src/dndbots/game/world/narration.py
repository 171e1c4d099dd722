"""The DM's narration: drafts events into a step, with the names they teach and the sights they change.

Callers say what happens. The narration makes time pass once per step, gives every name in a text to its
hearers, and keeps what they see up to date.
"""

import random
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.events import EventType, GameEvent
from dndbots.game.adventures.module import Module, ModuleFact, Person, Place
from dndbots.game.ledger import Ledger
from dndbots.game.live_words import LiveAnswers
from dndbots.game.phrases import Phrasebook
from dndbots.game.referee.sightings import foes_at_facts, left_fact
from dndbots.game.state.scene_tags import BEGINNING, light_hours, time_of_day
from dndbots.game.state.step import Step
from dndbots.game.state.table import Table
from dndbots.game.world.world_state import World, beat
from dndbots.ids import DM
from dndbots.text.sentences import split_sentences

if TYPE_CHECKING:
    from dndbots.game.lookups import CampaignLookup
    from dndbots.memory.context import Context

_LONGEST_GIST: Final = 240
_QUIET_MINUTES: Final = 10
_FIGHTING_MINUTES: Final = 1
_ARTICLES: Final = ("a ", "an ", "the ", "some ")
_Stated = dict[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The DM's turn: everything that happened, the adventure, and a step to put answers into.

    `look` looks things up in the campaign. `refused` says why the first draft of this step was rejected. With
    `voiced`, people answer for themselves where the adventure has no answer for them. Words are heard by
    `live` as they come. A step that is told again has a `wish`, which may be empty.
    """

    step: Step
    module: Callable[[int], Module | None]
    prompt: "Context"
    rng: random.Random
    seed: int
    look: "CampaignLookup | None" = None
    ledger: Ledger = field(default_factory=Ledger)
    refused: str = ""
    voiced: bool = False
    live: LiveAnswers = field(default_factory=LiveAnswers)
    wish: str | None = None

    @property
    def table(self) -> Table:
        return self.step.table


class Narration:
    """A DM step in the making."""

    def __init__(self, screen: Screen, world: World, book: Phrasebook, *, minutes: int | None = None) -> None:
        self.screen, self.world, self.book = screen, world, book
        self.step, self.rng, self.atlas = screen.step, screen.rng, world.atlas
        self._setting: frozenset[str] = frozenset()
        scenes = self.step.table.scenes()
        fighting = bool(scenes) and all(place in self.step.table.fights for place in scenes)
        # Time passes once per step.
        self._minutes = (_FIGHTING_MINUTES if fighting else _QUIET_MINUTES) if minutes is None else minutes

    # Words.

    def phrase(self, rule: str, **slots: str) -> str:
        """Return a text of a phrase rule that fits the scene. The alternatives of a rule take turns."""
        text, used = self.book.say_next(
            rule,
            seed=f"{self.screen.seed}/dm",
            used=self.step.table.phrases + self.step.used,
            setting=self._setting,
            **slots,
        )
        self.step.used[used] += 1
        return text

    def enter(self, place: str | None) -> None:
        """Let the next phrases fit a place."""
        here = self.world.place(place)
        tags = () if here is None else self.world.setting(here)
        self._setting = (
            frozenset((*tags, time_of_day(self.step.table.minutes, tags))) if tags else frozenset()
        )

    def pick_text(self, texts: Sequence[str], *, most: int | None = None) -> str:
        """Return the authored text that was told least; "" if all were told `most` times."""
        used = self.step.table.phrases + self.step.used
        text = min(texts, key=lambda text: used[_text_id(text)])
        if most is not None and used[_text_id(text)] >= most:
            return ""
        self.step.used[_text_id(text)] += 1
        return text

    def name_for(self, person: Person, hearers: Iterable[str]) -> str:
        """Return how the hearers call a person: by name if any of them knows it, else by looks."""
        uid = self.atlas.uid("npc", person.key)
        known = any(
            self.step.knows(who, uid) and self.step.of(who).names[uid] == person.name for who in hearers
        )
        return person.name if known else person.seen_as

    def not_here(self, target: str | None, hearers: Sequence[str], *, otherwise: str) -> str:
        """Return that somebody is not here, by the name that the hearers know."""
        person = self.world.person(target)
        known = person is not None and any(self.step.knows(who, target or "") for who in hearers)
        called = self.name_for(person, hearers) if person is not None and known else otherwise
        return self.phrase("nothing_there", what=called)

    def party_names(self, who: Sequence[str]) -> str:
        """Return characters by name: "Throk, Zara and Bram"."""
        return join_texts([self.step.table.name(uid) for uid in who])

    def hour_struck(self) -> str | None:
        """Return "dawn" or "night" if it begins in this step."""
        before = BEGINNING + timedelta(minutes=self.step.table.minutes)
        after = before + timedelta(minutes=self._minutes)
        dawn, night = light_hours(self._setting)
        return {dawn: "dawn", night: "night"}.get(after.hour) if after.hour != before.hour else None

    # Events.

    def has_told_at(self, place: str) -> bool:
        """Return whether something was told at a place in this step."""
        return any(event.metadata.get("location") == place for event in self.step.events)

    def tell(
        self,
        place: str | None,
        text: str,
        *,
        kind: EventType = EventType.DM_NARRATION,
        source: str = DM,
        participants: Sequence[str] = (),
        witnesses: Iterable[str] | None = None,
        beats: Iterable[str] = (),
        topics: Iterable[str] = (),
        teaches: tuple[ModuleFact, ...] = (),
        names: Mapping[str, str] | None = None,
        gist: str | None = None,
        play: Mapping[str, Any] | None = None,
        **metadata: Any,
    ) -> GameEvent:
        """Draft an event that everybody at the place perceives, unless `witnesses` says otherwise."""
        beats = tuple(beats)
        topics = tuple(dict.fromkeys(topics))
        heard = (beat("heard", topic) for topic in topics if topic in self.atlas.asked_topics)
        facts = [*metadata.pop("facts", ()), *self._stated(teaches)]
        there = self.step.witnesses(place) if witnesses is None else [*witnesses]
        people = {source, *participants, *there}
        if place is not None and play and "sights" in play:
            self._miss_foes(place, beats, people, stated=facts)
            facts += self._foes_seen(place, play["sights"]["people"], people, stated=facts)
        note: dict[str, Any] = {
            **(play or {}),
            "beats": tuple(dict.fromkeys((*beats, *heard))),
            "topics": topics,
            "minutes": (play or {}).get("minutes", 0) + self._minutes,
        }
        if gist:
            note["gist"] = gist[:_LONGEST_GIST]
        self._minutes = 0
        about = [str(fact["subject"]) for fact in facts]
        about += [uid for uid in metadata.get("reputation") or () if uid not in people]
        about += note.get("sights", {}).get("people", ())
        return self.step.add(
            kind,
            text,
            source=source,
            place=place,
            participants=participants,
            witnesses=there,
            play=note,
            names=self._names(text, about, people, names or {}),
            facts=facts,
            **metadata,
        )

    def tell_dm(self, text: str, *, beats: Iterable[str], **metadata: Any) -> None:
        """Draft an event that only the DM perceives."""
        self.tell(None, text, kind=EventType.SYSTEM, witnesses=(), beats=beats, **metadata)

    def _stated(self, teaches: tuple[ModuleFact, ...]) -> list[JsonValue]:
        """Return the facts that a text teaches, as events state them."""
        return [fact.model_dump(exclude_defaults=True) for fact in self.atlas.facts(teaches)]

    def _names(
        self, text: str, about: Iterable[str], people: Collection[str], known_names: Mapping[str, str]
    ) -> dict[str, JsonValue]:
        """Return names for everybody in the text, and for its subjects where a hearer lacks one."""
        names: dict[str, JsonValue] = {**known_names, **self.atlas.mentions(text)}
        for uid in about:
            if uid not in names and not all(self._knows(who, uid, people) for who in (DM, *people)):
                names[uid] = self._plain_name(uid, people)
        return names

    def _knows(self, who: str, uid: str, people: Collection[str]) -> bool:
        """Return whether somebody has a name for a uid. NPCs know everybody they see."""
        return self.step.knows(who, uid) if who == DM or who.startswith("pc_") else uid in people

    def _plain_name(self, uid: str, people: Iterable[str]) -> str:
        """Return a name for a uid that its hearers may know."""
        person = self.world.person(uid)
        if person is not None:
            return self.name_for(person, (who for who in people if who != DM))
        return self.atlas.name(uid) or self.step.table.name(uid)

    def _foes_seen(
        self, place: str, foes: Iterable[str], people: Collection[str], *, stated: Sequence[_Stated]
    ) -> list[_Stated]:
        """Return facts on place and number of foes in sight, where a viewer does not know them yet."""
        placed = {fact["subject"] for fact in stated if fact.get("op") == claims.AT}
        tables = self._tables(people)
        facts: list[_Stated] = []
        for mon in (uid for uid in foes if uid.startswith("mon_") and uid not in placed):
            number = self.step.table.fact(mon, claims.NUMBER, 1)
            if any((table.place(mon), table.fact(mon, claims.NUMBER)) != (place, number) for table in tables):
                facts += foes_at_facts(place, mon, number)
        return facts

    def _miss_foes(
        self, place: str, beats: Iterable[str], people: Collection[str], *, stated: Sequence[_Stated]
    ) -> None:
        """Tell everybody who met foes at a place that they are gone; only the DM if nobody did."""
        stay = self._standing(place, beats).union(str(fact["subject"]) for fact in stated)
        tables = self._tables(people)
        for mon in dict.fromkeys(uid for table in tables for uid in table.foes_at(place) if uid not in stay):
            if self.step.table.place(mon) not in (None, place):
                continue
            knowing = [table.viewer for table in tables if table.viewer != DM and table.place(mon) == place]
            text = self.phrase("foes_gone", foes=self.step.table.name(mon))
            self.tell(place if knowing else None, text, witnesses=knowing, facts=[left_fact(place, mon)])

    def _tables(self, people: Collection[str]) -> list[Table]:
        """Return the tables of the DM and of these people, always in the same order."""
        return [self.step.of(who) for who in (DM, *sorted({*people} - {DM})) if self.step.sits(who)]

    def _standing(self, place: str, beats: Iterable[str]) -> set[str]:
        """Return the foes at a place after these beats, seen or not."""
        world, fight = self.world.after(beats), self.step.table.fights.get(place)
        here = world.place(place)
        waiting = (*world.foes(here), *world.befriended(here)) if here is not None else ()
        return {*(self.atlas.uid("mon", foes.key) for foes in waiting), *(fight.foes if fight else ())}

    def sights_note(self, place: Place, *, after: Iterable[str] = ()) -> dict[str, Any]:
        """Return a note of what can be seen at a place after these beats."""
        return {"sights": self.world.after(after).sights(place).model_dump(mode="json")}


def _text_id(text: str) -> str:
    """Return the id under which an authored text is counted."""
    return f"text#{zlib.crc32(text.encode()):08x}"


def with_article(name: str) -> str:
    """Return a name as it stands in a sentence: `silver key` becomes `a silver key`."""
    if not name[:1].islower() or name.startswith(_ARTICLES) or name.endswith("s"):
        return name
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def join_texts(texts: Sequence[str]) -> str:
    """Join texts with commas and a final "and"."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def as_sentence(text: str) -> str:
    """Return a text as a full sentence, with a capital and a full stop."""
    whole = text.strip()
    return f"{whole[:1].upper()}{whole[1:]}{'' if whole.endswith(_ENDS) else '.'}"


def first_clause(text: str) -> str:
    """Return the first sentence of a text, to be put inside another one."""
    sentences = split_sentences(text.partition("\n")[0])
    first, *others = sentences or [""]
    while others and (first.count('"') % 2 or len(first.split()) < _SHORTEST_CLAUSE):
        first = f"{first} {others.pop(0)}"  # a quotation is not cut, and a single word says nothing
    first = first.strip().rstrip(".!?")
    if first[:1] == first[-1:] == '"' and first.count('"') == _A_PAIR:
        first = first.strip('"').rstrip(".!?")
    word = first.split(" ", 1)[0]
    return first[:1].lower() + first[1:] if word.lower() in _PLAIN.split() else first


def to_the_party(gist: str) -> str:
    """Turn "we" into "you": the party told the deed, now it hears it."""
    return _OURS.sub(lambda found: _YOURS[found.group()], gist)


_A_PAIR: Final = 2
_SHORTEST_CLAUSE: Final = 3
_YOURS: Final = {"we": "you", "us": "you", "our": "your"}
_OURS: Final = re.compile(rf"\b(?:{'|'.join(_YOURS)})\b")
_ENDS: Final = (".", "!", "?", "…", '"', "”")
_PLAIN: Final = """
    a an the this that these those there here it its they their he his she her you your we our in on
    under over above below behind beside between inside near at from with without somebody someone something
    nothing nobody one two three four five six some many most all each every when where what who
"""
