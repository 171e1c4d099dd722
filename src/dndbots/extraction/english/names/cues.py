"""The cues around a name for what bears it: a person, a place, or something else.

Every cue looks at a few words to the left and to the right, so that its cost does not depend on the sentence.
"""

from collections.abc import Callable, Iterator
from typing import Final

from dndbots.extraction.english.names.context import (
    ARTICLES,
    ENDS,
    OTHER,
    OWNERS,
    PERSON,
    PLACE,
    PLACES,
    THINGS,
    NameContext,
    NameCue,
    kind_of_noun,
)
from dndbots.extraction.english.names.spans import is_plain_word
from dndbots.extraction.english.word_tables import (
    DIRECTIONS,
    GAZE_WORDS,
    GIVEN_TO,
    GREETINGS,
    IRREGULAR_PASTS,
    KIN,
    MIXED_HEADS,
    MIXED_OPENERS,
    MOTION_WORDS,
    NICKNAMES,
    OWN_PARTS,
    PLACE_ENDINGS,
    PLACE_HEADS,
    PLACE_OPENERS,
    REAL_WORLD,
    ROLES,
    SURNAMES,
    TITLES,
    TOLD_PEOPLE,
    TOWN_PARTS,
)
from dndbots.text.english_words import FUNCTION_WORDS

_LONGEST_ENDING: Final = 6
_ALONG: Final = frozenset(
    [
        "through",
        "across",
        "along",
        "down",
        "up",
        "over",
        "past",
        "far",
        "close",
        "leads",
        "led",
        "hour",
        "hours",
        "day",
        "days",
    ]
)
_FAR: Final = frozenset(["miles", "leagues", "hours", "days", "weeks", "far", "driven", "born", "away"])
_LETTERS: Final = frozenset(["letter", "word", "message", "note", "news", "call", "postcard", "gift"])
_SPOKEN: Final = frozenset(
    ["spoke", "speaks", "speak", "said", "mutters", "muttered", "muttering", "written"]
)
_LEAVING: Final = frozenset(
    ["left", "leave", "leaves", "leaving", "departed", "off", "start", "started", "make"]
)
_FEELINGS: Final = frozenset(
    ["afraid", "front", "instead", "ahead", "because", "thought", "fond", "proud", "sick"]
)
_REST: Final = frozenset(["rest", "sight", "picture", "portrait", "care", "memory"])
_BY_NAME: Final = frozenset(["called", "named", "nicknamed", "christened", "one"])
_SOMEBODY: Final = frozenset(["he", "she", "him", "her", "his", "who", "whom"])


def _table(*rows: tuple[str, str, float]) -> dict[str, NameCue]:
    return {word: NameCue(word, kind, weight) for words, kind, weight in rows for word in words.split()}


# What a word right before a name says of it, unless a longer cue says more.
_SINGLE: Final = _table(
    ("in throughout", PLACE, 2.4),
    ("via", PLACE, 2.0),
    ("into inside outside through reached reaches entered enters reach enter approached", PLACE, 1.8),
    ("across near beyond", PLACE, 1.5),
    ("at from", PLACE, 1.2),
    ("left leave leaves leaving visit visited", PLACE, 1.0),
    ("around since toward towards", PLACE, 0.8),
    ("past above below", PLACE, 0.6),
    ("with", PERSON, 1.6),
    ("by", PERSON, 0.9),
    ("than beside", PERSON, 0.8),
    ("behind for about against", PERSON, 0.6),
    ("am i'm", PERSON, 2.6),
    ("name's", PERSON, 2.6),
    ("here's", PERSON, 1.2),
    ("on", OTHER, 0.8),
    ("two three four five six seven several few many these those such each every any no", OTHER, 1.5),
    ("thank praise bless damn", OTHER, 1.5),
    ("speak speaks spoke understand cast casts casting", OTHER, 2.0),
) | {word: NameCue("told", PERSON, 1.8) for word in TOLD_PEOPLE - {"with"}}


