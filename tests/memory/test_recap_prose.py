"""The English of recaps: who, where and why, in sentences that somebody would read aloud."""

from itertools import count
from typing import Any

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.events import EventType
from dndbots.testing import memory_campaign

ELENA, THROK, ZARA = "npc_elena_001", "pc_throk_001", "pc_zara_001"
QUEST, MILL, GREEN = "qst_the_bell_001", "loc_mill_001", "loc_green_001"
NAMES = {QUEST: "the Lost Bell", MILL: "the old mill", GREEN: "Oak Green", ELENA: "Elena"}
GOAL = {"subject": QUEST, "key": "goal", "value": "Find out who took the bell."}
_number = count()


def told(kind: EventType, source: str, text: str, *, place: str = MILL, **known: Any) -> Any:
    known = {"names": NAMES, "location": place, **known}
    return event(f"e{next(_number)}", source, text, kind=kind, participants=[THROK, ZARA], **known)


def offered(place: str = GREEN) -> Any:
    text = '"Find out who took the bell. The village will pay you nine gold pieces."'
    return told(
        EventType.DIALOGUE, ELENA, text, place=place, quest_id=QUEST, quest_state="offered", facts=[GOAL]
    )


def taken(quest: str = QUEST, place: str = GREEN, **known: Any) -> Any:
    return told(
        EventType.QUEST_UPDATE, "dm", "Agreed.", place=place, quest_id=quest, quest_state="accepted", **known
    )


def fought(foe: str = "mon_rats_001") -> Any:
    names = {**NAMES, foe: "gray rats"}
    return told(EventType.COMBAT_START, "dm", "Rats!", enemies=[foe], enemy_count=2, names=names)


def recap_of(*events: Any, length: str = "medium") -> str:
    return " ".join(memory_campaign(events).recap("dm", length=length).text.split())


def test_the_first_sentence_says_who_asked_whom_for_what_and_where() -> None:
    """A story that begins with a request names the party in it, and no sentence says only where they were."""
    text = recap_of(offered(), taken(), fought())
    assert text.startswith(
        "Previously on s01: At Oak Green, Elena asked Throk and Zara to find out who took the bell, and the "
        'party took on "The Lost Bell".'
    )
    assert "were at Oak Green" not in text


def test_what_somebody_asked_for_is_not_quoted_as_well() -> None:
    """The goal is told once. Another sentence of the same speech may be quoted."""
    text = recap_of(offered(), taken(), fought())
    assert "Find out who took the bell," not in text
    assert '"The village will pay you nine gold pieces," said Elena.' in text


def test_nobody_is_quoted_before_the_story_begins() -> None:
    """A line from before the first thing told has nothing that it could belong to."""
    early = told(EventType.DIALOGUE, ELENA, '"I promise to wait for you at the mill tonight."')
    text = recap_of(early, offered(), taken(), fought())
    assert "asked Throk and Zara" in text
    assert "wait for you" not in text.partition("Still open:")[0]


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        (
            '"Well," says Elena. "Signed! By the pair of them! I go."',
            "Signed! By the pair of them!",
        ),
        ('"So the bell is back where it belongs," says Elena.', "So the bell is back where it belongs,"),
    ],
)
def test_an_end_is_told_in_words_that_say_something(words: str, quoted: str) -> None:
    """A mere "Well," does not tell how a quest ended."""
    ended = told(EventType.QUEST_UPDATE, ELENA, words, quest_id=QUEST, quest_state="completed")
    text = recap_of(offered(), taken(), ended)
    assert f'"The Lost Bell" came to a good end: "{quoted}' in text


def test_a_reward_is_told_as_one_and_belongs_to_all_who_earned_it() -> None:
    """The duck in one pack and the gold in two are one reward."""
    ended = told(
        EventType.QUEST_UPDATE,
        "dm",
        "The bell rings again over the green.",
        quest_id=QUEST,
        quest_state="completed",
        loot=[{"item": "a stone duck", "to": THROK}, {"gold": 5, "to": THROK}, {"gold": 4, "to": ZARA}],
    )
    assert "got a stone duck and 9 gold as a reward." in recap_of(offered(), taken(), ended, length="long")


def test_a_step_is_told_by_what_it_states() -> None:
    """The fact of a step says more than that a step was made, wherever the narration puts it."""
    step = {"subject": QUEST, "key": "step_see", "value": "You have seen the empty tower."}
    done = told(
        EventType.QUEST_UPDATE, "dm", "The Lost Bell: You have seen the empty tower.", quest_id=QUEST,
        objective_id="see", objective_state="completed", facts=[step],
    )  # fmt: skip
    text = recap_of(offered(), taken(), done)
    assert "saw the empty tower" in text
    assert "a step further" not in text


