"""Chats of tables: the Roll20 archive, DiscordChatExporter in all its forms, and exports of Telegram."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dndbots.ids import DM
from dndbots.interop.formats.bounds import (
    as_dict,
    as_list,
    as_text,
    clean_name,
    clean_text,
    cut_text,
    decode_base64,
    first_text,
    parse_json,
)
from dndbots.interop.formats.dates import Sessions, parse_date
from dndbots.interop.formats.html_text import html_to_text
from dndbots.interop.formats.neutral import ImportedChat, ImportOptions, ReadFile
from dndbots.interop.formats.roles import SpeakerRoles
from dndbots.interop.history.messages import ChatMessage
from dndbots.interop.readers.discord_exports import page_messages, table_messages
from dndbots.interop.transcript_cast import DICE

_MSGDATA: Final = re.compile(r"\bmsgdata\s*=\s*([\"'])([^\"'<]*)\1")
_TEMPLATE: Final = re.compile(r"\{\{([^{}=]{1,80})=([^{}]{0,2000})\}\}")
_REFERENCE: Final = re.compile(r"\$\[\[(\d{1,4})\]\]")
# Kinds of messages that somebody wrote; 19 is a reply, 20 and 23 are commands.
_SAID: Final = ("Default", "Reply", "ApplicationCommand", "ContextMenuCommand", "None", "0", "19", "20", "23")
_LEADS: Final = re.compile(r"\b(?:(?:dungeon|game)[ -]?master|[dg]m)\b", re.IGNORECASE)
# Programs that roll dice or hand words on. They are nobody at the table.
_DICE_BOTS: Final = re.compile(
    r"(?:the )?(?:avrae|rp ?bot|side ?kick|tupper(?:box)?|pluralkit|beyond ?20|d(?:&d|nd) ?beyond"
    r"|rpg ?sessions|(?:dice|die|roll(?:er)?|d20)[ _-]?(?:maiden|bot|golem|parser|witch|roller|butler|goblin)"
    r"|dice|dicecord|ddice|roll ?'?em|rolisteam)(?: bot)?(?: ?[#(\[].*)?",
    re.IGNORECASE,
)
_MENTION: Final = re.compile(r"<@[!&]?(\d{1,20})>")
_EMOJI: Final = re.compile(r"<a?:(\w{1,40}):\d{1,20}>")
_TEXT_HEAD: Final = re.compile(r"^\[([^\[\]]{8,40})\] (\S.{0,80}?)(?: \(pinned\))?$")
_DISCRIMINATOR: Final = re.compile(r"#\d{4}$")
_ATTACHED: Final = ("{Attachments}", "{Embed}", "{Reactions}", "{Stickers}")
_GM: Final = re.compile(r"\(GM\)\s{0,20}$")


def has_roll20(text: str) -> bool:
    """Return True for a saved chat archive of Roll20."""
    return _MSGDATA.search(text[: 1 << 22]) is not None


def read_roll20(path: Path, text: str, options: ImportOptions) -> ReadFile:
    """Return the chat of a Roll20 archive. Whispers and rolls of the GM are not for everybody."""
    found = _MSGDATA.search(text)
    if found is None:
        raise ValueError("it has no msgdata")
    try:
        pages = parse_json(as_text(decode_base64(found[2])))
    except ValueError as exc:
        raise ValueError(f"its msgdata is damaged: {exc}") from exc
    values = [as_dict(value) for page in as_list(pages) for value in as_list(page) or as_dict(page).values()]
    values.sort(key=lambda value: _stamp(value.get(".priority")))
    chat, roles = clean_name(path.stem, "Roll20"), SpeakerRoles(options)
    sessions, messages = Sessions(chat, options.session), list[ChatMessage]()
    gms = {str(value.get("playerid")) for value in values if _GM.search(str(value.get("who")))}
    names = _players(values)
    for value in values:
        words = _roll20_text(value)
        if not words:
            continue
        who = clean_name(_GM.sub("", str(value.get("who") or "")), "Somebody")
        is_gm = _GM.search(str(value.get("who"))) is not None or value.get("type") == "desc"
        name, role = roles.cast(who, DM if is_gm else "pc")
        time = parse_date(value.get(".priority"))
        witnesses: tuple[str, ...] | None = None
        if value.get("type") == "whisper":
            targets = str(value.get("target") or "").split(",")
            told = [names.get(target.strip(), "") for target in targets if target.strip() not in gms]
            witnesses = tuple(roles.cast(name, "pc")[0] for name in told if name)
        elif value.get("type") == "gmrollresult":
            witnesses = ()
        messages.append(
            ChatMessage(name, cut_text(words), role=role, session=sessions.name_at(time), witnesses=witnesses,
                        time=time.isoformat() if time else None)
        )  # fmt: skip
    return ReadFile("Roll20 chat archive", chats=(ImportedChat(chat, messages),))


def _players(values: list[dict[str, Any]]) -> dict[str, str]:
    """Return the name that each player mostly goes by, and those that whispers name."""
    spoken: dict[str, Counter[str]] = {}
    for value in values:
        who = clean_name(_GM.sub("", str(value.get("who") or "")))
        spoken.setdefault(str(value.get("playerid")), Counter())[who] += 1
    names = {
        str(value.get("target")): clean_name(_GM.sub("", str(value.get("target_name"))))
        for value in values
        if value.get("target_name")
    }
    return {**names, **{player: counts.most_common(1)[0][0] for player, counts in spoken.items()}}


def _roll20_text(value: Mapping[str, Any]) -> str:
    content = str(value.get("content") or "")
    if value.get("type") in ("rollresult", "gmrollresult"):
        try:
            total = as_dict(parse_json(content)).get("total")
        except ValueError:
            total = None
        return clean_text(f"rolls {value.get('origRoll') or 'dice'}: {total}") if total is not None else ""
    rolls = [as_dict(as_dict(roll).get("results")).get("total") for roll in as_list(value.get("inlinerolls"))]

    def told(found: re.Match[str]) -> str:
        number = int(found[1])
        return str(rolls[number]) if number < len(rolls) else "?"

    content = _REFERENCE.sub(told, content)
    if "{{" in content:
        content = ", ".join(f"{key}: {text}" for key, text in _TEMPLATE.findall(content)) or content
    return clean_text(html_to_text(content))


def _stamp(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e15 else 0.0


def is_discord(value: Any) -> bool:
    """Return True for the JSON of DiscordChatExporter."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    first = as_dict((value["messages"] or [{}])[0])
    return "channel" in value or "guild" in value or ("author" in first and "content" in first)


