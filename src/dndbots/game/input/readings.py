"""List the likeliest readings of a line that is not understood, for its player to choose from."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dndbots.game.acts import LONGEST_WORDS, Act, Verb
from dndbots.game.input.deeds.way_finder import DIRECTIONS
from dndbots.game.input.meanings import UNCLEAR, Reading, Understanding, refuse
from dndbots.game.input.talk.offer_answers import explain_no_offer
from dndbots.game.input.vocabulary.lexicon import verb_lexicon, word_group
from dndbots.game.input.vocabulary.scene_names import (
    FOE,
    FRIEND,
    ITEM,
    PERSON,
    THING,
    WAY,
    SceneName,
    SceneNames,
)
from dndbots.game.state.options import NEWS

_MOST: Final = 3
NOT_UNDERSTOOD: Final = "that was not understood"
_VOWEL: Final = re.compile(r"[aeiouy]")
_QUOTES: Final = tuple("\"'\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb")
_AMBIGUOUS: Final = ("in", "left", "right")


def list_readings(scene: SceneNames, line: str, texts: Sequence[str]) -> Understanding:
    """Return that a line is unclear, with readings; a bare direction that leads nowhere is refused."""
    if len(texts) == 1 and texts[0] in DIRECTIONS and texts[0] not in _AMBIGUOUS:
        ways = ", ".join(way.label for way in scene.ways)
        known = f"the ways are {ways}" if ways else "you know of none"
        return refuse(line, f"there is no way {texts[0]!r} here; {known}")
    readings = {reading.said: reading for reading in _readings(scene, line, texts)}
    kept = tuple(readings.values())[:_MOST]
    reason = explain_no_offer(scene, " ".join(texts)) or NOT_UNDERSTOOD
    return Understanding(verb=UNCLEAR, readings=kept, reason=reason, words=line)


def _readings(scene: SceneNames, line: str, texts: Sequence[str]) -> Iterator[Reading]:
    for kinds in ((THING,), (PERSON, FOE, FRIEND), (WAY,), (ITEM,)):
        for name in scene.find_all(texts, kinds)[:1] if texts else ():
            yield from _with(scene, name)
    if len(texts) > 1 and verb_lexicon().has(texts[0]) and not _is_gibberish(texts):
        yield Reading(f"try it: {line}", Act(verb=Verb.TRY, words=line[:LONGEST_WORDS]))
    if texts and not _is_gibberish(texts):
        said = line if line.startswith(_QUOTES) else f'"{line}"'
        yield Reading(f"say {said}", Act(words=said[:LONGEST_WORDS]))
        if scene.speaker is not None:
            act = Act(verb=Verb.TELL, target=scene.speaker.key, words=said[:LONGEST_WORDS])
            yield Reading(f"tell {scene.speaker.label} {said}", act)


def _is_gibberish(texts: Sequence[str]) -> bool:
    noise = word_group("nonsense") | word_group("table_talk")
    return all(text in noise for text in texts) or (len(texts) == 1 and not _VOWEL.search(texts[0]))


def _with(scene: SceneNames, name: SceneName) -> Iterator[Reading]:
    """Yield what is likely done with something that is named."""
    key, label = name.key, name.label
    if name.kind == THING:
        yield Reading(f"look at {label}", Act(verb=Verb.LOOK, what=key))
        yield Reading(f"take {label}", Act(verb=Verb.TAKE, what=key))
    elif name.kind == PERSON:
        yield Reading(f"talk to {label}", Act(verb=Verb.ASK, target=key, what=NEWS))
    elif name.kind == FOE:
        yield Reading(f"talk to {label}", Act(verb=Verb.PARLEY, target=key))
        yield Reading(f"attack {label}", Act(verb=Verb.ATTACK, target=key))
    elif name.kind == WAY:
        flees = scene.is_fight
        act = Act(verb=Verb.FLEE if flees else Verb.GO, what=key)
        yield Reading(f"{'flee by' if flees else 'go'} {label}", act)
    elif name.kind == ITEM:
        yield Reading(f"use {label}", Act(verb=Verb.USE, what=key))
