"""Files that programs write in rarer ways: other encodings, versions and forms of the families."""

import json
from base64 import b64encode
from typing import Any

from tests.interop.readers.samples import CARD_V2, json_lines

DM, PC, NPC = "dm", "pc", "npc"
_TAVERN = json_lines(
    {"user_name": "Zara", "character_name": "Mira", "chat_metadata": {}},
    {"name": "Mira", "is_user": False, "mes": "Welcome."},
    {"name": "Zara", "is_user": True, "mes": "Zwölf."},
).decode()
_ARCHIVE = b64encode(
    json.dumps([[{"who": "Matt (GM)", "type": "general", "content": "A gate.", "playerid": "1"}]]).encode()
)
_SCENARIO: dict[str, Any] = {
    "title": "The Mill", "prompt": "You wake.", "memory": "It is winter.", "options": [],
    "worldInfo": [{"keys": "Elena", "entry": "Elena is the smith's daughter."}],
}  # fmt: skip
_DISCORD = """\
==============================================================
Guild: Game
Channel: tavern
==============================================================

[10-Jan-26 07:02 PM] matt#1234
A gate.
It is old.

[1/10/2026 7:03 PM] Avrae
Zara rolls 17

{Embed}

[10-Jan-26 07:04 PM] zara#0001 (pinned)
I open it.

==============================================================
Exported 3 message(s)
==============================================================
"""

_PAGE = """<html><head><title>Guild - play</title></head><body><div class="chatlog">
<div class="~message-group"><div class="~message-container"><div class="~message">
<div class="~header"><span class="~author" title="zara">Zara</span><span
 class="~timestamp" title="Friday, January 10, 2025 7:02 PM"><a href="#1">1/10/2025 7:02 PM</a></span></div>
<div class="~content ~markdown"><span>I look &amp; <em>listen</em>.<br>Well?</span></div></div>
</div>
<div class="~message-container"><div class="~message">
<div class="~content ~markdown"><span>And wait.</span></div>
<div class="~reactions"><span class="~reaction-count">3</span></div></div></div></div>
<div class="~message-group"><div class="~message-container"><div class="~message">
<div class="~reply"><div class="~reply-author">Zara</div>
<div class="~reply-content">And</div></div>
<div class="~header"><span class="~author">Avrae</span>
<span class="~author-tag">BOT</span></div>
<div class="~embed"><div class="~embed-title">Zara makes a check!</div>
<div class="~embed-description">17</div></div></div></div></div>
<div class="~message-group"><span class="~author-name" title="m#1">Matt</span>
<div class="~messages"><div class="~message"><div class="~content">Nothing.</div></div>
</div></div>
</div></body></html>""".replace("~", "chatlog__")
_TABLE = (
    "\ufeffAuthorID,Author,Date,Content,Attachments,Reactions\r\n"
    '"1","zara#0","2025-01-10T19:02:00.0000000+00:00","I look, ""quietly"".","",""\r\n'
    '"2","Avrae#6944","2025-01-10T19:02:05.0000000+00:00","Stealth: 17","",""\r\n'
    '"3","matt","2025-01-10T19:03:00.0000000+00:00","You see\nnothing.","",""\r\n'
)

