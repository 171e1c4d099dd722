"""Material of a scene: what the adventure and the rules decided in the house's words, for a model to tell.

The model's telling takes the place of these texts. What it leaves out and must be told (who, where, which
ways and things, numbers) is added in the house's words, so that nothing is lost and nothing is told twice.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dndbots.canon.loot import loot_of
from dndbots.events import EventType, GameEvent, audience
from dndbots.game.models.echoes import EchoFilter, share_told
from dndbots.game.models.first_person import split_units
from dndbots.game.state.game_notes import played_of
from dndbots.game.state.step import Step
from dndbots.ids import DM
from dndbots.text.sentences import split_sentences
from dndbots.text.words import content_stems

# Texts that a telling may take the place of. The rules' own records of dice, wounds and deaths stay.
_TOLD_ANEW: Final = frozenset(
    (EventType.DM_NARRATION, EventType.DISCOVERY, EventType.LOOT, EventType.QUEST_UPDATE)
)
_NUMBER: Final = re.compile(r"\d+")
# A telling with less of a text than this does not tell it.
_LEAST_TOLD: Final = 0.25
# Beats of a text that somebody learns nothing from: a place that was shown before.
_SHOWN: Final = "told:"


@dataclass(frozen=True, slots=True)
class SceneTelling:
    """A telling of a scene: the model's words with what had to be added, before and after them."""

    words: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, (self.before, self.words, self.after)))


def find_material(step: Step, place: str) -> list[GameEvent]:
    """Return the events of a step that a telling at a place may take the place of, in order.

    All of them have the same audience: nobody learns from the telling what was told to others alone.
    """
    here = {DM, *step.table.together(place)}
    found = [
        event
        for event in step.events
        if event.event_type in _TOLD_ANEW
        and event.source == DM
        and event.content
        and event.known.location == place
        and here <= audience(event)
    ]
    return [event for event in found if audience(event) == audience(found[0])]


def tell_material(
    step: Step,
    material: Sequence[GameEvent],
    words: str,
    *,
    beside: Sequence[str] = (),
    earlier: Sequence[str] = (),
    is_open: bool = False,
) -> SceneTelling:
    """Return the telling of a scene: a model's words, and what they leave out in the house's.

    `beside` is what else the model told in this scene, `earlier` what its hearers heard before. What
    was told of a scene is not added again (what is found or decided is), and the model's sentences that an
    added one tells again are dropped. In an open game the model describes every place, and the house has
    nothing better to say of it.
    """
    before: list[str] = []
    after: list[str] = []
    told = EchoFilter(earlier)
    for event in material:
        whole = "\n".join((*before, words, *beside, *after))
        said = EchoFilter((words, *beside, *before, *after))
        note = played_of(event)
        missing = find_missing(step, event, whole, is_open=is_open)
        # A place is shown first, unless the model shows it and leaves something out; what came of the
        # players' own words is told before anything new.
        shows = note is not None and note.sights is not None and missing == split_sentences(event.content)
        leads = event.event_type is EventType.QUEST_UPDATE or shows
        for sentence in missing:
            was_told = event.event_type is EventType.DM_NARRATION and told.has(sentence)
            if not was_told and not said.has_exactly(sentence):
                (before if leads else after).append(sentence)
                said.add(sentence)
    added = EchoFilter((*before, *after))
    kept = [
        " ".join(unit for unit in split_units(paragraph) if not added.has(unit))
        for paragraph in words.split("\n\n")
    ]
    return SceneTelling("\n\n".join(filter(None, kept)), " ".join(before), " ".join(after))


def find_missing(step: Step, event: GameEvent, words: str, *, is_open: bool = False) -> list[str]:
    """Return the sentences of an event that a telling left out and must not."""
    labels = _labels(step, event)
    sentences = split_sentences(event.content)
    stems = {*content_stems(words)}
    numbers = {*_NUMBER.findall(words)}
    missing = [
        sentence
        for sentence in sentences
        if any(label in sentence and not _is_told(label, words, stems) for label in labels)
        or {*_NUMBER.findall(sentence)} - numbers
    ]
    if _must_be_told(event, is_open=is_open) and share_told(event.content, words) < _LEAST_TOLD:
        return sentences
    return missing


def _must_be_told(event: GameEvent, *, is_open: bool) -> bool:
    """Check for a text that its hearers learn something from: a place, a find, or what came of a deed."""
    if event.known.discovered:
        return not is_open
    note = played_of(event)
    beats = () if note is None else note.beats
    return event.event_type is EventType.DISCOVERY or any(not beat.startswith(_SHOWN) for beat in beats)


def _labels(step: Step, event: GameEvent) -> list[str]:
    """Return the names of people, ways and things that an event is about, as its text writes them."""
    note = played_of(event)
    labels = [
        name if isinstance(name, str) else name[0]
        for uid, name in event.known.names.items()
        if not uid.startswith(("pc_", "loc_"))
    ]
    if note is not None and note.sights is not None:
        labels += [*note.sights.ways, *note.sights.things.values()]
        labels += [step.table.name(uid) for uid in note.sights.people]
    labels += [item for entry in event.known.loot if (item := loot_of(entry).item)]
    return [label for label in dict.fromkeys(labels) if label]


def _is_told(label: str, words: str, stems: set[str]) -> bool:
    """Check that words name something: as it is called, or by most words of a description."""
    if label.casefold() in words.casefold():
        return True
    own = {*content_stems(label)}
    return bool(own) and 2 * len(own & stems) >= len(own)
