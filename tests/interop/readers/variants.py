"""Files as people have them: older and odd forms of every family, made for the tests."""

import base64
import json
import struct
import zlib
from typing import Any

from tests.interop.readers.samples import CARD_V2, archive, json_lines

from dndbots.interop.formats.png_text import with_texts

DM, PC, NPC = "dm", "pc", "npc"


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def with_chunk(kind: bytes, data: bytes) -> bytes:
    """A picture with one more chunk."""
    plain = with_texts(None, {})
    chunk = struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return plain[:33] + chunk + plain[33:]


_CARD_TEXT = base64.b64encode(as_json(CARD_V2))
_OLD_CHAT = json_lines(
    {"user_name": "Zara", "character_name": "Mira", "create_date": "2023-6-19 @14h 20m 5s 123ms"},
    {
        "name": "Mira",
        "is_user": False,
        "is_name": True,
        "send_date": "2023-6-19 @14h 20m 5s 123ms",
        "mes": "Welcome, {{user}}.",
    },
    {"name": "You", "is_user": True, "send_date": "June 19, 2023 2:21pm", "mes": "Hello."},
    {"name": "Mira", "is_user": False, "mes": {"message": "Sit."}, "swipes": [{"message": "Sit."}]},
)

# By file name: the content, and who says what.
CHATS: dict[str, tuple[bytes, list[tuple[str, str, str]]]] = {
    "old, with a mark and Windows lines.jsonl": (
        b"\xef\xbb\xbf" + _OLD_CHAT.replace(b"\n", b"\r\n"),
        [("Mira", NPC, "Welcome, Zara."), ("Zara", PC, "Hello."), ("Mira", NPC, "Sit.")],
    ),
    "windows-1252.txt": (
        "Anna: Ich öffne die Tür – langsam.\r\nBernd: „Halt!“\r\nAnna: Zu spät…\r\n".encode("cp1252"),
        [("Anna", PC, "Ich öffne die Tür – langsam."), ("Bernd", PC, "„Halt!“"), ("Anna", PC, "Zu spät…")],
    ),
    "clock.txt": (
        b"[19:02] Zara: I open the gate.\n[19:02:30] Throk: Wait!\n[19:03] DM: Creak.\n[19:04] Zara: Oh.\n",
        [
            ("Zara", PC, "I open the gate."),
            ("Throk", PC, "Wait!"),
            ("DM", DM, "Creak."),
            ("Zara", PC, "Oh."),
        ],
    ),
    "whatsapp.txt": (
        "[10.01.26, 19:02:11] Nachrichten sind verschlüsselt.\n[10.01.26, 19:02:12] Anna: Wir gehen.\n"
        "[10.01.26, 19:03:00] Bernd (DM): Es ist dunkel.\nIhr hört Ratten.\n"
        "[10.01.26, 19:05:00] Anna: \u200eBild weggelassen\n[12.01.26, 20:05:00] Anna: Weiter!\n".encode(),
        [
            ("Anna", PC, "Wir gehen."),
            ("Bernd", DM, "Es ist dunkel.\nIhr hört Ratten."),
            ("Anna", PC, "Weiter!"),
        ],
    ),
    "whatsapp on Android.txt": (
        "1/10/26, 7:02\u202fPM - Messages are end-to-end encrypted.\n1/10/26, 7:02 PM - Anna: We go in.\n"
        "1/10/26, 7:03 PM - Bernd: It is dark.\n1/10/26, 7:04 PM - Anna: <Media omitted>\n"
        "1/10/26, 7:05 PM - Anna: Torch!\n".encode(),
        [("Anna", PC, "We go in."), ("Bernd", PC, "It is dark."), ("Anna", PC, "Torch!")],
    ),
    "irc.log": (
        (
            b"--- Log opened Sat Jan 10 19:00:00 2026\n19:02 -!- zara [~z@host] has joined #game\n"
            b"19:02 <@GameMaster> A gate.\n19:03 < zara> I open it.\n19:03  * throk waits\n"
            b"19:05 <@GameMaster> Creak.\n"
        ),
        [
            ("GameMaster", DM, "A gate."),
            ("zara", PC, "I open it."),
            ("throk", PC, "*waits*"),
            ("GameMaster", DM, "Creak."),
        ],
    ),
    "irc with dates.txt": (
        (
            b"[2026-01-10 19:02:00] <GM> A gate.\n[2026-01-10 19:03:00] <zara> I open it.\n"
            b"[2026-01-10 19:04:00] <zara> Hm.\n"
        ),
        [("GM", DM, "A gate."), ("zara", PC, "I open it."), ("zara", PC, "Hm.")],
    ),
    "bold names.md": (
        b"# Four\n\n**DM:** A gate.\n\n**Zara:** I open it.\n\n**Throk**: No!\n\n**DM:** Creak,\nsays it.\n",
        [
            ("DM", DM, "A gate."),
            ("Zara", PC, "I open it."),
            ("Throk", PC, "No!"),
            ("DM", DM, "Creak,\nsays it."),
        ],
    ),
    "script.txt": (
        b"SESSION THREE\n\nDM: A gate.\nMATT: Old.\nLAURA: I open it.\nDM: It creaks.\n",
        [("DM", DM, "A gate."), ("MATT", PC, "Old."), ("LAURA", PC, "I open it."), ("DM", DM, "It creaks.")],
    ),
    "dashes.txt": (
        b"Zara - I open the gate.\nThrok - Wait!\nZara - Too late.\n",
        [("Zara", PC, "I open the gate."), ("Throk", PC, "Wait!"), ("Zara", PC, "Too late.")],
    ),
    "risu.txt": (
        b"--Mira\nWelcome.\n\n--User\nHello.\n\n--Mira\nSit down.\nRest.\n",
        [("Mira", PC, "Welcome."), ("User", PC, "Hello."), ("Mira", PC, "Sit down.\nRest.")],
    ),
    "adventure.txt": (
        b"You are a wizard.\n\n> You open the gate.\n\nIt creaks.\n\n> You wait.\n\nNobody comes.\n",
        [
            ("Narrator", DM, "You are a wizard."),
            ("You", PC, "You open the gate."),
            ("Narrator", DM, "It creaks."),
            ("You", PC, "You wait."),
            ("Narrator", DM, "Nobody comes."),
        ],
    ),
    "dashes.srt": (
        (
            b"1\r\n00:00:01,000 --> 00:00:03,000\r\nMATT: A gate.\r\n\r\n2\r\n"
            b"00:00:03,500 --> 00:00:05,000\r\n"
            b"- I open it.\r\n- Wait!\r\n\r\n3\r\n00:00:05,500 --> 00:00:07,000\r\nMATT: It creaks.\r\n\r\n"
            b"4\r\n00:00:08,000 --> 00:00:09,000\r\n[door creaks]\r\n"
        ),
        [
            ("MATT", PC, "A gate."),
            ("Speaker", NPC, "I open it."),
            ("Speaker", NPC, "Wait!"),
            ("MATT", PC, "It creaks."),
        ],
    ),
    "voices.vtt": (
        (
            b"WEBVTT\n\nNOTE by hand\n\n1\n00:01.000 --> 00:03.000\n<v Matt>A gate.</v>\n\n"
            b"00:03.500 --> 00:05.000 align:start\n<v.loud Laura Bailey>I <i>open</i> it.\n<v Travis>Wait!\n"
        ),
        [("Matt", PC, "A gate."), ("Laura Bailey", PC, "I open it."), ("Travis", PC, "Wait!")],
    ),
    "words.json": (
        as_json(
            {
                "segments": [
                    {
                        "start": 0.5,
                        "end": 4,
                        "text": " A gate. I open it.",
                        "words": [
                            {"word": "A", "speaker": "SPEAKER_00"},
                            {"word": "gate."},
                            {"word": "I", "speaker": "SPEAKER_01"},
                            {"word": "open"},
                            {"word": "it."},
                        ],
                    },
                    {"start": 9, "end": 10, "text": " Wait!"},
                ],
                "word_segments": [],
            }
        ),
        [("SPEAKER_00", PC, "A gate."), ("SPEAKER_01", PC, "I open it."), ("Speaker", NPC, "Wait!")],
    ),
    "united.json": (
        as_json(
            {
                "file_version": 2,
                "gamestarted": True,
                "prompt": "A gate.",
                "actions": {
                    "actions": {
                        "0": {"Selected Text": "\n> I open it."},
                        "1": {"Selected Text": "\nIt creaks."},
                    }
                },
            }
        ),
        [("Narrator", DM, "A gate."), ("User", PC, "I open it."), ("Narrator", DM, "It creaks.")],
    ),
    "share.json": (
        as_json({"ga": ["A gate.", "\n> I open it.\n"], "cm": "", "cwi": []}),
        [("Narrator", DM, "A gate."), ("User", PC, "I open it.")],
    ),
    "risu group.json": (
        as_json(
            {
                "type": "risuChat",
                "ver": 2,
                "data": {
                    "message": [
                        {"role": "user", "data": "Hello"},
                        {
                            "role": "char",
                            "data": "Welcome.",
                            "saying": "f3b0c1e2-1111-4222-8333-444455556666",
                        },
                        {"role": "char", "data": "Sit.", "saying": "a3b0c1e2-1111-4222-8333-444455556666"},
                    ]
                },
            }
        ),
        [("User", PC, "Hello"), ("Character", NPC, "Welcome."), ("Character 2", NPC, "Sit.")],
    ),
    "cai.json": (
        as_json(
            {
                "histories": {
                    "histories": [
                        {
                            "msgs": [
                                {"src": {"name": "Mira", "is_human": False}, "text": "Hello."},
                                {"src": {"is_human": True}, "text": "Hi."},
                            ]
                        }
                    ]
                }
            }
        ),
        [("Mira", NPC, "Hello."), ("User", PC, "Hi.")],
    ),
    "webui.json": (
        as_json(
            {
                "data": [["<|BEGIN-VISIBLE-CHAT|>", "Welcome."]],
                "name": "Mira",
                "data_visible": [["", "Welcome."], ["I wait.", "It &quot;creaks&quot;."]],
            }
        ),
        [("Mira", NPC, "Welcome."), ("You", PC, "I wait."), ("Mira", NPC, 'It "creaks".')],
    ),
    "telegram.json": (
        as_json(
            {
                "name": "Game",
                "type": "private_group",
                "messages": [
                    {"id": 1, "type": "service", "actor": "Anna", "action": "create_group", "text": ""},
                    {
                        "id": 2,
                        "type": "message",
                        "date": "2026-01-10T19:02:00",
                        "from": "Anna",
                        "text": "We go in.",
                    },
                    {
                        "id": 3,
                        "type": "message",
                        "from": "Bernd",
                        "text": ["It is ", {"type": "bold", "text": "dark"}],
                    },
                    {"id": 4, "type": "message", "from": "Anna", "text": "", "photo": "x.jpg"},
                ],
            }
        ),
        [("Anna", PC, "We go in."), ("Bernd", PC, "It is dark")],
    ),
    "messages.json": (
        as_json(
            [
                {"role": "system", "content": "You are a DM."},
                {"role": "user", "content": "I wait."},
                {"role": "assistant", "content": [{"type": "text", "text": "It creaks."}]},
            ]
        ),
        [("User", PC, "I wait."), ("Assistant", NPC, "It creaks.")],
    ),
    "messages.jsonl": (
        json_lines({"role": "user", "content": "I wait."}, {"role": "assistant", "content": "It creaks."}),
        [("User", PC, "I wait."), ("Assistant", NPC, "It creaks.")],
    ),
    "conversations.json": (
        as_json(
            [
                {
                    "title": "Dungeon",
                    "current_node": "c",
                    "mapping": {
                        "a": {"message": None, "parent": None},
                        "b": {
                            "message": {"author": {"role": "user"}, "content": {"parts": ["I wait."]}},
                            "parent": "a",
                        },
                        "c": {
                            "message": {
                                "author": {"role": "assistant"},
                                "content": {"parts": ["It creaks."]},
                            },
                            "parent": "b",
                        },
                        "x": {
                            "message": {"author": {"role": "assistant"}, "content": {"parts": ["A dragon!"]}},
                            "parent": "b",
                        },
                    },
                }
            ]
        ),
        [("User", PC, "I wait."), ("Assistant", NPC, "It creaks.")],
    ),
    "claude.json": (
        as_json(
            [
                {
                    "name": "Dungeon",
                    "chat_messages": [
                        {"sender": "human", "text": "I wait.", "created_at": "2026-01-10T19:02:00Z"},
                        {
                            "sender": "assistant",
                            "text": "",
                            "content": [{"type": "text", "text": "It creaks."}],
                        },
                    ],
                }
            ]
        ),
        [("User", PC, "I wait."), ("Assistant", NPC, "It creaks.")],
    ),
    "discord.json": (
        as_json(
            {
                "guild": {"name": "Game"},
                "channel": {"name": "tavern"},
                "messages": [
                    {
                        "type": "Default",
                        "content": "A gate, <@12>. <:dice:99>",
                        "timestamp": "2026-01-10T19:02:00Z",
                        "author": {"name": "matt", "nickname": "Matt", "roles": [{"name": "Dungeon Master"}]},
                        "mentions": [{"id": "12", "name": "z", "nickname": "Zara"}],
                    },
                    {
                        "type": "Reply",
                        "content": "I open it.",
                        "author": {"name": "z", "nickname": "Zara"},
                        "attachments": [{"fileName": "map.png"}],
                        "reference": {"messageId": "1"},
                    },
                    {
                        "type": "20",
                        "content": "",
                        "author": {"name": "Avrae", "isBot": True},
                        "embeds": [
                            {
                                "title": "Zara rolls!",
                                "description": "17",
                                "fields": [{"name": "Effect", "value": "Light"}],
                            }
                        ],
                    },
                    {"type": "ChannelPinnedMessage", "content": "Pinned a message.", "author": {"name": "z"}},
                    {"type": "Default", "content": "Grunt.", "author": {"name": "Throk", "isBot": True}},
                ],
            }
        ),
        [
            ("Matt", DM, "A gate, Zara. :dice:"),
            ("Zara", PC, "I open it."),
            ("Dice", DM, "Zara rolls!\n17\nEffect: Light"),
            ("Throk", PC, "Grunt."),
        ],
    ),
}

