"""Contexts: exact, explained, sourced, the same on every path, and made without a model."""

import random
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.logs import PCS
from tests.memory.test_laws import plays, remembered, some
from tests.strategies import hostile_text as hostile
from tests.table import character, event

from dndbots import Campaign
from dndbots.dcml import parse, validate
from dndbots.errors import BudgetTooSmall, InvalidSetting, UnknownEncoding, UnknownEvent, UnknownViewer
from dndbots.events import EventType, GameEvent
from dndbots.ids import DM
from dndbots.interop.history.messages import ChatMessage
from dndbots.memory.context import Context
from dndbots.memory.context.budget import PROSE
from dndbots.memory.context.xray import SECTIONS
from dndbots.memory.recall.citations import UNCERTAIN
from dndbots.memory.recall.search import NO_RECORD
from dndbots.prompts import format_character_sheet
from dndbots.testing import as_text, memory_campaign
from dndbots.tokens import ENCODINGS, count_tokens

THROK, ZARA, MILLER = "pc_throk_001", "pc_zara_001", "npc_grimfang_001"
MILL, CRYPT = "loc_mill_001", "loc_crypt_001"
BOTH = [THROK, ZARA]


def fact(subject: str, key: str, value: Any) -> dict[str, Any]:
    return {"subject": subject, "key": key, "value": value}


def documents(text: str) -> list[str]:
    """The parts of a context that are DCML."""
    found: list[list[str]] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("## "):
            starts = line == "## LEXICON" or (not inside and line not in PROSE)
            inside = line not in PROSE
            if starts:
                found.append([])
        if inside:
            found[-1].append(line)
    return ["\n".join(lines) for lines in found]


@pytest.fixture
def table() -> Campaign:
    """A party that split up: Throk hears a secret at the mill, Zara kills a ghoul in the crypt."""
    campaign = memory_campaign()
    campaign.record_many(
        [
            event(
                "e0",
                DM,
                "You meet at the old mill.",
                kind=EventType.DM_NARRATION,
                location=MILL,
                participants=BOTH,
                facts=[fact(THROK, "class", "FTR"), fact(THROK, "hp", 20), fact(ZARA, "class", "MU")],
            ),
            event(
                "e1",
                MILLER,
                "Find my daughter, and I promise you the mill.",
                kind=EventType.DIALOGUE,
                location=MILL,
                participants=[*BOTH, MILLER],
                names={MILLER: "Grimfang", "qst_daughter_001": "The Lost Daughter"},
                quest_id="qst_daughter_001",
                quest_state="accepted",
                facts=[fact(MILLER, "role", "miller")],
            ),
            event(
                "e2",
                DM,
                "A ghoul lifts its head.",
                kind=EventType.DM_NARRATION,
                location=CRYPT,
                participants=[ZARA],
                enemies=["mon_ghoul_001"],
            ),
            event("e3", ZARA, "I burn it.", location=CRYPT, participants=[ZARA], killed=["mon_ghoul_001"]),
            event(
                "e4",
                MILLER,
                "Between us: the baron has the key.",
                kind=EventType.WHISPER,
                location=MILL,
                participants=[THROK, MILLER],
                told_to=[THROK],
                names={"npc_baron_001": "The Baron"},
                facts=[fact("npc_baron_001", "has", "the key")],
            ),
        ]
    )
    return campaign


# The laws.


def assert_sound(context: Context) -> None:
    """Assert the rules that hold for any context."""
    assert context.tokens == count_tokens(context.text, context.encoding) <= context.budget
    lines = [line for line in context.text.split("\n") if not line.startswith(("#", "`"))]
    shown = [item.text for item in context.items]
    assert [line for line in lines if line and line not in (NO_RECORD, UNCERTAIN)] == shown
    assert all(item.sources and item.reason and item.tokens > 0 for item in context.items)
    assert all("\n" not in item.text for item in (*context.items, *context.dropped))
    assert set(context.meter) <= set(SECTIONS)
    for document in documents(context.text):
        assert validate(parse(document)) == []


budgets = st.one_of(st.integers(200, 400), st.integers(200, 6000))


@settings(max_examples=some(60))
@given(plays, budgets, st.sampled_from(ENCODINGS), st.sampled_from([DM, *PCS]), st.booleans())
def test_a_context_fits_exactly_and_every_line_is_explained(
    play: Any,
    budget: int,
    encoding: str,
    viewer: str,
    asked: bool,  # noqa: FBT001
) -> None:
    """Any log, any budget from 200 up, any encoding: never a token too many, each line with its sources."""
    campaign = remembered(memory_campaign(), play)
    try:
        context = campaign.context(
            viewer, budget, encoding=encoding, query="Who rang the bell at the mill?" if asked else None
        )
    except UnknownViewer:
        return
    assert_sound(context)


