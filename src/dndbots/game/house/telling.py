"""The DM's voice: drafts what is told, with the names that it teaches and the sights that it changes.

Whoever tells says what happens; here it is seen to that time passes once in a step, that every name in a
text is given to those who hear it, and that those who are there see what there is to see.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.events import EventType, GameEvent
from dndbots.game.adventures.values import Fact, Person, Place
from dndbots.game.agents import Screen
from dndbots.game.house.phrases import Phrasebook, Pick
from dndbots.game.house.world import World, beat
from dndbots.game.referee.meeting import gone_from, met_at
from dndbots.game.steps import BEGINNING
from dndbots.game.table import Table
from dndbots.ids import DM

_LONGEST_GIST: Final = 240
_QUIET_MINUTES: Final = 10
_FIGHTING_MINUTES: Final = 1
_HOURS: Final = {6: "dawn", 21: "night"}
_STRIDE: Final = 5  # between what is said twice in a round
_Stated = dict[str, JsonValue]


class Telling:
    """One step of the DM in the making."""

    def __init__(self, screen: Screen, world: World, book: Phrasebook, *, minutes: int | None = None) -> None:
        self.screen, self.world, self.book = screen, world, book
        self.step, self.rng, self.atlas = screen.step, screen.rng, world.atlas
        self._said: Counter[str] = Counter()
        scenes = self.step.table.scenes()
        fighting = bool(scenes) and all(place in self.step.table.fights for place in scenes)
        # Time passes once in a step.
        self._minutes = (_FIGHTING_MINUTES if fighting else _QUIET_MINUTES) if minutes is None else minutes

    # Words.

    def words(self, rule: str, **slots: str) -> str:
        """A text of the house. The same rule says something else in the next round."""
        self._said[rule] += 1
        count = self.step.round + _STRIDE * (self._said[rule] - 1)
        return self.book.say(rule, pick=Pick(f"{self.screen.seed}/dm", count), **slots)

    def one_of(self, texts: Sequence[str]) -> str:
        """One of several authored texts, in turns."""
        return texts[self.step.round % len(texts)]

    def called(self, person: Person, hearers: Iterable[str]) -> str:
        """What somebody goes by among these: the name, if any of them has heard it."""
        uid = self.atlas.uid("npc", person.key)
        known = any(
            self.step.knows(who, uid) and self.step.of(who).names[uid] == person.name for who in hearers
        )
        return person.name if known else person.seen_as

    def party(self, who: Sequence[str]) -> str:
        """Some of the party by their names: "Throk, Zara and Bram"."""
        names = [self.step.table.name(uid) for uid in who]
        return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))

    def strikes(self) -> str | None:
        """Whether it becomes night or day in this step."""
        before = BEGINNING + timedelta(minutes=self.step.table.minutes)
        after = before + timedelta(minutes=self._minutes)
        return _HOURS.get(after.hour) if after.hour != before.hour else None

    # Events.

    def told_at(self, place: str) -> bool:
        """Whether anything was told at a place in this step."""
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
        teaches: tuple[Fact, ...] = (),
        names: Mapping[str, str] | None = None,
        gist: str | None = None,
        play: Mapping[str, Any] | None = None,
        **metadata: Any,
    ) -> GameEvent:
        """Drafts an event that everybody at the place perceives, unless it says who does."""
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

    def secretly(self, text: str, *, beats: Iterable[str], **metadata: Any) -> None:
        """What only the DM knows."""
        self.tell(None, text, kind=EventType.SYSTEM, witnesses=(), beats=beats, **metadata)

    def _stated(self, teaches: tuple[Fact, ...]) -> list[JsonValue]:
        return [fact.model_dump(exclude_defaults=True) for fact in self.atlas.facts(teaches)]

    def _names(
        self, text: str, about: Iterable[str], people: Collection[str], given: Mapping[str, str]
    ) -> dict[str, JsonValue]:
        """Names for all whom a text names; and for whom it is about, if any of those who hear it has none."""
        names: dict[str, JsonValue] = {**given, **self.atlas.mentions(text)}
        for uid in about:
            if uid not in names and not all(self._knows(who, uid, people) for who in (DM, *people)):
                names[uid] = self._plain_name(uid, people)
        return names

    def _knows(self, who: str, uid: str, people: Collection[str]) -> bool:
        """Whether somebody has a name for another. People of the place know those whom they see."""
        return self.step.knows(who, uid) if who == DM or who.startswith("pc_") else uid in people

    def _plain_name(self, uid: str, people: Iterable[str]) -> str:
        person = self.world.person(uid)
        if person is not None:
            return self.called(person, (who for who in people if who != DM))
        return self.atlas.name(uid) or self.step.table.name(uid)

    def _foes_seen(
        self, place: str, foes: Iterable[str], people: Collection[str], *, stated: Sequence[_Stated]
    ) -> list[_Stated]:
        """States where foes in sight stand and how many they are, as far as any of these do not know it."""
        told = {fact["subject"] for fact in stated if fact.get("op") == claims.AT}
        tables = self._tables(people)
        found: list[_Stated] = []
        for mon in (uid for uid in foes if uid.startswith("mon_") and uid not in told):
            number = self.step.table.fact(mon, claims.NUMBER, 1)
            if any((one.place(mon), one.fact(mon, claims.NUMBER)) != (place, number) for one in tables):
                found += met_at(place, mon, number)
        return found

    def _miss_foes(
        self, place: str, beats: Iterable[str], people: Collection[str], *, stated: Sequence[_Stated]
    ) -> None:
        """Tells those who met foes at a place that they are gone from it; the DM alone, if nobody did."""
        stay = self._standing(place, beats).union(str(fact["subject"]) for fact in stated)
        tables = self._tables(people)
        for mon in dict.fromkeys(uid for one in tables for uid in one.foes_at(place) if uid not in stay):
            if self.step.table.place(mon) not in (None, place):
                continue
            knowing = [one.viewer for one in tables if one.viewer != DM and one.place(mon) == place]
            text = self.words("foes_gone", foes=self.step.table.name(mon))
            self.tell(place if knowing else None, text, witnesses=knowing, facts=[gone_from(place, mon)])

    def _tables(self, people: Collection[str]) -> list[Table]:
        """The tables of the DM and of these, in the same order each time."""
        return [self.step.of(who) for who in (DM, *sorted({*people} - {DM})) if self.step.sits(who)]

    def _standing(self, place: str, beats: Iterable[str]) -> set[str]:
        """The foes who are at a place once it has come to these beats, seen or not."""
        world, fight = self.world.after(beats), self.step.table.fights.get(place)
        here = world.place(place)
        waiting = world.foes(here) if here is not None else ()
        return {*(self.atlas.uid("mon", foes.key) for foes in waiting), *(fight.foes if fight else ())}

    def sights(self, place: Place, *, after: Iterable[str] = ()) -> dict[str, Any]:
        """What one sees once it has come to these beats, as a note for those who are told of them."""
        return {"sights": self.world.after(after).sights(place).model_dump(mode="json")}


def sentence(text: str) -> str:
    """A text that can stand by itself: it begins with a capital, and it ends."""
    whole = text.strip()
    return f"{whole[:1].upper()}{whole[1:]}{'' if whole.endswith(_ENDS) else '.'}"


def clause(text: str) -> str:
    """The first sentence of a text, to be told within another one."""
    first = text.partition("\n")[0]
    for end in (". ", "! ", "? "):
        first = first.partition(end)[0]
    first = first.strip().rstrip(".!?")
    word = first.split(" ", 1)[0]
    return first[:1].lower() + first[1:] if word.lower() in _PLAIN.split() else first


_ENDS: Final = (".", "!", "?", "…", '"', "”")
_PLAIN: Final = """
    a an the this that these those there here it its they their he his she her you your we our in on
    under over above below behind beside between inside near at from with without somebody someone something
    nothing nobody one two three four five six some many most all each every when where what who
"""
