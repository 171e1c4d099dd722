"""A question as recall reads it: the words that count, in all their forms, and those whom it names."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from dndbots.ids import DM, folded, is_uid
from dndbots.memory.extract.words import stem
from dndbots.storage.reader import View
from dndbots.storage.terms import terms_of

_TOKEN: Final = re.compile(r"[^\W_]+(?:['\u2019_-][^\W_]+)*")
_MOST_TOKENS: Final = 60
_MOST_WORDS: Final = 16
_MOST_NAMED: Final = 6
_LONGEST_NAME: Final = 4
_ARTICLES: Final = frozenset(("the", "a", "an"))
_SPEAKER: Final = frozenset(("i", "me", "my", "mine", "we", "us", "our", "ours"))
# Words that only frame a question; they count where there are no others.
_FRAMING_WORDS = (
    "anybody anyone anything called clarify describe described did didnt discuss discussed does doesnt "
    "ever everyone everything exactly explain explained happen happened happening happens know known "
    "knows many mention mentioned mentions much name named names please recall remember reveal "
    "revealed reveals say saying says she shes somebody someone something talk talked tell telling "
    "tells thing things think thinks thought told whats whens wheres whether whom whos whose"
)
_FRAMING: Final = frozenset(_FRAMING_WORDS.split())
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
_IRREGULAR: Final = {
    form: frozenset(forms)
    for forms in (group.split() for group in _IRREGULAR_FORMS.split("/"))
    for form in forms
}
_ENDINGS: Final = ("", "s", "e", "es", "ed", "ing", "y", "ies", "ied", "ly")

_PLAIN_ENDINGS: Final = ("s", "es", "ed", "ing")


class Word(NamedTuple):
    """A word of a question, in all its forms. A name says whom it is about, not what.

    `is_known` is the name of somebody whom the viewer knows; any other only looks like one.
    """

    said: str
    forms: tuple[str, ...]
    is_name: bool = False
    is_known: bool = False


class Named(NamedTuple):
    """Somebody whom a question names: all uids, and the words of other names than the one used."""

    name: str
    uids: tuple[str, ...]
    other_words: tuple[str, ...]


class Question(NamedTuple):
    words: tuple[Word, ...]
    named: tuple[Named, ...]
    speakers: frozenset[str]
    asks_where: bool = False


def question_of(view: View, query: str) -> Question:
    """What is asked, in the names that the viewer knows."""
    tokens = _TOKEN.findall(query[: _MOST_TOKENS * 40])[:_MOST_TOKENS]
    found, used = _found(view, tokens)
    persons = view.persons_of(found)
    called = view.called(sorted(found))
    known = {term for n in used for term in terms_of(tokens[n])}
    in_names = known | {term for token in tokens[1:] if token[0].isupper() for term in terms_of(token)}
    terms = list(dict.fromkeys(term for token in tokens for term in terms_of(token)))
    kept = [term for term in terms if term not in _FRAMING or term in in_names] or terms
    words = tuple(
        Word(term, (term,) if term in in_names else forms_of(term), term in in_names, term in known)
        for term in kept[:_MOST_WORDS]
    )
    asked = {form for word in words for form in word.forms}
    named: dict[str, Named] = {}
    for uid in found:
        same = persons[uid]
        names = [called[uid].name, *called[uid].aliases]
        others = dict.fromkeys(term for name in names for term in terms_of(name) if term not in asked)
        named.setdefault(same[0], Named(called[uid].name, tuple(same), tuple(others)))
    mine = {view.viewer} if view.viewer != DM and _SPEAKER & {token.lower() for token in tokens} else set()
    return Question(
        words,
        tuple(named.values()),
        frozenset({uid for one in named.values() for uid in one.uids} | mine),
        asks_where=any(folded(token) == "where" for token in tokens),
    )


def _found(view: View, tokens: list[str]) -> tuple[list[str], set[int]]:
    """The uids that a question names, and which of its words do; of names inside names, the longest."""
    uids, used = list[str](), set[int]()
    spans = [(first, last, " ".join(tokens[first:last])) for first, last in _spans(tokens)]
    known = view.bearers_of({name for _, _, name in spans})
    for first, last, name in spans:
        if len(uids) >= _MOST_NAMED or not used.isdisjoint(range(first, last)):
            continue
        bearers = known[name] - {DM}
        if not bearers and last - first == 1 and is_uid(name):
            bearers = {uid for uid in (name,) if uid in view.everybody(name)}
        if bearers:
            uids += sorted(bearers)[:_MOST_NAMED]
            used |= set(range(first, last))
    return uids, used


def _spans(tokens: list[str]) -> Iterator[tuple[int, int]]:
    """Where a name may stand, the longest first: it neither begins nor ends with a common word."""
    content = [bool(terms_of(token)) for token in tokens]
    for length in range(_LONGEST_NAME, 0, -1):
        for first in range(len(tokens) - length + 1):
            begins = content[first] or (length > 1 and tokens[first].lower() in _ARTICLES)
            if begins and content[first + length - 1]:
                yield first, first + length


@lru_cache(maxsize=4096)
def forms_of(word: str) -> tuple[str, ...]:
    """The forms that a word may stand in: hire, hires, hired, hiring. English; others stay as they are."""
    found = {word, *_IRREGULAR.get(word, ())}
    if word.isascii() and word.isalpha() and len(word) >= 3:
        for base in sorted(found):
            root = stem(base)
            likely = [root + ending for ending in _ENDINGS] + [
                f"{root}{root[-1]}{end}" for end in ("ed", "ing")
            ]
            found |= {form for form in likely if stem(form) == root and len(form) >= 3}
            found |= {base + ending for ending in _PLAIN_ENDINGS} if base == root else set()
    return tuple(sorted(found))


def words_in(text: str, words: Iterable[Word]) -> list[int]:
    """Which words of a question a text has, by number."""
    terms = terms_of(text)
    return [n for n, word in enumerate(words) if any(form in terms for form in word.forms)]
