"""Identities as one viewer knows them: by uid, by name, and by all uids of the same person."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from dndbots._jsontext import is_storable
from dndbots.errors import AmbiguousName, UnknownEntity, UnknownViewer
from dndbots.ids import (
    CATEGORIES,
    DM,
    fold_name,
    is_description,
    is_opaque,
    is_uid,
    mint,
    name_from_uid,
    opaque_uid,
    slug,
    tells_more,
)
from dndbots.storage.ports import NameRow
from dndbots.storage.views.viewpoint import Viewpoint

_NAMED_IN_AN_ERROR: Final = 10
# The beginnings of the uids of characters, NPCs and monsters.
PEOPLE: Final = ("pc_", "npc_", "mon_")


class KnownAs(NamedTuple):
    """The name and the aliases of an entity, as far as a viewer knows."""

    name: str
    aliases: tuple[str, ...]


class People(Viewpoint):
    """All entities that a viewer knows of."""

    def find(self, who: str) -> list[str]:
        """Find an entity that this viewer knows, by uid or name; return all its uids, the current one first.

        Raises `UnknownEntity` if there is none, `AmbiguousName` if there are several.
        """
        for uid in self._meant_by(who) if is_uid(who) else ():
            if self._store.sighted(self._lineage, [uid], self.viewer):
                return self.persons(uid)
        persons = self.persons_of(self.bearers(who) - {DM})
        candidates = {same[0]: same for same in persons.values()}
        if len(candidates) > 1:
            raise AmbiguousName(who, candidates=sorted(self.spell_uids(candidates).values()))
        if not candidates:
            raise UnknownEntity(who)
        return next(iter(candidates.values()))

    def _meant_by(self, uid: str) -> Iterator[str]:
        """Yield the uid itself, then the uids that this viewer was shown as this opaque one."""
        yield uid
        if self.viewer != DM and is_opaque(uid):
            alike = self._store.uids_like(f"{uid.partition('_')[0]}_")
            yield from (other for other in sorted(alike) if opaque_uid(other) == uid)

    def spell_uids(self, uids: Collection[str]) -> dict[str, str]:
        """Return uids as this viewer may see them: a uid that gives away an unheard name becomes opaque.

        Only the names count under which the viewer first learned of an entity, so the spelling of a uid never
        changes. An entity without any name keeps its uid: there is nothing else to call it by.
        """
        spelled = {uid: uid for uid in uids}
        wanted = [uid for uid in spelled if is_uid(uid) and uid != self.viewer and not is_opaque(uid)]
        if self.viewer == DM or not wanted:
            return spelled
        first: dict[str, list[NameRow]] = {}
        for row in self._store.names_of(self._lineage, sorted(wanted), self.viewer):
            rows = first.setdefault(row.uid, [row])
            if row.seq < rows[0].seq:
                first[row.uid] = [row]
            elif row.seq == rows[0].seq:
                rows.append(row)
        telling = {uid for uid, rows in first.items() if tells_more(uid, (row.name for row in rows))}
        seen = self.first_seen(telling)
        shown = {uid for uid in telling if seen.get(uid, first[uid][0].seq) >= first[uid][0].seq}
        return spelled | {uid: opaque_uid(uid) for uid in shown}

    def perceiver(self, viewer: str) -> str:
        """Return the uid of a viewer, by uid or name. For the DM's view, which knows everybody.

        Raises `UnknownViewer` or `AmbiguousName`.
        """
        if viewer.casefold() == DM:
            return DM
        if is_uid(viewer) and self._store.sighted(self._lineage, [viewer]):
            return viewer
        bearers = sorted(self.bearers(viewer))
        # A place may have a person's name, but it perceives nothing. The DM's name is like any other: if
        # somebody else has it too, it is ambiguous.
        bearers = [uid for uid in bearers if uid == DM or uid.startswith(PEOPLE)] or bearers
        bearers = [*(uid for uid in bearers if uid == DM), *self._knowing(viewer, bearers)] or bearers
        if len(bearers) > 1 and len({self.persons(uid)[0] for uid in bearers}) > 1:
            raise AmbiguousName(viewer, candidates=bearers)
        if not bearers:
            # The caller may be a player, so the error names characters only.
            raise UnknownViewer(viewer, known=self.everybody("pc_")[:_NAMED_IN_AN_ERROR])
        return bearers[0]

    def _knowing(self, name: str, bearers: Collection[str]) -> list[str]:
        """Return the likely bearers of a name: characters before others, and those who know that name.

        A name that only the DM knows must not make another one ambiguous.
        """
        people = [uid for uid in bearers if uid.startswith("pc_")] or [uid for uid in bearers if uid != DM]
        if len(people) < 2:
            return people
        return [uid for uid in people if uid in self.of(uid).bearers(name)] or people

    def bearers(self, name: str) -> set[str]:
        """Return the uids of all entities with this name, given or read from their uid."""
        return self.bearers_of([name])[name]

    def bearers_of(self, names: Collection[str]) -> dict[str, set[str]]:
        """Do the same for several names, in one read."""
        wanted = {name: fold_name(name) if is_storable(name) else "" for name in names}
        given = self._store.named(self._lineage, sorted({*wanted.values()} - {""}), self.viewer)
        missing = {name for name in names if wanted[name] and not given.get(wanted[name])}
        nameless = self._nameless(missing) if missing else {}
        return {name: given.get(wanted[name]) or nameless.get(wanted[name], set()) for name in names}

    def given(self, names: Collection[str]) -> dict[str, set[str]]:
        """Return the uids of all who were given some folded names. Names read from a uid do not count."""
        return self._store.named(self._lineage, sorted(names), self.viewer)

    def mint_uid(self, category: str, name: str, *, taken: Collection[str] = ()) -> str:
        """Return a new uid that is unused in every branch."""
        stem = mint(category, name).rpartition("_")[0]
        return mint(category, name, taken={*taken, *self._store.uids_like(stem)})

    def _nameless(self, names: Collection[str]) -> dict[str, set[str]]:
        """Return entities without a given name, by the name that their uid spells."""
        slugs = {slug(name) for name in names}
        starts = sorted({spelled.partition("_")[0] for spelled in slugs} - {""})
        prefixes = [f"{category.lower()}_{start}" for category in CATEGORIES for start in starts]
        numbers = {"", *map(_number_of, slugs)}
        likely = [uid for uid in self._store.uids_with(self._lineage, prefixes) if _number_of(uid) in numbers]
        wanted = {fold_name(name) for name in names}
        spelled = {uid: name for uid in likely if (name := fold_name(name_from_uid(uid))) in wanted}
        sighted = self._store.sighted(self._lineage, sorted(spelled), self.viewer)
        named = {row.uid for row in self._store.names_of(self._lineage, sorted(sighted), self.viewer)}
        found: dict[str, set[str]] = {}
        for uid in sighted - named:
            found.setdefault(spelled[uid], set()).add(uid)
        return found

    def persons(self, uid: str) -> list[str]:
        """Return all uids that this viewer knows to be the same entity, the current one first."""
        return self.persons_of([uid])[uid]

    def persons_of(self, uids: Collection[str]) -> dict[str, list[str]]:
        """Do the same for several uids, in one read. Uids of one entity share a list: do not change it."""
        into: dict[str, str] = {}
        known, new = set(uids), set(uids)
        while new:
            rows = self._store.identities(self._lineage, sorted(new), self.viewer)
            into |= {row.uid: row.same_as for row in rows}
            new = {uid for row in rows for uid in (row.uid, row.same_as)} - known
            known |= new
        firsts = _firsts(known, into)
        together: dict[str, list[str]] = {}
        for uid in sorted(known, key=lambda uid: (uid != firsts[uid], uid)):
            together.setdefault(firsts[uid], []).append(uid)
        return {uid: together[firsts[uid]] for uid in uids}

    def everybody(self, prefix: str = "") -> list[str]:
        """Return the current uid of every entity that this viewer knows of, or of those with a prefix."""
        if prefix:
            sighted = self._store.sighted(self._lineage, sorted(self._store.uids_like(prefix)), self.viewer)
        else:
            sighted = set(self._store.all_sighted(self._lineage, self.viewer))
        found = {same[0] for same in self.persons_of(sighted).values()}
        return sorted(uid for uid in found if uid.startswith(prefix))

    def first_seen(self, uids: Collection[str]) -> dict[str, int]:
        """Return the seq at which this viewer first learned of each entity that it knows of."""
        return self._store.first_sighted(self._lineage, sorted(uids), self.viewer)

    def called(self, uids: Collection[str]) -> dict[str, KnownAs]:
        """Return the names of some entities: the newest name, else a description, else the uid's words."""
        return self._called(self.persons_of(uids))

    def _called(self, persons: Mapping[str, list[str]]) -> dict[str, KnownAs]:
        rows: dict[str, list[NameRow]] = {}
        everyone = {other for same in persons.values() for other in same}
        for row in self._store.names_of(self._lineage, sorted(everyone), self.viewer):
            rows.setdefault(row.uid, []).append(row)
        return {
            uid: known_as(same[0], [row for other in same for row in rows.get(other, ())])
            for uid, same in persons.items()
        }


