"""Lists of named records (monsters, factions, people), and the combats of FIREBALL."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dndbots.ids import DM
from dndbots.interop.formats.bounds import as_dict, as_list, clean_name, clean_text, cut_text, first_text
from dndbots.interop.formats.neutral import (
    ImportedChat,
    ImportOptions,
    LoreBook,
    LoreEntry,
    NotUnderstood,
    ReadFile,
)
from dndbots.interop.history.messages import ChatMessage
from dndbots.interop.readers.other_chats import ChatLines
from dndbots.interop.transcript_cast import DICE

_LONGEST: Final = 4_000
_DEEPEST: Final = 6
_TOLD: Final = ("desc", "description", "text", "value", "entry", "content")


def read_records(values: list[Any], title: str) -> LoreBook:
    """Return a list of objects with names as a book: one entry for each, its fields told as text."""
    entries = []
    for value in values:
        fields = as_dict(value)
        record, name = as_dict(fields.get("fields")) or fields, ""
        if len(record) == 1 and isinstance(next(iter(record.values())), dict):
            [(name, record)] = record.items()
        name = clean_name(first_text(record, "name", "title", "display_name")) or clean_name(name)
        text = _told(record)
        if name and text:
            category = "MON" if "challenge_rating" in record or "hit_points" in record else None
            entries.append(LoreEntry(name, cut_text(text), category=category, fields=fields))
    return LoreBook(title, tuple(entries), {"type": "records"})


def _told(record: Mapping[str, Any]) -> str:
    for key in _TOLD:
        value = record.get(key)
        text = "\n".join(map(clean_text, value)) if isinstance(value, list) else clean_text(value)
        if text:
            return text
    return "; ".join(told_pairs(record))[:_LONGEST]


def told_pairs(value: Any, depth: int = 0) -> Iterable[str]:
    """Yield the fields of a record as words: `armor class: 12`. Names and addresses are left out."""
    if depth > _DEEPEST:
        return
    for key, inner in as_dict(value).items():
        if key in ("name", "title", "index", "url", "image", "pk", "model"):
            continue
        label = clean_name(key).replace("-", " ").replace("_", " ")
        if isinstance(inner, dict):
            yield from (f"{label}: {text}" for text in told_pairs(inner, depth + 1))
        elif isinstance(inner, list):
            words = [str(word) for word in inner if isinstance(word, (str, int, float))]
            if words:
                yield f"{label}: {clean_text(', '.join(words))}"
            for record in filter(None, map(as_dict, inner)):
                told = "; ".join(told_pairs(record, depth + 1))
                yield ": ".join(filter(None, (label, clean_name(record.get("name")), told)))
        elif isinstance(inner, (str, int, float)) and str(inner).strip():
            yield f"{label}: {clean_text(str(inner))}"


def is_combat(value: Mapping[str, Any]) -> bool:
    """Return True for a line of FIREBALL."""
    is_raw = "combat_id" in value and "event_type" in value
    return is_raw or ("before_utterances" in value and "after_utterances" in value)


def read_combats(path: Path, values: Iterable[Any], options: ImportOptions) -> ReadFile:
    """Return the play in a file of FIREBALL: what people wrote, and what the rules bot answered."""
    chat = clean_name(path.stem, "combats")
    lines, problems = ChatLines(chat, options), list[NotUnderstood]()
    players: dict[str, str] = {}
    authors: dict[int, str] = {}
    leaders = set[str]()
    for number, value in enumerate(values, 1):
        fields = as_dict(value)
        if leader := as_dict(fields.get("data")).get("dm"):
            leaders.add(str(leader))
        if fields.get("event_type") == "message":
            authors[len(lines.messages)] = str(fields.get("author_id"))
            is_bot = fields.get("author_bot") is True
            name = DICE if is_bot else clean_name(fields.get("author_name"), "Somebody")
            lines.add(name, fields.get("content"), DM if is_bot else "pc", time=fields.get("timestamp"))
        elif "before_utterances" in fields:
            _add_triple(lines, fields, players)
        elif "event_type" not in fields:
            problems.append(NotUnderstood(f"line {number}", "it is no event of a combat"))
    if not options.dm:
        _give_lead(lines.messages, authors, leaders)
    chats = (ImportedChat(chat, lines.messages),) if lines.messages else ()
    return ReadFile("FIREBALL combats", chats=chats, problems=problems)


def _add_triple(lines: ChatLines, fields: Mapping[str, Any], players: dict[str, str]) -> None:
    """Add what a player wrote around a command, and what the rules bot answered."""
    speaker = str(fields.get("speaker_id"))
    name = players.setdefault(speaker, f"Player {len(players) + 1}")
    for key, who, role in (
        ("before_utterances", name, "pc"),
        ("automation_results", DICE, DM),
        ("after_utterances", name, "pc"),
    ):
        for text in as_list(fields.get(key)):
            lines.add(who, text, role)


def _give_lead(messages: list[ChatMessage], authors: Mapping[int, str], leaders: set[str]) -> None:
    """Make the DM's messages those of who leads a combat, as its states say."""
    for at, author in authors.items():
        if author in leaders and at < len(messages):
            messages[at] = replace(messages[at], role=DM)
