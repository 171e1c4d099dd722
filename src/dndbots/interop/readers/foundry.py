"""Foundry VTT: the exported chat log, chat messages with whispers, journals and actors."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dndbots.ids import DM
from dndbots.interop.formats.bounds import (
    as_dict,
    as_int,
    as_list,
    as_text,
    clean_name,
    clean_text,
    cut_text,
    first_text,
)
from dndbots.interop.formats.dates import Sessions, parse_date
from dndbots.interop.formats.html_text import html_to_text, split_secrets
from dndbots.interop.formats.neutral import (
    ImportedChat,
    ImportOptions,
    LoreBook,
    LoreEntry,
    NotUnderstood,
    ReadFile,
)
from dndbots.interop.formats.roles import SpeakerRoles
from dndbots.interop.history.messages import ChatMessage

_SEPARATOR: Final = re.compile(r"^-{20,}\s*$")
# A date and a name alone on a line. Words after a colon, or a nick in brackets, are another kind of log.
_HEAD: Final = re.compile(r"^\[([^\[\]]{6,60})\]\s+((?![<*])(?:[^:\n]|:(?!\s)){1,120})(?<!:)$")
_ENRICHER: Final = re.compile(
    r"@\w+\[[^\[\]]{0,200}\](?:\{([^{}]{0,200})\})?|&(?:amp;)?Reference\[[^\[\]]{0,100}\]"
)
_INLINE: Final = re.compile(r"\[\[/?\w*\s?([^\[\]]{0,100})\]\](?:\{([^{}]{0,100})\})?")
_SHARE: Final = 0.2
_OBSERVER: Final = 2
_GM: Final = 4


def is_log(text: str) -> bool:
    """Return True for an exported chat log."""
    lines = [line for line in text[:20_000].splitlines() if line.strip()]
    heads = sum(_HEAD.match(line) is not None for line in lines)
    if not heads:
        return False
    begins = _HEAD.match(lines[0]) is not None and heads >= _SHARE * len(lines)
    return begins or any(_SEPARATOR.match(line) for line in lines)


def is_document(value: Any) -> bool:
    """Return True for a chat message, a journal or an actor."""
    if not isinstance(value, dict) or not any(key in value for key in ("_id", "_stats", "flags", "items")):
        return False
    is_message = "content" in value and ("speaker" in value or "whisper" in value)
    is_actor = _is_actor(value)
    is_journal = isinstance(value.get("pages"), list) or ("permission" in value and "content" in value)
    return is_message or is_journal or (is_actor and "name" in value)


def _is_actor(value: Mapping[str, Any]) -> bool:
    """Return True for an actor: before v10 it has a permission, as a journal has."""
    has_sheet = any(key in value for key in ("system", "data", "prototypeToken", "token"))
    return "type" in value and has_sheet and not isinstance(value.get("pages"), list)


def read_log(path: Path, text: str, options: ImportOptions) -> ReadFile:
    """Return an exported chat log. It does not tell whispers from speech."""
    chat, roles = clean_name(path.stem, "chat log"), SpeakerRoles(options)
    sessions, messages = Sessions(chat, options.session), list[ChatMessage]()
    problems: list[NotUnderstood] = []
    for number, block in _log_blocks(text):
        head = _HEAD.match(block[0])
        if head is None:
            problems.append(
                NotUnderstood(f"line {number}", "no line with a date and a name begins this entry")
            )
            continue
        words = clean_text("\n".join(block[1:]))
        time = parse_date(head[1])
        if words:
            name, role = roles.cast(clean_name(head[2], "Somebody"), "pc")
            when = time.isoformat() if time else clean_name(head[1])
            messages.append(
                ChatMessage(name, cut_text(words), role=role, session=sessions.name_at(time), time=when)
            )
    remark = "the log does not tell whispers from speech, so everybody perceives every line"
    return ReadFile("Foundry chat log", (ImportedChat(chat, messages),), problems=problems, remarks=(remark,))


def _log_blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), "-" * 27], 1):
        is_head = _HEAD.match(line) is not None and block and parse_date((_HEAD.match(line) or [""] * 2)[1])
        if _SEPARATOR.match(line) or is_head:
            if any(part.strip() for part in block):
                yield number - len(block), block
            block = [line] if is_head else []
        elif line.strip() or block:
            block.append(line)


def read_documents(path: Path, values: Iterable[Any], options: ImportOptions) -> ReadFile:
    """Return the messages as a chat, and journals and actors as a book. The last one of an id counts."""
    newest: dict[str, dict[str, Any]] = {}
    problems: list[NotUnderstood] = []
    for number, value in enumerate(values, 1):
        fields = as_dict(value)
        name = str(fields.get("_id", f"no {number}"))
        if fields.get("$$deleted"):
            newest.pop(name, None)
        elif is_document(fields):
            newest[name] = fields
        elif not any(key.startswith("$$") for key in fields):
            problems.append(NotUnderstood(f"entry {number}", "it is no message, journal or actor"))
    documents = list(newest.values())
    messages = [fields for fields in documents if "speaker" in fields or "whisper" in fields]
    others = [fields for fields in documents if fields not in messages] if messages else documents
    title = clean_name(path.stem, "Foundry")
    chats = (ImportedChat(title, _ChatMessages(path, messages, options).read(title)),) if messages else ()
    entries = tuple(entry for fields in others for entry in _entries(fields))
    books = (LoreBook(title, entries, {"type": "foundry"}),) if entries else ()
    family = "Foundry messages" if messages else "Foundry documents"
    return ReadFile(family, chats=chats, books=books, problems=problems)


class _ChatMessages:
    """The messages of a world: their speakers, and the users who may see each whisper."""

    def __init__(self, path: Path, messages: list[dict[str, Any]], options: ImportOptions) -> None:
        self._messages, self._roles, self._only = messages, SpeakerRoles(options), options.session
        self._users, self._gms = _users_beside(path)
        spoken: dict[str, Counter[str]] = {}
        for fields in messages:
            alias = clean_name(as_dict(fields.get("speaker")).get("alias"))
            if alias:
                spoken.setdefault(_author(fields), Counter())[alias] += 1
        self._aliases = {user: names.most_common(1)[0][0] for user, names in spoken.items()}

    def read(self, title: str) -> list[ChatMessage]:
        sessions, made = Sessions(title, self._only), list[ChatMessage]()
        ordered = sorted(self._messages, key=_stamp)
        for fields in ordered:
            text = _message_text(fields)
            if not text:
                continue
            author = _author(fields)
            alias = (
                clean_name(as_dict(fields.get("speaker")).get("alias")) or self._user(author) or "Somebody"
            )
            name, role = self._roles.cast(alias, DM if author in self._gms else "pc")
            time = parse_date(fields.get("timestamp"))
            made.append(
                ChatMessage(
                    name,
                    cut_text(text),
                    role=role,
                    session=sessions.name_at(time),
                    time=time.isoformat() if time else None,
                    witnesses=self._witnesses(fields),
                )
            )
        return made

    def _witnesses(self, fields: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the people who may see a whisper. The DM always may; for the blind, nobody else."""
        users = [str(user) for user in as_list(fields.get("whisper"))]
        if not users:
            return () if fields.get("blind") is True else None
        if fields.get("blind") is True:
            return ()
        names = [self._user(user) for user in users if user not in self._gms]
        return tuple(dict.fromkeys(self._roles.cast(name, "pc")[0] for name in names if name))

    def _user(self, user: str) -> str:
        return self._aliases.get(user) or self._users.get(user, "")


