"""Whom a name means among those who are known: by name, alias, or the one word of a longer name."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dndbots.compaction.checking import Mention
from dndbots.compaction.data import CampaignData
from dndbots.compaction.grounds import is_like_a_name, same_name
from dndbots.compaction.values import Turn
from dndbots.ids import category_of, folded

_ARTICLE: Final = "the "
_MOST_NAMED: Final = 5


class Names:
    """An index of names. It knows nothing of turns, and mints nothing."""

    def __init__(self, data: CampaignData) -> None:
        self._called: dict[str, str] = {}
        self._whole: dict[str, set[str]] = {}
        self._parts: dict[str, set[str]] = {}
        for uid, info in data.entities().items():
            self.add(uid, info.name, info.aliases)

    def add(self, uid: str, name: str, aliases: Iterable[str] = ()) -> None:
        self._called[uid] = name
        for index, key in self._keys((name, *aliases)):
            index.setdefault(key, set()).add(uid)

    def remove(self, uid: str) -> None:
        """Take back what was added last, before anybody else saw it."""
        for index, key in self._keys((self._called.pop(uid),)):
            index[key].discard(uid)

    def bearer(self, name: str, category: str) -> str | None:
        """The one of a category who has exactly this name."""
        found = [uid for uid in sorted(self._bearers(name)) if category_of(uid) == category]
        return found[0] if found else None

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> Mention | str:
        """Whom a turn means by a name: somebody known, somebody new, or why nobody."""
        bearers = sorted(self._bearers(name))
        fitting = [uid for uid in bearers if category_of(uid) in categories]
        if not fitting and bearers:
            return f"{name!r} is a {category_of(bearers[0])} already, not a {' or '.join(categories)}"
        if not fitting:
            parts = sorted(self._parts.get(folded(name), ()))
            fitting = [uid for uid in parts if category_of(uid) in categories]
        if len(fitting) > 1:
            listed = ", ".join(repr(self._called[uid]) for uid in fitting[:_MOST_NAMED])
            return f"{name!r} may be any of {listed}"
        if fitting:
            return Mention(self._called[fitting[0]], category_of(fitting[0]) or "", fitting[0])
        return _new(name, categories, turn)

    def _bearers(self, name: str) -> set[str]:
        plain = folded(name)
        return self._whole.get(plain, set()) | self._whole.get(plain.removeprefix(_ARTICLE), set())

    def _keys(self, names: Iterable[str]) -> Iterator[tuple[dict[str, set[str]], str]]:
        for name in names:
            plain = folded(name)
            yield self._whole, plain
            if plain.startswith(_ARTICLE):
                yield self._whole, plain.removeprefix(_ARTICLE)
            words = name.split()
            if len(words) > 1:
                yield from ((self._parts, folded(word)) for word in words if is_like_a_name(word))


def _new(name: str, categories: Sequence[str], turn: Turn) -> Mention | str:
    """Somebody of whom nothing is known. A player character is one only by taking a turn."""
    if turn.role == "pc" and same_name(name, turn.speaker) and "PC" in categories:
        return Mention(name, "PC")
    others = [category for category in categories if category != "PC"]
    return Mention(name, others[0]) if others else f"no player character is called {name!r}"
