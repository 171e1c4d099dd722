"""The port of storage: the rows of a campaign, and the store that keeps them.

A store keeps rows and finds them by index. It knows nothing of the game, and of a viewer only which rows have
it among their people. `in_memory` is the twin that tests compare the other stores with.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, Self

MAIN: Final = "main"
# The number of events that a row of postings covers.
BLOCK: Final = 512


class Branch(NamedTuple):
    """A branch of a campaign. Its own events come after `forked_at`; earlier ones are its parent's."""

    id: int
    name: str
    parent: int | None
    forked_at: int
    head: int


class Segment(NamedTuple):
    """A branch up to an event, that one included."""

    branch: int
    upto: int


# The segments that make up the past of a branch, oldest first.
Lineage = tuple[Segment, ...]
# The seq of a line with a term, how often it has it, and its group. A plain tuple, because there are many.
Hit = tuple[int, int, int]


class EventRow(NamedTuple):
    """An event. `audience` is the group of the DM and the characters who perceived it, `others` the rest."""

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
    """An event among those of one audience, with running totals of events and words."""

    branch: int
    audience: int
    seq: int
    ordinal: int
    words: int
    words_total: int


class PostingRow(NamedTuple):
    """The lines with a term, in one block of events of one audience.

    `hits` is text: for each line a space and its offset in the block, then `*` and a number if it has the
    term more than once. A block grows at its end, so it is the same however it was written.
    """

    branch: int
    term: str
    audience: int
    block: int
    events: int
    hits: str


class HeardTotals(NamedTuple):
    """The number of lines that a viewer perceived, and of the words in them."""

    lines: int
    words: int


class LogLine(NamedTuple):
    """A line of a viewer: the group under which its row stands, and its number of words."""

    audience: int
    words: int


class GroupSpan(NamedTuple):
    """The lines of one group in a segment: their branch, and how many there are."""

    branch: int
    audience: int
    lines: int


class LineHead(NamedTuple):
    """The session and the source of a line."""

    session: str
    source: str


class SightingRow(NamedTuple):
    """The first event by which an audience learned of an entity, or that has a mark."""

    branch: int
    uid: str
    audience: int
    seq: int


class MentionRow(NamedTuple):
    """An event that mentions an entity; `place` is where all who perceived the event saw it, if they did."""

    branch: int
    uid: str
    audience: int
    seq: int
    place: str | None


class NameRow(NamedTuple):
    """A name that an event gives an entity; `n` is its number among the names of the event."""

    branch: int
    uid: str
    seq: int
    n: int
    audience: int
    name: str
    folded: str


class IdentityRow(NamedTuple):
    """An event that says that two uids are the same entity."""

    branch: int
    uid: str
    same_as: str
    seq: int
    audience: int


class SlotRow(NamedTuple):
    """The first claim in a slot with these holders and this certainty. It tells where newer ones may be."""

    branch: int
    subject: str
    slot: str
    holders: int
    certainty: int
    seq: int


class ClaimRow(NamedTuple):
    """A `HeldClaim` of a branch, with its value as JSON."""

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
    """The first event by which a group learned of a tie: by a claim in a slot, or by a deed.

    A deed stays done. A claim may have been superseded since, so this row only tells where to look.
    """

    branch: int
    subject: str
    slot: str
    object: str
    holders: int
    certainty: int
    seq: int


class TieRow(Protocol):
    """A row of a tie, as views read it. `certainty` and `seq` count for deeds only; a claim has its own."""

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
    """A fact that is true at the head of a branch, in a slot that the laws and the witness stamp need."""

    branch: int
    subject: str
    slot: str
    value: str
    valid_from: int
    seq: int


class ClaimKey(NamedTuple):
    """A slot of a subject, for one group of holders and one certainty."""

    subject: str
    slot: str
    holders: int
    certainty: int


