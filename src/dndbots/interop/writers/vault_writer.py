"""Obsidian vaults: a note for each entity and session, with links, for the DM or for one player.

dndbots writes only between its two marker lines, so people's own text in a note stays. The same campaign
gives the same bytes. The front matter has keys that DeepLore reads, too.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from dndbots.ids import DM, is_hidden
from dndbots.interop.formats.front_matter import split_note
from dndbots.interop.readers.vaults import BEGIN, END
from dndbots.interop.writers.knowledge import (
    CampaignViews,
    CitedSentence,
    KnownEntity,
    ViewerKnowledge,
    sessions_of,
)
from dndbots.storage.files import make_folder, open_replacement, refuse_links
from dndbots.text.clean import one_line

_FOLDERS: Final = {
    "PC": "Characters", "NPC": "People", "MON": "Monsters", "LOC": "Places", "FAC": "Groups",
    "ITEM": "Things", "QST": "Quests", "EVT": "Lore",
}  # fmt: skip
_UNSAFE: Final = re.compile(r"[\\/:*?\"<>|#^\[\]%{}]+")
_LONGEST_TITLE: Final = 80
_RESERVED: Final = frozenset(("con", "prn", "aux", "nul", *(f"com{n}" for n in range(10))))
_WORD: Final = re.compile(r"\w")


class VaultNote(NamedTuple):
    """A note of a vault: its path, its front matter, and the text between the markers."""

    path: str
    front_matter: Mapping[str, object]
    body: str


class WrittenVault(NamedTuple):
    """The result of writing a vault: how many notes there are, and the files that changed."""

    notes: int
    changed: list[str]


def vault_notes(campaign: CampaignViews, viewer: str = DM) -> list[VaultNote]:
    """Return the notes of a vault, as one viewer knows the campaign."""
    knowledge = ViewerKnowledge(campaign, viewer)
    entities = knowledge.entities()
    titles = _Titles(entities)
    notes = [_entity_note(entity, knowledge, titles) for entity in entities]
    sessions = sessions_of(knowledge.played())
    session_titles = {session: titles.free(session) for session in sessions}
    notes += [_session_note(session, session_titles[session], knowledge, titles) for session in sessions]
    notes.append(_index(knowledge, entities, titles, list(session_titles.values())))
    return notes


def write_vault(folder: Path, notes: Iterable[VaultNote]) -> WrittenVault:
    """Write notes into a folder. Text outside of the markers, and front matter, stay as people left them."""
    changed, count = [], 0
    for note in notes:
        count += 1
        path = folder / note.path
        refuse_links(path, below=folder)
        make_folder(path.parent)
        old = path.read_text("utf-8") if path.is_file() else None
        new = merged_note(old, note)
        if new != old:
            with open_replacement(path) as file:
                file.write(new)
            changed.append(note.path)
    return WrittenVault(count, changed)


def merged_note(old: str | None, note: VaultNote) -> str:
    """Return the text of a note: ours between the markers, that of people around it."""
    block = f"{BEGIN}\n{note.body.rstrip()}\n{END}"
    if old is None:
        return f"---\n{_front_matter(note.front_matter)}---\n\n{block}\n"
    start, end = old.find(BEGIN), old.find(END)
    if 0 <= start < end:
        return old[:start] + block + old[end + len(END) :]
    fields, _ = split_note(old)
    head = "" if fields else f"---\n{_front_matter(note.front_matter)}---\n\n"
    return f"{head}{old.rstrip()}\n\n{block}\n"


def _front_matter(fields: Mapping[str, object]) -> str:
    """Return front matter as YAML: every value as JSON, which YAML reads as well."""
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())


class _Titles:
    """File names for entities: readable, safe on every disk, and no two alike."""

    def __init__(self, entities: Iterable[KnownEntity]) -> None:
        self._taken: set[str] = {"index"}
        self.of = {entity.uid: self.free(entity.name, entity.uid) for entity in entities}
        names = {
            name: title for entity in entities for name in entity.keys for title in [self.of[entity.uid]]
        }
        self._links = {name: title for name, title in names.items() if len(name) > 2}
        longest_first = sorted(map(re.escape, self._links), key=len, reverse=True)
        self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)") if longest_first else None

    def free(self, name: str, uid: str = "") -> str:
        """Return a title that no other note has."""
        safe = "".join(" " if is_hidden(char) else char for char in _UNSAFE.sub(" ", name))
        title = " ".join(safe.split())[:_LONGEST_TITLE].strip(" .")
        if not _WORD.search(title) or title.casefold() in _RESERVED:
            title = f"Note {uid or len(self._taken)}"
        found, number = title, 2
        while found.casefold() in self._taken:
            found, number = f"{title} {number}", number + 1
        self._taken.add(found.casefold())
        return found

    def linked(self, text: str, own: str = "") -> str:
        """Return a sentence with links to the notes of everybody whom it names; `own` gets none."""
        plain = text.replace("[[", "[ [").replace("%%", "% %")
        if self._pattern is None:
            return plain

        def link(found: re.Match[str]) -> str:
            name, title = found[0], self._links[found[0]]
            if title == own:
                return name
            return f"[[{title}]]" if title == name else f"[[{title}|{name}]]"

        return self._pattern.sub(link, plain)


def _entity_note(entity: KnownEntity, knowledge: ViewerKnowledge, titles: _Titles) -> VaultNote:
    title = titles.of[entity.uid]
    folder = _FOLDERS.get(entity.category, "Lore")
    fields: dict[str, object] = {
        "tags": [f"dndbots/{entity.category.lower()}", "lorebook"],
        "aliases": [name for name in entity.keys if name != title],
        "keys": entity.keys,
        "summary": entity.lines[0].text,
        "dndbots": {"uid": entity.uid, "viewer": knowledge.viewer},
    }
    parts = [f"# {one_line(entity.name)}"]
    if entity.facts:
        parts += ["", "## Known", *_bullets(entity.facts, titles, title)]
    if entity.story:
        parts += ["", "## Story", *_bullets(entity.story, titles, title)]
    return VaultNote(f"{folder}/{title}.md", fields, "\n".join(parts))


def _bullets(lines: Iterable[CitedSentence], titles: _Titles, own: str) -> Iterator[str]:
    for line in lines:
        sources = " ".join(source.replace("%", "") for source in line.sources)
        yield f"- {titles.linked(line.text, own)}" + (f" %%{sources}%%" if sources else "")


def _session_note(session: str, title: str, knowledge: ViewerKnowledge, titles: _Titles) -> VaultNote:
    fields: dict[str, object] = {
        "tags": ["dndbots/session"],
        "dndbots": {"session": session, "viewer": knowledge.viewer},
    }
    return VaultNote(f"Sessions/{title}.md", fields, session_notes(knowledge, session, titles.linked))


def _index(
    knowledge: ViewerKnowledge, entities: list[KnownEntity], titles: _Titles, sessions: list[str]
) -> VaultNote:
    whose = "the DM" if knowledge.viewer == DM else knowledge.names.get(knowledge.viewer, knowledge.viewer)
    parts = [f"# What {one_line(whose)} knows", "", "## Sessions", *(f"- [[{title}]]" for title in sessions)]
    for category, folder in _FOLDERS.items():
        listed = [f"- [[{titles.of[one.uid]}]]" for one in entities if one.category == category]
        parts += ["", f"## {folder}", *listed] if listed else []
    threads = [f"- {titles.linked(one_line(thread.text))} ({thread.kind})" for thread in knowledge.threads()]
    parts += ["", "## Open threads", *threads] if threads else []
    fields: dict[str, object] = {"tags": ["dndbots"], "dndbots": {"viewer": knowledge.viewer}}
    return VaultNote("Index.md", fields, "\n".join(parts))


def session_notes(knowledge: ViewerKnowledge, session: str, linked: Callable[[str], str] = str) -> str:
    """Return a session as Markdown: the recap, and every line of play with its event id."""
    recap = knowledge.recap(session)
    parts = [f"# {one_line(recap.title or session)}", "", "## Recap", ""]
    parts += [linked(one_line(line)) for line in recap.text.splitlines()[1:] if line.strip()]
    parts += ["", "## Play", ""]
    for event in knowledge.played():
        if event.session_id == session:
            hearers = knowledge.hearers(event)
            to = f" (whispers to {one_line(' and '.join(hearers))})" if hearers else ""
            name = "DM" if event.source == DM else one_line(knowledge.speaker(event))
            who = "" if event.source == DM and not to else f"**{name}**{to}: "
            identity = event.event_id.replace("%", "")
            parts.append(f"- {who}{linked(one_line(event.content))} %%{identity}%%")
    return "\n".join(parts)
