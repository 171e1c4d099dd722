"""Passages as prose: joined sentences with pronouns and varied openings.

The same passages give the same text. A sentence knows the events that it was made from.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from dndbots.memory.deeds import AS_REWARD, GOT, PARTY, as_sentence, join_names
from dndbots.memory.tellings.passages import ToldPassage
from dndbots.text.word_forms import as_whereabouts

# A sentence with more clauses, or with longer ones, is hard to follow when it is read aloud.
_MOST_CLAUSES: Final = 3
_MOST_CHARS: Final = 220
_OPENINGS: Final = ("", "Then ", "", "After that ", "", "Next ", "", "Later ")
_SHORT_CLAUSE: Final = 60
_VERBS: Final = ("took on ", "turned down ", "learned ", "found ")
_GROUP: Final = 2
_PAIR: Final = 2
_PLACELESS: Final = ("moved", "cleared", "ended")
# "asked for proof of who sells the cider at the inn": only these leave no doubt.
_BEFORE_PLACE: Final = frozenset(("taken", "refused", "fight", "killed", "died", "got", "paid"))
_MEANWHILE: Final = "Meanwhile "
# "Got a key back at the inn" may mean that somebody returned it.
_BACK: Final = "Back "
_FIRST: Final = (_BACK, _MEANWHILE.rstrip())


class Sentence(NamedTuple):
    """A sentence of a telling, with the number of the entry it tells of and the events it was made from.

    `apart` says that it stands on a line of its own, such as the words of a speaker under a name.
    """

    text: str
    sources: tuple[str, ...] = ()
    at: int = 0
    apart: bool = False


def write_prose(
    passages: Sequence[ToldPassage], heroes: frozenset[str] = frozenset(), *, place: str | None = None
) -> list[Sentence]:
    """Return the passages, which are in the order of play, as sentences.

    `heroes` are all members of the party: together they are called so once they have been named. With a
    `place`, the reader knows where it begins and who is there; else the first sentence says so.
    """
    writer = _Writer(heroes, place or "")
    opening = writer.introduce(passages) if place is None else []
    return [*opening, *(writer.write(group) for group in _grouped(passages))]


def _grouped(passages: Sequence[ToldPassage]) -> list[list[ToldPassage]]:
    """Return the passages in groups of one sentence each: the same people at the same place.

    A quotation follows the sentence on what its speaker did.
    """
    groups: list[list[ToldPassage]] = []
    for passage in passages:
        if passage.kind == "told":
            continue
        if groups and _joins(groups[-1], passage):
            groups[-1].append(passage)
        else:
            groups.append([passage])
    groups += [[passage] for passage in passages if passage.kind == "told"]
    return sorted(groups, key=lambda group: group[0].at)


def _joins(group: Sequence[ToldPassage], passage: ToldPassage) -> bool:
    last = group[-1]
    length = sum(len(each.did) for each in group) + len(passage.did)
    if last.how or ":" in last.did or len(group) >= _MOST_CLAUSES or length > _MOST_CHARS:
        return False
    if last.kind == "offered" and passage.kind == "taken" and len(group) == 1:
        return last.what == passage.what
    if group[0].kind == "offered":
        return False
    if last.who == passage.who and all(each.kind == "taken" for each in (*group, passage)):
        return ":" not in passage.did
    one_place = last.place == passage.place or passage.kind == "moved"
    one_place = one_place and all(each.place == last.place for each in group)
    return last.who == passage.who and (one_place or all(map(_is_haul, (*group, passage))))


def _joined(predicates: Sequence[str]) -> str:
    """Return predicates as one, with a comma where one of them has an "and" of its own.

    A verb that all of them begin with is said once.
    """
    verb = next((verb for verb in _VERBS if all(did.startswith(verb) for did in predicates)), "")
    if verb and not any(", " in did or " and " in did for did in predicates):
        return f"{verb}{join_names(did.removeprefix(verb) for did in predicates)}"
    if len(predicates) > 1 and any(" and " in did for did in predicates):
        return f"{', '.join(predicates[:-1])}, and {predicates[-1]}"
    return join_names(predicates)


def _is_short(passage: ToldPassage) -> bool:
    """Return whether a place can follow the predicate of a passage, and belongs to nothing else in it."""
    return (
        passage.kind in _BEFORE_PLACE
        and len(passage.did) <= _SHORT_CLAUSE
        and not any(mark in passage.did for mark in ",:;")
    )


def _is_haul(passage: ToldPassage) -> bool:
    """Return whether a passage tells what somebody got, other than a reward."""
    return passage.kind == "got" and not passage.did.endswith(AS_REWARD)


def _hauls(group: Sequence[ToldPassage]) -> str:
    """Return what the same people got at several places: "a shawl and a key at the cider house"."""
    places = (group[0].place, *(passage.place for passage in group))
    things = [
        passage.did.removeprefix(GOT)
        + (f" {as_whereabouts(passage.place)}" if passage.place not in ("", before) else "")
        for before, passage in zip(places, group, strict=False)
    ]
    return f"{GOT}{join_names(things)}"


def _taken(passage: ToldPassage, here: str) -> str:
    """Return a quest that was taken on, with its place; `here` is the place that the reader is at."""
    if not passage.place:
        return passage.what
    return f"{passage.what} {'there' if passage.place == here else as_whereabouts(passage.place)}"


class _Writer:
    """Writes sentence after sentence, and remembers who and where the last ones were about."""

    def __init__(self, party: frozenset[str], place: str) -> None:
        self._party, self._is_named = party, False
        self._last: tuple[str, ...] = ()
        self._place = place
        self._places = {place}
        self._number = 0
        self._introduces, self._opened, self._went_back = False, "", False

    def introduce(self, passages: Sequence[ToldPassage]) -> list[Sentence]:
        """Return a first sentence that names the party and the place, if it has several members.

        A story that begins with somebody who asks the party for something needs none: that sentence names it.
        """
        first = next((passage for passage in passages if passage.kind != "told"), None)
        if first is None or len(self._party) < _GROUP or not first.place:
            return []
        if self._party == {*first.who}:
            return []
        if first.kind == "offered" and PARTY in first.did:
            self._introduces = True
            return []
        self._is_named, self._place, self._last = True, first.place, (PARTY,)
        self._places.add(first.place)
        names = join_names(sorted(self._party))
        return [Sentence(as_sentence(f"{names} were {as_whereabouts(first.place)}"), first.sources, first.at)]

    def write(self, group: Sequence[ToldPassage]) -> Sentence:
        """Return one sentence for the passages of a group."""
        first, how = group[0], group[-1].how
        where = self._where(first)
        subject = self._subject(first.who)
        if first.kind == "told":
            text = f"{where}{subject} {first.did}" if where else first.what
            self._follow(group)
            return Sentence(as_sentence(text), first.sources, first.at)
        if first.kind == "taken" and len({passage.place for passage in group}) > 1:
            text = f"{subject} took on {join_names(_taken(each, self._place) for each in group)}"
            where = ""
        elif len(group) > 1 and all(map(_is_haul, group)):
            text = f"{subject} {_hauls(group)}"
        elif first.kind == "offered" and len(group) > 1:
            text = f"{subject} {self._asked(first)}, and {self._subject(group[1].who)} {group[1].did}"
        else:
            text = f"{subject} {_joined([self._asked(each) for each in group])}"
        if (
            where
            and self._number % 2
            and len(group) == 1
            and _is_short(first)
            and not where.startswith(_FIRST)
        ):
            text = f"{text} {where[:1].lower()}{where[1:].rstrip(', ')}"
        else:
            text = f"{where or self._opening(first)}{text}"
        if how:
            # What is all one quotation needs no marks inside the marks.
            is_quoted = how[:1] == how[-1:] == '"' and how.count('"') == _PAIR
            quoted = (how[1:-1] if is_quoted else how.replace('"', "'")).rstrip()
            text = f'{text}: "{quoted}"'
        self._number += 1
        self._follow(group)
        sources = tuple(dict.fromkeys(source for each in group for source in each.sources))
        return Sentence(as_sentence(text), sources, first.at)

    def _asked(self, passage: ToldPassage) -> str:
        """Return the predicate of a passage, with the names of the party if it introduces them."""
        if not self._introduces or passage.kind != "offered":
            return passage.did
        self._introduces, self._is_named = False, True
        return passage.did.replace(PARTY, join_names(sorted(self._party)), 1)

    def _follow(self, group: Sequence[ToldPassage]) -> None:
        last = group[-1]
        self._last = last.who
        place = last.what if last.kind == "moved" else last.place
        if place:
            self._place = place
            self._places.add(place)

    def _where(self, passage: ToldPassage) -> str:
        """Return the place at the start of a sentence, if the reader does not know it yet."""
        place, before, self._went_back = passage.place, self._went_back, False
        if not place or place == self._place or place in passage.did or passage.kind in _PLACELESS:
            return ""
        there = as_whereabouts(place)
        if place not in self._places:
            return f"{there[:1].upper()}{there[1:]}, "
        if before and self._is_apart(passage):
            return f"{_MEANWHILE.rstrip()}, {there}, "
        self._went_back = True
        return f"{_BACK}{there}, "

    def _opening(self, passage: ToldPassage) -> str:
        """Return a word that leads on from the sentence before."""
        if not self._last or passage.kind in ("ended", "cleared"):
            return ""
        if self._is_apart(passage):
            self._opened = "" if self._opened == _MEANWHILE else _MEANWHILE
            return self._opened
        self._opened = _OPENINGS[self._number % len(_OPENINGS)]
        return self._opened

    def _is_apart(self, passage: ToldPassage) -> bool:
        """Return whether a passage is about others of the party than the one before it."""
        return set(passage.who).isdisjoint(self._last) and self._party.issuperset((*passage.who, *self._last))

    def _subject(self, who: tuple[str, ...]) -> str:
        """Return the subject: names at first, then "they", and "the party" for all of it."""
        if len(who) > 1 and who == self._last:
            return "they"
        if frozenset(who) == self._party and len(who) > 1:
            named, self._is_named = self._is_named, True
            return PARTY if named else join_names(who)
        return join_names(who)
