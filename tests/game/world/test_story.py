"""Fights, quests, chapters and newcomers under the house DM, and who learns what."""

import json
from collections.abc import Iterator

import pytest
from tests.game.world.scenes import Bench, fight_on, hero, mill, words

from dndbots.events import EventType, GameEvent, audience
from dndbots.game import referee
from dndbots.game.acts import Act, Verb
from dndbots.game.adventures import load
from dndbots.game.adventures.module import Module
from dndbots.game.state.game_notes import DM_STEP
from dndbots.game.state.step import Step
from dndbots.game.world.house_dm import HouseDM

MAREN, BRAND = "npc_maren_001", "npc_brand_001"
FERRY, MILL, CELLAR, YARD = "loc_ferry_001", "loc_mill_001", "loc_cellar_001", "loc_yard_001"
THROK, ZARA = "pc_throk_001", "pc_zara_001"
ODO = "npc_odo_001"
STRONG = (
    hero("Throk", "Fighter", hp=90, hp_max=90, level=8),
    hero("Zara", "Thief", hp=60, hp_max=60, level=8),
)


def into_the_cellar(bench: Bench) -> list[GameEvent]:
    bench.dm()
    bench.ask("throk", Verb.ASK, target=MAREN, what="news")
    bench.ask("throk", Verb.ACCEPT, what="qst_rats_001")
    bench.go("mill path")
    while "found:stone" not in bench.table.beats:
        bench.ask("zara", Verb.SEARCH)
    bench.ask("zara", Verb.TAKE, what="stone")
    bench.ask("zara", Verb.OPEN, what="trapdoor")
    return bench.go("trapdoor")


def whole_story(bench: Bench) -> None:
    into_the_cellar(bench)
    fight_on(bench, CELLAR)
    bench.dm()
    bench.ask("zara", Verb.TAKE, what="sack")
    bench.go("Cold Mill")
    bench.go("Reed Ferry")
    bench.dm()


def test_hostile_foes_attack_those_who_come() -> None:
    """There is a light first, then the place, then blows; what they guard cannot be taken."""
    bench = Bench(heroes=STRONG)
    came = into_the_cellar(bench)
    assert came[0].content.count("torch") == 1
    assert EventType.COMBAT_START in [event.event_type for event in came]
    assert bench.table.fights[CELLAR].foes["mon_pack_001"].number == 2


def test_a_won_fight_leaves_spoils_once() -> None:
    """What the dead had is shared by those who are there, and found only once."""
    bench = Bench(heroes=STRONG)
    into_the_cellar(bench)
    before = bench.table.fact(THROK, "gold") + bench.table.fact(ZARA, "gold")
    fight_on(bench, CELLAR)
    bench.dm()
    bench.dm()
    assert bench.table.beats >= {"killed:pack", "taken:pack"}
    assert bench.table.fact(THROK, "gold") + bench.table.fact(ZARA, "gold") == before + 11
    assert "sack" in bench.table.sights[CELLAR].things


def test_a_quest_goes_from_offer_to_reward() -> None:
    """Steps are told when they are done; the ending by whom it concerns, with reward, XP and kept promise."""
    bench = Bench(heroes=STRONG)
    whole_story(bench)
    own = bench.tables[ZARA]
    assert own.fact("qst_rats_001", "objective find") == "completed"
    assert own.fact("qst_rats_001", "state") == "completed"
    (ended,) = [event for event in bench.log if "ended:rats" in str(event.metadata["play"])]
    assert "So he did write it down" in ended.content
    assert [thread.state for thread in ended.known.threads] == ["completed"]
    assert sum(entry["gold"] for entry in ended.known.loot) == 30
    assert own.fact(ZARA, "xp") > 0


def test_people_remember_what_was_done() -> None:
    """A reaction is told once, when they meet again, and changes how they trust."""
    bench = Bench(heroes=STRONG)
    whole_story(bench)
    bench.dm()
    told = [event for event in bench.log if "I hear the bones lie still" in event.content]
    assert len(told) == 1
    assert bench.table.fact(MAREN, "reputation") == 3  # one for the promise, two for the deed


