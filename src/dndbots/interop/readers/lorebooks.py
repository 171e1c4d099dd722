"""Lorebooks: SillyTavern world info, Chub, books of cards, Risu, Agnai, NovelAI, AI Dungeon, lists."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from dndbots.ids import CATEGORIES
from dndbots.interop.formats.bounds import (
    as_dict,
    as_int,
    as_list,
    clean_name,
    clean_text,
    cut_text,
    first_text,
    texts_of,
)
from dndbots.interop.formats.categories import category_named
from dndbots.interop.formats.html_text import has_html, html_to_text
from dndbots.interop.formats.neutral import LoreBook, LoreEntry

_DECORATOR: Final = re.compile(r"\A(?:\s*@@@?[a-z_]+[^\n]*(?:\n|\Z))+")
_PATTERN: Final = re.compile(r"/.*/[gimsuy]*", re.DOTALL)

BookReader = Callable[[Mapping[str, Any], str], LoreBook]


def read_world_info(book: Mapping[str, Any], title: str) -> LoreBook:
    """Return a book of SillyTavern, Chub, or a card: its entries are a dictionary or a list."""
    entries = book.get("entries")
    values = list(entries.values()) if isinstance(entries, dict) else as_list(entries)
    fields = {key: value for key, value in book.items() if key != "entries"}
    name = clean_name(book.get("name"), title)
    kept = tuple(_world_info_entry(value) for value in values if isinstance(value, dict))
    return LoreBook(name, kept, {**fields, "entries_are": "dict" if isinstance(entries, dict) else "list"})


def _world_info_entry(entry: Mapping[str, Any]) -> LoreEntry:
    """Return an entry in either vocabulary: downloads from Chub have both at once."""
    own = as_dict(entry.get("extensions"))
    keys = texts_of(entry.get("key")) or texts_of(entry.get("keys")) or texts_of(entry.get("tags"))
    second = texts_of(entry.get("keysecondary")) or texts_of(entry.get("secondary_keys"))
    allowed = as_dict(entry.get("characterFilter"))
    names = tuple(filter(None, map(clean_name, as_list(allowed.get("names")))))
    is_exclude = allowed.get("isExclude") is True
    return LoreEntry(
        title=_title(first_text(entry, "comment", "name", "title"), keys),
        text=_entry_text(first_text(entry, "content", "value", "entry", "text")),
        keys=keys,
        secondary_keys=second,
        always=entry.get("constant") is True,
        enabled=entry.get("disable") is not True and entry.get("enabled") is not False,
        order=as_int(entry.get("order", entry.get("insertion_order", own.get("order"))), 100),
        only_for=() if is_exclude else names,
        not_for=names if is_exclude else (),
        category=_own_category(own),
        fields=dict(entry),
    )


def _own_category(extensions: Mapping[str, Any]) -> str | None:
    """Return the category that an export of dndbots tells."""
    category = as_dict(extensions.get("dndbots")).get("category")
    return category if category in CATEGORIES else None


def read_risu(book: Mapping[str, Any], title: str) -> LoreBook:
    """Return a lorebook of RisuAI. Its folders tell the category of the entries in them."""
    values = [value for value in as_list(book.get("data")) if isinstance(value, dict)]
    folders = {
        str(value.get("id") or value.get("key")): clean_name(value.get("comment"))
        for value in values
        if value.get("mode") == "folder"
    }
    entries = []
    for value in values:
        if value.get("mode") == "folder":
            continue
        keys = texts_of(value.get("key"))
        folder = folders.get(str(value.get("folder")), "")
        entries.append(
            LoreEntry(
                title=_title(first_text(value, "comment"), keys),
                text=_entry_text(first_text(value, "content")),
                keys=keys,
                secondary_keys=texts_of(value.get("secondkey")),
                always=value.get("alwaysActive") is True,
                order=as_int(value.get("insertorder"), 100),
                category=category_named(folder),
                fields={key: inner for key, inner in value.items() if key != "loreCache"},
            )
        )
    return LoreBook(title, tuple(entries), {"type": "risu"})


def read_agnai(book: Mapping[str, Any], title: str) -> LoreBook:
    """Return a memory book of Agnai."""
    entries = tuple(
        LoreEntry(
            title=_title(first_text(value, "name"), texts_of(value.get("keywords"))),
            text=_entry_text(first_text(value, "entry")),
            keys=texts_of(value.get("keywords")),
            secondary_keys=texts_of(value.get("secondaryKeys")),
            always=value.get("constant") is True,
            enabled=value.get("enabled") is not False,
            order=as_int(value.get("weight"), 100),
            fields=dict(value),
        )
        for value in as_list(book.get("entries"))
        if isinstance(value, dict)
    )
    fields = {key: value for key, value in book.items() if key != "entries"}
    return LoreBook(clean_name(book.get("name"), title), entries, fields)


def read_novelai(book: Mapping[str, Any], title: str) -> LoreBook:
    """Return a lorebook of NovelAI. Its categories tell those of the entries."""
    categories = {
        str(value.get("id")): clean_name(value.get("name"))
        for value in as_list(book.get("categories"))
        if isinstance(value, dict)
    }
    entries = tuple(
        LoreEntry(
            title=_title(first_text(value, "displayName"), texts_of(as_list(value.get("keys")))),
            text=_entry_text(first_text(value, "text")),
            keys=texts_of(as_list(value.get("keys"))),
            always=value.get("forceActivation") is True,
            enabled=value.get("enabled") is not False,
            order=as_int(as_dict(value.get("contextConfig")).get("budgetPriority"), 400),
            category=category_named(categories.get(str(value.get("category")), "")),
            fields=dict(value),
        )
        for value in as_list(book.get("entries"))
        if isinstance(value, dict)
    )
    fields = {key: value for key, value in book.items() if key != "entries"}
    return LoreBook(title, entries, fields)


def read_story_cards(values: list[Any], title: str) -> LoreBook:
    """Return story cards of AI Dungeon, or its older world info."""
    entries = tuple(
        LoreEntry(
            title=_title(first_text(value, "title", "name"), texts_of(value.get("keys"))),
            text=_entry_text(first_text(value, "value", "entry", "content", "text")),
            keys=texts_of(value.get("keys") or value.get("key")),
            category=category_named(first_text(value, "type", "category")),
            fields=dict(value),
        )
        for value in values
        if isinstance(value, dict)
    )
    return LoreBook(title, entries, {"type": "aidungeon"})


def read_kobold_world(values: list[Any], title: str) -> LoreBook:
    """Return the world info of a KoboldAI save."""
    entries = tuple(
        LoreEntry(
            title=_title(first_text(value, "comment", "title"), texts_of(value.get("key"))),
            text=_entry_text(first_text(value, "content", "entry")),
            keys=texts_of(value.get("key")),
            secondary_keys=texts_of(value.get("keysecondary")),
            always=value.get("constant") is True,
            enabled=value.get("widisabled") is not True,
            category=category_named(first_text(value, "folder", "wigroup")),
            fields=dict(value),
        )
        for value in values
        if isinstance(value, dict)
    )
    return LoreBook(title, tuple(entry for entry in entries if entry.text), {"type": "kobold"})


def name_keys(entry: LoreEntry) -> list[str]:
    """Return those keys of an entry that look like names: no patterns, no macros, and not just any word."""
    title = entry.title.casefold()
    names = []
    for key in entry.keys:
        plain = clean_name(key)
        if not plain or is_pattern(plain) or "{{" in plain or len(plain) < 2:
            continue
        is_name = any(word[:1].isupper() for word in plain.split()) and len(plain.split()) <= 5
        if plain.casefold() != title and (is_name or plain.casefold() in title):
            names.append(plain)
    return names


def is_pattern(key: str) -> bool:
    """Return True for a key that is a regular expression. It is kept, and never run."""
    return _PATTERN.fullmatch(key) is not None


def _title(title: str, keys: tuple[str, ...]) -> str:
    found = clean_name(title) or next((clean_name(key) for key in keys if not is_pattern(key)), "")
    return found or next((clean_name(key.strip("/")) for key in keys), "") or "Note"


def _entry_text(text: str) -> str:
    """Return the text of an entry without the decorators at its top, HTML reduced to text."""
    plain = _DECORATOR.sub("", text)
    return cut_text(clean_text(html_to_text(plain) if has_html(plain) else plain))
