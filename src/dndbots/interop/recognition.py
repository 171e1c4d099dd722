"""Recognition of files by their content: which family they are, and the reader that reads them."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from dndbots.errors import UnreadableFile
from dndbots.interop.formats.bounds import (
    UnknownKind,
    as_dict,
    as_list,
    as_text,
    clean_name,
    decode_base64,
    parse_json,
    read_bytes,
    text_lines,
)
from dndbots.interop.formats.front_matter import parse_yaml
from dndbots.interop.formats.neutral import ImportOptions, LoreBook, ReadFile
from dndbots.interop.readers import (
    assistants,
    cards,
    discord_exports,
    foundry,
    lorebooks,
    other_chats,
    plain_logs,
    records,
    sillytavern_chats,
    subtitles,
    table_chats,
    vaults,
)

_HEAD: Final = 1 << 16
# An object, or a list of objects or lists. A log may begin with a time in brackets.
_JSON: Final = re.compile(r"[\ufeff\s]*(?:\{|\[\s*[\[{\]])")
_NOTES: Final = (".md", ".markdown")
_READABLE: Final = (
    ".jsonl", ".json", ".png", ".apng", ".charx", ".jpg", ".jpeg", ".webp", ".lorebook", ".story",
    ".scenario", ".srt", ".vtt", ".txt", ".md", ".markdown", ".html", ".htm", ".db", ".yml", ".yaml", ".log",
    ".tsv", ".aud", ".csv",
)  # fmt: skip
_MOST_FILES: Final = 20_000
_TAVERN: Final = ("chats", "group chats", "groups", "worlds", "characters")
TRANSCRIPT: Final = "dndbots transcript"


def find_files(paths: list[Path]) -> Iterator[Path]:
    """Yield the files, and those in folders that may be readable, in a stable order."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = 0
        files = sorted(path.rglob("*"))
        taverns = [folder.parent for folder in files if folder.name == "chats" and _is_tavern(folder.parent)]
        for file in files:
            if file.is_file() and not file.is_symlink() and file.suffix.casefold() in _READABLE:
                inside = file.relative_to(path)
                is_ours = all(_holds_play(file.relative_to(home)) for home in taverns if home in file.parents)
                if is_ours and not vaults.is_skipped(inside) and inside.name != "SOURCES.txt":
                    found += 1
                    yield file
            if found >= _MOST_FILES:
                raise UnreadableFile(
                    str(path), reason=f"it has more than {_MOST_FILES} files; name some of them"
                )


def _is_tavern(folder: Path) -> bool:
    """Return True for the data folder of a user of SillyTavern."""
    return (folder / "worlds").is_dir() and (folder / "characters").is_dir()


def _holds_play(inside: Path) -> bool:
    """Return True for a file of chats, books or cards. Backups are copies; the rest is settings."""
    return inside.parts[0] in _TAVERN


