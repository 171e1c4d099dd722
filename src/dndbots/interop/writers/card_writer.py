"""Character cards: V2 and V3 in one picture, with the knowledge of the character as its book."""

import base64
import json
from typing import Any, Final

from dndbots.events import PERSONA
from dndbots.ids import DM
from dndbots.interop.formats.neutral import CharacterCard
from dndbots.interop.formats.png_text import with_texts
from dndbots.interop.writers.knowledge import CampaignViews, ViewerKnowledge
from dndbots.interop.writers.lore_writer import OWN, write_world_info

_TEXTS: Final = (
    "description", "personality", "scenario", "first_mes", "mes_example", "creator_notes", "system_prompt",
    "post_history_instructions", "creator", "character_version",
)  # fmt: skip


def card_of(campaign: CampaignViews, who: str) -> dict[str, Any]:
    """Return the card of a character as V2: its persona, and a book of what it knows, from its own view."""
    knowledge = ViewerKnowledge(campaign, who)
    own = _own_card(campaign, knowledge.viewer)
    data: dict[str, Any] = {**dict.fromkeys(_TEXTS, ""), **own}
    name = "Narrator" if knowledge.viewer == DM else knowledge.names.get(knowledge.viewer, who)
    entities = knowledge.entities()
    myself = next((entity for entity in entities if entity.uid == knowledge.viewer), None)
    data["name"] = str(data.get("name") or name)
    if not data["description"] and myself is not None:
        data["description"] = "\n".join(line.text for line in myself.facts)
    data.setdefault("alternate_greetings", [])
    data.setdefault("tags", [])
    extensions = data.get("extensions")
    data["extensions"] = extensions if isinstance(extensions, dict) else {}
    entries = [
        {
            "id": number,
            "keys": entity.keys or [entity.name],
            "content": "\n".join(line.text for line in entity.lines),
            "name": entity.name,
            "comment": entity.name,
            "enabled": True,
            "insertion_order": 100,
            "case_sensitive": False,
            "constant": entity.category == "QST",
            "selective": False,
            "secondary_keys": [],
            "position": "before_char",
            "extensions": {OWN: {"entity": entity.uid, "category": entity.category}},
        }
        for number, entity in enumerate(entities)
        if entity.uid != knowledge.viewer
    ]
    data["character_book"] = {
        "name": f"What {data['name']} knows",
        "entries": entries,
        "extensions": {OWN: {"version": 1}},
    }
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": data}


def _own_card(campaign: CampaignViews, uid: str) -> dict[str, Any]:
    """Return the fields of the card that a character was imported from, from its own view."""
    found: dict[str, Any] = {}
    for event in campaign.events(viewer=uid):
        persona = event.metadata.get(PERSONA)
        names = event.metadata.get("names")
        if isinstance(persona, dict) and isinstance(names, dict) and uid in names:
            fields = json.loads(str(persona.get("fields") or "{}"))
            data = fields.get("data")
            found = dict(data) if isinstance(data, dict) else _from_v1(fields)
    return found


def _from_v1(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key in (*_TEXTS, "name", "tags")}


def card_picture(card: dict[str, Any], picture: bytes | None = None) -> bytes:
    """Return a picture with a V2 card in it, and the same as V3, as SillyTavern writes them."""
    newer = {**card, "spec": "chara_card_v3", "spec_version": "3.0"}
    newer["data"] = {"group_only_greetings": [], **card["data"]}
    return with_texts(picture, {"chara": _packed(card), "ccv3": _packed(newer)})


def write_card(card: CharacterCard) -> dict[str, Any]:
    """Return a neutral card as JSON, as it was if it came from a card with a spec; else as V2."""
    if card.fields.get("spec"):
        return dict(card.fields)
    data: dict[str, Any] = {
        **dict.fromkeys(_TEXTS, ""),
        "name": card.name,
        "description": card.description,
        "personality": card.personality,
        "scenario": card.scenario,
        "first_mes": card.greeting,
        "mes_example": card.examples,
        "creator_notes": card.notes,
        "system_prompt": card.instructions,
        "alternate_greetings": list(card.greetings),
        "tags": list(card.tags),
        "extensions": {},
    }
    if card.nickname:
        data["nickname"] = card.nickname
    if card.book is not None:
        data["character_book"] = write_world_info(card.book)
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": data}


def _packed(card: dict[str, Any]) -> bytes:
    return base64.b64encode(json.dumps(card, ensure_ascii=False, sort_keys=True).encode("utf-8"))
