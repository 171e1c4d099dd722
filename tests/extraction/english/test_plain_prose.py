"""Plain prose: people and places introduced by name become entities, with what is said of them.

`plain_prose/` has texts of forty lines in different styles. Their heads list who and what they introduce.
"""

import re
from pathlib import Path

import pytest

from dndbots.campaign import Campaign
from dndbots.extraction.english import RuleExtractor
from dndbots.extraction.port import KnownNames, Turn
from dndbots.testing import memory_campaign

TEXTS = Path(__file__).parent / "plain_prose"
CATEGORY = {"person": "NPC", "place": "LOC"}


def play(campaign: Campaign, *lines: tuple[str, str], witnesses: list[str] | None = None) -> None:
    campaign.import_transcript(
        {
            "id": f"line_{campaign.head}_{n}",
            "session": "s1",
            "speaker": speaker,
            "role": "dm" if speaker == "DM" else "pc",
            "text": text,
            **({"witnesses": witnesses} if witnesses is not None else {}),
        }
        for n, (speaker, text) in enumerate(lines)
    )
    campaign.compact()


@pytest.mark.parametrize("name", ["table", "letters", "chronicle", "novel", "diary", "harbour", "mountains"])
def test_everybody_introduced_by_name_becomes_an_entity(name: str) -> None:
    """Seven people and four places are introduced in forty lines: all are entities, and nobody else is."""
    text = (TEXTS / f"{name}.txt").read_text("utf-8")
    wanted = re.findall(r"^# (person|place) ([^:]+):", text, re.MULTILINE)
    lines = [line.split(": ", 1) for line in text.splitlines() if not line.startswith("#")]
    assert (len(wanted), len(lines)) == (11, 40)
    with memory_campaign() as campaign:
        play(campaign, *((speaker, said) for speaker, said in lines))
        found = {who: campaign.entity(who, viewer="dm") for _, who in wanted}
        assert {who: one.category for who, one in found.items()} == {
            who: CATEGORY[kind] for kind, who in wanted
        }
        speakers = {speaker for speaker, _ in lines} - {"DM"}
        others = {one.name for one in campaign.entities(viewer="dm")} - {one.name for one in found.values()}
        assert others == speakers


INTRODUCED = [
    ("By the well sits a one-eyed dwarf called Harl Brakken.", "Harl Brakken", "race", "dwarf"),
    (
        "By the well sits a one-eyed dwarf called Harl Brakken.",
        "Harl Brakken",
        "description",
        "one-eyed dwarf",
    ),
    ("You ride into the village of Thornwick at dusk.", "Thornwick", "kind", "village"),
    ("Before you lies Ravenmoor, a ruined keep on the shore.", "Ravenmoor", "kind", "ruined keep"),
    ("You take rooms at the Gilded Eel, an inn on the docks.", "Gilded Eel", "kind", "inn"),
    ("A boy creeps into your camp. His name was Pip.", "Pip", "alias", "Pip"),
    ("You got a dog! She is called Juniper.", "Juniper", "race", "dog"),
    ("The ship sets sail for Coimbra.", "Coimbra", "alias", "Coimbra"),
    ("Go and ask the reeve, Wymond, about it.", "Wymond", "role", "reeve"),
    ("At the desk sits Odilia, a shy cataloguer with headphones.", "Odilia", "role", "cataloguer"),
    ("You come through the north gate of Dunmarsh.", "Dunmarsh", "alias", "Dunmarsh"),
    ("There is a ford at Hobb's End.", "Hobb's End", "alias", "Hobb's End"),
    ("The inn is called the Crooked Lantern.", "Crooked Lantern", "kind", "inn"),
    ("She shares it with a Hungarian called Zoltan Berki.", "Zoltan Berki", "alias", "Zoltan Berki"),
    ("The judge, one Matthias Orne, weeps.", "Matthias Orne", "role", "judge"),
    ("Two brothers, Ennis and Colm, row you over.", "Colm", "alias", "Colm"),
    ("The road goes on to Quellen, where the wedding is.", "Quellen", "alias", "Quellen"),
]


@pytest.mark.parametrize(("text", "name", "field", "value"), INTRODUCED)
def test_an_introduction_keeps_what_is_said_of_somebody(text: str, name: str, field: str, value: str) -> None:
    """The word for somebody new, or for a new place, is kept with the name."""
    updates = RuleExtractor().extract([Turn("t1", "DM", "dm", text)], KnownNames({}))
    assert (name, field, value) in {(one.name, one.field, one.value) for one in updates}


NOT_INTRODUCED = [
    ("pc", "Oh, thank Pelor. Let's go."),
    ("pc", "Imagine a dwarf called Bob."),
    ("pc", "Is there an inn called the Blue Boar?"),
    ("dm", "She mutters something in Undercommon."),
    ("dm", "The tale of a knight named Roland is an old one."),
    ("dm", "It happened on Tuesday, in March."),
    ("dm", "You board a ship named Wavecutter."),
    ("dm", "Thanks for the reminder, Percival."),
    ("dm", '"Certainly," she says.'),
    ("pc", "There is a card game called Three Dragon Ante."),
]


