"""Two worlds that differ only in what a viewer did not perceive: compaction tells them nothing of it.

What is read out of a turn, under which uid, and whether at all, depends for each who heard it on what
that one perceived. Namesakes, secret names and late introductions elsewhere change nothing.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.compaction.readers import DM, MILL, MIRA, PARTY, THROK, ZARA, facts, said, table, told
from tests.memory.test_laws import some
from tests.table import event

from dndbots.campaign import Campaign
from dndbots.compaction.agent import CampaignPersistenceAgent
from dndbots.errors import AmbiguousName, DndbotsError, EventRefused, UnknownEntity
from dndbots.events import EventType, GameEvent, audience
from dndbots.ids import is_uid, mint_heard
from dndbots.testing import FakeChatModel, as_text

INNKEEPER = "npc_innkeeper_001"
VIEWERS = [ZARA, THROK, INNKEEPER]

# Every view of one viewer.


def every_view(campaign: Campaign, viewer: str) -> dict[str, str]:
    asked = "Who is Joss Voss, and who fears wolves?"
    views: dict[str, Callable[[], Any]] = {
        "events": lambda: events_of(campaign, viewer),
        "entities": lambda: campaign.entities(viewer=viewer),
        "histories": lambda: histories(campaign, viewer),
        "timeline": lambda: campaign.timeline(viewer=viewer, last=50),
        "context": lambda: campaign.context(viewer, 3000),
        "small context": lambda: campaign.context(viewer, 300),
        "asked": lambda: campaign.context(viewer, 600, query=asked),
        "recall": lambda: campaign.recall(viewer, asked, budget=500),
        "recap": lambda: campaign.recap(viewer, length="long"),
        "threads": lambda: campaign.threads(viewer, resolved=True),
        **{name: lambda name=name: campaign.entity(name, viewer=viewer) for name in NAMES},
    }
    return {name: answer(view) for name, view in views.items()}


def answer(view: Callable[[], Any]) -> str:
    try:
        return as_text(view())
    except DndbotsError as exc:
        return f"{type(exc).__name__}: {exc}"


def events_of(campaign: Campaign, viewer: str) -> list[Any]:
    """What a viewer exports. Who else witnessed something is not among what it perceived."""
    found = [json.loads(line) for line in campaign.export(viewer=viewer)]
    for one in found:
        if str(one.get("event_id")).startswith("extracted_"):
            one["metadata"]["witnesses"] = [viewer]
    return found


def histories(campaign: Campaign, viewer: str) -> list[Any]:
    with campaign.view(viewer) as view:
        return [view.history(uid) for uid in view.everybody()]


# Worlds.

Step = GameEvent | str
COMPACT = "compact"


def world(steps: Iterable[Step], reader: Callable[[], Any]) -> Campaign:
    """A campaign in which the steps were taken. What it refuses, it refuses."""
    campaign = table()
    agent = CampaignPersistenceAgent(reader())
    for step in steps:
        if isinstance(step, str):
            agent.compact(campaign)
        else:
            campaign.record(step)
    agent.compact(campaign)
    assert campaign.verify() == []
    return campaign


def perceived_by(viewer: str, steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if isinstance(step, str) or viewer in audience(step)]


def assert_same_for(viewer: str, steps: Sequence[Step], reader: Callable[[], Any]) -> None:
    whole = every_view(world(steps, reader), viewer)
    own = every_view(world(perceived_by(viewer, steps), reader), viewer)
    for name in whole:
        assert whole[name] == own[name], f"{viewer}'s {name} tells of what {viewer} did not perceive"


def named(name: str, uid: str, *names: str, witnesses: Sequence[str] = ()) -> GameEvent:
    """Somebody is introduced, to the DM alone unless it says to whom."""
    return told(name, "Somebody.", witnesses=[*witnesses], names={uid: [*names]})


# What was found.

JOSS = "npc_joss_voss_001"
SMITH = "Joss Voss is a smith."


@pytest.mark.parametrize(
    "unseen",
    [
        [named("n", JOSS, "Joss Voss")],
        [named("n", JOSS, "Joss Voss"), named("m", "npc_joss_voss_002", "Joss Voss")],
        [named("n", "npc_raven_001", "Raven", "Joss Voss")],
        [named("n", "npc_raven_001", "Raven"), named("m", "npc_raven_001", "Joss Voss")],
        [named("n", "loc_joss_voss_001", "Joss Voss")],
        [named("n", JOSS, "Joss")],
        [named("n", "npc_joss_001", "Joss")],
        [named("n", JOSS, "Joss Voss", witnesses=[THROK])],
        [told("n", "Joss Voss is a spy.", witnesses=[THROK])],
        [told("n", "Joss Voss is a spy.", witnesses=[THROK]), COMPACT],
        [told("n", SMITH, witnesses=[THROK]), COMPACT],
        [told("n", SMITH, witnesses=[])],
        [told("n", "A man.", participants=[JOSS, THROK], witnesses=[])],
    ],
)
def test_an_unseen_namesake_changes_nothing_for_who_hears_the_name(unseen: list[Step]) -> None:
    """The fact, its uid and its handle are those of a world without the other one."""
    steps = [*unseen, told("t", SMITH, witnesses=[ZARA])]
    assert_same_for(ZARA, steps, lambda: None)
    campaign = world(steps, lambda: None)
    assert facts(campaign, "Joss Voss", ZARA)["role"] == ("smith", "fact")


def test_the_dm_knows_who_was_meant() -> None:
    """For the DM, whom Zara heard of is the one of that name; Zara has a uid of her own for them."""
    campaign = world([named("n", JOSS, "Joss Voss"), told("t", SMITH, witnesses=[ZARA])], lambda: None)
    joss = campaign.entity("Joss Voss", viewer=DM)
    hers = campaign.entity("Joss Voss", viewer=ZARA)
    assert (joss.uid, joss.merged) == (JOSS, (hers.uid,))
    assert facts(campaign, JOSS)["role"] == ("smith", "fact")


def test_of_two_namesakes_the_dm_is_not_told_which_was_meant() -> None:
    """Three people of one name: nobody knows which of two Zara heard of."""
    steps = [
        named("n", JOSS, "Joss Voss"),
        named("m", "npc_joss_voss_002", "Joss Voss"),
        told("t", SMITH, witnesses=[ZARA]),
    ]
    campaign = world(steps, lambda: None)
    assert not campaign.entity(JOSS, viewer=DM).merged
    with pytest.raises(AmbiguousName):
        campaign.entity("Joss Voss", viewer=DM)
    assert facts(campaign, "Joss Voss", ZARA)["role"] == ("smith", "fact")


def test_who_was_heard_of_and_is_met_by_that_name_is_one() -> None:
    """Zara hears of Joss Voss and meets him later: one person for her, and for Throk who only meets him."""
    steps = [
        told("t", SMITH, witnesses=[ZARA]),
        COMPACT,
        named("n", JOSS, "Joss Voss", witnesses=[ZARA, THROK]),
        COMPACT,
        told("u", "Joss Voss fears wolves.", witnesses=[ZARA, THROK]),
    ]
    campaign = world(steps, lambda: None)
    assert campaign.entity("Joss Voss", viewer=ZARA).uid == JOSS
    assert facts(campaign, JOSS, ZARA) == {"role": ("smith", "fact"), "fears": ("wolves", "fact")}
    assert facts(campaign, JOSS, THROK) == {"fears": ("wolves", "fact")}
    with pytest.raises(UnknownEntity):
        campaign.entity("Joss Voss", viewer=MIRA)
    assert_same_for(THROK, steps, lambda: None)
    assert_same_for(ZARA, steps, lambda: None)


def test_who_knows_somebody_by_name_hears_of_them_while_others_hear_of_somebody_new() -> None:
    """One turn, heard by one who knows Joss Voss and one who does not: each learns it of their own."""
    steps = [
        named("n", JOSS, "Joss Voss", witnesses=[THROK]),
        told("t", SMITH, witnesses=[ZARA, THROK]),
    ]
    campaign = world(steps, lambda: None)
    assert facts(campaign, JOSS, THROK) == {"role": ("smith", "fact")}
    assert facts(campaign, JOSS) == {"role": ("smith", "fact")}
    assert campaign.entity("Joss Voss", viewer=ZARA).uid != JOSS
    assert_same_for(ZARA, steps, lambda: None)
    assert_same_for(THROK, steps, lambda: None)


def test_what_all_hold_already_but_one_is_told_to_that_one() -> None:
    """Throk was told otherwise behind Zara's back: what both hear again is news to him alone."""
    steps = [
        told("a", SMITH, witnesses=[ZARA, THROK]),
        COMPACT,
        told("b", "Joss Voss is a farmer.", witnesses=[THROK]),
        COMPACT,
        told("c", SMITH, witnesses=[ZARA, THROK]),
    ]
    campaign = world(steps, lambda: None)
    assert facts(campaign, "Joss Voss", THROK)["role"] == ("smith", "fact")
    assert facts(campaign, "Joss Voss")["role"] == ("smith", "fact")
    assert_same_for(ZARA, steps, lambda: None)


