"""Certainty: who holds the claims of an event, how sure they are, and how they learned them.

People who were present perceived the event. People who were told believe the speaker, and people who only
overheard it have a rumor. Knowledge spreads in no other way.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from dndbots.canon.claims import AT, CertaintyRank, Claim, claim_of
from dndbots.canon.reducers import claims_of, seen_in
from dndbots.canon.ties import EventDeed, deeds_of
from dndbots.events import EventType, GameEvent, KnownMetadata, audience
from dndbots.ids import DM, SYSTEM

PERCEIVED: Final = "perceived"
TOLD: Final = "told"
OVERHEARD: Final = "overheard"
HEARSAY: Final = "hearsay"
BELIEVED: Final = "believed"
INFERRED: Final = "inferred"
EXTRACTED: Final = "extracted"

_SPEECH = (EventType.DIALOGUE, EventType.WHISPER)
_ENGINE = (DM, SYSTEM)


class Holding(NamedTuple):
    """A claim and the people who hold it, with their certainty. `said_by` is the speaker they believe.

    `stated` claims are an event's `facts`, which may speak of an earlier time than the event itself.
    """

    claim: Claim
    holders: frozenset[str]
    certainty: CertaintyRank
    how: str
    said_by: str | None
    stated: bool = False


def is_speech(event: GameEvent) -> bool:
    """Return True for words of a character. What the DM says is not speech here, but simply true."""
    return event.event_type in _SPEECH and event.source not in _ENGINE


class KnownDeeds(NamedTuple):
    """The deeds of an event, with some people who know of them, and how certain they are."""

    deeds: tuple[EventDeed, ...]
    holders: frozenset[str]
    certainty: CertaintyRank


class Effects(NamedTuple):
    """Everything that an event adds to the truth and to anybody's knowledge.

    `seen` are the entities at the place of the event, as everybody present sees; `holdings` does not repeat
    that for each of them.
    """

    seen: list[str]
    holdings: list[Holding]
    doings: Sequence[KnownDeeds] = ()


def effects_of(event: GameEvent, known: KnownMetadata, perceivers: frozenset[str]) -> Effects:
    """Return the effects of an event on the people who perceived it."""
    if event.event_type is EventType.EXTRACTION:
        return Effects([], [held for held in _extracted(known, perceivers) if held.holders])
    seen, happened = seen_in(event, known), claims_of(event, known)
    deeds = () if event.is_note else deeds_of(event, known)
    if not known.told_to and not known.facts:
        return Effects(
            seen,
            [Holding(claim, perceivers, CertaintyRank.FACT, PERCEIVED, None) for claim in happened],
            [KnownDeeds(deeds, perceivers, CertaintyRank.FACT)] if deeds else (),
        )
    there = (DM, event.source, *known.participants, *(known.witnesses or ()))
    told = frozenset(known.told_to).difference(there)
    present = perceivers - told
    found = [held for claim in happened for held in _happened(claim, event, present, told)]
    for claim in map(claim_of, known.facts):
        if is_speech(event):
            held = _said(claim, event, known)
        elif claim.certainty is CertaintyRank.FACT:
            held = _happened(claim, event, present, told)
        else:
            held = _supposed(claim, event, present | told)
        found += [one._replace(stated=True) for one in held]
    if told:
        # People who were only told saw nobody, so here the places are claims of their own.
        places = [Claim(who, AT, known.location) for who in seen]
        found = [held for claim in places for held in _happened(claim, event, present, told)] + found
        seen = []
    knowing = ((present, CertaintyRank.FACT), (told, _on_the_word_of(event.source)))
    doings = [KnownDeeds(deeds, people, sure) for people, sure in knowing if deeds and people]
    return Effects(seen, [held for held in found if held.holders], doings)


class _EventKey:
    """An event as a key: the same event with the same metadata object, whatever its place in the log."""

    __slots__ = ("event",)

    def __init__(self, event: GameEvent) -> None:
        self.event = event

    def __hash__(self) -> int:
        return hash(self.event.event_id)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _EventKey):
            return NotImplemented
        own, its = self.event, other.event
        return own is its or (
            own.metadata is its.metadata
            and own.event_id == its.event_id
            and own.event_type is its.event_type
            and own.source == its.source
            and own.session_id == its.session_id
            and own.content == its.content
        )


def event_effects(event: GameEvent) -> Effects:
    """Return the effects of an event on its own audience. Recent ones are kept for all who ask."""
    return _recent_effects(_EventKey(event))


@lru_cache(maxsize=512)
def _recent_effects(key: _EventKey) -> Effects:
    return effects_of(key.event, key.event.known, audience(key.event))


def _happened(
    claim: Claim, event: GameEvent, present: frozenset[str], told: frozenset[str]
) -> Iterable[Holding]:
    yield Holding(claim, present, CertaintyRank.FACT, PERCEIVED, None)
    if told:
        yield Holding(claim, told, _on_the_word_of(event.source), TOLD, event.source)


def _on_the_word_of(source: str) -> CertaintyRank:
    """Return the certainty of people who were only told by a source."""
    return CertaintyRank.FACT if source in _ENGINE else CertaintyRank.BELIEF


def _extracted(known: KnownMetadata, perceivers: frozenset[str]) -> Iterable[Holding]:
    """Yield facts extracted from a turn: true if the DM said them, otherwise believed by the listeners."""
    for claim in map(claim_of, known.facts):
        excluded = () if claim.certainty is CertaintyRank.FACT else (DM, *filter(None, (known.said_by,)))
        holders = perceivers.difference(excluded)
        yield Holding(claim, holders, claim.certainty, EXTRACTED, known.said_by, stated=True)


def _said(claim: Claim, event: GameEvent, known: KnownMetadata) -> Iterable[Holding]:
    """Yield what listeners learn from words: those addressed believe them, bystanders have a rumor."""
    # The speaker and the DM learn nothing from the words.
    excluded = (event.source, DM)
    addressed = frozenset((*known.told_to, *known.participants)).difference(excluded)
    nearby = frozenset(known.witnesses or ()).difference(excluded)
    if not addressed:
        addressed, nearby = nearby, frozenset()
    yield Holding(claim, addressed, min(claim.certainty, CertaintyRank.BELIEF), TOLD, event.source)
    yield Holding(claim, nearby - addressed, CertaintyRank.RUMOR, OVERHEARD, event.source)


def _supposed(claim: Claim, event: GameEvent, everybody: frozenset[str]) -> Iterable[Holding]:
    """Yield a stated belief or rumor: held by its source, or by everybody if the DM states it."""
    if event.source in _ENGINE:
        how = HEARSAY if claim.certainty is CertaintyRank.RUMOR else BELIEVED
        yield Holding(claim, everybody - {DM}, claim.certainty, how, None)
    else:
        yield Holding(claim, frozenset((event.source,)), claim.certainty, INFERRED, None)


def whispered_to(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Return the uids that a whisper is for. It is told as a whisper, so that nobody answers it aloud."""
    if event.event_type is not EventType.WHISPER:
        return []
    return [uid for uid in dict.fromkeys((*known.told_to, *known.participants)) if uid != event.source]
