"""Memory documents: the fixed strings, the window, and what old events leave behind."""

from typing import Any

import pytest
from tests.table import character, event

from dndbots.dcml import Certainty, DCMLCategory, DCMLEntity, DCMLOp, SectionKind, parse, validate
from dndbots.errors import DndbotsError, DuplicateUid, InvalidSetting, InvalidUid, UnknownCategory
from dndbots.events import EventType, GameEvent
from dndbots.memory import MemoryBuilder
from dndbots.tokens import count_tokens

THROK = character("Throk", "Fighter", level=3, char_id="pc_throk_001")
ZARA = character("Zara", "Thief", level=3)
BOTH = ["pc_throk_001", "pc_zara_001"]
AMBUSH = event(
    "evt_003_047",
    "dm",
    "Goblin ambush at cave entrance",
    kind=EventType.COMBAT_ROUND,
    location="loc_darkwood_entrance",
    participants=BOTH,
    enemies=["mon_goblin_darkwood"],
    enemy_count=4,
)


def memory_of(events: list[GameEvent], **options: object) -> str:
    builder = MemoryBuilder(
        **{key: options.pop(key) for key in ("event_window", "rollup_limit", "dense") if key in options}
    )  # type: ignore[arg-type]
    return builder.build_memory_document("pc_throk_001", THROK, [THROK, ZARA], events, **options)  # type: ignore[arg-type]


# Lexicon


def test_a_lexicon_has_its_title_even_when_it_is_empty() -> None:
    """`## LEXICON` and a new line."""
    assert MemoryBuilder().build_lexicon(characters=[]) == "## LEXICON\n"


def test_a_lexicon_lists_everything_it_is_given() -> None:
    """Characters, people, places, a line each."""
    lexicon = MemoryBuilder().build_lexicon(
        characters=[THROK, ZARA],
        npcs=[{"uid": "npc_grimfang_001", "name": "Grimfang"}],
        locations=[{"uid": "loc_darkwood_cave", "name": "Darkwood Cave"}],
    )
    assert lexicon == (
        "## LEXICON\n[PC:pc_throk_001:Throk]\n[PC:pc_zara_001:Zara]\n"
        "[NPC:npc_grimfang_001:Grimfang]\n[LOC:loc_darkwood_cave:Darkwood Cave]"
    )


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "Grimfang"},
        {"uid": "Grim Fang", "name": "Grimfang"},
        {"uid": "npc_grimfang_001", "name": ""},
        {"uid": "npc_grimfang_001", "name": "Grimfang", "category": "LOC"},
        None,
        "npc_grimfang_001",
        ("npc_grimfang_001", "Grimfang"),
    ],
)
def test_an_entity_that_is_none_is_refused(bad: Any) -> None:
    """With an error of ours that names it and the list it stood in."""
    with pytest.raises(DndbotsError, match=r"npcs|name of npc_grimfang_001"):
        MemoryBuilder().build_lexicon(npcs=[bad])


@pytest.mark.parametrize("bad", [None, "qst_a_001", 5])
def test_a_quest_that_is_none_is_refused(bad: Any) -> None:
    """Named with its list."""
    with pytest.raises(DndbotsError, match="quests"):
        memory_of([], quests=[bad])


@pytest.mark.parametrize("bad", [None, "a_b", ("npc_a_001", "npc_b_001"), ("npc_a_001", "~", "npc_b_001")])
def test_a_relation_that_is_none_is_refused(bad: Any) -> None:
    """Named with its list."""
    for where in ("relations", "hidden"):
        with pytest.raises(DndbotsError, match=where):
            MemoryBuilder().build_dm_document("s01", [THROK], [], **{where: [bad]})


def test_two_sheets_with_one_uid_are_refused() -> None:
    """They would share one mind; the error names both."""
    eloi, other = character("Éloi", "Cleric"), character("Eloi", "Thief")
    with pytest.raises(DuplicateUid, match=r"pc_eloi_001 is used for 'Éloi' and 'Eloi'"):
        MemoryBuilder().build_memory_document("pc_eloi_001", eloi, [eloi, other], [])


