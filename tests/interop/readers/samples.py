"""Small files of every family, made for the tests from the facts of each format."""

import base64
import json
import struct
import zipfile
import zlib
from io import BytesIO
from typing import Any

from dndbots.interop.formats.png_text import with_texts

ST_HEADER = {"chat_metadata": {"integrity": "x"}, "user_name": "Zara", "character_name": "Narrator"}
ST_LINES: list[dict[str, Any]] = [
    {"name": "Narrator", "is_user": False, "send_date": "January 10, 2025 1:00pm", "mes": "Hello {{user}}."},
    {"name": "Zara", "is_user": True, "is_system": True, "send_date": 1736514060000,
     "mes": "I open the gate."},
    {"name": "Narrator", "is_user": False, "send_date": "2025-01-10T13:05:00.000Z",
     "mes": "<think>hm</think>It <b>creaks</b>.", "swipes": ["A kraken!", "It creaks."], "swipe_id": 1,
     "extra": {"model": "x", "reasoning": "secret"}},
    {"name": "SillyTavern System", "is_user": False, "mes": "Help!", "extra": {"type": "help"}},
    {"name": "Narrator", "is_user": False, "send_date": "2025-1-11 @09h 20m 5s 123ms", "mes": "Morning.",
     "extra": {"type": "narrator"}},
]  # fmt: skip

WORLD_INFO = {
    "name": "Marrowby",
    "entries": {
        "0": {"uid": 0, "key": ["Elena", "/el(ena)+/i"], "comment": "Elena", "content": "Elena limps.",
              "characterFilter": {"isExclude": False, "names": ["Throk"], "tags": []}, "order": 90},
        "1": {"uid": 1, "key": ["Old Mill"], "comment": "", "content": "@@activate\nThe mill is empty.",
              "constant": True, "position": 10, "mine": {"kept": True}},
        "2": {"uid": 2, "key": ["x"], "content": "Never mind.", "disable": True},
    },
}  # fmt: skip

CARD_V2 = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        "name": "Seraphina",
        "description": "{{char}} guards the glade. She fears {{user}}.",
        "personality": "calm",
        "scenario": "",
        "first_mes": "Welcome.",
        "mes_example": "",
        "creator_notes": "",
        "system_prompt": "",
        "post_history_instructions": "",
        "alternate_greetings": ["Hello."],
        "tags": ["healer"],
        "creator": "me",
        "character_version": "1",
        "extensions": {"fav": True, "chub": {"id": 7}},
        "character_book": {
            "entries": [{"keys": ["glade"], "content": "The glade is warded.", "extensions": {},
                         "enabled": True, "insertion_order": 10, "name": "The Glade"}]
        },
    },
}  # fmt: skip


def json_lines(*values: Any) -> bytes:
    return "\n".join(json.dumps(value) for value in values).encode()


def picture(card: dict[str, Any], keyword: str = "chara") -> bytes:
    return with_texts(None, {keyword: base64.b64encode(json.dumps(card).encode())})


def bomb_picture() -> bytes:
    """A picture whose compressed text unpacks to a gigabyte."""
    data = b"chara\0\0" + zlib.compress(b"\0" * (1 << 27), 9)
    chunk = struct.pack(">I", len(data)) + b"zTXt" + data + struct.pack(">I", zlib.crc32(b"zTXt" + data))
    plain = with_texts(None, {})
    return plain[:33] + chunk + plain[33:]


def archive(card: Any, name: str = "card.json") -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, card if isinstance(card, (bytes, str)) else json.dumps(card))
    return made.getvalue()


ROLL20 = [
    {
        "-A": {"who": "Matt (GM)", "playerid": "-P1", "type": "general", "content": "Two trails.",
               ".priority": 2e12},
        "-B": {"who": "Throk", "playerid": "-P2", "type": "whisper", "target": "-P3", "target_name": "Zara",
               "content": "I palm <b>it</b>.", ".priority": 2e12 + 1},
        "-C": {"who": "Zara", "playerid": "-P3", "type": "rollresult", "origRoll": "1d20",
               "content": json.dumps({"total": 17}), ".priority": 2e12 + 2},
        "-D": {"who": "Mira", "playerid": "-P4", "type": "emote", "content": "sighs", ".priority": 2e12 + 3},
    }
]  # fmt: skip

FOUNDRY_MESSAGES = [
    {"_id": "1", "user": "gm", "type": 0, "content": "<p>A bell.</p>", "speaker": {"alias": "Keeper"},
     "whisper": [], "timestamp": 1_700_000_000_000},
    {"_id": "2", "user": "u1", "type": 4, "content": "I <i>lie</i>.", "speaker": {"alias": "Throk"},
     "whisper": ["u2", "gm"], "timestamp": 1_700_000_001_000},
    {"_id": "3", "user": "u2", "type": 5, "content": "", "flavor": "Perception", "speaker": {"alias": "Zara"},
     "whisper": [], "rolls": ['{"formula": "1d20", "total": 12}'], "timestamp": 1_700_000_002_000},
    {"_id": "4", "user": "u3", "type": 2, "content": "Oh.", "speaker": {"alias": "Mira"}, "whisper": [],
     "timestamp": 1_700_000_003_000},
]  # fmt: skip
JOURNAL = {
    "_id": "j", "name": "Marrowby", "ownership": {"default": 2}, "flags": {},
    "pages": [{"name": "Mill", "type": "text", "text": {
        "content": "<p>The @UUID[x]{old mill} stands.</p>"
                   '<section class="secret"><p>A body lies below.</p></section>'
    }, "ownership": {"default": -1}}],
}  # fmt: skip

