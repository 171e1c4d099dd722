"""What a module holds, looked up the way the DM needs it. It is made from the module alone and keeps nothing
of the game.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, Literal

from dndbots.canon.laws import AMOUNTS
from dndbots.events import StatedFact
from dndbots.game.adventures.values import Fact, Foes, Module, Quest
from dndbots.game.adventures.when import keys
from dndbots.ids import opaque_slug, slug

_KINDS: Final = {"people": "npc", "places": "loc", "items": "item", "foes": "mon", "quests": "qst"}
_ARTICLE: Final = re.compile(r"^(?:an?|the|some)\s+", re.IGNORECASE)
_MOST_TEXTS: Final = 2_000


def _slugs(module: Module) -> Iterator[tuple[tuple[str, str], str]]:
    """By kind and key, the middle of each uid. A second one of a name would tell that there is a first."""
    for field, kind in _KINDS.items():
        found = {key: _name_of(value) for key, value in getattr(module, field).items()}
        slugs = Counter(map(slug, found.values()))
        for key, name in found.items():
            is_secret = kind == "npc" or slugs[slug(name)] > 1
            yield (kind, key), opaque_slug(f"{kind}/{key}") if is_secret else slug(name)


def _name_of(value: Any) -> str:
    """What one of a module's entities is called; foes may only have the name of their kind."""
    return str(value.name or getattr(value, "monster", ""))


class Atlas:
    """A chapter's module with uids for keys: `loc_old_mill_001` is "the old mill" of the first chapter.

    Whoever meets something in the module is told its name, so its uid comes from that. People are met under
    a description, so theirs tells nothing. With `uids="keys"`, as in older games, uids have keys in them.
    """

    def __init__(self, module: Module, chapter: int, *, uids: Literal["keys", "names"] = "keys") -> None:
        self.module, self.chapter = module, chapter
        self._ending = f"_{chapter + 1:03d}"
        self._mentions: dict[str, dict[str, str]] = {}
        self._slugs = dict(_slugs(module)) if uids == "names" else {}
        self._keys = {(kind, slug): key for (kind, key), slug in self._slugs.items()}

    def slug(self, kind: str, key: str) -> str:
        """The middle of a uid. The referee, who knows no keys, notes under it who was killed or spared."""
        return self._slugs.get((kind, key), key)

    def is_written(self, kind: str, slug: str) -> bool:
        """Whether this is the middle of the uid of somebody in the module."""
        people = self.module.people if kind == "npc" else self.module.foes
        return self._keys.get((kind, slug), slug) in people

    def uid(self, kind: str, key: str) -> str:
        return f"{kind}_{self.slug(kind, key)}{self._ending}"

    def key(self, uid: str) -> str | None:
        """The key of one of this chapter's entities; None for any other uid."""
        if not uid.endswith(self._ending):
            return None
        kind, _, slug = uid.removesuffix(self._ending).partition("_")
        return self._keys.get((kind, slug), slug)

    @property
    def start(self) -> str:
        return self.uid("loc", self.module.start)

    @cached_property
    def later_foes(self) -> Mapping[str, list[tuple[str, Foes]]]:
        """By place, the foes whom a happening brings there, each with that happening."""
        found: dict[str, list[tuple[str, Foes]]] = {}
        for happening in self.module.happenings:
            for place, foes in happening.foes.items():
                found.setdefault(place, []).append((happening.key, foes))
        return found

    @cached_property
    def gives(self) -> Mapping[str, list[Quest]]:
        """By person, the quests that they have to give."""
        found: dict[str, list[Quest]] = {}
        for quest in self.module.quests.values():
            if quest.giver is not None:
                found.setdefault(quest.giver, []).append(quest)
        return found

    @cached_property
    def quest_of_step(self) -> Mapping[str, str]:
        return {step: quest.key for quest in self.module.quests.values() for step in quest.steps}

    @cached_property
    def leads(self) -> Mapping[str, list[str]]:
        """By person, the keys of the foes with whom they come. Who is at a place anyway comes with nobody."""
        anyway = {key for place in self.module.places.values() for key in place.people}
        found: dict[str, list[str]] = {}
        for key, foes in self.module.foes.items():
            if foes.leader is not None and foes.leader not in anyway:
                found.setdefault(foes.leader, []).append(key)
        return found

    @cached_property
    def asked_topics(self) -> frozenset[str]:
        """The topics that a condition asks for: these must never be forgotten."""
        return frozenset(
            asked.key for text in self._conditions() for asked in keys(text) if asked.question == "heard"
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
        """What a text may call an entity, in lower case, and whom it means."""
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
        """What one of the module's entities is really called."""
        kind, key = uid.partition("_")[0], self.key(uid)
        field = next((field for field, prefix in _KINDS.items() if prefix == kind), None)
        if field is None or key is None:
            return None
        value = getattr(self.module, field).get(key)
        return None if value is None else _name_of(value)

    @cached_property
    def _proper(self) -> Mapping[str, str]:
        """Words of names, by how a topic has them."""
        names = (self.name(uid) or "" for uid in self._called.values())
        return {word.casefold(): word for name in names for word in name.split() if word[0].isupper()}

    def spelled(self, topic: str) -> str:
        """A topic as one writes it: topics are kept in lower case, names are not."""
        return " ".join(self._proper.get(word, word) for word in topic.split())

    def mentions(self, text: str) -> Mapping[str, str]:
        """The entities that a text names: whoever hears it has heard of them."""
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
        """The uid of whatever a fact is about."""
        for field, kind in _KINDS.items():
            if key in getattr(self.module, field):
                return self.uid(kind, key)
        return None

    def facts(self, teaches: tuple[Fact, ...]) -> list[StatedFact]:
        """Facts as events state them. What the rules count is not for a module to state."""
        return [
            StatedFact(subject=subject, key=key, value=value)
            for fact in teaches
            if (subject := self.subject(fact.about)) is not None
            for key, value in fact.properties.items()
            if key not in AMOUNTS
        ]