def test_a_reader_who_is_not_in_the_list_is_in_the_lexicon() -> None:
    """A document always names its own reader."""
    text = MemoryBuilder().build_memory_document("pc_hero_007", THROK, [ZARA], [])
    assert text.startswith("## LEXICON\n[PC:pc_zara_001:Zara]\n[PC:pc_hero_007:Throk]\n")
    with pytest.raises(InvalidUid, match="pc_id"):
        MemoryBuilder().build_memory_document("Throk", THROK, [ZARA], [])


# Events


def test_an_event_is_place_people_enemies_summary() -> None:
    """In that order, word for word."""
    assert MemoryBuilder().render_event(AMBUSH) == (
        "EVT:evt_003_047 @ loc_darkwood_entrance\n"
        "    pc_throk_001,pc_zara_001 in EVT:evt_003_047\n"
        "    mon_goblin_darkwoodx4 in EVT:evt_003_047\n"
        '    EVT:evt_003_047::summary->"Goblin ambush at cave entrance"'
    )


def test_a_player_character_that_acts_is_named_first() -> None:
    """The source comes first, whether or not it is a participant, and nobody is named twice."""
    text = MemoryBuilder().render_event(event("evt_1_1", "pc_zara_001", "x", participants=BOTH))
    assert "    pc_zara_001,pc_throk_001 in EVT:evt_1_1\n" in text


def test_what_an_event_does_not_have_has_no_line() -> None:
    """No place, nobody, no enemies: only the summary."""
    text = MemoryBuilder().render_event(event("evt_1_1", "dm", "It rains.", participants=["dm"]))
    assert text == '    EVT:evt_1_1::summary->"It rains."'


def test_an_event_id_from_outside_is_quoted() -> None:
    """Any text may be an event id."""
    text = MemoryBuilder().render_event(event("D1:3", "dm", "x", location="loc_a_001"))
    assert text == 'EVT:"D1:3" @ loc_a_001\n    EVT:"D1:3"::summary->"x"'


@pytest.mark.parametrize(
    ("content", "summary"),
    [
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 80 + "..."),
        ("one\ntwo\r\nthree\rfour", "one two three four"),
        ('"' * 81, '\\"' * 80 + "..."),
        ("a\\" * 40 + "b", "a\\\\" * 40 + "..."),
        ("", ""),
    ],
)
def test_a_summary_is_cut_first_and_escaped_then(content: str, summary: str) -> None:
    """Eighty characters, new lines made spaces, an ellipsis where there was more."""
    text = MemoryBuilder().render_event(event("evt_1_1", "dm", content))
    assert text == f'    EVT:evt_1_1::summary->"{summary}"'
    assert parse("## MEMORY_dm\n" + text).sections


@pytest.mark.parametrize(
    ("enemies", "count", "line"),
    [
        (["mon_orc_001"], None, "mon_orc_001 in"),
        (["mon_orc_001"], 1, "mon_orc_001 in"),
        (["mon_orc_001"], 0, "mon_orc_001 in"),
        (["mon_orc_001", "mon_orc_001", "npc_boss_001"], None, "mon_orc_001x2,npc_boss_001 in"),
        (["mon_orc_001", "npc_boss_001"], 5, "mon_orc_001x5,npc_boss_001 in"),
    ],
)
def test_the_first_enemy_has_the_count(enemies: list[str], count: int | None, line: str) -> None:
    """And none of the others is lost."""
    metadata = {"enemies": enemies} | ({} if count is None else {"enemy_count": count})
    text = MemoryBuilder().render_event(event("evt_1_1", "dm", "x", **metadata))
    assert f"    {line} EVT:evt_1_1\n" in text


# A character's memory


