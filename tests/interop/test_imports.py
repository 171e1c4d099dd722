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


def test_notes_of_sessions_are_sessions_in_the_order_of_play(campaign: Campaign, tmp_path: Path) -> None:
    """What is planned, the index and the people are lore; secrets of a session are the DM's."""
    folder = tmp_path / "Vault" / "02-Sessions"
    folder.mkdir(parents=True)
    notes = {
        "Session 10 - The Mill.md": "---\ndate: 2025-08-01\nparticipants:\n  - Ann (as Zara, Hal)\n---\n"
        "## Recap\nThe mill burned.\n\n> [!secret]\n> Elena lit the fire.\n\n"
        "### The miller\n- Hair: red\n- Limps\n",
        "Session 2.md": "---\ntags: [session]\nparticipants: '[[Zara]], [[Throk|the orc]]'\n---\n"
        "The party met [[Elena]].\n\n- She sold a map.\n- Throk paid.\n",
        "Session 11 prep.md": "---\ntags: [session]\n---\nThe duke will die.\n",
        "Sessions.md": "An index of all sessions of ours.\n",
        "S03E02 The Bell.md": "The bell rang.\n\n![[bell.png]]\n",
    }
    for name, text in notes.items():
        (folder / name).write_text(text, encoding="utf-8")
    previews = preview_files([tmp_path / "Vault"])
    assert {Path(one.file).name: len(one.chats) for one in previews} == {
        "Session 10 - The Mill.md": 1,
        "Session 2.md": 1,
        "Session 11 prep.md": 0,
        "Sessions.md": 0,
        "S03E02 The Bell.md": 1,
    }
    campaign.import_files([tmp_path / "Vault"])
    played = [event for event in campaign.events(viewer="Zara") if event.session_id != "lore"]
    assert [event.session_id for event in played] == [*["Session 2"] * 3, *["Session 10 - The Mill"] * 2]
    assert played[-1].content == "The miller:\nHair: red\nLimps"
    assert [event.content for event in played[1:3]] == ["She sold a map.", "Throk paid."]
    assert "The mill burned." not in heard(campaign, "Throk")
    assert "The mill burned." in heard(campaign, "Hal")
    assert not any("lit the fire" in text for text in heard(campaign, "Zara"))
    assert any("lit the fire" in text for text in heard(campaign, "dm"))
    assert "mill" in campaign.recap("Zara").text
    before = heard(campaign, "dm")
    campaign.import_files([tmp_path / "Vault"])
    assert heard(campaign, "dm") == before


def test_the_party_knows_notes_of_sessions_if_a_person_says_so(tmp_path: Path) -> None:
    campaign = memory_campaign()
    campaign.say("Zara", "I am here.", role="pc")
    [note] = put(tmp_path, **{"Session 3__md": b"---\ntype: session\n---\nThe bell rang twice.\n"})
    campaign.import_files([note], ImportOptions(known_to=("party",)))
    assert "The bell rang twice." in heard(campaign, "Zara")


def test_the_book_of_a_card_and_the_same_file_are_one_book(campaign: Campaign, tmp_path: Path) -> None:
    """The same note is there once, for everybody whom either of them tells; whichever comes first."""
    entry = {"keys": ["Mill"], "content": "The Mill hides a well.", "name": "Mill", "enabled": True}
    card = {"spec": "chara_card_v2", "spec_version": "2.0"}
    card["data"] = {"name": "Elena", "character_book": {"name": "Lands", "entries": [entry]}}  # type: ignore[assignment]
    world = {
        "name": "Lands",
        "entries": {"0": {"key": ["Mill"], "comment": "Mill", "content": entry["content"]}},
    }
    files = put(tmp_path, a__json=json.dumps(world).encode(), b__json=json.dumps(card).encode())
    for paths in (files, files[::-1], files):
        for path in paths:
            campaign.import_files([path])
        hidden = campaign.gates("dm").forgotten
        live = [
            event
            for event in campaign.events(viewer="dm")
            if event.content == "The Mill hides a well." and event.event_id not in hidden
        ]
        assert len(live) == 1
        assert "The Mill hides a well." in heard(campaign, "Elena")


@pytest.mark.parametrize(
    "bot", ["Avrae", "RPBot", "Dice Maiden", "Sidekick", "Avrae#6944", "Tupperbox", "d20 bot"]
)
def test_a_bot_that_rolls_dice_is_nobody(tmp_path: Path, bot: str) -> None:
    """What it tells is so, but it leads no game, and a person who has its name is a person."""
    messages = [
        {"type": "Default", "content": "I sneak.", "author": {"name": "zara", "nickname": "Zara"}},
        {"type": "Default", "content": "Stealth: 17", "author": {"name": bot, "isBot": True}},
        {"type": "Default", "content": "Me too.", "author": {"name": "Rolf", "isBot": True}},
    ]
    [path] = put(tmp_path, c__json=json.dumps({"channel": {"name": "c"}, "messages": messages}).encode())
    [preview] = preview_files([path])
    assert preview.chats[0].dms == ()
    campaign = memory_campaign()
    campaign.import_files([path])
    assert {entity.name for entity in campaign.entities(viewer="dm") if entity.category == "PC"} == {
        "Zara",
        "Rolf",
    }
