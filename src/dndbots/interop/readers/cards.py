"""Character cards V1, V2 and V3: JSON, pictures with text chunks, and charx archives."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from dndbots.interop.formats.bounds import (
    UnknownKind,
    as_dict,
    as_list,
    as_text,
    clean_name,
    clean_text,
    decode_base64,
    first_text,
    parse_json,
    texts_of,
    zip_part,
)
from dndbots.interop.formats.neutral import CharacterCard
from dndbots.interop.formats.png_text import PNG_MARK, text_chunks
from dndbots.interop.formats.roles import is_narrator
from dndbots.interop.readers.lorebooks import read_world_info

ZIP_MARK: Final = b"PK\x03\x04"
_SPEC: Final = "chara_card_v"
_TELLERS: Final = frozenset(("narrator", "rpg", "game master", "gm", "scenario", "dungeon master", "world"))
_OLD: Final = ("description", "personality", "scenario", "first_mes", "mes_example")


def has_spec(value: Mapping[str, Any]) -> bool:
    """Return True for a card that says so itself, in whatever version."""
    return str(value.get("spec")).startswith(_SPEC)


def is_card(value: Any) -> bool:
    """Return True for a card of any version."""
    if not isinstance(value, dict):
        return False
    if has_spec(value) or "char_name" in value or "char_persona" in value:
        return True
    is_old = any(key in value for key in ("first_mes", "mes_example", "personality"))
    return "name" in value and (is_old or ("context" in value and "greeting" in value))


def card_texts(picture: bytes) -> dict[str, bytes]:
    """Return the texts of a picture that may be cards or lorebooks, by keyword. The last one wins."""
    return {key: text for key, text in text_chunks(picture) if key in ("ccv3", "chara", "naidata")}


def read_picture(picture: bytes) -> CharacterCard:
    """Return the card in a PNG; V3 wins if there are two."""
    texts = card_texts(picture)
    if "ccv3" not in texts and "chara" not in texts:
        raise UnknownKind("the picture has no card in it; was it saved by a program that strips texts?")
    return read_card(parse_json(as_text(decode_base64(texts.get("ccv3") or texts["chara"]))))


def read_archive(content: bytes) -> CharacterCard:
    """Return the card of a charx archive, also of one that stands behind a picture."""
    part = zip_part(content, "card.json")
    if part is None:
        raise ValueError("the archive has no card.json; to import files that are packed in it, unpack them")
    return read_card(parse_json(as_text(part)))


def is_picture(content: bytes) -> bool:
    """Return True for a PNG."""
    return content.startswith(PNG_MARK)


def read_card(value: Any) -> CharacterCard:
    """Return a card from its JSON."""
    root = as_dict(value)
    data = as_dict(root.get("data")) or root
    name = clean_name(data.get("name")) or clean_name(data.get("char_name")) or clean_name(root.get("name"))
    if not name:
        raise ValueError("the card has no name")
    if root.get("spec") is None and not any(
        key in data for key in (*_OLD, "char_persona", "char_greeting", "context")
    ):
        raise ValueError("it is no card: it has neither a spec nor the fields of one")
    nickname = clean_name(data.get("nickname"))
    called = nickname or name

    def told(*keys: str) -> str:
        return _named(first_text(data, *keys) or first_text(root, *keys), called)

    tags = texts_of(data.get("tags"))
    book = data.get("character_book")
    greetings = data.get("alternate_greetings")
    return CharacterCard(
        name=name,
        nickname=nickname,
        description=told("description", "char_persona", "context"),
        personality=told("personality"),
        scenario=told("scenario", "world_scenario"),
        greeting=told("first_mes", "char_greeting", "greeting"),
        greetings=tuple(_named(text, called) for text in _texts(greetings)),
        examples=told("mes_example", "example_dialogue"),
        instructions="\n".join(filter(None, (told("system_prompt"), told("post_history_instructions")))),
        notes=told("creator_notes", "creatorcomment"),
        tags=tags,
        book=replace(read_world_info(book, f"{name}'s book"), source=name)
        if isinstance(book, Mapping)
        else None,
        is_narrator=is_narrator(name) or not _TELLERS.isdisjoint(tag.casefold() for tag in tags),
        fields=dict(root),
    )


def persona_text(card: CharacterCard, user: str = "the player") -> str:
    """Return the persona of a card as text that stands beside a memory."""
    parts = (
        ("", card.description),
        ("Personality: ", card.personality),
        ("Scenario: ", card.scenario),
        ("Examples of speech:\n", card.examples),
    )
    text = "\n\n".join(f"{label}{text}" for label, text in parts if text)
    for macro in ("{{user}}", "{{User}}", "<USER>"):
        text = text.replace(macro, user)
    return text


def _texts(value: Any) -> list[str]:
    values = [value] if isinstance(value, str) else as_list(value)
    return [text for inner in values if (text := clean_text(inner))]


def _named(text: str, name: str) -> str:
    for macro in ("{{char}}", "{{Char}}", "<BOT>"):
        text = text.replace(macro, name)
    return text