@dataclass(slots=True)
class Rows:
    """The rows that one append writes, all or none.

    Postings and mentions are plain tuples in the order of their columns, because there are many.
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


# The views: all rows that can be dropped and folded again from the log.
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
    """The last event that the views of a branch have folded, and the version of the reducers."""

    seq: int
    version: int


class Seed(Protocol):
    """A function that makes the rows of a new branch."""

    def __call__(self, store: "Store", branch: Branch, /) -> Rows: ...


class Sealed(Protocol):
    """The last event of a branch when it was sealed, and a checksum of the log up to it. See `seals`."""

    @property
    def seq(self) -> int: ...
    @property
    def digest(self) -> str: ...


class Store(Protocol):
    """The store of a campaign. Reads take a lineage, so a fork and a look into the past work the same way.

    A read with a `viewer` finds only rows whose people include that viewer; None finds all rows.
    """

    where: str

    def branches(self) -> list[Branch]: ...
    def add_branch(
        self, name: str, *, parent: int, forked_at: int, seed: Seed, instead_of: int | None = None
    ) -> Branch:
        """Add a branch together with its first rows.

        With `instead_of`, the new branch takes the name of that branch, which goes on as `name`.
        """

    def exchange_names(self, one: int, other: int, *, expected: int) -> None:
        """Give two branches each other's names, unless the head of the first is not the expected one.

        Then it raises `SequenceConflict`.
        """

    def appending(self, branch: int) -> AbstractContextManager[int]:
        """Lock the campaign against other writers, give the head; commit at the end, or undo everything."""

    def write(self, rows: Rows) -> None: ...
    def intern(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]: ...
    def groups(self, groups: Iterable[frozenset[str]]) -> dict[frozenset[str], int]:
        """Return the numbers of those groups that are stored."""

    def members(self, groups: Collection[int]) -> dict[int, frozenset[str]]: ...

    def events(self, lineage: Lineage, *, after: int, limit: int) -> list[EventRow]: ...
    def events_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, EventRow]: ...
    def seqs_of(self, lineage: Lineage, ids: Collection[str]) -> dict[str, int]: ...
    def ids_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, str]: ...
    def newest_perceived(
        self, lineage: Lineage, viewer: str, *, limit: int, without: str | None = None
    ) -> list[int]:
        """Return the seqs of a viewer's newest lines, newest first.

        `without` leaves out the groups that somebody else is in.
        """

    def newest_mentions(
        self, lineage: Lineage, uids: Collection[str], viewer: str, *, limit: int
    ) -> list[int]:
        """Return the seqs of a viewer's newest lines that mention one of these entities to the viewer."""

    def heard(self, lineage: Lineage, viewer: str, *, beside: str | None = None) -> HeardTotals:
        """Return a viewer's totals, at the same cost for any log; `beside` counts groups with both only."""

    def hits(
        self, lineage: Lineage, terms: Collection[str], viewer: str, *, limit: int
    ) -> dict[str, list[Hit]]:
        """Return a viewer's newest lines with each of some terms, newest first."""

    def times_at(
        self, lineage: Lineage, terms: Collection[str], lines: Mapping[int, LogLine]
    ) -> dict[str, dict[int, int]]:
        """Count how often some terms stand in some lines of a viewer; lines without a term are left out."""

    def mentioned_at(self, lineage: Lineage, uids: Collection[str], lines: Mapping[int, LogLine]) -> set[int]:
        """Return those of some lines of a viewer that mention one of these entities to all who heard them.

        A mention that only some of them understand is not among them: it is at the names that they learn.
        """

    def lines_between(
        self, lineage: Lineage, viewer: str, spans: Collection[tuple[int, int]]
    ) -> dict[int, LogLine]:
        """Return a viewer's lines in some spans of the log, both ends included."""

    def lines_at(self, lineage: Lineage, groups: Mapping[int, int]) -> dict[int, LogLine]:
        """Return lines by seq. `groups` holds the seqs of lines, each with the group of its row."""

    def group_spans(self, lineage: Lineage, viewer: str) -> list[GroupSpan]:
        """Return the spans of all groups that a viewer is in, in each segment."""

    def lines_upto(self, branch: int, groups: Collection[int], seqs: Collection[int]) -> dict[int, int]:
        """Return for each seq of a branch how many lines some groups have in it up to that seq."""

    def heads_at(self, lineage: Lineage, seqs: Collection[int]) -> dict[int, LineHead]: ...

    def latest(
        self,
        lineage: Lineage,
        *,
        subjects: Collection[str] | None = None,
        slots: Collection[str] | None = None,
        viewer: str | None = None,
    ) -> list[ClaimRow]:
        """Return the newest claim of each subject, slot, holders and certainty, in each segment."""

    def latest_in(
        self, lineage: Lineage, keys: Collection[tuple[str, str]], viewer: str | None
    ) -> list[ClaimRow]:
        """Do the same for some pairs of a subject and a slot."""

    def latest_places(
        self, lineage: Lineage, uids: Collection[str], viewer: str | None = None
    ) -> list[MentionRow]:
        """Return the newest mention with a place, for each uid and audience, in each segment."""

    def all_places(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[MentionRow]: ...
    def all_claims(
        self, lineage: Lineage, subjects: Collection[str], viewer: str | None
    ) -> list[ClaimRow]: ...
    def newest_claims(
        self, lineage: Lineage, subject: str, slot: str, viewer: str, *, limit: int
    ) -> list[ClaimRow]:
        """Return the newest claims of a slot in each segment, from all groups that the viewer is in."""

    def links(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> Sequence[TieRow]:
        """Return every tie from or to some entities; of ties by claims, at least all that may still hold."""

    def total_before(self, lineage: Lineage, key: ClaimKey, seq: int) -> int: ...
    def subjects(self, lineage: Lineage, prefix: str, viewer: str) -> list[str]: ...

    def sighted(self, lineage: Lineage, uids: Collection[str], viewer: str | None = None) -> set[str]: ...
    def all_sighted(self, lineage: Lineage, viewer: str) -> list[str]:
        """Return every entity that a viewer knows of, without marks (a mark has a space in it)."""

    def first_marked(self, lineage: Lineage, prefix: str, viewer: str) -> dict[str, int]:
        """Return the seq at which a viewer first perceived each mark with a prefix."""

    def first_sighted(self, lineage: Lineage, uids: Collection[str], viewer: str) -> dict[str, int]:
        """Return the seq at which a viewer first learned of each entity that it knows of."""

    def uids_like(self, prefix: str) -> set[str]:
        """Return every uid with a prefix in any branch. A new uid must differ from all of them."""

    def uids_with(self, lineage: Lineage, prefixes: Collection[str]) -> set[str]:
        """Return every uid with one of some prefixes that anybody knows of."""

    def names_of(self, lineage: Lineage, uids: Collection[str], viewer: str | None) -> list[NameRow]: ...
    def named(self, lineage: Lineage, folded: Collection[str], viewer: str | None) -> dict[str, set[str]]:
        """Return the uids that were given some names, by folded name."""

    def identities(
        self, lineage: Lineage, uids: Collection[str], viewer: str | None
    ) -> list[IdentityRow]: ...

    def truth(self, branch: int, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], TruthRow]: ...
    def where_true(self, branch: int, slot: str, value: str) -> list[str]: ...

    def claim_totals(self, branch: int, keys: Collection[ClaimKey]) -> dict[ClaimKey, int]: ...
    def line_totals(self, branch: int, audiences: Collection[int]) -> dict[int, tuple[int, int]]: ...

    def keep_connection(self) -> AbstractContextManager[None]:
        """Hold one connection for many reads in a row.

        Use it for as long as one answer takes, and never while waiting for a model or a person.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Make all reads inside see the same moment, whatever others write meanwhile."""

    def cursor(self, branch: int) -> Cursor: ...
    def clear_views(self, branch: int) -> None: ...
    def view_rows(self, view: str, branch: int) -> Iterator[Sequence[object]]: ...
    def noted_seals(self) -> Mapping[int, Sealed]:
        """Return the seals of branches that are kept apart from the log, and so are not lost with it."""

    def seal(self, branch: int) -> Sealed | None:
        """Return the seal of a branch that is kept with the log."""

    def accept(self) -> None:
        """Accept the log as it is, and forget its old seals."""

    def group_faults(self) -> list[str]:
        """Return a message for each group whose members have changed. A group's members never should."""

    def faults(self) -> list[str]:
        """Return the problems that the database itself finds in its files."""

    def another(self) -> Self:
        """Return the same campaign on a new connection."""

    def close(self) -> None: ...
