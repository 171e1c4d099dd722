"""A campaign in a SQL database: the store port on one connection."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import itemgetter
from typing import Any, Final, Self, TypeVar

from sqlalchemy.sql import Executable

from dndbots.canon.reducers import FOLD_VERSION
from dndbots.errors import BranchExists, CampaignMissing, SequenceConflict, StoreDamaged
from dndbots.storage.ports import (
    MAIN,
    VIEWS,
    Branch,
    ClaimKey,
    ClaimRow,
    Cursor,
    EventRow,
    IdentityRow,
    Lineage,
    LineHead,
    LinkRow,
    MentionRow,
    NameRow,
    Rows,
    Seed,
    Segment,
    TruthRow,
)
from dndbots.storage.seals import Seal, describe_loss
from dndbots.storage.sql.database import Database, Dialect
from dndbots.storage.sql.line_reads import LineReads
from dndbots.storage.sql.migrate import bring_up_to_date
from dndbots.storage.sql.statements import statements_for

RowKind = TypeVar("RowKind", bound=Any)
_CURSOR: Final = "views"
_EVERYTHING: Final = 2**62
_PAGE: Final = 1_000
# Rows are written in the order of their index, so that neighbours are written together. One column is enough
# to sort postings, which are the most numerous.
_SORTED_BY: Final = {"postings": itemgetter(1)}


class SqlStore(LineReads):
    """A campaign of a database. A folder's database has one, a server's has many."""

    def __init__(
        self, make_dialect: Callable[[], Dialect], *, campaign: str, create: bool, fresh: bool = True
    ) -> None:
        self._make_dialect, self._name = make_dialect, campaign
        # Branches that were compared with their seals.
        self._compared: set[int] = set()
        self._db = Database(make_dialect())
        self.where = self._db.dialect.where
        try:
            if fresh:
                bring_up_to_date(self._db)
            self._say = statements_for(self._db.dialect)
            self._campaign = self._find_campaign(create=create)
        except BaseException:  # nobody else would close the connection
            self._db.close()
            raise

    def _find_campaign(self, *, create: bool) -> int:
        found = self._db.one(self._say.campaign, name=self._name)
        if found is None:
            if not create:
                raise CampaignMissing(f"{self.where} (campaign {self._name})")
            self._db.run(self._say.add_campaign, name=self._name)
            found = self._db.one(self._say.campaign, name=self._name)
        if found is None:
            raise CampaignMissing(f"{self.where} (campaign {self._name})")
        campaign = int(found[0])
        if not self._db.all(self._say.branches, campaign=campaign):
            self._db.run(self._say.add_branch, campaign=campaign, name=MAIN, parent=None, forked_at=0)
        return campaign

    def another(self) -> Self:
        return type(self)(self._make_dialect, campaign=self._name, create=False, fresh=False)

    def close(self) -> None:
        self._db.close()

    # The log.

    def branches(self) -> list[Branch]:
        return _made(Branch, self._db.all(self._say.branches, campaign=self._campaign))

    def add_branch(
        self, name: str, *, parent: int, forked_at: int, seed: Seed, instead_of: int | None = None
    ) -> Branch:
        with self._db.transaction(self._campaign):
            if any(branch.name == name for branch in self.branches()):
                raise BranchExists(name)
            self._db.run(
                self._say.add_branch,
                campaign=self._campaign,
                name=name,
                parent=parent,
                forked_at=forked_at,
            )
            branch = next(branch for branch in self.branches() if branch.name == name)
            self.write(seed(self, branch))
            if instead_of is not None:
                self._exchange_names(branch.id, instead_of)
            return next(stored for stored in self.branches() if stored.id == branch.id)

    def exchange_names(self, one: int, other: int, *, expected: int) -> None:
        with self._db.transaction(self._campaign):
            head = next(branch.head for branch in self.branches() if branch.id == one)
            if head != expected:
                raise SequenceConflict(expected=expected, actual=head)
            self._exchange_names(one, other)

    def _exchange_names(self, one: int, other: int) -> None:
        names = {branch.id: branch.name for branch in self.branches()}
        # Names are unique at any time, and a blank is never a branch's name.
        for branch, name in ((one, " "), (other, names[one]), (one, names[other])):
            self._db.run(self._say.rename, branch=branch, new_name=name)

    @contextmanager
    def appending(self, branch: int) -> Iterator[int]:
        noted: Seal | None = None
        with self._db.transaction(self._campaign):
            found = self._db.one(self._say.log, branch=branch)
            try:
                head, forked_at, text = (int(found[0]), int(found[1]), str(found[2])) if found else (0, 0, "")
            except (TypeError, ValueError) as exc:
                reason = "the head of a branch is not a number; restore the campaign from a copy"
                raise StoreDamaged(self.where, reason=reason) from exc
            self._seal = noted = Seal.read(text) or Seal(forked_at)
            if branch not in self._compared:
                self._refuse_lost(branch, head)
            if noted.seq < head:
                # An older dndbots wrote these events, or the log was accepted as it is.
                self._set_log(branch, head, self._between(branch, noted.seq, head))
            yield head
        if self._seal != noted:
            self._db.dialect.note(branch, self._seal)

    def _refuse_lost(self, branch: int, head: int) -> None:
        """Refuse to append after a lost tail: the next seal would hide the loss."""
        seals = [self._seal, *filter(None, [self._db.dialect.noted_seals().get(branch)])]
        newest = max(seals)
        if newest.seq > head or any(seal.seq == newest.seq and seal != newest for seal in seals):
            raise StoreDamaged(self.where, reason=describe_loss(newest.seq, head))
        self._compared.add(branch)

    def _between(self, branch: int, after: int, head: int) -> Iterator[EventRow]:
        while rows := self.events((Segment(branch, head),), after=after, limit=_PAGE):
            yield from rows
            after = rows[-1].seq

    def _set_log(self, branch: int, head: int, new: Iterable[EventRow]) -> None:
        self._seal = self._seal.extended(new)
        self._db.run(self._say.set_log, branch=branch, new_head=head, new_seal=str(self._seal))

    def write(self, rows: Rows) -> None:
        for name in ("events", *VIEWS):
            new = getattr(rows, name)
            if new:
                self._db.insert(self._say.append[name], sorted(new, key=_SORTED_BY.get(name)))
        if rows.events:
            self._set_log(rows.branch, rows.head, rows.events)
        else:
            self._db.run(self._say.set_head, branch=rows.branch, new_head=rows.head)
        self._db.insert(self._say.set_cursor, [(rows.branch, _CURSOR, rows.head, rows.version)])

    def intern(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]:
        wanted = list(dict.fromkeys(groups))
        found = self.groups(wanted)
        missing = [group for group in wanted if group not in found]
        for group in missing:
            self._db.run(self._say.add_audience, campaign=self._campaign, digest=_digest(group))
        if missing:
            found |= self.groups(missing)
            new = [(self._campaign, member, found[group]) for group in missing for member in sorted(group)]
            self._db.insert(self._say.add_member, new)
        return found

    def groups(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]:
        wanted = list(groups)
        digests = [{"digest": _digest(group)} for group in wanted]
        found = self._db.each(self._say.audience, digests, campaign=self._campaign)
        return {group: int(rows[0][0]) for group, rows in zip(wanted, found, strict=True) if rows}

    def members(self, groups: Collection[int]) -> dict[int, frozenset[str]]:
        found: dict[int, set[str]] = {group: set() for group in groups}
        if groups:
            for group, member in self._db.all(self._say.members, audiences=self._db.dialect.as_list(groups)):
                found[group].add(member)
        return {group: frozenset(people) for group, people in found.items()}

    def events(self, lineage: Lineage, *, after: int, limit: int) -> list[EventRow]:
        found: list[EventRow] = []
        for segment in lineage:
            if len(found) < limit and segment.upto > after:
                rows = self._db.all(
                    self._say.events,
                    branch=segment.branch,
                    upto=segment.upto,
                    after=after,
                    limit=limit - len(found),
                )
                found += _made(EventRow, rows)
        return found

    def events_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, EventRow]:
        return {row.seq: row for row in _made(EventRow, self._at(self._say.events_at, lineage, seqs))}

    def ids_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, str]:
        return {int(seq): str(name) for seq, name in self._at(self._say.ids_at, lineage, seqs)}

    def heads_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, LineHead]:
        rows = self._at(self._say.heads_at, lineage, seqs)
        return {int(seq): LineHead(session, source) for seq, session, source in rows}

    def _at(self, statement: Executable, lineage: Lineage, seqs: Collection[int]) -> list[tuple[Any, ...]]:
        """Run a statement for some seqs, each in the segment that holds it."""
        found, after = list[tuple[Any, ...]](), -1
        for branch, upto in lineage:
            own = [seq for seq in seqs if after < seq <= upto]
            if own:
                found += self._db.all(statement, branch=branch, seqs=self._db.dialect.as_list(own))
            after = upto
        return found

    def seqs_of(self, lineage: Lineage, ids: Collection[str]) -> dict[str, int]:
        key = {"ids": self._db.dialect.as_list(ids)}
        rows = self._each(self._say.seqs_of, lineage, [key] if ids else [])
        return {str(name): int(seq) for name, seq in rows}

    # Claims.

    def latest(
        self,
        lineage: Lineage,
        *,
        subjects: Collection[str] | None = None,
        slots: Collection[str] | None = None,
        viewer: str | None = None,
    ) -> list[ClaimRow]:
        keys = [
            ({} if subject is None else {"subject": subject}) | ({} if slot is None else {"slot": slot})
            for subject in ([None] if subjects is None else subjects)
            for slot in ([None] if slots is None else slots)
        ]
        statement = self._say.newest_of[subjects is not None, slots is not None, viewer is not None]
        return _made(ClaimRow, self._each(statement, lineage, keys, viewer))

    def latest_in(
        self, lineage: Lineage, keys: Collection[tuple[str, str]], viewer: str | None
    ) -> list[ClaimRow]:
        wanted = [{"subject": subject, "slot": slot} for subject, slot in keys]
        return _made(
            ClaimRow, self._each(self._say.newest_of[True, True, viewer is not None], lineage, wanted, viewer)
        )

    def latest_places(
        self, lineage: Lineage, uids: Collection[str], viewer: str | None = None
    ) -> list[MentionRow]:
        keys = [{"uid": uid} for uid in uids]
        statement = self._say.latest_places[viewer is not None]
        rows: list[MentionRow] = _made(MentionRow, self._each(statement, lineage, keys, viewer))
        return [row for row in rows if row.place is not None]

    def all_places(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[MentionRow]:
        keys = [{"uid": uid} for uid in uids]
        statement = self._say.all_places[viewer is not None]
        return _made(MentionRow, self._each(statement, lineage, keys, viewer))

    def all_claims(self, lineage: Lineage, subjects: Collection[str], viewer: str | None) -> list[ClaimRow]:
        keys = [{"subject": subject} for subject in subjects]
        return _made(ClaimRow, self._each(self._say.all_claims[viewer is not None], lineage, keys, viewer))

    def newest_claims(
        self, lineage: Lineage, subject: str, slot: str, viewer: str, *, limit: int
    ) -> list[ClaimRow]:
        key = {"subject": subject, "slot": slot, "limit": limit}
        return _made(ClaimRow, self._each(self._say.newest_claims, lineage, [key], viewer))

    def links(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[LinkRow]:
        by_viewer = viewer is not None
        return self._either_end(
            LinkRow, (self._say.links_of[by_viewer], self._say.links_to[by_viewer]), lineage, uids, viewer
        )

    def total_before(self, lineage: Lineage, key: ClaimKey, seq: int) -> int:
        segments = [{"branch": segment.branch, "upto": min(segment.upto, seq - 1)} for segment in lineage]
        found = self._db.each(self._say.claim_total, segments, **key._asdict())
        return sum(int(rows[0][0]) for rows in found if rows)

    def subjects(self, lineage: Lineage, prefix: str, viewer: str) -> list[str]:
        rows = self._each(self._say.subjects, lineage, [_range(prefix)], viewer)
        return sorted({row[0] for row in rows})

    # People and names.

    def sighted(self, lineage: Lineage, uids: Collection[str], viewer: str | None = None) -> set[str]:
        keys = [{"uid": uid} for uid in uids]
        return {row[0] for row in self._each(self._say.is_sighted[viewer is not None], lineage, keys, viewer)}

    def all_sighted(self, lineage: Lineage, viewer: str) -> list[str]:
        return sorted({row[0] for row in self._each(self._say.all_sighted, lineage, [{}], viewer)})

    def first_marked(self, lineage: Lineage, prefix: str, viewer: str) -> dict[str, int]:
        return _first(self._each(self._say.first_marked, lineage, [_range(prefix)], viewer))

    def first_sighted(self, lineage: Lineage, uids: Collection[str], viewer: str) -> dict[str, int]:
        keys = [{"uids": self._db.dialect.as_list(uids)}] if uids else []
        return _first(self._each(self._say.first_sighted, lineage, keys, viewer))

    def uids_like(self, prefix: str) -> set[str]:
        return {
            row[0] for row in self._db.all(self._say.uids_like, campaign=self._campaign, **_range(prefix))
        }

    def names_of(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[NameRow]:
        keys = [{"uids": self._db.dialect.as_list(uids)}] if uids else []
        return _made(NameRow, self._each(self._say.names_of[viewer is not None], lineage, keys, viewer))

    def uids_with(self, lineage: Lineage, prefixes: Collection[str]) -> set[str]:
        rows = self._each(self._say.uids_with, lineage, list(map(_range, prefixes)))
        return {row[0] for row in rows}

    def named(self, lineage: Lineage, folded: Collection[str], viewer: str | None) -> dict[str, set[str]]:
        keys = [{"folded": self._db.dialect.as_list(folded)}] if folded else []
        found: dict[str, set[str]] = {}
        for name, uid in self._each(self._say.named[viewer is not None], lineage, keys, viewer):
            found.setdefault(name, set()).add(uid)
        return found

    def identities(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[IdentityRow]:
        by_viewer = viewer is not None
        ends = (self._say.identities_of[by_viewer], self._say.identities_as[by_viewer])
        return self._either_end(IdentityRow, ends, lineage, uids, viewer)

    def _either_end(
        self,
        kind: type[RowKind],
        statements: Iterable[Executable],
        lineage: Lineage,
        uids: Collection[str],
        viewer: str | None,
    ) -> list[RowKind]:
        """Return rows with two ends, found from either end, each once."""
        keys = [{"uids": self._db.dialect.as_list(uids)}] if uids else []
        rows = [row for statement in statements for row in self._each(statement, lineage, keys, viewer)]
        return list(dict.fromkeys(_made(kind, rows)))

    def _each(
        self,
        statement: Executable,
        lineage: Lineage,
        keys: Collection[dict[str, Any]],
        viewer: str | None = None,
    ) -> list[tuple[Any, ...]]:
        """Run a statement for each key in each segment; return all rows."""
        values = [
            {"branch": segment.branch, "upto": segment.upto, **key} for segment in lineage for key in keys
        ]
        found = self._db.each(statement, values, campaign=self._campaign, viewer=viewer)
        return [row for rows in found for row in rows]

    # Truth and running totals.

    def truth(self, branch: int, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], TruthRow]:
        wanted = [{"subject": subject, "slot": slot} for subject, slot in keys]
        found = self._db.each(self._say.truth, wanted, branch=branch)
        rows: list[TruthRow] = _made(TruthRow, [row for rows in found for row in rows])
        return {(row.subject, row.slot): row for row in rows}

    def where_true(self, branch: int, slot: str, value: str) -> list[str]:
        return [row[0] for row in self._db.all(self._say.where_true, branch=branch, slot=slot, value=value)]

    def claim_totals(self, branch: int, keys: Collection[ClaimKey]) -> dict[ClaimKey, int]:
        found = self._db.each(
            self._say.claim_total, [key._asdict() for key in keys], branch=branch, upto=_EVERYTHING
        )
        return {key: int(rows[0][0]) for key, rows in zip(keys, found, strict=True) if rows}

    def line_totals(self, branch: int, audiences: Collection[int]) -> dict[int, tuple[int, int]]:
        wanted = [{"audience": audience} for audience in audiences]
        found = self._db.each(self._say.line_total, wanted, branch=branch)
        return {
            key: (int(rows[0][0]), int(rows[0][1]))
            for key, rows in zip(audiences, found, strict=True)
            if rows
        }

    # Upkeep.

    def keep_connection(self) -> AbstractContextManager[None]:
        return self._db.keep_connection()

    def snapshot(self) -> AbstractContextManager[None]:
        return self._db.snapshot()

    def cursor(self, branch: int) -> Cursor:
        found = self._db.one(self._say.cursor, branch=branch, name=_CURSOR)
        if found is not None:
            return Cursor(int(found[0]), int(found[1]))
        forked_at = next(known.forked_at for known in self.branches() if known.id == branch)
        return Cursor(forked_at, FOLD_VERSION)

    def clear_views(self, branch: int) -> None:
        for statement in self._say.clear:
            self._db.run(statement, branch=branch)

    def view_rows(self, view: str, branch: int) -> Iterator[Sequence[object]]:
        return self._db.stream(self._say.view_rows[view], branch=branch)

    def noted_seals(self) -> dict[int, Seal]:
        return self._db.dialect.noted_seals()

    def seal(self, branch: int) -> Seal | None:
        found = self._db.one(self._say.log, branch=branch)
        return None if found is None else Seal.read(str(found[2]))

    def accept(self) -> None:
        with self._db.transaction(self._campaign):
            self._db.run(self._say.unseal, campaign=self._campaign)
            self._db.dialect.accept(self._db.cursor)

    def group_faults(self) -> list[str]:
        digests = {
            int(group): digest for group, digest in self._db.all(self._say.digests, campaign=self._campaign)
        }
        people: dict[int, set[str]] = {group: set() for group in digests}
        for group, member in self._db.all(self._say.all_members, campaign=self._campaign):
            people.setdefault(int(group), set()).add(member)
        wrong = [group for group, who in people.items() if digests.get(group) != _digest(frozenset(who))]
        return [f"the members of group {group} have changed" for group in sorted(wrong)]

    def faults(self) -> list[str]:
        return self._db.faults()


def _digest(group: frozenset[str]) -> str:
    return hashlib.sha256(json.dumps(sorted(group)).encode()).hexdigest()


def _made(kind: type[RowKind], rows: Iterable[tuple[Any, ...]]) -> list[RowKind]:
    return [kind._make(row) for row in rows]


def _first(rows: Iterable[tuple[Any, ...]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for uid, seq in rows:
        found[uid] = min(int(seq), found.get(uid, int(seq)))
    return found


def _range(prefix: str) -> dict[str, str]:
    """Return the bounds of all texts that begin with an ASCII prefix."""
    return {"first": prefix, "beyond": prefix[:-1] + chr(ord(prefix[-1]) + 1)}
