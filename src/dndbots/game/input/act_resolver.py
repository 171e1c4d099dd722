"""Resolve a verb with names of people, ways and things into an act.

Names are looked up on the character's own table, so a character can only name what it saw. A name that fits
nothing is refused, with a list of what is there.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from dndbots.errors import ActRefused
from dndbots.events import LONGEST_LABEL
from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.state.options import NEWS, Surroundings
from dndbots.game.state.table import Table
from dndbots.text.clean import one_line
from dndbots.text.labels import write_telling

_MOST_NAMED: Final = 8
_ARTICLES: Final = re.compile(r"^(?:the|a|an|my|our|this|that|to|at|with)\s+", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
# Shorter words say nothing about the topic of a deed.
_SHORTEST: Final = 4


def resolve_act(
    table: Table,
    who: str,
    verb: Verb,
    *,
    words: str = "",
    target: str | None = None,
    what: str | None = None,
) -> Act:
    """Return the act for the referee to judge. `ActRefused`, if a name fits nothing here.

    `target` and `what` are names in any case, with or without an article, or a part of a name that only one
    of those here has.
    """
    deed = _SpokenDeed(Surroundings(table, who), verb, one_line(target or ""), one_line(what or ""))
    return deed.act(words.strip()[:LONGEST_WORDS])


class _SpokenDeed:
    """A deed in the player's words, before its names are looked up."""

    def __init__(self, here: Surroundings, verb: Verb, target: str, what: str) -> None:
        self._here, self._verb, self._target, self._what = here, verb, target, what

    def act(self, words: str) -> Act:
        return _MEANINGS.get(self._verb, _SpokenDeed.talk)(self, words)

    def _made(self, words: str, *, target: str | None = None, what: str | None = None) -> Act:
        return Act(verb=self._verb, words=words, target=target, what=what)

    # One method for each kind of deed.

    def talk(self, words: str) -> Act:
        """Return speech, to a target if exactly one person here is named."""
        return self._made(words, target=self._named())

    def way(self, words: str) -> Act:
        ways, said = _same(self._here.sights.ways), self._what or self._target
        # Where only one way leads on, nobody has to name it.
        return self._made(words, what=self._of(ways, said or (next(iter(ways)) if len(ways) == 1 else "")))

    def spell(self, words: str) -> Act:
        spells = _same(self._here.table.spells(self._here.who))
        target = self._somebody() if self._target else None
        return self._made(words, what=self._of(spells, self._what), target=target)

    def thing(self, words: str) -> Act:
        here, sights = self._here, self._here.sights
        things = dict(sights.things)
        said = self._what or self._target
        if self._verb is Verb.OPEN:
            things |= {way: way for way in sights.ways}
        if self._verb is Verb.LOOK:
            things |= {uid: here.called(uid) for uid in here.people()}
        found = self._of(things, said)
        return self._made(words, what=found, target=found if found in here.people() else None)

    def quest(self, words: str) -> Act:
        quests = {uid: self._here.called(uid) for uid in self._here.quests()}
        if len(quests) == 1 and not self._what:
            quest = next(iter(quests))
        else:
            quest = self._of(quests, self._what or self._target)
        return self._made(words, what=quest, target=self._named())

    def news(self, words: str) -> Act:
        """Return a retelling of the named event, or of the one that shares most words with the line."""
        news = self._here.news()
        if not news:
            return Act(words=words)
        said = {*_content(f"{self._what} {words}")}

        def likeness(event_id: str) -> tuple[bool, int]:
            return event_id == self._what, len(said & {*_content(news[event_id])})

        return Act(verb=Verb.TELL, words=words, tells=(max(news, key=likeness),))

    def at_foes(self, words: str) -> Act:
        return self._made(words, target=self._foe())

    def _foe(self) -> str:
        foes = self._here.foes()
        if not foes:
            raise self._refused("there is no foe here")
        if len(foes) == 1 and not (self._target or self._what):
            return foes[0]
        return self._of({uid: self._here.called(uid) for uid in foes}, self._target or self._what)

    def to_somebody(self, words: str) -> Act:
        target = self._somebody()
        if self._verb is Verb.GIVE:
            items = _same(self._here.table.items(self._here.who))
            return self._made(words, target=target, what=self._of(items, self._what))
        if self._verb is Verb.ASK and words and target in self._here.friends():
            return Act(words=words, target=target)  # a friend's player answers, not the DM
        if self._verb is Verb.ASK:
            return self._made(words, target=target, what=self._topic())
        return self._made(words, target=target)

    def _topic(self) -> str:
        """Return the known topic of that name; else the words as they were said."""
        said = _plain(self._what)
        known = {_plain(topic): topic for topic in self._here.table.topics}
        return known.get(said) or write_telling(self._what[:LONGEST_LABEL]) or NEWS

    # Name lookup.

    def _everybody(self) -> dict[str, str]:
        here = self._here
        uids = (here.who, *here.friends(), *here.people(), *here.foes())
        return {uid: here.called(uid) for uid in dict.fromkeys(uids)}

    def _named(self) -> str | None:
        """Return the person here whom the target names; None unless it is exactly one."""
        found = self._matches(self._everybody(), self._target)
        return found[0] if len(found) == 1 else None

    def _somebody(self) -> str:
        return self._of(self._everybody(), self._target or self._what)

    def _of(self, known: Mapping[str, str], said: str) -> str:
        """Return the key of the one that a name fits. `ActRefused`, if it fits none or several."""
        matches = self._matches(known, said) if said else []
        if len(matches) == 1:
            return matches[0]
        choices = f"; choose from {', '.join(dict.fromkeys(known.values()))}" if known else ""
        if not said:
            reason = f"say what or whom{choices or '; there is nothing here'}"
        elif matches:
            names = ", ".join(known[key] for key in matches[:_MOST_NAMED])
            reason = f"{said!r} could be {names}; say which one"
        else:
            reason = f"there is no {said!r} here{choices}"
        raise self._refused(reason)

    def _matches(self, known: Mapping[str, str], said: str) -> list[str]:
        """Return the keys that a name fits; people also go by their looks before they had a name."""
        looks = self._here.table.looks
        return find_matches(known, said) or find_matches(
            {uid: looks[uid] for uid in known if uid in looks}, said
        )

    def _refused(self, reason: str) -> ActRefused:
        return ActRefused(self._here.who, verb=self._verb.value, reason=reason)


