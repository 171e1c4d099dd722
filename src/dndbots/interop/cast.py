"""Who is meant by the names in a transcript: people and places that are there, or come to life."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from dndbots.errors import AmbiguousName
from dndbots.ids import DM, category_of, folded, is_uid, mint
from dndbots.storage.ports import Lineage, Store
from dndbots.storage.reader import View

_CATEGORY: Final = {"pc": "PC", "player": "PC", "npc": "NPC", "monster": "MON", "mon": "MON"}
_PEOPLE: Final = ("PC", "NPC", "MON")


class Cast:
    """What was looked up holds only as long as nobody else writes; `forget` then drops it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._dms: set[str] = set()
        self._roles: dict[str, str] = {}
        self.forget()

    def forget(self) -> None:
        self._found: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}
        self._told: dict[str, set[str]] = {}
        # By audience: whose names all of them know.
        self._told_all = defaultdict[frozenset[str], set[str]](set)

    def hear(self, name: str, role: str | None) -> None:
        """Takes in what a line says of a speaker. Whoever is the DM once is, where nothing else is said."""
        if role == DM:
            self._dms.add(folded(name))
        elif role is not None:
            self._roles.setdefault(folded(name), role)

    def person(self, name: str, role: str | None, lineage: Lineage) -> str:
        """The uid of a person, or the DM."""
        key = folded(name)
        if role == DM or (role is None and self._is_dm(key, lineage)):
            if key != DM:
                self._names.setdefault(DM, name)
            return DM
        return self._uid(name, _PEOPLE, _CATEGORY.get(role or self._roles.get(key, "pc"), "NPC"), lineage)

    def place(self, name: str, lineage: Lineage) -> str:
        return self._uid(name, ("LOC",), "LOC", lineage)

    def check(self, name: str, role: str | None, lineage: Lineage) -> None:
        """Refuses a name that several people have, as long as nothing is written."""
        found = self._candidates(name, _PEOPLE, _CATEGORY.get(role or "pc", "NPC"), lineage)
        if len(found) > 1 and role != DM and not _says_who(name):
            raise AmbiguousName(name, candidates=found)

    def introductions(
        self, shown: Mapping[str, frozenset[str]], lineage: Lineage
    ) -> dict[str, tuple[str, frozenset[str]]]:
        """What those in a line are called, and who of those whom it tells so has not been told before."""
        names: dict[str, tuple[str, frozenset[str]]] = {}
        called = shown.keys() & self._names.keys()
        for uid in sorted(uid for uid in called if uid not in self._told_all[shown[uid]]):
            if uid not in self._told:
                rows = self._store.names_of(lineage, [uid], None)
                groups = self._store.members({row.audience for row in rows})
                self._told[uid] = {who for group in groups.values() for who in group}
            new = shown[uid] - self._told[uid]
            if new:
                names[uid] = self._names[uid], new
                self._told[uid] |= new
            self._told_all[shown[uid]].add(uid)
        return names

    def _is_dm(self, key: str, lineage: Lineage) -> bool:
        """Whether a name is the DM's and nobody else's, in this transcript or before it.

        `DM` is, unless the transcript says that a player is called so.
        """
        if key == DM:
            return key in self._dms or key not in self._roles
        is_new = key not in self._dms and (_PEOPLE[0], key) not in self._found
        if is_new and self._store.named(lineage, [key], None).get(key) == {DM}:
            self._dms.add(key)
        return key in self._dms

    def _candidates(
        self, name: str, categories: tuple[str, ...], category: str, lineage: Lineage
    ) -> list[str]:
        """Those who bear a name, each under the uid they go by; of several, those of the likely category."""
        view = View(self._store, lineage, DM)
        bearers = [uid for uid in view.bearers(name) if uid != DM and category_of(uid) in categories]
        found = sorted({view.persons(uid)[0] for uid in bearers})
        return [uid for uid in found if category_of(uid) == category] or found

    def _uid(self, name: str, categories: tuple[str, ...], category: str, lineage: Lineage) -> str:
        if _says_who(name):
            return name
        key = categories[0], folded(name)
        if key not in self._found:
            found = self._candidates(name, categories, category, lineage)
            uid = found[0] if found else self._new(name, category)
            named = found and self._store.names_of(lineage, [uid], None)
            self._names[uid] = View(self._store, lineage, DM).called([uid])[uid].name if named else name
            self._found[key] = uid
        return self._found[key]

    def _new(self, name: str, category: str) -> str:
        stem = mint(category, name).rpartition("_")[0]
        return mint(category, name, taken={*self._store.uids_like(stem), *self._found.values()})


def _says_who(name: str) -> bool:
    """Whether a name is a uid. `dark_lord` looks like one, but says no category, so it is a name."""
    return is_uid(name) and category_of(name) is not None
