"""Files become notes, people and play; a preview tells it before; importing again follows what changed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.interop.readers.samples import (
    CARD_V2,
    FILES,
    ST_HEADER,
    ST_LINES,
    WORLD_INFO,
    json_lines,
    picture,
)

from dndbots.campaign import Campaign
from dndbots.errors import UnreadableFile
from dndbots.interop.formats.neutral import ImportOptions
from dndbots.interop.formats.png_text import with_texts
from dndbots.interop.imports import preview_files
from dndbots.testing import as_text, assert_perspective, memory_campaign, perceivers


@pytest.fixture(params=["memory", "sqlite"])
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Campaign]:
    if request.param == "memory":
        yield memory_campaign()
    else:
        with Campaign.open(tmp_path / "campaign") as made:
            yield made


def put(folder: Path, **files: bytes) -> list[Path]:
    made = []
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(content)
        made.append(path)
    return made


def heard(campaign: Campaign, viewer: str) -> list[str]:
    return [event.content for event in campaign.events(viewer=viewer)]


def memory_of(campaign: Campaign) -> dict[str, str]:
    return {
        viewer: as_text(
            [
                campaign.context(viewer, 1_000),
                campaign.timeline(viewer=viewer, last=100),
                campaign.entities(viewer=viewer),
            ]
        )
        for viewer in perceivers(campaign)
    }


def test_lore_is_the_dms_unless_the_book_or_a_person_says_otherwise(
    campaign: Campaign, tmp_path: Path
) -> None:
    """A note is about an entity; `characterFilter` and `--known-to` name who knows it; nothing is pinned."""
    paths = put(tmp_path, world__json=json.dumps(WORLD_INFO).encode())
    [result] = campaign.import_files(paths)
    assert result.books == (("Marrowby", (2, 0, 0)),)
    assert heard(campaign, "dm") == ["Elena limps.", "Old Mill: The mill is empty."]
    assert heard(campaign, "Throk") == ["Elena limps."]
    assert campaign.entity("Elena", viewer="Throk").uid == "npc_elena_001"
    assert campaign.entity("Old Mill", viewer="dm").category == "LOC"
    assert campaign.gates("dm").pinned == ()
    assert "Elena limps." in campaign.context("Throk", query="Who is Elena?").text
    assert_perspective(campaign, lambda table, viewer: [*table.export(viewer=viewer)])
    other = memory_campaign()
    other.import_files(paths, ImportOptions(known_to=("Zara",)))
    assert heard(other, "Zara") == ["Old Mill: The mill is empty."]


def test_an_edited_book_replaces_its_notes(campaign: Campaign, tmp_path: Path) -> None:
    """A note that changed or went is forgotten; one that comes back is remembered again."""
    [path] = put(tmp_path, world__json=json.dumps(WORLD_INFO).encode())
    campaign.import_files([path])
    assert campaign.import_files([path])[0].books == (("Marrowby", (0, 2, 0)),)
    edited: dict[str, Any] = json.loads(path.read_text())
    edited["entries"]["0"]["content"] = "Elena walks again."
    original = path.read_text()
    path.write_text(json.dumps(edited))
    assert campaign.import_files([path])[0].books == (("Marrowby", (1, 1, 1)),)
    assert "limps" not in campaign.context("Throk", query="Elena").text
    assert "walks again" in campaign.context("Throk", query="Elena").text
    path.write_text(original)
    assert campaign.import_files([path])[0].books == (("Marrowby", (1, 1, 1)),)
    assert "limps" in campaign.context("Throk", query="Elena").text
    assert "walks again" not in campaign.context("Throk", query="Elena").text


def test_a_card_is_a_person_whose_persona_is_no_memory(campaign: Campaign, tmp_path: Path) -> None:
    paths = put(tmp_path, card__json=json.dumps(CARD_V2).encode())
    [result] = campaign.import_files(paths, ImportOptions(persona="Zara"))
    assert result.cards == ("npc_seraphina_001",)
    assert campaign.persona("Seraphina") == "Seraphina guards the glade. She fears Zara.\n\nPersonality: calm"
    assert campaign.recall("Seraphina", "Whom does she fear?").no_record
    assert "The glade is warded." in heard(campaign, "Seraphina")[-1]
    head = campaign.head
    campaign.import_files(paths, ImportOptions(persona="Zara"))
    assert campaign.head == head
    narrator = {**CARD_V2, "data": {**CARD_V2["data"], "name": "Game Master"}}  # type: ignore[dict-item]
    campaign.import_files(put(tmp_path, gm__json=json.dumps(narrator).encode()))
    assert campaign.persona("dm").startswith("Game Master guards")


def test_branches_of_a_chat_become_forks(campaign: Campaign, tmp_path: Path) -> None:
    """Also if they are named first; each is followed on its own when it changes."""
    parent = [ST_HEADER, *ST_LINES]
    header = {**ST_HEADER, "chat_metadata": {"main_chat": "chat"}}
    reply = {"name": "Zara", "is_user": True, "send_date": "2025-01-10T13:02:00Z", "mes": "I run away."}
    branch = [header, *ST_LINES[:2], reply]
    paths = put(tmp_path, a_branch__jsonl=json_lines(*branch), chat__jsonl=json_lines(*parent))
    campaign.import_files(paths)
    assert heard(campaign, "Zara") == ["Hello Zara.", "I open the gate.", "It creaks.", "Morning."]
    with campaign.another_branch("a_branch") as fork:
        assert heard(fork, "Zara") == ["Hello Zara.", "I open the gate.", "I run away."]
    put(tmp_path, a_branch__jsonl=json_lines(*branch, {**reply, "mes": "And hide."}))
    campaign.import_files(paths)
    with campaign.another_branch("a_branch") as fork:
        assert heard(fork, "Zara")[2:] == ["I run away.", "And hide."]
    assert heard(campaign, "Zara")[2:] == ["It creaks.", "Morning."]
    assert campaign.verify() == []


def test_an_edited_chat_is_remembered_as_it_is_now(campaign: Campaign, tmp_path: Path) -> None:
    [path] = put(tmp_path, chat__jsonl=json_lines(ST_HEADER, *ST_LINES))
    campaign.import_files([path])
    lines = [dict(line) for line in ST_LINES]
    lines[1]["mes"] = "I climb the wall."
    swiped = {**lines[2], "mes": "A kraken!", "swipe_id": 0}
    path.write_bytes(json_lines(ST_HEADER, lines[0], lines[1], swiped, *lines[3:]))
    [result] = campaign.import_files([path])
    assert result.chats[0][1].change == "edited"
    fresh = memory_campaign()
    fresh.import_files([path])
    assert memory_of(campaign) == memory_of(fresh)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_preview_tells_what_an_import_does(tmp_path: Path, name: str) -> None:
    """The same messages, notes and people; a second import changes nothing; and perspective holds."""
    path = tmp_path / name
    path.write_bytes(FILES[name])
    [preview] = preview_files([path])
    campaign = memory_campaign()
    [result] = campaign.import_files([path])
    assert preview.refused is None
    assert [chat.messages for chat in preview.chats] == [followed.added for _, followed in result.chats]
    books = [*preview.books, *(card.book for card in preview.cards if card.book)]
    assert [book.notes for book in books] == [imported.added for _, imported in result.books]
    head = campaign.head
    campaign.import_files([path])
    assert campaign.head == head
    assert campaign.verify() == []
    assert_perspective(
        campaign, lambda table, viewer: [*table.export(viewer=viewer), table.context(viewer, 500)]
    )


def test_nothing_is_written_if_a_file_cannot_be_read(campaign: Campaign, tmp_path: Path) -> None:
    paths = put(tmp_path, chat__jsonl=FILES["chat.jsonl"], bad__json=b"{}")
    with pytest.raises(UnreadableFile):
        campaign.import_files(paths)
    assert campaign.head == 0
    good, bad = preview_files(paths)
    assert (good.refused, bad.refused is None) == (None, False)


def test_the_folder_of_a_tavern_comes_in_as_a_whole(tmp_path: Path) -> None:
    """Chats, cards and books come in once. Copies and settings stay out. A second time changes nothing."""
    home = tmp_path / "default-user"
    lines = (FILES["chat.jsonl"], "chats/Narrator/first.jsonl"), (FILES["chat.jsonl"], "backups/copy.jsonl")
    group = {"id": "1", "members": ["default_Mira.png"], "chats": ["evening"]}
    book = {"entries": {"0": {"key": ["Elena"], "comment": "Elena", "content": "Elena is the smith."}}}
    card = {"name": "Mira", "first_mes": "Hi.", "character_book": {"name": "Ash", **book}}
    evening = [{"name": "Zara", "is_user": True, "mes": "Good evening."}]
    for content, name in (
        *lines,
        (json_lines(*evening), "group chats/evening.jsonl"),
        (json.dumps(group).encode(), "groups/1.json"),
        (picture(card), "characters/default_Mira.png"),
        (with_texts(None, {}), "characters/Mira/joy.png"),
        (json.dumps(book).encode(), "worlds/Ash.json"),
        (b'{"temperature": 1}', "OpenAI Settings/Default.json"),
        (b"{}", "settings.json"),
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(content)
    campaign = memory_campaign()
    campaign.import_files([tmp_path])
    head = campaign.head
    told = [event.content for event in campaign.events(viewer="dm")]
    assert told.count("I open the gate.") == 1
    assert [event.content for event in campaign.events(viewer="Mira")][-1] == "Good evening."
    assert "Elena is the smith." in [event.content for event in campaign.events(viewer="Mira")]
    campaign.import_files([tmp_path])
    assert campaign.head == head
    previews = preview_files([tmp_path])
    assert [Path(one.file).name for one in previews if one.is_left_out] == ["joy.png"]
    assert not preview_files([home / "settings.json"])[0].is_left_out


def test_notes_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    for folder, text in (("People", "Ash is a smith."), ("Places", "Ash is a town.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "Ash.md").write_text(text)
    campaign = memory_campaign()
    for _ in range(2):
        campaign.import_files([tmp_path])
        told = {event.content for event in campaign.events(viewer="dm")}
        assert told == {"Ash is a smith.", "Ash is a town."}