def _stamp(fields: Mapping[str, Any]) -> float:
    stamp = fields.get("timestamp")
    if isinstance(stamp, bool) or not isinstance(stamp, (int, float)):
        return 0.0
    return float(stamp) if abs(stamp) < 1e15 else 0.0


def _author(fields: Mapping[str, Any]) -> str:
    author = fields.get("author", fields.get("user"))
    return str(author.get("_id")) if isinstance(author, dict) else str(author)


def _users_beside(path: Path) -> tuple[dict[str, str], set[str]]:
    """Return the names of the users in `users.db` beside a file, and who of them are game masters."""
    names: dict[str, str] = {}
    gms: set[str] = set()
    file = path.parent / "users.db"
    if file.is_file() and file.stat().st_size < 1 << 22:
        for line in as_text(file.read_bytes()).splitlines():
            try:
                user = as_dict(json.loads(line))
            except (ValueError, RecursionError):
                continue
            names[str(user.get("_id"))] = clean_name(user.get("name"))
            if as_int(user.get("role"), 0) >= _GM:
                gms.add(str(user.get("_id")))
    return names, gms


def _message_text(fields: Mapping[str, Any]) -> str:
    text = plain_text(str(fields.get("content") or ""))
    flavor = plain_text(str(fields.get("flavor") or ""))
    rolls = fields.get("rolls") or ([fields["roll"]] if fields.get("roll") else [])
    results = []
    for roll in as_list(rolls):
        try:
            told = as_dict(json.loads(roll) if isinstance(roll, str) else roll)
        except (ValueError, RecursionError):
            continue
        if "total" in told:
            results.append(f"{clean_text(told.get('formula')) or 'a roll'}: {told['total']}")
    if results:
        return ". ".join(filter(None, (flavor, *results)))
    return f"{flavor}: {text}" if flavor and text else text or flavor


