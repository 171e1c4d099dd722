"""Facts read out of a turn reach its hearers only, and reveal nobody's identity."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compaction.readers import (
    ELENA,
    MILL,
    MIRA,
    PARTY,
    THROK,
    ZARA,
    Says,
    facts,
    said,
    says,
    table,
    told,
)
from tests.logs import NPCS, PCS, logs, played
from tests.memory.test_laws import some, views
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError, UnknownEntity
from dndbots.events import EventType, GameEvent, audience
from dndbots.extraction.port import FIELDS, Update
from dndbots.ids import DM, mint_heard, name_from_uid
from dndbots.testing import as_text, assert_perspective, memory_campaign

HOODED = "npc_hooded_figure_001"


def secret_name(uid: str, name: str) -> GameEvent:
    return told(f"secret_{uid}_{name}", f"It is {name}.", witnesses=[], names={uid: name})


def everything(campaign: Campaign, viewer: str) -> str:
    """All that a viewer can read anywhere."""
    found = [*campaign.export(viewer=viewer), *map(as_text, campaign.entities(viewer=viewer))]
    found += [campaign.context(viewer, 2000).text, as_text(campaign.recap(viewer))]
    return "\n".join(found)


# Who is who.


def test_a_secret_name_that_is_spoken_of_is_not_linked_to_its_bearer() -> None:
    """Zara knows Elena, and hears of Viper. That they are one is known to the DM alone."""
    campaign = table(secret_name(ELENA, "Viper"), told("t", "Viper is a thief.", witnesses=[ZARA]))
    campaign.compact(extractor=Says(says("t", "Viper", "role", "thief")))
    assert facts(campaign, ELENA, ZARA) == {}
    viper = campaign.entity("Viper", viewer=ZARA)
    assert (viper.uid, viper.merged) == (mint_heard("NPC", "Viper", "t"), ())
    assert facts(campaign, "Viper", ZARA) == {"role": ("thief", "fact")}
    assert campaign.entity(ELENA, viewer=DM).merged == (viper.uid,)
    assert facts(campaign, ELENA) == {"role": ("thief", "fact")}


@pytest.mark.parametrize("names", [["Bella", "Viper"], ["Viper", "Bella"], ["Viper"]])
def test_a_stranger_with_another_name_is_not_known_by_the_one_that_was_heard(names: list[str]) -> None:
    """A hearer who knows the name Viper does not recognise Bella by it when she comes in."""
    uid = "npc_bella_001"
    campaign = table(
        *(secret_name(uid, name) for name in names), told("t", "Viper is a thief.", witnesses=[ZARA])
    )
    campaign.compact(extractor=Says(says("t", "Viper", "role", "thief")))
    campaign.record(told("b", "A woman comes in.", participants=[uid, ZARA], location=MILL))
    assert "Viper" not in str(campaign.entity(uid, viewer=ZARA))
    assert "thief" not in str(campaign.entity(uid, viewer=ZARA))


def test_who_is_introduced_to_the_dm_alone_is_new_to_those_who_hear_the_name() -> None:
    """Zara's Bella is whom she heard of. When she meets Bella by that name, they are one for her, too."""
    campaign = table(secret_name("npc_bella_001", "Bella"), told("t", "Bella is a thief.", witnesses=[ZARA]))
    campaign.compact(extractor=Says(says("t", "Bella", "role", "thief")))
    assert facts(campaign, "Bella", ZARA) == {"role": ("thief", "fact")}
    assert campaign.entity("Bella", viewer=ZARA).uid == mint_heard("NPC", "Bella", "t")
    with pytest.raises(UnknownEntity):
        campaign.entity("Bella", viewer=THROK)
    campaign.record(told("m", "She is Bella.", witnesses=[ZARA, THROK], names={"npc_bella_001": "Bella"}))
    campaign.compact(extractor=Says())
    assert campaign.entity("Bella", viewer=ZARA).uid == "npc_bella_001"
    assert facts(campaign, "Bella", ZARA) == {"role": ("thief", "fact")}
    assert facts(campaign, "Bella", THROK) == {}


def test_who_speaks_is_not_named_to_those_who_do_not_know_them() -> None:
    """A stranger's own words are theirs, under whatever the DM knows them by; the name is told nobody."""
    campaign = table(
        told("h", "A hooded figure comes in.", participants=[HOODED, *PARTY], location=MILL),
        secret_name(HOODED, "Viktor"),
        said("s", HOODED, "I fear the wolves. Elena is a spy."),
    )
    campaign.compact(
        extractor=Says(
            says("s", "Viktor", "fears", "wolves"),
            says("s", "Hooded Figure", "fears", "wolves"),
            says("s", "Elena", "role", "spy"),
        )
    )
    assert facts(campaign, HOODED, ZARA)["fears"] == ("wolves", "belief")
    assert facts(campaign, ELENA, ZARA) == {"role": ("spy", "belief")}
    assert "Viktor" not in everything(campaign, ZARA)


