"""What must hold over the whole log of a game, looked for in the log alone: for tests, and for long runs.

Each law is a search for what breaks it. It takes the events of a log in their order.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

from dndbots.canon import claims
from dndbots.canon.certainty import effects_of
from dndbots.canon.claims import CertaintyRank
from dndbots.events import EventType, GameEvent, audience
from dndbots.game.state.game_notes import KEY
from dndbots.ids import CATEGORIES, DM, PARTY_UID

Words = tuple[str, ...]

_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+|'(?!s\b)[^\W\d_]+)*")
# What stands in the words of the house for something else: a slot, or another rule.
_STANDS_FOR: Final = re.compile(r"\{[^{}]*\}|<[^<>]*>")
_ARTICLES: Final = ("a", "an", "the")
_PERSONS: Final = ("pc_", "npc_")
_SHORTEST: Final = 2
_SHORTEST_PART: Final = 3
# A uid, wherever in a text it stands. Those of events are no entity's.
_UID: Final = re.compile(
    rf"(?<![a-z0-9_])(?:{'|'.join(one.lower() for one in CATEGORIES if one != 'EVT')})(?:_[a-z0-9]+)+"
)


class Unheard(NamedTuple):
    """A name that somebody said without ever having heard it."""

    who: str
    name: str
    event: GameEvent

    def __str__(self) -> str:
        return f"round {self.event.turn}: {self.who} never heard of {self.name!r}: {self.event.content}"


class Names:
    """All names that are given anywhere in a log, to be found in texts.

    A name is a sequence of words of which one at least has a capital: `the mill` and `cinder goblins` are
    none, since anybody may say such words. Of people's names each part counts too, unless it is a word that
    the log has in small letters as well. Names of one letter are left out.
    """

    def __init__(self, events: Iterable[GameEvent]) -> None:
        given: dict[str, set[Words]] = {"": set()}
        small: set[str] = set()
        for event in events:
            small.update(word for word in _WORD.findall(event.content) if word.islower())
            for uid, names in (event.metadata.get("names") or {}).items():
                for name in [names] if isinstance(names, str) else names:
                    given.setdefault(uid if uid.startswith(_PERSONS) else "", set()).add(_words(name))
        self._common = {word.casefold() for word in small}
        self._found: dict[str, list[Words]] = {}
        for words in sorted({*self._names(given), *self._parts(given)}):
            self._found.setdefault(words[0].casefold(), []).append(words)

    @staticmethod
    def _names(given: dict[str, set[Words]]) -> Iterator[Words]:
        for words in (words for names in given.values() for words in names):
            if any(word[0].isupper() for word in words) and len("".join(words)) >= _SHORTEST:
                yield words

    def _parts(self, given: dict[str, set[Words]]) -> Iterator[Words]:
        for uid, names in given.items():
            for word in (word for words in names for word in words if uid):
                is_name = word[0].isupper() and word.casefold() not in self._common
                if is_name and len(word) >= _SHORTEST_PART:
                    yield (word,)

    def heard_in(self, text: str) -> set[Words]:
        """The names that a text holds, in any case; but a common word in small letters is just that."""
        return {
            words
            for words, found in self._in(text)
            if not (self._is_common(words) and found[0].group().islower())
        }

    def said_in(self, text: str) -> set[Words]:
        """The names that a text holds as names. A common word with which a sentence begins is none."""
        return {
            words
            for words, found in self._in(text)
            if tuple(match.group() for match in found) == words and not self._is_plain(words, text, found[0])
        }

    def _in(self, text: str) -> Iterator[tuple[Words, list[re.Match[str]]]]:
        found = list(_WORD.finditer(text))
        for start, match in enumerate(found):
            for words in self._found.get(match.group().casefold(), ()):
                part = found[start : start + len(words)]
                if [one.group().casefold() for one in part] == [word.casefold() for word in words]:
                    yield words, part

    def _is_plain(self, words: Words, text: str, first: re.Match[str]) -> bool:
        before = text[: first.start()]
        begins = not before.strip() or before.rstrip(" \n")[-1] in '.!?:"“'
        return begins and (self._is_common(words) or words in _of_the_house())

    def _is_common(self, words: Words) -> bool:
        return len(words) == 1 and words[0].casefold() in self._common


@cache
def _of_the_house() -> frozenset[Words]:
    """The words of the house, with capitals: a log may happen to have one only where a sentence begins."""
    found: set[Words] = set()
    for file in resources.files("dndbots.game").joinpath("words").iterdir():
        lines = file.read_text("utf-8").splitlines() if file.name.endswith(".txt") else []
        for line in (line for line in lines if line.startswith(" ")):
            words = _WORD.findall(_STANDS_FOR.sub(" ", line))
            found.update((word.capitalize(),) for word in words if word.islower())
    return frozenset(found)


def _words(name: str) -> Words:
    """The words of a name, without its article."""
    words = tuple(_WORD.findall(name))
    return words[1:] if words and words[0].casefold() in _ARTICLES else words


def unheard_names(log: Callable[[], Iterable[GameEvent]]) -> Iterator[Unheard]:
    """Names that a character said before it heard them: in what was told, or as given with an event.

    What it cannot see: a name that is nowhere given as one in the log; one that is told in other words
    ("the miller's daughter"); and a name of common words that is also said of something else.
    """
    names = Names(log())
    heard: dict[str, set[Words]] = {}
    for event in log():
        if event.is_note:
            continue
        speaker = event.source if event.source.startswith("pc_") and is_turn(event) else None
        if speaker is not None:
            for words in sorted(names.said_in(event.content) - heard.get(speaker, set())):
                yield Unheard(speaker, " ".join(words), event)
        texts = [event.content, *_given(event)]
        found = {words for text in texts for words in names.heard_in(text)}
        for who in audience(event):
            if who.startswith("pc_") and who != speaker:
                heard.setdefault(who, set()).update(found)


def _given(event: GameEvent) -> Iterator[str]:
    for names in event.known.names.values():
        yield from [names] if isinstance(names, str) else names


def is_turn(event: GameEvent) -> bool:
    """Whether an event is what a character did in its turn."""
    note = event.metadata.get(KEY)
    return isinstance(note, dict) and "act" in note


def acts_of_the_dead(log: Iterable[GameEvent]) -> Iterator[GameEvent]:
    """What somebody did who was dead by then, or a group of foes of whom none was left."""
    left: dict[str, int] = {}
    for event in log:
        if event.is_note:
            continue
        if left.get(event.source, 1) <= 0:
            yield event
        for held in effects_of(event, event.known, audience(event)).holdings:
            claim, slot = held.claim, held.claim.slot.removeprefix("+")
            if slot == claims.NUMBER and DM in held.holders and held.certainty is CertaintyRank.FACT:
                amount = int(claim.value or 0)  # type: ignore[arg-type]
                changes = claims.is_counting(claim.slot)
                left[claim.subject] = left.get(claim.subject, 1) + amount if changes else amount


@dataclass(frozen=True, slots=True)
class Overheard:
    """An event that somebody perceived who was elsewhere."""

    who: str
    place: str | None
    event: GameEvent

    def __str__(self) -> str:
        at = self.event.known.location
        return f"{self.who} at {self.place} perceived what happened at {at}: {self.event.content}"


def overheard(log: Iterable[GameEvent]) -> Iterator[Overheard]:
    """Whispers that reached a third, and what was said and done where a character was not.

    Whoever comes to a place or leaves it with an event may perceive that event. What has no place is for
    all, but no character's turn is without one.
    """
    places: dict[str, str | None] = {}
    for event in log:
        if event.is_note:
            continue
        people = {who for who in audience(event) if who.startswith("pc_")}
        known, before = event.known, dict(places)
        effects = effects_of(event, known, audience(event))
        places.update(dict.fromkeys(effects.seen, known.location))
        for held in effects.holdings:
            if held.claim.slot == claims.AT and DM in held.holders and held.certainty is CertaintyRank.FACT:
                places[held.claim.subject] = held.claim.value  # type: ignore[assignment]
        meant = {event.source, *known.told_to}
        for who in sorted(people):
            is_there = known.location in (before.get(who, known.location), places.get(who))
            is_for_all = known.location is None and not is_turn(event)
            if not (is_there or is_for_all) or (event.event_type is EventType.WHISPER and who not in meant):
                yield Overheard(who, before.get(who), event)


@dataclass(frozen=True, slots=True)
class Unshown:
    """A uid in an event that somebody perceived to whom nobody ever showed whose it is."""

    who: str
    uid: str
    where: str
    event: GameEvent

    def __str__(self) -> str:
        return f"round {self.event.turn}: {self.who} learned of {self.uid} in {self.where}: {self.event}"


def unshown_uids(log: Iterable[GameEvent]) -> Iterator[Unshown]:
    """People, places and things that are anywhere in what somebody perceived, and that it never was shown.

    An event shows where it happens, who takes part in it or looks on, against whom they fight, who falls,
    what is found, which quest it is about, and whatever it has a name for. All else that it holds, facts
    and the game's own notes above all, may only be of what it shows or an earlier one did.
    """
    shown: dict[str, set[str]] = {}
    for event in log:
        open_to_all = _shows(event)
        held = {uid: where for where, text in _texts(event.metadata) for uid in _UID.findall(text)}
        for who in sorted(audience(event)):
            if who.startswith(_PERSONS):
                known = shown.setdefault(who, {who, PARTY_UID})
                known |= open_to_all
                for uid in sorted(held.keys() - known):
                    yield Unshown(who, uid, held[uid], event)
                known.update(held)


def _shows(event: GameEvent) -> set[str]:
    known = event.known
    shown = {event.source, *audience(event), *known.enemies, *known.killed, *known.discovered, *known.names}
    return shown | set(filter(None, (known.location, known.quest_id)))


def _texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a value, keys too, each with the place where it stands."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield where, key
            yield from _texts(one, f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, where)
