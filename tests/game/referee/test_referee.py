"""The referee: what is declared is decided by dice, and canon, tables and the log never disagree on it."""

import random
from functools import cache

import pytest
from bench.laws import unshown_uids
from hypothesis import given
from hypothesis import strategies as st
from tests.game.sandbox import GOBLINS, MILL, ROAD, WAYS, Sandbox

from dndbots.errors import ActRefused
from dndbots.events import EventType, GameEvent, audience
from dndbots.game import referee
from dndbots.game.acts import Act, Verb
from dndbots.game.referee.movement import move_group
from dndbots.game.state.game_notes import FoesNote
from dndbots.game.state.sheet_facts import SPELLS
from dndbots.game.state.table import Table
from dndbots.ids import DM, mint
from dndbots.rules.characters.abilities import Ability
from dndbots.rules.characters.creation import ready_made
from dndbots.rules.saves import SaveKind

# Few enough to be played once and looked at by every law.
seeds = st.integers(0, 24)


def something(box: Sandbox, who: str) -> Act:
    """Anything that a player might try, sensible or not."""
    rng = random.Random(f"{box.seed}/{box.round}/{who}")
    table = box.tables[who]
    place = table.place(who)
    friend = rng.choice(box.party)
    spells = table.spells(who)
    choices = [
        Act(words="Hm."),
        Act(verb=Verb.WHISPER, target=friend, words="Not a word."),
        Act(verb=Verb.GO, what=WAYS.get(place or "", "nowhere"), words="On."),
        Act(verb=Verb.STAY, words="I stay."),
        Act(verb=Verb.SEARCH, words="I search."),
        Act(verb=Verb.BIND, target=friend),
        Act(verb=Verb.FLEE, what=WAYS.get(place or "", "nowhere"), words="Run!"),
        Act(verb=Verb.ATTACK, target=GOBLINS, words="Have at them."),
        Act(verb=Verb.ATTACK, target=GOBLINS, words="Again."),
        Act(verb=Verb.GIVE, target=friend, what=next(iter(table.items(who)), "nothing")),
    ]
    if spells:
        choices += [
            Act(verb=Verb.CAST, what=rng.choice(spells), target=rng.choice([friend, GOBLINS, None]))
        ] * 3
    return rng.choice(choices)


@cache
def played(seed: int, rounds: int = 6) -> Sandbox:
    box = Sandbox(seed)
    rng = random.Random(seed)
    for number in range(rounds):
        scenes = box.table.scenes()
        if number == 1 and MILL in scenes:
            box.fight(rng.randint(1, 8), rng.choice(["goblin", "wolf", "skeleton", "ghoul", "giant spider"]))
        else:
            box.dm()
        box.rest_of_round(something)
    return box


@given(seed=seeds)
def test_canon_and_the_dms_table_agree(seed: int) -> None:
    """After any play, hit points, places, deaths, conditions and goods are the same in both."""
    box = played(seed)
    for uid in [*box.party, GOBLINS]:
        if uid not in box.table.facts:
            continue
        entity = box.campaign.entity(uid, viewer=DM)
        assert entity.alive == box.table.alive(uid)
        assert entity.location == box.table.place(uid)
        assert sorted(entity.conditions) == sorted(box.table.conditions(uid))
        assert entity.inventory == box.table.items(uid)
        for key in ("hp", "hp_max", "gold", "level", "xp"):
            assert entity.properties.get(key) == box.table.fact(uid, key)


@given(seed=seeds)
def test_a_characters_table_is_made_of_what_it_perceived(seed: int) -> None:
    """Each character's table is the fold of its own events: nothing else ever reached it."""
    box = played(seed)
    for uid in box.party:
        alone = Table(uid)
        with box.campaign.view(uid) as view:
            for event in view.events():
                alone.heard(event)
        live = box.tables[uid]
        assert alone.facts == live.facts
        assert alone.names == live.names
        assert alone.told == live.told
        assert [deed.event_id for deed in alone.deeds] == [deed.event_id for deed in live.deeds]
        assert (alone.round, alone.steps, alone.intents) == (live.round, live.steps, live.intents)
        assert alone.fights.keys() == live.fights.keys()


@given(seed=seeds)
def test_the_dead_and_the_helpless_do_nothing(seed: int) -> None:
    """Nobody acts after dying, and no group of foes that is gone."""
    box = played(seed)
    dead: set[str] = set()
    left: dict[str, int] = {}
    for event in box.campaign.events(viewer=DM):
        assert event.source not in dead
        known = event.known
        if known.enemy_count is not None:
            left[known.enemies[0]] = known.enemy_count
        for uid in known.killed:
            left[uid] = left.get(uid, 1) - 1
            if left[uid] == 0:
                dead.add(uid)
    assert min(left.values(), default=0) >= 0


