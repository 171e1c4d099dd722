"""Import of foreign files: first a preview of what they will become, then the import itself.

    previews = preview_files([Path("Seraphina.jsonl")])
    campaign.import_files([Path("Seraphina.jsonl")])

A file is read, checked and previewed before anything of it is written.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import Final

from dndbots.errors import InvalidTranscript, UnreadableFile
from dndbots.ids import DM, fold_name
from dndbots.interop.formats.bounds import clean_name, is_cut
from dndbots.interop.formats.categories import guess_category
from dndbots.interop.formats.neutral import ImportedChat, ImportOptions, LoreBook, NotUnderstood, ReadFile
from dndbots.interop.history.chat_history import ChatHistory, Followed
from dndbots.interop.history.messages import ChatMessage
from dndbots.interop.history.played_lines import has_played_lines
from dndbots.interop.lore_events import PARTY, LoreEvents, LoreImported
from dndbots.interop.readers.lorebooks import is_pattern
from dndbots.interop.readers.session_notes import is_session_note, order_of
from dndbots.interop.recognition import TRANSCRIPT, find_files, is_of_unknown_kind, read_path
from dndbots.interop.transcript_cast import DICE
from dndbots.interop.transcript_files import TranscriptFile
from dndbots.interop.transcripts import Imported, check_line, import_lines
from dndbots.storage.campaign_log import BranchLog
from dndbots.storage.ports import Store

Progress = Callable[[int, int], None]
_LONGEST_BRANCH: Final = 150
_MOST_NAMES: Final = 10
_READ: Final = 400
_SHOWN: Final = 60
# How many things of a category are called; for one, see `_ONE`.
_CATEGORIES: Final = {
    "PC": "characters", "NPC": "people", "MON": "monsters", "LOC": "places", "FAC": "groups",
    "ITEM": "things", "QST": "quests", "EVT": "other lore",
}  # fmt: skip
_ONE: Final = {
    "characters": "character", "people": "person", "monsters": "monster", "places": "place",
    "groups": "group", "things": "thing", "quests": "quest",
}  # fmt: skip


@dataclass(frozen=True)
class SpeakerPreview:
    """A speaker of a chat: the name, the role, how many messages are theirs, and how the first one begins."""

    name: str
    role: str
    messages: int
    words: str = ""


@dataclass(frozen=True)
class ChatPreview:
    """A chat, as it will be imported. `change` tells what it does to a campaign that has it already."""

    name: str
    messages: int
    sessions: tuple[str, ...]
    speakers: tuple[SpeakerPreview, ...]
    listeners: tuple[str, ...] = ()
    alternatives: int = 0
    whispers: int = 0
    cut: int = 0
    branch_of: str | None = None
    first: str | None = None
    last: str | None = None
    change: Followed | None = None

    @property
    def dms(self) -> tuple[str, ...]:
        """The names of the DM. A program that rolls dice is none."""
        return tuple(who.name for who in self.speakers if who.role == DM and who.name != DICE)


@dataclass(frozen=True)
class BookPreview:
    """A lorebook, as it will be imported: how many notes about what, and who will know them."""

    title: str
    notes: int
    disabled: int = 0
    empty: int = 0
    categories: Mapping[str, int] = field(default_factory=dict)
    for_named: int = 0
    for_players: int = 0
    patterns: int = 0

    @property
    def kinds(self) -> str:
        """Tell what the notes are about: `1 person, 2 places`."""
        counted = self.categories.items()
        return ", ".join(f"{count} {_ONE.get(kind, kind) if count == 1 else kind}" for kind, count in counted)


@dataclass(frozen=True)
class CardPreview:
    """A card, as it will be imported."""

    name: str
    is_narrator: bool
    persona: int
    book: BookPreview | None = None


@dataclass(frozen=True)
class ImportPreview:
    """The outcome of an import, told before. With a `refused` reason, nothing can be imported.

    A file that `is_left_out` stands in a folder and is of no known kind.
    """

    file: str
    family: str
    chats: tuple[ChatPreview, ...] = ()
    books: tuple[BookPreview, ...] = ()
    cards: tuple[CardPreview, ...] = ()
    problems: tuple[NotUnderstood, ...] = ()
    remarks: tuple[str, ...] = ()
    refused: str | None = None
    is_left_out: bool = False


@dataclass(frozen=True)
class FileImport:
    """The result of importing a file."""

    file: str
    family: str
    chats: tuple[tuple[str, Followed], ...] = ()
    books: tuple[tuple[str, LoreImported], ...] = ()
    cards: tuple[str, ...] = ()
    transcript: Imported | None = None
    problems: tuple[NotUnderstood, ...] = ()
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_NAMELESS: Final = re.compile(r"speaker(?:[ _]?[\da-z]{1,3})?", re.IGNORECASE)
_USERS: Final = ("User", "You")


def nameless_speakers(previews: Sequence[ImportPreview]) -> list[SpeakerPreview]:
    """Return the voices of recordings that have no name: `SPEAKER_00`."""
    return list({who.name: who for who in _speakers(previews) if _NAMELESS.fullmatch(who.name)}.values())


def nameless_users(previews: Sequence[ImportPreview]) -> list[str]:
    """Return the names under which chat programs show the person at the keyboard who gave none."""
    return list(dict.fromkeys(who.name for who in _speakers(previews) if who.name in _USERS))


def chats_without_dm(previews: Sequence[ImportPreview]) -> list[ChatPreview]:
    """Return the chats of several speakers of whom none is the DM."""
    chats = [chat for preview in previews for chat in preview.chats]
    return [chat for chat in chats if not chat.dms and len(chat.speakers) > 1]


def _speakers(previews: Sequence[ImportPreview]) -> Iterator[SpeakerPreview]:
    for preview in previews:
        for chat in preview.chats:
            yield from chat.speakers


def preview_files(
    paths: Iterable[Path], options: ImportOptions | None = None, *, history: "HistoryOf | None" = None
) -> list[ImportPreview]:
    """Return what files, and the files in folders, will become. Nothing is written.

    `history` gives the chat of a campaign by name and people, to tell what a chat would change there.
    """
    chosen = options or ImportOptions()
    named = list(paths)
    previews = [(path, _preview(path, chosen, history)) for path in find_files(named)]
    return [replace(preview, is_left_out=False) if path in named else preview for path, preview in previews]


HistoryOf = Callable[[str, Mapping[str, str | None]], ChatHistory]


def _preview(path: Path, options: ImportOptions, history: "HistoryOf | None") -> ImportPreview:
    try:
        read = read_path(path, options)
    except UnreadableFile as exc:
        return ImportPreview(
            str(path), "not understood", refused=exc.reason, is_left_out=is_of_unknown_kind(exc)
        )
    if read.family == TRANSCRIPT:
        return _preview_transcript(path, options)
    chats = tuple(_preview_chat(chat, history) for chat in read.chats)
    cards = tuple(
        CardPreview(
            card.name,
            card.is_narrator,
            len(card.description) + len(card.personality) + len(card.scenario) + len(card.examples),
            _preview_book(card.book) if card.book else None,
        )
        for card in read.cards
    )
    return ImportPreview(
        str(path),
        read.family,
        chats=chats,
        books=tuple(map(_preview_book, read.books)),
        cards=cards,
        problems=tuple(read.problems),
        remarks=read.remarks,
    )


def _preview_transcript(path: Path, options: ImportOptions) -> ImportPreview:
    speakers: Counter[tuple[str, str]] = Counter()
    sessions: dict[str, None] = {}
    source = open_transcript(path, options)
    try:
        for number, raw in enumerate(source, 1):
            line = check_line(number, raw)
            sessions[line.session] = None
            for position, name in enumerate(line.speakers):
                speakers[name, line.role_of(position) or "pc"] += 1
    except InvalidTranscript as exc:
        place = source.place(exc.line)
        return ImportPreview(str(path), TRANSCRIPT, refused=f"{place}: {exc.field}: {exc.reason}")
    except ValueError as exc:
        return ImportPreview(str(path), TRANSCRIPT, refused=str(exc))
    people = tuple(SpeakerPreview(*who, count) for who, count in speakers.most_common())
    chat = ChatPreview(path.stem, sum(speakers.values()), tuple(sessions), people)
    return ImportPreview(str(path), TRANSCRIPT, chats=(chat,))


def open_transcript(path: Path, options: ImportOptions) -> TranscriptFile:
    """Return a transcript of dndbots' own kind, or of Critical Role."""
    return TranscriptFile(path, dm=next(iter(options.dm), None), session=options.session)


