"""Common knowledge of every character: monsters as the rules have them, and words that give hints."""

from typing import Final

from dndbots.errors import UnknownMonster
from dndbots.game.state.pieces import FoeGroup
from dndbots.rules.fights.monsters import Monster, monster

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
        "face", "floor", "fountain", "fresco", "gravestone", "groove", "ground", "inscription",
        "milestone", "moss", "mural", "painting", "path", "pillar", "pool", "press", "root", "shrine",
        "signpost", "statue", "stream", "table", "throne", "tracks", "tree", "wall", "well", "window",
        "writing",
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


def singular_name(group: FoeGroup) -> str:
    """Return the name of one foe of a group: the group's own name may be a plural."""
    kind = monster_of(group)
    return group.name if kind is None or kind.plural.casefold() == kind.name.casefold() else kind.name.lower()


def hint_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning."""
    cleaned = "".join(char if char.isalnum() else " " for char in text.casefold())
    return frozenset(word for word in cleaned.split() if len(word) > 2 and word not in _PLAIN)