def test_a_discovery_tells_what_was_looked_at_and_the_sentence_that_teaches() -> None:
    """Of all that is said about a thing, the recap quotes what comes closest to the fact."""
    look = told(
        EventType.DISCOVERY,
        "dm",
        "It is an old and heavy book of sums. Somebody paid forty gold for a bronze bell last week.",
        facts=[{"subject": ELENA, "key": "bought", "value": "a bronze bell for forty gold"}],
        play={"step": "dm", "beats": ["looked:ledger"], "sights": {"things": {"ledger": "a thick ledger"}}},
    )
    text = recap_of(offered(), taken(), look)
    assert "looked at a thick ledger" in text
    assert '"Somebody paid forty gold for a bronze bell last week."' in text
    assert "made a discovery" not in text


def test_what_tells_of_the_others_is_quoted_with_what_they_differ_from() -> None:
    """ "The others wear a whistle" means nothing to somebody who has not heard of the first."""
    text = "Four Wardens look down. The first Warden wears a ring of keys. The others wear a silver whistle."
    look = told(
        EventType.DISCOVERY, "dm", text,
        facts=[{"subject": ELENA, "key": "has", "value": "a silver whistle"}],
        play={"step": "dm", "beats": ["looked:row"], "sights": {"things": {"row": "four portraits"}}},
    )  # fmt: skip
    text = recap_of(offered(), taken(), look)
    assert '"The first Warden wears a ring of keys. The others wear a silver whistle."' in text
    assert "look down" not in text


def test_a_place_with_a_preposition_in_its_name_gets_no_second_one() -> None:
    """Nobody says "at inside the pier"."""
    inside = {**NAMES, MILL: "inside the old pier"}
    start = told(
        EventType.COMBAT_START,
        "dm",
        "Rats!",
        enemies=["mon_rats_001"],
        names={**inside, "mon_rats_001": "rats"},
    )
    text = recap_of(offered(), taken(), start)
    assert "Inside the old pier, " in text or " inside the old pier." in text
    assert "at inside" not in text.casefold()


def test_a_fight_that_goes_on_is_told_so_and_the_last_place_only_once() -> None:
    """The reader knows where everybody is from the sentence before."""
    text = recap_of(
        offered(),
        taken(),
        event("m", "dm", "Off.", kind=EventType.LOCATION_CHANGE, participants=[THROK, ZARA], location=MILL),
        fought(),
    )
    assert "and the fight was not over" in text
    assert text.count("the old mill") == 1


def test_an_open_end_says_whose_words_it_is_in_and_ends_with_its_quest() -> None:
    """A promise about a quest is over when the quest is, and "I" has a name."""
    vow = told(EventType.DIALOGUE, THROK, '"I promise to guard the ferry."')
    about = told(EventType.DIALOGUE, ZARA, '"You have my word on this: the Lost Bell."')
    campaign: Campaign = memory_campaign([offered(), taken(), vow, about])
    ends = campaign.recap("dm").open_ends
    assert 'A promise, in the words of Throk: "I promise to guard the ferry."' in ends
    assert sum("Lost Bell" in end for end in ends) == 1
    campaign.record(told(EventType.QUEST_UPDATE, "dm", "Done.", quest_id=QUEST, quest_state="ransomed"))
    assert not any("Lost Bell" in end for end in campaign.recap("dm").open_ends)


def test_verbs_that_repeat_are_said_once() -> None:
    """Two quests taken on in a row are one sentence."""
    other = "qst_the_road_001"
    text = recap_of(fought(), taken(), taken(other, names={**NAMES, other: "the Long Road"}), length="short")
    assert 'took on "The Lost Bell" and "The Long Road".' in text


def test_a_story_that_begins_with_all_of_the_party_names_it_once() -> None:
    """However many they are: a set of names has no order that the text could depend on."""
    party = [f"pc_{name}_001" for name in ("anna", "bert", "carl", "dora", "emil", "fred")]
    row = [
        one.model_copy(update={"metadata": {**one.metadata, "participants": party}})
        for one in (taken(), fought())
    ]
    text = recap_of(*row)
    assert "Anna, Bert, Carl, Dora, Emil and Fred took on" in text
    assert "were at" not in text