@settings(max_examples=some(60))
@given(
    st.lists(
        st.tuples(st.sampled_from([DM, *BOTH]), hostile, st.sampled_from(["s01", "s02", "s03"])), max_size=30
    ),
    hostile,
    budgets,
    st.sampled_from(ENCODINGS),
)
def test_hostile_text_changes_nothing_about_that(
    said: list[tuple[str, str, str]], name: str, budget: int, encoding: str
) -> None:
    """A player's text opens no section, adds no line and stays within the budget."""
    campaign = memory_campaign()
    campaign.record(event("e0", DM, "Begin.", participants=BOTH))
    with suppress(ValidationError):  # some names are none
        facts = [fact(THROK, "motto", name)]
        campaign.record(event("e1", DM, "And so.", participants=BOTH, facts=facts, names={MILLER: name}))
    for number, (who, text, session) in enumerate(said):
        with suppress(ValidationError):  # nor is everything text
            campaign.record(event(f"s{number}", who, text, session=session, participants=BOTH))
    for viewer in (DM, THROK):
        assert_sound(campaign.context(viewer, budget, encoding=encoding))


@settings(max_examples=some(40))
@given(plays, st.lists(st.booleans(), min_size=12, max_size=12))
def test_what_was_followed_is_what_is_found(play: Any, asked: list[bool]) -> None:
    """A context that was asked for turn after turn is the one that a fresh start gives, byte for byte."""
    followed = memory_campaign()
    viewers = [DM, *PCS[:2]]

    def look(campaign: Campaign) -> dict[str, str]:
        found = {}
        for viewer in viewers:
            try:
                found[viewer] = as_text(campaign.context(viewer, 700))
            except UnknownViewer:
                found[viewer] = ""
        return found

    class Asking:
        """A campaign whose contexts are asked for after some of the events."""

        turn = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(followed, name)

        def record(self, given: GameEvent) -> GameEvent:
            stored = followed.record(given)
            self.turn += 1
            if asked[self.turn % len(asked)]:
                look(followed)
            return stored

    remembered(Asking(), play)  # type: ignore[arg-type]
    fresh = Campaign(followed._store.another())
    assert look(followed) == look(fresh)


def test_a_long_story_is_told_the_same_cold_and_followed() -> None:
    """Over several sessions, with names that change, and one that is gone back to."""
    followed = memory_campaign()
    followed.record(event("e0", DM, "The party meets at the mill.", participants=BOTH))
    for number in range(900):
        session = f"s{1 + number // 150 if number % 97 else 1}"
        who = [DM, *BOTH][number % 3]
        extra: dict[str, Any] = {"names": {THROK: "Throk the Bold"}} if number == 500 else {}
        text = f"Grimfang the miller lost {number} sacks of flour to the baron of Emon, and swore revenge."
        followed.record(
            event(f"n{number}", who, text, session=session, participants=BOTH, **extra)
            if number % 5
            else event(f"n{number}", DM, text, session=session, witnesses=[])
        )
        if number % 7 == 0:
            followed.context(THROK, 600)
    for viewer in (DM, THROK):
        warm = followed.context(viewer, 600)
        cold = Campaign(followed._store.another()).context(viewer, 600)
        assert as_text(warm) == as_text(cold)
        assert_sound(warm)


# What is in it.


def test_each_reads_what_it_perceived(table: Campaign) -> None:
    """The secret of the mill is Throk's, the ghoul is Zara's, and the DM knows both."""
    throk, zara, dm = (table.context(viewer, 1000).text for viewer in (THROK, ZARA, DM))
    for secret in ("baron", "Baron"):
        assert secret not in zara
    assert "ghoul" not in throk.lower()
    assert "TheBaron::has" in throk
    assert "Zara -> KILLED:Ghoul" in zara
    assert all(word in dm for word in ("the baron has the key", "Ghoul"))


def test_sections_stand_from_the_most_to_the_least_stable(table: Campaign) -> None:
    """Identity first, then what is known, then the newest lines, then the scene of the moment."""
    context = table.context(ZARA, 1000)
    order = [item.section for item in context.items if item.section != "names"]
    assert order == sorted(order, key=SECTIONS.index)
    assert [item.text for item in context.items if item.section == "scene"] == [
        "You are at Crypt.",
        "Here: Ghoul (dead).",
        "Throk: hp 20.",
    ]
    assert "Zara::class->MU" in [item.text for item in context.items if item.reason == "who you are"]


def test_a_question_brings_what_answers_it(table: Campaign) -> None:
    """With whom it names first, cited; or with an honest word where there is nothing."""
    asked = table.context(THROK, 600, query="What does the Baron have?")
    answers = [item for item in asked.items if item.section == "asked"]
    assert answers
    assert "e4" in {source for item in answers for source in item.sources}
    assert any(item.reason == "the question names The Baron" for item in asked.items)
    assert "## ASKED\nNo record." in table.context(ZARA, 600, query="What does the Baron have?").text


