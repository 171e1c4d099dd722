"""The slots of a deed: what its object and the words around it mean, among all that is here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import dropwhile
from typing import Final

from dndbots.events import LONGEST_LABEL
from dndbots.game.input.grammar.clauses import Clause
from dndbots.game.input.vocabulary.lexicon import VerbMatch, VerbSense, verb_lexicon, word_lists
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    PERSON,
    PRONOUNS,
    SELF,
    SPELL,
    THING,
    WAY,
    SceneName,
    SceneNames,
)
from dndbots.game.input.vocabulary.typed_words import TypedWord
from dndbots.game.input.vocabulary.word_roots import root_of
from dndbots.rules.characters.equipment import recognised

OTHERS: Final = (FOE, PERSON, FRIEND)
_WITH: Final = frozenset(("with", "using", "from"))
_NO_CUT: Final = frozenset(("as", "after", "before", "like", "than"))
_MOST_NAME: Final = 6
_OWN: Final = frozenset(("my",))
_THEIR_OWN: Final = frozenset(("his", "her", "their"))
_ALWAYS_OWN: Final = frozenset(("might", "strength", "weapon", "weapons", "friends"))
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
}  # fmt: skip


@dataclass
class DeedSlots:
    """The words behind a verb: its direct object, and the parts behind prepositions."""

    scene: SceneNames
    clause: Clause
    match: VerbMatch
    words: Sequence[TypedWord]
    object: list[TypedWord] = field(init=False)
    parts: list[tuple[str, list[TypedWord]]] = field(init=False)

    def __post_init__(self) -> None:
        gap, rest = self.match.gap, [*self.words[self.match.end :]]
        self.object, self.parts = _divided(rest)
        if gap is not None:
            behind = self.object
            self.object, more = _divided([*self.words[gap[0] : gap[1]]])
            last = self.match.phrase[-1]
            if behind:
                self.parts = [(last, behind), *self.parts]
            self.parts = [*more, *self.parts]
            if self.match.second is not None:
                start, stop = self.match.second
                self.parts = [(self.words[start - 1].text, [*self.words[start:stop]]), *self.parts]
        elif self.match.phrase[-1] in word_lists().groups["preposition"] and len(self.match.phrase) > 1:
            self.parts = [(self.match.phrase[-1], self.object), *self.parts] if self.object else self.parts

    @property
    def sense(self) -> VerbSense:
        return self.match.sense

    # Words.

    @cached_property
    def all_words(self) -> list[TypedWord]:
        """The words of the object and of all parts."""
        return [*self.object, *(word for _, words in self.parts for word in words)]

    @property
    def is_empty(self) -> bool:
        return not self.object and not self.parts

    def behind(self, *prepositions: str) -> list[TypedWord]:
        """Return the words behind the first of these prepositions."""
        return next((words for preposition, words in self.parts if preposition in prepositions), [])

    @cached_property
    def noun(self) -> str:
        """The object as it was typed, without an article; else what stands behind a preposition."""
        named = _noun_in(self.object)
        last = self.match.phrase[-1]
        if named and self.match.gap is not None and last in word_lists().groups["fixture"] | {"door"}:
            return f"{named} {last}"  # the iron door of "knock on * door"
        return named or self.noun_behind

    @cached_property
    def noun_behind(self) -> str:
        """The noun behind the first preposition that has one."""
        return next((noun for _, words in self.parts if (noun := _noun_in(words))), "")

    # Meanings.

    def find(self, kinds: Iterable[str]) -> SceneName | None:
        """Return what is meant, in the object or else behind a preposition."""
        kinds = [*kinds]
        for words in (self.object, *(words for _, words in self.parts)):
            found = self.scene.find(words, kinds) if words else None
            if found is not None:
                return found
        return None

    def find_object(self, kinds: Iterable[str]) -> SceneName | None:
        return self.scene.find(self.object, kinds) if self.object else None

    @cached_property
    def being(self) -> SceneName | None:
        return self.find(OTHERS)

    @cached_property
    def object_being(self) -> SceneName | None:
        return self.find_object(OTHERS)

    @cached_property
    def thing(self) -> SceneName | None:
        return self.find((THING,))

    @cached_property
    def item(self) -> SceneName | None:
        return self.find((ITEM,))

    @cached_property
    def way(self) -> SceneName | None:
        return self.find((WAY,))

    @cached_property
    def spell(self) -> SceneName | None:
        return self.find((SPELL,))

    @cached_property
    def means(self) -> SceneName | None:
        """The item that it is done with."""
        behind = next((words for preposition, words in self.parts if preposition in _WITH), [])
        found = self.scene.find(behind, (ITEM,)) if behind else None
        return found or self.find_object((ITEM,))

    @cached_property
    def lacking(self) -> str:
        """Return what is called the own of the character and is not carried: "my sword"; else nothing."""
        behind, named = self.behind("with", "using"), self._with_owner(self.object)
        lacks_object = self._lacks(named) and recognised(_noun_in(named)) is not None
        return _noun_in(named) if lacks_object else _noun_in(behind) if self._lacks(behind) else ""

    def _with_owner(self, words: list[TypedWord]) -> list[TypedWord]:
        """Return words with a "my" before them that belongs to the verb phrase: "swing my * at"."""
        first = self.words.index(words[0]) if words and words[0] in self.words else 0
        return [self.words[first - 1], *words] if first and self.words[first - 1].text in _OWN else words

    def _lacks(self, words: Sequence[TypedWord]) -> bool:
        """Check for "my sword" where none is carried. In the third person, it may be "his sword"."""
        owners = _OWN | (_THEIR_OWN if self.clause.third else frozenset())
        if len(words) < 2 or words[0].text not in owners or words[-1].text in _ALWAYS_OWN:
            return False
        groups = word_lists().groups
        is_body = words[-1].text in groups["body"] | groups["clothes"]
        return not is_body and self.scene.find(words[1:], (ITEM, SPELL, THING)) is None

    @cached_property
    def scenery(self) -> str:
        """The noun of the object if it was told of here; else nothing."""
        scene = self.scene
        for words in (self.object, *(words for _, words in self.parts)):
            for word in reversed(words):
                plain = word.text not in word_lists().groups["article"] and len(word.text) > 2
                if plain and word.text not in PRONOUNS and root_of(word.text) in scene.scenery:
                    return word.text
        return ""

    @cached_property
    def is_commonplace(self) -> bool:
        """Check that the object is something that lies about anywhere."""
        common = word_lists().groups["commonplace"]
        return bool(self.noun) and self.noun.split()[-1] in common

    @cached_property
    def is_body(self) -> bool:
        """Check that the object is a part of the character's own body."""
        body = word_lists().groups["body"]
        return bool(self.object) and self.object[-1].text in body

    @cached_property
    def crowd(self) -> bool:
        """Check that people of the place are meant who are nobody in particular."""
        crowd = word_lists().people["crowd"]
        return any(word.text in crowd for word in self.words[1:])

    @cached_property
    def is_self(self) -> bool:
        own = frozenset(("myself", "me", "self", "ourselves"))
        return any(word.text in own for word in self.object) or self.find_object((SELF,)) is not None

    @cached_property
    def gold(self) -> int | None:
        """The number of coins that are named; None if no coins are."""
        coins = word_lists().groups["gold"]
        texts = [word.text for word in self.all_words]
        if not any(text in coins for text in texts):
            return None
        counted = [int(text) for text in texts if text.isdigit()] or [
            _NUMBERS[text] for text in texts if text in _NUMBERS
        ]
        return counted[0] if counted else 0

    def name_first(self, kinds: Iterable[str]) -> tuple[SceneName, list[TypedWord]] | None:
        """Return who is named at the beginning of the object, and the words behind the name."""
        words = self.object
        kinds = [*kinds]
        for length in range(min(len(words) - 1, _MOST_NAME), 0, -1):
            name = words[:length]
            if name[-1].text in word_lists().groups["article"] and name[-1].text not in PRONOUNS:
                continue
            found = self.scene.find(name, kinds)
            if found is not None and self._is_whole_name(found, name):
                return found, words[length:]
        return None

    def _is_whole_name(self, found: SceneName, name: Sequence[TypedWord]) -> bool:
        last = name[-1].text
        return last in PRONOUNS or (self.scene.worth(found, last) or 0) > 0


