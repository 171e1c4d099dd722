"""Threads: how they are found, when they are dormant, their score, and when they are over."""

import math
from typing import Any

import pytest
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.canon.cues import LONGEST, cue_in
from dndbots.events import EventType, GameEvent
from dndbots.memory.threads import DORMANT_AFTER, WEIGHTS, Thread
from dndbots.testing import assert_perspective, memory_campaign

THROK, ZARA = "pc_throk_001", "pc_zara_001"
ELENA = "npc_elena_001"
PROMISE = "I promise to bring your brother home."


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I promise to come back.", "promise"),
        ("We vow that the bell will ring.", "promise"),
        ("I swear on my blade.", "promise"),
        ("I swear to protect you.", "promise"),
        ("You have my word.", "promise"),
        ("He promised to pay the smith.", "promise"),
        ("I\u2019ll promise you anything.", "promise"),
        ("I will kill you, Grimfang.", "threat"),
        ("I'll hunt Grimfang down.", "threat"),
        ("You will pay for this!", "threat"),
        ("You'll regret that.", "threat"),
        ("The widow swore vengeance.", "threat"),
        ("This isn't over.", "threat"),
        ("You owe me a favour.", "debt"),
        ("Zara owes Throk 50 gold.", "debt"),
        ("I am in your debt.", "debt"),
        ("He will pay you back in spring.", "debt"),
        ("Nobody knows who built the tower.", "mystery"),
        ("The miller vanished without a trace.", "mystery"),
        ("There is a strange symbol on the door.", "mystery"),
        ("The prophecy speaks of two moons.", "mystery"),
    ],
)
def test_what_is_worded_like_something_that_comes_back(text: str, kind: str) -> None:
    """Promises, threats, debts and mysteries, in the words people use for them."""
    found = cue_in(f"Rain falls. {text} Then night.")
    assert found is not None
    assert (found.kind, found.text) == (kind, text.replace("\u2019", "'"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A promising start.",
        "The land of promise lies north.",
        "I swear to god, that hurt.",
        "He swears like a sailor.",
        "I will kill some time at the inn.",
        "I'll end here for tonight.",
        "We'll burn out if we go on.",
        "They owe their beauty to the sun.",
        "The bridge is over the river.",
        "This is over.",
        "I know who built the tower.",
        "A strange man sits there.",
        "A key to the door.",
        "I pay the smith.",
        "He gave a word of warning.",
        "compromised",
        "The vows of marriage are old.",
    ],
)
def test_what_only_sounds_like_it_is_left_alone(text: str) -> None:
    """A promise that was none annoys; one that is missed is still in the log."""
    assert cue_in(text) is None


def test_an_oath_after_another_quotation_is_one_quotation() -> None:
    """The marks between the two would look torn."""
    cue = cue_in('"We will do it, and in our own time." "I promise." I nod to Elena.')
    assert cue is not None
    assert cue.text == '"We will do it, and in our own time. I promise."'


def test_a_cue_is_its_sentence_and_not_too_long() -> None:
    """The sentence that it stands in, on one line, cut between words with a mark."""
    assert cue_in("Hm.\nI promise\tto go!\nAnd so on.") == ("promise", "I promise to go!")
    long = cue_in("I promise " + "much and " * 100)
    assert long is not None
    assert long.text.endswith("…")
    assert len(long.text) <= LONGEST + 1


# When it sleeps.


def said(number: int, text: str = "We walk.", *, turns: bool = False, **metadata: Any) -> GameEvent:
    metadata = metadata or {"participants": [THROK, ZARA]}
    made = event(f"e{number:03d}", THROK, text, kind=EventType.DIALOGUE, **metadata)
    return made.model_copy(update={"turn": number}) if turns else made


def thread(campaign: Campaign, name: str, viewer: str = "dm") -> Thread:
    return next(one for one in campaign.threads(viewer, resolved=True) if one.id == name)


@pytest.mark.parametrize("turns", [True, False])
@pytest.mark.parametrize(("passed", "state"), [(DORMANT_AFTER - 1, "open"), (DORMANT_AFTER, "dormant")])
def test_a_thread_sleeps_after_twenty_turns(turns: bool, passed: int, state: str) -> None:  # noqa: FBT001
    """By the turns that were counted, or by events where none were."""
    log = [said(0, PROMISE, turns=turns, told_to=[ELENA])]
    log += [said(n, turns=turns) for n in range(1, passed + 1)]
    found = thread(memory_campaign(log), "e000")
    assert (found.kind, found.state, found.turns, found.text) == ("promise", state, passed, PROMISE)
    assert (found.opened, found.touched, found.times) == ("e000", "e000", 1)