@given(seed=seeds)
def test_every_fight_is_told_with_its_numbers(seed: int) -> None:
    """Each loss of hit points and each death in a fight stands in an event with its dice."""
    box = played(seed)
    for event in box.campaign.events(viewer=DM):
        if event.event_type is EventType.COMBAT_ROUND and event.known.hp_delta:
            rolls = event.metadata["play"]["rolls"]
            assert rolls
            assert all(one["text"] for one in rolls)


@given(seed=seeds)
def test_the_same_seed_is_the_same_log(seed: int) -> None:
    """Chance is the seed's alone."""
    one, other = played(seed), played.__wrapped__(seed)
    assert list(one.campaign.export()) == list(other.campaign.export())


@given(seed=seeds)
def test_whoever_stays_behind_does_not_learn_where_the_others_went(seed: int) -> None:
    """Characters at another place perceive nothing of it."""
    box = played(seed)
    for event in box.campaign.events(viewer=DM):
        place = event.known.location
        if event.event_type is EventType.LOCATION_CHANGE:
            movers = set(event.known.participants)
            for uid in audience(event) - {DM} - movers:
                assert uid.startswith(("pc_", "npc_"))
                assert box.campaign.entity(uid, viewer=DM, as_of=event.event_id).location == place


def test_an_act_that_cannot_be_is_refused_before_anything_is_recorded() -> None:
    """The reason is told, and the log is as it was."""
    box = Sandbox()
    box.dm()
    head = box.campaign.head
    for act, reason in [
        (Act(verb=Verb.ATTACK, target=GOBLINS), "not here"),
        (Act(verb=Verb.GO, what="the chimney"), "no way 'the chimney'"),
        (Act(verb=Verb.CAST, what="Wish"), "not ready"),
        (Act(verb=Verb.WHISPER), "say whom you mean"),
        (Act(verb=Verb.BIND, target=box.party[1]), "not dying"),
        (Act(verb=Verb.GIVE, what="a castle", target=box.party[1]), "you have no"),
    ]:
        with pytest.raises(ActRefused, match=reason):
            box.act(box.party[0], act)
    assert box.campaign.head == head


def test_a_whisper_reaches_its_two_ends_and_the_dm() -> None:
    """Nobody else at the place perceives it."""
    box = Sandbox()
    box.dm()
    one, other, *rest = box.party
    (event,) = box.act(one, Act(verb=Verb.WHISPER, target=other, words="The miller lies."))
    assert audience(event) == {one, other, DM}
    for uid in rest:
        assert event.event_id not in {seen.event_id for seen in box.campaign.events(viewer=uid)}


def test_a_party_that_disagrees_splits() -> None:
    """Characters who go leave together; one who stays sees them leave, and hears no more of them."""
    box = Sandbox()
    box.dm()
    box.rest_of_round(
        lambda one, who: (
            Act(verb=Verb.STAY, words="No.")
            if who == one.party[0]
            else Act(verb=Verb.GO, what=WAYS[MILL], words="On.")
        )
    )
    assert box.table.scenes() == {MILL: [box.party[0]], ROAD: box.party[1:]}
    assert box.tables[box.party[0]].place(box.party[1]) is None
    box.dm()
    (event,) = box.act(box.party[1], Act(words="Is anybody following us?"))
    assert box.party[0] not in audience(event)


def parted(box: Sandbox) -> tuple[str, list[str]]:
    """Let one stay at the mill while the others go down the road. Return the one and the others."""
    box.dm()
    one, *others = box.party
    box.rest_of_round(
        lambda _, who: Act(verb=Verb.STAY) if who == one else Act(verb=Verb.GO, what=WAYS[MILL], words="On.")
    )
    return one, others


def test_who_sees_others_come_does_not_learn_from_where() -> None:
    """Neither the place nor the way: those are known to who went it, and to the DM."""
    box = Sandbox()
    one, others = parted(box)
    box.dm()
    box.rest_of_round(
        lambda _, who: (
            Act(verb=Verb.STAY) if who == one else Act(verb=Verb.GO, what=WAYS[ROAD], words="Back.")
        )
    )
    assert all(ROAD not in event.metadata_text for event in box.campaign.events(viewer=one))
    assert box.tables[one].ways == {}
    there_and_back = {MILL: {WAYS[MILL]: ROAD}, ROAD: {WAYS[ROAD]: MILL}}
    assert all(box.tables[who].ways == there_and_back for who in (DM, *others))
    for table in box.tables.values():
        assert table.together(MILL) == box.party
        assert table.visits[MILL] == 1
    came = list(box.campaign.events(viewer=one))[-1]
    assert (came.known.participants, came.known.witnesses) == (others, [one])