@pytest.mark.parametrize(("role", "text"), NOT_INTRODUCED)
def test_a_name_in_passing_introduces_nobody(role: str, text: str) -> None:
    """Oaths, fancies, questions, languages and dates are no people and no places."""
    turn = Turn("t1", "DM" if role == "dm" else "Bram", role, text)  # type: ignore[arg-type]
    assert not RuleExtractor().extract([turn], KnownNames({"Bram": "PC"}))


def test_a_strangers_words_are_a_rumor() -> None:
    """What an unknown person says when the DM quotes it introduces a name, but is no fact."""
    text = '"You want the Gilded Eel, an inn on the docks," somebody calls.'
    updates = RuleExtractor().extract([Turn("t1", "DM", "dm", text)], KnownNames({}))
    assert {(one.name, one.field, one.sure) for one in updates} == {
        ("Gilded Eel", "alias", "rumor"),
        ("Gilded Eel", "kind", "rumor"),
        ("Gilded Eel", "description", "rumor"),
    }


def test_a_stranger_whom_a_player_quotes_is_not_the_player() -> None:
    """ "I'm Petra," she said, names the stranger who says it; "I'm Petra," I say, the player's character."""
    quoted = {
        '"You want beds," she said. "I\'m Petra Vance."': ("Petra Vance", "Petra Vance"),
        '"I\'m Petra Vance," I say.': ("Bram", "Petra Vance"),
    }
    for text, found in quoted.items():
        updates = RuleExtractor().extract([Turn("t1", "Bram", "pc", text)], KnownNames({"Bram": "PC"}))
        assert {(one.name, one.value) for one in updates} == {found}


def test_a_list_of_people_is_no_description() -> None:
    """The second of three people does not describe the first."""
    text = "Three people wait: an old scribe named Hotep Vell, his bodyguard, and a boy."
    updates = RuleExtractor().extract([Turn("t1", "DM", "dm", text)], KnownNames({}))
    assert {one.value for one in updates if one.field == "role"} == {"scribe"}


ALIASES = [
    ("Zara", "My name is Zarabeth Moon.", "Zara", "Zarabeth Moon"),
    ("Zara", "You can call me Zee.", "Zara", "Zee"),
    ("Zara", "I'm playing Ilvara, by the way.", "Zara", "Ilvara"),
    ("Zara", "My character's name is Ilvara Nightbreeze.", "Zara", "Ilvara Nightbreeze"),
    ("Zara", "Hello there, I am Ilvara.", "Zara", "Ilvara"),
    ("Zara", "Throk (Xiao Tang) is late again.", "Throk", "Xiao Tang"),
    ("DM", "Throk, also known as Rocky, walks in.", "Throk", "Rocky"),
    ("DM", "The reeve, Wymond, bows.", "Wymond", "the reeve"),
    ("DM", "Captain Ysolde Marr, a red-haired woman, laughs.", "Captain Ysolde Marr", "Captain Marr"),
    ("DM", "Captain Ysolde Marr, a red-haired woman, laughs.", "Captain Ysolde Marr", "Ysolde Marr"),
]


@pytest.mark.parametrize(("speaker", "text", "name", "alias"), ALIASES)
def test_other_names_are_found_by_everybody_who_heard_them(
    speaker: str, text: str, name: str, alias: str
) -> None:
    """A title, a nickname or a second name means the same entity, for each hearer; the first name stays."""
    with memory_campaign() as campaign:
        play(campaign, ("Zara", "Good morning."), ("Throk", "Morning."), (speaker, text))
        for viewer in ("dm", "Zara", "Throk"):
            found = campaign.entity(alias, viewer=viewer)
            assert found.name == name
            assert alias in found.aliases


def test_a_name_of_somebody_else_is_no_alias() -> None:
    """Whoever claims another character's name does not get it."""
    with memory_campaign() as campaign:
        play(campaign, ("Zara", "Good morning."), ("Throk", "Call me Zara."))
        assert campaign.entity("Zara", viewer="dm").uid == "pc_zara_001"
        assert not campaign.entity("Throk", viewer="dm").aliases


def test_a_name_given_to_somebody_known_is_no_second_person() -> None:
    """Who says "I am Ilvara" is not minted again when Ilvara is spoken of in the same run."""
    with memory_campaign() as campaign:
        play(
            campaign,
            ("Zara", "Hello there, I am Ilvara."),
            ("DM", "Everybody looks at Ilvara."),
            ("DM", "The innkeeper, Odo Brandt, tells Ilvara to sit down."),
        )
        assert campaign.entity("Ilvara", viewer="dm").name == "Zara"
        assert sorted(one.name for one in campaign.entities(viewer="dm")) == ["Odo Brandt", "Zara"]


def test_a_title_before_a_players_name_is_nobody_new() -> None:
    """Mr. Carver is Jack Carver."""
    with memory_campaign() as campaign:
        play(
            campaign, ("Jack Carver", "Evening."), ("DM", '"Sit down, Mr. Carver," says Odo Brandt, a clerk.')
        )
        assert sorted(one.name for one in campaign.entities(viewer="dm")) == ["Jack Carver", "Odo Brandt"]