def _noun_in(words: Sequence[TypedWord]) -> str:
    """Return words without leading articles; nothing if they are pronouns."""
    skipped = word_lists().groups["article"]
    texts = [*dropwhile(skipped.__contains__, (word.text for word in words))]
    return "" if all(text in PRONOUNS for text in texts) else _last_words(" ".join(texts))


def _last_words(text: str) -> str:
    """Return as many words from the end as fit in a label: the last word says what is meant."""
    if len(text) <= LONGEST_LABEL:
        return text
    end = text[-LONGEST_LABEL:]
    return end.partition(" ")[2] or end


def name_recipient(slots: DeedSlots) -> tuple[SceneName, list[TypedWord]] | None:
    """Return who is named at the beginning of the object, and the words behind the name."""
    return slots.name_first((FRIEND, PERSON, FOE))


def find_recipient(slots: DeedSlots) -> SceneName | None:
    """Return to whom something is given: "to Zara", or the first name of the object."""
    behind = slots.behind("to", "at", "for") or (slots.behind("into", "in") if slots.match.second else [])
    found = slots.scene.find(behind, (FRIEND, PERSON, FOE)) if behind else None
    first = name_recipient(slots) if found is None else None
    return found or (first[0] if first is not None else slots.object_being or slots.being)


def _is_doing(word: str) -> bool:
    lexicon = verb_lexicon()
    if word in word_lists().groups["gerund_noun"]:
        return False
    return word.endswith("ing") and lexicon.has(word) and not lexicon.is_plain(word)


def _divided(words: Sequence[TypedWord]) -> tuple[list[TypedWord], list[tuple[str, list[TypedWord]]]]:
    """Return the words before the first preposition, and those behind each. An aside is left out."""
    groups = word_lists().groups
    plain: list[TypedWord] = []
    parts: list[tuple[str, list[TypedWord]]] = []
    for number, word in enumerate(words):
        if word.is_mark:
            break
        before = words[number - 1].text if number else ""
        is_article = word.text == "that" and before in groups["preposition"]  # "in that tavern"
        if number and word.text in groups["aside"] and word.text not in _NO_CUT and not is_article:
            break
        if number and _is_doing(word.text) and (before == "one" or before not in groups["article"]):
            break  # "the one biting Zara" is the one
        if word.text in groups["preposition"] and word.text != "of":
            parts.append((word.text, []))
        elif parts:
            parts[-1][1].append(word)
        else:
            plain.append(word)
    return plain, [(preposition, behind) for preposition, behind in parts if behind]