# By file name: the content, and each entry by title with its category.
BOOKS: dict[str, tuple[bytes, list[tuple[str, str]]]] = {
    "both vocabularies.json": (
        as_json(
            {
                "name": "Ash",
                "description": "Lore.",
                "extensions": {"chub": {"id": 1}},
                "entries": {
                    "1": {
                        "uid": 1,
                        "key": ["Ashford"],
                        "keys": ["Ashford"],
                        "comment": "",
                        "name": "Ashford",
                        "order": 10,
                        "insertion_order": 10,
                        "content": "Ashford is a mining town.",
                        "disable": False,
                        "enabled": True,
                        "position": 10,
                    },
                    "2": {
                        "key": ["  King Ozric ", "ozric"],
                        "keys": [],
                        "content": "He rules.",
                        "role": None,
                    },
                    "3": {"key": ["{{char}}", ""], "content": "All fear the dark.", "name": "Fear"},
                },
            }
        ),
        [("Ashford", "LOC"), ("King Ozric", "NPC"), ("Fear", "EVT")],
    ),
    "a list.json": (
        as_json(
            {
                "entries": [
                    {"title": "The Deep", "keys": ["deep"], "content": "Dark.", "tags": ["location"]},
                    {"title": "Garrick", "key": "garrick", "value": "Garrick is the leader of thieves."},
                ]
            }
        ),
        [("The Deep", "LOC"), ("Garrick", "NPC")],
    ),
    "a bare list.json": (
        as_json(
            [
                {
                    "entry_id": 1,
                    "title": "Moonblade",
                    "keys": ["x"],
                    "content": "Moonblade is an elven sword.",
                },
                {"entry_id": 2, "title": "Festival of Stars", "keys": ["y"], "content": "Held each autumn."},
            ]
        ),
        [("Moonblade", "ITEM"), ("Festival of Stars", "EVT")],
    ),
    "in UTF-16.json": (
        json.dumps(
            {"entries": {"0": {"comment": "Elena", "content": "Elena is the smith’s daughter."}}}
        ).encode("utf-16"),
        [("Elena", "NPC")],
    ),
    "Conditions.json": (
        as_json(
            [
                {"index": "blinded", "name": "Blinded", "desc": ["- A blinded creature can't see."]},
                {"index": "prone", "name": "Prone", "desc": ["A prone creature crawls."]},
            ]
        ),
        [("Blinded", "EVT"), ("Prone", "EVT")],
    ),
    "chimera.md": (
        b"```statblock\nname: Chimera\nimage: [[x]]\nac: 24\nactions:\n - name: Bite\n   desc: 25\n```\n",
        [("Chimera", "MON")],
    ),
    "age-of-ash.md": (
        b"---\ntags: [world/overview]\n---\n# The Age of Ash\nIt began.\n",
        [("The Age of Ash", "EVT")],
    ),
    "Zara.md": (b"---\ntags: [character]\nplayer: Anna\n---\nShe limps.\n", [("Zara", "PC")]),
    "README.md": (b"# My vault\n\nHow to use it.\n", [("README", "EVT")]),
}