def read_discord(path: Path, value: Mapping[str, Any], options: ImportOptions) -> ReadFile:
    """Return a channel of Discord. Bots that post under the names of characters are taken for them."""
    channel = clean_name(as_dict(value.get("channel")).get("name"))
    chat = clean_name(path.stem, channel or "Discord")
    roles, sessions, messages = SpeakerRoles(options), Sessions(chat, options.session), list[ChatMessage]()
    for fields in map(as_dict, as_list(value.get("messages"))):
        if str(fields.get("type", "Default")) not in _SAID:
            continue  # somebody joined, pinned, renamed
        author = as_dict(fields.get("author"))
        words = _discord_text(fields)
        if not words:
            continue
        own = clean_name(first_text(author, "nickname", "name"), "Somebody")
        titles = [str(as_dict(role).get("name")) for role in as_list(author.get("roles"))]
        called = (own, clean_name(first_text(author, "name")))
        is_dice = (
            author.get("isBot") is True
            and any(map(_DICE_BOTS.fullmatch, called))
            and not roles.is_mapped(own)
        )
        leads = is_dice or any(map(_LEADS.search, titles))
        name, role = roles.cast(DICE if is_dice else own, DM if leads else "pc")
        time = parse_date(fields.get("timestamp"))
        messages.append(
            ChatMessage(name, cut_text(words), role=role, is_user=author.get("isBot") is not True,
                        session=sessions.name_at(time), time=time.isoformat() if time else None)
        )  # fmt: skip
    return ReadFile("Discord channel", chats=(ImportedChat(chat, messages),))


