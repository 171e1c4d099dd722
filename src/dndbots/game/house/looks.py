"""What words give away: what can be opened, what cannot be carried off, and what is dark and deep."""

from typing import Final

_PLAIN: Final = frozenset(
    (
        "and", "back", "for", "from", "into", "off", "out", "over", "that", "the", "their", "there", "this",
        "way", "with",
    )
)  # fmt: skip
SHUT: Final = frozenset(
    (
        "box", "cabinet", "casket", "chest", "coffer", "coffin", "crate", "cupboard", "door", "drawer",
        "gate", "hatch", "lid", "safe", "strongbox", "trunk",
    )
)  # fmt: skip
FIXED: Final = frozenset(
    (
        "altar", "arch", "bed", "board", "bridge", "carving", "ceiling", "column", "crack", "engraving",
        "face", "floor", "fountain", "fresco", "gravestone", "groove", "ground", "inscription",
        "milestone", "moss", "mural", "painting", "path", "pillar", "pool", "press", "root", "shrine",
        "signpost", "statue", "stream", "table", "throne", "tracks", "tree", "wall", "well", "window",
        "writing",
    )
)  # fmt: skip
DEEP: Final = frozenset(
    ("cave", "cellar", "crypt", "dark", "deep", "down", "pit", "tomb", "tunnel", "underground", "well")
)


def words_of(text: str) -> frozenset[str]:
    """The words of a text that say something."""
    cleaned = "".join(char if char.isalnum() else " " for char in text.casefold())
    return frozenset(word for word in cleaned.split() if len(word) > 2 and word not in _PLAIN)