def test_a_story_without_a_next_chapter_ends() -> None:
    """When all quests are over, the story is closed, once."""
    bench = Bench(heroes=STRONG)
    whole_story(bench)
    bench.dm()
    bench.dm()
    assert "over" in bench.table.beats
    assert sum("over" in event.metadata["play"].get("beats", ()) for event in bench.log) == 1


def test_the_next_chapter_begins_where_the_last_one_ended() -> None:
    """The party travels, heals, and stands at the new start, with people whom it can talk to."""
    bench = Bench(heroes=STRONG)
    bench.modules.append(grave())
    whole_story(bench)
    bench.dm()
    assert bench.table.chapter == 1
    assert bench.table.place(THROK) == bench.table.place(ZARA) == "loc_gate_002"
    assert bench.tables[THROK].sights["loc_gate_002"].people == ("npc_odo_002",)
    assert "ended:rats" not in bench.table.beats
    assert bench.table.fact(THROK, "hp") == bench.table.fact(THROK, "hp_max")
    said = bench.ask("throk", Verb.ASK, target="npc_odo_002", what="news")
    assert said[0].source == "npc_odo_002"


def test_a_story_that_stands_still_moves_on() -> None:
    """After a long time without anything new, the next chapter begins even so."""
    bench = Bench()
    bench.modules.append(mill())
    for _ in range(140):
        bench.dm()
    assert bench.table.chapter == 1


def test_wary_foes_bar_the_way_until_they_are_dealt_with() -> None:
    """They are seen, they guard what they guard, and talk or gold may open it."""
    bench = Bench(seed=3)
    bench.dm()
    bench.go("mill path")
    while "opened:mill/back door" not in bench.table.beats:
        bench.ask("throk", Verb.OPEN, what="back door")
    met = bench.go("back door")
    assert "Nobody goes on without paying" in words(met)
    assert bench.tables[THROK].sights[YARD].people == ("mon_toll_001",)
    assert bench.dm_bot.leads(bench.table, YARD, "gate") is None
    for _ in range(30):
        if bench.table.beats & {"spared:toll", "killed:toll"}:
            break
        if YARD in bench.table.fights:
            fight_on(bench, YARD)
        else:
            bench.ask("throk", Verb.PARLEY, target="mon_toll_001")
    assert bench.dm_bot.leads(bench.table, YARD, "gate") == "loc_wood_001"


def test_what_happens_elsewhere_is_known_to_nobody() -> None:
    """An offstage happening reaches no player; moved people are noticed only where they are seen."""
    bench = Bench()
    bench.dm()
    bench.ask("throk", Verb.ASK, target=MAREN, what="news")
    (offstage,) = [event for event in bench.log if "wades ashore" in event.content]
    assert audience(offstage) == {"dm"}
    assert "happened:captain" not in bench.tables[THROK].beats
    bench.dm()
    assert BRAND in bench.tables[THROK].sights[FERRY].people
    assert bench.tables[THROK].name(BRAND) == "a man in a wet coat"


LEAVES = """
module: {title: Gone, start: yard}
places:
  yard: {name: the yard, looks: A yard., safe: yes, people: [ned], exits: {left door: barn}}
  barn: {name: the barn, looks: Straw.}
people:
  ned: {name: Ned Hale, seen_as: a farmer, knows: [{about: news, says: Somebody shears my sheep.}]}
happenings:
  - {key: home, when: met ned, at: yard, text: A cow calls., moves: {ned: barn}}
"""


def test_whoever_is_taken_away_is_missed_at_once() -> None:
    """Nobody is left to talk to somebody who went in the DM's very step."""
    bench = Bench(load(LEAVES))
    bench.dm()
    bench.ask("throk", Verb.ASK, target="npc_ned_001", what="news")
    assert bench.table.place("npc_ned_001") == "loc_barn_001"
    assert bench.tables[THROK].sights["loc_yard_001"].people == ()


def test_a_happening_leaves_its_thread() -> None:
    bench = Bench()
    for _ in range(42):
        bench.dm()
    (flood,) = [event for event in bench.log if "Water comes down the valley." in event.content]
    assert [(one.kind, one.text) for one in flood.known.threads] == [("threat", "the water rises")]