FILES: dict[str, bytes] = {
    "chat.jsonl": json_lines(ST_HEADER, *ST_LINES),
    "group.jsonl": json_lines(*ST_LINES),
    "world.json": json.dumps(WORLD_INFO).encode(),
    "card.json": json.dumps(CARD_V2).encode(),
    "card.png": picture(CARD_V2),
    "card3.png": picture({**CARD_V2, "spec": "chara_card_v3"}, "ccv3"),
    "card.charx": archive(CARD_V2),
    "v1.json": json.dumps({"name": "Skye", "description": "tall", "first_mes": "Hi", "personality": "x",
                           "scenario": "", "mes_example": ""}).encode(),
    "risu.json": json.dumps({"type": "risu", "ver": 1, "data": [
        {"key": "mill, old mill", "comment": "Old Mill", "content": "@@depth 4\nEmpty.", "mode": "normal",
         "folder": "f"}, {"mode": "folder", "id": "f", "comment": "Places"}]}).encode(),
    "risuchat.json": json.dumps({"type": "risuChat", "ver": 2, "data": {"message": [
        {"role": "user", "data": "I wait.", "time": 1736514060000},
        {"role": "char", "data": "It creaks.", "name": "Door"},
        {"role": "char", "data": "note", "isComment": True}]}}).encode(),
    "agnai.json": json.dumps({"kind": "memory", "name": "Mill", "entries": [
        {"name": "Elena", "entry": "She limps.", "keywords": ["elena"], "enabled": True}]}).encode(),
    "agnaichat.json": json.dumps({"name": "Bot", "messages": [
        {"handle": "Zara", "userId": "u", "msg": "Hi."}, {"characterId": "c", "msg": "Hello."}]}).encode(),
    "nai.lorebook": json.dumps({"lorebookVersion": 5, "entries": [
        {"text": "The bay freezes.", "displayName": "Frost Bay", "keys": ["bay"], "category": "c1"}],
        "categories": [{"name": "Location", "id": "c1"}]}).encode(),
    "kobold.json": json.dumps({"gamestarted": True, "prompt": "You wake.", "memory": "Zara is a thief.",
        "actions": ["\n> I stand up.", "The room spins."],
        "worldinfo": [{"key": "room", "content": "The room is round."}]}).encode(),
    "koboldchat.json": json.dumps({"gamestarted": True, "prompt": "", "actions": ["\nZara: Hi.\nHob: Hello."],
        "savedsettings": {"opmode": 3, "chatname": "Zara", "chatopponent": "Hob"}}).encode(),
    "cards.json": json.dumps([{"keys": "elena,mayor's sister", "value": "Elena limps.", "type": "character",
        "title": "Elena", "description": "", "useForCharacterCreation": False}]).encode(),
    "log.txt": b"Zara: I open the gate.\nThrok: Wait!\nI mean it.\nZara: No.\nDM: It creaks.\n",
    "log.md": b"# Session 1\n\n**Zara**: I open the gate.\n\n**Throk**: Wait!\n\n**Zara**: No.\n",
    "talk.srt": b"1\n00:00:01,000 --> 00:00:02,000\nMatt: Two trails.\n\n"
                b"2\n00:00:02,500 --> 00:00:03,000\nMatt: They part.\n\n"
                b"3\n00:00:09,000 --> 00:00:10,000\nZara: Left.\n",
    "talk.vtt": b"WEBVTT\n\nNOTE hi\n\n00:01.000 --> 00:02.000\n<v Matt>Two trails.</v>\n\n"
                b"00:05.000 --> 00:06.000 align:start\n<v Zara><i>Left</i>.\n",
    "whisper.json": json.dumps({"text": "", "segments": [
        {"id": 0, "start": 0.0, "end": 1.0, "text": " Two trails."},
        {"id": 1, "start": 1.2, "end": 2.0, "text": " They part."}], "language": "en"}).encode(),
    "whisperx.json": json.dumps({"segments": [{"start": 0, "end": 3, "text": "Left. No.", "words": [
        {"word": "Left.", "start": 0, "speaker": "SPEAKER_00"}, {"word": "No.", "speaker": "SPEAKER_01"}]}],
        "word_segments": []}).encode(),
    "cpp.json": json.dumps({"transcription": [
        {"offsets": {"from": 0, "to": 900}, "text": " Two trails."}]}).encode(),
    "fvtt-log.txt": b"[1/10/2026, 7:04:11 PM] Gamemaster\nTwo trails.\n---------------------------\n"
                    b"[1/10/2026, 7:05:02 PM] Throk\nLeft.\nBack soon.\n",
    "messages.db": json_lines(*FOUNDRY_MESSAGES, {"$$indexCreated": {}}),
    "journal.json": json.dumps(JOURNAL).encode(),
    "roll20.html": b"<html><script>\nvar msgdata = \""
                   + base64.b64encode(json.dumps(ROLL20).encode()) + b"\";\n</script></html>",
    "discord.json": json.dumps({"guild": {}, "channel": {"name": "play"}, "messages": [
        {"type": "Default", "timestamp": "2026-01-10T10:00:00+00:00", "content": "I open the gate.",
         "author": {"name": "z", "nickname": "Zara", "isBot": False}},
        {"type": "GuildMemberJoin", "content": "joined", "author": {"name": "x"}}]}).encode(),
    "Elena.md": b"---\ntags: [NPC]\naliases:\n- The Smith\n---\n# Elena\n"
                b"She limps, says [[Throk|the dwarf]].\n> [!secret] For the DM\n> She is a spy.\n\n"
                b"```statblock\nac: 12\n```\n",
}  # fmt: skip