def test_turns_count_and_not_events() -> None:
    """Many events in one turn do not put anything to sleep; two events far apart do."""
    promised = said(0, PROMISE, told_to=[ELENA]).model_copy(update={"turn": 7})
    same_turn = [promised, *(said(n).model_copy(update={"turn": 7}) for n in range(1, 60))]
    assert thread(memory_campaign(same_turn), "e000").state == "open"
    late = [promised, said(1).model_copy(update={"turn": 27})]
    assert thread(memory_campaign(late), "e000").state == "dormant"


def test_time_passes_for_a_viewer_by_what_the_viewer_perceived() -> None:
    """Events behind Zara's back do not age her threads."""
    log = [said(0, PROMISE), *(said(n, participants=[THROK]) for n in range(1, 31))]
    campaign = memory_campaign(log)
    assert thread(campaign, "e000", THROK).turns == 30
    assert thread(campaign, "e000", ZARA).turns == 0


def test_only_what_sleeps_is_called_back_and_the_best_first() -> None:
    """As many as asked for, by score."""
    log = [said(0, PROMISE, told_to=[ELENA]), said(1, "Nobody knows who built the tower.", told_to=[ELENA])]
    log += [said(n) for n in range(2, 30)]
    campaign = memory_campaign([*log, said(30, "You owe me a favour.")])
    found = campaign.callbacks("dm", limit=10)
    assert [one.id for one in found] == ["e000", "e001", ELENA]
    assert all(one.state == "dormant" for one in found)
    assert campaign.callbacks("dm", limit=1) == found[:1]
    assert [one.score for one in campaign.threads("dm")] == sorted(
        (one.score for one in campaign.threads("dm")), reverse=True
    )
    assert "last 29 turns ago" in found[0].reason


# What it is worth.


@pytest.mark.parametrize(("passed", "slept"), [(10, 0.5), (20, 1.0), (40, 2.0), (60, 3.0), (200, 3.0)])
def test_the_longer_it_slept_the_more_it_is_worth_up_to_three_times(passed: int, slept: float) -> None:
    """Weight, times how often, times how long it slept."""
    campaign = memory_campaign(
        [
            said(0, PROMISE, told_to=[ELENA]).model_copy(update={"turn": 0}),
            said(1).model_copy(update={"turn": passed}),
        ]
    )
    found = thread(campaign, "e000")
    # Throk, who promised, is speaking: somebody of it is here.
    assert found.here
    assert found.score == round(WEIGHTS["promise"] * slept * 2, 3)


def test_how_often_it_was_touched_counts_by_its_logarithm() -> None:
    """A person met four times is worth three times one met once."""
    meet = {"participants": [THROK], "enemies": []}
    log = [said(n, "Hello.", witnesses=[ELENA], participants=[THROK, ELENA]) for n in range(4)]
    log += [said(n, **meet) for n in range(4, 24)]
    found = thread(memory_campaign(log), ELENA)
    assert (found.kind, found.times, found.turns, found.opened, found.touched) == (
        "person",
        4,
        20,
        "e000",
        "e003",
    )
    assert found.score == round(WEIGHTS["person"] * (1 + math.log2(4)) * 1.0, 3)


def test_somebody_of_it_here_doubles_it() -> None:
    """And is said in the reason; a person alone is not a callback to itself."""
    log = [said(0, PROMISE, told_to=[ELENA], participants=[])]
    log += [
        said(n, participants=[ZARA], witnesses=[]).model_copy(update={"source": ZARA}) for n in range(1, 25)
    ]
    away = thread(memory_campaign(log), "e000")
    here = thread(memory_campaign([*log, said(25, "Elena!", participants=[ELENA])]), ELENA)
    assert not away.here
    assert not here.here
    back = [*log[:-1], said(24, "Hm.", participants=[ZARA])]
    near = thread(memory_campaign(back), "e000")
    assert near.here
    assert near.score == round(away.score * 2, 3)
    assert "is here" in near.reason


# When it is touched.


def opened(number: int = 0, **fields: Any) -> GameEvent:
    note = {"id": "bell", "kind": "mystery", "text": "Who stole the bell?"} | fields
    return said(number, participants=[THROK, ZARA], threads=[note])


