"""Who holds what an event makes true or says, and how they came by it.

Those who were there perceived it. Those whom it was told to believe it, on the word of who told them;
those who only overheard have a rumor. Nothing else spreads knowledge.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from dndbots.canon.claims import AT, Certainty, Claim, claim_of
from dndbots.canon.reducers import claims_of, seen_in
from dndbots.canon.ties import Deed, deeds_of
from dndbots.events import EventType, GameEvent, KnownMetadata
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
    """A claim and the people who hold it: `certainty` is theirs, `said_by` whom they have it from.

    `stated` claims are an event's `facts`, which may speak of an earlier time than the event itself.
    """

    claim: Claim
    holders: frozenset[str]
    certainty: Certainty
    how: str
    said_by: str | None
    stated: bool = False


def is_speech(event: GameEvent) -> bool:
    """Whether an event is somebody's words. What the DM says is so; what anybody else says is said."""
    return event.event_type in _SPEECH and event.source not in _ENGINE


class Doings(NamedTuple):
    """What was done in an event, for some who know of it, and how surely they do."""

    deeds: tuple[Deed, ...]
    holders: frozenset[str]
    certainty: Certainty


class Effects(NamedTuple):
    """All that an event adds to what is true and to what anybody knows.

    Whom it shows at its place is seen there by everybody present; that is not repeated for each of
    them in `holdings`.
    """

    seen: list[str]
    holdings: list[Holding]
    doings: Sequence[Doings] = ()


def effects_of(event: GameEvent, known: KnownMetadata, perceivers: frozenset[str]) -> Effects:
    if event.event_type is EventType.EXTRACTION:
        return Effects([], [held for held in _extracted(known, perceivers) if held.holders])
    seen, happened = seen_in(event, known), claims_of(event, known)
    deeds = () if event.is_note else deeds_of(event, known)
    if not known.told_to and not known.facts:
        return Effects(
            seen,
            [Holding(claim, perceivers, Certainty.FACT, PERCEIVED, None) for claim in happened],
            [Doings(deeds, perceivers, Certainty.FACT)] if deeds else (),
        )
    there = (DM, event.source, *known.participants, *(known.witnesses or ()))
    told = frozenset(known.told_to).difference(there)
    present = perceivers - told
    found = [held for claim in happened for held in _happened(claim, event, present, told)]
    for claim in map(claim_of, known.facts):
        if is_speech(event):
            held = _said(claim, event, known)
        elif claim.certainty is Certainty.FACT:
            held = _happened(claim, event, present, told)
        else:
            held = _supposed(claim, event, present | told)
        found += [one._replace(stated=True) for one in held]
    if told:
        # Those who were only told did not see anybody, so for once it is written out.
        places = [Claim(who, AT, known.location) for who in seen]
        found = [held for claim in places for held in _happened(claim, event, present, told)] + found
        seen = []
    knowing = ((present, Certainty.FACT), (told, _on_the_word_of(event.source)))
    doings = [Doings(deeds, people, sure) for people, sure in knowing if deeds and people]
    return Effects(seen, [held for held in found if held.holders], doings)


def _happened(
    claim: Claim, event: GameEvent, present: frozenset[str], told: frozenset[str]
) -> Iterable[Holding]:
    yield Holding(claim, present, Certainty.FACT, PERCEIVED, None)
    if told:
        yield Holding(claim, told, _on_the_word_of(event.source), TOLD, event.source)


def _on_the_word_of(source: str) -> Certainty:
    """How sure those are of something who were only told of it."""
    return Certainty.FACT if source in _ENGINE else Certainty.BELIEF


def _extracted(known: KnownMetadata, perceivers: frozenset[str]) -> Iterable[Holding]:
    """What was read out of a turn: so, if the DM told it; or else believed by those who heard it."""
    for claim in map(claim_of, known.facts):
        nobody = () if claim.certainty is Certainty.FACT else (DM, *filter(None, (known.said_by,)))
        holders = perceivers.difference(nobody)
        yield Holding(claim, holders, claim.certainty, EXTRACTED, known.said_by, stated=True)


def _said(claim: Claim, event: GameEvent, known: KnownMetadata) -> Iterable[Holding]:
    """Words: those addressed believe them, bystanders have a rumor. The speaker learns nothing."""
    nobody = (event.source, DM)
    addressed = frozenset((*known.told_to, *known.participants)).difference(nobody)
    nearby = frozenset(known.witnesses or ()).difference(nobody)
    if not addressed:
        addressed, nearby = nearby, frozenset()
    yield Holding(claim, addressed, min(claim.certainty, Certainty.BELIEF), TOLD, event.source)
    yield Holding(claim, nearby - addressed, Certainty.RUMOR, OVERHEARD, event.source)


def _supposed(claim: Claim, event: GameEvent, everybody: frozenset[str]) -> Iterable[Holding]:
    """A belief or rumor that is stated as one: of who infers it, or of all whom the DM lets hear it."""
    if event.source in _ENGINE:
        how = HEARSAY if claim.certainty is Certainty.RUMOR else BELIEVED
        yield Holding(claim, everybody - {DM}, claim.certainty, how, None)
    else:
        yield Holding(claim, frozenset((event.source,)), claim.certainty, INFERRED, None)
