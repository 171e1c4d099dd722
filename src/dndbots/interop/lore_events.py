"""Imported lore and cards as events: notes about entities, and personas that stand beside a memory.

A note is known to the DM alone, unless the book or a person names others. Nothing imported decides, pins or
corrects anything.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from dndbots.events import LORE, PERSONA, EventType, GameEvent
from dndbots.ids import DM, fold_name
from dndbots.interop.formats.bounds import clean_text
from dndbots.interop.formats.categories import guess_category
from dndbots.interop.formats.neutral import CharacterCard, ImportOptions, LoreBook, LoreEntry
from dndbots.interop.readers.cards import persona_text
from dndbots.interop.readers.lorebooks import name_keys
from dndbots.interop.transcript_cast import TranscriptCast
from dndbots.memory.decisions import record_decision
from dndbots.memory.human_gates import gates_of
from dndbots.storage.campaign_log import BranchLog
from dndbots.storage.ports import Lineage
from dndbots.storage.views.view import View

LORE_SESSION: Final = "lore"
PARTY: Final = "party"
# Longer texts become several notes, so that each can be found and shown by itself.
_LONGEST_NOTE: Final = 1_500
_LONGEST_FIELDS: Final = 100_000
_BATCH: Final = 500
_NEAR: Final = f'"{LORE}":'


class LoreImported(NamedTuple):
    """The result of importing a book: notes added, notes that were there, and notes that it replaced."""

    added: int
    kept: int
    replaced: int


class _Note(NamedTuple):
    """A note of a book: its book, and who knows it beside the DM."""

    book: str
    knowers: frozenset[str]


class LoreEvents:
    """Writes books and cards into a log."""

    def __init__(self, log: BranchLog, options: ImportOptions) -> None:
        self._log, self._options = log, options
        # The notes of each book as far as the log was read, by book and by what they say, and the branches of
        # that log.
        self._by_book = defaultdict[str, dict[str, None]](dict)
        self._by_words = defaultdict[str, dict[str, _Note]](dict)
        self._read_upto, self._branches = 0, tuple[int, ...]()

    def write_book(self, book: LoreBook, *, known_to: Sequence[str] = ()) -> LoreImported:
        """Write a book: new entries are added, entries that changed or went are forgotten.

        `known_to` are people who know the whole book, beside those whom its entries name.
        """
        _, lineage = self._log.past()
        cast = TranscriptCast(self._log.store)
        before = self._notes_of(book.key, lineage)
        notes = [
            note
            for entry in book.entries
            if entry.enabled and entry.text
            for note in self._notes(entry, book, [*known_to, *self._options.known_to], cast, lineage)
        ]
        notes, less_known = self._without_doubles(all_notes := notes, book.key)
        kept = len(all_notes) - len(notes)
        now = {note.event_id for note in notes}
        new = [note for note in notes if note.event_id not in before]
        gone = [name for name in before if name not in now]
        gone += less_known
        with self._log.snapshot(DM) as view:
            taken = set(view.by_id([note.event_id for note in new]))
        unique = {note.event_id: note for note in new if note.event_id not in taken}
        rest = iter(unique.values())
        while batch := list(islice(rest, _BATCH)):
            self._log.replay(batch)
        for name in gone:
            record_decision(self._log, name, "forgotten")
        for name in taken & now:  # an entry that came back is no longer forgotten
            record_decision(self._log, name, "forgotten", on=False)
        return LoreImported(len(unique) + len(taken & now), kept + len(now) - len(new), len(gone))

    def _without_doubles(self, notes: list[GameEvent], book: str) -> tuple[list[GameEvent], list[str]]:
        """Return the notes that no other book has, and those of other books that fewer people know.

        The book in a card is often the same as a file beside it.
        """
        if not any(self._by_words.get(_words_of(note.metadata, note.content)) for note in notes):
            return notes, []
        with self._log.snapshot(DM) as view:
            forgotten = gates_of(view).forgotten
        own: list[GameEvent] = []
        less_known: list[str] = []
        for note in notes:
            knowers = _knowers_in(note.metadata)
            others = {
                name: known
                for name, (other, known) in self._by_words[_words_of(note.metadata, note.content)].items()
                if other != book and name not in forgotten
            }
            if any(known >= knowers for known in others.values()):
                continue
            less_known += [name for name, known in others.items() if known < knowers]
            own.append(note)
        return own, less_known

    def write_card(self, card: CharacterCard) -> str:
        """Write a card as a person with a persona, and return the uid. A narrator's persona is the DM's."""
        _, lineage = self._log.past()
        cast = TranscriptCast(self._log.store)
        folded = fold_name(card.name)
        is_dm = folded in map(fold_name, self._options.dm) or (card.is_narrator and not self._options.dm)
        own = self._options.persona
        category = "PC" if own is not None and fold_name(own) == folded else "NPC"
        uid = DM if is_dm else cast.thing(card.name, category, lineage)
        text = clean_text(persona_text(card, own or "the player"))
        known = latest_persona(self._log, uid)
        fields = {key: value for key, value in card.fields.items() if key != "data"}
        data = card.fields.get("data")
        if isinstance(data, Mapping):
            fields["data"] = {key: value for key, value in data.items() if key != "character_book"}
        persona: dict[str, JsonValue] = {
            "name": card.name,
            "text": text,
            "greeting": card.greeting,
            "tags": [*card.tags],
            "fields": _fields_text(fields),
        }
        if known is not None and known[1] == persona:
            return uid
        number = 1 if known is None else known[0] + 1
        names = [card.name, *([card.nickname] if card.nickname else [])]
        self._log.replay(
            [
                GameEvent(
                    event_id=f"persona:{uid}:{number}",
                    event_type=EventType.SYSTEM,
                    source=DM,
                    content=f"{card.name} joins the cast.",
                    session_id=LORE_SESSION,
                    metadata={
                        "witnesses": [] if is_dm else [uid],
                        "names": {uid: [*names]},
                        PERSONA: persona,
                    },
                )
            ]
        )
        return uid

    def _notes(
        self,
        entry: LoreEntry,
        book: LoreBook,
        known_to: Iterable[str],
        cast: TranscriptCast,
        lineage: Lineage,
    ) -> Iterator[GameEvent]:
        uid = cast.thing(entry.title, guess_category(entry, book.title), lineage)
        knowers = self._knowers(entry, known_to, cast, lineage)
        names: list[JsonValue] = [entry.title, *name_keys(entry)]
        fields = _fields_text(entry.fields)
        for number, text in enumerate(_parts(entry.text)):
            told = text if fold_name(entry.title) in fold_name(text) else f"{entry.title}: {text}"
            about: dict[str, JsonValue] = {"book": book.key, "entry": entry.title}
            if number == 0 and fields:
                about["fields"] = fields
            digest = hashlib.blake2b(
                "\x1e".join((book.key, entry.title, told, str(number), *knowers)).encode("utf-8"),
                digest_size=8,
            )
            yield GameEvent(
                event_id=f"lore:{digest.hexdigest()}",
                event_type=EventType.DISCOVERY,
                source=DM,
                content=told,
                session_id=LORE_SESSION,
                metadata={"witnesses": [*knowers], "names": {uid: names}, LORE: about},
            )

    def _knowers(
        self, entry: LoreEntry, known_to: Iterable[str], cast: TranscriptCast, lineage: Lineage
    ) -> list[str]:
        party = View(self._log.store, lineage, DM).party()
        found: set[str] = set(party) if entry.for_players else set()
        for name in known_to:
            found |= set(party) if fold_name(name) == PARTY else {cast.person(name, None, lineage)}
        # Those whom a book names know the entry; with names, nobody else does.
        if entry.only_for:
            found = {cast.person(name, "npc", lineage) for name in entry.only_for}
        found -= {cast.person(name, "npc", lineage) for name in entry.not_for}
        return sorted(found - {DM})

    def _notes_of(self, book: str, lineage: Lineage) -> dict[str, None]:
        """Return the ids of the notes that this book has in the log, without forgotten ones."""
        branches = tuple(past.branch for past in lineage)
        if branches != self._branches:  # a chat was rewritten meanwhile
            self._by_book.clear()
            self._by_words.clear()
            self._read_upto, self._branches = 0, branches
        while rows := self._log.store.events(lineage, after=self._read_upto, limit=1_000):
            self._read_upto = rows[-1].seq
            for row in rows:
                if _NEAR in row.metadata:
                    metadata = json.loads(row.metadata)
                    about = metadata.get(LORE)
                    if isinstance(about, dict):
                        book_of = str(about.get("book"))
                        self._by_book[book_of][row.event_id] = None
                        words = _words_of(metadata, row.content)
                        self._by_words[words][row.event_id] = _Note(book_of, _knowers_in(metadata))
        found = self._by_book.get(book)
        if not found:
            return {}
        with self._log.snapshot(DM) as view:
            forgotten = gates_of(view).forgotten
        return {name: None for name in found if name not in forgotten}


def _words_of(metadata: Mapping[str, Any], text: str) -> str:
    """Return a digest of what a note says about what, however it is spelled."""
    about = metadata.get(LORE)
    entry = str(about.get("entry")) if isinstance(about, dict) else ""
    words = "\x1e".join((fold_name(entry), " ".join(text.casefold().split())))
    return hashlib.blake2b(words.encode("utf-8"), digest_size=12).hexdigest()


def _knowers_in(metadata: Mapping[str, Any]) -> frozenset[str]:
    knowers = metadata.get("witnesses")
    return frozenset(map(str, knowers)) if isinstance(knowers, list) else frozenset()


def latest_persona(log: BranchLog, uid: str) -> tuple[int, dict[str, Any]] | None:
    """Return the newest persona of somebody, and its number."""
    _, lineage = log.past()
    store, number, found = log.store, 1, None
    while seqs := store.seqs_of(lineage, [f"persona:{uid}:{number}"]):
        [seq] = seqs.values()
        metadata = json.loads(store.events_at(lineage, [seq])[seq].metadata)
        found = number, dict(metadata.get(PERSONA) or {})
        number += 1
    return found


def _parts(text: str) -> Iterator[str]:
    """Yield a text whole, or in parts that end with a paragraph or a sentence."""
    rest = text.strip()
    while len(rest) > _LONGEST_NOTE:
        head = rest[:_LONGEST_NOTE]
        cut = max(head.rfind("\n"), head.rfind(". ") + 1, head.rfind("! ") + 1, head.rfind("? ") + 1)
        cut = cut if cut > _LONGEST_NOTE // 4 else (head.rfind(" ") if " " in head else _LONGEST_NOTE)
        yield rest[:cut].strip()
        rest = rest[cut:].strip()
    if rest:
        yield rest


def _fields_text(fields: Mapping[str, Any]) -> str:
    """Return the fields of a foreign format as JSON, if they are sound and not too long."""
    if not fields:
        return ""
    try:
        text = clean_text(
            json.dumps(dict(fields), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        )
        json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return text if len(text) <= _LONGEST_FIELDS else ""
