"""What somebody means who says a deed in words: people, ways and things by name become an act.

Names are looked up on the character's own table, so that nobody can be meant whom the character never saw.
What cannot be meant is refused with what there is instead.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from dndbots.errors import ActRefused
from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.options import NEWS, Place
from dndbots.game.table import Table
from dndbots.text.cleaning import one_line
from dndbots.text.labels import write_telling

_LONGEST_TOPIC: Final = 200
_MOST_NAMED: Final = 8
_ARTICLES: Final = re.compile(r"^(?:the|a|an|my|our|this|that|to|at|with)\s+", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
# Words that say nothing of what a deed was about.
_SHORTEST: Final = 4


def meant(
    table: Table,
    who: str,
    verb: Verb,
    *,
    words: str = "",
    target: str | None = None,
    what: str | None = None,
) -> Act:
    """The act that is meant, for the referee to judge; `ActRefused`, where nothing of that kind is there.

    `target` and `what` are names, in any case, with or without an article, or a part that only one has.
    """
    wish = _Wish(Place(table, who), verb, one_line(target or ""), one_line(what or ""))
    return wish.act(words.strip()[:LONGEST_WORDS])


class _Wish:
    """One deed, as it was said."""

    def __init__(self, place: Place, verb: Verb, target: str, what: str) -> None:
        self._place, self._verb, self._target, self._what = place, verb, target, what

    def act(self, words: str) -> Act:
        return _MEANINGS.get(self._verb, _Wish.talk)(self, words)

    def _made(self, words: str, *, target: str | None = None, what: str | None = None) -> Act:
        return Act(verb=self._verb, words=words, target=target, what=what)

    # What each kind of deed needs.

    def talk(self, words: str) -> Act:
        """Words, to somebody if one who is here is named."""
        return self._made(words, target=self._named())

    def way(self, words: str) -> Act:
        return self._made(words, what=self._of(_same(self._place.sights.ways), self._what or self._target))

    def spell(self, words: str) -> Act:
        spells = _same(self._place.table.spells(self._place.who))
        target = self._somebody() if self._target else None
        return self._made(words, what=self._of(spells, self._what), target=target)

    def thing(self, words: str) -> Act:
        place, sights = self._place, self._place.sights
        things = dict(sights.things)
        said = self._what or self._target
        if self._verb is Verb.OPEN:
            things |= {way: way for way in sights.ways}
        if self._verb is Verb.LOOK:
            things |= {uid: place.called(uid) for uid in place.people()}
        found = self._of(things, said)
        return self._made(words, what=found, target=found if found in place.people() else None)

    def quest(self, words: str) -> Act:
        quests = {uid: self._place.called(uid) for uid in self._place.quests()}
        if len(quests) == 1 and not self._what:
            quest = next(iter(quests))
        else:
            quest = self._of(quests, self._what or self._target)
        return self._made(words, what=quest, target=self._named())

    def news(self, words: str) -> Act:
        """What is told of: as it was said, or what the words have most in common with."""
        news = self._place.news()
        if not news:
            return Act(words=words)
        said = {*_content(f"{self._what} {words}")}

        def likeness(event_id: str) -> tuple[bool, int]:
            return event_id == self._what, len(said & {*_content(news[event_id])})

        return Act(verb=Verb.TELL, words=words, tells=(max(news, key=likeness),))

    def at_foes(self, words: str) -> Act:
        return self._made(words, target=self._foe())

    def _foe(self) -> str:
        foes = self._place.foes()
        if not foes:
            raise self._refused("no foe is here")
        if len(foes) == 1 and not (self._target or self._what):
            return foes[0]
        return self._of({uid: self._place.called(uid) for uid in foes}, self._target or self._what)

    def to_somebody(self, words: str) -> Act:
        target = self._somebody()
        if self._verb is Verb.GIVE:
            items = _same(self._place.table.items(self._place.who))
            return self._made(words, target=target, what=self._of(items, self._what))
        if self._verb is Verb.ASK and words and target in self._place.friends():
            return Act(words=words, target=target)  # they answer for themselves, and the world does not
        if self._verb is Verb.ASK:
            return self._made(words, target=target, what=self._topic())
        return self._made(words, target=target)

    def _topic(self) -> str:
        """A topic by the name that it was heard under; another one as it was said."""
        said = _plain(self._what)
        known = {_plain(topic): topic for topic in self._place.table.topics}
        return known.get(said) or write_telling(self._what[:_LONGEST_TOPIC]) or NEWS

    # Who and what is meant.

    def _everybody(self) -> dict[str, str]:
        place = self._place
        uids = (place.who, *place.friends(), *place.people(), *place.foes())
        return {uid: place.called(uid) for uid in dict.fromkeys(uids)}

    def _named(self) -> str | None:
        """Who is meant, if exactly one of those who are here is named."""
        found = self._meant_by(self._everybody(), self._target)
        return found[0] if len(found) == 1 else None

    def _somebody(self) -> str:
        return self._of(self._everybody(), self._target or self._what)

    def _of(self, known: Mapping[str, str], said: str) -> str:
        """The one that is meant among those that there are."""
        found = self._meant_by(known, said) if said else []
        if len(found) == 1:
            return found[0]
        there = ", ".join(dict.fromkeys(known.values())) if known else "nothing"
        if not said:
            reason = f"it is not said what or whom; there is {there}"
        elif found:
            reason = f"{said!r} may be {', '.join(known[one] for one in found[:_MOST_NAMED])}; say which"
        else:
            reason = f"there is no {said!r} here; there is {there}"
        raise self._refused(reason)

    def _meant_by(self, known: Mapping[str, str], said: str) -> list[str]:
        """By name, or by what somebody looked like before the name was known."""
        looks = self._place.table.looks
        return matching(known, said) or matching({uid: looks[uid] for uid in known if uid in looks}, said)

    def _refused(self, reason: str) -> ActRefused:
        return ActRefused(self._place.who, verb=self._verb.value, reason=reason)


_MEANINGS: Final[dict[Verb, Callable[[_Wish, str], Act]]] = {
    Verb.GO: _Wish.way,
    Verb.FLEE: _Wish.way,
    Verb.LOOK: _Wish.thing,
    Verb.TAKE: _Wish.thing,
    Verb.OPEN: _Wish.thing,
    Verb.CAST: _Wish.spell,
    Verb.ACCEPT: _Wish.quest,
    Verb.REFUSE: _Wish.quest,
    Verb.TELL: _Wish.news,
    Verb.ATTACK: _Wish.at_foes,
    Verb.PARLEY: _Wish.at_foes,
    Verb.WHISPER: _Wish.to_somebody,
    Verb.ASK: _Wish.to_somebody,
    Verb.GIVE: _Wish.to_somebody,
    Verb.BIND: _Wish.to_somebody,
}


def _same(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def _plain(said: str) -> str:
    return _ARTICLES.sub("", " ".join(said.casefold().split()).strip(" .!?,;:\"'"))


def matching(known: Mapping[str, str], said: str) -> list[str]:
    """Who is meant: by key or whole name, else by the words of it, else by a part of them."""
    plain = _plain(said)
    if not plain:
        return []
    if said in known:
        return [said]
    names = {key: _plain(name) for key, name in known.items()}
    words = name_words(plain)
    for fits in (
        lambda name: name == plain,
        lambda name: set() < words <= name_words(name),
        lambda name: set() < name_words(name) <= words,
        lambda name: len(plain) >= _SHORTEST and plain in name,
    ):
        found = [key for key, name in names.items() if name and fits(name)]
        if found:
            return found
    return []


def name_words(name: str) -> set[str]:
    """The words that tell one name from another."""
    return {*_WORD.findall(name.casefold())} - {"the", "a", "an", "to", "my"}


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if len(word) >= _SHORTEST]