def test_a_memory_is_laid_out_as_the_language_fixes_it() -> None:
    """Title, identity, past, recent: the reference document, byte for byte."""
    old = event(
        "evt_003_001", "dm", "Grimfang falls", participants=["pc_throk_001"], killed=["npc_grimfang_001"]
    )
    asked = event(
        "evt_003_002", "dm", "x", participants=BOTH, quest_id="qst_children_001", quest_state="accepted"
    )
    memory = MemoryBuilder(event_window=1).build_pc_memory(
        "pc_throk_001", THROK, [old, asked, AMBUSH], party_id="fac_party_001"
    )
    assert memory == (
        "## MEMORY_pc_throk_001\n"
        "\n"
        "# Identity & role\n"
        "pc_throk_001 in fac_party_001;\n"
        "pc_throk_001::class->FTR,level->3;\n"
        "pc_throk_001::stats->STR17,DEX12,CON15,INT8,WIS10,CHA9;\n"
        "\n"
        "# Key past events (compressed)\n"
        "pc_throk_001 -> KILLED:npc_grimfang_001\n"
        "!QST:qst_children_001::state->accepted\n"
        "\n"
        "# Recent events\n" + MemoryBuilder().render_event(AMBUSH)
    )


@pytest.mark.parametrize(
    ("char_class", "short"),
    [
        ("Fighter", "FTR"),
        ("Cleric", "CLR"),
        ("Thief", "THF"),
        ("Magic-User", "MU"),
        ("Wizard", "MU"),
        ("Elf", "ELF"),
        ("Dwarf", "DWF"),
        ("Halfling", "HLF"),
        ("Bard", "BAR"),
        ("Chaos Monk", "CHA"),
        ("侍", '"侍"'),
        ("A, b", "AB"),
        ("fighter", "FTR"),
    ],
)
def test_classes_are_abbreviated(char_class: str, short: str) -> None:
    """By the table, or by the first three letters."""
    memory = MemoryBuilder().build_pc_memory("pc_x_001", character("X", char_class), [])
    assert f"pc_x_001::class->{short},level->1;" in memory


@pytest.mark.parametrize(
    ("window", "told"), [(0, []), (1, [19]), (5, [15, 16, 17, 18, 19]), (30, list(range(20)))]
)
def test_only_the_newest_events_are_told(window: int, told: list[int]) -> None:
    """The window counts events, and nought is nought."""
    events = [event(f"evt_1_{n:03d}", "pc_throk_001", f"Action {n}") for n in range(20)]
    memory = MemoryBuilder(event_window=window).build_pc_memory("pc_throk_001", THROK, events)
    assert [n for n in range(20) if f"EVT:evt_1_{n:03d}" in memory] == told


def test_a_negative_window_is_refused() -> None:
    """It would mean something else than it says."""
    with pytest.raises(InvalidSetting, match="event_window: -1"):
        MemoryBuilder(event_window=-1)
    with pytest.raises(InvalidSetting, match="rollup_limit: '5'"):
        MemoryBuilder(rollup_limit="5")  # type: ignore[arg-type]


# Rollups


def rollups(*events: GameEvent, reader: str = "pc_throk_001", party: str | None = None) -> list[str]:
    return MemoryBuilder().create_rollups(events, reader, party)


def test_a_kill_is_the_named_killers() -> None:
    """Bystanders get no credit."""
    done = event("e", "dm", "x", participants=BOTH, killed=["npc_g_001"], killed_by="pc_zara_001")
    assert rollups(done) == ["pc_zara_001 -> KILLED:npc_g_001"]


def test_a_kill_without_a_killer_is_the_only_characters() -> None:
    """If one character took part, it was that one."""
    done = event("e", "dm", "x", participants=["pc_throk_001", "npc_friend_001"], killed=["npc_g_001"])
    assert rollups(done) == ["pc_throk_001 -> KILLED:npc_g_001"]