def _entries(fields: Mapping[str, Any]) -> Iterator[LoreEntry]:
    name = clean_name(fields.get("name"), "Journal")
    if not _is_actor(fields):
        yield from _journal_entries(name, fields)
        return
    system = as_dict(fields.get("system")) or as_dict(fields.get("data"))
    details = as_dict(system.get("details"))
    biography = as_dict(details.get("biography"))
    kind = str(fields.get("type"))
    category = {"character": "PC", "vehicle": "ITEM", "group": "FAC"}.get(kind) or _kind_of_npc(fields)
    told, secret = split_secrets(str(biography.get("value") or ""))
    line = ", ".join(
        filter(
            None,
            (first_text(details, "race", "alignment"), first_text(as_dict(details.get("type")), "value")),
        )
    )
    text = "\n".join(filter(None, (f"{name}: {line}." if line else "", plain_text(told))))
    yield LoreEntry(name, text or f"{name} is in the world.", category=category)
    if secret:
        yield LoreEntry(name, plain_text(secret), category=category)


def _kind_of_npc(fields: Mapping[str, Any]) -> str:
    """Return whether an actor is somebody, or one of many: the tokens of many are not linked to the actor."""
    token = as_dict(fields.get("prototypeToken")) or as_dict(fields.get("token"))
    return "MON" if token.get("actorLink") is False else "NPC"


def _journal_entries(name: str, fields: Mapping[str, Any]) -> Iterator[LoreEntry]:
    owned = as_dict(fields.get("ownership")) or as_dict(fields.get("permission"))
    level = as_int(owned.get("default"), 0)
    pages = as_list(fields.get("pages")) or [{"name": name, "text": {"content": fields.get("content")}}]
    for page in map(as_dict, pages):
        own = as_int(as_dict(page.get("ownership")).get("default"), -1)
        text = as_dict(page.get("text"))
        source = str(text.get("content") or text.get("markdown") or "")
        told, secret = map(plain_text, split_secrets(source))  # a page may hold nothing but links
        title = clean_name(page.get("name"), name)
        shown = title if title == name else f"{name}: {title}"
        for_players = (level if own < 0 else own) >= _OBSERVER
        if told:
            yield LoreEntry(name, f"{shown}\n{told}", category="EVT", for_players=for_players)
        if secret:
            yield LoreEntry(name, f"{shown} (secret)\n{secret}", category="EVT")


def plain_text(text: str) -> str:
    """Return a text of Foundry without its markup: HTML, links and inline rolls become their labels."""
    plain = html_to_text(text)
    plain = _ENRICHER.sub(lambda found: found[1] or "", plain)
    told = clean_text(_INLINE.sub(lambda found: found[2] or found[1], plain))
    return "\n".join(line for line in told.split("\n") if line.strip())
