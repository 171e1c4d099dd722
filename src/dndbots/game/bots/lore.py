"""Common knowledge of every character: monsters as the rules have them, and words that give hints."""

from typing import Final

from dndbots.errors import UnknownMonster
from dndbots.game.state.pieces import FoeGroup
from dndbots.rules.fights.monsters import Monster, monster
from dndbots.text.word_forms import head_of

_PLAIN: Final = frozenset(
    (
        "and", "back", "for", "from", "into", "off", "out", "over", "that", "the", "their", "there", "this",
        "way", "with",
    )
)  # fmt: skip
# Things that can be opened.
SHUT: Final = frozenset(
    (
        "box", "cabinet", "casket", "chest", "coffer", "coffin", "crate", "cupboard", "door", "drawer",
        "gate", "hatch", "lid", "safe", "strongbox", "trunk",
    )
)  # fmt: skip
# Things nobody can carry off.
FIXED: Final = frozenset(
    (
        "altar", "arch", "bed", "board", "bridge", "carving", "ceiling", "column", "crack", "engraving",
        "face", "floor", "fountain", "frame", "fresco", "furrow", "grating", "grave", "gravestone",
        "groove", "ground", "hook", "inscription", "ledge", "mark", "marks", "milestone", "moss", "mural",
        "notice", "oven", "painting", "path", "pillar", "plaster", "pool", "portraits", "press", "rack",
        "root", "roots", "row", "scratches", "shelf", "shrine", "signpost", "slate", "song", "stair",
        "statue", "stream", "strokes", "table", "throne", "tracks", "tree", "wall", "well", "window",
        "wreath", "writing",
    )
)  # fmt: skip
# Words for dark and deep places.
DEEP: Final = frozenset(
    ("cave", "cellar", "crypt", "dark", "deep", "down", "pit", "tomb", "tunnel", "underground", "well")
)


def monster_of(group: FoeGroup) -> Monster | None:
    """Return the monster of a group; None if the rules do not have it."""
    try:
        return monster(group.monster)
    except UnknownMonster:
        return None


def level_of(group: FoeGroup) -> int:
    """Return the level of a group's monster; 1 if the rules do not have it."""
    kind = monster_of(group)
    return kind.level if kind is not None else 1


def can_talk(group: FoeGroup) -> bool:
    """Return whether a group can be talked to."""
    kind = monster_of(group)
    return kind is not None and kind.parleys


def is_one_of(looks: str, kinds: frozenset[str]) -> bool:
    """Return whether a thing is of some kind: a wreath on a door is no door."""
    return not kinds.isdisjoint(hint_words(head_of(looks)))


def hint_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning."""
    cleaned = "".join(char if char.isalnum() else " " for char in text.casefold())
    return frozenset(word for word in cleaned.split() if len(word) > 2 and word not in _PLAIN)
