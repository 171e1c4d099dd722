"""A question as recall reads it: the words that count, in all their forms, and the entities it names."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from dndbots.ids import DM, SYSTEM, fold_name, is_uid
from dndbots.memory.recall.known_names import find_called
from dndbots.storage.views.view import View
from dndbots.text.terms import terms_of
from dndbots.text.word_forms import forms_of, numbers_of

_TOKEN: Final = re.compile(r"[^\W_]+(?:['\u2019_-][^\W_]+)*")
_MOST_TOKENS: Final = 120
_MOST_WORDS: Final = 40
_MOST_NAMED: Final = 6
_LONGEST_NAME: Final = 4
_BETWEEN: Final = 3
# Words inside names of people and things.
_JOINING: Final = frozenset(("of", "the", "a", "an", "de", "von"))
_ARTICLES: Final = frozenset(("the", "a", "an"))
# Who asks is the speaker that is asked for only as a subject: "What did I promise?". "What did he offer us?"
# asks for lines of somebody else.
_ASKER: Final = "i"
# Words that only frame a question; they count only if it has no others.
_FRAMING_WORDS = (
    "anybody anyone anything called clarify describe described did didnt discuss discussed does doesnt "
    "ever everyone everything exactly explain explained happen happened happening happens know known "
    "knows many mention mentioned mentions much name named names please recall remember remind reveal "
    "revealed reveals say saying says she shes somebody someone something talk talked tell telling "
    "tells thing things think thinks thought told whats whens wheres whether whom whos whose"
)
_FRAMING: Final = frozenset(_FRAMING_WORDS.split())
# A tie has two ends, and the log may name it by the other one: the father of Mira says "my daughter Mira". So
# may a bargain: what somebody offers, somebody is paid.
_TIES_TEXT = (
    "father mother parent / son daughter child, husband / wife, master / apprentice pupil, "
    "offer / reward pay bounty, reward / pay bounty"
)


def _other_ends(text: str) -> dict[str, tuple[str, ...]]:
    """Return for each word of the ties the words for their other ends."""
    found: dict[str, tuple[str, ...]] = {}
    for pair in (ends.split("/") for ends in text.split(",")):
        for ends, other in (pair, pair[::-1]):
            found |= {word: (*found.get(word, ()), *other.split()) for word in ends.split()}
    return found


_TIES: Final = _other_ends(_TIES_TEXT)


class QuestionWord(NamedTuple):
    """A word of a question, in all its forms.

    `is_name` marks a name, which says whom the question is about, but not what it asks. `is_known` marks a
    name that the viewer knows; any other only looks like a name.
    """

    said: str
    forms: tuple[str, ...]
    is_name: bool = False
    is_known: bool = False


class NamedEntity(NamedTuple):
    """An entity that a question names: all its uids, and the words of its names that the question lacks."""

    name: str
    uids: tuple[str, ...]
    other_words: tuple[str, ...]


class RecallQuestion(NamedTuple):
    """A question. `speakers` are the uids whose own lines are preferred as answers.

    `runs` are the numbers of the words that stand next to one another in it, as in "the sack of seed rye".
    """

    words: tuple[QuestionWord, ...]
    named: tuple[NamedEntity, ...]
    speakers: frozenset[str]
    asks_where: bool = False
    runs: tuple[frozenset[int], ...] = ()


def read_question(view: View, query: str) -> RecallQuestion:
    """Read a question; names are looked up among those that the viewer knows."""
    tokens = [_bare(token) for token in _TOKEN.findall(query[: _MOST_TOKENS * 40])[:_MOST_TOKENS]]
    uids, used = _named_uids(view, tokens)
    persons = view.persons_of(uids)
    called = view.called(sorted(uids))
    known = {term for n in used for term in terms_of(tokens[n])}
    in_names = known | {term for token in tokens[1:] if token[0].isupper() for term in terms_of(token)}
    terms = list(dict.fromkeys(term for token in tokens for term in terms_of(token)))
    kept = [term for term in terms if term not in _FRAMING or term in in_names] or terms
    words = tuple(
        QuestionWord(
            term, numbers_of(term) if term in in_names else _forms_of(term), term in in_names, term in known
        )
        for term in kept[:_MOST_WORDS]
    )
    asked = {form for word in words for form in word.forms}
    named: dict[str, NamedEntity] = {}
    for uid in uids:
        same = persons[uid]
        names = [called[uid].name, *called[uid].aliases]
        others = dict.fromkeys(term for name in names for term in terms_of(name) if term not in asked)
        named.setdefault(same[0], NamedEntity(called[uid].name, tuple(same), tuple(others)))
    mine = {view.viewer} if view.viewer != DM and _ASKER in {token.lower() for token in tokens} else set()
    return RecallQuestion(
        words,
        tuple(named.values()),
        frozenset({uid for entity in named.values() for uid in entity.uids} | mine),
        asks_where=any(fold_name(token) == "where" for token in tokens),
        runs=tuple(_runs(tokens, {word.said: n for n, word in enumerate(words)})),
    )


def _runs(tokens: list[str], numbers: Mapping[str, int]) -> Iterator[frozenset[int]]:
    """Yield the numbers of the words in each run of tokens without a common word, other than "of"."""
    run: set[int] = set()
    for token in tokens:
        own = {numbers[term] for term in terms_of(token) if term in numbers}
        if own:
            run |= own
        elif token.lower() not in _JOINING:
            yield frozenset(run)
            run = set()
    yield frozenset(run)


def _forms_of(term: str) -> tuple[str, ...]:
    """Return all forms of a word, and of words for the other end of the tie that it means."""
    others = [form for base in numbers_of(term) for other in _TIES.get(base, ()) for form in forms_of(other)]
    return tuple(sorted({*forms_of(term), *others}))


def _bare(token: str) -> str:
    """Return a word without the ending of a possessive, so that its name is found."""
    return token.removesuffix("'s").removesuffix("\u2019s") or token


def _named_uids(view: View, tokens: list[str]) -> tuple[list[str], set[int]]:
    """Return the uids that a question names, and the numbers of the words that do.

    Of names inside names, the longest counts.
    """
    uids, used = list[str](), set[int]()
    spans = [(first, last, " ".join(tokens[first:last])) for first, last in _spans(tokens)]
    known = find_called(view, {name for _, _, name in spans})
    for first, last, name in spans:
        if len(uids) >= _MOST_NAMED or not used.isdisjoint(range(first, last)):
            continue
        bearers = known[name] - {DM, SYSTEM}
        if not bearers and last - first == 1 and is_uid(name):
            bearers = {uid for uid in (name,) if uid in view.everybody(name)}
        if bearers:
            uids += sorted(bearers)[:_MOST_NAMED]
            used |= set(range(first, last))
    return uids, used


def _spans(tokens: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of words that may be a name, longest first: no common word at either end."""
    content = [bool(terms_of(token)) for token in tokens]
    for length in range(_LONGEST_NAME, 0, -1):
        for first in range(len(tokens) - length + 1):
            begins = content[first] or (length > 1 and tokens[first].lower() in _ARTICLES)
            if begins and content[first + length - 1]:
                yield first, first + length


def stands_together(text: str, words: Collection[QuestionWord]) -> bool:
    """Return whether a text has all these words within a few others of each other, in any order."""
    forms = [frozenset(word.forms) for word in words]
    newest: dict[int, int] = {}
    for place, token in enumerate(_TOKEN.findall(text)):
        terms = terms_of(token).keys()
        for n, own in enumerate(forms):
            if not own.isdisjoint(terms):
                newest[n] = place
        if len(newest) == len(forms) and place - min(newest.values()) < len(forms) + _BETWEEN:
            return True
    return False


def find_words(text: str, words: Iterable[QuestionWord]) -> list[int]:
    """Return the numbers of the question's words that a text has."""
    terms = terms_of(text).keys()
    return [n for n, word in enumerate(words) if not terms.isdisjoint(word.forms)]
