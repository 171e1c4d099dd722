"""The knowledge of one viewer as plain sentences about entities: the source of every export."""

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple, Protocol

from dndbots.canon.certainty import whispered_to
from dndbots.canon.claims import plain_key
from dndbots.canon.entities import Entity, Fact, Moment
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM, is_description, is_uid
from dndbots.memory.fact_sentences import word_fact
from dndbots.memory.human_gates import Gates
from dndbots.memory.recaps.recap import Recap
from dndbots.memory.threads import Thread
from dndbots.storage.views.view import View
from dndbots.text.clean import one_line

_NEWEST: Final = 8
_LONGEST: Final = 400
# Numbers of a character sheet are for the rules.
_SHEET: Final = re.compile(
    r"^(?:hp|hp_max|ac|xp|level|str|dex|con|int|wis|cha|gold|thac0|saves?|slots|spells|stats|speed|char_class)"
)
_SPOKEN: Final = frozenset((EventType.DIALOGUE, EventType.WHISPER, EventType.PLAYER_ACTION))
# Events that the game needs and nobody tells.
_TECHNICAL: Final = frozenset(
    (EventType.SYSTEM, EventType.SESSION_START, EventType.SESSION_END, EventType.DICE_ROLL)
)


class CampaignViews(Protocol):
    """The reads of a campaign that exports are made from. Each answers for one viewer."""

    def entities(self, *, viewer: str) -> list[Entity]: ...
    def timeline(self, *, viewer: str, last: int = 20, about: str | None = None) -> list[Moment]: ...
    def events(self, *, viewer: str) -> Iterator[GameEvent]: ...
    def recap(self, viewer: str, session: str | None = None, length: str = "medium") -> Recap: ...
    def view(self, viewer: str, as_of: str | None = None) -> AbstractContextManager[View]: ...
    def persona(self, who: str) -> str: ...
    @property
    def gates(self) -> Any: ...
    @property
    def threads(self) -> Any: ...


class CitedSentence(NamedTuple):
    """A sentence, and the events it comes from."""

    text: str
    sources: tuple[str, ...]


class KnownEntity(NamedTuple):
    """Somebody or something as a viewer knows it."""

    uid: str
    category: str
    name: str
    aliases: tuple[str, ...]
    facts: tuple[CitedSentence, ...]
    story: tuple[CitedSentence, ...]

    @property
    def lines(self) -> tuple[CitedSentence, ...]:
        """All sentences, facts first."""
        return (*self.facts, *self.story)

    @property
    def keys(self) -> list[str]:
        """The names by which a text may mention it."""
        return [name for name in dict.fromkeys((self.name, *self.aliases)) if not is_description(name)]