def test_an_answer_leaves_room_for_the_newest_lines(table: Campaign) -> None:
    """However much is known, and however much answers the question."""
    for number in range(30):
        said = f"The baron of Morrow counts the key again, the {number}th time, and tells nobody in the hall."
        people = [fact(f"npc_man_{number:03d}", "duty", f"guards door number {number} of the long hall")]
        named = {f"npc_man_{number:03d}": f"Man {number}"}
        table.record(
            event(f"k{number}", DM, said, participants=BOTH, location=MILL, facts=people, names=named)
        )
    asked = table.context(THROK, 500, query="Who counts the key of Morrow?")
    assert [item for item in asked.items if item.section == "recent"]
    assert [item for item in asked.items if item.section == "asked"]
    assert f"## ASKED\n{UNCERTAIN}\n" in asked.text  # nearly every line says the words: chance finds as much
    assert_sound(asked)


@pytest.mark.parametrize("budget", [200, 230, 260])
def test_a_small_answer_keeps_the_lines_that_say_the_words(tmp_path: Path, budget: int) -> None:
    """A line that only stands near them is left out first, and free room is not for it."""
    said = [
        "Rain drums on the roof of the old mill, and the wheel stands still tonight.",
        "Four children are gone.",
        "We ride at dusk, and we ride hard until the morning comes.",
        "A letter: Elena sold them.",
        *(f"The road bends around hill number {n}, and the wind does not let up at all." for n in range(12)),
    ]
    with Campaign.open(tmp_path / "campaign") as table:
        for number, text in enumerate(said):
            table.record(event(f"e{number}", DM, text, participants=BOTH, location=MILL))
        asked = table.context(THROK, budget, query="Who sold the children?")
    answers = {source for item in asked.items if item.section == "asked" for source in item.sources}
    assert {"e1", "e3"} <= answers
    assert "e7" not in answers
    assert_sound(asked)


def test_how_to_read_it_is_said_before_the_first_of_it(table: Campaign) -> None:
    """The guide stands before the first statement of any section, if there is room."""
    for viewer in (THROK, DM):
        assert table.context(viewer, 2000).text.startswith("`a::key->value`")
    other = memory_campaign()
    other.record(
        event(
            "e0",
            DM,
            "A tower.",
            location="loc_tower_001",
            participants=[THROK],
            names={"item_lamp_001": "Lamp"},
            facts=[fact("item_lamp_001", "height", 9)],
        )
    )
    text = other.context(THROK, 2000).text
    assert "`a::key->value`" in text.partition("::height")[0]
    assert text.count("`a::key->value`") == 1


def test_a_context_of_the_past_knows_nothing_later(table: Campaign) -> None:
    """As of an event it is what it was when that event was the newest."""
    before = table.context(ZARA, 600, as_of="e2")
    assert "burn" not in before.text
    assert "KILLED" not in before.text
    with pytest.raises(UnknownEvent):
        table.context(ZARA, 600, as_of="e4")


def test_what_people_decided_holds(table: Campaign) -> None:
    """Forgotten events are left out, pinned ones always stand, and corrections replace words."""
    table.forget("e4")
    table.pin("e0")
    table.correct("e2", "A rat lifts its head.")
    assert "Baron" not in table.context(THROK, 1000).text
    assert "Pinned: You meet at the old mill." in table.context(THROK, 300).text
    zara = table.context(ZARA, 1000).text
    assert "rat lifts" in zara
    assert "ghoul lifts" not in zara
    table.forget("e3")
    assert "You are at" not in table.context(ZARA, 1000).text
    table.forget("e4", on=False)
    assert "Baron" in table.context(THROK, 1000).text


def test_a_new_name_is_used_for_what_was_said_before(table: Campaign) -> None:
    """Nobody is two people because they were renamed."""
    assert "Grimfang: Find" in table.context(THROK, 1000).text
    table.record(event("e5", DM, "He is old.", participants=[THROK], names={MILLER: "Old Grim"}))
    text = table.context(THROK, 1000).text
    assert "Old Grim: Find" in text
    assert "Grimfang: Find" in table.context(ZARA, 1000).text


def test_old_sessions_are_told_from_their_summaries(table: Campaign) -> None:
    """Summaries in the log cover the sessions that the story no longer reaches."""
    for session in ("s02", "s03", "s04", "s05"):
        for number in range(12):
            text = f"The party sails on past the reefs of {session}, day {number}."
            table.record(event(f"{session}_{number}", DM, text, session=session, participants=BOTH))
        table.compress(THROK)
    old = [item for item in table.context(THROK, 1200).items if "earlier sessions" in item.reason]
    assert {source for item in old for source in item.sources} & {"e0", "e1", "e4"}
    assert not {source for item in old for source in item.sources} & {"e2", "e3"}


