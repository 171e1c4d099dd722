"""Files in the forms that people really have are read as their owners would read them."""

import json
from pathlib import Path

import pytest
from tests.interop.readers import rare_files, variants

from dndbots.errors import UnreadableFile
from dndbots.ids import DM
from dndbots.interop.formats.categories import category_named, guess_category
from dndbots.interop.formats.dates import parse_date
from dndbots.interop.formats.neutral import ImportOptions, LoreEntry, ReadFile
from dndbots.interop.imports import BookPreview, preview_files
from dndbots.interop.recognition import read_path
from dndbots.testing import memory_campaign

CHATS = variants.CHATS | rare_files.CHATS
BOOKS = variants.BOOKS | rare_files.BOOKS
CARDS = variants.CARDS | rare_files.CARDS
REFUSED = variants.REFUSED | rare_files.REFUSED


def read(folder: Path, name: str, content: bytes) -> ReadFile:
    (folder / name).write_bytes(content)
    return read_path(folder / name, ImportOptions())


@pytest.mark.parametrize("name", CHATS)
def test_chats(tmp_path: Path, name: str) -> None:
    """Everybody says what they said, and is who they are; nothing is left over."""
    content, expected = CHATS[name]
    found = read(tmp_path, name, content)
    [chat] = found.chats
    assert [(one.speaker, one.role, one.text) for one in chat.messages] == expected
    assert not found.problems


@pytest.mark.parametrize("name", BOOKS)
def test_books(tmp_path: Path, name: str) -> None:
    """Each entry has its title, and is about what it is about."""
    content, expected = BOOKS[name]
    [book] = read(tmp_path, name, content).books
    assert [(one.title, guess_category(one, book.title)) for one in book.entries] == expected


@pytest.mark.parametrize("name", CARDS)
def test_cards(tmp_path: Path, name: str) -> None:
    """A card is found wherever a program put it."""
    [card] = read(tmp_path, name, CARDS[name]).cards
    assert card.name == "Seraphina"


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_says_why(tmp_path: Path, name: str) -> None:
    """A file that is cut off, absurd or empty is refused with its reason."""
    content, reason = REFUSED[name]
    with pytest.raises(UnreadableFile, match=reason):
        read(tmp_path, name, content)


def test_a_program_that_rolls_dice_is_nobody(tmp_path: Path) -> None:
    """What it tells is so for all, and neither the DM nor a character gets its name."""
    path = tmp_path / "discord.json"
    path.write_bytes(CHATS["discord.json"][0].replace(b"Dungeon Master", b"Member"))
    [preview] = preview_files([path])
    assert preview.chats[0].dms == ()
    campaign = memory_campaign()
    campaign.import_files([path], ImportOptions(dm=("Matt",)))
    told = campaign.context("Zara", budget=1_000).text
    assert "Zara rolls!" in told
    assert not [name for name in ("Avrae", "Dice") if name in told]
    named = [name for event in campaign.events(viewer=DM) for name in event.metadata.get("names", {}).items()]
    assert ("dm", "Matt") in named
    assert not [name for name in named if name[1] in ("Avrae", "Dice")]


def test_a_clock_of_24_hours_puts_the_day_first() -> None:
    forms = (
        "10/01/2026, 19:04:11",
        "1/10/2026, 7:04:11 PM",
        "2026-01-10, 7:04:11 p.m.",
        "10.01.2026, 19:04:11",
    )
    assert {str(parse_date(form)) for form in forms} == {"2026-01-10 19:04:11+00:00"}


def test_times_of_messengers_split_sessions(tmp_path: Path) -> None:
    """A pause of two days begins a session, in the forms of date that messengers write."""
    [chat] = read(tmp_path, "whatsapp.txt", CHATS["whatsapp.txt"][0]).chats
    assert [one.session for one in chat.messages] == ["whatsapp", "whatsapp", "whatsapp 2026-01-12"]


def test_whispers_in_a_copied_chat_stay_whispers(tmp_path: Path) -> None:
    """`(From Throk):` was for the one who copied it, `(To Zara):` for Zara; nobody else perceives them."""
    text = "Matt (GM): A gate.\nZara: I open it.\n(From Throk): I stole it.\n(To Zara): You are cursed.\n"
    text += "Mira: Oh.\nMatt (GM): It creaks.\n"
    (tmp_path / "copied.txt").write_text(text)
    campaign = memory_campaign()
    campaign.import_files([tmp_path / "copied.txt"])

    def seen(viewer: str) -> str:
        return " ".join(event.content for event in campaign.events(viewer=viewer))

    assert "I stole it." in seen("Throk")
    assert "I stole it." in seen(DM)
    assert "I stole it." not in seen("Zara") + seen("Mira")
    assert "You are cursed." in seen("Zara")
    assert "You are cursed." not in seen("Throk") + seen("Mira")