def test_a_thread_is_touched_by_its_id() -> None:
    """A thread that is mentioned again is no longer dormant."""
    log = [
        opened(),
        *(said(n) for n in range(1, 25)),
        said(25, participants=[THROK], threads=[{"id": "bell"}]),
    ]
    campaign = memory_campaign(log)
    found = thread(campaign, "bell")
    assert (found.opened, found.touched, found.turns, found.state, found.times) == (
        "e000",
        "e025",
        0,
        "open",
        2,
    )
    assert thread(campaign, "bell", ZARA).touched == "e000"
    assert_perspective(campaign, lambda table, viewer: table.threads(viewer, resolved=True))


def test_a_thread_is_touched_when_all_whom_it_is_about_meet() -> None:
    """Both of them together; one alone may be about anything."""
    log = [opened(about=[ELENA, THROK]), said(1, witnesses=[ELENA], participants=[THROK])]
    log = [said(90, names={ELENA: "Elena"}, participants=[THROK]), *log, *(said(n) for n in range(2, 6))]
    campaign = memory_campaign(log)
    assert thread(campaign, "bell").touched == "e000"
    campaign.record(said(6, participants=[THROK, ELENA]))
    found = thread(campaign, "bell")
    assert (found.touched, found.times, found.about) == ("e006", 2, (ELENA, THROK))


def test_a_name_touches_people_places_items_and_quests() -> None:
    """They are threads as soon as they are met, each of its kind."""
    log = [
        said(
            0,
            participants=[THROK, ELENA],
            location="loc_mill_001",
            discovered=["item_key_001"],
            quest_id="qst_bell_001",
        )
    ]
    campaign = memory_campaign([*log, said(1), said(2, participants=[THROK], location="loc_mill_001")])
    kinds = {one.id: (one.kind, one.turns) for one in campaign.threads("dm")}
    assert kinds == {
        ELENA: ("person", 2),
        "loc_mill_001": ("place", 0),
        "item_key_001": ("item", 2),
        "qst_bell_001": ("quest", 2),
    }


# When it is over.


@pytest.mark.parametrize("state", ["resolved", "Completed", "failed", "abandoned"])
def test_a_thread_is_over_when_its_state_says_so(state: str) -> None:
    """Then it is worth nothing, is found only if asked for, and can be opened again."""
    campaign = memory_campaign(
        [opened(), said(1, participants=[THROK], threads=[{"id": "bell", "state": state}])]
    )
    assert [one for one in campaign.threads("dm") if one.id == "bell"] == []
    found = thread(campaign, "bell")
    assert (found.state, found.score) == ("resolved", 0.0)
    assert thread(campaign, "bell", ZARA).state == "open"
    campaign.record(said(2, participants=[THROK], threads=[{"id": "bell", "state": "open"}]))
    assert thread(campaign, "bell").state == "open"


def test_a_state_that_ends_nothing_leaves_it_open() -> None:
    """A clue is not a solution."""
    campaign = memory_campaign(
        [opened(), said(1, participants=[THROK], threads=[{"id": "bell", "state": "a clue"}])]
    )
    assert (thread(campaign, "bell").state, thread(campaign, "bell").touched) == ("open", "e001")


def test_the_dead_end_what_was_between_them_and_the_party() -> None:
    """Person and promise are over for those who know of the death; a revival opens both again."""
    log = [said(0, PROMISE, told_to=[ELENA], participants=[], witnesses=[ZARA])]
    campaign = memory_campaign([*log, said(1, participants=[THROK], killed=[ELENA])])
    for viewer, state in (("dm", "resolved"), (THROK, "resolved"), (ZARA, "open")):
        assert thread(campaign, "e000", viewer).state == state
    assert thread(campaign, ELENA, THROK).state == "resolved"
    assert_perspective(campaign, lambda table, viewer: table.threads(viewer, resolved=True))
    campaign.record(said(2, participants=[THROK], revived=[ELENA]))
    assert thread(campaign, "e000", THROK).state == "open"


def test_a_characters_death_ends_no_promise() -> None:
    """Somebody may keep it for them."""
    campaign = memory_campaign([said(0, PROMISE), said(1, participants=[ZARA], killed=[ZARA])])
    assert thread(campaign, "e000").state == "open"


