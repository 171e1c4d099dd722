"""The forms that a word of a question may stand in: hire, hires, hired, hiring. English, and by rule.

A form that is no word does no harm: nobody said it, so that nothing is found by it. A wrong relative does
harm, so part and party, or corner and corn, are kept apart.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

# What no ending tells.
_IRREGULAR_FORMS = """
    arise arose arisen / beat beaten / become became / begin began begun / bind bound / bite bit bitten
    / bleed bled / blow blew blown / break broke broken / bring brought / build built / burn burned
    burnt / buy bought / catch caught / choose chose chosen / come came / creep crept / cut cutting /
    deal dealt / die died dies dying dead death / dig dug / draw drew drawn / drink drank drunk / drive
    drove driven / eat ate eaten / fall fell fallen / feed fed / feel felt / fight fought / find found /
    flee fled / fly flew flown / forget forgot forgotten / forgive forgave forgiven / freeze froze
    frozen / give gave given / go went gone goes / grow grew grown / hang hung / hear heard / hide hid
    hidden / hold held / keep kept / kneel knelt / know knew known / lay laid / lead led / leave left /
    lend lent / lie lied lying / light lit / lose lost / make made / mean meant / meet met / pay paid /
    ride rode ridden / ring rang rung / rise rose risen / run ran running / see saw seen / seek sought /
    sell sold / send sent / shake shook / shine shone / shoot shot / sing sang / sink sank sunk / sit
    sat / slay slew slain / sleep slept / speak spoke spoken / spend spent / stand stood / steal stole
    stolen / stick stuck / strike struck / swear swore sworn / sweep swept / swim swam / swing swung /
    take took taken / teach taught / tear tore torn / tell told / think thought / throw threw thrown /
    understand understood / wake woke woken / wear wore worn / win won / write wrote written / wolf
    wolves / thief thieves / man men / woman women / child children / foot feet / knife knives / elf
    elves / dwarf dwarves / half halves / tooth teeth
"""
# Each form with its family, of which the first is the one that others are made from.
_IRREGULAR: Final = {
    form: family
    for family in (tuple(group.split()) for group in _IRREGULAR_FORMS.split("/"))
    for form in family
}
_VOWELS: Final = frozenset("aeiou")
_HISSING: Final = ("s", "x", "z", "ch", "sh")
# An ending is taken off a word of which so much is left.
_SHORTEST: Final = 3
_SHORTEST_DOER: Final = 5


@lru_cache(maxsize=4096)
def forms_of(word: str) -> tuple[str, ...]:
    """All forms of a word, sorted. One that is not plain English stays as it is."""
    found = {word}
    if word in _IRREGULAR or (word.isascii() and word.isalpha() and len(word) >= _SHORTEST):
        for base in _bases(word):
            family = _IRREGULAR.get(base)
            found.update(_inflected(base) if family is None else (*family, *_continued(family[0])))
    return tuple(sorted(found))


@lru_cache(maxsize=4096)
def numbers_of(word: str) -> tuple[str, ...]:
    """A word in the singular and the plural, sorted: names have no other forms."""
    if not (word.isascii() and word.isalpha() and len(word) >= _SHORTEST):
        return (word,)
    if not word.endswith("s") or word.endswith("ss"):
        return tuple(sorted((word, _with_s(word))))
    return tuple(sorted({word, *(base for base in _without_s(word) if len(base) >= _SHORTEST)}))


_SINGULAR: Final = ("a ", "an ", "one ")
_PLURALS: Final = frozenset(("folk", "people", "men", "women", "children", "mice", "lice", "geese", "dead"))
_BEHIND_THE_NOUN = re.compile(r",| (?:of|with|without|in|from|at|on|under|by|who|that|which) ")


def is_plural(name: str) -> bool:
    """Whether a name is that of several: `rime goblins of the mill`. A single capitalized word is a name."""
    noun = _BEHIND_THE_NOUN.split(name, maxsplit=1)[0].split()
    if not noun or name.casefold().startswith(_SINGULAR) or (len(noun) == 1 and name[:1].isupper()):
        return False
    last = noun[-1].casefold()
    return last in _PLURALS or (last.endswith("s") and not last.endswith(("ss", "us", "is", "'s", "\u2019s")))


def _bases(word: str) -> set[str]:
    """What a word may be a form of: whatever its ending suggests, or else itself."""
    if word in _IRREGULAR:
        return {word}
    found = set[str]()
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        found.update(_without_s(word))
    if word.endswith("ied"):
        found.add(f"{word[:-3]}y")
    if word.endswith("ing"):
        found.update(_without(word, "ing"))
    if word.endswith("ed"):
        found.update(base for base in _without(word, "ed") if base not in _IRREGULAR)
    found = {base for base in found if base in _IRREGULAR or (len(base) >= _SHORTEST and _spoken(base))}
    if word.endswith(("er", "ers", "or", "ors")):
        doer = word.removesuffix("s")
        found.update(_without(doer, doer[-2:]) if len(doer) >= _SHORTEST_DOER + 2 else (), {doer})
    if word.endswith("ly") and len(word) > _SHORTEST_DOER:
        found.update({f"{word[:-3]}y" if word.endswith("ily") else word[:-2], word})
    return found or {word}


def _spoken(word: str) -> bool:
    return not _VOWELS.isdisjoint(word) or "y" in word


def _without_s(word: str) -> Iterator[str]:
    yield word[:-1]
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("es") and word[:-2].endswith((*_HISSING, "o")):
        yield word[:-2]
    if word.endswith("ves"):
        yield f"{word[:-3]}f"


def _without(word: str, ending: str) -> Iterator[str]:
    """hiring is of hire, opening of open, running of run."""
    root = word.removesuffix(ending)
    yield f"{root}e"
    if root in _IRREGULAR or len(root) >= _SHORTEST:
        yield root
        if root[-1] == root[-2] and root[-1] not in _VOWELS:
            yield root[:-1]


def _inflected(base: str) -> Iterator[str]:
    yield from _continued(base)
    if base.endswith("e"):
        yield f"{base}d"
    elif base.endswith("y") and base[-2] not in _VOWELS:
        yield f"{base[:-1]}ied"
    else:
        yield f"{base}ed"
        if _doubles(base):
            yield f"{base}{base[-1]}ed"


def _continued(base: str) -> Iterator[str]:
    """The forms that even irregular words have."""
    yield base
    yield _with_s(base)
    if base.endswith("e") and not base.endswith("ee"):
        yield f"{base[:-1]}ing"
    else:
        yield f"{base}ing"
        if _doubles(base):
            yield f"{base}{base[-1]}ing"


def _doubles(base: str) -> bool:
    """stop, stopped; but open, opened, which is not told apart."""
    ends = base[-3:]
    return len(ends) == 3 and ends[0] not in _VOWELS and ends[1] in _VOWELS and ends[2] not in "aeiouwxy"


def _with_s(word: str) -> str:
    if word.endswith(_HISSING):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in _VOWELS else f"{word}s"
