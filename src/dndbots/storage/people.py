"""Who is who, as far as one viewer knows: by uid, by name, and under all uids that are one and the same."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from dndbots.errors import AmbiguousName, UnknownEntity, UnknownViewer
from dndbots.events import is_storable
from dndbots.ids import (
    CATEGORIES,
    DM,
    folded,
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
from dndbots.storage.viewpoint import Viewpoint

_NAMED_IN_AN_ERROR: Final = 10
_PEOPLE: Final = ("pc_", "npc_", "mon_")


class Called(NamedTuple):
    """What somebody is called, as far as a viewer knows."""

    name: str
    aliases: tuple[str, ...]


class People(Viewpoint):
    """Everybody and everything that a viewer knows of."""

    def find(self, who: str) -> list[str]:
        """Somebody this viewer knows, by uid or by name: the uid they go by, then their others."""
        for uid in self._meant_by(who) if is_uid(who) else ():
            if self._store.sighted(self._lineage, [uid], self.viewer):
                return self.persons(uid)
        persons = self.persons_of(self.bearers(who) - {DM})
        candidates = {same[0]: same for same in persons.values()}
        if len(candidates) > 1:
            raise AmbiguousName(who, candidates=sorted(self.spelled(candidates).values()))
        if not candidates:
            raise UnknownEntity(who)
        return next(iter(candidates.values()))

    def _meant_by(self, uid: str) -> Iterator[str]:
        """The uid itself, or else the one for which this viewer was shown it."""
        yield uid
        if self.viewer != DM and is_opaque(uid):
            alike = self._store.uids_like(f"{uid.partition('_')[0]}_")
            yield from (other for other in sorted(alike) if opaque_uid(other) == uid)

    def spelled(self, uids: Collection[str]) -> dict[str, str]:
        """Some uids as this viewer may see them: one that tells a name it was not told becomes opaque.

        What counts are the names under which it first learned of somebody, so that a uid never changes its
        spelling. Where it was given none, the uid is all there is to call them by, and stays as it is.
        """
        found = {uid: uid for uid in uids}
        wanted = [uid for uid in found if is_uid(uid) and uid != self.viewer and not is_opaque(uid)]
        if self.viewer == DM or not wanted:
            return found
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
        return found | {uid: opaque_uid(uid) for uid in shown}

    def perceiver(self, viewer: str) -> str:
        """Whoever perceives under a uid, or bears a name. This view is the DM's, who knows them all."""
        if viewer.casefold() == DM:
            return DM
        if is_uid(viewer) and self._store.sighted(self._lineage, [viewer]):
            return viewer
        bearers = sorted(self.bearers(viewer))
        # A place may be called like somebody, but it does not look on. The DM's name is one like any
        # other: shared with somebody, it is nobody's.
        bearers = [uid for uid in bearers if uid == DM or uid.startswith(_PEOPLE)] or bearers
        bearers = [*(uid for uid in bearers if uid == DM), *self._knowing(viewer, bearers)] or bearers
        if len(bearers) > 1 and len({self.persons(uid)[0] for uid in bearers}) > 1:
            raise AmbiguousName(viewer, candidates=bearers)
        if not bearers:
            # Whoever asks is not the DM, so only the characters are named.
            raise UnknownViewer(viewer, known=self.everybody("pc_")[:_NAMED_IN_AN_ERROR])
        return bearers[0]

    def _knowing(self, name: str, bearers: Collection[str]) -> list[str]:
        """Who is likely meant by a name: characters before others, and who knows that it is theirs.

        What only the DM knows of anybody's names must make nobody else ambiguous.
        """
        people = [uid for uid in bearers if uid.startswith("pc_")] or [uid for uid in bearers if uid != DM]
        if len(people) < 2:
            return people
        return [uid for uid in people if uid in self.of(uid).bearers(name)] or people

    def bearers(self, name: str) -> set[str]:
        """Those who were given a name, or, nameless, go by what their uid says."""
        return self.bearers_of([name])[name]

    def bearers_of(self, names: Collection[str]) -> dict[str, set[str]]:
        """The same for several names, in one look."""
        wanted = {name: folded(name) if is_storable(name) else "" for name in names}
        given = self._store.named(self._lineage, sorted({*wanted.values()} - {""}), self.viewer)
        missing = {name for name in names if wanted[name] and not given.get(wanted[name])}
        nameless = self._nameless(missing) if missing else {}
        return {name: given.get(wanted[name]) or nameless.get(wanted[name], set()) for name in names}

    def given(self, names: Collection[str]) -> dict[str, set[str]]:
        """Those who were given some names, by the folded name. Who is only known by a uid is left out."""
        return self._store.named(self._lineage, sorted(names), self.viewer)

    def minted(self, category: str, name: str, *, taken: Collection[str] = ()) -> str:
        """A uid that nobody has in any branch, for somebody or something new."""
        stem = mint(category, name).rpartition("_")[0]
        return mint(category, name, taken={*taken, *self._store.uids_like(stem)})

    def _nameless(self, names: Collection[str]) -> dict[str, set[str]]:
        """Those whom nobody gave a name, by the names that their uids say."""
        starts = sorted({_first_word(name) for name in names} - {""})
        prefixes = [f"{category.lower()}_{start}" for category in CATEGORIES for start in starts]
        numbers = {"", *(_number_of(slug(name)) for name in names)}
        likely = [uid for uid in self._store.uids_with(self._lineage, prefixes) if _number_of(uid) in numbers]
        wanted = {folded(name) for name in names}
        said = {uid: name for uid in likely if (name := folded(name_from_uid(uid))) in wanted}
        sighted = self._store.sighted(self._lineage, sorted(said), self.viewer)
        named = {row.uid for row in self._store.names_of(self._lineage, sorted(sighted), self.viewer)}
        found: dict[str, set[str]] = {}
        for uid in sighted - named:
            found.setdefault(said[uid], set()).add(uid)
        return found

    def persons(self, uid: str) -> list[str]:
        """All uids that this viewer knows to be one and the same; the one it goes by comes first."""
        return self.persons_of([uid])[uid]

    def persons_of(self, uids: Collection[str]) -> dict[str, list[str]]:
        """The same for several, in one look. Those who are one share a list, which nobody may change."""
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
        """Every entity that this viewer knows of, or those of a kind, each under the uid it goes by."""
        if prefix:
            sighted = self._store.sighted(self._lineage, sorted(self._store.uids_like(prefix)), self.viewer)
        else:
            sighted = set(self._store.all_sighted(self._lineage, self.viewer))
        found = {same[0] for same in self.persons_of(sighted).values()}
        return sorted(uid for uid in found if uid.startswith(prefix))

    def first_seen(self, uids: Collection[str]) -> dict[str, int]:
        """Where this viewer learned of those of some entities that it knows of."""
        return self._store.first_sighted(self._lineage, sorted(uids), self.viewer)

    def called(self, uids: Collection[str]) -> dict[str, Called]:
        """What some entities are called: by their newest name, a description, or else what their uid says."""
        return self._called(self.persons_of(uids))

    def _called(self, persons: Mapping[str, list[str]]) -> dict[str, Called]:
        rows: dict[str, list[NameRow]] = {}
        everyone = {other for same in persons.values() for other in same}
        for row in self._store.names_of(self._lineage, sorted(everyone), self.viewer):
            rows.setdefault(row.uid, []).append(row)
        return {
            uid: called_by(same[0], [row for other in same for row in rows.get(other, ())])
            for uid, same in persons.items()
        }