def test_quests_taken_on_at_two_places_are_told_with_both() -> None:
    """A quest was not taken on where the one before it was."""
    other = "qst_the_road_001"
    names = {**NAMES, other: "the Long Road"}
    text = recap_of(taken(), taken(other, MILL, names=names), fought(), length="short")
    assert 'Throk and Zara took on "The Lost Bell" at Oak Green and "The Long Road" at the old mill.' in text
    alone = fought().model_copy(
        update={"metadata": {**fought().metadata, "participants": [ZARA], "location": GREEN}}
    )
    text = recap_of(alone, taken(), taken(other, MILL, names=names), length="short")
    assert 'took on "The Lost Bell" there and "The Long Road" at the old mill.' in text


def test_a_quotation_says_where_it_was_said() -> None:
    """The reader is led to the place before somebody speaks there."""
    fact = {"subject": ELENA, "key": "lost", "value": "a ring in the mill pond"}
    spoken = told(EventType.DIALOGUE, ELENA, '"I have lost my ring in the mill pond."', facts=[fact])
    text = recap_of(offered(), taken(), spoken, fought(), length="long")
    assert 'At the old mill, Elena said, "I have lost my ring in the mill pond."' in text


def test_a_coin_is_not_told_and_a_purse_belongs_to_whom_it_went() -> None:
    """One of the party found the gold, and another has it: the party got it."""

    def loot(gold: int) -> Any:
        return event(
            f"g{gold}", "dm", f"Zara has {gold} gold.", kind=EventType.LOOT, participants=[ZARA],
            location=MILL, witnesses=[THROK], names=NAMES, loot=[{"gold": gold, "to": THROK}],
        )  # fmt: skip

    assert "1 gold" not in recap_of(offered(), taken(), fought(), loot(1), length="long")
    text = recap_of(offered(), taken(), fought(), loot(20), length="long")
    assert "Throk got 20 gold" not in text
    assert "got 20 gold" in text


def test_what_somebody_buys_is_one_deed_with_an_article() -> None:
    """The coins and the thing change hands together, and a reader is told once."""

    def sale(words: str) -> Any:
        return told(
            EventType.LOOT, "dm", words,
            loot=[
                {"gold": 5, "from": THROK, "to": ELENA},
                {"item": "lantern", "to": THROK},
            ],
        )  # fmt: skip

    text = recap_of(offered(), taken(), fought(), sale("The coins are counted twice."), length="long")
    assert "bought a lantern from Elena for 5 gold" in text
    assert "paid 5 gold" not in text
    assert "got lantern" not in text
    seen = memory_campaign([sale("Throk buys a lantern from Elena.")])
    assert "bought a lantern" not in seen.context("dm", 500).text


def test_things_found_at_two_places_are_one_sentence() -> None:
    """Two sentences in a row that begin with the same name sound like a list."""

    def found(thing: str, place: str) -> Any:
        return event(
            f"f{thing}", "dm", "Look.", kind=EventType.LOOT, participants=[THROK], location=place,
            names=NAMES, loot=[{"item": thing, "to": THROK}],
        )  # fmt: skip

    text = recap_of(offered(), taken(), fought(), found("shawl", GREEN), found("key", MILL), length="long")
    assert "Throk got a shawl and a key at the old mill." in text


def test_a_place_that_one_came_back_to_stands_first() -> None:
    """ "Got a key back at the mill" would say that it was lost there."""

    def found(thing: str, place: str, who: str) -> Any:
        return event(
            f"f{thing}", "dm", "Look.", kind=EventType.LOOT, participants=[who], location=place,
            names=NAMES, loot=[{"item": thing, "to": who}],
        )  # fmt: skip

    for more in ([], [found("map", MILL, ZARA)]):
        text = recap_of(taken(), fought(), *more, found("key", GREEN, THROK), length="long")
        assert "Back at Oak Green, Throk got a key." in text


def test_two_who_went_back_to_two_places_did_so_meanwhile() -> None:
    """Two sentences in a row that begin with "Back at" sound like a list."""

    def found(thing: str, place: str, who: str) -> Any:
        return event(
            f"f{thing}", "dm", "Look.", kind=EventType.LOOT, participants=[who], location=place,
            names=NAMES, loot=[{"item": thing, "to": who}],
        )  # fmt: skip

    row = [taken(), fought(), found("key", GREEN, THROK), found("map", MILL, ZARA)]
    text = recap_of(*row, length="long")
    assert "Back at Oak Green, Throk got a key. Meanwhile, at the old mill, Zara got a map." in text


