"""The laws that look at whole logs find what breaks them."""

from typing import Any

from bench.laws import acts_of_the_dead, overheard, unheard_names, unshown_uids
from tests.table import event

from dndbots.events import EventType, GameEvent

THROK, ZARA = "pc_throk_001", "pc_zara_001"
MILL, ROAD = "loc_mill_001", "loc_road_001"
GOBLINS = "mon_goblins_001"
NARRATION = EventType.DM_NARRATION


def told(number: int, content: str, **metadata: Any) -> GameEvent:
    return event(f"e{number}", "dm", content, kind=NARRATION, **metadata)


def said(number: int, who: str, content: str, **metadata: Any) -> GameEvent:
    return event(f"e{number}", who, content, play={"step": who, "act": {"verb": "say"}}, **metadata)


def unheard(*events: GameEvent) -> list[tuple[str, str]]:
    return [(one.who, one.name) for one in unheard_names(lambda: events)]


def test_a_name_is_known_to_those_before_whom_it_was_told() -> None:
    """Characters who were there may say a name, whole or in part; others may not."""
    events = [
        told(1, "Mirela Voss greets you.", names={"npc_miller_001": "Mirela Voss"}, witnesses=[THROK]),
        said(2, THROK, "Mirela Voss it is. Thank you, Mirela.", witnesses=[]),
        said(3, ZARA, "Who is Mirela?", witnesses=[]),
    ]
    assert unheard(*events) == [(ZARA, "Mirela")]


def test_a_name_that_is_given_beside_the_words_is_heard_too() -> None:
    """Words count as known once an event taught them."""
    events = [
        told(1, "She greets you.", names={"npc_miller_001": "Mirela"}, witnesses=[THROK]),
        said(2, THROK, "Mirela!", witnesses=[ZARA]),
        said(3, ZARA, "Mirela?", witnesses=[]),
    ]
    assert unheard(*events) == []


def test_common_words_are_no_names() -> None:
    """A place called by plain words, and a word with which a sentence begins, give nothing away."""
    events = [
        told(1, "A wren sits there.", names={MILL: "the mill", "npc_wren_001": "Wren"}, witnesses=[]),
        said(2, THROK, "The mill. Wren or sparrow? I saw a wren.", witnesses=[]),
        said(3, THROK, "I looked for Wren.", witnesses=[]),
    ]
    assert unheard(*events) == [(THROK, "Wren")]


def test_a_word_of_the_house_begins_a_sentence_without_being_a_name() -> None:
    """Also where the log has it in no small letters; but within a sentence, or whole, a name is a name."""
    damp = {"npc_damp_001": "Damp", "npc_hill_001": "Damp Hill"}
    events = [
        told(1, "Two come in.", names=damp, witnesses=[]),
        said(2, THROK, "Ah, the cellar. Damp, dark and probably occupied.", witnesses=[]),
        said(3, ZARA, "And where is Damp?", witnesses=[]),
        said(4, ZARA, "Damp Hill is his name.", witnesses=[]),
    ]
    assert unheard(*events) == [(ZARA, "Damp"), (ZARA, "Damp Hill"), (ZARA, "Hill")]


def test_the_dead_who_act_are_found() -> None:
    """Somebody who was killed; and a group only once all of it was."""
    events = [
        told(1, "Two goblins.", enemies=[GOBLINS], enemy_count=2, witnesses=[]),
        told(2, "One falls.", killed=[GOBLINS], witnesses=[]),
        event("e3", GOBLINS, "It bites.", kind=EventType.COMBAT_ROUND, killed=[THROK], witnesses=[]),
        event("e4", THROK, "Ow.", witnesses=[]),
        told(5, "The other falls.", killed=[GOBLINS], witnesses=[]),
        event("e6", GOBLINS, "It bites.", kind=EventType.COMBAT_ROUND, witnesses=[]),
    ]
    assert [one.event_id for one in acts_of_the_dead(events)] == ["e4", "e6"]


def test_those_who_hear_from_elsewhere_are_found() -> None:
    """At another place, or the third at a whisper."""
    events = [
        told(1, "The mill.", location=MILL, participants=[THROK, ZARA]),
        event("e2", "dm", "Zara goes.", kind=EventType.LOCATION_CHANGE, location=ROAD, participants=[ZARA]),
        said(3, THROK, "She is gone.", location=MILL, participants=[THROK], witnesses=[ZARA]),
        said(4, THROK, "Nobody heard that.", location=MILL, participants=[THROK]),
        event("e5", "dm", "Psst.", kind=EventType.WHISPER, told_to=[THROK], witnesses=[ZARA]),
    ]
    assert [(one.who, one.event.event_id) for one in overheard(events)] == [(ZARA, "e3"), (ZARA, "e5")]


def test_what_somebody_was_never_shown_is_found_anywhere_in_what_it_perceived() -> None:
    """A place that others come from, however deep it is noted; but not to those who know it, nor twice."""
    note = {"step": "march", "origin": ROAD, "beats": [f"lit:{ZARA}/{GOBLINS}"]}
    events = [
        told(1, "The road.", location=ROAD, participants=[ZARA]),
        told(2, "The mill.", location=MILL, participants=[THROK]),
        told(3, "Zara comes.", location=MILL, participants=[ZARA], witnesses=[THROK], play=note),
        told(4, "And goes.", location=MILL, witnesses=[THROK], facts=[fact(ZARA, ROAD)]),
        told(5, "That was the road.", location=MILL, witnesses=[THROK], facts=[fact("npc_wren_001", ROAD)]),
    ]
    assert [(one.who, one.uid, one.where, one.event.event_id) for one in unshown_uids(events)] == [
        (THROK, ROAD, "play.origin", "e3"),
        (THROK, GOBLINS, "play.beats", "e3"),
        (ZARA, GOBLINS, "play.beats", "e3"),
        (THROK, "npc_wren_001", "facts.subject", "e5"),
    ]
    assert not list(unshown_uids([told(1, "Wren.", witnesses=[THROK], names={"npc_wren_001": "Wren"})]))


def fact(subject: str, place: str) -> dict[str, str]:
    return {"subject": subject, "op": "@", "object": place}