def test_somebody_who_speaks_of_themselves_as_of_another_is_not_given_away() -> None:
    """The hooded figure warns of Viktor, who it is. For those who listen that is somebody else."""
    campaign = table(
        told("h", "A hooded figure comes in.", participants=[HOODED, *PARTY], location=MILL),
        secret_name(HOODED, "Viktor"),
        said("s", HOODED, "Viktor is a thief, I say."),
    )
    campaign.compact(extractor=Says(says("s", "Viktor", "role", "thief")))
    assert facts(campaign, HOODED, ZARA) == {}
    assert facts(campaign, "Viktor", ZARA) == {"role": ("thief", "belief")}
    assert not campaign.entity("Viktor", viewer=ZARA).merged


def test_who_speaks_with_one_voice_keeps_their_names() -> None:
    """Two who speak together are not called by both names from then on."""
    campaign = table(said("s", THROK, "Elena is a spy, I swear.", together=[THROK, ZARA]))
    campaign.compact(extractor=Says(says("s", "Elena", "role", "spy")))
    assert campaign.entity(THROK, viewer=MIRA).name == "Throk"
    assert facts(campaign, ELENA, MIRA) == {"role": ("spy", "belief")}


def test_a_name_means_whom_those_who_heard_it_know_by_it() -> None:
    """Zara knows one Bella by what her uid says, and the DM another by name: for her it is the first."""
    campaign = table(
        told("a", "A woman comes in.", participants=["npc_bella_001", ZARA], location=MILL),
        secret_name("npc_bella_002", "Bella"),
        told("t", "Bella is a thief.", witnesses=[ZARA]),
    )
    campaign.compact(extractor=Says(says("t", "Bella", "role", "thief")))
    assert facts(campaign, "npc_bella_001", ZARA) == {"role": ("thief", "fact")}
    assert facts(campaign, "npc_bella_002") == {}


@pytest.mark.parametrize("most", [1, 250])
def test_a_full_name_is_not_told_to_who_only_heard_a_part_of_it(most: int) -> None:
    """Throk hears of Captain Joss Voss, Zara only of Joss, however many turns are read at once."""
    campaign = table(
        told("a", "Captain Joss Voss is a smith.", witnesses=[THROK]),
        told("b", "Joss fears wolves.", witnesses=[ZARA]),
        told("c", "Joss has a limp.", witnesses=[THROK]),
    )
    reader = Says(
        says("c", "Joss", "description", "limp"),
        says("b", "Joss", "fears", "wolves"),
        says("a", "Captain Joss Voss", "role", "smith"),
    )
    compacted(campaign, reader, most)
    assert "Voss" not in everything(campaign, ZARA)
    assert "voss" not in everything(campaign, ZARA)
    assert facts(campaign, "Captain Joss Voss", THROK) == {
        "role": ("smith", "fact"),
        "description": ("limp", "fact"),
    }


def compacted(campaign: Campaign, reader: Any, most: int) -> None:
    from dndbots.compaction.agent import CampaignPersistenceAgent

    CampaignPersistenceAgent(reader).compact(campaign, most=most)


# Who holds what.


def test_a_whisper_reaches_its_two_ends_and_the_dm() -> None:
    """A fact from a whisper is known only to the one who was told."""
    whisper = event("w", THROK, "Joss Voss is a spy.", kind=EventType.WHISPER, told_to=[ZARA])
    campaign = table(whisper)
    campaign.compact(extractor=Says(says("w", "Joss Voss", "role", "spy")))
    assert facts(campaign, "Joss Voss", ZARA) == {"role": ("spy", "belief")}
    assert facts(campaign, "Joss Voss", THROK) == {}
    assert "Voss" not in everything(campaign, MIRA)
    assert facts(campaign, "Joss Voss", DM) == {}


def test_what_a_character_claims_is_believed_by_those_who_heard_it() -> None:
    """A belief has who said so, and is no fact of the DM's."""
    campaign = table(said("s", THROK, "Elena is a spy.", witnesses=[ZARA]))
    campaign.compact(extractor=Says(says("s", "Elena", "role", "spy")))
    (held,) = [one for one in campaign.entity(ELENA, viewer=ZARA).facts if one.key == "role"]
    assert (held.certainty, held.said_by, held.valid_from, held.learned_from) == ("belief", THROK, "s", "s")
    assert facts(campaign, ELENA, DM) == facts(campaign, ELENA, THROK) == facts(campaign, ELENA, MIRA) == {}