def test_who_comes_upon_a_fight_is_shown_against_whom() -> None:
    """The foes are named to those who come, as they are to those who fight."""
    box = Sandbox()
    _, others = parted(box)
    foes = {GOBLINS: FoesNote(monster="Goblin", name="goblins", number=2)}
    box.dm(lambda step: referee.begin_fight(step, MILL, foes, text="Goblins!"))
    step = box.step("march")
    move_group(step, others, ROAD, WAYS[ROAD], MILL)
    box.commit(step)
    assert step.events[-1].known.names[GOBLINS] == "goblins"
    assert list(unshown_uids(box.campaign.events(viewer=DM))) == []


def test_a_friend_who_is_gone_is_not_noted_as_spoken_to() -> None:
    """Bystanders may never have heard of the target."""
    box = Sandbox()
    one, others = parted(box)
    box.dm()
    step = box.step(one)
    referee.record_act(step, one, Act(words="Wait for me!", target=others[0]))
    assert "target" not in step.events[0].metadata["play"]["act"]
    step = box.step(one)
    referee.record_act(step, one, Act(words="Wait, me.", target=one))
    assert step.events[0].metadata["play"]["act"]["target"] == one


@pytest.mark.parametrize("kind", [*Ability, *SaveKind])
def test_a_roll_for_nothing_said_says_something_by_itself(kind: Ability | SaveKind) -> None:
    box = Sandbox()
    who, step = box.party[0], box.step("dm")
    referee.roll_check(step, who, kind, place=MILL)
    (event,) = step.events
    assert event.content.startswith(step.table.name(who))
    assert "make it" not in event.content
    assert "makes it." not in event.content


@pytest.mark.parametrize("kind", [*Ability, *SaveKind])
def test_what_is_put_to_the_test_is_seen_with_its_dice(kind: Ability | SaveKind) -> None:
    """By all who are there, and by the chance of the step; the event says how it went."""
    box = Sandbox()
    who = box.party[0]
    made, again = (
        referee.roll_check(box.step("dm"), who, kind, place=MILL, why="The floor gives.") for _ in range(2)
    )
    assert made == again
    step = box.step("dm")
    referee.roll_check(step, who, kind, place=MILL, why="The floor gives.")
    (event,) = step.events
    assert event.content.startswith("The floor gives. ")
    assert event.content.endswith("makes it." if made.success else "does not make it.")
    assert event.metadata["play"]["rolls"][0]["text"] == made.text
    assert {*box.party} <= audience(event)


def test_a_march_that_nobody_sees_is_one_event() -> None:
    """It is told with its way to those who go, and there is nothing else to tell."""
    box = Sandbox()
    box.dm()
    head = box.campaign.head
    box.rest_of_round(lambda _box, _who: Act(verb=Verb.GO, what=WAYS[MILL], words="On."))
    marched = [event for event in box.campaign.events(viewer=DM) if event.seq > head][len(box.party) :]
    assert [event.event_type for event in marched] == [EventType.LOCATION_CHANGE]


def test_what_is_told_again_is_a_belief_of_those_who_hear_it() -> None:
    """A hearer who was not there believes it on the teller's word, with the name."""
    box = Sandbox()
    one, others = parted(box)

    def found(step: referee.growth.Step) -> None:
        step.add(
            EventType.DISCOVERY,
            "Behind the millstone, a ledger: Mirela took the money.",
            place=MILL,
            participants=[one],
            play={"gist": "Mirela took the mill's money", "beats": ["found:ledger"]},
            names={"npc_miller_001": "Mirela"},
            facts=[{"subject": "npc_miller_001", "key": "crime", "value": "theft"}],
        )

    box.dm(found)
    ledger = box.tables[one].deeds[-1].event_id
    assert not any(box.campaign.who_knows({"subject": "npc_miller_001", "key": "crime"})[1:])
    box.rest_of_round(
        lambda _, who: Act(verb=Verb.GO, what=WAYS[ROAD], words="Back.") if who != one else Act(words="Hm.")
    )
    assert box.table.scenes() == {MILL: box.party}
    box.dm()
    box.act(one, Act(verb=Verb.TELL, words="It was Mirela.", tells=(ledger,)))
    known = {
        held.holder: held.fact.certainty
        for held in box.campaign.who_knows({"subject": "npc_miller_001", "key": "crime"})
    }
    assert known == {one: "fact", **dict.fromkeys(others, "belief")}
    assert all(box.tables[uid].names["npc_miller_001"] == "Mirela" for uid in others)


