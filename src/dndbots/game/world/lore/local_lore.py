"""The meaning of an adventure's own words: topics, people and places that a question speaks of.

It is built from the module alone. Topics go by their names, by the module's other words for them, and by the
things that tell of them; people by name, role and looks; places by name, key and the ways that lead there.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from dndbots.game.adventures.module import Module, Person, Place
from dndbots.game.world.lore.question_words import all_stems, with_synonyms
from dndbots.text.sentences import split_sentences

_NAMED: Final = 3.0  # a topic by its own name, a person by name
BY_WORD: Final = 2.0  # by another word, a person by role
_SEEN: Final = 1.0  # by a thing that tells of it, a person by looks
_TITLES: Final = frozenset(("old", "granny", "foreman", "sister", "brother", "captain", "the"))
_VAGUE: Final = all_stems("the name")  # "her first name" is asked for in whole words only
_OFFICES: Final = all_stems("reeve warden mayor bailiff lord lady baron captain steward chief headman abbot")
_MOST_OWNERS: Final = 2
_LEAST_ALIKE: Final = 2
_PEOPLE: Final = all_stems("the lady the woman the girl the granny")  # who asks for one may mean another


class LocalLore:
    """The vocabulary of a module. All words are compared by their stems."""

    def __init__(self, module: Module) -> None:
        self.module = module

    # Topics.

    @cached_property
    def _forms(self) -> Mapping[str, list[tuple[float, frozenset[str]]]]:
        """Map each topic to the ways to speak of it, with their strength."""
        found: dict[str, list[tuple[float, frozenset[str]]]] = {}
        for topic in self._topics:
            found[topic] = [(_NAMED, all_stems(topic))]
            found[topic] += [(BY_WORD, all_stems(word)) for word in self.module.words.get(topic, ())]
        for thing in self.module.things.values():
            for topic in thing.topics:
                rare = [one for one in all_stems(thing.looks) if self._owners[one] <= _MOST_OWNERS]
                found.setdefault(topic, []).extend((_SEEN, frozenset((one,))) for one in sorted(rare))
        return {topic: [form for form in forms if form[1] - _VAGUE] for topic, forms in found.items()}

    @cached_property
    def _topics(self) -> list[str]:
        spoken = (saying for person in self.module.people.values() for saying in person.knows)
        topics = [topic for saying in spoken for topic in (*saying.about, *saying.topics)]
        topics += [topic for thing in self.module.things.values() for topic in thing.topics]
        return [*dict.fromkeys((*topics, *self.module.words))]

    @cached_property
    def _owners(self) -> Counter[str]:
        """How many things have a word in their looks."""
        return Counter(one for thing in self.module.things.values() for one in all_stems(thing.looks))

    def topic_strength(self, topic: str, stems: frozenset[str]) -> float:
        """Return how strongly words speak of a topic; 0 if they do not."""
        own = [(_NAMED, all_stems(topic))]  # a word that no adventure speaks of stands for itself
        forms, stems = self._forms.get(topic, own), with_synonyms(stems)
        return max((weight + len(form) / 10 for weight, form in forms if form <= stems), default=0.0)

    def topics_in(self, stems: frozenset[str]) -> dict[str, float]:
        """Return the topics that words speak of, with their strength, the strongest first."""
        found = {topic: strength for topic in self._forms if (strength := self.topic_strength(topic, stems))}
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def beyond_topics(self, stems: frozenset[str]) -> frozenset[str]:
        """Return the words that belong to no topic which the words speak of: what is asked about it."""
        forms = (form for topic in self.topics_in(stems) for _, form in self._forms[topic] if form <= stems)
        return stems.difference(*forms)

    # People.

    @cached_property
    def _people(self) -> Mapping[str, list[tuple[float, frozenset[str]]]]:
        found: dict[str, list[tuple[float, frozenset[str]]]] = {}
        for key, person in self.module.people.items():
            names = [word for word in person.name.split() if word.casefold() not in _TITLES]
            forms = [(_NAMED, all_stems(name)) for name in names]
            if person.role is not None:
                short = person.role.partition(" of ")[0].partition(" on ")[0]
                forms += [(BY_WORD, all_stems(name)) for name in (short, person.role, short.split()[-1])]
                forms += [(_SEEN, frozenset((one,))) for one in all_stems(person.role) - self._common]
            found[key] = [form for form in forms if form[1]]
        return found

    @cached_property
    def _common(self) -> frozenset[str]:
        """The words of roles that tell nobody apart: those of several roles, of topics, and for people."""
        roles = Counter(one for person in self.module.people.values() for one in all_stems(person.role or ""))
        several = {one for one, number in roles.items() if number > 1}
        topics = frozenset().union(*map(all_stems, self._topics))
        places = frozenset().union(*(all_stems(place.name) for place in self.module.places.values()))
        title = all_stems(self.module.title)
        return frozenset({*several, *topics, *places, *title, *_PEOPLE, *all_stems("the man the boy")})

    def people_in(self, stems: frozenset[str], *, looks: Iterable[Person] = ()) -> dict[str, float]:
        """Return the people whom words name; of those in `looks` also who is only described."""
        stems = with_synonyms(stems)
        stems = stems | {f"{one}er" for one in stems} | {f"{one}r" for one in stems}
        found: dict[str, float] = {}
        for key, forms in self._people.items():
            strength = max((weight for weight, form in forms if form <= stems), default=0.0)
            if strength:
                found[key] = strength
        for person in looks:
            alike = self._looks_of(person) & (stems | _PEOPLE if stems & _PEOPLE else stems)
            if person.key not in found and len(alike) >= _LEAST_ALIKE:
                found[person.key] = _SEEN
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def _looks_of(self, person: Person) -> frozenset[str]:
        """Return the words that describe a person: their looks, and the sentence that shows them at home."""
        own = all_stems(person.seen_as)
        home = self.module.places.get(self.module.person_at.get(person.key, ""))
        shown = (all_stems(one) for text in (home.looks if home else ()) for one in split_sentences(text))
        return own.union(*(words for words in shown if len(words & own) >= _LEAST_ALIKE))

    # Places.

    @cached_property
    def _places(self) -> Mapping[str, list[frozenset[str]]]:
        found = {
            place.key: [all_stems(place.name), all_stems(place.key.replace("_", " "))]
            for place in self.module.places.values()
        }
        for ways in self.module.ways.values():
            for label, way in ways.items():
                if not way.hidden and way.to in found and way.label in self._outward:
                    found[way.to].append(all_stems(label))
        return {key: [form for form in forms if form] for key, forms in found.items()}

    @cached_property
    def _outward(self) -> frozenset[str]:
        """The labels of written ways: a way back is named after nothing."""
        return frozenset(label for place in self.module.places.values() for label in place.exits)

    def place_in(self, stems: frozenset[str]) -> Place | None:
        """Return the place that words speak of, if there is one."""
        stems = with_synonyms(stems)
        named = {
            key: max((len(form) for form in forms if form <= stems), default=0)
            for key, forms in self._places.items()
        }
        best = max(named, key=lambda key: named[key], default=None)
        return self.module.places[best] if best is not None and named[best] else None

    def keeper_of(self, place: str) -> Person | None:
        """Return who belongs to a place: whose role names it, else who has most to say there."""
        there = [
            person
            for key, person in self.module.people.items()
            if self.module.person_at.get(key) == place and person.role is not None and not person.hidden
        ]
        name = all_stems(self.module.places[place].name)
        return max(
            there,
            key=lambda person: (len(name & all_stems(str(person.role))), len(person.knows)),
            default=None,
        )

    @cached_property
    def ruler(self) -> Person | None:
        """The person who has the say in the neighborhood, by their office."""
        people = [one for one in self.module.people.values() if one.role is not None and not one.hidden]
        office = ((one, all_stems(str(one.role).partition(" of ")[0].split()[-1])) for one in people)
        return next((one for one, words in office if words & _OFFICES), None)

    def kin_of(self, person: Person) -> Iterator[Person]:
        """Yield the people with the same family name."""
        _, _, family = person.name.partition(" ")
        for other in self.module.people.values():
            if family and other.key != person.key and other.name.endswith(f" {family}"):
                yield other

    def giver_beside(self, person: Person, givers: Iterable[str]) -> Person | None:
        """Return a neighbor of a person who wants something done, as far as everybody knows; else None."""
        people = (self.module.people[key] for key in givers if key in self.module.people)
        known = (one for one in people if one.role is not None and not one.hidden and one != person)
        return next(known, None) if person.role is not None else None

    def seller_of(self, stems: frozenset[str]) -> Person | None:
        """Return the person who sells what the question asks for."""
        goods = {
            person.key: self.sells(" ".join((*person.wares, person.life.get("sells", ""))), stems)
            for person in self.module.people.values()
            if person.role is not None and (person.wares or "sells" in person.life)
        }
        best = max(goods, key=lambda key: (goods[key], bool(self.module.people[key].wares)), default=None)
        return self.module.people[best] if best is not None and goods[best] else None

    def sells(self, words: str, stems: frozenset[str]) -> int:
        """Return how much of what a question asks for is in somebody's words on their wares."""
        return len(all_stems(words) & stems)

    def way_between(self, start: str, goal: str) -> list[str]:
        """Return the labels of the ways from one place to another, on ways that everybody knows."""
        seen, queue = {start}, deque[tuple[str, list[str]]]([(start, [])])
        while queue:
            place, path = queue.popleft()
            if place == goal:
                return path
            for label, to in self._open_ways(place):
                if to not in seen:
                    seen.add(to)
                    queue.append((to, [*path, label]))
        return []

    def _open_ways(self, place: str) -> Iterator[tuple[str, str]]:
        for label, way in self.module.ways.get(place, {}).items():
            if not (way.hidden or way.locked or way.stuck or way.when):
                yield label, way.to