_MEANINGS: Final[dict[Verb, Callable[[_SpokenDeed, str], Act]]] = {
    Verb.GO: _SpokenDeed.way,
    Verb.FLEE: _SpokenDeed.way,
    Verb.LOOK: _SpokenDeed.thing,
    Verb.TAKE: _SpokenDeed.thing,
    Verb.OPEN: _SpokenDeed.thing,
    Verb.CAST: _SpokenDeed.spell,
    Verb.ACCEPT: _SpokenDeed.quest,
    Verb.REFUSE: _SpokenDeed.quest,
    Verb.TELL: _SpokenDeed.news,
    Verb.ATTACK: _SpokenDeed.at_foes,
    Verb.PARLEY: _SpokenDeed.at_foes,
    Verb.WHISPER: _SpokenDeed.to_somebody,
    Verb.ASK: _SpokenDeed.to_somebody,
    Verb.GIVE: _SpokenDeed.to_somebody,
    Verb.BIND: _SpokenDeed.to_somebody,
}


def _same(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def _plain(said: str) -> str:
    return _ARTICLES.sub("", " ".join(said.casefold().split()).strip(" .!?,;:\"'"))


def find_matches(known: Mapping[str, str], said: str) -> list[str]:
    """Return the keys of the names that fit best: by key or whole name, else by words, else by a part."""
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
    """Return the words of a name that tell it from others: articles do not count."""
    return {*_WORD.findall(name.casefold())} - {"the", "a", "an", "to", "my"}


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if len(word) >= _SHORTEST]