# The look of a name.


def cues_of_shape(context: NameContext) -> Iterator[NameCue]:
    """Yield what the look of a name says of it. These count once, however often the name occurs."""
    words = [part.casefold().strip(".") for part in context.span.name.replace("\u2019", "'").split()]
    yield _several(words, context) if len(words) > 1 else _single(words[0], context)
    if len(words) == 1 and words[0].endswith(PLACE_ENDINGS) and len(words[0]) > _LONGEST_ENDING:
        yield NameCue("shape", PLACE, 1.4)
    if len(words) > 1 and _is_mixed(words):
        yield NameCue("shape", PLACE, 1.4)
    if words[0] in REAL_WORLD:
        yield NameCue("real world", PLACE, 0.6)
    if words[-1].endswith(("ian", "ish", "ese", "ean")) and context.is_word_after() and not context.owns:
        yield NameCue("of a people", OTHER, 1.5)


def _single(word: str, context: NameContext) -> NameCue:
    if context.span.plain:
        return NameCue("everyday word", OTHER, 2.0)
    return NameCue("one word", PERSON, 0.6 if word else 0.0)


def _several(words: list[str], context: NameContext) -> NameCue:
    head = words[words.index("of") - 1] if "of" in words[1:] else words[-1]
    title = _title(words[0], head)
    if title is not None:
        return title
    # Marcus Bell may be a person, the Silver Bell is none.
    if words[0] == "house" or (head in THINGS - PLACES and (is_plain_word(words[0]) or "of" in words)):
        return NameCue("thing word", OTHER, 2.0)
    is_mixed = _is_mixed(words)
    if not is_mixed and (head in PLACES | PLACE_HEADS or words[0] in PLACE_OPENERS):
        is_spell = context.span.plain and "of" in words  # or Wall of Stone
        return NameCue("place word", PLACE, 1.6 if is_spell else 2.0 if context.span.plain else 3.0)
    if not is_mixed and ("of" in words or context.span.plain):
        return NameCue("no name's shape", OTHER, 0.8)
    # Misty Step and Magic Missile are no people; Emil Baker needs more than his name.
    is_doubtful = is_mixed or (is_plain_word(words[0]) and words[0] not in NICKNAMES)
    return NameCue("two words", PERSON, 0.6 if is_doubtful else 1.0 if is_plain_word(words[-1]) else 1.8)


def _title(word: str, head: str) -> NameCue | None:
    if word in TITLES and word not in ("old", "high"):
        return NameCue("title", PERSON, 3.0)
    is_nickname = word in NICKNAMES | {"old"} and head not in PLACES
    return NameCue("title", PERSON, 1.5) if is_nickname else None


def _is_mixed(words: list[str]) -> bool:
    """Return whether a name may be a place's or a person's by its last word: Harrow Ford, Hobb's End."""
    two = len(words) == 2 and words[0] not in TITLES
    return two and (
        words[-1] in SURNAMES | MIXED_HEADS or words[0] in MIXED_OPENERS or words[0].endswith("'s")
    )


# The words before a name.


def cue_before(context: NameContext) -> NameCue | None:
    """Return what the words before a name say of it; the most telling ones alone count."""
    if context.before() == "the":
        return None
    cue = next((cue for read in _BEFORE if (cue := read(context))), _SINGLE.get(context.before()))
    return cue or _object(context)


def _object(context: NameContext) -> NameCue | None:
    """Return the weak cue of a name after a verb: "wanting Nyssa Thorne"."""
    is_verb = context.before().endswith(("ing", "ed")) and context.before() not in FUNCTION_WORDS
    return NameCue("object", PERSON, 0.4) if is_verb else None