def test_who_went_elsewhere_was_last_seen_somewhere() -> None:
    """A character knows where the others were when they parted; the DM knows where they are."""

    def went(who: str, place: str, *seen_by: str) -> Any:
        return event(
            f"w{next(_number)}", "dm", "Off.", kind=EventType.LOCATION_CHANGE, participants=[who],
            witnesses=[*seen_by], location=place, names=NAMES,
        )  # fmt: skip

    row = [offered(), taken(), went(THROK, GREEN, ZARA), went(ZARA, GREEN, THROK), fought()]
    campaign = memory_campaign([*row, went(ZARA, MILL)])
    for viewer, told_so in (
        (THROK, "In the end Throk was at Oak Green and Zara was last seen at Oak Green."),
        (ZARA, "In the end Zara was at the old mill and Throk was last seen at Oak Green."),
        ("dm", "In the end Throk was at Oak Green and Zara was at the old mill."),
    ):
        text = campaign.recap(viewer).text
        assert told_so in text or viewer == THROK, text
        assert viewer != THROK or "last seen" not in text


def test_quests_are_the_first_open_ends() -> None:
    """What the party took on goes before what somebody said in passing."""
    vow = told(EventType.DIALOGUE, THROK, '"I promise to guard the ferry."')
    threat = told(EventType.DIALOGUE, ELENA, '"You will pay for this, Throk. I swear it by the old oak."')
    ends = memory_campaign([taken(), vow, threat]).recap("dm").open_ends
    assert len(ends) > 1
    assert ends[0] == "The Lost Bell."


def test_a_goal_inside_a_sentence_is_one_clause() -> None:
    """A goal of two sentences would break the sentence that tells of it."""
    goal = {**GOAL, "value": "Find out who took the bell. It hung there for ninety years."}
    text = '"Will you look for it?"'
    asked = told(EventType.DIALOGUE, ELENA, text, quest_id=QUEST, quest_state="offered", facts=[goal])
    assert "to find out who took the bell, and Throk and Zara took on" in recap_of(asked, taken(place=MILL))


def test_a_gift_is_told_with_an_article() -> None:
    gift = told(EventType.LOOT, "dm", "It is yours.", loot=[{"item": "map", "from": ELENA, "to": THROK}])
    assert "Elena gave a map to Throk" in recap_of(offered(), taken(), fought(), gift, length="long")


def test_an_end_in_words_of_the_adventure_is_told_as_such() -> None:
    """A truce is neither a good end nor none."""
    end = told(EventType.QUEST_UPDATE, "dm", "It is signed.", quest_id=QUEST, quest_state="truce")
    assert '"The Lost Bell" came to an end in a truce' in recap_of(offered(), taken(), end)


def test_a_quiet_session_is_told_by_what_was_said_and_not_by_the_weather() -> None:
    """Where little was decided, people's words are the story: no gestures, no fog, no list of ways."""
    fog = "Fog lies in the dip of the road and comes up to your knees."
    clue = "Somebody has been digging at the sheep fold, and filling it in before morning."
    talk = [
        told(EventType.DIALOGUE, ELENA, f'Elena folds two thick arms. "{clue}"'),
        *(told(EventType.DM_NARRATION, "dm", f"{fog} It is hour {n}.", aside=True) for n in range(60)),
    ]
    text = recap_of(taken(), *talk, length="medium")
    assert clue.rstrip(".") in text
    assert "folds two thick arms" not in text
    assert "Fog" not in text


def test_what_a_player_only_tries_is_told_by_what_came_of_it() -> None:
    """A typed deed is no sentence to read aloud; what somebody says in it is."""
    text = recap_of(
        taken(),
        told(EventType.PLAYER_ACTION, THROK, "try tickling the chief awake", play={"act": {"verb": "try"}}),
        told(EventType.DM_NARRATION, "dm", "The chief stirs, and is still again."),
        told(
            EventType.PLAYER_ACTION,
            ZARA,
            'I nod. "We had better ask the miller about the flour."',
            play={"act": {"verb": "look"}},
        ),
        told(EventType.PLAYER_ACTION, THROK, "I promise to be quiet.", play={"act": {"verb": "tell"}}),
    )
    assert "tickling" not in text
    assert "still again" in text
    assert "ask the miller" in text
    assert "I promise to be quiet" in text


def test_nothing_hangs_on_what_a_recap_leaves_out() -> None:
    """What goes on about the look of a place means nothing without it: "Nine doors have one."."""
    talk = [
        told(EventType.DM_NARRATION, "dm", "A wreath of straw hangs on every third door.", aside=True),
        told(EventType.DM_NARRATION, "dm", "Nine doors have one. It is what people hang out for the dead."),
        told(EventType.DIALOGUE, ELENA, '"Somebody has been digging at the sheep fold."'),
    ]
    text = recap_of(taken(), *talk, length="medium")
    assert "digging at the sheep fold" in text
    assert "Nine doors" not in text
    assert "It is what" not in text