def notes_on(source: TranscriptFile, options: ImportOptions, path: Path) -> Iterator[str]:
    """Yield what a person should know about a transcript that was imported."""
    if options.dm and not source.dm_speaks:
        yield f"no line in {path} is by {options.dm[0]}"
    if source.quoted:
        names = ", ".join(list(source.quoted)[:_MOST_NAMES])
        yield f"shown in quotes because they look like part of a prompt: {names}"


def _preview_chat(chat: ImportedChat, history: "HistoryOf | None") -> ChatPreview:
    sessions: dict[str, None] = {}
    speakers: Counter[tuple[str, str]] = Counter()
    words: dict[tuple[str, str], str] = {}
    alternatives = whispers = cut = 0
    first = last = None
    for message in chat.messages:
        sessions[message.session or chat.name] = None
        who = message.speaker, message.role or "npc"
        speakers[who] += 1
        words.setdefault(who, shorten(" ".join(message.text[:_READ].split()), _SHOWN, placeholder="…"))
        alternatives += len(message.alternatives) > 1
        whispers += message.witnesses is not None
        cut += is_cut(message.text)
        first, last = first or message.time, message.time or last
    spoken = {fold_name(name) for name, _ in speakers}
    return ChatPreview(
        chat.name,
        sum(speakers.values()),
        tuple(sessions),
        tuple(SpeakerPreview(*who, count, words[who]) for who, count in speakers.most_common()),
        listeners=tuple(name for name in chat.people if fold_name(name) not in spoken),
        alternatives=alternatives,
        whispers=whispers,
        cut=cut,
        branch_of=chat.parent,
        first=first,
        last=last,
        change=_change_of(chat, history(chat.name, chat.people)) if history else None,
    )


