"""A module as the DM looks things up in it: uids for keys, quests by giver, names in texts.

It is built from the module alone and holds no state of the game.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, Literal

from dndbots.canon.laws import AMOUNTS
from dndbots.events import StatedFact
from dndbots.game.adventures.conditions import list_questions
from dndbots.game.adventures.module import Foes, Module, ModuleFact, ModuleQuest
from dndbots.game.world.lore.local_lore import LocalLore
from dndbots.ids import opaque_slug, slug

_KINDS: Final = {"people": "npc", "places": "loc", "items": "item", "foes": "mon", "quests": "qst"}
_ARTICLE: Final = re.compile(r"^(?:an?|the|some)\s+", re.IGNORECASE)
_MOST_TEXTS: Final = 2_000


def _slugs(module: Module) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the middle part of each uid by kind and key.

    The slug comes from the name. People and shared names get an opaque one: `guard_2` would reveal that there
    is a first guard.
    """
    for field, kind in _KINDS.items():
        found = {key: _name_of(value) for key, value in getattr(module, field).items()}
        slugs = Counter(map(slug, found.values()))
        for key, name in found.items():
            is_secret = kind == "npc" or slugs[slug(name)] > 1
            yield (kind, key), opaque_slug(f"{kind}/{key}") if is_secret else slug(name)


def _name_of(value: Any) -> str:
    """Return the name of an entity; foes without one go by their monster."""
    return str(value.name or getattr(value, "monster", ""))