def test_a_kill_among_several_is_the_partys() -> None:
    """Never everybody's who stood by."""
    done = event("e", "dm", "x", participants=BOTH, killed=["npc_g_001"])
    assert rollups(done) == ["fac_party_001 -> KILLED:npc_g_001"]
    assert rollups(done, party="fac_heroes_001") == ["fac_heroes_001 -> KILLED:npc_g_001"]


def test_a_witness_is_no_killer() -> None:
    """Throk saw Zara's fight; the kill is Zara's."""
    seen = event("e", "pc_zara_001", "x", witnesses=["pc_throk_001"], killed=["npc_g_001"])
    assert rollups(seen) == ["pc_zara_001 -> KILLED:npc_g_001"]


def test_nobody_kills_themselves_and_no_party_its_own() -> None:
    """A character who dies by no named hand dies by the creature that acted, or by nobody."""
    alone = event("e1", "dm", "x", participants=["pc_throk_001"], killed=["pc_throk_001"])
    bitten = event("e2", "mon_wolf_001", "x", participants=BOTH, killed=["pc_zara_001"])
    trapped = event("e3", "dm", "x", participants=BOTH, killed=["npc_g_001"], killed_by="dm")
    assert rollups(alone) == ["pc_throk_001::status->dead"]
    assert rollups(bitten) == ["mon_wolf_001 -> KILLED:pc_zara_001"]
    assert rollups(trapped) == ["npc_g_001::status->dead"]
    fallen = [
        event(f"e{n}", "dm", "x", participants=BOTH, killed=["mon_g_001"], killed_by="dm") for n in (4, 5)
    ]
    assert rollups(*fallen) == ["mon_g_001x2::status->dead"]


def test_several_who_are_named_share_a_kill() -> None:
    """As named, each once."""
    done = event("e", "dm", "x", participants=BOTH, killed=["npc_g_001"], killed_by=[*BOTH, "pc_zara_001"])
    assert rollups(done) == ["pc_throk_001,pc_zara_001 -> KILLED:npc_g_001"]


def test_monsters_of_a_kind_are_counted_and_nobody_dies_twice() -> None:
    """Three goblins are three, Grimfang is one."""
    fights = [
        event(f"e{n}", "pc_throk_001", "x", killed=["mon_goblin_001", "npc_grimfang_001"]) for n in range(3)
    ]
    assert rollups(*fights) == [
        "pc_throk_001 -> KILLED:npc_grimfang_001",
        "pc_throk_001 -> KILLED:mon_goblin_001x3",
    ]


def test_the_newest_state_of_a_quest_stands() -> None:
    """Accepted, then completed: completed."""
    states = [
        event(f"e{n}", "pc_throk_001", "x", quest_id="qst_a_001", quest_state=state)
        for n, state in enumerate(("offered", "accepted", "completed"))
    ]
    assert rollups(*states) == ["!QST:qst_a_001::state->completed"]


def test_discoveries_reputation_and_facts_are_kept() -> None:
    """With the certainty they were stated with; what is newer takes its place."""
    events = [
        event("e1", "pc_throk_001", "x", discovered=["loc_crypt_001"], reputation={"fac_guild_001": -2}),
        event("e2", "pc_throk_001", "x", reputation={"fac_guild_001": 1}),
        event(
            "e3",
            "dm",
            "x",
            participants=["pc_throk_001"],
            facts=[
                {"subject": "npc_a_001", "op": "@", "object": "loc_a_001"},
                {"subject": "npc_a_001", "key": "role", "value": "patron", "certainty": "rumor"},
                {"subject": "npc_a_001", "op": "@", "object": "loc_b_001"},
            ],
        ),
    ]
    assert rollups(*events) == [
        "pc_throk_001 -> DISCOVERED:loc_crypt_001",
        "fac_guild_001::rep->-1",
        "?npc_a_001::role->patron",
        "npc_a_001 @ loc_b_001",
    ]


