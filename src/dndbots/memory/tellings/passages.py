"""Passages: the deeds of a part of a story, each thing told once.

A fight of twenty blows is one passage, and so is all that somebody got at one place. Nothing is chosen here:
a passage has a weight by which others choose.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from dndbots.memory.deeds import A_PURSE, AS_REWARD, GOT, PARTY, DeedKind, StoryDeed, join_names
from dndbots.memory.entries import Entry
from dndbots.text.word_forms import is_plural, number_word

# How much each kind of deed matters to a later reader. The death of a hero comes before all.
_WEIGHTS: Final[dict[DeedKind, float]] = {
    "ended": 90.0,
    "taken": 80.0,
    "refused": 75.0,
    "revived": 70.0,
    "died": 70.0,
    "offered": 60.0,
    "paid": 55.0,
    "fight": 50.0,
    "killed": 50.0,
    "step": 45.0,
    "learned": 40.0,
    "cleared": 35.0,
    "found": 30.0,
    "got": 25.0,
    "moved": 5.0,
}
_HERO_DIED: Final = 100.0
_SET_OUT: Final = 15.0  # the first quest says what the story is about
_THING: Final = 10.0  # something with a name is worth more than gold
# Deeds of player characters, by their kind.
_HEROIC: Final = frozenset(("fight", "taken", "refused", "step", "got", "found", "moved"))
# What every recap tells, however short: quests that were decided.
_ALWAYS: Final = frozenset(("ended", "taken", "refused"))


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldPassage:
    """One or more deeds of the same people, as a subject and a predicate in the past tense.

    `at` is the number of the entry in which it began and gives the order, `end` the one in which it ended.
    `must` marks what no recap leaves out.
    """

    kind: DeedKind
    who: tuple[str, ...]
    did: str
    at: int
    end: int
    sources: tuple[str, ...] = ()
    place: str = ""
    what: str = ""
    how: str = ""
    weight: float = 1.0
    must: bool = False


def find_passages(entries: Iterable[Entry]) -> list[ToldPassage]:
    """Return the passages of some entries, in the order of play."""
    reader = _Reader()
    for number, entry in enumerate(entries):
        for deed in entry.deeds:
            reader.take(deed, number, entry.event_id)
    return reader.passages()


def find_heroes(passages: Iterable[ToldPassage]) -> frozenset[str]:
    """Return the names of all who act for the party."""
    acting = (name for passage in passages if passage.kind in _HEROIC for name in passage.who)
    return frozenset(name for name in acting if name != PARTY)


class LastPlace(NamedTuple):
    """A place with those who are there in the end, and the events that brought them there."""

    place: str
    who: tuple[str, ...]
    sources: tuple[str, ...]


def find_last_places(entries: Iterable[Entry]) -> list[LastPlace]:
    """Return who is where in the end, of those who went anywhere and live."""
    at: dict[str, tuple[str, str]] = {}
    for entry in entries:
        for deed in entry.deeds:
            if deed.kind == "moved":
                at.update(dict.fromkeys(deed.who, (deed.what, entry.event_id)))
            elif deed.hero:
                at.pop(deed.what, None)
    return [
        LastPlace(
            place,
            tuple(who for who, (there, _) in at.items() if there == place),
            tuple(dict.fromkeys(source for there, source in at.values() if there == place and source)),
        )
        for place in dict.fromkeys(place for place, _ in at.values())
    ]


@dataclass(slots=True)
class _Fight:
    """A fight with one group of foes, as far as it was perceived."""

    who: tuple[str, ...]
    what: str
    of: int | None
    did: str
    place: str
    at: int
    end: int
    sources: list[str]
    killed: int = 0
    result: str = ""

    def passage(self, *, goes_on: bool = False) -> ToldPassage:
        """Return the whole fight; of one that still goes on, it says so."""
        end = self._outcome() + (", and the fight was not over" if goes_on and not self._is_over else "")
        return ToldPassage(
            kind="fight",
            who=self.who,
            did=f"{self.did}{end}",
            at=self.at,
            end=self.end,
            sources=tuple(dict.fromkeys(self.sources)),
            place=self.place,
            what=self.what,
            weight=_WEIGHTS["fight"],
        )

    @property
    def _is_over(self) -> bool:
        return bool(self.result) or (self.of is not None and self.killed >= self.of)

    def _outcome(self) -> str:
        """Return how the fight ended, as the rest of its sentence."""
        several = self.of is None or self.of > 1 or is_plural(self.what)
        rest = "the rest" if self.killed else "them" if several else "it"
        fallen = f", killed {number_word(self.killed)} of them and" if self.killed else " and"
        if self.of is not None and self.killed >= self.of:
            return " and killed it" if not several else " and killed them all"
        ends = {
            "won": f"{fallen} overcame {rest}",
            "fled": f"{fallen} drove {rest} off",
            "talked": f"{fallen} came to terms with {rest}",
            "lost": f"{fallen} lost",
        }
        if self.result in ends:
            return ends[self.result]
        return f" and killed {number_word(self.killed)} of them" if self.killed else ""


@dataclass(slots=True)
class _Haul:
    """Things and gold that some people got at one place."""

    who: tuple[str, ...]
    place: str
    reward: bool
    at: int
    end: int
    items: list[str]
    gold: int
    sources: list[str]

    @property
    def is_petty(self) -> bool:
        """Return True for a coin or two, which nobody would tell of."""
        return not self.items and not self.reward and self.gold < A_PURSE

    def passage(self) -> ToldPassage:
        got = [*dict.fromkeys(self.items), *([f"{self.gold} gold"] if self.gold else [])]
        return ToldPassage(
            kind="got",
            who=self.who,
            did=f"{GOT}{join_names(got)}{AS_REWARD if self.reward else ''}",
            at=self.at,
            end=self.end,
            sources=tuple(dict.fromkeys(self.sources)),
            place=self.place,
            weight=_WEIGHTS["got"] + (_THING if self.items else 0.0),
        )


class _Reader:
    """Reads deeds in the order of play."""

    def __init__(self) -> None:
        self._done: list[ToldPassage] = []
        self._fights: dict[str, _Fight] = {}
        self._moved = -1  # the last entry in which somebody went somewhere
        self._hauls: dict[tuple[tuple[str, ...], str, bool], _Haul] = {}

    def passages(self) -> list[ToldPassage]:
        """Return all passages so far, in order; what still goes on ends here."""
        ongoing = [fight.passage(goes_on=fight.at > self._moved) for fight in self._fights.values()]
        hauls = [haul.passage() for haul in self._hauls.values() if not haul.is_petty]
        told = sorted([*self._done, *ongoing, *hauls], key=lambda passage: (passage.at, passage.end))
        return _with_first_quest(_each_once(told))

    def take(self, deed: StoryDeed, at: int, source: str) -> None:
        """Take in the next deed."""
        if deed.kind == "moved":
            self._moved = at
        if deed.kind == "fight":
            self._take_fight(deed, at, source)
        elif deed.kind == "killed" and deed.what in self._fights:
            fight = self._fights[deed.what]
            fight.killed += deed.number
            fight.end = at
            fight.sources.append(source)
        elif deed.kind == "got":
            self._take_haul(deed, at, source)
        elif deed.did:
            self._done.append(_passage(deed, at, source))

    def _take_fight(self, deed: StoryDeed, at: int, source: str) -> None:
        if deed.did:
            begun = _Fight(deed.who, deed.what, deed.of, deed.did, deed.place, at, at, [source])
            before = self._fights.pop(deed.what, None)
            if before is not None:
                self._done.append(before.passage())
            self._fights[deed.what] = begun
            return
        for name, fight in list(self._fights.items()):
            if fight.place == deed.place:
                fight.result, fight.end = deed.how, at
                fight.sources.append(source)
                self._done.append(self._fights.pop(name).passage())

    def _take_haul(self, deed: StoryDeed, at: int, source: str) -> None:
        key = deed.who, deed.place, deed.reward
        haul = self._hauls.setdefault(key, _Haul(*key, at, at, [], 0, []))
        haul.items += [deed.did.removeprefix(GOT)] if deed.what else []
        haul.gold += 0 if deed.what else deed.number
        haul.end = at
        haul.sources.append(source)


def _passage(deed: StoryDeed, at: int, source: str) -> ToldPassage:
    return ToldPassage(
        kind=deed.kind,
        who=deed.who,
        did=deed.did,
        at=at,
        end=at,
        sources=(source,) if source else (),
        place=deed.place,
        what=deed.what,
        how=deed.how,
        weight=_HERO_DIED if deed.hero else _WEIGHTS[deed.kind],
        must=deed.hero or deed.kind in _ALWAYS,
    )


def _with_first_quest(passages: list[ToldPassage]) -> list[ToldPassage]:
    """Return the passages with more weight on the offer of the first quest that was taken on."""
    first = next((passage.what for passage in passages if passage.kind == "taken"), None)
    return [
        replace(passage, weight=passage.weight + _SET_OUT)
        if passage.kind == "offered" and passage.what == first
        else passage
        for passage in passages
    ]


def _each_once(passages: Sequence[ToldPassage]) -> list[ToldPassage]:
    """Return the passages without repeats."""
    seen: dict[tuple[tuple[str, ...], str], int] = {}
    kept: list[ToldPassage] = []
    for passage in passages:
        # Two people may look at the same thing, and learn the same.
        key = ((), passage.how) if passage.kind == "learned" else (passage.who, passage.did)
        if passage.kind != "moved" and key in seen:
            first = kept[seen[key]]
            kept[seen[key]] = replace(first, sources=tuple(dict.fromkeys((*first.sources, *passage.sources))))
            continue
        seen[key] = len(kept)
        kept.append(passage)
    return kept