def cues_of_the(context: NameContext) -> Iterator[NameCue]:
    """Yield what "the" before a name says of it: people have no article, inns have."""
    if context.before() != "the":
        return
    yield NameCue("the", PERSON, -3.0)
    yield NameCue("the", OTHER, 1.0)
    word = context.before(2)
    is_inn = word in ("at", "inside", "outside") and " " in context.span.name and not context.is_word_after()
    if is_inn or (word == "to" and any(near in MOTION_WORDS for near in context.words_before(6))):
        yield NameCue("at the", PLACE, 2.8)
    elif word in ("at", "in", "into", "inside", "outside", "to", "near", "from", "reach", "reached", "enter"):
        yield NameCue("in the", PLACE, 1.2)


def _by_name(context: NameContext) -> NameCue | None:
    """Return the cue of "a dwarf called Harl", from the nearest noun before it."""
    word, second = context.before(), context.before(2)
    is_named = (
        word in _BY_NAME
        or (word == "as" and second == "known")
        or (word in ("of", "is", "was") and second == "name")
    )
    if not is_named or (word == "one" and second != "," and kind_of_noun(second) is None):
        return None
    for near in context.words_before(10):
        if near in _SOMEBODY:
            return NameCue("called", PERSON, 3.0)
        if near == "it":
            return NameCue("called", OTHER, 0.5)
        kind = None if near in FUNCTION_WORDS or near in _BY_NAME else kind_of_noun(near)
        if kind is not None:
            return NameCue("called", kind, 3.2)
    return NameCue("called", PERSON, 0.8)


def _owned(context: NameContext) -> NameCue | None:
    """Return that nothing is known of what somebody owns: the sorcerer's Rite."""
    return NameCue("owned", OTHER, 0.4) if context.is_owned and context.before() not in KIN else None


def _alone(context: NameContext) -> NameCue | None:
    return NameCue("alone", PERSON, 0.6) if context.is_alone and " " in context.span.name else None


def _article(context: NameContext) -> NameCue | None:
    if context.before() in OWNERS:
        return NameCue("my", OTHER, 1.5)
    return NameCue("a", OTHER, 2.5) if context.before() in ("a", "an") else None


def _noun(context: NameContext) -> NameCue | None:
    """Return the cue of "my sister Ada", "the village Varn" and "old Anselm"."""
    word, second = context.before(), context.before(2)
    if word in ("old", "young", "poor", "dear", "little", "sweet"):
        return NameCue("fondly", PERSON, 2.0)
    kind = None if word in ("north", "south", "east", "west") else kind_of_noun(word)
    if kind is None:
        return None
    return NameCue("noun before", kind, 3.0 if word in KIN or second in OWNERS else 2.2)


def _apart(context: NameContext) -> NameCue | None:
    """Return the cue of "the reeve, Wymond," and "a friend of mine, Tomasz, had"."""
    if context.before() != "," or context.after() not in ENDS:
        return None
    noun = context.before(2)
    if context.before(3) == "of" and noun in ("mine", "ours", "his", "hers", "theirs"):
        noun = context.before(4)
    has_article = any(context.before(steps) in ARTICLES | OWNERS for steps in range(3, 9))
    kind = kind_of_noun(noun) if has_article else None
    return NameCue("noun before", kind, 2.6) if kind else None


def _colon(context: NameContext) -> NameCue | None:
    """Return the cue of "it was signed: Linnea" and "you know him: Rurik"."""
    if context.before() not in (":", ";") or context.after() not in ENDS:
        return None
    for steps in range(2, 14):
        word = context.before(steps)
        if word in ("signed", "signs", "sign", "name", "names", "spelled") or word in _SOMEBODY:
            return NameCue("colon", PERSON, 2.2)
        kind = kind_of_noun(word, workers=False) if word.isalpha() else None
        if kind is not None or word in ("", "."):
            return NameCue("colon", kind, 1.8 if steps < 4 else 1.0) if kind else None
    return None