def test_a_rumor_does_not_undo_what_was_seen() -> None:
    """A more certain fact replaces a less certain one, not the other way round."""

    def said(number: int, value: str, certainty: str) -> GameEvent:
        fact = {"subject": "npc_a_001", "key": "status", "value": value, "certainty": certainty}
        return event(f"e{number}", "dm", "x", participants=["pc_throk_001"], facts=[fact])

    seen, heard, seen_again = said(1, "dead", "fact"), said(2, "alive", "rumor"), said(3, "buried", "fact")
    assert rollups(seen, heard) == ["npc_a_001::status->dead", "?npc_a_001::status->alive"]
    assert rollups(seen, heard, seen_again) == ["npc_a_001::status->buried"]


def test_what_one_was_told_is_a_belief() -> None:
    """Zara says so; Throk did not see it."""
    told = event(
        "e",
        "pc_zara_001",
        "x",
        told_to=["pc_throk_001"],
        facts=[{"subject": "npc_a_001", "key": "hp", "value": 3}],
    )
    assert rollups(told) == ["!npc_a_001::hp->3"]
    assert rollups(told, reader="pc_zara_001") == ["npc_a_001::hp->3"]


def test_every_line_that_comes_of_hearsay_is_a_belief() -> None:
    """Deaths, discoveries and reputation too, until they are seen."""
    news = {"killed": ["npc_g_001"], "discovered": ["loc_a_001"], "reputation": {"fac_a_001": 2}}
    told = event("e1", "pc_zara_001", "x", told_to=["pc_throk_001"], **news)
    seen = event("e2", "pc_zara_001", "x", witnesses=["pc_throk_001"], killed=["npc_g_001"])
    assert rollups(told) == [
        "!pc_zara_001 -> KILLED:npc_g_001",
        "!pc_zara_001 -> DISCOVERED:loc_a_001",
        "!fac_a_001::rep->2",
    ]
    assert "pc_zara_001 -> KILLED:npc_g_001" in rollups(told, seen)
    assert rollups(seen, told)[0] == "pc_zara_001 -> KILLED:npc_g_001"


def test_what_the_dm_tells_or_one_sees_while_being_told_is_no_hearsay() -> None:
    """The DM's word is true, and so are one's own eyes."""
    fact = {"subject": "npc_a_001", "key": "hp", "value": 3}
    by_dm = event("e1", "dm", "x", told_to=["pc_throk_001"], facts=[fact])
    there = event(
        "e2", "pc_zara_001", "x", told_to=["pc_throk_001"], witnesses=["pc_throk_001"], facts=[fact]
    )
    assert rollups(by_dm) == rollups(there) == ["npc_a_001::hp->3"]


def test_the_first_who_finds_it_discovered_it() -> None:
    """Coming back is no discovery."""
    found = [event(f"e{n}", pc, "x", witnesses=BOTH, discovered=["loc_a_001"]) for n, pc in enumerate(BOTH)]
    assert rollups(*found) == ["pc_throk_001 -> DISCOVERED:loc_a_001"]


def test_a_document_credits_its_own_party() -> None:
    """The party that the caller names, in documents as in rollups."""
    done = event("e", "dm", "x", participants=BOTH, killed=["npc_g_001"])
    assert "fac_heroes_001 -> KILLED:npc_g_001" in memory_of(
        [done], party_id="fac_heroes_001", event_window=0
    )


# Quests


def test_quests_have_state_and_certainty() -> None:
    """As given, and as a belief where nothing is said of it."""
    text = memory_of(
        [],
        quests=[
            {
                "uid": "qst_a_001",
                "name": "The Bell",
                "state": "offered",
                "giver": "npc_elena_001",
                "goal": "Ring it",
            },
            {"uid": "qst_b_001", "state": "accepted", "certainty": "rumor"},
            {"uid": "qst_c_001", "state": "failed", "certainty": Certainty.FACT},
        ],
    )
    assert '!QST:qst_a_001::state->offered,giver->npc_elena_001,goal->"Ring it"' in text
    assert "?QST:qst_b_001::state->accepted" in text
    assert "\nQST:qst_c_001::state->failed" in text
    assert "[QST:qst_a_001:The Bell]" in text
    assert validate(text) == []