def test_who_has_not_been_there_is_told_the_place_in_full() -> None:
    """Newcomers to a place get its full description; returning characters do not."""
    bench = Bench()
    bench.dm()
    assert "The wheel hangs" in words(bench.go("mill path", "throk"))
    bench.go("Reed Ferry", "throk")
    assert "The wheel hangs" not in words(bench.go("mill path", "throk"))
    assert "The wheel hangs" in words(bench.go("mill path", "zara"))


def test_those_who_are_elsewhere_perceive_nothing() -> None:
    """A split party has two scenes, and each hears its own."""
    bench = Bench()
    bench.dm()
    bench.go("mill path", "throk")
    bench.ask("throk", Verb.LOOK, what="chest")
    assert "miller with no face" not in heard(bench, ZARA)
    bench.ask("zara", Verb.LOOK, what="bell")
    assert "The bell has a crack" not in heard(bench, THROK)


def heard(bench: Bench, who: str) -> str:
    """Return everything a character perceived, words and notes."""
    events = [event for event in bench.log if who in audience(event)]
    return "\n".join(f"{event.content} {json.dumps(event.metadata)}" for event in events)


def test_nothing_hidden_and_nobody_unmet_reaches_a_player() -> None:
    """Before it is found, told or met, no player's events hold a word of it."""
    bench = Bench(heroes=STRONG)
    bench.dm()
    bench.ask("throk", Verb.ASK, target=MAREN, what="mill")
    bench.ask("throk", Verb.ASK, target=MAREN, what="flood")
    before_search = bench.go("mill path")
    assert before_search
    known = heard(bench, THROK) + heard(bench, ZARA)
    secrets = (
        "hearthstone",
        "chute",
        "silver key",
        "loft",
        "Captain Brand",
        "my own brother",
        "ledger_",
        "pack",
    )
    for secret in secrets:
        assert secret not in known, secret
    assert "Maren" in known
    while "found:stone" not in bench.table.beats:
        bench.ask("zara", Verb.SEARCH)
    known = heard(bench, THROK)
    assert "hearthstone" in known
    assert "silver key" not in known
    assert "mon_ravens_001" not in known


@pytest.mark.parametrize("seed", range(4))
def test_the_same_seed_tells_the_same_story(seed: int) -> None:
    """Every draft is the same, byte for byte."""
    first, second = Bench(seed=seed, heroes=STRONG), Bench(seed=seed, heroes=STRONG)
    whole_story(first)
    whole_story(second)
    assert [event.model_dump_json() for event in first.log] == [
        event.model_dump_json() for event in second.log
    ]


def test_a_dm_without_a_past_goes_on_the_same_way() -> None:
    """A new DM at tables that were folded again drafts what the old one drafts: it keeps nothing."""
    bench = Bench(heroes=STRONG)
    for _ in compared(bench):
        pass


def compared(bench: Bench) -> Iterator[None]:
    """Draft each DM step of a story twice: at the tables as they are, and at new ones."""
    run = bench.dm_bot.run

    def both(screen: object) -> None:
        folded = bench.folded()
        other = Step(
            DM_STEP,
            seed=bench.seed,
            round_=bench.round,
            session="s01",
            tables=folded,
            rng=bench.step(DM_STEP).rng,
            leads=bench.leads,
        )
        HouseDM().run(bench.screen(other))
        run(screen)
        step: Step = screen.step
        assert [one.model_dump_json() for one in other.events] == [
            one.model_dump_json() for one in step.events
        ]

    bench.dm_bot.run = both
    whole_story(bench)
    yield


def test_every_step_of_the_dm_has_something_to_tell() -> None:
    """However little happens, each step drafts at least one event, and time passes."""
    bench = Bench()
    for _ in range(30):
        before = bench.table.minutes
        assert bench.dm()
        assert bench.table.minutes > before


def grave() -> Module:
    return load(
        """
module: {title: Grave, start: gate}
places:
  gate: {name: Gate, looks: A gate., safe: yes, exits: {down: pit}, people: [odo]}
  pit: {name: Pit, looks: A pit.}
people:
  odo: {name: Odo, seen_as: a sexton}
"""
    )