def test_a_completed_quest_is_over() -> None:
    """By canon, for whoever perceived it."""
    quest = {"quest_id": "qst_bell_001", "participants": [THROK, ZARA]}
    campaign = memory_campaign([said(0, quest_state="accepted", **quest)])
    assert thread(campaign, "qst_bell_001").state == "open"
    campaign.record(said(1, quest_state="completed", quest_id="qst_bell_001", participants=[THROK]))
    assert thread(campaign, "qst_bell_001", THROK).state == "resolved"
    assert thread(campaign, "qst_bell_001", ZARA).state == "open"


def test_a_forgotten_thread_is_none_and_a_corrected_one_has_other_words() -> None:
    """The human gate counts here too."""
    campaign = memory_campaign([said(0, PROMISE)])
    campaign.correct("e000", "I promise nothing.")
    assert thread(campaign, "e000").text == "I promise nothing."
    campaign.forget("e000", viewer=THROK)
    assert "e000" not in [one.id for one in campaign.threads(THROK, resolved=True)]
    assert thread(campaign, "e000", ZARA).text == "I promise nothing."


def test_a_promise_is_a_thread_only_to_those_who_heard_it() -> None:
    """A whispered one to its two ends and the DM."""
    whispered = event("w", THROK, PROMISE, kind=EventType.WHISPER, told_to=[ELENA])
    campaign = memory_campaign([said(0), whispered])
    heard = {who: "w" in [one.id for one in campaign.threads(who)] for who in ("dm", THROK, ELENA, ZARA)}
    assert heard == {"dm": True, THROK: True, ELENA: True, ZARA: False}


def test_a_recap_tells_of_open_threads() -> None:
    """And not of those that are over."""
    campaign = memory_campaign([said(0, PROMISE), opened(1)])
    assert f'- A promise, in the words of Throk: "{PROMISE}"' in campaign.recap(ZARA).text
    campaign.record(said(2, threads=[{"id": "bell", "state": "resolved"}], participants=[THROK, ZARA]))
    assert "stole the bell" not in "".join(one.text for one in campaign.recap(ZARA).threads)


def test_a_promise_within_the_party_falls_asleep() -> None:
    """The party is together all the time: that alone touches nothing that its members promised each other."""
    both = ["pc_throk_001", "pc_zara_001"]
    campaign = memory_campaign(
        [event("e0", "pc_throk_001", "I promise to teach you the axe.", participants=both)]
        + [event(f"e{n}", "pc_zara_001", "I walk on.", participants=both) for n in range(1, 30)]
    )
    [promise] = [thread for thread in campaign.threads("pc_zara_001") if thread.kind == "promise"]
    assert (promise.state, promise.turns, promise.touched) == ("dormant", 29, "e0")


def test_a_promise_that_is_corrected_away_is_no_thread() -> None:
    """Words that promise nothing any more open nothing; words that promise something else do."""
    campaign = memory_campaign([event("e1", THROK, "I promise to return the crown.", participants=[ELENA])])
    campaign.correct("e1", "I only greet everybody here.")
    assert not [one for one in campaign.threads(THROK) if one.id == "e1"]
    campaign.correct("e1", "He is gone. I swear to burn the crown. " + "So be it. " * 9_000)
    found = [one for one in campaign.threads(THROK) if one.id == "e1"]
    assert [one.text for one in found] == ["I swear to burn the crown."]


def test_a_stated_thread_goes_with_the_event_that_opened_it() -> None:
    """A forgotten event opens no thread, but the entities in it stay known."""
    oath = [{"id": "oath", "kind": "promise", "text": "Throk gave his word."}]
    campaign = memory_campaign([event("e1", THROK, "Well.", participants=[ELENA], threads=oath)])
    campaign.forget("e1")
    assert [one.id for one in campaign.threads(THROK)] == [ELENA]
    campaign.forget("e1", on=False)
    assert "oath" in [one.id for one in campaign.threads(THROK)]


def test_a_thread_follows_somebody_who_turns_out_to_be_another() -> None:
    """The old priest's promise is over when Aldwin, who is the same person, dies."""
    priest, aldwin = "npc_old_priest_001", "npc_aldwin_001"
    campaign = memory_campaign(
        [
            event("e1", priest, "I promise to help you, Throk.", participants=[THROK]),
            event("e2", "dm", "He is!", participants=[THROK], discovered=[aldwin], same_as={priest: aldwin}),
        ]
    )
    assert [one.about for one in campaign.threads(THROK) if one.id == "e1"] == [(aldwin, THROK)]
    campaign.record(event("e3", "dm", "He falls.", participants=[THROK], killed=[aldwin]))
    assert [one.state for one in campaign.threads(THROK, resolved=True) if one.id == "e1"] == ["resolved"]
