"""Every statement that the store runs, in SQLAlchemy Core, made once for each kind of database."""

from importlib import import_module
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ScalarSelect,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
    tuple_,
    update,
)
from sqlalchemy.sql import Executable

from dndbots.storage.ports import VIEWS, ClaimKey
from dndbots.storage.sql import schema
from dndbots.storage.sql.database import Dialect
from dndbots.storage.sql.schema import (
    audiences,
    branches,
    campaigns,
    claims,
    cursors,
    events,
    identities,
    lines,
    links,
    members,
    mentions,
    names,
    postings,
    sightings,
    slots,
    truth,
)

TABLES: dict[str, Table] = {name: getattr(schema, name) for name in ("events", *VIEWS)}

# The factor that packs two numbers into one: the second is smaller than this.
PAIRED: Final = 1 << 40

Param = BindParameter[Any]
_branch: Param = bindparam("branch")
_upto: Param = bindparam("upto")
_viewer: Param = bindparam("viewer")
_campaign: Param = bindparam("campaign")

_CLAIM_KEY: Final = ("branch", *ClaimKey._fields)


class Statements:
    """The statements for one kind of database. Dialects differ in list parameters and in upserts."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        # Only the dialect in use: loading both would slow down every start.
        self._insert: Any = import_module(f"sqlalchemy.dialects.{dialect.name}").insert
        self.append: dict[str, Executable] = {name: insert(table) for name, table in TABLES.items()}
        for name in ("slots", "sightings", "links"):
            self.append[name] = self._unless_there(TABLES[name])
        self.append["truth"] = self._replace(truth, ["branch", "subject", "slot"])
        grown: Any = self._insert(postings)
        self.append["postings"] = grown.on_conflict_do_update(
            index_elements=["branch", "term", "audience", "block"],
            set_={
                "events": postings.c.events + grown.excluded.events,
                "hits": postings.c.hits.concat(grown.excluded.hits),
            },
        )
        self.clear: list[Executable] = [
            delete(TABLES[view]).where(TABLES[view].c.branch == _branch) for view in VIEWS
        ]
        self.view_rows: dict[str, Executable] = {
            view: select(TABLES[view]).where(TABLES[view].c.branch == _branch) for view in VIEWS
        }
        self._of_campaigns()
        self._of_events()
        self._of_people()
        self._of_claims()
        self._of_totals()
        self._of_words()

    def _unless_there(self, table: Table, **values: Param) -> Executable:
        made: Any = self._insert(table)
        unless: Executable = (made.values(**values) if values else made).on_conflict_do_nothing()
        return unless

    def _replace(self, table: Table, key: list[str]) -> Executable:
        made = self._insert(table)
        changed = {column.name: made.excluded[column.name] for column in table.c if column.name not in key}
        replaced: Executable = made.on_conflict_do_update(index_elements=key, set_=changed)
        return replaced

    def _of_campaigns(self) -> None:
        self.campaign = select(campaigns.c.id).where(campaigns.c.name == bindparam("name"))
        self.campaign_names = select(campaigns.c.name).order_by(campaigns.c.name)
        self.add_campaign = self._unless_there(campaigns, name=bindparam("name"))
        columns = (branches.c.id, branches.c.name, branches.c.parent, branches.c.forked_at, branches.c.head)
        self.branches = select(*columns).where(branches.c.campaign == _campaign).order_by(branches.c.id)
        self.add_branch = self._unless_there(
            branches,
            campaign=_campaign,
            name=bindparam("name"),
            parent=bindparam("parent"),
            forked_at=bindparam("forked_at"),
            head=bindparam("forked_at"),
        )
        self.log = select(branches.c.head, branches.c.forked_at, branches.c.seal).where(
            branches.c.id == _branch
        )
        self.set_log = (
            update(branches)
            .where(branches.c.id == _branch)
            .values(head=bindparam("new_head"), seal=bindparam("new_seal"))
        )
        self.unseal = update(branches).where(branches.c.campaign == _campaign).values(seal="")
        self.rename = update(branches).where(branches.c.id == _branch).values(name=bindparam("new_name"))
        self.set_head = update(branches).where(branches.c.id == _branch).values(head=bindparam("new_head"))
        self.cursor = select(cursors.c.seq, cursors.c.version).where(
            cursors.c.branch == _branch, cursors.c.name == bindparam("name")
        )
        self.set_cursor = self._replace(cursors, ["branch", "name"])
        self.audience = select(audiences.c.id).where(
            audiences.c.campaign == _campaign, audiences.c.digest == bindparam("digest")
        )
        self.add_audience = self._unless_there(audiences, campaign=_campaign, digest=bindparam("digest"))
        self.add_member = self._unless_there(members)
        self.digests = select(audiences.c.id, audiences.c.digest).where(audiences.c.campaign == _campaign)
        self.all_members = select(members.c.audience, members.c.member).where(members.c.campaign == _campaign)
        self.members = select(members.c.audience, members.c.member).where(
            self._dialect.listed(members.c.audience, "audiences")
        )

    def _of_events(self) -> None:
        within = (events.c.branch == _branch, events.c.seq <= _upto)
        self.events = (
            select(events)
            .where(*within, events.c.seq > bindparam("after"))
            .order_by(events.c.seq)
            .limit(bindparam("limit"))
        )
        at = (events.c.branch == _branch, self._dialect.listed(events.c.seq, "seqs"))
        self.events_at = select(events).where(*at)
        self.heads_at = select(events.c.seq, events.c.session_id, events.c.source).where(*at)
        self.ids_at = select(events.c.seq, events.c.event_id).where(*at)
        self.seqs_of = select(events.c.event_id, events.c.seq).where(
            *within, self._dialect.listed(events.c.event_id, "ids")
        )
        # Each audience of a viewer with its newest event, from which to read backwards.
        newest_line = (
            select(func.max(lines.c.seq))
            .where(lines.c.branch == _branch, lines.c.audience == members.c.audience, lines.c.seq <= _upto)
            .scalar_subquery()
        )
        self.audiences_newest = select(members.c.audience, newest_line).where(
            members.c.campaign == _campaign, members.c.member == _viewer
        )
        self.audiences_newest_without = self.audiences_newest.where(members.c.audience.not_in(_of_another()))
        self.newest_lines = self._newest(lines)
        newest_mention = (
            select(func.max(mentions.c.seq))
            .where(
                mentions.c.branch == _branch,
                mentions.c.uid == sightings.c.uid,
                mentions.c.audience == sightings.c.audience,
                mentions.c.seq <= _upto,
            )
            .scalar_subquery()
        )
        self.mentions_newest = (
            select(sightings.c.audience, newest_mention)
            .join(members, _includes(sightings.c.audience))
            .where(sightings.c.branch == _branch, sightings.c.uid == bindparam("uid"))
        )
        self.newest_mentions = self._newest(mentions).where(mentions.c.uid == bindparam("uid"))
        placed = (mentions.c.branch == _branch, mentions.c.seq <= _upto, mentions.c.place.is_not(None))
        every = select(mentions).where(*placed, mentions.c.uid == bindparam("uid"))
        self.all_places = _for_anybody_or_viewer(every, mentions)
        keys = (sightings.c.branch, sightings.c.uid, sightings.c.audience)
        latest = select(*keys, _newest_place("seq"), _newest_place("place")).where(
            sightings.c.branch == _branch, sightings.c.uid == bindparam("uid")
        )
        self.latest_places = _for_anybody_or_viewer(latest, sightings)

    def _newest(self, table: Table) -> Select[Any]:
        return (
            select(table.c.seq)
            .where(
                table.c.branch == _branch,
                table.c.audience == bindparam("audience"),
                table.c.seq <= _upto,
            )
            .order_by(table.c.seq.desc())
            .limit(bindparam("limit"))
        )

    def _of_people(self) -> None:
        uid: Param = bindparam("uid")
        self.sighted = select(sightings.c.uid).where(
            sightings.c.branch == _branch, sightings.c.uid == uid, sightings.c.seq <= _upto
        )
        seen = self.sighted.limit(1)
        self.is_sighted: dict[bool, Select[Any]] = {
            False: seen,
            True: seen.join(members, _includes(sightings.c.audience)),
        }
        self.all_sighted = (
            select(sightings.c.uid)
            .distinct()
            .join(members, _includes(sightings.c.audience))
            .where(sightings.c.branch == _branch, sightings.c.seq <= _upto, sightings.c.uid.not_like("% %"))
        )
        first = (
            select(sightings.c.uid, func.min(sightings.c.seq))
            .join(members, _includes(sightings.c.audience))
            .where(sightings.c.branch == _branch, sightings.c.seq <= _upto)
            .group_by(sightings.c.uid)
        )
        self.first_sighted = first.where(self._dialect.listed(sightings.c.uid, "uids"))
        self.first_marked = first.where(
            sightings.c.uid >= bindparam("first"), sightings.c.uid < bindparam("beyond")
        )
        self.uids_like = (
            select(sightings.c.uid)
            .distinct()
            .join(branches, branches.c.id == sightings.c.branch)
            .where(
                branches.c.campaign == _campaign,
                sightings.c.uid >= bindparam("first"),
                sightings.c.uid < bindparam("beyond"),
            )
        )
        self.uids_with = (
            select(sightings.c.uid)
            .distinct()
            .where(
                sightings.c.branch == _branch,
                sightings.c.uid >= bindparam("first"),
                sightings.c.uid < bindparam("beyond"),
                sightings.c.seq <= _upto,
            )
        )
        within = (names.c.branch == _branch, names.c.seq <= _upto)
        by_uid = select(names).where(*within, self._dialect.listed(names.c.uid, "uids"))
        folded = self._dialect.listed(names.c.folded, "folded")
        by_name = select(names.c.folded, names.c.uid).where(*within, folded)
        self.names_of = _for_anybody_or_viewer(by_uid, names)
        self.named = _for_anybody_or_viewer(by_name, names)
        known = select(identities).where(identities.c.branch == _branch, identities.c.seq <= _upto)
        for_uids = known.where(self._dialect.listed(identities.c.uid, "uids"))
        self.identities_of = _for_anybody_or_viewer(for_uids, identities)
        as_uids = known.where(self._dialect.listed(identities.c.same_as, "uids"))
        self.identities_as = _for_anybody_or_viewer(as_uids, identities)

    def _of_claims(self) -> None:
        dialect = self._dialect
        self.newest_of: dict[tuple[bool, bool, bool], Select[Any]] = {
            (by_subject, by_slot, by_viewer): _newest_claims(dialect, by_subject, by_slot, by_viewer)
            for by_subject in (False, True)
            for by_slot in (False, True)
            for by_viewer in (False, True)
        }
        newest = (claims.c.valid_from.desc(), claims.c.seq.desc(), claims.c.n.desc())
        of_key = (
            claims.c.branch == _branch,
            claims.c.subject == bindparam("subject"),
            claims.c.slot == bindparam("slot"),
            claims.c.holders == bindparam("holders"),
            claims.c.certainty == bindparam("certainty"),
            claims.c.valid_from <= _upto,
            claims.c.seq <= _upto,
        )
        self.claim_total = select(claims.c.total).where(*of_key).order_by(*newest).limit(1)
        every = select(claims).where(
            claims.c.branch == _branch, claims.c.subject == bindparam("subject"), claims.c.seq <= _upto
        )
        self.newest_claims = (
            every.join(members, _includes(claims.c.holders))
            .where(claims.c.slot == bindparam("slot"))
            .order_by(*newest)
            .limit(bindparam("limit"))
        )
        self.all_claims = {False: every, True: every.join(members, _includes(claims.c.holders))}
        self.subjects = (
            select(slots.c.subject)
            .distinct()
            .join(members, _includes(slots.c.holders))
            .where(
                slots.c.branch == _branch,
                slots.c.subject >= bindparam("first"),
                slots.c.subject < bindparam("beyond"),
                slots.c.seq <= _upto,
            )
        )
        by_end = select(links).where(links.c.branch == _branch, links.c.seq <= _upto)
        self.links_of, self.links_to = (
            {False: found, True: found.join(members, _includes(links.c.holders))}
            for found in (
                by_end.where(self._dialect.listed(links.c.subject, "uids")),
                by_end.where(self._dialect.listed(links.c.object, "uids")),
            )
        )
        self.truth = select(truth).where(
            truth.c.branch == _branch,
            truth.c.subject == bindparam("subject"),
            truth.c.slot == bindparam("slot"),
        )
        self.where_true = select(truth.c.subject).where(
            truth.c.branch == _branch,
            truth.c.slot == bindparam("slot"),
            truth.c.value == bindparam("value"),
        )

    def _of_totals(self) -> None:
        self.line_total = (
            select(lines.c.ordinal, lines.c.words_total)
            .where(lines.c.branch == _branch, lines.c.audience == bindparam("audience"))
            .order_by(lines.c.seq.desc())
            .limit(1)
        )

    def _of_words(self) -> None:
        last = lines.alias("last")
        newest = (
            select(func.max(last.c.seq))
            .where(last.c.branch == _branch, last.c.audience == members.c.audience, last.c.seq <= _upto)
            .scalar_subquery()
            .correlate(members)
        )
        self.heard = (
            select(func.sum(lines.c.ordinal), func.sum(lines.c.words_total))
            .select_from(members)
            .join(lines, (lines.c.branch == _branch) & (lines.c.audience == members.c.audience))
            .where(members.c.campaign == _campaign, members.c.member == _viewer, lines.c.seq == newest)
        )
        self.heard_together = self.heard.where(members.c.audience.in_(_of_another()))
        # Not a join: SQLite would read all lines of the log, and check the members of each.
        self.audiences_of = select(members.c.audience).where(
            members.c.campaign == _campaign, members.c.member == _viewer
        )
        line = (lines.c.seq, lines.c.audience, lines.c.words)
        self.lines_between = select(*line).where(
            lines.c.branch == _branch,
            lines.c.audience.in_(self.audiences_of),
            lines.c.seq >= bindparam("first"),
            lines.c.seq <= bindparam("last"),
        )
        of_group = (lines.c.branch == _branch, lines.c.audience == bindparam("audience"))
        self.lines_at = select(*line).where(*of_group, self._dialect.listed(lines.c.seq, "seqs"))
        self.group_spans = (
            select(members.c.audience, lines.c.ordinal)
            .select_from(members)
            .join(lines, (lines.c.branch == _branch) & (lines.c.audience == members.c.audience))
            .where(members.c.campaign == _campaign, members.c.member == _viewer, lines.c.seq == newest)
        )
        wanted, group = self._dialect.values("seqs"), self._dialect.values("groups")
        upto = (
            select(lines.c.ordinal)
            .where(lines.c.branch == _branch, lines.c.audience == group, lines.c.seq <= wanted)
            .order_by(lines.c.seq.desc())
            .limit(1)
            .scalar_subquery()
            .correlate(wanted.table, group.table)
        )
        together = select(func.sum(upto)).select_from(group.table).scalar_subquery()
        self.lines_upto = select(wanted, together.correlate(wanted.table))
        row = (postings.c.term, postings.c.audience, postings.c.block, postings.c.hits)
        of_terms = (postings.c.branch == _branch, self._dialect.listed(postings.c.term, "terms"))
        asked = self._dialect.values("terms", Text)
        there = select(postings.c.term).where(postings.c.branch == _branch, postings.c.term == asked)
        self.said_terms = select(asked).where(there.exists())
        self.postings_between = select(*row).where(
            *of_terms,
            postings.c.audience.in_(self.audiences_of),
            postings.c.block >= bindparam("first"),
            postings.c.block <= bindparam("last"),
        )
        self.postings_at = select(*row).where(*of_terms, self._paired(postings.c.audience, postings.c.block))
        self.mentions_at = select(mentions.c.seq).where(
            mentions.c.branch == _branch,
            mentions.c.uid == bindparam("uid"),
            self._paired(mentions.c.audience, mentions.c.seq),
        )

    def _paired(self, first: Any, second: Any) -> Any:
        """Return the condition that two columns equal one of the pairs in a list parameter."""
        pair = self._dialect.values("pairs")
        size = literal(PAIRED, BigInteger)
        return tuple_(first, second).in_(select(pair // size, pair % size))


def _of_another() -> Any:
    """Return the audiences of the person in the parameter `another`."""
    others = members.alias("others")
    mine = (others.c.campaign == _campaign, others.c.member == bindparam("another"))
    return select(others.c.audience).where(*mine)


def _includes(audience: Any) -> Any:
    """Return the condition to join `members` on, which keeps rows whose people include the viewer."""
    return (
        (members.c.campaign == _campaign) & (members.c.member == _viewer) & (members.c.audience == audience)
    )


def _for_anybody_or_viewer(statement: Select[Any], table: Table) -> dict[bool, Select[Any]]:
    return {False: statement, True: statement.join(members, _includes(table.c.audience))}


def _newest_claims(
    dialect: Dialect,
    by_subject: bool,  # noqa: FBT001
    by_slot: bool,  # noqa: FBT001
    by_viewer: bool,  # noqa: FBT001
) -> Select[Any]:
    """Select the newest claim of each slot, set of holders and certainty."""
    newer = claims.alias("newer")
    when = ("valid_from", "seq", "n")
    newest = (
        select(*(newer.c[column] for column in when))
        .where(_all_equal(newer, slots, _CLAIM_KEY), newer.c.valid_from <= _upto, newer.c.seq <= _upto)
        .order_by(*(newer.c[column].desc() for column in when))
        .limit(1)
        .correlate(slots)
    )
    is_newest = dialect.equal([claims.c[column] for column in when], newest)
    found = (
        select(claims)
        .select_from(slots)
        .join(claims, and_(_all_equal(claims, slots, _CLAIM_KEY), is_newest))
        .where(slots.c.branch == _branch, slots.c.seq <= _upto)
    )
    if by_subject:
        found = found.where(slots.c.subject == bindparam("subject"))
    if by_slot:
        found = found.where(slots.c.slot == bindparam("slot"))
    return found.join(members, _includes(slots.c.holders)) if by_viewer else found


def _newest_place(column: str) -> ScalarSelect[Any]:
    newer = mentions.alias("newer")
    return (
        select(newer.c[column])
        .where(
            _all_equal(newer, sightings, ("branch", "uid", "audience")),
            newer.c.seq <= _upto,
            newer.c.place.is_not(None),
        )
        .order_by(newer.c.seq.desc())
        .limit(1)
        .scalar_subquery()
        .correlate(sightings)
    )


def _all_equal(left: Any, right: Any, columns: tuple[str, ...]) -> Any:
    first, *rest = (left.c[column] == right.c[column] for column in columns)
    for other in rest:
        first &= other
    return first


_MADE: dict[str, Statements] = {}


def statements_for(dialect: Dialect) -> Statements:
    """Return the statements of a kind of database, which all its connections share."""
    if dialect.name not in _MADE:
        _MADE[dialect.name] = Statements(dialect)
    return _MADE[dialect.name]