def test_a_quest_state_that_the_character_saw_since_is_the_newer_one() -> None:
    """The list may be older than the events; the rollup does not say it again."""
    done = event("e", "pc_throk_001", "x", quest_id="qst_a_001", quest_state="completed")
    text = memory_of([done], quests=[{"uid": "qst_a_001", "state": "accepted"}], event_window=0)
    assert text.count("qst_a_001::state") == 1
    assert "!QST:qst_a_001::state->completed" in text
    rumor = [{"uid": "qst_a_001", "state": "accepted", "certainty": "rumor"}]
    assert "!QST:qst_a_001::state->completed" in memory_of([done], quests=rumor)


# Whole documents


def test_every_uid_that_is_used_is_in_the_lexicon() -> None:
    """Given or not, with a readable name."""
    text = memory_of([AMBUSH], party_id="fac_party_001", npcs=[{"uid": "npc_x_001", "name": "Unmet"}])
    assert validate(text) == []
    assert "[MON:mon_goblin_darkwood:Goblin Darkwood]" in text
    assert "[FAC:fac_party_001:The Party]" in text


def test_a_namesake_out_of_sight_keeps_its_place() -> None:
    """The second Goblin is still the second when the first one is not told of any more."""
    first = event("e1", "pc_throk_001", "x", participants=["npc_goblin_001", "npc_goblin_003"])
    second = event("e2", "pc_throk_001", "x", participants=["npc_goblin_002"])
    npcs = [{"uid": "npc_goblin_002", "name": "GOBLIN"}]
    text = memory_of([first, second], npcs=npcs, event_window=1, dense=True)
    assert 'Throk,GOBLIN#2 "x"' in text
    assert "NPC_001: Goblin, GOBLIN=2" in text


@pytest.mark.parametrize(
    "first",
    [
        {"participants": ["npc_goblin_001"]},
        {"enemies": ["npc_goblin_001"]},
        {"npcs_mentioned": ["npc_goblin_001"]},
        {"discovered": ["npc_goblin_001"]},
        {"killed": ["npc_goblin_001"]},
        {"killed": ["npc_x_001"], "killed_by": "npc_goblin_001"},
        {"reputation": {"npc_goblin_001": 1}},
        {"facts": [{"subject": "npc_goblin_001", "key": "role", "value": "spy"}]},
        {"facts": [{"subject": "npc_x_001", "key": "ally", "value": "npc_goblin_001"}]},
        {"facts": [{"subject": "npc_x_001", "op": "~", "object": "npc_goblin_001"}]},
    ],
)
def test_one_is_met_however_an_event_speaks_of_one(first: dict[str, Any]) -> None:
    """The first entity to come up is the first bearer of a name, however it came up."""
    events = [
        event("e1", "pc_throk_001", "x", **first),
        event("e2", "pc_throk_001", "x", participants=["npc_goblin_002"]),
    ]
    npcs = [{"uid": "npc_goblin_002", "name": "Goblin"}]
    text = memory_of(events, npcs=npcs, event_window=1, rollup_limit=0, dense=True)
    assert 'Throk,Goblin#2 "x"' in text


def test_the_dense_document_says_the_same() -> None:
    """Both spellings of one memory are one tree."""
    events = [AMBUSH, event("evt_003_048", "pc_throk_001", "I charge!", location="loc_darkwood_entrance")]
    options = {"party_id": "fac_party_001", "quests": [{"uid": "qst_a_001", "state": "offered"}]}
    assert parse(memory_of(events, dense=True, **options)) == parse(memory_of(events, **options))