def test_who_falls_is_dying_and_can_be_saved() -> None:
    """At 0 hit points somebody is dying, cannot act, and is steadied by a friend who binds the wounds."""
    box = Sandbox()
    one, friend, *_ = box.party
    hp = box.table.fact(one, "hp")
    box.dm(lambda step: referee.hurt(step, {one: hp + 2}, text="The floor gives way.", place=MILL))
    assert "dying" in box.table.conditions(one)
    with pytest.raises(ActRefused, match="dying"):
        box.act(one, Act(words="Ow."))
    box.act(friend, Act(verb=Verb.BIND, target=one, words="Hold still."))
    step = box.step(f"referee {friend}")
    referee.resolve_declared(step)
    box.commit(step)
    assert "dying" not in box.table.conditions(one)
    assert box.table.fact(one, "hp") == 1


def test_who_falls_to_a_friends_spell_is_dying() -> None:
    """A spell that hurts is no kinder for being a friend's: nobody acts on with no hit points."""
    by_name = {one.name: one for one in ready_made()}
    box = Sandbox(characters=[by_name["Ilvane"], by_name["Zara"]])
    ilvane, zara = box.party
    hp = box.table.fact(zara, "hp")
    ready = {"subject": ilvane, "key": SPELLS, "value": ["Fan of Fire"]}
    box.dm(lambda step: referee.hurt(step, {zara: hp - 1}, text="A slate falls.", place=MILL, facts=[ready]))
    box.act(ilvane, Act(verb=Verb.CAST, what="Fan of Fire", target=zara, words="Stand still."))
    step = box.step(f"referee {ilvane}")
    referee.resolve_declared(step)
    (burnt, *_) = box.commit(step)
    assert burnt.known.hp_delta[zara] < 0
    assert box.table.fact(zara, "hp") <= 0
    assert "dying" in box.table.conditions(zara)
    with pytest.raises(ActRefused, match="dying"):
        box.act(zara, Act(words="Ow."))


def left_for_dead(box: Sandbox) -> tuple[str, str]:
    """Let one lie dying at the mill while a friend runs for help. Return both."""
    one, friend, *_ = box.party
    hp = box.table.fact(one, "hp")
    box.dm(lambda step: referee.hurt(step, {one: hp + 2}, text="The floor gives way.", place=MILL))
    box.rest_of_round(
        lambda _, who: Act(verb=Verb.GO, what=WAYS[MILL], words="Help!") if who == friend else Act()
    )
    assert "dying" in box.tables[friend].conditions(one)
    return one, friend


def come_back(box: Sandbox, friend: str) -> GameEvent:
    """Let a friend come back to the mill. Return the event that shows it."""
    box.rest_of_round(
        lambda _, who: (
            Act(verb=Verb.GO, what=WAYS[ROAD], words="Back.") if who == friend else Act(words="Hm.")
        )
    )
    return list(box.campaign.events(viewer=friend))[-1]


def test_who_acts_is_not_taken_for_dying() -> None:
    """A character who did not see a friend saved learns it when it meets the friend."""
    box = Sandbox()
    one, friend = left_for_dead(box)
    box.dm(lambda step: referee.heal(step, one, 3, text="A draught.", place=MILL))
    come_back(box, friend)
    box.dm()
    box.act(one, Act(words="I am well."))
    table = Table(friend)
    for event in box.campaign.events(viewer=friend):
        if "-dying" not in event.metadata_text:
            table.heard(event)
    assert "dying" not in table.conditions(one)


def test_who_meets_again_sees_how_the_others_are() -> None:
    """A friend who was left dying and stands there now is not dying, in the prompt either."""
    box = Sandbox()
    one, friend = left_for_dead(box)
    box.dm(lambda step: referee.heal(step, one, 3, text="A draught.", place=MILL))
    assert "dying" in box.tables[friend].conditions(one)
    assert "dying" in box.campaign.context(friend, 1_000).text
    met = come_back(box, friend)
    assert box.tables[friend].conditions(one) == []
    assert box.campaign.entity(one, viewer=friend).conditions == ()
    assert "dying" not in box.campaign.context(friend, 1_000).text.rpartition("## HERE")[2]
    assert (met.known.conditions, met.known.hp_delta) == ({one: ["-dying"]}, None)
    assert [(fact.subject, fact.op, fact.object) for fact in met.known.facts] == [(one, "@", MILL)]


