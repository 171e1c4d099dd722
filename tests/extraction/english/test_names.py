"""Names are weighed by all that a hearer heard of them, and by nothing that the hearer did not hear."""

import time

import pytest

from dndbots.campaign import Campaign
from dndbots.errors import UnknownEntity
from dndbots.extraction.english import RuleExtractor
from dndbots.extraction.english.names.heard_names import HeardNames, likely_names
from dndbots.extraction.port import KnownNames, Turn
from dndbots.testing import memory_campaign

CUES = [
    ("Inês cried for a day and then she slept.", {"Inês": "NPC"}),
    ("We moved from Lisbon to Coimbra in the spring.", {"Lisbon": "LOC", "Coimbra": "LOC"}),
    ("A retired dentist, Mr. Almeida, plays the tuba.", {"Mr. Almeida": "NPC"}),
    ("He told Yusra and Bertil to wait outside.", {"Yusra": "NPC", "Bertil": "NPC"}),
    ("The papers were made out to Ambrose Teague, second engineer.", {"Ambrose Teague": "NPC"}),
    ("Nobody goes through the reeds to Harrow Ford.", {"Harrow Ford": "LOC"}),
    ("It was signed in full: Linnea.", {"Linnea": "NPC"}),
    ("The last boat on Mirror Lake left at noon.", {"Mirror Lake": "LOC"}),
    ("You can hear the bells of Varn at night.", {}),  # a place, a tower, a woman: it does not say
    ("He plays the tuba. On Sundays. At eight.", {}),
    ("She speaks Undercommon and a little Dutch.", {}),
    ("I cast Magic Missile and then Misty Step.", {}),
    ("Give her my love and a Whiskas.", {}),
    ("I swear by Silvanus that I saw it.", {}),
    ("Best pies I ever had. I told her so.", {}),
    ("Crows discussed her from the poplars.", {}),
    ("Hi, I'm afraid that It's late, and Monday is worse.", {}),
]


@pytest.mark.parametrize(("text", "found"), CUES)
def test_the_words_around_a_name_tell_what_bears_it(text: str, found: dict[str, str]) -> None:
    """People act, own and are spoken to; places are lived in and travelled to; other names do neither."""
    assert likely_names([text]) == [found]


def test_weak_cues_add_up_over_several_turns() -> None:
    """No single line says that Tovin is somebody; all of them together do."""
    lines = [
        "It was about Tovin again.",
        "You know how it is for Tovin.",
        "Nobody could say why, except Tovin.",
    ]
    assert all(not likely_names([line])[0] for line in lines[:2])
    assert likely_names(lines)[-1] == {"Tovin": "NPC"}


@pytest.mark.parametrize(
    ("text", "name", "role"),
    [
        ("You meet Father Aldwin, the old priest of Oakhurst.", "Father Aldwin", "priest of Oakhurst"),
        ("Marla is the captain of Dunmarsh.", "Marla", "captain of Dunmarsh"),
        ("Brun is the captain of the guard of Dunmarsh.", "Brun", "captain of the guard of Dunmarsh"),
        ("Aldwin, the blacksmith of Oakhurst, nods.", "Aldwin", "blacksmith"),
    ],
)
@pytest.mark.parametrize("is_known", [False, True])
def test_an_office_keeps_its_place(text: str, name: str, role: str, *, is_known: bool) -> None:
    """Whether the place is likely or known; one who only works there has a place, and a plain role."""
    (likely,) = likely_names([text])
    assert "LOC" in likely.values()
    places = {one: kind for one, kind in likely.items() if kind == "LOC"}
    known = KnownNames(places if is_known else {}, likely)
    updates = RuleExtractor().extract([Turn("e1", "DM", "dm", text)], known)
    assert [update.value for update in updates if (update.name, update.field) == (name, "role")] == [role]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Elena is a smith.", ["role"]),
        ("Elena nods.", ["alias"]),
        ("Elena nods. Rumor has it that Elena is a thief.", ["alias", "role"]),
    ],
)
def test_a_likely_name_is_introduced_once(text: str, fields: list[str]) -> None:
    """A fact of somebody introduces the name too, unless it is only a rumor."""
    known = KnownNames({}, {"Elena": "NPC"})
    updates = RuleExtractor().extract([Turn("e1", "DM", "dm", text)], known)
    assert [update.field for update in updates if update.name == "Elena"] == fields