def _number_of(uid: str) -> str:
    """Return the number at the end of a uid without leading zeros; empty for number 1."""
    number = uid.rpartition("_")[2].lstrip("0")
    return number if number.isdigit() and number != "1" else ""


def _firsts(uids: Iterable[str], into: Mapping[str, str]) -> dict[str, str]:
    """Return the final uid of each uid after all merges. An unchecked log may have merges in a circle."""
    final: dict[str, str] = {}
    for uid in uids:
        path: dict[str, None] = {}
        at = uid
        while at in into and at not in path and at not in final:
            path[at] = None
            at = into[at]
        if at in path:
            circle = list(path)[list(path).index(at) :]
            final.update(dict.fromkeys(circle, min(circle)))
        end = final.setdefault(at, at)
        final.update(dict.fromkeys(path, end))
    return final


def known_as(uid: str, rows: list[NameRow]) -> KnownAs:
    """Return the name and the aliases that some rows give an entity."""
    if not rows:
        return KnownAs(name_from_uid(uid) if is_uid(uid) else uid, ())
    # Keep a known name; a later description becomes an alias.
    newest = max(rows, key=lambda row: (row.uid == uid, not is_description(row.name), row.seq, -row.n))
    others = dict.fromkeys(row.name for row in sorted(rows, key=_first_said))
    return KnownAs(newest.name, tuple(name for name in others if name != newest.name))


def _first_said(row: NameRow) -> tuple[int, int]:
    return row.seq, row.n