def test_what_did_not_fit_is_said(table: Campaign) -> None:
    """With the reason, so that nobody has to guess why something is missing."""
    facts = [fact("npc_grimfang_001", f"trait_{n}", f"a rather long story number {n}") for n in range(20)]
    people = {f"npc_man_{n:03d}": f"Man {n}" for n in range(1, 30)}
    table.record(event("e5", DM, "They all come in.", location=MILL, participants=BOTH, names=people))
    table.record(event("e6", DM, "And talk.", location=MILL, participants=BOTH, facts=facts))
    for number, uid in enumerate(people):
        table.record(
            event(f"p{number}", DM, "He nods.", participants=[THROK, uid], facts=[fact(uid, "nods", "x")])
        )
    context = table.context(THROK, 300)
    assert_sound(context)
    assert any(item.reason.startswith("over budget: ") for item in context.dropped)


def test_no_model_is_asked(table: Campaign) -> None:
    """A context is built from what is there, whoever writes the summaries."""

    class Refusing:
        waits = True

        def summarize(self, task: object) -> Iterable[object]:
            raise AssertionError(f"asked for {task}")

        def invoke(self, prompt: object) -> object:
            raise AssertionError(f"asked {prompt}")

    table.summarizer = Refusing()
    assert table.context(THROK, 500, query="Who has the key?").items


@given(hostile, st.integers(300, 3000), st.sampled_from(ENCODINGS))
def test_the_whole_prompt_is_counted(rules: str, budget: int, encoding: str) -> None:
    """Rules, sheet and secrets stand beside the memory, and all of it together fits."""
    campaign = memory_campaign()
    campaign.record_many(
        event(f"e{number}", DM, f"The party finds {number} coins at the gate of Morrow.", participants=BOTH)
        for number in range(60)
    )
    context = campaign.context(THROK, budget + count_tokens(rules, encoding), beside=rules, encoding=encoding)
    assert context.prompt == (f"{rules}\n\n{context.text}" if rules else context.text)
    assert context.prompt_tokens == count_tokens(context.prompt, encoding) <= context.budget
    assert_sound(context)


def test_what_stands_beside_may_leave_too_little_room(table: Campaign) -> None:
    """Then the error says how large a budget it takes."""
    with pytest.raises(BudgetTooSmall, match="give at least 70"):
        table.context(THROK, 600, beside="rule " * 500)
    sheet = format_character_sheet(character("Throk", "Fighter"))
    context = table.context(THROK, 600, beside=sheet)
    assert context.prompt.startswith(sheet)
    assert context.prompt_tokens <= 600


def test_bad_input_gets_a_clear_error(table: Campaign) -> None:
    """A budget that is too small, an encoding, a viewer or a question that is none."""
    for budget in (199, 0, -5, True, 2.5, "many"):
        with pytest.raises(BudgetTooSmall, match="at least 200"):
            table.context(THROK, budget)  # type: ignore[arg-type]
    with pytest.raises(UnknownEncoding):
        table.context(THROK, 500, encoding="gpt2")
    with pytest.raises(UnknownViewer):
        table.context("Nobody", 500)
    for query in ("", "  ", 7):
        with pytest.raises(InvalidSetting, match="question"):
            table.context(THROK, 500, query=query)  # type: ignore[arg-type]


def test_an_empty_campaign_has_nothing_to_tell() -> None:
    """And says so without an error."""
    context = memory_campaign().context(DM)
    assert (context.text, context.tokens, context.items) == ("", 0, ())


def test_a_question_does_not_choose_the_story_again() -> None:
    """Answers of nearly the same length leave the story as it is, and the newest lines take what they spare.

    So a prompt keeps its beginning from turn to turn, which providers cache and which costs nothing to build.
    """
    campaign, rng = memory_campaign(), random.Random(1)
    things = [
        "mill",
        "river",
        "lantern",
        "key",
        "altar",
        "wolf",
        "bell",
        "oak",
        "rider",
        "crypt",
        "ring",
        "well",
    ]
    story = []
    for number in range(600):
        one, two, three = rng.sample(things, 3)
        text = f"The {one} by the {two} of Mira hides a {three}, they say ({number})."
        story.append(ChatMessage("Ann" if number % 2 else "Mira", text, role="pc" if number % 2 else "npc"))
    campaign.chat("Mira").follow(story)
    told = set()
    for thing in things:
        context = campaign.context("Mira", 1_500, query=f"Where did we leave the {thing}?")
        assert context.prompt_tokens <= 1_500
        told.add(tuple(item.text for item in context.items if item.section == "story"))
    assert len(told) <= 2