CARDS: dict[str, bytes] = {
    "compressed.png": with_chunk(b"zTXt", b"chara\0\0" + zlib.compress(_CARD_TEXT)),
    "international.png": with_chunk(b"iTXt", b"Chara\0\0\0en\0\0" + _CARD_TEXT),
    "unpadded.png": with_chunk(b"iTXt", b"ccv3\0\1\0\0\0" + zlib.compress(_CARD_TEXT.rstrip(b"="))),
    "behind a picture.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0" + b"\0" * 500 + b"\xff\xd9" + archive(CARD_V2),
    "webui.yaml": b"name: Seraphina\ngreeting: Hi.\ncontext: Seraphina guards the glade.\n",
    "pygmalion.json": as_json({"char_name": "Seraphina", "char_persona": "calm", "char_greeting": "Hi."}),
}

# By file name: the content, and why it is refused.
REFUSED: dict[str, tuple[bytes, str]] = {
    "cut.png": (with_chunk(b"tEXt", b"chara\0" + _CARD_TEXT)[:200], "longer than the picture"),
    "cut.json": (b'{"entries": {"0": {"uid": 0, "content": "tex', "starting at line 1"),
    "deep.json": (b"[" * 100_000, "too deeply"),
    "deep book.json": (b'{"entries":' + b'{"a":' * 2_000 + b"1" + b"}" * 2_001, "too deeply"),
    "empty.json": (b"", "it is empty"),
    "blank.txt": (b"\r\n\r\n", "it is empty"),
    "prose.txt": (b"The night was dark.\nWe went to the mill.\n", "of no known kind"),
}