CHATS: dict[str, tuple[bytes, list[tuple[str, str, str]]]] = {
    "a page of Discord.html": (
        _PAGE.encode(),
        [
            ("Zara", PC, "I look & listen.\nWell?"),
            ("Zara", PC, "And wait."),
            ("Dice", DM, "Zara makes a check!\n17"),
            ("Matt", PC, "Nothing."),
        ],
    ),
    "a table of Discord.csv": (
        _TABLE.encode(),
        [("zara", PC, 'I look, "quietly".'), ("Dice", DM, "Stealth: 17"), ("matt", PC, "You see\nnothing.")],
    ),
    "headings with names.md": (
        b"## Zara\n\nI open it.\n\n## Throk:\n\nWait!\nNow.\n\n## Zara\n\nNo.\n",
        [("Zara", PC, "I open it."), ("Throk", PC, "Wait!\nNow."), ("Zara", PC, "No.")],
    ),
    "a nickname.txt": (
        b'Zara "the Quick" Vel: I open it.\nThrok (Bob): Wait!\nThrok (Bob): Now.\n',
        [('Zara "the Quick" Vel', PC, "I open it."), ("Throk (Bob)", PC, "Wait!"),
            ("Throk (Bob)", PC, "Now.")],
    ),
    "Agnai with its greeting.json": (
        json.dumps({"name": "Hal", "greeting": "What?", "messages": [
            {"handle": "Hal", "characterId": "c", "msg": "What?"},
            {"handle": "Ann", "userId": "u", "msg": "Hm."}]}
        ).encode(),
        [("Hal", NPC, "What?"), ("Ann", PC, "Hm.")],
    ),
    "tavern in UTF-16.jsonl": (_TAVERN.encode("utf-16"), [("Mira", NPC, "Welcome."), ("Zara", PC, "Zwölf.")]),
    "tavern in UTF-16 BE.jsonl": (
        b"\xfe\xff" + _TAVERN.encode("utf-16-be"),
        [("Mira", NPC, "Welcome."), ("Zara", PC, "Zwölf.")],
    ),
    "archive.html": (b"<script>var msgdata = '" + _ARCHIVE + b"';</script>", [("Matt", DM, "A gate.")]),
    "fvtt-log.txt": (
        (
            b"[10.1.2026, 19:04:11] Spielleiter\nZwei Wege.\n---------------------------\n"
            b"[10.1.2026, 19:05:02] Throk\nLinks.\n---------------------------\n"
        ),
        [("Spielleiter", DM, "Zwei Wege."), ("Throk", PC, "Links.")],
    ),
    "exported.txt": (
        _DISCORD.encode(),
        [
            ("matt", PC, "A gate.\nIt is old."),
            ("Dice", DM, "Zara rolls 17"),
            ("zara", PC, "I open it."),
        ],
    ),
    "whisper.tsv": (
        b"start\tend\ttext\n0\t3200\tA gate.\n9000\t9900\tMATT: It creaks.\n",
        [("Speaker", NPC, "A gate."), ("MATT", PC, "It creaks.")],
    ),
    "labels.aud": (
        b"0.0\t3.2\t[[SPEAKER_00]] A gate.\n3.5\t4.0\t[[SPEAKER_01]] I open it.\n",
        [("SPEAKER_00", PC, "A gate."), ("SPEAKER_01", PC, "I open it.")],
    ),
    "speakers.txt": (
        b"[SPEAKER_00]: A gate.\n[SPEAKER_01]: I open it.\n[SPEAKER_00]: It creaks.\n",
        [("SPEAKER_00", PC, "A gate."), ("SPEAKER_01", PC, "I open it."), ("SPEAKER_00", PC, "It creaks.")],
    ),
    "wide colons.txt": (
        "太郎：門だ。\n花子：開ける。\n太郎：うん。\n".encode(),
        [("太郎", PC, "門だ。"), ("花子", PC, "開ける。"), ("太郎", PC, "うん。")],
    ),
    "combat.jsonl": (
        json_lines(
            {"combat_id": "c", "event_type": "message", "author_id": "7", "author_name": "Player 0",
             "content": "Roll for initiative."},
            {"combat_id": "c", "event_type": "message", "author_id": "9", "author_name": "Avrae",
             "author_bot": True, "content": "17"},
            {"combat_id": "c", "event_type": "message", "author_id": "8", "author_name": "Player 1",
             "content": "I wait."},
            {"combat_id": "c", "event_type": "combat_state_update", "data": {"dm": "7"}},
        ),
        [("Player 0", DM, "Roll for initiative."), ("Dice", DM, "17"), ("Player 1", PC, "I wait.")],
    ),
    "scenario.json": (json.dumps(_SCENARIO).encode(), [("Narrator", DM, "You wake.")]),
    "scenarios.json": (json.dumps([_SCENARIO]).encode(), [("Narrator", DM, "You wake.")]),
}  # fmt: skip

BOOKS: dict[str, tuple[bytes, list[tuple[str, str]]]] = {
    "an actor of Foundry 9.json": (
        json.dumps({"name": "Hal", "type": "npc", "token": {"name": "Hal"},
                    "data": {"details": {"biography": {"value": "<p>A smith.</p>"}}},
                    "items": [], "permission": {"default": 0}}).encode(),
        [("Hal", "NPC")],
    ),
    "headings of a note.md": (
        b"# Ash\n\nA town.\n\n## Loot\n\nGold.\n\n## Inn\n\nWarm.\n\n## Loot\n\nA ring.\n",
        [("headings of a note", "EVT")],
    ),
    "scenario.json": (CHATS["scenario.json"][0], [("Elena", "NPC"), ("Memory", "EVT")]),
    "scenarios.json": (CHATS["scenarios.json"][0], [("Elena", "NPC"), ("Memory", "EVT")]),
    "cards.json": (
        b'{"storyCards": [{"keys": "mill", "value": "Old.", "type": "location", "title": "Mill"}]}',
        [("Mill", "LOC")],
    ),
    "fvtt-Actor-goblin.json": (
        json.dumps(
            {"name": "Goblin", "type": "npc", "data": {"details": {"biography": {"value": "<p>Mean.</p>"}}},
             "token": {}, "items": []}
        ).encode(),
        [("Goblin", "NPC")],
    ),
}  # fmt: skip

CARDS: dict[str, bytes] = {
    "of a later version.json": json.dumps({**CARD_V2, "spec": "chara_card_v4"}).encode()
}

REFUSED: dict[str, tuple[bytes, str]] = {
    "damaged.html": (b'<script>var msgdata = "!!!!";</script>', "its msgdata is damaged"),
    "backup.zip": (b"PK\x03\x04" + b"\0" * 100, "its archive is damaged"),
}
