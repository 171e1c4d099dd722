"""The cast of a transcript: finds the people and places that its names mean, or creates them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from dndbots.errors import AmbiguousName
from dndbots.ids import CATEGORIES, DM, category_of, fold_name, is_uid, mint
from dndbots.storage.ports import Lineage, Store
from dndbots.storage.upkeep import lineage_of
from dndbots.storage.views.view import View

_CATEGORY: Final = {"pc": "PC", "player": "PC", "npc": "NPC", "monster": "MON", "mon": "MON"}
_PEOPLE: Final = ("PC", "NPC", "MON")
# A program that rolls dice. What it tells is so, as the DM's words are, but it is no name of the DM.
DICE: Final = "Dice"


class TranscriptCast:
    """Resolves names to uids. Lookups hold until another writer appends; then call `forget`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._dms: set[str] = set()
        self._roles: dict[str, str] = {}
        self.forget()

    def forget(self) -> None:
        """Drop everything that was looked up in the store."""
        self._found: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}
        self._knowers: dict[str, set[str]] = {}
        # By audience: the uids whose names everybody in it knows.
        self._known_to_all = defaultdict[frozenset[str], set[str]](set)

    def hear(self, name: str, role: str | None) -> None:
        """Note the role of a speaker. A name that is the DM once stays the DM where a line gives no role."""
        if role == DM:
            self._dms.add(fold_name(name))
        elif role is not None:
            self._roles.setdefault(fold_name(name), role)

    def person(self, name: str, role: str | None, lineage: Lineage) -> str:
        """Return the uid of a person, or `dm`."""
        key = fold_name(name)
        if role == DM or (role is None and self._is_dm(key, lineage)):
            if key != DM and name != DICE:
                self._names.setdefault(DM, name)
            return DM
        return self._uid(name, _PEOPLE, _CATEGORY.get(role or self._roles.get(key, "pc"), "NPC"), lineage)

    def place(self, name: str, lineage: Lineage) -> str:
        """Return the uid of a place."""
        return self._uid(name, ("LOC",), "LOC", lineage)

    def thing(self, name: str, category: str, lineage: Lineage) -> str:
        """Return the uid of anybody or anything with a name; a new one gets the category."""
        family = _PEOPLE if category in _PEOPLE else (category,)
        if self._candidates(name, family, category, lineage) or (family[0], fold_name(name)) in self._found:
            return self._uid(name, family, category, lineage)
        others = self._candidates(name, CATEGORIES, category, lineage)
        return others[0] if len(others) == 1 else self._uid(name, family, category, lineage)

    def check(self, name: str, role: str | None, lineage: Lineage) -> None:
        """Raise AmbiguousName for a name that several people have. Call it before anything is written."""
        found = self._candidates(name, _PEOPLE, _CATEGORY.get(role or "pc", "NPC"), lineage)
        if len(found) > 1 and role != DM and not _is_entity_uid(name):
            raise AmbiguousName(name, candidates=found)

    def introductions(
        self, shown: Mapping[str, frozenset[str]], lineage: Lineage
    ) -> dict[str, tuple[str, frozenset[str]]]:
        """Return the names to introduce, each with the viewers who see it and do not know it yet.

        `shown` gives, for each uid, the viewers to whom a line shows it.
        """
        names: dict[str, tuple[str, frozenset[str]]] = {}
        named = shown.keys() & self._names.keys()
        for uid in sorted(uid for uid in named if uid not in self._known_to_all[shown[uid]]):
            if uid not in self._knowers:
                rows = self._store.names_of(lineage, [uid], None)
                groups = self._store.members({row.audience for row in rows})
                self._knowers[uid] = {who for group in groups.values() for who in group}
            new = shown[uid] - self._knowers[uid]
            if new:
                names[uid] = self._names[uid], new
                self._knowers[uid] |= new
            self._known_to_all[shown[uid]].add(uid)
        return names

    def _is_dm(self, key: str, lineage: Lineage) -> bool:
        """Return whether a name belongs to the DM alone, in this transcript or in the log before it.

        `DM` itself does, unless the transcript gives that name to a player.
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
        """Return the uids of everybody with this name, preferring the given category if there are several."""
        view = View(self._store, lineage, DM)
        bearers = [uid for uid in view.bearers(name) if uid != DM and category_of(uid) in categories]
        found = sorted({view.persons(uid)[0] for uid in bearers})
        return [uid for uid in found if category_of(uid) == category] or found

    def _uid(self, name: str, categories: tuple[str, ...], category: str, lineage: Lineage) -> str:
        if _is_entity_uid(name):
            return name
        key = categories[0], fold_name(name)
        if key not in self._found:
            found = self._candidates(name, categories, category, lineage)
            uid = found[0] if found else self._new(name, category, lineage)
            named = found and self._store.names_of(lineage, [uid], None)
            self._names[uid] = View(self._store, lineage, DM).called([uid])[uid].name if named else name
            self._found[key] = uid
        return self._found[key]

    def _new(self, name: str, category: str, lineage: Lineage) -> str:
        """Return the uid that another branch gave to this name, or else a new one.

        A line that was edited away and comes back is about the same person.
        """
        stem = mint(category, name).rpartition("_")[0]
        taken, here = self._store.uids_like(stem), set(self._found.values())
        if taken:
            here |= self._store.uids_with(lineage, [stem])
            branches = self._store.branches()
            for branch in reversed(branches):
                named = self._store.named(
                    lineage_of(branches, branch, branch.head), [fold_name(name)], None
                ).get(fold_name(name), set())
                for uid in sorted(named - here):
                    if category_of(uid) == category:
                        return uid
        return mint(category, name, taken=taken | here)


def _is_entity_uid(name: str) -> bool:
    """Return whether a name is a uid. `dark_lord` looks like one, but has no category, so it is a name."""
    return is_uid(name) and category_of(name) is not None