def test_a_fallen_characters_seat_is_taken_by_somebody_new() -> None:
    """At a safe place a newcomer joins, with a name that nobody bears, and is shown the place."""
    bench = Bench(grave())
    bench.dm()
    step = bench.step("referee x")
    referee.record_death(step, THROK, place="loc_gate_001")
    bench.done(step)
    bench.dm()
    (newcomer,) = [uid for uid in bench.table.living() if uid != ZARA]
    assert bench.table.seats[newcomer].seat == 1
    assert bench.table.name(newcomer) not in ("Throk", "Zara")
    assert bench.tables[newcomer].sights["loc_gate_001"].ways == ("down",)
    assert bench.table.character(newcomer) is not None
    bench.dm()
    assert len(bench.table.living()) == 2


def test_who_knows_a_place_is_not_told_it_again_when_somebody_new_comes() -> None:
    """A newcomer is shown the place whole, and hears nobody's name; the others hear of the arrival."""
    bench = Bench(grave())
    bench.dm()
    bench.ask("zara", Verb.ASK, target=ODO, what="news")
    step = bench.step("referee x")
    referee.record_death(step, THROK, place="loc_gate_001")
    bench.done(step)
    events = bench.dm()
    (newcomer,) = [uid for uid in bench.table.living() if uid != ZARA]
    (shown,) = [event for event in events if "A gate." in event.content]
    assert newcomer in audience(shown)
    assert ZARA not in audience(shown)
    assert "Odo" not in shown.content


def test_who_returns_to_where_others_wait_is_told_the_place_in_short() -> None:
    """A place is told whole to who sees it for the first time; who waits there hears of the meeting."""
    bench = Bench(grave())
    bench.dm()
    bench.go("down", "zara")
    events = bench.go("down", "throk")
    (shown,) = [event for event in events if "A pit." in event.content]
    met = next(event for event in events if ZARA in audience(event) and "Throk" in event.content)
    assert THROK in audience(shown)
    assert ZARA not in audience(shown)
    assert "A pit." not in met.content


def test_if_all_are_dead_a_new_company_comes_to_the_start() -> None:
    """The story goes on from where it began, with what happened so far."""
    bench = Bench(grave())
    bench.dm()
    bench.go("down")
    step = bench.step("referee x")
    for uid in (THROK, ZARA):
        referee.record_death(step, uid, place="loc_pit_001")
    bench.done(step)
    bench.dm()
    living = bench.table.living()
    assert len(living) == 2
    assert {bench.table.place(uid) for uid in living} == {"loc_gate_001"}
    assert "told:pit" in bench.table.beats


def test_old_things_come_back_only_to_those_who_know_them() -> None:
    """A callback speaks of what everybody in the scene knows of, in names that all have heard."""
    bench = Bench(seed=2)
    bench.dm()
    bench.ask("throk", Verb.LOOK, what="bell")
    bench.go("mill path", "zara")
    for _ in range(39):
        bench.dm()
    echoes = [event for event in bench.log if "echo:" in str(event.metadata["play"])]
    assert echoes
    for event in echoes:
        (echo,) = [one for one in event.metadata["play"]["beats"] if one.startswith("echo:")]
        (old,) = [one for one in bench.log if one.event_id == echo.removeprefix("echo:")]
        players = {who for who in audience(event) if who.startswith("pc_")}
        assert players <= audience(old)


def test_a_promise_comes_back_to_those_who_know_of_it() -> None:
    """A character who was absent when a promise was given is not reminded of it."""
    bench = Bench(seed=2)
    bench.dm()
    bench.go("mill path", "zara")
    bench.ask("throk", Verb.ASK, target=MAREN, what="news")
    bench.ask("throk", Verb.ACCEPT, what="qst_rats_001")
    for _ in range(120):
        bench.dm()
    reminded = [event for event in bench.log if "Bring the black ledger to Maren" in event.content]
    assert reminded
    assert all(THROK in audience(event) for event in reminded)
    assert "black ledger" not in heard(bench, ZARA)


