"""Every family is recognised by its content, and read into the right people, notes and messages."""

import json
from pathlib import Path

import pytest
from tests.interop.readers.samples import CARD_V2, FILES, ST_LINES, archive, bomb_picture, json_lines, picture

from dndbots.errors import UnreadableFile
from dndbots.interop.formats.categories import guess_category
from dndbots.interop.formats.neutral import ImportOptions, ReadFile
from dndbots.interop.history.messages import ChatMessage
from dndbots.interop.readers.cards import persona_text
from dndbots.interop.readers.lorebooks import name_keys
from dndbots.interop.recognition import read_path


def read(folder: Path, name: str, content: bytes | None = None, **options: object) -> ReadFile:
    path = folder / name
    path.write_bytes(FILES[name] if content is None else content)
    return read_path(path, ImportOptions(**options))  # type: ignore[arg-type]


def spoken(found: ReadFile) -> list[tuple[str, str | None, str]]:
    [chat] = found.chats
    return [(message.speaker, message.role, message.text) for message in chat.messages]


FAMILIES = {
    "chat.jsonl": "SillyTavern chat", "group.jsonl": "SillyTavern chat",
    "world.json": "SillyTavern world info",
    "card.json": "character card", "card.png": "character card", "card3.png": "character card",
    "card.charx": "character card", "v1.json": "character card", "risu.json": "Risu lorebook",
    "risuchat.json": "RisuAI chat", "agnai.json": "Agnai memory book", "agnaichat.json": "Agnai chat",
    "nai.lorebook": "NovelAI lorebook", "kobold.json": "KoboldAI save", "koboldchat.json": "KoboldAI save",
    "cards.json": "AI Dungeon story cards", "log.txt": "plain log", "log.md": "plain log",
    "talk.srt": "SRT transcript", "talk.vtt": "WebVTT transcript", "whisper.json": "Whisper transcript",
    "whisperx.json": "whisperX transcript", "cpp.json": "whisper.cpp transcript",
    "fvtt-log.txt": "Foundry chat log", "messages.db": "Foundry messages",
    "journal.json": "Foundry documents",
    "roll20.html": "Roll20 chat archive", "discord.json": "Discord channel", "Elena.md": "Obsidian note",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_is_recognised_by_its_content(tmp_path: Path, name: str) -> None:
    """Its name does not matter, except for notes, which nothing else tells from a text."""
    renamed = name if name.endswith(".md") else f"{name}.x"
    found = read(tmp_path, renamed, FILES[name])
    assert found.family == FAMILIES[name]
    assert found.chats or found.books or found.cards
    if not name.endswith(("png", "charx")):
        assert read(tmp_path, renamed, b"\xef\xbb\xbf" + FILES[name]).family == found.family


def test_a_tavern_chat(tmp_path: Path) -> None:
    """Hidden lines are play, program noise is not; dates of all forms; a long pause begins a session."""
    [chat] = read(tmp_path, "chat.jsonl").chats
    messages = list(chat.messages)
    assert [(one.speaker, one.role, one.text) for one in messages] == [
        ("Narrator", "dm", "Hello Zara."),
        ("Zara", "pc", "I open the gate."),
        ("Narrator", "dm", "It creaks."),
        ("Narrator", "dm", "Morning."),
    ]
    assert [one.time for one in messages] == [
        "2025-01-10T13:00:00+00:00",
        "2025-01-10T13:01:00+00:00",
        "2025-01-10T13:05:00+00:00",
        "2025-01-11T09:20:05.123000+00:00",
    ]
    assert [one.session for one in messages] == ["chat"] * 3 + ["chat 2025-01-11"]
    assert [one.is_user for one in messages] == [False, True, False, False]
    assert messages[2].alternatives == ("A kraken!", "It creaks.")
    assert json.loads(messages[2].fields)["extra"]["reasoning"] == "secret"
    assert list(chat.messages) == messages


def test_names_and_roles_are_as_people_say(tmp_path: Path) -> None:
    found = read(tmp_path, "chat.jsonl", persona="Throk", dm=("Narrator",))
    assert {(name, role) for name, role, _ in spoken(found)} == {("Narrator", "dm"), ("Throk", "pc")}
    mapped = read(
        tmp_path, "whisperx.json", speakers={"SPEAKER_00": ("Matt", "dm"), "speaker_01": ("Zara", None)}
    )
    assert spoken(mapped) == [("Matt", "dm", "Left."), ("Zara", "pc", "No.")]


def test_bad_lines_of_a_chat_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    content = json_lines(ST_LINES[0]) + b"\n{broken\n[1]\n" + json_lines({"name": "x"}, ST_LINES[1])
    found = read(tmp_path, "chat.jsonl", content)
    assert [one.text for one in found.chats[0].messages] == ["Hello Zara.", "I open the gate."]
    assert [problem.place for problem in found.problems] == ["line 2", "line 3", "line 4"]


def test_the_group_beside_a_chat_names_its_listeners(tmp_path: Path) -> None:
    group = {"members": ["Mira.png", "Hob.png"], "disabled_members": ["Hob.png"], "chats": ["group"]}
    (tmp_path / "1.json").write_text(json.dumps(group))
    assert read(tmp_path, "group.jsonl").chats[0].people == {"Mira": "npc"}


def test_world_info(tmp_path: Path) -> None:
    """Who may see an entry is honoured, patterns are no names, decorators are no text, fields are kept."""
    [book] = read(tmp_path, "world.json").books
    elena, mill, off = book.entries
    assert (elena.only_for, name_keys(elena), guess_category(elena)) == (("Throk",), [], "NPC")
    assert (mill.title, mill.text, mill.always) == ("Old Mill", "The mill is empty.", True)
    assert (guess_category(mill), mill.fields["mine"], off.enabled) == ("LOC", {"kept": True}, False)


@pytest.mark.parametrize("name", ["card.json", "card.png", "card3.png", "card.charx"])
def test_a_card_in_every_container(tmp_path: Path, name: str) -> None:
    [card] = read(tmp_path, name).cards
    assert card.name == "Seraphina"
    assert persona_text(card, "Zara") == "Seraphina guards the glade. She fears Zara.\n\nPersonality: calm"
    assert card.book is not None
    assert card.book.entries[0].text == "The glade is warded."


def test_odd_cards(tmp_path: Path) -> None:
    """A picture with a ZIP behind it, base64 without padding, V3 before V2, and cards that are none."""
    behind = read(tmp_path, "card.jpg", b"\xff\xd8picture" + archive(CARD_V2))
    assert behind.cards[0].name == "Seraphina"
    other = {**CARD_V2, "data": {**CARD_V2["data"], "name": "Old"}}  # type: ignore[dict-item]
    both = picture(CARD_V2, "ccv3")
    assert read(tmp_path, "two.png", both[:-12] + picture(other)[33:]).cards[0].name == "Seraphina"
    for content, reason in (
        (bomb_picture(), "unpacks to more than"),
        (picture(CARD_V2)[:60], "longer than the picture"),
        (archive({}, "other.json"), "no card.json"),
        (archive(b"{" * 100_000), "not JSON|too deeply"),
        (b"PK\x03\x04rubbish", "damaged"),
        (b'{"spec": "chara_card_v2", "data": {}}', "no name"),
    ):
        with pytest.raises(UnreadableFile, match=reason):
            read(tmp_path, "bad", content)


def test_other_books(tmp_path: Path) -> None:
    risu = read(tmp_path, "risu.json").books[0].entries
    assert [(one.title, one.text, one.category) for one in risu] == [("Old Mill", "Empty.", "LOC")]
    assert read(tmp_path, "nai.lorebook").books[0].entries[0].category == "LOC"
    assert read(tmp_path, "cards.json").books[0].entries[0].keys == ("elena", "mayor's sister")
    kobold = read(tmp_path, "kobold.json")
    assert [one.title for one in kobold.books[0].entries] == ["room", "Memory"]
    assert spoken(kobold) == [
        ("Narrator", "dm", "You wake."), ("User", "pc", "I stand up."), ("Narrator", "dm", "The room spins.")
    ]  # fmt: skip
    assert spoken(read(tmp_path, "koboldchat.json")) == [("Zara", "pc", "Hi."), ("Hob", "npc", "Hello.")]


def test_recordings_join_cues_of_a_speaker(tmp_path: Path) -> None:
    assert spoken(read(tmp_path, "talk.srt")) == [
        ("Matt", "pc", "Two trails. They part."),
        ("Zara", "pc", "Left."),
    ]
    assert spoken(read(tmp_path, "talk.vtt")) == [("Matt", "pc", "Two trails."), ("Zara", "pc", "Left.")]
    assert spoken(read(tmp_path, "whisper.json")) == [("Speaker", "npc", "Two trails. They part.")]
    info = b"Recording A\n\nStart time:\t2026-01-10T19:02:11.312Z\n\nTracks:\n\tZara (z) (1)\n"
    (tmp_path / "info.txt").write_bytes(info)
    [chat] = read(tmp_path, "1-zara.srt", b"1\n00:00:01,000 --> 00:00:02,000\nHi.\n").chats
    [line] = chat.messages
    assert (line.speaker, line.time) == ("Zara", "2026-01-10T19:02:12.312000+00:00")


def test_whispers_become_witnesses(tmp_path: Path) -> None:
    """In Roll20 and Foundry, those who may read a whisper perceive it, and nobody else."""

    def told(messages: list[ChatMessage]) -> list[tuple[str, str | None, str, tuple[str, ...] | None]]:
        return [(one.speaker, one.role, one.text, one.witnesses) for one in messages]

    [chat] = read(tmp_path, "roll20.html").chats
    assert told(list(chat.messages)) == [
        ("Matt", "dm", "Two trails.", None),
        ("Throk", "pc", "I palm it.", ("Zara",)),
        ("Zara", "pc", "rolls 1d20: 17", None),
        ("Mira", "pc", "sighs", None),
    ]
    (tmp_path / "users.db").write_bytes(json_lines({"_id": "gm", "name": "Gamemaster", "role": 4}))
    [chat] = read(tmp_path, "messages.db").chats
    assert told(list(chat.messages)) == [
        ("Keeper", "dm", "A bell.", None),
        ("Throk", "pc", "I lie.", ("Zara",)),
        ("Zara", "pc", "Perception. 1d20: 12", None),
        ("Mira", "pc", "Oh.", None),
    ]


def test_secrets_stay_with_the_dm(tmp_path: Path) -> None:
    """Secret blocks of journals and secret callouts of notes are notes of their own."""
    told, secret = read(tmp_path, "journal.json").books[0].entries
    assert (told.text, told.for_players) == ("Marrowby: Mill\nThe old mill stands.", True)
    assert (secret.text, secret.for_players) == ("Marrowby: Mill (secret)\nA body lies below.", False)
    note, hidden = read(tmp_path, "Elena.md").books[0].entries
    assert (note.title, note.category, note.keys) == ("Elena", "NPC", ("The Smith",))
    assert "spy" not in note.text
    assert "She limps, says the dwarf." in note.text
    assert "statblock" not in note.text
    assert hidden.text == "For the DM\nShe is a spy."


@pytest.mark.parametrize("head", ["[{time}] {name}:", "{name}  {time}"])
def test_names_above_the_words_of_a_recording(tmp_path: Path, head: str) -> None:
    lines = [("Matt", "00:12:03", "Welcome back."), ("Laura", "00:12:09", "I check the door.")]
    lines += [("Matt", "00:12:15", "It is locked.")]
    text = "\n\n".join(f"{head.format(name=name, time=time)}\n{words}" for name, time, words in lines)
    found = read(tmp_path, "session.txt", text.encode(), dm=("Matt",))
    assert found.family == "plain log"
    assert spoken(found) == [
        ("Matt", "dm", "Welcome back."),
        ("Laura", "pc", "I check the door."),
        ("Matt", "dm", "It is locked."),
    ]
    assert [message.time for message in found.chats[0].messages] == ["00:12:03", "00:12:09", "00:12:15"]


def test_a_recording_of_words_alone(tmp_path: Path) -> None:
    words = [("Roll", "SPEAKER_00"), ("it.", "SPEAKER_00"), ("Twelve.", "SPEAKER_01")]
    timed = [
        {"word": word, "start": at, "end": at + 0.5, "speaker": who} for at, (word, who) in enumerate(words)
    ]
    found = read(tmp_path, "words.json", json.dumps({"word_segments": timed, "language": "en"}).encode())
    assert found.family == "whisperX transcript"
    assert [(who, text) for who, _, text in spoken(found)] == [
        ("SPEAKER_00", "Roll it."),
        ("SPEAKER_01", "Twelve."),
    ]