def _change_of(chat: ImportedChat, history: ChatHistory) -> Followed:
    if not has_played_lines(chat.fields):
        return history.compare(chat.messages)
    messages = history.unplayed(chat.messages)
    change = history.among(_players(chat)).compare(messages)
    return change._replace(kept=change.kept + messages.played)


def _players(chat: ImportedChat) -> dict[str, str | None]:
    """Return everybody at the table of a game: they perceive what is added to it, even if they are silent."""
    return {one.speaker: None for one in chat.messages if one.role != DM} | dict(chat.people)


def _preview_book(book: LoreBook) -> BookPreview:
    used = [entry for entry in book.entries if entry.enabled and entry.text]
    kinds = Counter(_CATEGORIES[guess_category(entry, book.title)] for entry in used)
    return BookPreview(
        book.title,
        notes=len(used),
        disabled=sum(not entry.enabled for entry in book.entries),
        empty=sum(entry.enabled and not entry.text for entry in book.entries),
        categories=dict(kinds.most_common()),
        for_named=sum(bool(entry.only_for or entry.not_for) for entry in used),
        for_players=sum(entry.for_players for entry in used),
        patterns=sum(any(map(is_pattern, entry.keys)) for entry in used),
    )


def read_files(
    paths: Iterable[Path], options: ImportOptions, *, damaged: list[UnreadableFile] | None = None
) -> list[tuple[Path, ReadFile]]:
    """Return all files as neutral models, in the order of import.

    In a folder, files of no known kind are left out. Any other file that cannot be read raises, unless there
    is a list of the `damaged`. Lore comes before play, unless the party is to know it; a branch of a chat
    comes after its parent.
    """
    named, found = list(paths), list[tuple[Path, ReadFile]]()
    for path in find_files(named):
        try:
            found.append((path, read_path(path, options)))
        except UnreadableFile as exc:
            if is_of_unknown_kind(exc) and path not in named:
                continue
            if damaged is None:
                raise
            damaged.append(exc)
    is_for_party = PARTY in map(fold_name, options.known_to)

    def rank(item: tuple[Path, ReadFile]) -> tuple[bool, bool, tuple[int, str]]:
        read = item[1]
        is_play = bool(read.chats) or read.family == TRANSCRIPT
        return is_play != is_for_party, any(chat.parent for chat in read.chats), order_of(read.chats)

    return sorted(found, key=rank)


