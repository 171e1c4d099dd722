"""The names of everything around a character, and a search that finds what a few typed words mean.

All names come from the character's own table: nothing is found that the character does not know.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from dndbots.events import EventType
from dndbots.game.input.vocabulary.hearers import find_hearer
from dndbots.game.input.vocabulary.lexicon import word_group, word_lists
from dndbots.game.input.vocabulary.typed_words import TypedWord
from dndbots.game.input.vocabulary.word_roots import (
    SHORTEST_MISTYPED,
    alike_groups,
    is_near,
    is_size,
    person_roots,
    root_of,
    root_of_noun,
    roots_in,
    shows_trade,
)
from dndbots.game.state.options import Surroundings
from dndbots.game.state.table import Table
from dndbots.rules.characters.equipment import Weapon, recognised
from dndbots.text.english_words import STOP_WORDS
from dndbots.text.sentences import split_sentences
from dndbots.text.words import words_of

PERSON, FOE, FRIEND, SELF = "person", "foe", "friend", "self"
WAY, THING, ITEM, SPELL, OFFER = "way", "thing", "item", "spell", "offer"
BEINGS: Final = (PERSON, FOE, FRIEND, SELF)

_EXACT, _MISTYPED, _KIN, _ALIKE, _FEATURE, _NEARBY, _ANY, _MISSED = 1.0, 0.9, 0.9, 0.6, 0.5, 0.4, 0.45, 0.1
_ENOUGH: Final = 0.3
_LOOKS_SHARED: Final = 2
_INNS: Final = frozenset(("inn", "tavern", "taproom", "alehouse", "pub"))
_TELLING: Final = (EventType.DM_NARRATION, EventType.DISCOVERY, EventType.LOCATION_CHANGE)
_MASCULINE, _FEMININE = "m", "f"
_HE: Final = frozenset(("he", "him", "his", "himself"))
_SHE: Final = frozenset(("she", "her", "hers", "herself"))
_THEY: Final = frozenset(("they", "them", "their", "theirs", "themselves", "these", "those"))
_IT: Final = frozenset(("it", "its", "this", "that", "itself"))
_LEADING: Final = frozenset(("into", "onto", "to", "by"))  # words of a way that name no place
_HEROES: Final = frozenset(("hero", "heroine", "adventurer", "protagonist"))
_UNNAMED: Final = frozenset(("thing", "things", "object", "objects", "doohickey", "thingy"))
_ARMS: Final = frozenset(("weapon", "weapons"))
_OWNERS: Final = frozenset(("his", "her", "their", "its"))
_NAME: Final = re.compile(
    r"(?<=\b[Mm]y )[A-Z][a-z]+|(?<=\b[Oo]ur )[A-Z][a-z]+|(?<=called )[A-Z][a-z]+"
)  # "my Rafe"
PRONOUNS: Final = _HE | _SHE | _THEY | _IT


@dataclass(frozen=True, slots=True)
class SceneName:
    """Something around a character: its kind, its key for an act, its label, and the words it goes by."""

    kind: str
    key: str
    label: str
    words: frozenset[str] = frozenset()
    roots: frozenset[str] = frozenset()
    around: frozenset[str] = frozenset()
    speech: frozenset[str] = frozenset()
    gender: str = ""
    age: str = ""


@dataclass
class SceneNames:
    """Everything that a character can name, with what was said and told lately."""

    table: Table
    who: str
    here: Surroundings = field(init=False)
    line: str = ""  # what was typed: of several persons, it is to the one who spoke of the matter
    mentioned: SceneName | None = None  # who was named last in the line
    mentioned_thing: SceneName | None = None  # what was named last in the line

    def __post_init__(self) -> None:
        self.here = Surroundings(self.table, self.who)

    # What is here.

    @cached_property
    def persons(self) -> list[SceneName]:
        return [self._being(PERSON, uid) for uid in self.here.people() if uid.startswith("npc_")]

    @cached_property
    def foes(self) -> list[SceneName]:
        """Foes who fight come first, then those who stand by."""
        uids = dict.fromkeys(
            (*self.here.foes(), *(uid for uid in self.here.people() if uid.startswith("mon_")))
        )
        return [self._being(FOE, uid) for uid in uids]

    @cached_property
    def friends(self) -> list[SceneName]:
        return [self._being(FRIEND, uid) for uid in self.here.friends()]

    @cached_property
    def me(self) -> SceneName:
        return self._being(SELF, self.who)

    @cached_property
    def my_titles(self) -> frozenset[str]:
        """Return what the character is called by class: "the halfling"; nothing if a friend is the same."""
        mine = str(self.table.fact(self.who, "class", "")).casefold()
        others = {str(self.table.fact(uid, "class", "")).casefold() for uid in self.here.friends()}
        called = {*word_lists().classes.get(mine, ()), *words_of(mine), *_HEROES}
        return frozenset() if mine in others else frozenset(called)

    @cached_property
    def ways(self) -> list[SceneName]:
        table, place = self.table, self.here.uid
        known = table.ways.get(place, {})
        found = []
        for way in self.here.sights.ways:
            there = known.get(way)
            leads = table.name(there) if there is not None and there in table.names else ""
            found.append(_named(WAY, way, way, f"{way} {leads}"))
        return found

    @cached_property
    def things(self) -> list[SceneName]:
        return [_named(THING, key, looks, looks) for key, looks in self.here.sights.things.items()]

    @cached_property
    def items(self) -> list[SceneName]:
        found = []
        for item in self.table.items(self.who):
            known = recognised(item)
            also = "" if known is None else f"{known.name} {_words_of_aliases(known.aliases)}"
            found.append(_named(ITEM, item, item, f"{item} {also}"))
        return found

    @cached_property
    def spells(self) -> list[SceneName]:
        return [_named(SPELL, spell, spell, spell) for spell in dict.fromkeys(self.table.spells(self.who))]

    @cached_property
    def offers(self) -> list[SceneName]:
        return [
            _named(OFFER, uid, self.here.called(uid), self.here.called(uid)) for uid in self.here.quests()
        ]

    @property
    def quests(self) -> list[str]:
        """The quests that the character knows of, answered or not."""
        return [uid for uid in self.table.facts if uid.startswith("qst_")]

    @cached_property
    def beings(self) -> list[SceneName]:
        return [*self.persons, *self.foes, *self.friends, self.me]

    def of_kinds(self, kinds: Iterable[str]) -> Iterator[SceneName]:
        for kind in kinds:
            yield from [self.me] if kind == SELF else getattr(self, f"{kind}s")

    @property
    def is_fight(self) -> bool:
        return self.here.fight is not None

    # What was told of it.

    @cached_property
    def told(self) -> list[str]:
        """Return the sentences that were told at this place lately, newest last."""
        here = self.here.uid
        return [
            sentence
            for event in self.table.lately
            if event.event_type in _TELLING and event.known.location == here
            for sentence in split_sentences(event.content)
        ]

    @cached_property
    def scenery(self) -> frozenset[str]:
        """Return the roots of all words that were told or said at this place lately."""
        here = self.here.uid
        texts = (event.content for event in self.table.lately if event.known.location == here)
        return frozenset().union(*map(roots_in, texts))

    def sentences_with(self, word: str) -> list[str]:
        """Return the sentences told here that have a word, or one like it."""
        groups, root = alike_groups(word), root_of(word)

        def has(sentence: str) -> bool:
            return any(root_of(one) == root or groups & alike_groups(one) for one in words_of(sentence))

        return [sentence for sentence in self.told if has(sentence)]

    def said_by(self, uid: str) -> str:
        """Return what somebody said here lately."""
        return " ".join(event.content for event in self.table.lately if event.source == uid)

    @cached_property
    def speaker(self) -> SceneName | None:
        """Return the person whom a line is to if it names nobody."""
        return find_hearer(self)

    def _being(self, kind: str, uid: str) -> SceneName:
        label = self.here.called(uid)
        looks = self.table.looks.get(uid, "")
        words = {*words_of(label), *words_of(looks)} - word_group("plain") - STOP_WORDS
        people = word_lists().people
        around: set[str] = set()
        speech: set[str] = set()
        if kind == PERSON:
            own = roots_in(looks) - word_group("plain")
            for sentence in self.told:
                roots = roots_in(sentence)
                if len(own & roots) >= min(_LOOKS_SHARED, len(own)):
                    around |= roots
            speech = {*roots_in(self.said_by(uid))}
            if label == looks:
                words |= self._names_told_of(uid, own - person_roots() - STOP_WORDS)
        elif kind == FRIEND:
            words |= self._called_by_class(uid)
        is_male, is_female = bool(words & people["male"]), bool(words & people["female"])
        gender = _MASCULINE if is_male and not is_female else _FEMININE if is_female else ""
        age = "young" if words & people["young"] else "old" if words & people["old"] else ""
        return SceneName(
            kind=kind,
            key=uid,
            label=label,
            words=frozenset(words),
            roots=frozenset(map(root_of, words)),
            around=frozenset(around),
            speech=frozenset(speech),
            gender=gender if kind == PERSON else "",
            age=age if kind == PERSON else "",
        )

    def _called_by_class(self, uid: str) -> set[str]:
        """Return what a friend is called by class: "our mage". Nothing if another one has the same class."""
        classes = {one: str(self.table.fact(one, "class", "")).casefold() for one in self.here.friends()}
        is_only = sum(name == classes[uid] for name in classes.values()) == 1
        return {*word_lists().classes.get(classes[uid], ())} if is_only else set()

    def _names_told_of(self, uid: str, own: frozenset[str]) -> set[str]:
        """Return names that others used for somebody unnamed here: in what they said of the same matter."""
        table = self.table
        known = {word for name in table.names.values() for word in words_of(name)}
        names: set[str] = set()
        for event in table.lately:
            if event.source in (uid, self.who) or event.known.location != self.here.uid:
                continue
            if own & roots_in(event.content):
                names |= {name.casefold() for name in _NAME.findall(event.content)}
        return names - known

    # Search.

    def find(self, words: Sequence[TypedWord | str], kinds: Iterable[str]) -> SceneName | None:
        """Return what some words mean, the likeliest one; None if nothing of these kinds fits."""
        return next(iter(self.find_all(words, kinds)), None)

    def find_all(self, words: Sequence[TypedWord | str], kinds: Iterable[str]) -> list[SceneName]:
        """Return what some words may mean, the likeliest first."""
        texts = [word if isinstance(word, str) else word.text for word in words]
        kinds = [kind for kind in kinds if kind != THING or texts[:1] != ["my"]]
        content = [text for text in texts if text not in word_group("plain") and text.isalnum()]
        if any(text in PRONOUNS for text in texts) and len(content) <= 1:
            pronoun = next(text for text in texts if text in PRONOUNS)
            meant = self.pronoun(pronoun, kinds)
            if meant is not None and all(text in PRONOUNS for text in content):
                return [meant]
        content = [text for text in content if text not in PRONOUNS]
        unnamed = self._unnamed_thing(texts, content) if THING in kinds else None
        if unnamed is not None and unnamed.kind in kinds:
            return [unnamed]
        if not content:
            return self._by_size(texts, kinds)
        possessive = next((text for text in texts if text in _OWNERS), None)
        if possessive is not None and content[-1] in word_group("body") | word_group("clothes"):
            owner = self.pronoun(possessive, kinds)  # "in their faces"
            return [] if owner is None else [owner]
        if any(kind in BEINGS for kind in kinds):
            content = [text for text in content if text not in word_group("body")] or content
        head = content[-1]
        scored = []
        for number, name in enumerate(self.of_kinds(kinds)):
            score, is_named = self._score(name, content, head)
            if is_named and score >= _ENOUGH:
                scored.append((-score, name is not self.speaker, number, name))
        scored.sort(key=lambda found: found[:3])
        return [found[3] for found in scored]

    def _unnamed_thing(self, texts: Sequence[str], content: Sequence[str]) -> SceneName | None:
        """Return what "one", "that thing" or "the lid" means: what was named last, or the only thing here."""
        only = self.things[0] if len(self.things) == 1 else None
        if self.mentioned_thing is not None and texts[-1:] == ["one"] and len(content) <= 1:
            return self.mentioned_thing  # "touch one"
        if not content:
            return only if [*texts] == ["one"] and self.host is None else None
        if self.things and all(word in _UNNAMED for word in content):
            return self.mentioned_thing or self.things[0]
        if not all(word in word_group("part") for word in content):
            return None
        return self._door if self._door is not None and word_group("door_part") & {*content} else only

    @cached_property
    def _door(self) -> SceneName | None:
        """Return the only way that is a door: a lock or a hinge is a part of it."""
        doors = [way for way in self.ways if word_group("door_like") & {*words_of(way.label)}]
        return doors[0] if len(doors) == 1 else None

    def _by_size(self, texts: Sequence[str], kinds: Sequence[str]) -> list[SceneName]:
        """Return foes for "the biggest one", "the one on the left"."""
        if (
            FOE in kinds
            and self.foes
            and any(is_size(text) or text in ("one", "both", "all") for text in texts)
        ):
            return self.foes[:1]
        return []

    def _score(self, name: SceneName, content: Sequence[str], head: str) -> tuple[float, bool]:
        """Return how well words fit a name, and whether the word that counts is among those that do."""
        total, is_named = 0.0, False
        for word in content:
            worth = self.worth(name, word)
            if worth is None:
                return 0.0, False
            total += worth or -_MISSED
            if worth >= _MISTYPED or (worth >= _ANY and word == head):
                is_named = True
        return total, is_named

    def worth(self, name: SceneName, word: str) -> float | None:
        """Return what a word counts for a name; None if it cannot be meant."""
        root = root_of(word)
        plain = word_group("body") | word_group("hard")
        if name.kind == ITEM and word in plain and word != name.label.split()[-1]:
            return 0.0  # "my hands" are no hand axe, "the iron" is no iron spike
        if root in name.roots:
            # "The stairs" are not the stair rats.
            is_head = name.kind != FOE or root == root_of_noun(name.label)
            return _EXACT if is_head else _NEARBY
        is_told = root in self.scenery  # a boot that was told of is no mistyped book
        if len(word) >= SHORTEST_MISTYPED and not is_told and any(is_near(word, one) for one in name.words):
            return _MISTYPED
        if name.kind == FOE:
            return self._foe_worth(name, word)
        if name.kind == PERSON:
            return self._person_worth(name, word)
        return _ALIKE if name.kind not in BEINGS and _is_alike(name, word) else 0.0

    def _foe_worth(self, name: SceneName, word: str) -> float:
        lists = word_lists()
        for kin, words in lists.kin.items():
            if word in words and kin in name.roots | {root_of(one) for one in name.words}:
                return _KIN
        return _ANY if word in lists.people["foe"] or is_size(word) else 0.0

    def _person_worth(self, name: SceneName, word: str) -> float | None:
        if self._contradicts(name, word):
            return None
        people, trades = word_lists().people, word_lists().trades
        if root_of(word) in name.around:
            return _FEATURE if word in trades or self._is_person_word(word) else _NEARBY
        if word in trades:
            shown = name.around | name.roots
            shared = {root_of(one) for one in trades[word]} & (shown | name.speech)
            speaks_of = len(self.persons) == 1 and root_of(word) in name.speech
            is_another = not shared and (speaks_of or shows_trade(shown))
            is_another = is_another or (name.age == "young" and word not in people["young"])
            return 0.0 if is_another else _ALIKE if shared else _ANY  # they may speak of somebody else
        if self._is_person_word(word):
            return _FEATURE if name.age != "young" or word in people["young"] else _ANY
        return 0.0

    def _contradicts(self, name: SceneName, word: str) -> bool:
        """Check that a word is for somebody of another gender or age."""
        people, alone = word_lists().people, len(self.persons) == 1
        return (
            (word in people["male"] and name.gender == _FEMININE)
            or (word in people["female"] and name.gender == _MASCULINE)
            or (word in people["young"] and name.age != "young" and not (alone and self._is_childless))
            or (word in people["old"] and name.age != "old" and not alone)
        )

    @cached_property
    def _is_childless(self) -> bool:
        """Check that no child was told of here."""
        return not self.scenery & {root_of(word) for word in ("boy", "girl", "child", "son", "daughter")}

    @staticmethod
    def _is_person_word(word: str) -> bool:
        people = word_lists().people
        return any(word in people[kind] for kind in ("male", "female", "old", "young", "any"))

    # Pronouns.

    def _agrees(self, word: str, name: SceneName) -> bool:
        """Check that a pronoun can stand for a name."""
        if word in _HE or word in _SHE:
            wanted = _MASCULINE if word in _HE else _FEMININE
            return name.kind in BEINGS and name.gender in (wanted, "")
        return name.kind in (FOE, THING, ITEM)

    @cached_property
    def host(self) -> SceneName | None:
        """Return the person who serves food and drink here, by what is told of them, or alone in an inn."""
        served = {root_of(word) for word in word_lists().trades["innkeeper"]}
        hosts = (name for name in self.persons if len(served & (name.around | name.speech)) >= _LOOKS_SHARED)
        only = self.persons[0] if len(self.persons) == 1 and self._is_inn else None
        return next(hosts, only)

    @property
    def _is_inn(self) -> bool:
        """Check that a way which is named after an inn led here."""
        taken = (
            way for ways in self.table.ways.values() for way, end in ways.items() if end == self.here.uid
        )
        return any(not _INNS.isdisjoint(words_of(way)) for way in taken)

    @cached_property
    def talking_foes(self) -> SceneName | None:
        """Return foes who do not fight and were heard to speak here."""
        if self.is_fight or not self.foes:
            return None
        spoken = [sentence for sentence in self.told if '"' in sentence]
        roots = frozenset[str]().union(*map(roots_in, self.told))
        return next((foe for foe in self.foes if spoken and foe.roots & roots), None)

    @property
    def listener(self) -> SceneName | None:
        """Return the person whom a line is to if it names nobody: who was just named, or who spoke last."""
        is_person = self.mentioned is not None and self.mentioned.kind == PERSON
        return self.mentioned if is_person else self.speaker

    def pronoun(self, word: str, kinds: Iterable[str] = BEINGS) -> SceneName | None:
        """Return whom a pronoun means: who fits it and was last spoken of."""
        kinds = [*kinds]
        thing = self.mentioned_thing
        if thing is not None and thing.kind in kinds and (word in _IT or word in _THEY):
            return thing
        mentioned = self.mentioned
        if mentioned is not None and mentioned.kind in kinds and self._agrees(word, mentioned):
            return mentioned
        if word in _THEY or word in _IT:
            return self._plural(word, kinds)
        fallen = [name for name in self.friends if FRIEND in kinds and self.table.conditions(name.key)]
        if self.is_fight and fallen:
            return fallen[0]
        fitting = [name for name in self.persons if PERSON in kinds and self._agrees(word, name)]
        if fitting:
            return self.speaker if self.speaker in fitting else fitting[0]
        alone = self.friends if FRIEND in kinds and len(self.friends) == 1 and not self.persons else []
        foes = self.foes if FOE in kinds else []
        return next(iter((*fallen, *alone, *foes)), None)

    def _plural(self, word: str, kinds: Sequence[str]) -> SceneName | None:
        """Return whom "they" or "it" means: foes first, then the only thing, then who speaks."""
        if FOE in kinds and self.foes:
            return self.foes[0]
        if word in _IT:
            return self.things[0] if THING in kinds and len(self.things) == 1 else None
        return self.speaker if PERSON in kinds else None


def _named(kind: str, key: str, label: str, text: str) -> SceneName:
    words = {
        word
        for word in re.split(r"\W+", " ".join(words_of(text)))
        if word and word not in word_group("plain") and word not in _LEADING
    }
    return SceneName(
        kind=kind, key=key, label=label, words=frozenset(words), roots=frozenset(map(root_of, words))
    )


def _words_of_aliases(aliases: Iterable[str]) -> str:
    """Return the words of other names. A part of a longer one is left out if it means something by itself."""
    parts = (alias.split() for alias in aliases)  # the steel of "flint and steel" is no sword
    hard = word_group("hard")
    words = (word for part in parts for word in part if len(part) == 1 or not alike_groups(word))
    return " ".join(word for word in words if word not in hard)  # iron rations are not "the iron"


def _is_alike(name: SceneName, word: str) -> bool:
    """Check for a synonym. A word for another piece of equipment is none: a torch is no lantern."""
    meant, carried = (recognised(word), recognised(name.key)) if name.kind == ITEM else (None, None)
    if word in _ARMS and isinstance(carried, Weapon):
        return True
    is_other = meant is not None and carried is not None and meant != carried
    return not is_other and any(alike_groups(word) & alike_groups(one) for one in name.words)