def test_strays_come_by_in_unsafe_places() -> None:
    """Where a module says so, somebody comes by; never where it is safe."""
    bench = Bench(seed=3, heroes=STRONG)
    bench.dm()
    step = bench.step("march")
    referee.movement.move_group(step, [THROK, ZARA], FERRY, "mill path", "loc_wood_001")
    bench.done(step)
    for _ in range(7):
        bench.dm()
        if "loc_wood_001" in bench.table.fights:
            break
    assert any("goblin" in event.content for event in bench.log)


def lair() -> Module:
    return load(
        """
module: {title: Lair, start: gate}
places:
  gate: {name: Gate, looks: A gate., exits: {down: pit}}
  pit:
    name: Pit
    looks: A pit.
    dark: yes
    foes:
      guard: {monster: skeleton, number: 1, mood: hostile, leader: king, items: [crown]}
people:
  king: {name: King Mor, seen_as: a crowned shape}
items:
  crown: {name: bent crown}
quests:
  fall:
    name: The Fall of Mor
    goal: Bring down the king
    endings:
      done: {when: killed king and has crown, text: The king is no more.}
"""
    )


def test_who_leads_foes_falls_with_them() -> None:
    """The leader is dead, what they had is taken, and a condition on either holds."""
    bench = Bench(lair(), heroes=STRONG)
    bench.dm()
    assert bench.table.fact("qst_fall_001", "state") == "accepted"  # nobody gives it, so it is theirs
    bench.go("down")
    assert "a crowned shape" in words(bench.log)
    fight_on(bench, "loc_pit_001")
    bench.dm()
    assert not bench.table.alive("npc_king_001")
    assert bench.table.items(THROK)["bent crown"] == 1
    assert bench.tables[ZARA].fact("qst_fall_001", "state") == "completed"
    assert "npc_king_001" not in bench.table.sights["loc_pit_001"].people


def test_a_light_burns_down_and_another_one_is_lit() -> None:
    """A torch lasts six turns in the dark; every one that is lit is one less in the pack."""
    bench = Bench(lair(), heroes=STRONG)
    bench.dm()
    bench.go("down")
    assert bench.table.items(THROK)["5 torches"] == 1
    fight_on(bench, "loc_pit_001")
    while bench.table.items(THROK).get("5 torches"):
        bench.dm()
    lit = [event.turn for event in bench.log if "lit:" in str(event.metadata["play"])]
    assert lit[1] - lit[0] == 7
    assert bench.table.items(THROK)["4 torches"] == 1


def test_without_any_light_the_dark_is_told_once() -> None:
    blind = (hero("Throk", "Fighter", equipment=["longsword"]), hero("Zara", "Thief", equipment=["dagger"]))
    bench = Bench(lair(), heroes=blind)
    bench.dm()
    step = bench.step("march")
    referee.movement.move_group(step, [THROK], "loc_gate_001", "down", "loc_pit_001")
    bench.done(step)
    bench.dm()
    assert bench.tables[THROK].sights["loc_pit_001"].dark
    assert not bench.tables[ZARA].beats & {"dark:pit", "told:pit"}


def test_what_time_takes_away_first_costs_nobody_an_answer() -> None:
    """The step may already hold an event when the DM begins; what was asked is answered all the same."""
    bench = Bench()
    bench.dm()
    bench.act("throk", Verb.LOOK, what="bell")
    bench.round += 1
    step = bench.step(DM_STEP)
    step.add(EventType.CONDITION, "Zara is no longer blessed.", place=FERRY)
    bench.dm_bot.run(bench.screen(step))
    assert "The bell has a crack" in words(bench.done(step))


APART = """
module: {title: Two Halves, start: yard}
places:
  yard: {name: the yard, looks: A yard., safe: yes, people: [ned], exits: {left door: barn, right door: shed}}
  barn: {name: the barn, looks: Straw., things: {glove: {looks: a glove, text: It fits a left hand.}}}
  shed: {name: the shed, looks: Tools., things: {shears: {looks: a pair of shears, text: Wool sticks.}}}
people:
  ned: {name: Ned Hale, seen_as: a farmer, knows: [{about: news, says: Somebody shears my sheep at night.}]}
quests:
  wool:
    {name: Stolen Wool, giver: ned, offer: Find out who., goal: Find out who shears the sheep,
     steps: {first: {when: found shears, text: The shears were used.}},
     endings: {both: {when: found glove and found shears, text: A left-handed thief with shears.}}}
"""


