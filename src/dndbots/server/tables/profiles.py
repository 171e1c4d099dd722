"""Profiles: people, places, things and quests as one viewer knows them, in sentences with their sources."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from dndbots._jsontext import as_json
from dndbots.campaign import Campaign
from dndbots.canon import claims
from dndbots.canon.entities import Entity, Fact
from dndbots.game.dm.inventions import SEEN_AS
from dndbots.game.state.sheet_facts import SPELLS
from dndbots.ids import DM, category_of
from dndbots.memory.fact_sentences import FactSentences
from dndbots.storage.views.view import View
from dndbots.text.labels import write_name

KINDS: Final = {
    "PC": "Party",
    "NPC": "People",
    "MON": "Foes",
    "LOC": "Places",
    "QST": "Quests",
    "FAC": "Factions",
    "ITEM": "Things",
    "EVT": "Events",
}
_DISCOVERED: Final = "discovered"
# Numbers of a sheet and bookkeeping: a page of memories is not a sheet.
_SHEET: Final = frozenset(
    ("hp", "hp_max", "ac", "xp", "gold", "level", "class", "str", "dex", "con", "int", "wis", "cha", SPELLS)
)
_SHEET_PARTS: Final = (claims.ITEM,)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownStatement:
    """A fact as a sentence, with how sure the viewer is and the event it was learned from.

    `question` asks who else knows it; only the DM's pages have it.
    """

    text: str
    certainty: str
    source: str
    is_past: bool = False
    question: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """An entity as a viewer knows it. `uid` is the one that the viewer may see."""

    uid: str
    name: str
    category: str
    aliases: tuple[str, ...] = ()
    is_alive: bool = True
    place: str = ""
    state: str = ""
    statements: tuple[KnownStatement, ...] = ()
    past: tuple[KnownStatement, ...] = ()


def list_profiles(
    campaign: Campaign, viewer: str, *, as_of: str | None = None, most: int = 400
) -> dict[str, list[Profile]]:
    """Return what a viewer knows of, by kind, at most so many of each."""
    profiles: dict[str, list[Profile]] = {kind: [] for kind in KINDS}
    with campaign.view(viewer, as_of) as view:
        by_kind: dict[str, list[str]] = {}
        for uid in view.everybody():
            by_kind.setdefault(category_of(uid) or "", []).append(uid)
        uids = [uid for kind in KINDS for uid in by_kind.get(kind, ())[:most]]
        for profile in _profiles(view, view.entities(uids).values()):
            profiles[profile.category].append(profile)
    return {
        kind: sorted(found, key=lambda one: one.name.casefold()) for kind, found in profiles.items() if found
    }


def read_profile(campaign: Campaign, viewer: str, who: str, *, as_of: str | None = None) -> Profile:
    """Return one entity by uid or name, with what was true of it before. Raises `UnknownEntity`."""
    with campaign.view(viewer, as_of) as view:
        entity = view.entity(who)
        past = [fact for fact in view.history(who) if fact.superseded_by is not None]
        (profile,) = _profiles(view, [entity], _no_longer_so(past, entity.facts))
    return profile


def _no_longer_so(past: Iterable[Fact], current: Iterable[Fact]) -> list[Fact]:
    """Return what was true before and is not now, each once: a fact may have been stated several times."""
    told = {_stated(fact) for fact in current}
    ended = []
    for fact in past:
        if _stated(fact) not in told:
            told.add(_stated(fact))
            ended.append(fact)
    return ended


def _stated(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.key or fact.op or "", as_json([fact.value, fact.object])


def _profiles(view: View, entities: Iterable[Entity], past: Iterable[Fact] = ()) -> Iterator[Profile]:
    known = list(entities)
    spelled = view.spell_uids([entity.uid for entity in known])
    places = view.called({entity.location for entity in known if entity.location})
    for entity in known:
        sentences = FactSentences(view, {entity.uid: entity.name})
        is_sheet = category_of(entity.uid) in ("PC", "MON")
        facts = [
            fact
            for fact in entity.facts
            if not (is_sheet and is_of_sheet(fact)) and not _says_the_name(fact, entity.name)
        ]
        place = places.get(entity.location) if entity.location else None
        yield Profile(
            uid=spelled.get(entity.uid, entity.uid),
            name=write_name(entity.name),
            category=category_of(entity.uid) or "",
            aliases=entity.aliases,
            is_alive=entity.alive,
            place=write_name(place.name) if place is not None else "",
            state=str(entity.properties.get("state", "")),
            statements=tuple(_statement(view, sentences, fact) for fact in facts),
            past=tuple(_statement(view, sentences, fact) for fact in past if not is_of_sheet(fact)),
        )


def _says_the_name(fact: Fact, name: str) -> bool:
    """Tell whether a fact says no more than its heading: a look that is the name, a place that is known."""
    return fact.key == _DISCOVERED or (fact.key == SEEN_AS and str(fact.value).casefold() == name.casefold())


def is_of_sheet(fact: Fact) -> bool:
    """Tell whether a fact is a number or an item of a character's sheet."""
    key = fact.key or ""
    return key in _SHEET or key.partition(" ")[0] in _SHEET_PARTS


def _statement(view: View, sentences: FactSentences, fact: Fact) -> KnownStatement:
    relation = {"op": fact.op, "object": fact.object} if fact.op else {"key": fact.key, "value": fact.value}
    return KnownStatement(
        text=sentences.sentence(fact),
        certainty=fact.certainty,
        source=fact.learned_from,
        is_past=fact.superseded_by is not None,
        question={"subject": fact.subject, **relation} if view.viewer == DM else None,
    )
