"""Obsidian notes: front matter, aliases, tags and links. Secrets stay the DM's; rules are skipped."""

import re
from pathlib import Path, PurePath
from typing import Any, Final

from dndbots.interop.formats.bounds import as_dict, as_list, clean_name, clean_text, cut_text
from dndbots.interop.formats.categories import OTHER_LORE, category_named
from dndbots.interop.formats.front_matter import parse_yaml, split_note
from dndbots.interop.formats.html_text import has_html, html_to_text
from dndbots.interop.formats.neutral import ImportOptions, LoreBook, LoreEntry, ReadFile
from dndbots.interop.readers.records import told_pairs
from dndbots.interop.readers.session_notes import is_session, paragraphs, read_session

SESSION: Final = "Obsidian session note"

BEGIN: Final = "%% dndbots:begin %%"
_EMPTY: Final = "the note has no text"
_NOTHING_OWN: Final = "the note has nothing but what dndbots wrote into it, which the campaign knows"
END: Final = "%% dndbots:end %%"
_OWN: Final = re.compile(rf"{re.escape(BEGIN)}.*?(?:{re.escape(END)}|\Z)", re.DOTALL)
_SKIPPED: Final = frozenset(
    ("compendium", "rules", "templates", "z_templates", ".trash", ".obsidian", "assets", "attachments")
)
_PLAYED: Final = ("session", "recap", "journal")
_RULE_TAGS: Final = ("ttrpg-cli", "compendium")
_BLOCK: Final = re.compile(r"^(```|~~~)([^\n]*)\n(.*?)(?:^\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
# Blocks of code that people write text in: admonitions, and plain ones.
_TEXT_BLOCKS: Final = ("", "text", "txt", "md", "markdown")
_SLUG: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)+")
_HEADING: Final = re.compile(r"^# +([^\n]{1,120})$", re.MULTILINE)
_COMMENT: Final = re.compile(r"%%.*?%%", re.DOTALL)
_EMBED: Final = re.compile(r"!\[\[[^\[\]\n]{0,300}\]\]|!\[[^\[\]\n]{0,200}\]\([^()\n]{0,500}\)")
_LINK: Final = re.compile(r"\[\[([^\[\]|#^\n]{0,200})(?:[#^][^\[\]|\n]{0,200})?(?:\|([^\[\]\n]{0,200}))?\]\]")
_WEB_LINK: Final = re.compile(r"\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
_SECRET: Final = re.compile(
    r"^> ?\[!(?:secret|dm|gm|dm-only)[^\n]*\n(?:>[^\n]*(?:\n|\Z))*", re.MULTILINE | re.IGNORECASE
)
_CALLOUT: Final = re.compile(r"^> ?(?:\[![^\]\n]{1,40}\][+-]? ?)?", re.MULTILINE)
_MARKS: Final = re.compile(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}|^#{1,6}\s+|==", re.MULTILINE)
_FIELD: Final = re.compile(r"(?:VIEW|INPUT|BUTTON)\[[^\[\]\n]{0,300}\]|`=[^`\n]{0,200}`")


def is_skipped(note: PurePath) -> bool:
    """Return True for a note in a folder of rules, templates or rubbish."""
    return any(
        part.casefold() in _SKIPPED or part.startswith(".") or part.casefold().endswith("compendium")
        for part in note.parts[:-1]
    )


def read_note(path: Path, text: str, options: ImportOptions | None = None) -> ReadFile:
    """Return a note as entries of a book: what players may know, and what its secret callouts say.

    A note of a session that was played is a chat that the DM tells.
    """
    fields, body = split_note(text)
    tags = [tag.casefold().lstrip("#") for tag in _words(fields.get("tags") or fields.get("tag"))]
    if any(tag.startswith(_RULE_TAGS) for tag in tags):
        return ReadFile("Obsidian note", remarks=("a page of rules; it is left out",))
    if _OWN.search(body):
        body = _OWN.sub("", body)  # dndbots wrote this part; the rest is a person's own
    secrets = _SECRET.findall(body)
    told, secret = note_text(_SECRET.sub("", body)), note_text("\n".join(secrets))
    blocks = _stat_blocks(body)
    title = _title_of(path, fields, body)
    folders = path.resolve().parent.parts[-2:]
    if told and is_session(title, fields, _kinds(fields, tags), map(_bare, folders)):
        parts = list(filter(None, map(note_text, paragraphs(_SECRET.sub("\n", body)))))
        chat = read_session(
            title, fields, parts, list(filter(None, map(note_text, secrets))), options or ImportOptions()
        )
        return ReadFile(SESSION, chats=(chat,))
    if blocks and not told:
        title = clean_name(blocks[0].get("name"), title)
    told = "\n".join(filter(None, (told, *map(_stat_block_text, blocks))))
    category = _category(fields, tags, path.parent.parts[-2:]) or ("MON" if blocks else None)
    entry = LoreEntry(
        title,
        cut_text(told),
        keys=tuple(filter(None, map(clean_name, _words(fields.get("aliases") or fields.get("alias"))))),
        always="lorebook-always" in tags,
        enabled=fields.get("enabled") is not False and "lorebook-never" not in tags,
        category=category,
        fields={"front_matter": fields},
    )
    entries = [entry] if told else []
    if secret:
        entries.append(LoreEntry(title, cut_text(secret), category=category))
    source = path.resolve().parent.name  # notes in two folders may have the same title
    book = (LoreBook(title, tuple(entries), {"type": "obsidian"}, source),) if entries else ()
    remark = _NOTHING_OWN if BEGIN in text else _EMPTY
    return ReadFile("Obsidian note", books=book, remarks=() if entries else (remark,))


def note_text(body: str) -> str:
    """Return a note as plain text: links become their labels; blocks of code, pictures and comments go."""
    text = _COMMENT.sub("", _BLOCK.sub(_block_text, _without_templates(body)))
    text = _FIELD.sub("", _EMBED.sub("", text))
    text = _LINK.sub(lambda found: found[2] or found[1].rpartition("/")[2], text)
    text = _CALLOUT.sub("", _WEB_LINK.sub(lambda found: found[1], text))
    text = html_to_text(text) if has_html(text) else text
    lines = [line.rstrip() for line in _MARKS.sub("", text).split("\n")]
    kept = [line for line in lines if line.strip(" -|:*_>#")]
    return clean_text("\n".join(kept))


def _without_templates(text: str) -> str:
    """Return a note without the commands of Templater, `<% … %>`. One that is not closed stays."""
    kept, *pieces = text.split("<%")
    told = [kept]
    for piece in pieces:
        _, is_closed, rest = piece.partition("%>")
        told.append(rest if is_closed else f"<%{piece}")
    return "".join(told)


def _block_text(block: re.Match[str]) -> str:
    """Return the text in a block of code, if people write text in such blocks."""
    language = block[2].strip().casefold()
    return block[3] if language in _TEXT_BLOCKS or language.startswith("ad-") else ""


def _stat_blocks(body: str) -> list[dict[str, Any]]:
    """Return the stat blocks of a note: YAML in blocks of code, as Fantasy Statblocks has them."""
    found = []
    for block in _BLOCK.finditer(body):
        if block[2].strip().casefold() == "statblock":
            try:
                found.append(as_dict(parse_yaml(block[3])))
            except ValueError:
                found.append({"description": block[3]})
    return [fields for fields in found if fields]


def _stat_block_text(fields: dict[str, Any]) -> str:
    text = "; ".join(told_pairs(fields))
    return note_text(f"{clean_name(fields.get('name'), 'Stat block')}: {text}")


def _title_of(path: Path, fields: dict[str, Any], body: str) -> str:
    """Return the title of a note: the name of its file, or what a file named like a web address is called."""
    if _SLUG.fullmatch(path.stem):
        heading = _HEADING.search(body)
        given = (fields.get("title"), fields.get("heading"), note_text(heading[1]) if heading else None)
        named = next((name for value in given if (name := clean_name(value))), "")
        return named or clean_name(path.stem, "Note")
    return clean_name(path.stem, "Note")


def _category(fields: dict[str, Any], tags: list[str], folders: tuple[str, ...]) -> str | None:
    """Return the category that the front matter, the tags or the folders of a note tell."""
    words = [*_kinds(fields, tags), *map(_bare, folders)]
    if "session-number" in fields or any(word.casefold().startswith(_PLAYED) for word in words):
        return OTHER_LORE
    found = [category for word in words if (category := category_named(word))]
    best = next((category for category in found if category != OTHER_LORE), next(iter(found), None))
    return "PC" if fields.get("player") and best in (None, "NPC") else best


def _kinds(fields: dict[str, Any], tags: list[str]) -> list[str]:
    """Return what the front matter and the tags of a note say that it is."""
    kinds = [str(fields.get(key) or "") for key in ("type", "category", "kind", "NoteType", "noteType")]
    return [*kinds, *(part for tag in tags for part in tag.split("/"))]


def _bare(folder: str) -> str:
    """Return the name of a folder without the number or the picture before it."""
    return re.sub(r"^[\d\W_]+", "", folder)


def _words(value: Any) -> list[str]:
    """Return texts of front matter: a list, nested lists of unquoted links, or words with commas."""
    if isinstance(value, str):
        return [word.strip() for word in re.split(r"[,\s]+" if "#" in value else ",", value) if word.strip()]
    found: list[str] = []
    for inner in as_list(value):
        found += _words(inner) if isinstance(inner, list) else [str(inner)]
    return found