def test_what_one_half_of_a_split_party_found_out_is_not_told_to_the_other() -> None:
    """A step is told where it was made; what needs both halves waits until they are together."""
    bench = Bench(load(APART))
    bench.dm()
    bench.ask("throk", Verb.ASK, target="npc_ned_001", what="news")
    bench.ask("throk", Verb.ACCEPT, what="qst_wool_001")
    bench.go("left door", "throk")
    bench.act("throk", Verb.LOOK, what="glove")
    bench.act("zara", Verb.GO, what="right door")
    bench.march()
    bench.dm()
    told = bench.ask("zara", Verb.LOOK, what="shears")
    step = next(event for event in told if event.known.objective_id == "first")
    assert audience(step) & {THROK, ZARA} == {ZARA}
    assert not any(event.known.quest_state == "completed" for event in [*told, *bench.dm()])
    bench.act("throk", Verb.GO, what=next(iter(bench.tables[THROK].sights["loc_barn_001"].ways)))
    bench.act("zara", Verb.GO, what=next(iter(bench.tables[ZARA].sights["loc_shed_001"].ways)))
    bench.march()
    together = bench.dm()
    assert any(event.known.quest_state == "completed" for event in together)


def test_what_the_dead_carried_is_not_lost_to_the_story() -> None:
    """A new company finds what the story needs where the old one fell, without learning whose it was."""
    module = load(
        """
module: {title: Grave, start: gate}
places:
  gate: {name: Gate, looks: A gate., safe: yes, exits: {down: pit}}
  pit: {name: Pit, looks: A pit., things: {chest: {looks: a chest, items: [seal]}}}
items:
  seal: {name: wax seal}
"""
    )
    bench = Bench(module)
    bench.dm()
    bench.go("down")
    bench.ask("throk", Verb.TAKE, what="chest")
    assert bench.table.items(THROK)["wax seal"] == 1
    step = bench.step("referee x")
    for uid in (THROK, ZARA):
        referee.record_death(step, uid, place="loc_pit_001")
    bench.done(step)
    bench.dm()
    first, second = bench.table.living()
    for uid in (first, second):
        step = bench.step(uid)
        referee.record_act(step, uid, Act(verb=Verb.GO, what="down", words="Down."))
        bench.done(step)
    bench.march()
    told = [event for event in bench.dm() if event.event_type is EventType.LOOT]
    assert [event.known.participants for event in told] == [[first]]
    assert bench.table.items(first)["wax seal"] == 1
    assert "wax seal" not in bench.table.items(THROK)
    assert "Throk" not in words(told)
    assert THROK not in bench.tables[second].names or bench.tables[second].names[THROK] != "Throk"


def test_a_refused_quest_is_offered_again_to_those_who_come_back() -> None:
    """Who asks the giver for news after a refusal gets the offer once more, and may accept it."""
    bench = Bench(heroes=STRONG)
    bench.dm()
    bench.ask("throk", Verb.ASK, target=MAREN, what="news")
    bench.ask("throk", Verb.REFUSE, what="qst_rats_001")
    assert bench.tables[ZARA].fact("qst_rats_001", "state") == "refused"
    bench.ask("zara", Verb.ASK, target=MAREN, what="news")
    assert bench.tables[ZARA].fact("qst_rats_001", "state") == "offered"
    bench.ask("zara", Verb.ACCEPT, what="qst_rats_001")
    assert bench.tables[THROK].fact("qst_rats_001", "state") == "accepted"


def test_a_badly_hurt_party_stays_in_bed_until_it_is_fit() -> None:
    """In a safe place one rest lasts as many nights as the worst wounds need, up to five."""
    bench = Bench(heroes=(hero("Throk", "Fighter", hp=2, hp_max=12), hero("Zara", "Thief", hp=5, hp_max=5)))
    bench.dm()
    before = bench.table.minutes
    for who in ("throk", "zara"):
        bench.act(who, Verb.REST)
    (rest,) = [event for event in bench.dm() if event.event_type is EventType.HEALING]
    assert rest.known.hp_delta[THROK] >= 4
    assert bench.table.minutes - before > 3 * 24 * 60