def test_a_word_that_also_occurs_in_lower_case_is_no_name() -> None:
    """A word that the log writes small elsewhere has its capital for another reason."""
    assert likely_names(["Grusk nods."]) == [{"Grusk": "NPC"}]
    assert likely_names(["The grusk is a bird, and a grusk eats fish.", "Grusk nods."])[-1] == {}


def test_what_comes_later_decides_nothing() -> None:
    """The names of a turn follow from the turns up to it, however many are read together."""
    lines = ["We talked about Varn.", "Varn is a town on the coast.", "Nobody lives in Varn.", "Ada nodded."]
    assert likely_names(lines)[:2] == likely_names(lines[:2])
    assert [names.get("Varn") for names in likely_names(lines)] == [None, "LOC", "LOC", None]


def test_old_turns_are_forgotten() -> None:
    """The weights of the last turns are those of a hearer who heard only them."""
    heard = HeardNames()
    for _ in range(3):
        heard.hear("Ada nods to Varn, where the grusk sings.")
    for _ in range(100):
        heard.hear("It rains on Pip and on Nyssa Thorne.")
    fresh = HeardNames()
    for _ in range(100):
        fresh.hear("It rains on Pip and on Nyssa Thorne.")
    for name in ("Pip", "Nyssa Thorne"):
        assert heard.weights(name) == fresh.weights(name)
    assert not any(heard.weights("Ada").values())


def test_hostile_text_takes_no_longer_than_its_length() -> None:
    """Thousands of names in one turn, or sharing one word, are read in a fixed time for each character."""
    for unit in ("Xa{} Brandt, ", "Xa{} of the Xb{} of ", "Xa{}'s Xb{} and ", "A. Xa{}! "):
        spent = []
        for size in (500, 4_000):
            text = "".join(
                unit.format(f"{number:x}".translate(str.maketrans("0123456789", "ghijklmnop")), "y")
                for number in range(size)
            )
            began = time.process_time()
            RuleExtractor().likely_names([text] * 3)
            spent.append(time.process_time() - began)
        assert spent[1] < 1.0 + 16 * spent[0]


def told(campaign: Campaign, *lines: tuple[str, list[str]]) -> None:
    campaign.import_transcript(
        {"id": f"l{number}", "session": "s", "speaker": "DM", "role": "dm", "text": text, "witnesses": heard}
        for number, (text, heard) in enumerate(lines)
    )
    campaign.compact()


def test_a_name_that_nobody_explained_to_a_hearer_is_nobody_to_that_hearer() -> None:
    """Zara hears enough of Tovin to know that he is somebody; Throk, who hears one weak line, does not."""
    with memory_campaign() as campaign:
        campaign.import_transcript(
            [
                {"session": "s", "speaker": who, "role": "pc", "text": "Good morning."}
                for who in ("Zara", "Throk")
            ]
        )
        told(
            campaign,
            ("You told Tovin everything.", ["Zara"]),
            ("It was about Tovin again.", ["Zara", "Throk"]),
        )
        assert campaign.entity("Tovin", viewer="Zara").category == "NPC"
        with pytest.raises(UnknownEntity):
            campaign.entity("Tovin", viewer="Throk")


def test_a_family_name_alone_means_the_one_who_bears_it() -> None:
    """Brandt is Captain Ilse Brandt, whichever of the two is heard first."""
    for lines in (
        ["At the head comes Captain Ilse Brandt, a gray-haired woman.", "Brandt nods."],
        ["Brandt nods.", "It is Captain Ilse Brandt, a gray-haired woman, who nods."],
    ):
        with memory_campaign() as campaign:
            told(campaign, *((line, []) for line in lines[:1]))
            campaign.import_transcript(
                [
                    {
                        "id": "z",
                        "session": "s",
                        "speaker": "DM",
                        "role": "dm",
                        "text": lines[1],
                        "witnesses": [],
                    }
                ]
            )
            campaign.compact()
            assert campaign.entity("Brandt", viewer="dm") == campaign.entity("Ilse Brandt", viewer="dm")