def test_a_rumor_stays_a_rumor() -> None:
    """Hearsay in the DM's narration is a rumor for its hearers, and no fact for the DM."""
    campaign = table(told("r", "They say that Elena is a spy."))
    campaign.compact(extractor=Says(says("r", "Elena", "role", "spy", sure="rumor")))
    assert facts(campaign, ELENA, ZARA) == {"role": ("spy", "rumor")}
    assert facts(campaign, ELENA, DM) == {}


def test_whom_the_dm_quotes_does_not_speak_for_the_dm() -> None:
    """Speech in narration is the word of who says it; without one, it is nothing."""
    campaign = table(told("q", 'Elena grins. "Mira is a coward," she says.'))
    reader = Says(says("q", "Mira", "role", "coward", kind="character"))
    assert campaign.compact(extractor=reader)[0].rejected == {"quoted": 1}
    campaign.record(told("q2", 'Elena grins. "Mira is a coward," says Elena.'))
    campaign.compact(extractor=Says(says("q2", "Mira", "role", "coward", kind="character", said_by="Elena")))
    (held,) = [one for one in campaign.entity(MIRA, viewer=ZARA).facts if one.key == "role"]
    assert (held.certainty, held.said_by) == ("belief", ELENA)
    assert "role" not in facts(campaign, MIRA, DM)


def test_who_did_not_hear_a_turn_sees_nothing_of_it() -> None:
    """Neither the facts, nor the names, nor the new entity, in any view."""
    campaign = table(told("t", "Joss Voss of Underhill is a smith and fears wolves.", witnesses=[THROK]))
    before = {viewer: everything(campaign, viewer) for viewer in (ZARA, MIRA)}
    reader = Says(says("t", "Joss Voss", "role", "smith"), says("t", "Joss Voss", "fears", "wolves"))
    campaign.compact(extractor=reader)
    assert {viewer: everything(campaign, viewer) for viewer in (ZARA, MIRA)} == before
    assert "smith" in everything(campaign, THROK)


# The law, over random campaigns.

LINES = [
    "Elena is a smith.",
    "The smith is called Joss Voss. Joss Voss fears wolves.",
    "Aldwin is the old priest, and Elena's brother is Aldwin.",
    "Throk is a thief.",
    "They say that Goblin is a spy.",
    'Elena smiles. "Aldwin is a liar," says Elena.',
    "I am afraid of the dark. My name is Throk.",
    "Tam, the innkeeper of the Old Mill, has a scar.",
]
names = st.sampled_from(
    ["Elena", "Joss Voss", "Joss", "Aldwin", "Throk", "Goblin", "Tam", "Old Mill", "Größe"]
)
fields = st.sampled_from(["role", "fears", "brother", "description", "place", "wants"])
words = st.sampled_from(["smith", "wolves", "Aldwin", "thief", "spy", "liar", "the dark", "scar", "Elena"])


class AtRandom:
    """Proposes whatever was drawn, for every turn."""

    waits = False

    def __init__(self, drawn: list[tuple[Any, ...]]) -> None:
        self._drawn = drawn

    def extract(self, turns: Any, known: Any) -> Any:
        del known
        for turn in turns:
            for kind, name, field, value, sure, ended in self._drawn:
                if field in FIELDS[kind]:
                    by = "Elena" if sure == "rumor" else None
                    yield Update(
                        kind=kind,
                        name=name,
                        field=field,
                        value=value,
                        turn=turn.id,
                        sure=sure,
                        ended=ended,
                        said_by=by,
                    )


# What some of the lines do say, under names that some of those who hear them know, or think they know.
APT = [
    ("npc", "Elena", "role", "smith", "fact", False),
    ("npc", "Joss Voss", "fears", "wolves", "fact", False),
    ("npc", "Joss", "fears", "wolves", "fact", False),
    ("npc", "Aldwin", "role", "old priest", "fact", False),
    ("npc", "Elena", "brother", "Aldwin", "fact", False),
    ("character", "Throk", "role", "thief", "fact", False),
    ("npc", "Tam", "role", "innkeeper", "fact", False),
    ("npc", "Tam", "description", "scar", "fact", False),
]
proposals = st.lists(
    st.one_of(
        st.sampled_from(APT),
        st.tuples(
            st.sampled_from(["npc", "npc", "character", "environment"]),
            names,
            fields,
            words,
            st.sampled_from(["fact", "fact", "rumor"]),
            st.sampled_from([False, False, False, True]),
        ),
    ),
    min_size=2,
    max_size=8,
)
compactions = st.lists(st.sampled_from(["", "rules", "random"]), min_size=1, max_size=5)