def _first_word(name: str) -> str:
    return slug(name).partition("_")[0]


def _number_of(uid: str) -> str:
    """The number at the end of a uid, however it is written; the first has none."""
    number = uid.rpartition("_")[2].lstrip("0")
    return number if number.isdigit() and number != "1" else ""


def _firsts(uids: Iterable[str], into: Mapping[str, str]) -> dict[str, str]:
    """Whom each turned out to be in the end. A log that nobody checked may go in circles."""
    found: dict[str, str] = {}
    for uid in uids:
        way: dict[str, None] = {}
        at = uid
        while at in into and at not in way and at not in found:
            way[at] = None
            at = into[at]
        if at in way:
            circle = list(way)[list(way).index(at) :]
            found.update(dict.fromkeys(circle, min(circle)))
        end = found.setdefault(at, at)
        found.update(dict.fromkeys(way, end))
    return found


def called_by(uid: str, rows: list[NameRow]) -> Called:
    if not rows:
        return Called(name_from_uid(uid) if is_uid(uid) else uid, ())
    # Whoever has a name keeps it when somebody who never heard it is shown them.
    newest = max(rows, key=lambda row: (row.uid == uid, not is_description(row.name), row.seq, -row.n))
    others = dict.fromkeys(row.name for row in sorted(rows, key=_first_said))
    return Called(newest.name, tuple(name for name in others if name != newest.name))


def _first_said(row: NameRow) -> tuple[int, int]:
    return row.seq, row.n