def test_who_meets_again_sees_no_more_than_eyes_see() -> None:
    """Sickness shows in the face; a charm does not."""
    box = Sandbox()
    one, friend, *_ = box.party
    box.dm()
    box.rest_of_round(
        lambda _, who: (
            Act(verb=Verb.GO, what=WAYS[MILL], words="Out.") if who == friend else Act(verb=Verb.STAY)
        )
    )
    ails = {one: ["poisoned", "charmed", "homesick"]}
    box.dm(lambda step: step.add(EventType.CONDITION, "Bad mushrooms.", place=MILL, conditions=ails))
    met = come_back(box, friend)
    assert box.tables[friend].conditions(one) == ["poisoned"]
    assert met.known.conditions == {one: ["poisoned"]}


def test_a_meeting_at_which_nothing_is_new_states_nothing() -> None:
    """Conditions that all know are not stated again."""
    box = Sandbox()
    _, others = parted(box)
    box.dm()
    assert not come_back(box, others[0]).known.conditions


def test_death_is_for_good() -> None:
    """A character hurt far below 0 is dead: the seat is free, and the campaign refuses acts of the dead."""
    box = Sandbox()
    one = box.party[0]
    box.dm(lambda step: referee.hurt(step, {one: 100}, text="The dragon breathes.", place=MILL))
    assert not box.table.alive(one)
    assert one not in box.table.seats
    assert not box.campaign.entity(one, viewer=DM).alive


MIRELA = "npc_miller_001"


def many_guests(step: referee.growth.Step) -> None:
    """More names than a table keeps, and then a new part of the story."""
    names: dict[str, str] = {MIRELA: "Mirela"}
    step.add(EventType.DM_NARRATION, "A miller.", place=MILL, names={**names}, play={"gist": "we met"})
    for number in range(40):
        names = {f"npc_guest_{number:02d}_{n:03d}": f"Guest {n}" for n in range(50)}
        step.add(EventType.DM_NARRATION, "Guests.", place=MILL, names={**names})
    step.add(EventType.DM_NARRATION, "The next part.", place=MILL, play={"chapter": 1})


def test_names_of_long_ago_are_not_kept_for_ever() -> None:
    """A new part of the story begins with the newest names, those at the table, and those one may tell of."""
    box = Sandbox()
    box.dm(many_guests)
    for who in (DM, *box.party):
        names = box.tables[who].names
        assert len(names) < 1_020
        assert names[MIRELA] == "Mirela"
        assert {*box.party} <= names.keys()
        assert "npc_guest_39_049" in names
        assert "npc_guest_00_000" not in names


def test_whoever_sat_at_the_table_keeps_the_name_for_ever() -> None:
    """A newcomer of the same name would get the uid of the dead, and could do nothing."""
    box = Sandbox()
    one = box.party[0]
    box.dm(lambda step: referee.hurt(step, {one: 100}, text="The dragon breathes.", place=MILL))

    def much_happens(step: referee.growth.Step) -> None:
        """So much that nobody tells of the dragon any more."""
        for number in range(70):
            step.add(EventType.DM_NARRATION, "Well!", place=MILL, play={"gist": f"we saw {number} geese"})
        many_guests(step)

    box.dm(much_happens)
    names = box.table.names
    assert mint("PC", names[one], taken=names) != one


def test_a_deed_without_words_names_nobody_whom_the_doer_does_not_know() -> None:
    """The engine's words for a character hold no name that only the DM knows."""
    box = Sandbox()
    miller = "npc_miller_001"
    box.dm(
        lambda step: (
            step.add(EventType.DM_NARRATION, "Somebody is at the wheel.", place=MILL, participants=[miller])
            and step.add(EventType.SYSTEM, "It is Mirela.", witnesses=[], names={miller: "Mirela"})
        )
    )
    (event,) = box.act(box.party[0], Act(verb=Verb.ASK, target=miller))
    assert "Mirela" not in event.content


def test_nobody_tells_of_what_it_did_not_learn() -> None:
    """Ids of events that the teller has nothing to tell of are left out."""
    box = Sandbox()
    secret = box.dm()[0].event_id
    (event,) = box.act(box.party[0], Act(verb=Verb.TELL, words="I know all.", tells=(secret, "evt_no_such")))
    assert not event.metadata["play"].get("tells")
    assert not event.known.facts