# Some know Elena by name, only the DM knows who Aldwin is, and all know the goblin.
CAST: list[tuple[list[str], dict[str, str]]] = [
    (PCS[:1], {"npc_elena_001": "Elena", PCS[0]: "Throk"}),
    ([], {"npc_old_priest_001": "Aldwin"}),
    (PCS, {"npc_goblin_001": "Goblin"}),
]


def told_in_words(log: list[GameEvent], shift: int = 0) -> list[GameEvent]:
    """The same, but most of it says something of somebody."""
    return [
        one
        if one.is_note or number % 3 == 2
        else one.model_copy(
            update={
                "content": LINES[(number + shift) % len(LINES)],
                "event_type": EventType.DM_NARRATION if one.source == DM else EventType.PLAYER_ACTION,
            }
        )
        for number, one in enumerate(log)
    ]


def read_in_between(campaign: Campaign, log: list[GameEvent], between: list[str], drawn: Any) -> Campaign:
    """A campaign in which things happened that were compacted now and then."""
    played(campaign, [])
    for number, (who, cast) in enumerate(CAST):
        campaign.record(told(f"cast_{number}", "The cast.", witnesses=who, names=cast))
    for number, one in enumerate(told_in_words(log, len(between))):
        try:
            campaign.record(one)
        except DndbotsError:
            continue
        match between[number % len(between)]:
            case "rules":
                campaign.compact()
            case "random":
                campaign.compact(extractor=AtRandom(drawn))
    campaign.compact()
    return campaign


def every_view(campaign: Campaign, viewer: str) -> dict[str, Any]:
    found = {
        "events": list(campaign.export(viewer=viewer)),
        "entities": campaign.entities(viewer=viewer),
        "recall": campaign.recall(viewer, "Who is Elena, and who fears wolves?", budget=400),
        "timeline": campaign.timeline(viewer=viewer),
    }
    with campaign.view(viewer) as view:
        found["history"] = [view.history(uid) for uid in view.everybody()]
    return found | views(campaign, viewer)


@settings(max_examples=some(25))
@given(logs(most=10), compactions, proposals)
def test_compaction_tells_nobody_what_they_did_not_perceive(
    log: list[GameEvent], between: list[str], drawn: Any
) -> None:
    """view(log, v) == view(only the events v perceived, v), with compactions in between."""
    campaign = read_in_between(memory_campaign(), log, between, drawn)
    assert campaign.verify() == []
    assert_perspective(campaign, every_view, viewers=[*PCS[:2], NPCS[1]])


@settings(max_examples=some(40))
@given(logs(most=10), compactions, proposals)
def test_nobody_learns_a_name_that_was_not_said_before_them(
    log: list[GameEvent], between: list[str], drawn: Any
) -> None:
    """Every name that compaction gives somebody stands in the turn it cites, or its hearers had it before."""
    campaign = read_in_between(memory_campaign(), log, between, drawn)
    events = {one.event_id: one for one in campaign.events(viewer=DM)}
    told: set[tuple[str, str, str]] = set()  # who was given which name of whom
    for one in events.values():
        named = [(uid, name) for uid, names in one.known.names.items() for name in _listed(names)]
        if one.event_type is EventType.EXTRACTION and one.event_id.startswith("extracted_"):
            text = events[str(one.known.valid_from)].content.casefold()
            for uid, name in named:
                is_said = name.casefold() in text
                assert is_said or all((who, uid, name) in told for who in audience(one))
        told |= {(who, uid, name) for who in audience(one) for uid, name in named}


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


@settings(max_examples=some(40))
@given(logs(most=12), compactions, proposals)
def test_whoever_is_meant_is_known_by_that_name_to_all_who_heard_it(
    log: list[GameEvent], between: list[str], drawn: Any
) -> None:
    """A known person is named as every hearer knows them; a new one is introduced."""
    campaign = read_in_between(memory_campaign(), log, between, drawn)
    events = {one.event_id: one for one in campaign.events(viewer=DM)}
    for one in events.values():
        if one.event_type is EventType.EXTRACTION and one.event_id.startswith("extracted_"):
            turn = events[str(one.known.valid_from)]
            for fact in one.known.facts:
                for who in one.known.witnesses or ():
                    if fact.subject != turn.source:
                        assert is_known_by_name(campaign, who, fact.subject, one, turn.content)


def is_known_by_name(campaign: Campaign, who: str, uid: str, read: GameEvent, text: str) -> bool:
    with campaign.view(DM) as view:
        own = view.of(who).until((read.seq or 0) - 1)
        if not own.first_seen([uid]):
            return uid in read.known.names
        called, same = own.called([uid])[uid], own.persons_of([uid])[uid]
        # Who turned out to be another was called by its own name until then.
        before = map(name_from_uid, same) if len(same) > 1 else ()
        return any(name.casefold() in text.casefold() for name in (called.name, *called.aliases, *before))
