"""Turns rows of canon into rows for the statements of `layout`, a batch at a time."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from dndbots.canon.claims import reading_of
from dndbots.canon.ties import verb_of
from dndbots.ids import is_uid
from dndbots.storage.neo4j.layout import DEEDS, ENDED, HOLDS, NAMES, RELATIONS, SEEN, node_key
from dndbots.storage.ports import BLOCK, ClaimRow, EventRow, LinkRow, Rows

EdgeRows = list[list[Any]]


class Batch(NamedTuple):
    """The rows of one transaction: nodes by uid and group, then edges by type, each with its two ends.

    `placed` is the last place where each entity was seen, for each group that saw it.
    """

    uids: dict[str, None]
    groups: dict[int, None]
    log: EdgeRows
    edges: dict[str, EdgeRows]
    placed: dict[tuple[int, str], tuple[int, str]]

    @property
    def size(self) -> int:
        return len(self.log) + sum(map(len, self.edges.values()))


class BatchMaker:
    """Makes the batches of one branch of a campaign."""

    def __init__(self, campaign: str, branch: int) -> None:
        self._campaign, self._branch = campaign, branch

    def batch(self, rows: Rows, events: Iterable[EventRow]) -> Batch:
        """Return the batch of some rows and their events."""
        made = Batch({}, {}, self._log(events), {}, {})
        for name in rows.names:
            if is_uid(name.uid):
                self._from_group(
                    made, "CALLS", name.audience, name.uid, name.seq, name.n, name.name, name.folded
                )
        for seen in rows.sightings:
            if is_uid(seen.uid):
                self._from_group(made, "SIGHTED", seen.audience, seen.uid, seen.seq)
        for same in rows.identities:
            self._between(made, "SAME_AS", same.uid, same.same_as, same.audience, same.seq)
            made.groups[same.audience] = None
        for claim in rows.claims:
            if is_uid(claim.subject):
                self._claim(made, claim)
        for link in rows.links:
            self._link(made, link)
        self._places(made, rows.mentions)
        return made

    def _log(self, events: Iterable[EventRow]) -> EdgeRows:
        blocks: dict[int, list[Any]] = {}
        for row in events:
            block = row.seq // BLOCK
            key = node_key(self._campaign, self._branch, block)
            columns = blocks.setdefault(block, [key, row.seq, [], [], []])
            for kept, value in zip(columns[2:], (row.event_id, row.audience, row.others or 0), strict=True):
                kept.append(value)
        return list(blocks.values())

    def _claim(self, made: Batch, row: ClaimRow) -> None:
        fields = [row.slot, row.holders, row.certainty, row.valid_from, row.seq, row.n]
        fields += [row.value, row.total, row.how, row.said_by]
        said = reading_of(row.slot, json.loads(row.value))
        kind = RELATIONS.get(said.op or "")
        made.groups[row.holders] = None
        if kind is not None and said.object is not None:
            self._between(made, kind, row.subject, said.object, *fields, said.ended)
        else:
            made.uids[row.subject] = None
            ends = [node_key(self._campaign, row.holders), node_key(self._campaign, row.subject)]
            made.edges.setdefault(HOLDS if kind is None else ENDED, []).append([*ends, *fields])

    def _link(self, made: Batch, row: LinkRow) -> None:
        """Add a link by a deed or a naming fact. Relations are in the graph as claims."""
        kind = DEEDS[row.slot] if verb_of(row.slot) else NAMES if is_named(row) else None
        if kind is not None:
            made.groups[row.holders] = None
            self._between(made, kind, row.subject, row.object, row.slot, row.holders, row.certainty, row.seq)

    def _places(self, made: Batch, mentions: Iterable[tuple[int, str, int, int, str | None]]) -> None:
        seqs: dict[tuple[str, str, int, int], list[int]] = {}
        for _, uid, audience, seq, place in mentions:
            if place is not None and is_uid(uid):
                seqs.setdefault((uid, place, audience, seq // BLOCK), []).append(seq)
        for (uid, place, audience, block), own in seqs.items():
            made.groups[audience] = None
            self._between(made, SEEN, uid, place, audience, block, own)
            last = made.placed.get((audience, uid), (0, ""))
            made.placed[audience, uid] = max(last, (own[-1], place))

    def _from_group(self, made: Batch, kind: str, group: int, uid: str, *fields: Any) -> None:
        made.uids[uid] = made.groups[group] = None
        ends = [node_key(self._campaign, group), node_key(self._campaign, uid)]
        made.edges.setdefault(kind, []).append([*ends, group, *fields])

    def _between(self, made: Batch, kind: str, subject: str, other: str, *fields: Any) -> None:
        made.uids[subject] = made.uids[other] = None
        ends = [node_key(self._campaign, subject), node_key(self._campaign, other)]
        made.edges.setdefault(kind, []).append([*ends, *fields])


def place_text(seq: int, place: str) -> str:
    """Return the last place of an entity, as text on the sighting's edge."""
    return f"{seq} {place}"


def place_from(text: str) -> tuple[int, str]:
    """Read the seq and the place from the text of `place_text`."""
    seq, _, place = text.partition(" ")
    return int(seq), place


def group_by_ends(edges: EdgeRows) -> EdgeRows:
    """Group edges of one type by their start and end, as the statements take them."""
    grouped: dict[str, dict[str, EdgeRows]] = {}
    for start, end, *fields in edges:
        grouped.setdefault(start, {}).setdefault(end, []).append(fields)
    return [[start, [[end, own] for end, own in ends.items()]] for start, ends in grouped.items()]


def is_named(row: LinkRow) -> bool:
    """Return whether a link comes from a fact whose value names the other entity, not from an operator."""
    return row.slot.isidentifier() and row.slot not in RELATIONS