def test_all_is_nobody(tmp_path: Path) -> None:
    """`ALL` in a script is everybody who speaks in it, not a character of that name."""
    (tmp_path / "script.txt").write_text(
        "DM: A gate.\nMATT: Old.\nLAURA: I open it.\nALL: Aah!\nDM: It creaks.\n"
    )
    campaign = memory_campaign()
    campaign.import_files([tmp_path / "script.txt"])
    with campaign.view(DM) as view:
        assert sorted(view.party()) == ["pc_laura_001", "pc_matt_001"]
    assert "Aah!" in [event.content for event in campaign.events(viewer="LAURA")]


@pytest.mark.parametrize(
    ("title", "text", "category"),
    [
        ("Elena", "Elena runs the mill and hates rats.", "NPC"),
        ("Elena", "She limps.", "NPC"),
        ("Lady Ashgrove", "Rich.", "NPC"),
        ("Tom Hill", "He brews ale.", "NPC"),
        ("Old Mill", "Empty.", "LOC"),
        ("Castle Dren", "Grim.", "LOC"),
        ("Solheart", "A magnificent city of crystal spires.", "LOC"),
        ("Marrowby", "Population: 300\nA quiet place.", "LOC"),
        ("The Lanterns", "The Lanterns are a secret order of mages.", "FAC"),
        ("Thieves' Guild", "They steal.", "FAC"),
        ("House Varn", "Old blood.", "FAC"),
        ("Ring of Ash", "It burns.", "ITEM"),
        ("dragon", "Dragons exist.", "MON"),
        ("Vyrn", "Armor Class: 18\nHit Points: 200", "MON"),
        ("Vyrn", "Age: 30\nGender: female\nHit Points: 20", "NPC"),
        ("Quest of the Owl", "Find it.", "QST"),
        ("wizard", "Wizards are real.", "EVT"),
        ("Blinded", "A blinded creature cannot see.", "EVT"),
        ("warp drive", "The warp drive allows travel.", "EVT"),
        ("Factions", "Many.", "EVT"),
        ("Zara AI Art Prompts", "- Age: 30\n- Hair: red", "EVT"),
        ("Pre-Eclipse Era", "The sun ruled.", "EVT"),
        ("Umbra", "The Umbra swallows light.", "EVT"),
    ],
)
def test_categories_by_words(title: str, text: str, category: str) -> None:
    """Words that speak for a category give it; nothing makes an entry a person by default."""
    assert guess_category(LoreEntry(title, text)) == category


def test_categories_that_are_told() -> None:
    """A type, a tag, a folder or the name of a book tells a category in its own words."""
    assert [category_named(word) for word in ("Locations", "NPCs", "cities", "Magic Items", "odd", "")] == [
        "LOC", "NPC", "LOC", "ITEM", None, None,
    ]  # fmt: skip
    assert guess_category(LoreEntry("Umbra", "Dark.", fields={"type": "location"})) == "LOC"
    assert guess_category(LoreEntry("Umbra", "Dark.", fields={"tags": ["x", "faction"]})) == "FAC"
    assert (
        guess_category(LoreEntry("Frightened", "A frightened creature runs."), "5e-SRD-Conditions") == "EVT"
    )
    assert guess_category(LoreEntry("Umbra", "Dark."), "My monsters") == "MON"


def test_kinds_are_counted_in_words() -> None:
    """One note is about a person, two are about people."""
    assert BookPreview("x", 4, categories={"people": 1, "places": 2, "other lore": 1}).kinds == (
        "1 person, 2 places, 1 other lore"
    )


def test_a_stat_block_is_the_content_of_its_note(tmp_path: Path) -> None:
    """A note that is only a stat block keeps what the block says; other code is no text."""
    content = BOOKS["chimera.md"][0] + b"```dataview\nLIST\n```\n"
    [book] = read(tmp_path, "chimera.md", content).books
    assert book.entries[0].text == "Chimera: ac: 24; actions: Bite: desc: 25"


def test_a_recording_without_names_makes_no_character(tmp_path: Path) -> None:
    """A voice that nobody named is no player's character, and the preview asks who it is."""
    found = read(tmp_path, "talk.srt", b"1\n00:00:01,000 --> 00:00:02,000\nTwo trails.\n")
    assert [one.role for one in found.chats[0].messages] == ["npc"]
    assert "--speaker Speaker=NAME:ROLE" in found.remarks[0]


def test_a_page_of_links_alone_is_no_note(tmp_path: Path) -> None:
    """A journal page that only shows another document has no text of its own."""
    page = {"name": "Turn", "type": "text", "text": {"content": "<p>@Embed[Compendium.x]</p>"}}
    told = {"name": "Mill", "type": "text", "text": {"content": "<p>It stands.</p>"}}
    journal = {"_id": "j", "name": "Combat", "flags": {}, "pages": [page, told]}
    [book] = read(tmp_path, "journal.json", json.dumps(journal).encode()).books
    assert [one.text for one in book.entries] == ["Combat: Mill\nIt stands."]