class FileImporter:
    """Imports files into one branch. `on_rewrite` is called when a chat moved it to another branch."""

    def __init__(
        self,
        log: BranchLog,
        store: Store,
        options: ImportOptions | None = None,
        *,
        on_rewrite: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._log, self._store = log, store
        self._options = options or ImportOptions()
        self._on_rewrite = on_rewrite
        self._lore = LoreEvents(log, self._options)

    def read(self, paths: Iterable[Path]) -> list[tuple[Path, ReadFile]]:
        """Return all files as neutral models, in the order of import. See `read_files`."""
        return read_files(paths, self._options)

    def write(self, path: Path, read: ReadFile, progress: Progress | None = None) -> FileImport:
        """Import one file that was read before."""
        if read.family == TRANSCRIPT:
            source = open_transcript(path, self._options)
            done = import_lines(self._log, self._store, source, progress)
            return FileImport(
                str(path), read.family, transcript=done, notes=tuple(notes_on(source, self._options, path))
            )
        lore = self._lore
        cards = []
        books: list[tuple[str, LoreImported]] = []
        for card in read.cards:
            cards.append(lore.write_card(card))
            if card.book is not None:
                knower = [] if card.is_narrator else [card.name]
                books.append((card.book.title, lore.write_book(card.book, known_to=knower)))
        books += [(book.title, lore.write_book(book)) for book in read.books]
        notes: list[str] = []
        chats = tuple((chat.name, self._follow(chat, progress, notes)) for chat in read.chats)
        return FileImport(
            str(path),
            read.family,
            chats=chats,
            books=tuple(books),
            cards=tuple(cards),
            problems=tuple(read.problems),
            remarks=read.remarks,
            notes=tuple(notes),
        )

    def _follow(self, chat: ImportedChat, progress: Progress | None, notes: list[str]) -> Followed:
        parent = self._parent_of(chat)
        if parent is None:
            people = {**chat.people, **(self._party() if is_session_note(chat) else {})}
            history = ChatHistory(
                self._log, self._store, chat.name, people=people, on_rewrite=self._on_rewrite
            )
            if has_played_lines(chat.fields):
                return self._follow_game(chat, history, progress, notes)
            return history.follow(chat.messages, progress=progress)
        return self._follow_branch(chat, parent, progress)

    def _party(self) -> dict[str, str | None]:
        """Return the names of the party, if a person said that it knows what is imported."""
        if PARTY not in map(fold_name, self._options.known_to):
            return {}
        with self._log.snapshot(DM) as view:
            return {called.name: None for called in view.called(view.party()).values()}

    @staticmethod
    def _follow_game(
        chat: ImportedChat, history: ChatHistory, progress: Progress | None, notes: list[str]
    ) -> Followed:
        """Follow what was added to a game that was exported as a chat."""
        messages = history.unplayed(chat.messages)
        if messages.changed:
            names = ", ".join(messages.changed[:_MOST_NAMES])
            notes.append(
                f"{chat.name}: lines that were played here have another text now, which is not taken over: "
                f"{names}; go back with `dndbots undo`, or fork with `dndbots fork`"
            )
        followed = history.among(_players(chat)).follow(messages, progress=progress)
        return followed._replace(kept=followed.kept + messages.played)

    def _parent_of(self, chat: ImportedChat) -> str | None:
        if chat.parent is None or chat.parent == chat.name:
            return None
        history = ChatHistory(self._log, self._store, chat.parent)
        return chat.parent if history.has_messages() else None

    def _follow_branch(self, chat: ImportedChat, parent: str, progress: Progress | None) -> Followed:
        """Follow a branch of a chat in a fork, which begins where the two part."""
        messages = _RenamedMessages(chat.messages, chat.name, parent)
        main = ChatHistory(self._log, self._store, parent)
        people = {**main.speakers(), **chat.people}
        main = ChatHistory(self._log, self._store, parent, people=people)
        name = clean_name(chat.name)[:_LONGEST_BRANCH]
        if all(branch.name != name for branch in self._store.branches()):
            self._log.add_branch_at(name, main.last_common(messages), store=self._store)
        fork = self._log.reopen(name)
        try:
            history = ChatHistory(fork, fork.store, parent, people=people)
            followed = history.follow(messages, progress=progress)
            return followed._replace(branch=followed.branch or name)
        finally:
            fork.close()


class _RenamedMessages:
    """The messages of a branch, in sessions that bear the name of its parent."""

    def __init__(self, messages: Iterable[ChatMessage], old: str, new: str) -> None:
        self._messages, self._old, self._new = messages, old, new

    def __iter__(self) -> Iterator[ChatMessage]:
        for message in self._messages:
            session = message.session or self._old
            if session.startswith(self._old):
                session = self._new + session[len(self._old) :]
            yield replace(message, session=session)