def read_path(path: Path, options: ImportOptions) -> ReadFile:
    """Return the content of a file as neutral models; raise `UnreadableFile` if no family fits."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        return _read(path, head, options)
    except (ValueError, RecursionError) as exc:
        if isinstance(exc, UnreadableFile):
            raise
        reason = "it is nested too deeply" if isinstance(exc, RecursionError) else str(exc)
        raise UnreadableFile(str(path), reason=reason) from exc
    except OSError as exc:
        raise UnreadableFile(str(path), reason=f"it cannot be read: {exc.strerror or exc}") from exc


def is_of_unknown_kind(exc: UnreadableFile) -> bool:
    """Return True if a file cannot be read because it belongs to no family, and not because it is damaged."""
    return isinstance(exc.__cause__, UnknownKind)


def _read(path: Path, head: bytes, options: ImportOptions) -> ReadFile:
    if cards.is_picture(head):
        return _read_picture(path)
    if head.startswith((cards.ZIP_MARK, b"\xff\xd8", b"RIFF")):
        card = cards.read_archive(read_bytes(path))
        return ReadFile("character card", cards=(card,))
    if b"\0" in head[:1024] and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnknownKind("it is neither text nor a card; import takes chats, lorebooks, cards and notes")
    if _is_lines(path):
        return _read_lines(path, options)
    text = as_text(read_bytes(path))
    if not text.strip("\ufeff \t\r\n"):
        raise ValueError("it is empty")
    if _JSON.match(text):
        return _read_json(path, parse_json(text), options)
    if path.suffix.casefold() in (".yml", ".yaml"):
        return _read_json(path, parse_yaml(text), options)
    return _read_text(path, text, options)


def _is_lines(path: Path) -> bool:
    """Return True if the first line of a file is an object of JSON by itself, and more lines follow."""
    first = None
    for _, line in text_lines(path):
        if not line.strip():
            continue
        if first is not None:
            return True
        if not line.lstrip("\ufeff \t").startswith("{"):
            return False
        try:
            first = parse_json(line)
        except ValueError:
            return path.suffix.casefold() == ".jsonl"
    return sillytavern_chats.is_chat_line(first)


def _first_value(path: Path) -> dict[str, Any]:
    for _, line in text_lines(path):
        if line.strip():
            try:
                return as_dict(parse_json(line))
            except ValueError:
                continue
    return {}


def _read_lines(path: Path, options: ImportOptions) -> ReadFile:
    first = _first_value(path)
    if sillytavern_chats.is_chat_line(first):
        return sillytavern_chats.read_chat(path, options)
    if foundry.is_document(first) or "$$indexCreated" in first:
        return foundry.read_documents(path, _lines_of(path), options)
    if "speaker" in first and "text" in first:
        return ReadFile(TRANSCRIPT)
    if assistants.is_message_list([first]):
        return assistants.read_messages(list(_lines_of(path)), _title(path), options)
    if records.is_combat(first):
        return records.read_combats(path, _lines_of(path), options)
    raise UnknownKind("its lines are of no known kind: neither a chat, nor messages, nor a transcript")


def _lines_of(path: Path) -> Iterator[Any]:
    for _, line in text_lines(path):
        if line.strip():
            try:
                yield parse_json(line)
            except ValueError:
                yield None


def _read_picture(path: Path) -> ReadFile:
    content = read_bytes(path)
    texts = cards.card_texts(content)
    if "naidata" in texts and "chara" not in texts and "ccv3" not in texts:
        book = lorebooks.read_novelai(
            as_dict(parse_json(as_text(decode_base64(texts["naidata"])))), _title(path)
        )
        return ReadFile("NovelAI lorebook", books=(book,))
    return ReadFile("character card", cards=(cards.read_picture(content),))


def _read_json(path: Path, value: Any, options: ImportOptions) -> ReadFile:
    title = _title(path)
    if isinstance(value, list):
        return _read_list(path, value, options)
    fields = as_dict(value)
    for matches, read in _OBJECTS:
        if matches(fields):
            return read(path, fields, title, options)
    raise UnknownKind("its JSON is of no known kind; import takes chats, lorebooks, cards and transcripts")


def _read_list(path: Path, values: list[Any], options: ImportOptions) -> ReadFile:
    first, title = as_dict(next(iter(values), None)), _title(path)
    if sillytavern_chats.is_chat_line(first):
        raise ValueError("it is a SillyTavern chat in a list; save it as JSON lines (.jsonl)")
    if "speaker" in first and "text" in first:
        return ReadFile(TRANSCRIPT)
    for matches, read in _LISTS:
        if matches(first):
            return read(path, values, title, options)
    book = records.read_records(values, title)
    if book.entries:
        return ReadFile("named records", books=(book,))
    raise UnknownKind("its list is of no known kind: neither entries of a lorebook nor lines of a transcript")


def _is_entry(value: dict[str, Any]) -> bool:
    """Return True for an entry of a lorebook that somebody wrote by hand."""
    return any(key in value for key in ("key", "keys", "title", "entry_id")) and any(
        key in value for key in ("content", "value", "entry", "text")
    )


_ListReader = Callable[[Path, list[Any], str, ImportOptions], ReadFile]
# In this order: what the first item of a list must have, and who reads the list.
_LISTS: Final[tuple[tuple[Callable[[dict[str, Any]], bool], _ListReader], ...]] = (
    (
        foundry.is_document,
        lambda path, values, _title, options: foundry.read_documents(path, values, options),
    ),
    (
        lambda first: assistants.is_message_list([first]),
        lambda _path, values, title, options: assistants.read_messages(values, title, options),
    ),
    (
        lambda first: assistants.is_export([first]),
        lambda _path, values, _title, options: assistants.read_export(values, options),
    ),
    (
        lambda first: "keys" in first and ("value" in first or "entry" in first),
        lambda _path, values, title, _options: ReadFile(
            "AI Dungeon story cards", books=(lorebooks.read_story_cards(values, title),)
        ),
    ),
    (
        other_chats.is_scenario,
        lambda _path, values, title, options: other_chats.read_scenarios(values, title, options),
    ),
    (
        _is_entry,
        lambda _path, values, title, _options: ReadFile(
            "lorebook", books=(lorebooks.read_world_info({"entries": values}, title),)
        ),
    ),
)


def _read_text(path: Path, text: str, options: ImportOptions) -> ReadFile:
    bare = text.lstrip("\ufeff")
    for matches, read in _TEXTS:
        if matches(path, bare):
            return read(path, bare, options)
    raise UnknownKind("its text is of no known kind; a plain log has lines such as `Zara: I open the gate.`")


def _is_note(path: Path) -> bool:
    return path.suffix.casefold() in _NOTES


def _is_craig(text: str) -> bool:
    return text.lstrip().startswith("Recording") and "Tracks:" in text and "Start time:" in text


_TextReader = Callable[[Path, str, ImportOptions], ReadFile]
_TEXTS: Final[tuple[tuple[Callable[[Path, str], bool], _TextReader], ...]] = (
    (lambda _path, text: subtitles.is_subtitle(text), subtitles.read_subtitles),
    (lambda _path, text: subtitles.is_table(text), subtitles.read_table),
    (lambda _path, text: table_chats.is_discord_text(text), table_chats.read_discord_text),
    (lambda _path, text: discord_exports.is_page(text), table_chats.read_discord_page),
    (lambda _path, text: discord_exports.is_table(text), table_chats.read_discord_table),
    (lambda _path, text: _is_craig(text), lambda _path, text, _options: subtitles.read_craig(text)),
    (lambda _path, text: table_chats.has_roll20(text), table_chats.read_roll20),
    (lambda _path, text: foundry.is_log(text), foundry.read_log),
    (
        lambda path, text: _is_note(path) and text.startswith("---"),
        vaults.read_note,
    ),
    (plain_logs.is_plain_log, plain_logs.read_plain_log),
    (lambda path, _text: _is_note(path), vaults.read_note),
)


def _title(path: Path) -> str:
    return clean_name(path.stem, "lorebook")


def _book(family: str, read: lorebooks.BookReader) -> "_Reader":
    def read_book(_path: Path, fields: dict[str, Any], title: str, _options: ImportOptions) -> ReadFile:
        return ReadFile(family, books=(read(fields, title),))

    return read_book


def _whole_book(fields: dict[str, Any]) -> LoreBook:
    return lorebooks.read_world_info(as_dict(fields.get("data")), clean_name(fields.get("name"), "lorebook"))


_Reader = Callable[[Path, dict[str, Any], str, ImportOptions], ReadFile]
# In this order: what a file must have, and who reads it.
_OBJECTS: Final[tuple[tuple[Callable[[dict[str, Any]], bool], _Reader], ...]] = (
    (
        lambda value: value.get("spec") == "lorebook_v3",
        lambda _path, value, _title, _options: ReadFile("lorebook", books=(_whole_book(value),)),
    ),
    (
        cards.has_spec,
        lambda _path, value, _title, _options: ReadFile("character card", cards=(cards.read_card(value),)),
    ),
    (lambda value: value.get("type") == "risu", _book("Risu lorebook", lorebooks.read_risu)),
    (
        lambda value: value.get("type") == "risuChat",
        lambda _path, value, title, options: other_chats.read_risu_chat(value, title, options),
    ),
    (lambda value: value.get("kind") == "memory", _book("Agnai memory book", lorebooks.read_agnai)),
    (lambda value: "lorebookVersion" in value, _book("NovelAI lorebook", lorebooks.read_novelai)),
    (
        lambda value: "storyContainerVersion" in value or "scenarioVersion" in value,
        lambda _path, value, title, options: other_chats.read_novelai_story(value, title, options),
    ),
    (
        lambda value: isinstance(value.get("members"), list) and ("chats" in value or "chat_id" in value),
        lambda path, value, _title, _options: sillytavern_chats.read_group(path, value),
    ),
    (
        other_chats.is_scenario,
        lambda _path, value, title, options: other_chats.read_scenarios([value], title, options),
    ),
    (
        lambda value: any(key in value for key in ("savedsettings", "gamestarted", "ga"))
        or ("prompt" in value and ("actions" in value or "worldinfo" in value or "memory" in value)),
        lambda _path, value, title, options: other_chats.read_kobold_save(value, title, options),
    ),
    (
        cards.is_card,
        lambda _path, value, _title, _options: ReadFile("character card", cards=(cards.read_card(value),)),
    ),
    (
        lambda value: isinstance(value.get("entries"), (dict, list)),
        _book("SillyTavern world info", lorebooks.read_world_info),
    ),
    (
        lambda value: "data_visible" in value or "visible" in value,
        lambda _path, value, title, options: other_chats.read_webui_chat(value, title, options),
    ),
    (lambda value: "TURNS" in value, lambda _path, _value, _title, _options: ReadFile(TRANSCRIPT)),
    (
        table_chats.is_discord,
        lambda path, value, _title, options: table_chats.read_discord(path, value, options),
    ),
    (
        table_chats.is_telegram,
        lambda path, value, _title, options: table_chats.read_telegram(path, value, options),
    ),
    (
        lambda value: assistants.is_message_list(as_list(value.get("messages"))),
        lambda _path, value, title, options: assistants.read_messages(
            as_list(value.get("messages")), title, options
        ),
    ),
    (
        lambda value: assistants.is_export([value]),
        lambda _path, value, _title, options: assistants.read_export([value], options),
    ),
    (
        lambda value: "msg" in as_dict(next(iter(as_list(value.get("messages"))), None)),
        lambda _path, value, title, options: other_chats.read_agnai_chat(value, title, options),
    ),
    (
        lambda value: "histories" in value,
        lambda _path, value, title, options: other_chats.read_cai_chats(value, title, options),
    ),
    (
        subtitles.is_whisper,
        lambda path, value, _title, options: subtitles.read_whisper(path, value, options),
    ),
    (
        foundry.is_document,
        lambda path, value, _title, options: foundry.read_documents(path, [value], options),
    ),
    (
        sillytavern_chats.is_chat_line,
        lambda path, _value, _title, options: sillytavern_chats.read_chat(path, options),
    ),
    (lambda value: "speaker" in value and "text" in value,
     lambda _path, _value, _title, _options: ReadFile(TRANSCRIPT)),
)  # fmt: skip
