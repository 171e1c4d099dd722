"""Forms of English words by rule: hire, hires, hired, hiring; singular and plural; with an article.

A question is looked up in all forms of its words. A form that is no word does no harm, because nobody said
it. A wrong relative does harm, so part and party, or corner and corn, are kept apart.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

# Forms that do not follow from an ending.
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
# Each form with its family. The first of a family is the base of the others.
_IRREGULAR: Final = {
    form: family
    for family in (tuple(group.split()) for group in _IRREGULAR_FORMS.split("/"))
    for form in family
}
_VOWELS: Final = frozenset("aeiou")
_HISSING: Final = ("s", "x", "z", "ch", "sh")
# Least length of a word after an ending is taken off.
_SHORTEST: Final = 3
_SHORTEST_DOER: Final = 5


@lru_cache(maxsize=4096)
def forms_of(word: str) -> tuple[str, ...]:
    """Return all forms of a word, sorted. A word that is not plain English has only itself."""
    forms = {word}
    if word in _IRREGULAR or (word.isascii() and word.isalpha() and len(word) >= _SHORTEST):
        for base in _bases(word):
            family = _IRREGULAR.get(base)
            forms.update(_inflected(base) if family is None else (*family, *_continued(family[0])))
    return tuple(sorted(forms))


@lru_cache(maxsize=4096)
def numbers_of(word: str) -> tuple[str, ...]:
    """Return the singular and the plural of a word, sorted: names have no other forms."""
    if not (word.isascii() and word.isalpha() and len(word) >= _SHORTEST):
        return (word,)
    if not word.endswith("s") or word.endswith("ss"):
        return tuple(sorted((word, _with_s(word))))
    return tuple(sorted({word, *(base for base in _without_s(word) if len(base) >= _SHORTEST)}))


# Verbs whose past follows neither from the list above nor from a rule.
_PASTS: Final = {**{verb: verb for verb in ("beat", "cut", "hit", "let", "put", "rid", "shut")}, "get": "got"}


@lru_cache(maxsize=512)
def past_of(verb: str) -> str:
    """Return the past of a plain verb: reach, reached; find, found; carry, carried."""
    if verb in _PASTS:
        return _PASTS[verb]
    family = _IRREGULAR.get(verb)
    if family is not None and family[0] == verb:
        return family[1]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return f"{verb[:-1]}ied"
    short = len(verb) <= _ONE_SYLLABLE and _doubles(verb)
    return f"{verb}{verb[-1]}ed" if short else f"{verb}ed"


@lru_cache(maxsize=512)
def past_of_participle(participle: str) -> str:
    """Return the simple past of the verb of a participle: seen, saw; come, came; found stays found."""
    family = _IRREGULAR.get(participle, ())
    if len(family) > 1 and participle in family[2:3]:
        return family[1]
    # "beaten" is all that its family has beside the plain verb, and "come" is its own participle.
    return past_of(family[0]) if family and participle in (family[0], f"{family[0]}en") else participle


_ONE_SYLLABLE: Final = 4
_SINGULAR: Final = ("a ", "an ", "one ")
_PLURALS: Final = frozenset(("folk", "people", "men", "women", "children", "mice", "lice", "geese", "dead"))
_NUMBERS: Final = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SEVERAL: Final = frozenset((*_NUMBERS[2:], "many", "several", "both"))
_AFTER_NOUN = re.compile(
    r",| (?:of|with|without|in|from|at|on|under|by|beside|behind|who|that|which|marked|covered) "
)


def head_of(name: str) -> str:
    """Return a name without what follows its noun: `a straw wreath` of `a straw wreath on a door`."""
    return _AFTER_NOUN.split(name, maxsplit=1)[0]


def is_plural(name: str) -> bool:
    """Return True if a name is plural: `rime goblins of the mill`. A single capitalised word never is."""
    noun = head_of(name).split()
    if not noun or name.casefold().startswith(_SINGULAR) or (len(noun) == 1 and name[:1].isupper()):
        return False
    last = noun[-1].casefold()
    if noun[0].casefold() in _SEVERAL:
        return True
    return last in _PLURALS or (last.endswith("s") and not last.endswith(("ss", "us", "is", "'s", "\u2019s")))


def _bases(word: str) -> set[str]:
    """Return the words that this one may be a form of, by its ending; or else the word itself."""
    if word in _IRREGULAR:
        return {word}
    bases = set[str]()
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        bases.update(_without_s(word))
    if word.endswith("ied"):
        bases.add(f"{word[:-3]}y")
    if word.endswith("ing"):
        bases.update(_without(word, "ing"))
    if word.endswith("ed"):
        bases.update(base for base in _without(word, "ed") if base not in _IRREGULAR)
    bases = {base for base in bases if base in _IRREGULAR or (len(base) >= _SHORTEST and _has_vowel(base))}
    if word.endswith(("er", "ers", "or", "ors")):
        doer = word.removesuffix("s")
        bases.update(_without(doer, doer[-2:]) if len(doer) >= _SHORTEST_DOER + 2 else (), {doer})
    if word.endswith("ly") and len(word) > _SHORTEST_DOER:
        bases.update({f"{word[:-3]}y" if word.endswith("ily") else word[:-2], word})
    return bases or {word}


def _has_vowel(word: str) -> bool:
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
    """Yield the words that may have got an ending: hire for hiring, open for opening, run for running."""
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
    """Yield the forms that irregular words have, too: the plain one, with `s` and with `ing`."""
    yield base
    yield _with_s(base)
    if base.endswith("e") and not base.endswith("ee"):
        yield f"{base[:-1]}ing"
    else:
        yield f"{base}ing"
        if _doubles(base):
            yield f"{base}{base[-1]}ing"


def _doubles(base: str) -> bool:
    """Return True if the last letter doubles: stop, stopped. Wrongly true of open, opened."""
    ends = base[-3:]
    return len(ends) == 3 and ends[0] not in _VOWELS and ends[1] in _VOWELS and ends[2] not in "aeiouwxy"


def _with_s(word: str) -> str:
    if word.endswith(_HISSING):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in _VOWELS else f"{word}s"


# Articles

_ARTICLE: Final = re.compile(r"(?:an?|the|some)\s+(?=\S)", re.IGNORECASE)
_OWNED: Final = re.compile(r"(?:my|your|his|her|its|our|their|this|that|these|those)\s", re.IGNORECASE)
_COUNTED: Final = re.compile(
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|many|several)\s", re.IGNORECASE
)
_WHEREABOUTS: Final = re.compile(
    r"(?:at|in|inside|on|under|below|beneath|above|behind|beyond|between|near|outside|over|among|amid)\s"
)
_PART: Final = re.compile(rf"(?:{_COUNTED.pattern}|(?:most|all|some|none|both)\s)of\s", re.IGNORECASE)
_DIRECTION: Final = re.compile(
    r"(?:(?:north|south|east|west|up|down|in|out|on|back)(?:east|west|wards?)?|into|onto|off|ahead|left|right"
    r"|through|over|under|along|across|around|behind|beyond|past|to|towards?|between|below|beneath|above"
    r"|inside|outside|home)\b"
)


# What follows the noun of an exit: "lane to the green", "ladder up to the press".
_ONWARD: Final = re.compile(r" (?:to|up|down|into|onto|out|back|over|across|through|past|beyond) ")
_PASSED: Final = {
    "through": """door doors doorway gate gates gateway hatch window crack gap hole tunnel passage drain grate
        grating grille arch archway panel curtain shaft opening breach cleft corridor hall hedge thicket
        trapdoor trap""",
    "along": """lane path road street avenue track trail alley way stream brook river bank shore ledge
        ridge tracks
        footprints wall canal dyke quay""",
    "over": "bridge footbridge span ford pass stile plank planks dam weir",
    "by": "stair stairs staircase steps ladder rope ropes rungs ferry boat raft lift",
}
_PATHS: Final = {noun: how for how, nouns in _PASSED.items() for noun in nouns.split()}


def with_a(name: str) -> str:
    """Return the name of a thing with "a" or "an", unless it takes no article."""
    if _takes_no_article(name) or _ARTICLE.match(name) or _COUNTED.match(name):
        return name
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


_MASSES = """
    ale armor armour beer brandy bread butter chalk cheese cider clay cloth clothing coal copper dust
    equipment fish flour food garlic gear gold grain grease hay honey incense ink iron ivory jewelry
    leather mail mead meat milk money mud oil paper powder rice salt sand silk silver smoke soap soup
    steel straw sugar tea timber tobacco venom vinegar water wax wheat wine wolfsbane wood wool
