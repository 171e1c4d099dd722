"""The cues after a name for what bears it: people act and own, places have gates and lie somewhere."""

from collections.abc import Callable
from typing import Final

from dndbots.extraction.english.names.context import (
    ARTICLES,
    ENDS,
    OWNERS,
    PERSON,
    PLACE,
    NameContext,
    NameCue,
    kind_of_noun,
)
from dndbots.extraction.english.word_tables import (
    ANIMATE_STATES,
    IRREGULAR_PASTS,
    KIN,
    OWN_PARTS,
    PERSON_ACTS,
    TOWN_PARTS,
)
from dndbots.text.english_words import FUNCTION_WORDS

_ACTS: Final = frozenset(
    f"{root}{ending}"
    for act in PERSON_ACTS
    for root, endings in (
        (act, ("", "s", "es", "d", "ed")),
        (f"{act}{act[-1]}", ("ed",)),
        (f"{act[:-1]}i", ("es", "ed") if act[-1] == "y" else ()),
    )
    for ending in endings
)
_RELATIVE: Final = frozenset(["who", "whom", "whose"])
_HELPERS: Final = frozenset(
    [
        *("can", "could", "will", "would", "must", "should", "might", "may", "did", "does", "do", "can't"),
        *("couldn't", "won't", "wouldn't", "didn't", "doesn't", "never", "always", "just", "only", "still"),
        *("already", "also", "has", "had", "hasn't", "hadn't", "shouldn't", "mustn't", "isn't", "wasn't"),
    ]
)
_CALM: Final = frozenset(
    ["lies", "lay", "stands", "stood", "sits", "sat", "burns", "burned", "falls", "fell"]
)
_PREPOSITIONS: Final = frozenset(
    [
        "in",
        "into",
        "inside",
        "outside",
        "through",
        "across",
        "near",
        "beyond",
        "at",
        "from",
        "to",
        "of",
        "toward",
        "towards",
        "past",
        "by",
        "for",
        "with",
    ]
)
_ORDERS: Final = frozenset(
    ["you", "i", "we", "please", "come", "don't", "do", "what", "where", "are", "wait"]
)
_LONGEST_STEM: Final = 3


def cue_after(context: NameContext) -> NameCue | None:
    """Return what the words after a name say of it; the most telling ones alone count."""
    if context.before() == "of" and context.is_name_before(2):
        return None  # Lady Kima of Vord, who rides ahead
    return next((cue for read in _AFTER if (cue := read(context))), None)


def _owns(context: NameContext) -> NameCue | None:
    if not context.owns:
        return None
    word = context.after()
    if word in TOWN_PARTS:
        return NameCue("town part", PLACE, 1.8)
    is_own = word in OWN_PARTS or word in KIN or context.after(2) in OWN_PARTS
    return NameCue("own part", PERSON, 1.8) if is_own else NameCue("owns", PERSON, 0.7)


def _who(context: NameContext) -> NameCue | None:
    word = context.after(2) if context.after() == "," else context.after()
    if context.span.opens and context.after() != ",":
        return None  # "Saw who?"
    if word in _RELATIVE or word in ("himself", "herself"):
        return NameCue("who", PERSON, 2.8)
    return NameCue("where", PLACE, 2.8) if word == "where" else None


def _called_upon(context: NameContext) -> NameCue | None:
    """Return the cue of "Pip, you stay here" and "Come here, Ada."; "in Aveiro, Portugal." calls nobody."""
    if context.after() == "," and not context.before() and context.after(2) in _ORDERS:
        return NameCue("called upon", PERSON, 1.6)
    is_last = context.after() in (".", "!", "?", "", "\u201d") and context.before() == ","
    return NameCue("called upon", PERSON, 0.9) if is_last and not context.is_name_before(2) else None


def _apposed(context: NameContext) -> NameCue | None:
    """Return the cue of "Elsin, a thin priest" and "Ambrose Teague, second engineer"."""
    word = context.after(2)
    if context.after() != "," or not context.is_word_after(2):
        return None
    has_article = word in ARTICLES or word in OWNERS
    kind = context.noun_phrase(3 if has_article else 2)
    if kind is not None:
        return NameCue("a", kind, 3.0 if has_article else 2.0)
    return NameCue("doing", PERSON, 0.5) if word.endswith(("ing", "ed")) else None


def _is(context: NameContext) -> NameCue | None:
    """Return the cue of "Ada is a smith", "Varn is a town" and "Pip was asleep"."""
    if context.after() not in ("is", "was"):
        return None
    word = context.after(2)
    kind = context.noun_phrase(3) if word in ARTICLES or word in OWNERS else None
    if kind is not None:
        return NameCue("is a", kind, 3.0)
    if word in ANIMATE_STATES or kind_of_noun(word) == PERSON:
        return NameCue("is alive", PERSON, 1.8)
    is_acting = word.endswith("ing") and word not in FUNCTION_WORDS
    return NameCue("is acting", PERSON, 1.2) if is_acting else NameCue("is", PERSON, 0.3)


def _helper(context: NameContext) -> NameCue | None:
    is_helped = context.after() in _HELPERS and context.before() not in _PREPOSITIONS
    return NameCue("helper", PERSON, 1.2) if is_helped else None


def _and_me(context: NameContext) -> NameCue | None:
    if context.after() == "and" and context.after(2) in ("i", "me", "my", "his", "her"):
        return NameCue("and I", PERSON, 1.4)
    is_busy = context.after() in ("in", "with", "on", "at", "by") and context.after(2) in ("his", "her")
    return NameCue("in his", PERSON, 1.4) if is_busy and context.before() not in _PREPOSITIONS else None


def _acts(context: NameContext) -> NameCue | None:
    """Return the cue of a verb after a name, which is its subject unless a preposition comes before it."""
    word = (
        context.after(2) if context.after().endswith("ly") and context.is_word_after(2) else context.after()
    )
    if not context.is_word_after() or word in FUNCTION_WORDS or word in ENDS:
        return None
    if word in TOWN_PARTS:
        return NameCue("town part", PLACE, 1.2)
    if context.before() in _PREPOSITIONS:
        return NameCue("act", PERSON, 0.3) if word in _ACTS else None
    return _act(word)


def _act(word: str) -> NameCue | None:
    if word in _CALM:
        return NameCue("stands", PERSON, 0.5)
    if word in _ACTS:
        is_form = word.endswith(("s", "ed")) or word in IRREGULAR_PASTS
        return NameCue("act", PERSON, 2.2 if is_form else 0.6)
    if word in IRREGULAR_PASTS or (word.endswith("ed") and len(word) > _LONGEST_STEM + 1):
        return NameCue("past", PERSON, 1.5)
    is_verb = word.endswith("s") and not word.endswith(("ss", "us")) and len(word) > _LONGEST_STEM
    return NameCue("verb", PERSON, 1.2) if is_verb and kind_of_noun(word) is None else None


_AFTER: Final[tuple[Callable[[NameContext], NameCue | None], ...]] = (
    _owns, _who, _called_upon, _apposed, _is, _helper, _and_me, _acts,
)  # fmt: skip