# The law, over random worlds.

NAMES = ["Joss Voss", "Joss", "Captain Joss Voss", "Elena", "Viper", "Underhill"]
UIDS = [JOSS, "npc_joss_voss_002", "npc_raven_001", "npc_joss_001", "npc_elena_001", "loc_underhill_001"]
LINES = [
    SMITH,
    "Joss Voss fears wolves.",
    "Joss is a farmer.",
    "Captain Joss Voss is the brother of Elena.",
    "Viper is a thief.",
    "Elena is a spy. Joss lives in Underhill.",
    'Elena smiles. "Joss Voss is a liar," says Elena.',
    "They say that Viper fears wolves.",
    "Joss Voss is no longer a smith.",
    "The old priest is called Viper.",
]
OWN_WORDS = [
    "I am afraid of the dark. Viper is a thief.",
    SMITH,
    "My brother Joss is a smith.",
    "Elena is a spy.",
]
somebody = st.sampled_from([*PARTY, INNKEEPER])
heard_by = st.lists(somebody, max_size=3, unique=True)
uids = st.sampled_from(UIDS)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Some telling, talk, whispers, introductions and identities, with compactions in between."""
    found: list[Step] = []
    for number in range(draw(st.integers(2, 9))):
        name, witnesses = f"s{number}", draw(heard_by)
        match draw(
            st.sampled_from(["tell", "tell", "tell", "say", "whisper", "name", "show", "same", COMPACT])
        ):
            case "tell":
                found.append(told(name, draw(st.sampled_from(LINES)), witnesses=witnesses))
            case "say":
                found.append(
                    said(name, draw(somebody), draw(st.sampled_from(OWN_WORDS)), witnesses=witnesses)
                )
            case "whisper":
                to, words = draw(somebody), draw(st.sampled_from(OWN_WORDS))
                found.append(event(name, draw(somebody), words, kind=EventType.WHISPER, told_to=[to]))
            case "name":
                names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
                found.append(named(name, draw(uids), *names, witnesses=witnesses))
            case "show":
                seen = [draw(uids), *witnesses]
                found.append(told(name, "Somebody is there.", participants=seen, location=MILL))
            case "same":
                pair = {draw(uids): draw(uids)}
                found.append(told(name, "It was them.", witnesses=witnesses, same_as=pair))
            case _:
                found.append(COMPACT)
    return found


def lasting(taken: list[Step]) -> list[Step]:
    """The steps that the log accepts one after another, without anything else."""
    campaign, found = table(), list[Step]()
    for step in taken:
        try:
            if not isinstance(step, str):
                campaign.record(step)
            found.append(step)
        except EventRefused:
            continue
    return found


def assert_law(viewer: str, taken: list[Step], reader: Callable[[], Any]) -> None:
    kept = lasting(taken)
    own = perceived_by(viewer, kept)
    assume(lasting(own) == own)
    assert_same_for(viewer, kept, reader)


@settings(max_examples=some(50))
@given(st.sampled_from(VIEWERS), steps())
def test_rules_read_for_each_what_that_one_heard(viewer: str, taken: list[Step]) -> None:
    """The same bytes in every view of a viewer, whatever happened elsewhere, read by rule."""
    assert_law(viewer, taken, lambda: None)


ANSWERS = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["npc", "npc", "character", "environment"]),
            "name": st.sampled_from([*NAMES, "Throk", "Raven", "Innkeeper"]),
            "field": st.sampled_from(["role", "fears", "brother", "place", "home"]),
            "value": st.sampled_from(
                ["smith", "wolves", "spy", "thief", "Elena", "Joss", "Underhill", "the dark"]
            ),
        },
        optional={"said_by": st.sampled_from(["Elena", "Joss", "Viper"])},
    ),
    min_size=1,
    max_size=5,
)


def answering(drawn: list[dict[str, str]]) -> Callable[[], Any]:
    """A model that says the same of every turn that it is shown, whoever is meant."""

    def answer_to(messages: Any) -> str:
        shown = [line for line in messages[-1][1].splitlines() if line.partition(".")[0].isdigit()]
        # The names that it is told are known count, too: they are a way to leak.
        known = [line for line in messages[-1][1].splitlines() if line.startswith("Known:")]
        found = [
            {**one, "turn": number}
            for number in range(1, len(shown) + 1)
            for one in drawn
            if not known or one["name"] in known[0] or len(one["name"]) % 2
        ]
        return json.dumps({"updates": found})

    return lambda: FakeChatModel(answer_to)


@settings(max_examples=some(50))
@given(st.sampled_from(VIEWERS), steps(), ANSWERS)
def test_models_read_for_each_what_that_one_heard(
    viewer: str, taken: list[Step], drawn: list[dict[str, str]]
) -> None:
    """The same, with a model that may name anybody in its answer."""
    assert_law(viewer, taken, answering(drawn))


# Uids of whom somebody heard.

texts = st.text(min_size=1, max_size=40).filter(lambda text: bool(text.strip()))


@given(st.sampled_from(["NPC", "LOC", "ITEM"]), texts, texts)
def test_a_uid_of_somebody_heard_of_follows_from_the_name_and_the_turn(
    category: str, name: str, turn: str
) -> None:
    """It counts nothing, so that nothing unseen can move it; and it cannot be read as a number of them."""
    uid = mint_heard(category, name, turn)
    assert uid == mint_heard(category, name, turn)
    assert is_uid(uid)
    assert uid.rpartition("_")[2].isdigit()
    assert uid.startswith(f"{category.lower()}_")
