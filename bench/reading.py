"""When what was read out of a line is what the line says: the rules by which compaction is marked.

Words are compared folded and without articles. A name may be longer or shorter than the one that was said
("Brandt", "Captain Brandt"), and so may a value ("blacksmith", "blacksmith of Oakhurst"), by a few words.
Who said it, whether it is passed on as a rumor, and whether it is over must be as they were told.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from dndbots.compaction.values import Update
from told import Truth

# So many words more than were said still tell the same; a whole sentence does not.
MOST_MORE = 5
STOPWORDS = frozenset(
    {
        "a",
        "an",
        "the",
        "of",
        "and",
        "to",
        "in",
        "at",
        "on",
        "by",
        "for",
        "from",
        "with",
        "his",
        "her",
        "their",
    }
    | {"its", "my", "your", "our", "is", "was", "are", "be", "been", "has", "have", "that", "it", "as"}
)
# A reader may call these by either name.
EQUIVALENT = (
    {"place", "home"},
    {"serves", "employer"},
    {"friend", "ally"},
    {"rival", "enemy"},
    {"brother", "sister", "twin"},
)
# Said of the one, these say something of the other.
REVERSED: Mapping[str, frozenset[str]] = {
    "brother": frozenset({"brother", "sister", "twin"}),
    "sister": frozenset({"brother", "sister", "twin"}),
    "twin": frozenset({"brother", "sister", "twin"}),
    "father": frozenset({"son", "daughter"}),
    "mother": frozenset({"son", "daughter"}),
    "son": frozenset({"father", "mother"}),
    "daughter": frozenset({"father", "mother"}),
    "husband": frozenset({"husband", "wife"}),
    "wife": frozenset({"husband", "wife"}),
    "uncle": frozenset({"nephew", "niece"}),
    "aunt": frozenset({"nephew", "niece"}),
    "nephew": frozenset({"uncle", "aunt"}),
    "niece": frozenset({"uncle", "aunt"}),
    "mentor": frozenset({"apprentice"}),
    "apprentice": frozenset({"mentor"}),
    "leader": frozenset({"faction"}),
    **{field: frozenset({field}) for field in ("cousin", "friend", "rival", "enemy", "ally", "lover")},
}


def content(text: str) -> frozenset[str]:
    """The words of a text that say something, folded."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return frozenset(re.findall(r"[a-z0-9]+", plain.replace("'s", ""))) - STOPWORDS


def alike(one: str, other: str) -> bool:
    """Whether one is a longer or shorter form of the other."""
    first, second = sorted((content(one), content(other)), key=len)
    return bool(first) and first <= second and len(second) - len(first) <= MOST_MORE


def same_field(one: str, other: str) -> bool:
    return one == other or any(one in fields and other in fields for fields in EQUIVALENT)


def says_so(update: Update, truth: Truth) -> bool:
    """Whether it is said of the same, under the same field, with the same value."""
    if any(alike(update.value, value) for value in truth.values):
        named = truth.kind == "quest" or alike(update.name, truth.name)
        if named and same_field(update.field, truth.field):
            return True
    return (
        update.field in REVERSED.get(truth.field, ())
        and alike(update.value, truth.name)
        and any(alike(update.name, value) for value in truth.values)
    )


def fairly(update: Update, truth: Truth, speaker: str | None) -> bool:
    """Whether it is passed on as it was told: by whom, how surely, and whether it is over."""
    said_by = update.said_by or speaker
    return (
        (said_by is None) == (truth.said_by is None)
        and (said_by is None or truth.said_by is None or alike(said_by, truth.said_by))
        and update.sure == truth.sure
        and update.ended == truth.ended
    )


def in_the_name(update: Update) -> bool:
    """Sister Agathe's being a sister is in her name: neither right nor wrong."""
    return update.field in ("role", "status", "description", "age") and content(update.value) <= content(
        update.name
    )


def stands(lines: Iterable[frozenset[str]], name: str, values: Iterable[str]) -> bool:
    """Whether some line has the subject, by its first or last name, and one of the values, whole."""
    names = content(name)
    wanted = [content(value) for value in values]
    return any(names & line and any(value <= line for value in wanted) for line in lines)