class ViewerKnowledge:
    """Everything that one viewer knows, read once."""

    def __init__(self, campaign: CampaignViews, viewer: str) -> None:
        self._campaign = campaign
        with campaign.view(viewer) as view:
            self.viewer = view.viewer
        gates: Gates = campaign.gates(viewer)
        self._gates = gates
        self._entities = campaign.entities(viewer=viewer)
        self.names = {entity.uid: one_line(entity.name) for entity in self._entities}

    def entities(self) -> list[KnownEntity]:
        """Return what is known of each entity, in a stable order; those without a sentence are left out."""
        made = (self._known(entity) for entity in self._entities)
        return sorted((known for known in made if known.lines), key=lambda known: known.uid)

    def threads(self) -> list[Thread]:
        """Return the threads that may come back."""
        found: list[Thread] = self._campaign.threads(self.viewer)
        return found

    def recap(self, session: str) -> Recap:
        """Return a session retold."""
        return self._campaign.recap(self.viewer, session, "long")

    def played(self) -> Iterator[GameEvent]:
        """Yield the events of play, oldest first, without forgotten ones; corrected ones in new words."""
        for event in self._campaign.events(viewer=self.viewer):
            if event.is_note or event.event_type in _TECHNICAL or not event.content.strip() or is_lore(event):
                continue
            if event.event_id not in self._gates.forgotten:
                yield self._gates.as_decided(event)

    def speaker(self, event: GameEvent) -> str:
        """Return the name of whoever an event is by."""
        return "DM" if event.source == DM else self.names.get(event.source, event.source)

    def told(self, event: GameEvent) -> str:
        """Return an event as a sentence in the third person."""
        return self._sentence(self.speaker(event), event.content, str(event.event_type), self.teller(event))

    def hearers(self, event: GameEvent) -> list[str]:
        """Return the names of those whom a whisper is for."""
        return [self.names[uid] for uid in whispered_to(event, event.known) if uid in self.names]

    def teller(self, event: GameEvent) -> str:
        """Return who an event is by, and to whom if it is a whisper."""
        hearers = self.hearers(event)
        return (
            f"{self.speaker(event)} (whispers to {' and '.join(hearers)})" if hearers else self.speaker(event)
        )

    def _known(self, entity: Entity) -> KnownEntity:
        moments = self._campaign.timeline(viewer=self.viewer, last=_NEWEST, about=entity.uid)
        story = []
        for moment in moments:
            if moment.event_id in self._gates.forgotten:
                continue
            text = self._gates.corrected.get(moment.event_id, moment.text)
            told = self._sentence(one_line(moment.who), text, moment.kind, one_line(moment.teller))
            if told and moment.kind not in _TECHNICAL and _names_one(told, (entity.name, *entity.aliases)):
                story.append(CitedSentence(told, (moment.event_id,)))
        return KnownEntity(
            entity.uid,
            entity.category or "EVT",
            self.names[entity.uid],
            tuple(map(one_line, entity.aliases)),
            tuple(self._facts(entity)),
            tuple(story),
        )

    def _facts(self, entity: Entity) -> Iterator[CitedSentence]:
        name = self.names[entity.uid]
        if not entity.alive:
            dead = [fact for fact in entity.facts if fact.key in ("alive", "killed_by", "status")]
            yield CitedSentence(f"{name} is dead.", tuple(dict.fromkeys(fact.learned_from for fact in dead)))
        for fact in entity.facts:
            text = self._fact(fact)
            if text and fact.learned_from not in self._gates.forgotten:
                yield CitedSentence(text, (fact.learned_from,))

    def _fact(self, fact: Fact) -> str:
        if fact.ended:
            return ""
        if not (fact.object in self.names if fact.op is not None else self._is_property(fact)):
            return ""
        doubt = {"belief": "It is believed: ", "rumor": "It is rumored: "}.get(fact.certainty, "")
        return f"{doubt}{word_fact(fact, self._name)}"

    def _is_property(self, fact: Fact) -> bool:
        """Return True for a property that is worth a sentence, and whose names are all known."""
        key = plain_key(fact.key or "")
        if _SHEET.match(fact.key or "") or key in ("alive", "killed_by") or " " in (fact.key or ""):
            return False
        values = fact.value if isinstance(fact.value, list) else [fact.value]
        texts = [value for value in values if isinstance(value, str) and value.strip()]
        return bool(texts) and all(text in self.names or not is_uid(text) for text in texts)

    def _name(self, who: str) -> str:
        return self.names.get(who) or one_line(who)

    @staticmethod
    def _sentence(who: str, text: str, kind: str, teller: str) -> str:
        line = one_line(text)
        if len(line) > _LONGEST:
            line = f"{line[:_LONGEST].rsplit(' ', 1)[0]}…"
        if not line:
            return ""
        is_spoken = kind in _SPOKEN and who != "DM"
        if not is_spoken or (line.startswith(who) and teller == who):
            return line
        return f"{teller}: {line}" if '"' in line else f'{teller}: "{line}"'


def _names_one(text: str, names: Iterable[str]) -> bool:
    """Return True if a sentence has one of some names: without it, it says nothing by itself."""
    folded = text.casefold()
    return any(one_line(name).casefold() in folded for name in names)


def is_lore(event: GameEvent) -> bool:
    """Return True for an imported note: the viewer knows it, but nobody played it."""
    return event.session_id == "lore" and event.event_type in (EventType.DISCOVERY, EventType.SYSTEM)


def sessions_of(events: Iterable[GameEvent]) -> list[str]:
    """Return the sessions of some events, in their order."""
    return list(dict.fromkeys(event.session_id for event in events))
