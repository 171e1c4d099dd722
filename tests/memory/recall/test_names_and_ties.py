"""Recall by other names and through ties: facts come before lines, for those who heard the evidence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dndbots.campaign import Campaign
from dndbots.errors import UnknownEntity
from dndbots.testing import memory_campaign

PARTY = ("Zara", "Throk", "Finn")
ALIASES = {
    "Zee": "Zara: You can call me Zee.",
    "the reeve": "DM: The reeve, Wymond, waves you over.",
    "Rocky": "DM: Throk, also known as Rocky, laughs.",
    "Marr": "Finn: My name is Finn Marr, by the way. Call me Marr.",
}


def play(campaign: Campaign, lines: list[tuple[str, list[str]]]) -> None:
    """Record lines, each with its witnesses, and read the facts out of them."""
    campaign.import_transcript(
        {
            "id": f"line_{n}_{abs(len(text))}",
            "session": "s1",
            "speaker": speaker,
            "role": "dm" if speaker == "DM" else "pc",
            "text": text,
            "witnesses": witnesses,
        }
        for n, (said, witnesses) in enumerate(lines)
        for speaker, text in [said.split(": ", 1)]
    )
    campaign.compact()


GREETINGS = [(f"{who}: Good morning to all of you.", list(PARTY)) for who in PARTY]
STORY = [
    *GREETINGS,
    ("DM: Wymond, the reeve of Thornwick, waves you over.", list(PARTY)),
    ('DM: "My daughter Mira is gone," says Wymond.', list(PARTY)),
    ("DM: Wymond asks you to find Mira, and offers a reward of sixty gold pieces.", list(PARTY)),
    ("Zara: We'll find her, Wymond. I promise.", list(PARTY)),
]


def ask(question: str, viewer: str = "Zara") -> list[tuple[str, str, str]]:
    with memory_campaign() as campaign:
        play(campaign, STORY)
        found = campaign.recall(viewer, question)
        return [(item.section, item.text, item.reason) for item in found.items]


def test_a_tie_answers_from_its_other_end() -> None:
    """Who somebody's father is follows from whose daughter she is; the fact comes first, and says why."""
    section, text, reason = ask("Who is Mira's father?")[0]
    assert (section, reason) == ("facts", "a fact about Wymond, tied to Mira")
    assert text.startswith("Wymond's daughter is Mira.")


def test_a_quest_answers_for_the_one_who_gave_it() -> None:
    """What somebody offers, or pays, is the reward of the quest that they gave, also by their office."""
    for question in ("What did Wymond offer us?", "how much will the reeve pay"):
        section, text, reason = ask(question)[0]
        assert (section, text) == ("facts", "The reward for Find Mira is sixty gold pieces.")
        assert reason == "a fact about Find Mira, tied to Wymond"


def test_a_question_without_a_tie_reads_no_ties() -> None:
    """What others are to somebody is no answer to what somebody did."""
    assert all("tied to" not in reason for _, _, reason in ask("What did Mira eat?"))


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(ALIASES)), st.sets(st.sampled_from(PARTY))),
        max_size=3,
        unique_by=lambda told: told[0],
    )
)
def test_only_those_who_heard_an_alias_have_it(told: list[tuple[str, set[str]]]) -> None:
    """A viewer finds by another name only after perceiving the line that gave it. The DM always does."""
    with memory_campaign() as campaign:
        lines = [(ALIASES[alias], sorted(hearers)) for alias, hearers in told]
        play(campaign, [*GREETINGS, *lines])
        for alias, hearers in told:
            speaker = ALIASES[alias].partition(":")[0]
            for viewer in (*PARTY, "dm"):
                heard = viewer == "dm" or viewer in hearers or viewer == speaker
                try:
                    entity = campaign.entity(alias, viewer=viewer)
                except UnknownEntity:
                    assert not heard, (alias, viewer)
                else:
                    assert heard, (alias, viewer, entity)


def test_an_unheard_alias_changes_no_answer() -> None:
    """What a viewer reads is the same, byte for byte, whether or not others learned another name."""
    texts = []
    for secret in ([], [("DM: The reeve, Wymond, winks. People call Wymond Nettle.", ["Throk"])]):
        with memory_campaign() as campaign:
            play(campaign, [*GREETINGS, *STORY[4:], *secret])
            texts.append([campaign.recall("Zara", q).text for q in ("Who is Nettle?", "the reeve", "Wymond")])
    assert texts[0] == texts[1]


MET = "The firbolg behind the counter gives the name Brenna and nothing else."


def told_in_passing(question: str) -> list[str]:
    """Ask about people whom one line among many names. No facts are read out of the lines."""
    with memory_campaign() as campaign:
        lines = [
            f"DM: Day {n}: rain on the road, and the cart is put under the old bridge." for n in range(60)
        ]
        lines[20:20] = [f"DM: {MET}", "DM: Desmond Kestward is not coming. He was turned to stone."]
        campaign.import_transcript(
            {"session": "s1", "speaker": "DM", "role": "dm", "text": line[4:], "witnesses": ["Zara"]}
            for line in lines
        )
        return [item.text for item in campaign.recall("Zara", question).items]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is Brenna's trade?", MET),
        ("What kind of folk is Brenna?", MET),
        ("How is Desmond Kestward doing?", "turned to stone"),
    ],
)
def test_a_brief_question_about_somebody_rare_is_answered_by_their_line(question: str, told: str) -> None:
    """The line in which somebody is met answers, whatever word the question has for what it asks."""
    assert any(told in text for text in told_in_passing(question))


@pytest.mark.parametrize("question", ["Where was the porphyry hinge put?", "Is Hroswitha Quell on the road?"])
def test_one_common_word_beside_unsaid_ones_is_no_answer(question: str) -> None:
    """Nobody said a word of what is asked for."""
    assert told_in_passing(question) == []


@pytest.mark.parametrize(
    ("news", "is_held"),
    [
        ("Ysolde is no longer the harbourmaster.", False),
        ("Ysolde is now a fishwife.", False),
        ("Ysolde hums a tune.", True),
    ],
)
def test_an_office_ends_like_a_fact(news: str, is_held: bool) -> None:  # noqa: FBT001
    """ "The harbourmaster" means somebody only as long as that viewer knows of no other role."""
    with memory_campaign() as campaign:
        play(campaign, [*GREETINGS, ("DM: The harbourmaster, Ysolde, waves you over.", list(PARTY))])
        play(campaign, [(f"DM: {news}", ["Zara"])])
        for viewer in ("Zara", "Throk"):
            found = campaign.recall(viewer, "Did the harbourmaster wave?").items
            about = any("about Ysolde" in item.reason for item in found)
            assert about == (is_held or viewer == "Throk"), viewer
