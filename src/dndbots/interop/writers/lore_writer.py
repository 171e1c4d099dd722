"""SillyTavern world info: one entry for each entity and each set of characters who know the same of it.

`characterFilter` gives each character only its own entries, so plain SillyTavern keeps their secrets. Entry
ids follow from the content, so writing again replaces; entries of other authors in the file are kept.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dndbots.events import audience
from dndbots.ids import DM, category_of, is_uid
from dndbots.interop.formats.neutral import LoreBook, LoreEntry
from dndbots.interop.writers.knowledge import CampaignViews, KnownEntity, ViewerKnowledge

OWN: Final = "dndbots"
_MOST_CHARACTERS: Final = 60
_MOST_LINES: Final = 12
_FIRST_UID: Final = 1_000_000


def world_info_of(campaign: CampaignViews, viewer: str = DM) -> dict[str, Any]:
    """Return the world info of a campaign: of everybody with filters for the DM, or of one viewer."""
    own = ViewerKnowledge(campaign, viewer)
    if own.viewer != DM:
        entries = [_entry(entity, _texts(entity), None) for entity in own.entities()]
        return _book(entries)
    known = {name: ViewerKnowledge(campaign, uid) for uid, name in characters_of(campaign).items()}
    lines: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    entities: dict[tuple[str, tuple[str, ...]], KnownEntity] = {}
    for name, knowledge in known.items():
        for entity in knowledge.entities():
            key = entity.name, tuple(entity.keys)
            entities.setdefault(key, entity)
            for text in _texts(entity):
                lines.setdefault((*key, text), []).append(name)
    groups: dict[tuple[tuple[str, tuple[str, ...]], tuple[str, ...]], list[str]] = {}
    for (title, keys, text), knowers in lines.items():
        groups.setdefault(((title, keys), tuple(sorted(knowers))), []).append(text)
    everybody = tuple(sorted(known))
    made = [
        _entry(entities[key], texts, None if knowers == everybody else knowers)
        for (key, knowers), texts in sorted(groups.items())
    ]
    return _book(made)


def characters_of(campaign: CampaignViews) -> dict[str, str]:
    """Return the characters who perceive the story, by uid: the party, and those who speak."""
    names = {entity.uid: entity.name for entity in campaign.entities(viewer=DM)}
    found: dict[str, None] = {}
    for event in campaign.events(viewer=DM):
        if not event.is_note:
            spoken = [event.source] if is_uid(event.source) else []
            party = sorted(uid for uid in audience(event) if uid.startswith("pc_"))
            found.update(dict.fromkeys((*spoken, *party)))
    people = [uid for uid in found if uid in names and category_of(uid) in ("PC", "NPC")]
    return {uid: names[uid] for uid in people[:_MOST_CHARACTERS]}


def _texts(entity: KnownEntity) -> list[str]:
    """Return the sentences of an entry. Each has the name in it: only the text reaches the model."""
    kept = [line.text for line in (*entity.facts, *entity.story)][:_MOST_LINES]
    name = entity.name.casefold()
    return list(dict.fromkeys(text if name in text.casefold() else f"{entity.name}: {text}" for text in kept))


def _entry(entity: KnownEntity, texts: list[str], knowers: tuple[str, ...] | None) -> dict[str, Any]:
    mark = "\x1e".join((entity.name, *entity.keys, "\x1f", *(knowers or ())))
    number = int.from_bytes(hashlib.blake2b(mark.encode("utf-8"), digest_size=4).digest())
    uid = _FIRST_UID + number % 1_000_000_000
    whose = f" ({', '.join(knowers)})" if knowers is not None else ""
    entry: dict[str, Any] = {
        "uid": uid,
        "key": entity.keys or [entity.name],
        "keysecondary": [],
        "comment": f"{entity.name}{whose}",
        "content": "\n".join(texts),
        "constant": entity.category == "QST",
        "selective": True,
        "selectiveLogic": 0,
        "order": 100,
        "position": 4,
        "depth": 4,
        "role": 0,
        "disable": False,
        "probability": 100,
        "useProbability": True,
        "excludeRecursion": True,
        "preventRecursion": True,
        "extensions": {OWN: {"entity": entity.uid if knowers is None else None, "category": entity.category}},
    }
    if knowers is not None:
        entry["characterFilter"] = {"isExclude": False, "names": list(knowers), "tags": []}
    return entry


def _book(entries: list[dict[str, Any]]) -> dict[str, Any]:
    taken: dict[str, dict[str, Any]] = {}
    for entry in entries:
        while str(entry["uid"]) in taken:
            entry["uid"] += 1
        taken[str(entry["uid"])] = entry
    return {"entries": taken, "extensions": {OWN: {"version": 1}}}


def merge_books(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a book with our new entries in place of our old ones; entries of others stay."""
    kept = old.get("entries")
    values: Iterable[Any] = kept.values() if isinstance(kept, dict) else kept or ()
    foreign = [value for value in values if isinstance(value, dict) and not _is_own(value)]
    entries = {str(value.get("uid", number)): value for number, value in enumerate(foreign)}
    return {**old, **new, "entries": {**entries, **new["entries"]}}


def _is_own(entry: Mapping[str, Any]) -> bool:
    extensions = entry.get("extensions")
    return isinstance(extensions, dict) and OWN in extensions


def write_world_info(book: LoreBook) -> dict[str, Any]:
    """Return a neutral book as world info. An entry that was one comes back as it was."""
    is_own_kind = "entries_are" in book.fields
    fields = {key: value for key, value in book.fields.items() if key != "entries_are" and is_own_kind}
    fields.setdefault("name", book.title)
    entries = [_as_world_info(entry, number) for number, entry in enumerate(book.entries)]
    if book.fields.get("entries_are") == "list":
        return {**fields, "entries": entries}
    return {**fields, "entries": {str(entry.get("uid", n)): entry for n, entry in enumerate(entries)}}


def _as_world_info(entry: LoreEntry, number: int) -> dict[str, Any]:
    if "content" in entry.fields and not isinstance(entry.fields.get("key", []), str):
        return dict(entry.fields)
    made: dict[str, Any] = {
        "uid": number,
        "key": list(entry.keys),
        "keysecondary": list(entry.secondary_keys),
        "comment": entry.title,
        "content": entry.text,
        "constant": entry.always,
        "selective": True,
        "order": entry.order,
        "position": 0,
        "disable": not entry.enabled,
    }
    if entry.only_for or entry.not_for:
        names = list(entry.only_for or entry.not_for)
        made["characterFilter"] = {"isExclude": bool(entry.not_for), "names": names, "tags": []}
    return made