"""
_UNCOUNTED: Final = frozenset(_MASSES.split())


def with_some(name: str) -> str:
    """Return the name of a thing as something that somebody has: "a lantern", but "rations", "chain mail"."""
    last = head_of(name).rpartition(" ")[2].casefold()
    return name if is_plural(name) or last in _UNCOUNTED else with_a(name)


def singular_of(name: str) -> str:
    """Return the name of one of a group: `rime goblin of the mill`; a name that is no plural stays."""
    if not is_plural(name):
        return name
    noun = head_of(name)
    before, _, last = noun.rpartition(" ")
    bases = _IRREGULAR.get(last, ())[:1] or sorted(_without_s(last), key=len) or [last]
    one = next((base for base in bases if _with_s(base) == last), bases[-1])
    return f"{before} {one}{name[len(noun) :]}".strip()


def without_article(name: str) -> str:
    """Return a name without its leading article."""
    return name[article.end() :] if (article := _ARTICLE.match(name)) else name


def number_word(number: int) -> str:
    """Return a number in words up to ten, and in digits above."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def with_the(name: str) -> str:
    """Return the name of a thing with "the", unless it takes no article: `two of the five goblins`."""
    if _PART.match(name):
        return name
    if article := _ARTICLE.match(name):
        return f"the {name[article.end() :]}"
    return name if _takes_no_article(name) else f"the {name}"


def as_whereabouts(name: str) -> str:
    """Return where something is: "at the mill", but "inside the great pier" as it stands."""
    return name if _WHEREABOUTS.match(name) else f"at {name}"


def as_route(name: str) -> str:
    """Return an exit as part of a sentence: "north" becomes "the way north"."""
    return f"the way {name}" if _DIRECTION.match(name) else with_the(name)


def as_path(name: str) -> str:
    """Return how somebody goes by an exit: "north", "through the inn door", "along the orchard lane"."""
    if _DIRECTION.match(name):
        return name
    nouns = _ONWARD.split(head_of(name), maxsplit=1)[0].casefold().split()
    return f"{_PATHS.get(nouns[-1] if nouns else '', 'toward')} {with_the(name)}"


def _takes_no_article(name: str) -> bool:
    """Return True for proper names, for things that belong to somebody, and for text that is no word."""
    return not name[:1].islower() or _OWNED.match(name) is not None
