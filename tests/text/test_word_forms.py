"""The forms of words, by which a question finds what was said in others."""

import pytest

from dndbots.text.word_forms import as_path, forms_of, numbers_of, with_some
from dndbots.text.words import stem

SAME = [
    "hire hires hired hiring",
    "bless blesses blessed blessing",
    "stop stops stopped stopping",
    "reply replies replied replying",
    "family families",
    "church churches",
    "horse horses",
    "cookie cookies",
    "go goes went gone going",
    "steal steals stole stolen stealing",
    "die dies died dying dead death",
    "thief thieves",
    "use uses used using",
    "torture torturer torturers",
    "prison prisoner",
]
APART = [
    "part party",
    "arm army",
    "corn corner",
    "bell belly",
    "see seed",
    "need knee",
    "mast master",
    "rep reply",
]


@pytest.mark.parametrize("words", SAME)
def test_forms_of_one_word_find_one_another(words: str) -> None:
    """From the plain word to every form of it, and from every form back."""
    plain, *others = words.split()
    assert set(others) <= set(forms_of(plain)) or plain in ("torture", "prison")
    assert all(plain in forms_of(other) for other in others)


@pytest.mark.parametrize("words", APART)
def test_words_that_only_look_alike_are_kept_apart(words: str) -> None:
    """Neither is a form of the other."""
    one, other = words.split()
    assert one not in forms_of(other)
    assert other not in forms_of(one)


@pytest.mark.parametrize("word", ["is", "go2", "\u754c", "na\u00efve", "x"])
def test_what_is_no_plain_english_word_stays_as_it_is(word: str) -> None:
    """Other scripts, numbers and very short words have no forms that we know of."""
    assert forms_of(word) == numbers_of(word) == (word,)


def test_names_have_a_singular_and_a_plural() -> None:
    """And nothing else: Greyspine hires nobody by being called so."""
    assert numbers_of("greyspine") == ("greyspine", "greyspines")
    assert numbers_of("goblins") == ("goblin", "goblins")


@pytest.mark.parametrize("words", ["bless blesses blessed blessing", "pass passes", "princess princesses"])
def test_words_in_ss_keep_their_stem(words: str) -> None:
    """blesses is no form of ble."""
    assert {stem(word) for word in words.split()} == {words.partition(" ")[0]}


@pytest.mark.parametrize(
    ("way", "path"),
    [
        ("inn door", "through the inn door"),
        ("masons' gate", "through the masons' gate"),
        ("crack in the pier", "through the crack in the pier"),
        ("orchard lane", "along the orchard lane"),
        ("lane to the green", "along the lane to the green"),
        ("path up the cliff", "along the path up the cliff"),
        ("river stairs", "by the river stairs"),
        ("old stone bridge", "over the old stone bridge"),
        ("blue shutters", "toward the blue shutters"),
        ("north", "north"),
        ("down the well", "down the well"),
        ("out to the green", "out to the green"),
        ("Weavercote", "toward Weavercote"),
        ("", "toward "),
    ],
)
def test_a_way_is_gone_as_its_noun_is_gone(way: str, path: str) -> None:
    """Through doors, along lanes, over bridges, by stairs; a direction stays as it is."""
    assert as_path(way) == path


@pytest.mark.parametrize(
    "thing", ["a lantern", "an iron key", "rations", "chain mail", "holy water", "6 torches", "the Iron Key"]
)
def test_a_thing_that_somebody_has_gets_an_article_if_it_can_be_counted(thing: str) -> None:
    bare = thing.removeprefix("a ").removeprefix("an ")
    assert with_some(bare) == thing
    assert with_some(thing) == thing
