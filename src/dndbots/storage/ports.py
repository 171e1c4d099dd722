"""The port between a campaign and whatever keeps it: rows, and a store of them.

A store keeps rows and finds them by index; it knows neither the game nor a viewer's rights beyond
"rows whose people include this one". `memory` is the twin that tests compare the others with.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, Self

MAIN: Final = "main"
# How many events a row of postings covers.
BLOCK: Final = 512


class Branch(NamedTuple):
    """A line of play. Its own events come after `forked_at`; what came before is its parent's."""

    id: int
    name: str
    parent: int | None
    forked_at: int
    head: int


class Segment(NamedTuple):
    """A branch up to a place in the log."""

    branch: int
    upto: int


# What a branch looks back on, oldest first.
Lineage = tuple[Segment, ...]
# The place of a line that has a term, and how often it has it. There are many, so that they are plain.
Hit = tuple[int, int]


class EventRow(NamedTuple):
    """An event. `audience` is the DM and the characters who perceived it, `others` everybody else."""

    branch: int
    seq: int
    event_id: str
    name: str
    version: int
    source: str
    session_id: str
    turn: int | None
    timestamp: str | None
    audience: int
    others: int | None
    content: str
    metadata: str


class LineRow(NamedTuple):
    """An event among those with its audience: how many there are up to it, and how many words."""

    branch: int
    audience: int
    seq: int
    ordinal: int
    words: int
    words_total: int


class PostingRow(NamedTuple):
    """Where a term stands among a block of events with one audience.

    `hits` is text: for each of them a space and its place in the block, and `*` with the number of
    times if it is more than one. A block grows at its end, so it is the same however it was written.
    """

    branch: int
    term: str
    audience: int
    block: int
    events: int
    hits: str


class Heard(NamedTuple):
    """How many lines a viewer perceived up to a place, and how many words are in them."""

    lines: int
    words: int


class Line(NamedTuple):
    """A line of a viewer: the group under whose rows it stands, and how many words it has."""

    audience: int
    words: int


class LineHead(NamedTuple):
    """What there is to know of a line without its text."""

    session: str
    source: str


class SightingRow(NamedTuple):
    """The first time that an audience learned of an entity, or perceived an event with a mark."""

    branch: int
    uid: str
    audience: int
    seq: int


class MentionRow(NamedTuple):
    """That an event is about somebody; `place` is where all who perceived it saw them, if they did."""

    branch: int
    uid: str
    audience: int
    seq: int
    place: str | None


class NameRow(NamedTuple):
    branch: int
    uid: str
    seq: int
    n: int
    audience: int
    name: str
    folded: str


class IdentityRow(NamedTuple):
    """That one entity turned out to be another."""

    branch: int
    uid: str
    same_as: str
    seq: int
    audience: int


class SlotRow(NamedTuple):
    """The first claim in a slot with these holders and this certainty: where to look for the newest."""

    branch: int
    subject: str
    slot: str
    holders: int
    certainty: int
    seq: int


class ClaimRow(NamedTuple):
    """A `HeldClaim` of a branch, its value as JSON."""

    branch: int
    subject: str
    slot: str
    holders: int
    certainty: int
    valid_from: int
    seq: int
    n: int
    value: str
    total: int | None
    how: str
    said_by: str | None


class LinkRow(NamedTuple):
    """The first time that some learned of a tie: by a claim in a slot, or by a deed.

    A deed was done. A claim may have been superseded since: for those the row says where to look.
    """

    branch: int
    subject: str
    slot: str
    object: str
    holders: int
    certainty: int
    seq: int


class Tied(Protocol):
    """What is asked of a row of a tie. Of one by a claim only whom it ties how: the claim says the rest."""

    @property
    def subject(self) -> str: ...
    @property
    def slot(self) -> str: ...
    @property
    def object(self) -> str: ...
    @property
    def certainty(self) -> int: ...
    @property
    def seq(self) -> int: ...


class TruthRow(NamedTuple):
    """What is true at the head of a branch, in the slots that the laws and the stamp of witnesses need."""

    branch: int
    subject: str
    slot: str
    value: str
    valid_from: int
    seq: int


class ClaimKey(NamedTuple):
    subject: str
    slot: str
    holders: int
    certainty: int