def _discord_text(fields: Mapping[str, Any]) -> str:
    """Return the words of a message and of what a bot attached; mentions become names."""
    names = {
        str(as_dict(one).get("id")): clean_name(first_text(as_dict(one), "nickname", "name"))
        for one in as_list(fields.get("mentions"))
    }
    content = _MENTION.sub(lambda found: names.get(found[1]) or "somebody", str(fields.get("content") or ""))
    parts = [_EMOJI.sub(lambda found: f":{found[1]}:", content)]
    for embed in map(as_dict, as_list(fields.get("embeds"))):
        parts += [first_text(as_dict(embed.get("author")), "name"), first_text(embed, "title")]
        parts += [first_text(embed, "description")]
        told = map(as_dict, as_list(embed.get("fields")))
        parts += [
            ": ".join(filter(None, (first_text(one, "name"), first_text(one, "value")))) for one in told
        ]
    return clean_text("\n".join(filter(None, parts)))


def is_discord_text(text: str) -> bool:
    """Return True for the plain text of DiscordChatExporter."""
    head = text[:2_000]
    return head.lstrip("=\r\n ").startswith("Guild:") and "Channel:" in head


def read_discord_text(path: Path, text: str, options: ImportOptions) -> ReadFile:
    """Return a channel of Discord that was exported as plain text: a time and a name above each message."""
    messages: list[dict[str, Any]] = []
    channel, said = "", list[str]()
    for line in text.splitlines():
        head = _TEXT_HEAD.match(line)
        if messages and line and set(line) == {"="}:
            break  # what follows counts the messages
        if head is not None:
            name = _DISCRIMINATOR.sub("", head[2])
            said = []
            author = {"name": name, "isBot": _DICE_BOTS.fullmatch(name) is not None}
            messages.append({"timestamp": head[1], "author": author, "content": said})
        elif line.startswith("Channel:") and not messages:
            channel = line.partition(":")[2].strip()
        elif messages and line not in _ATTACHED:
            said.append(line)
    for message in messages:
        message["content"] = "\n".join(message["content"]).strip()
    return read_discord(path, {"channel": {"name": channel}, "messages": messages}, options)


def read_discord_page(path: Path, text: str, options: ImportOptions) -> ReadFile:
    """Return a channel of Discord that was exported as a page."""
    return read_discord(path, {"messages": page_messages(text)}, options)


def read_discord_table(path: Path, text: str, options: ImportOptions) -> ReadFile:
    """Return a channel of Discord that was exported as a table."""
    rows = table_messages(text, lambda name: _DICE_BOTS.fullmatch(name) is not None)
    return read_discord(path, {"messages": list(rows)}, options)


def is_telegram(value: Any) -> bool:
    """Return True for the JSON of a chat that Telegram exported."""
    if not isinstance(value, dict):
        return False
    messages = [as_dict(one) for one in as_list(value.get("messages"))[:50]]
    return any("from" in one and "text" in one and one.get("type") == "message" for one in messages)


def read_telegram(path: Path, value: Mapping[str, Any], options: ImportOptions) -> ReadFile:
    """Return a chat of Telegram. What people did to the group is no play."""
    chat = clean_name(value.get("name"), clean_name(path.stem, "Telegram"))
    roles, sessions, messages = SpeakerRoles(options), Sessions(chat, options.session), list[ChatMessage]()
    for fields in map(as_dict, as_list(value.get("messages"))):
        text = fields.get("text")
        pieces = text if isinstance(text, list) else [text]
        told = [
            piece if isinstance(piece, str) else str(as_dict(piece).get("text") or "") for piece in pieces
        ]
        words = clean_text("".join(told))
        if fields.get("type") != "message" or not words:
            continue
        name, role = roles.cast(clean_name(fields.get("from"), "Somebody"), "pc")
        time = parse_date(fields.get("date_unixtime")) or parse_date(fields.get("date"))
        messages.append(
            ChatMessage(name, cut_text(words), role=role, session=sessions.name_at(time),
                        time=time.isoformat() if time else None)
        )  # fmt: skip
    return ReadFile("Telegram chat", chats=(ImportedChat(chat, messages),) if messages else ())