def _from(context: NameContext) -> NameCue | None:
    if context.before() != "from":
        return None
    if context.after() == "to":
        return NameCue("from to", PLACE, 2.4)
    if any(word in MOTION_WORDS | _FAR for word in [*context.words_before(4)][1:]):
        return NameCue("way from", PLACE, 2.0)
    return NameCue("letter from", PERSON, 1.5) if context.before(2) in _LETTERS else None


def _to(context: NameContext) -> NameCue | None:
    """Return the cue of "ride to Varn" and "give it to Ada"."""
    if context.before() != "to":
        return None
    if context.before(2) == "welcome":
        return NameCue("welcome to", PLACE, 3.0)
    if context.is_name_before(2) and context.before(3) == "from":
        return NameCue("from to", PLACE, 2.4)
    for number, word in enumerate([*context.words_before(5)][1:]):
        if word in GIVEN_TO and number <= 3:
            return NameCue("given to", PERSON, 2.0)
        if word in MOTION_WORDS | _ALONG:
            # "I'm going to Guiding Bolt him": the same words tell what somebody will do.
            return NameCue("way to", PLACE, 1.2 if word == "going" and number == 0 else 2.2)
    return NameCue("to", PLACE, 0.5)


def _of(context: NameContext) -> NameCue | None:
    """Return the cue of "the gates of Varn" and "the sister of Ada"."""
    if context.before() != "of":
        return None
    noun = context.before(2)
    if noun in TOWN_PARTS | DIRECTIONS or noun in PLACES:
        return NameCue("part of", PLACE, 2.4)
    if noun in KIN:
        return NameCue("kin of", PERSON, 2.4)
    if context.is_name_before(2):
        return NameCue("somebody of", PLACE, 1.6)
    if noun in ROLES:
        return NameCue("office of", PLACE, 0.8)
    return NameCue("of", PERSON, 0.9) if noun in _FEELINGS | _REST or noun in OWN_PARTS else None


def _at(context: NameContext) -> NameCue | None:
    is_gaze = context.before() == "at" and context.before(2) in GAZE_WORDS
    return NameCue("gaze", PERSON, 2.0) if is_gaze else None


def _by(context: NameContext) -> NameCue | None:
    verb = context.before(2)
    if context.before() != "by":
        return None
    if verb in ("", "swear", "swore", "oh"):
        return NameCue("oath", OTHER, 1.5)
    return NameCue("by whom", PERSON, 1.8) if verb.endswith("ed") or verb in IRREGULAR_PASTS else None


def _for(context: NameContext) -> NameCue | None:
    is_bound = context.before() == "for" and context.before(2) in _LEAVING | MOTION_WORDS
    return NameCue("bound for", PLACE, 2.4) if is_bound else None


def _in(context: NameContext) -> NameCue | None:
    is_tongue = context.before() == "in" and context.before(2) in _SPOKEN
    return NameCue("tongue", OTHER, 1.5) if is_tongue else None


def _on(context: NameContext) -> NameCue | None:
    is_place = context.before() == "on" and context.span.name.casefold().split()[-1] in PLACES | PLACE_HEADS
    return NameCue("on", PLACE, 1.0) if is_place else None


def _this_is(context: NameContext) -> NameCue | None:
    word, second = context.before(), context.before(2)
    if word == "is" and second in ("this", "that", "here"):
        return NameCue("this is", PERSON, 1.0)
    return NameCue("this is", PERSON, 0.4) if word in ("that's", "it's") else None


def _greeting(context: NameContext) -> NameCue | None:
    word, second = context.before(), context.before(2)
    is_greeted = (
        word in GREETINGS or (word == "," and second in GREETINGS) or (word == "you" and second == "thank")
    )
    return NameCue("greeting", PERSON, 1.6) if is_greeted else None


_BEFORE: Final[tuple[Callable[[NameContext], NameCue | None], ...]] = (
    _alone, _article, _by_name, _owned, _apart, _colon, _noun, _from, _to, _of, _at, _by, _for, _in, _on,
    _this_is, _greeting,
)  # fmt: skip