class Atlas:
    """A chapter's module with uids for keys: `loc_old_mill_001` is "the old mill" of the first chapter.

    Places, items, foes and quests are met by name, so their uids are made from names. People are met under a
    description, so their uids reveal nothing. With `uids="keys"`, as in older games, uids contain the keys.
    """

    def __init__(self, module: Module, chapter: int, *, uids: Literal["keys", "names"] = "keys") -> None:
        self.module, self.chapter = module, chapter
        self._ending = f"_{chapter + 1:03d}"
        self._mentions: dict[str, dict[str, str]] = {}
        self._slugs = dict(_slugs(module)) if uids == "names" else {}
        self._keys = {(kind, slug): key for (kind, key), slug in self._slugs.items()}

    def slug(self, kind: str, key: str) -> str:
        """Return the middle part of a uid. The referee notes deaths and mercy under it, not under keys."""
        return self._slugs.get((kind, key), key)

    def is_written(self, kind: str, slug: str) -> bool:
        """Return whether the slug belongs to a person or foes of the module."""
        people = self.module.people if kind == "npc" else self.module.foes
        return self._keys.get((kind, slug), slug) in people

    def uid(self, kind: str, key: str) -> str:
        return f"{kind}_{self.slug(kind, key)}{self._ending}"

    def key(self, uid: str) -> str | None:
        """Return the key of one of this chapter's entities; None for any other uid."""
        if not uid.endswith(self._ending):
            return None
        kind, _, slug = uid.removesuffix(self._ending).partition("_")
        return self._keys.get((kind, slug), slug)

    @property
    def start(self) -> str:
        return self.uid("loc", self.module.start)

    @cached_property
    def item_names(self) -> frozenset[str]:
        """The names of the items of the adventure."""
        return frozenset(item.name for item in self.module.items.values())

    @cached_property
    def later_foes(self) -> Mapping[str, list[tuple[str, Foes]]]:
        """Map each place to the foes that a happening brings there, with the key of the happening."""
        found: dict[str, list[tuple[str, Foes]]] = {}
        for happening in self.module.happenings:
            for place, foes in happening.foes.items():
                found.setdefault(place, []).append((happening.key, foes))
        return found

    @cached_property
    def lore(self) -> LocalLore:
        """The module's own words: what a question may mean by them."""
        return LocalLore(self.module)

    @cached_property
    def gives(self) -> Mapping[str, list[ModuleQuest]]:
        """Map each person to the quests they give."""
        found: dict[str, list[ModuleQuest]] = {}
        for quest in self.module.quests.values():
            if quest.giver is not None:
                found.setdefault(quest.giver, []).append(quest)
        return found

    @cached_property
    def quest_of_step(self) -> Mapping[str, str]:
        return {step: quest.key for quest in self.module.quests.values() for step in quest.steps}

    @cached_property
    def leads(self) -> Mapping[str, list[str]]:
        """Map each leader to the keys of their foes. People who stand at a place anyway are left out."""
        anyway = {key for place in self.module.places.values() for key in place.people}
        found: dict[str, list[str]] = {}
        for key, foes in self.module.foes.items():
            if foes.leader is not None and foes.leader not in anyway:
                found.setdefault(foes.leader, []).append(key)
        return found

    @cached_property
    def asked_topics(self) -> frozenset[str]:
        """The topics that a condition asks for: the log must never forget these."""
        return frozenset(
            asked.key
            for text in self._conditions()
            for asked in list_questions(text)
            if asked.question == "heard"
        )

    def _conditions(self) -> Iterator[str]:
        module = self.module
        owners: list[object] = [*module.things.values(), *module.foes.values(), *module.happenings]
        owners += [way for ways in module.ways.values() for way in ways.values()]
        for person in module.people.values():
            owners += [*person.knows, *person.reacts]
        for quest in module.quests.values():
            owners += [*quest.steps.values(), *quest.endings.values()]
            if quest.begins is not None:
                yield quest.begins
        for owner in owners:
            when = getattr(owner, "when", None)
            if when is not None:
                yield when

    # Names.

    @cached_property
    def _called(self) -> Mapping[str, str]:
        """Map the names that a text may use, in lower case, to uids."""
        found: dict[str, str] = {}
        for field, kind in _KINDS.items():
            for key, value in getattr(self.module, field).items():
                plain = _ARTICLE.sub("", _name_of(value)).casefold()
                if plain:
                    found.setdefault(plain, self.uid(kind, key))
        return found

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._called, key=lambda name: (-len(name), name))
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)

    def name(self, uid: str) -> str | None:
        """Return the true name of one of the module's entities; None for any other uid."""
        kind, key = uid.partition("_")[0], self.key(uid)
        field = next((field for field, prefix in _KINDS.items() if prefix == kind), None)
        if field is None or key is None:
            return None
        value = getattr(self.module, field).get(key)
        return None if value is None else _name_of(value)

    @cached_property
    def _proper(self) -> Mapping[str, str]:
        """Map the capitalized words of names from lower case, as topics have them."""
        names = (self.name(uid) or "" for uid in self._called.values())
        return {word.casefold(): word for name in names for word in name.split() if word[0].isupper()}

    def spelled(self, topic: str) -> str:
        """Return a topic with its names capitalized: topics are stored in lower case."""
        return " ".join(self._proper.get(word, word) for word in topic.split())

    def mentions(self, text: str) -> Mapping[str, str]:
        """Return uid and name of each entity that a text names: its hearers have heard of them."""
        found = self._mentions.get(text)
        if found is None:
            found = {}
            for match in self._pattern.finditer(text) if self._called else ():
                uid = self._called[match.group().casefold()]
                found[uid] = self.name(uid) or match.group()
            if len(self._mentions) < _MOST_TEXTS:
                self._mentions[text] = found
        return found

    # Facts.

    def subject(self, key: str) -> str | None:
        """Return the uid of the entity that a fact is about."""
        for field, kind in _KINDS.items():
            if key in getattr(self.module, field):
                return self.uid(kind, key)
        return None

    def facts(self, teaches: tuple[ModuleFact, ...]) -> list[StatedFact]:
        """Return facts as events state them, without amounts: only the rules may change those."""
        return [
            StatedFact(subject=subject, key=key, value=value)
            for fact in teaches
            if (subject := self.subject(fact.about)) is not None
            for key, value in fact.properties.items()
            if key not in AMOUNTS
        ]