@dataclass(slots=True)
class Rows:
    """What one append writes, all of it or nothing.

    There are many postings and mentions, so they are plain tuples in the order of their rows.
    """

    branch: int
    head: int
    version: int
    events: list[EventRow] = field(default_factory=list)
    lines: list[LineRow] = field(default_factory=list)
    postings: list[tuple[int, str, int, int, int, str]] = field(default_factory=list)
    sightings: list[SightingRow] = field(default_factory=list)
    mentions: list[tuple[int, str, int, int, str | None]] = field(default_factory=list)
    names: list[NameRow] = field(default_factory=list)
    identities: list[IdentityRow] = field(default_factory=list)
    slots: list[SlotRow] = field(default_factory=list)
    claims: list[ClaimRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    truth: list[TruthRow] = field(default_factory=list)


# The views: everything that can be dropped and folded again. What is left is the log.
VIEWS: Final[dict[str, Any]] = {
    "lines": LineRow,
    "postings": PostingRow,
    "sightings": SightingRow,
    "mentions": MentionRow,
    "names": NameRow,
    "identities": IdentityRow,
    "slots": SlotRow,
    "claims": ClaimRow,
    "links": LinkRow,
    "truth": TruthRow,
}


class Cursor(NamedTuple):
    """How far the views of a branch have been folded, and by which version of the reducers."""

    seq: int
    version: int


class Seed(Protocol):
    """What a new branch begins with."""

    def __call__(self, store: "Store", branch: Branch, /) -> Rows: ...


class Sealed(Protocol):
    """How far the log of a branch was noted to go, and a checksum of it: see `seals`."""

    @property
    def seq(self) -> int: ...
    @property
    def digest(self) -> str: ...


class Store(Protocol):
    """One campaign. Reads take a lineage, so that a fork and a look into the past are the same thing.

    Where a read takes a `viewer`, it finds only rows whose people include that one; None finds all.
    """

    where: str

    def branches(self) -> list[Branch]: ...
    def add_branch(
        self, name: str, *, parent: int, forked_at: int, seed: Seed, instead_of: int | None = None
    ) -> Branch:
        """A branch and the rows that it begins with, together.

        `instead_of` is a branch that goes on under `name`, while the new one takes its name, at once.
        """
        ...

    def appending(self, branch: int) -> AbstractContextManager[int]:
        """Locks the campaign against other writers; gives the head; commits at the end, or nothing at all."""
        ...

    def write(self, rows: Rows) -> None: ...
    def intern(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]: ...
    def groups(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]:
        """The numbers of those groups that have one."""
        ...

    def members(self, groups: Collection[int]) -> dict[int, frozenset[str]]: ...

    def events(self, lineage: Lineage, *, after: int, limit: int) -> list[EventRow]: ...
    def events_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, EventRow]: ...
    def places_of(self, lineage: Lineage, ids: Collection[str]) -> dict[str, int]: ...
    def ids_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, str]: ...
    def newest_perceived(
        self, lineage: Lineage, viewer: str, *, limit: int, without: str | None = None
    ) -> list[int]:
        """The newest lines of a viewer, newest first; or those of groups that somebody else is not in."""
        ...

    def newest_mentions(
        self, lineage: Lineage, uids: Collection[str], viewer: str, *, limit: int
    ) -> list[int]: ...

    def heard(self, lineage: Lineage, viewer: str, *, beside: str | None = None) -> Heard:
        """From the running totals, whatever their number; or only in groups that somebody else is in too."""
        ...

    def hits(
        self, lineage: Lineage, terms: Collection[str], viewer: str, *, limit: int
    ) -> dict[str, list[Hit]]:
        """The newest lines of a viewer that have a term, for each of some, newest first."""
        ...

    def together(
        self, lineage: Lineage, some: Collection[str], others: Collection[str], viewer: str
    ) -> list[int]:
        """All lines of a viewer that have one of some terms and one of others, newest first.

        Costs as many looks as there are rows of the first ones, however common the others are.
        """
        ...

    def times_at(
        self, lineage: Lineage, terms: Collection[str], lines: Mapping[int, Line]
    ) -> dict[str, dict[int, int]]:
        """How often some terms stand in some lines of a viewer, where they do."""
        ...

    def mentioned_at(self, lineage: Lineage, uids: Collection[str], lines: Mapping[int, Line]) -> set[int]:
        """Those of some lines of a viewer that are about somebody."""
        ...

    def lines_between(
        self, lineage: Lineage, viewer: str, spans: Collection[tuple[int, int]]
    ) -> dict[int, Line]:
        """A viewer's lines in some spans of the log, ends included."""
        ...

    def heads_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, LineHead]: ...

    def latest(
        self,
        lineage: Lineage,
        *,
        subjects: Collection[str] | None = None,
        slots: Collection[str] | None = None,
        viewer: str | None = None,
    ) -> list[ClaimRow]:
        """The newest claim of each subject, slot, holders and certainty, in each segment."""
        ...

    def latest_in(
        self, lineage: Lineage, keys: Collection[tuple[str, str]], viewer: str | None
    ) -> list[ClaimRow]:
        """The same for some subjects, each in a slot of its own."""
        ...

    def latest_places(
        self, lineage: Lineage, uids: Collection[str], viewer: str | None = None
    ) -> list[MentionRow]:
        """The newest mention with a place, of each of these and each audience, in each segment."""
        ...

    def all_places(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[MentionRow]: ...
    def all_claims(
        self, lineage: Lineage, subjects: Collection[str], viewer: str | None
    ) -> list[ClaimRow]: ...
    def newest_claims(
        self, lineage: Lineage, subject: str, slot: str, viewer: str, *, limit: int
    ) -> list[ClaimRow]:
        """The newest of a slot in each segment, whoever else holds them."""
        ...

    def links(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> Sequence[Tied]:
        """Every tie from or to some entities; of those by claims, at least all that may hold still."""
        ...

    def total_before(self, lineage: Lineage, key: ClaimKey, seq: int) -> int: ...
    def subjects(self, lineage: Lineage, prefix: str, viewer: str) -> list[str]: ...

    def sighted(self, lineage: Lineage, uids: Collection[str], viewer: str | None = None) -> set[str]: ...
    def all_sighted(self, lineage: Lineage, viewer: str) -> list[str]:
        """Every entity that a viewer knows of. Marks, which have a space in them, are none."""
        ...

    def first_marked(self, lineage: Lineage, prefix: str, viewer: str) -> dict[str, int]:
        """Where a viewer first perceived each mark that begins so."""
        ...

    def first_sighted(self, lineage: Lineage, uids: Collection[str], viewer: str) -> dict[str, int]:
        """Where a viewer first learned of those of some entities that it knows of."""
        ...

    def uids_like(self, prefix: str) -> set[str]:
        """Every uid with this beginning in any branch: what a new one must not collide with."""
        ...

    def uids_with(self, lineage: Lineage, prefixes: Collection[str]) -> set[str]:
        """Every uid with one of some beginnings that anybody knows of."""
        ...

    def names_of(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[NameRow]: ...
    def named(self, lineage: Lineage, folded: Collection[str], viewer: str | None) -> dict[str, set[str]]:
        """Who was given some names, by name."""
        ...

    def identities(
        self, lineage: Lineage, uids: Collection[str], viewer: str | None
    ) -> list[IdentityRow]: ...

    def truth(self, branch: int, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], TruthRow]: ...
    def where_true(self, branch: int, slot: str, value: str) -> list[str]: ...

    def claim_totals(self, branch: int, keys: Collection[ClaimKey]) -> dict[ClaimKey, int]: ...
    def line_totals(self, branch: int, audiences: Collection[int]) -> dict[int, tuple[int, int]]: ...

    def kept(self) -> AbstractContextManager[None]:
        """For many reads after each other: what would be fetched and put back for each is kept meanwhile.

        For as long as one answer takes, and never while a model or a person is waited for.
        """
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Reads inside see one moment of the campaign, whoever writes meanwhile."""
        ...

    def cursor(self, branch: int) -> Cursor: ...
    def clear_views(self, branch: int) -> None: ...
    def view_rows(self, view: str, branch: int) -> Iterator[Sequence[object]]: ...
    def noted(self) -> Mapping[int, Sealed]:
        """The seals of branches that are kept apart from the log, and so are not lost with it."""
        ...

    def seal(self, branch: int) -> Sealed | None:
        """The seal of a branch that is kept with the log."""
        ...

    def accept(self) -> None:
        """Takes the log as it is: what it was noted to be no longer counts."""
        ...

    def group_faults(self) -> list[str]:
        """Groups whose members are not the people that it was made for."""
        ...

    def faults(self) -> list[str]:
        """What the storage itself finds wrong with its files."""
        ...

    def another(self) -> Self:
        """The same campaign through a connection of its own."""
        ...

    def close(self) -> None: ...