def test_a_characters_block_stays_in_the_hundreds_of_tokens() -> None:
    """However many died and however much was found: the newest of it is told, the log has the rest."""
    events = [
        event(
            f"evt_1_{n:03d}",
            "pc_throk_001",
            f"Action {n} " * 20,
            participants=BOTH,
            killed=[f"npc_foe_{n:03d}", "mon_goblin_001"],
            discovered=[f"loc_room_{n:03d}"],
        )
        for n in range(500)
    ]
    dense, plain = memory_of(events, dense=True), memory_of(events)
    assert count_tokens(dense) < 900
    assert count_tokens(plain) < 2_000
    assert "DISCOVERED:loc_room_489" in plain
    assert plain.count("KILLED:") + plain.count("DISCOVERED:") == MemoryBuilder().rollup_limit


def test_an_entity_of_unknown_category_is_refused_by_its_prefix() -> None:
    """With the remedy: name one of the eight."""
    with pytest.raises(UnknownCategory, match=r"'race'.*PC NPC"):
        MemoryBuilder().build_lexicon(npcs=[{"uid": "race_elves", "name": "Elves"}])
    lexicon = MemoryBuilder().build_lexicon(npcs=[{"uid": "race_elves", "name": "Elves", "category": "FAC"}])
    assert lexicon == "## LEXICON\n[FAC:race_elves:Elves]"


# The DM


def test_the_dm_has_a_document_of_its_own() -> None:
    """The DM's document has relations, hidden truth and all events."""
    secret = event("evt_003_048", "pc_zara_001", "Zara pockets the key", participants=["pc_zara_001"])
    text = MemoryBuilder().build_dm_document(
        "s01",
        [THROK, ZARA],
        [AMBUSH, secret],
        npcs=[{"uid": "npc_grimfang_001", "name": "Grimfang"}],
        locations=[DCMLEntity("loc_darkwood_001", DCMLCategory.LOC, "Darkwood")],
        relations=[
            ("loc_darkwood_001", DCMLOp.CONTAINS, "loc_darkwood_entrance"),
            ("evt_001_001", DCMLOp.LEADS_TO, "evt_003_047"),
        ],
        hidden=[("npc_grimfang_001", DCMLOp.ASSOC, "pc_zara_001")],
        party_id="fac_party_001",
        quests=[{"uid": "qst_a_001", "state": "offered", "known_by": ["pc_zara_001"]}],
    )
    static, session = parse(text).sections
    assert (static.kind, session.kind, session.owner) == (
        SectionKind.STATIC_RELATIONS,
        SectionKind.SESSION,
        "s01",
    )
    assert "## STATIC_RELATIONS\npc_throk_001,pc_zara_001 in fac_party_001\nloc_darkwood_001 > " in text
    assert "# Hidden truth\nnpc_grimfang_001 ~ pc_zara_001" in text
    assert "\nQST:qst_a_001::state->offered" in text
    assert "Zara pockets the key" in text
    assert "[EVT:" not in text
    assert validate(text) == []


def test_what_only_the_dm_knows_of_is_listed_in_one_order() -> None:
    """Uids that no event mentions: the same bytes in every process, whatever the order of a set."""
    hidden = [(f"npc_{name}_001", DCMLOp.ASSOC, "npc_z_001") for name in "qwertyuiop"]
    text = MemoryBuilder().build_dm_document("s01", [], [], hidden=hidden)
    listed = [entity.uid for entity in parse(text).lexicon]
    assert listed == sorted(listed)
    assert len(listed) == 11


def test_the_dms_session_holds_this_session_and_rolls_up_the_others() -> None:
    """Earlier sessions are rolled up, as facts."""
    failed = {"quest_id": "qst_a_001", "quest_state": "failed"}
    last = event("evt_002_009", "pc_throk_001", "x", session="s02", killed=["npc_g_001"], **failed)
    now = event("evt_003_001", "pc_throk_001", "y", session="s03")
    text = MemoryBuilder().build_dm_document("s03", [THROK], [last, now])
    assert "pc_throk_001 -> KILLED:npc_g_001\nQST:qst_a_001::state->failed" in text
    assert "evt_002_009" not in text
    assert "EVT:evt_003_001::" in text
