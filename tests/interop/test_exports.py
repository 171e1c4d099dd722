"""The law holds for the bytes of every export; what is written can be read again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.worlds import LISTENERS, SECRETS, VIEWERS, Secret, build
from tests.interop.readers.samples import CARD_V2, FILES, picture
from tests.logs import logs, played

from dndbots.campaign import Campaign
from dndbots.events import GameEvent
from dndbots.interop.formats.neutral import ImportOptions
from dndbots.interop.imports import preview_files
from dndbots.interop.readers.cards import read_picture
from dndbots.interop.recognition import read_path
from dndbots.interop.writers.card_writer import card_of, card_picture, write_card
from dndbots.interop.writers.chat_writer import chat_lines, write_chat
from dndbots.interop.writers.knowledge import ViewerKnowledge, sessions_of
from dndbots.interop.writers.lore_writer import characters_of, merge_books, world_info_of, write_world_info
from dndbots.interop.writers.vault_writer import merged_note, session_notes, vault_notes, write_vault
from dndbots.testing import assert_perspective, memory_campaign


def all_notes(campaign: Campaign, viewer: str) -> list[str]:
    knowledge = ViewerKnowledge(campaign, viewer)
    return [session_notes(knowledge, session) for session in sessions_of(knowledge.played())]


EXPORTS: dict[str, Callable[[Campaign, str], Any]] = {
    "lorebook": lambda campaign, viewer: json.dumps(world_info_of(campaign, viewer)),
    "card": lambda campaign, viewer: card_picture(card_of(campaign, viewer)).hex(),
    "chat": lambda campaign, viewer: list(chat_lines(campaign, viewer)),
    "vault": lambda campaign, viewer: [merged_note(None, note) for note in vault_notes(campaign, viewer)],
    "notes": all_notes,
}


@pytest.mark.parametrize("name", sorted(EXPORTS))
@settings(max_examples=max(5, settings().max_examples // 5))
@given(log=logs())
def test_an_export_tells_only_what_its_viewer_perceived(name: str, log: list[GameEvent]) -> None:
    assert_perspective(played(memory_campaign(), log), EXPORTS[name])


@pytest.mark.parametrize("name", sorted(EXPORTS))
def test_no_secret_changes_a_byte_of_an_export(name: str) -> None:
    """Two worlds, with and without whispers, deaths, listeners and namesakes: the same files for a viewer."""
    plain = build(memory_campaign())
    other = build(memory_campaign(), [Secret(secret, 1) for secret in sorted(SECRETS)], LISTENERS)
    for viewer in VIEWERS:
        assert EXPORTS[name](plain, viewer) == EXPORTS[name](other, viewer)


def shown_to(book: dict[str, Any], name: str) -> set[str]:
    """The sentences that SillyTavern may show to one character."""
    found: set[str] = set()
    for entry in book["entries"].values():
        allowed = entry.get("characterFilter")
        if allowed is None or name in allowed["names"]:
            found |= set(entry["content"].split("\n"))
    return found


@pytest.mark.parametrize("secrets", [[], [Secret(name, 1) for name in sorted(SECRETS)]])
def test_the_dms_lorebook_shows_each_character_exactly_its_own(secrets: list[Secret]) -> None:
    """In plain SillyTavern, by `characterFilter`: all that the character knows, and nothing else."""
    campaign = build(memory_campaign(), secrets, LISTENERS)
    book = world_info_of(campaign)
    for uid, name in characters_of(campaign).items():
        assert shown_to(book, name) == shown_to(world_info_of(campaign, uid), name)


def test_writing_a_lorebook_again_replaces_our_entries_only() -> None:
    campaign = build(memory_campaign())
    first = world_info_of(campaign)
    assert merge_books(first, world_info_of(campaign)) == first
    theirs = {"uid": 3, "key": ["x"], "content": "Mine.", "mine": True}
    mixed = {"entries": {"3": theirs, **first["entries"]}, "note": 1}
    again = merge_books(mixed, first)
    assert (again["entries"]["3"], again["note"], len(again["entries"])) == (
        theirs,
        1,
        len(first["entries"]) + 1,
    )


def test_a_lorebook_comes_back_with_its_secrets(tmp_path: Path) -> None:
    """Exported for all, imported into another campaign: each character knows the same sentences."""
    campaign = memory_campaign()
    whisper = {"speaker": "Zara", "text": "Elena is a spy.", "witnesses": ["Throk"], "session": "s"}
    lines = [
        {"speaker": who, "text": f"{who} greets Elena.", "session": "s"} for who in ("Zara", "Throk", "Mira")
    ]
    campaign.import_transcript([*lines, whisper])
    campaign.introduce("NPC", "Elena", metadata={"witnesses": ["pc_zara_001", "pc_throk_001", "pc_mira_001"]})
    path = tmp_path / "world.json"
    path.write_text(json.dumps(world_info_of(campaign)))
    copy = memory_campaign()
    copy.import_files([path], ImportOptions(known_to=("Zara", "Throk", "Mira")))
    assert not copy.recall("Throk", "Who is a spy?").no_record
    assert "spy" not in "".join(event.content for event in copy.events(viewer="Mira"))


def test_a_card_comes_back_with_its_unknown_fields(tmp_path: Path) -> None:
    campaign = memory_campaign()
    path = tmp_path / "card.png"
    path.write_bytes(picture(CARD_V2))
    campaign.import_files([path])
    made = card_of(campaign, "Seraphina")
    assert made["data"]["extensions"]["chub"] == {"id": 7}
    assert made["data"]["description"] == CARD_V2["data"]["description"]  # type: ignore[index]
    card = read_picture(card_picture(made, path.read_bytes()))
    assert (card.name, card.personality) == ("Seraphina", "calm")
    assert card.book is not None
    assert [entry.text for entry in card.book.entries] == ["The glade is warded."]


@pytest.mark.parametrize(
    "name", ["chat.jsonl", "group.jsonl", "world.json", "card.json", "card.png", "v1.json"]
)
def test_what_is_read_and_written_is_read_alike(tmp_path: Path, name: str) -> None:
    """Through the neutral models, and a chat also through a campaign; unknown fields stay."""
    path = tmp_path / name
    path.write_bytes(FILES[name])
    found = read_path(path, ImportOptions())
    for chat in found.chats:
        path.write_text("\n".join(write_chat(chat)))
        assert list(read_path(path, ImportOptions()).chats[0].messages) == list(chat.messages)
        campaign = memory_campaign()
        campaign.import_files([path])
        path.write_text("\n".join(chat_lines(campaign, chat=chat.name)))
        again = list(read_path(path, ImportOptions()).chats[0].messages)
        assert [(one.text, one.speaker, one.time, one.alternatives) for one in again] == [
            (one.text, one.speaker, one.time, one.alternatives) for one in chat.messages
        ]
        assert campaign.import_files([path])[0].chats[0][1].change == "unchanged"
    for book in found.books:
        path.write_text(json.dumps(write_world_info(book)))
        [copy] = read_path(path, ImportOptions()).books
        assert (copy.title, copy.entries) == (book.title, book.entries)
    for card in found.cards:
        path.write_text(json.dumps(write_card(card)))
        [again_card] = read_path(path, ImportOptions()).cards
        assert (again_card.name, again_card.description, again_card.book) == (
            card.name,
            card.description,
            card.book,
        )


def test_a_vault_keeps_peoples_own_text(tmp_path: Path) -> None:
    """The same bytes each time; text around the markers stays; links of a name lead to its note."""
    campaign = build(memory_campaign())
    notes = vault_notes(campaign, "Zara")
    assert write_vault(tmp_path, notes).changed == [note.path for note in notes]
    assert write_vault(tmp_path, vault_notes(campaign, "Zara")).changed == []
    path = next(tmp_path.glob("*/*.md"))
    path.write_text(path.read_text() + "\nMy own idea.\n")
    assert write_vault(tmp_path, notes).changed == []
    path.write_text(path.read_text().replace("# ", "# Changed by hand: ", 1))
    assert len(write_vault(tmp_path, notes).changed) == 1
    assert "My own idea." in path.read_text()
    assert "Changed by hand" not in path.read_text()
    (tmp_path / "Index.md").write_text("Only mine.\n")
    write_vault(tmp_path, notes)
    assert (tmp_path / "Index.md").read_text().count("Only mine.") == 1
    assert "[[" in (tmp_path / "Index.md").read_text()


@given(name=st.text(min_size=1, max_size=40))
def test_no_name_breaks_out_of_a_vault(name: str) -> None:
    """Any name gives a path inside the folder, with one folder and one file."""
    campaign = memory_campaign()
    try:
        campaign.introduce("NPC", name, content=f"{name} waves.")
    except ValueError:
        return
    for note in vault_notes(campaign):
        assert len(Path(note.path).parts) <= 2
        assert not set(note.path) & set('\\:*?"<>|\n\r\x00')
        assert ".." not in Path(note.path).parts


def test_a_game_that_went_on_as_a_chat_comes_back_once(tmp_path: Path) -> None:
    """Its own lines are known, the new ones are for the whole table, and an edit of the game is told."""
    campaign = memory_campaign()
    campaign.say("Zara", "I open the gate.", at="the mill")
    campaign.say("Throk", "I stay behind you.", at="the mill")
    campaign.narrate("It creaks.", to=["Zara", "Throk"])
    path = tmp_path / "game.jsonl"
    added = [
        {"name": "Zara", "is_user": True, "send_date": "2026-01-10T10:00:00Z", "mes": "I light a torch."},
        {"name": "Narrator", "is_user": False, "send_date": "2026-01-10T10:01:00Z", "mes": "Rats flee.",
         "extra": {"type": "narrator"}},
    ]  # fmt: skip

    def bring_back(change: Callable[[str], str] = lambda text: text) -> Any:
        lines = [line for line in chat_lines(campaign) if "torch" not in line and "Rats" not in line]
        path.write_text(change("\n".join([*lines, *map(json.dumps, added)])))
        [result] = campaign.import_files([path])
        return result

    first = bring_back()
    assert [(chat.added, chat.kept) for _, chat in first.chats] == [(2, 3)]
    assert not first.notes
    told = ["I open the gate.", "I stay behind you.", "It creaks.", "I light a torch.", "Rats flee."]
    for viewer in ("Zara", "Throk"):
        assert [event.content for event in campaign.events(viewer=viewer)][-4:] == told[-4:]
    assert [chat.change for _, chat in bring_back().chats] == ["unchanged"]
    [preview] = preview_files([path], history=lambda name, people: campaign.chat(name, people=people))
    assert preview.chats[0].change is not None
    assert (preview.chats[0].change.change, preview.chats[0].change.kept) == ("unchanged", 5)

    edited = bring_back(lambda text: text.replace("I open the gate", "I burn the gate"))
    assert "another text now" in edited.notes[0]
    assert [event.content for event in campaign.events(viewer="dm")] == told
    path.write_text("\n".join(chat_lines(campaign)))
    [again] = campaign.import_files([path])
    assert [event.content for event in campaign.events(viewer="dm")] == told
    assert again.chats[0][1].change == "unchanged"


def test_a_game_as_a_chat_is_a_chat_elsewhere(tmp_path: Path) -> None:
    """In another campaign, its lines are lines of a chat like any."""
    campaign, other = memory_campaign(), memory_campaign()
    campaign.say("Zara", "I open the gate.")
    path = tmp_path / "game.jsonl"
    path.write_text("\n".join(chat_lines(campaign)))
    [result] = other.import_files([path])
    assert [(chat.added, chat.kept) for _, chat in result.chats] == [(1, 0)]
