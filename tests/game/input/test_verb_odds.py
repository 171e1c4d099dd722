"""How likely a deed is for the words of a line, and what becomes of a line whose reading is unlikely."""

import pytest
from tests.game.input.learn_verb_odds import development_lines, learn, rarity_in
from tests.game.input.understanding_score import coarse, table_of

from dndbots.game.input import likely_deeds
from dndbots.game.input.line_reader import understand_line
from dndbots.game.input.vocabulary.verb_odds import rank_verbs, verb_odds


def read(scene: str, line: str) -> dict[str, object]:
    return understand_line(*table_of(scene), line).to_json()


@pytest.mark.parametrize(
    ("line", "verb"),
    [
        ("my blade finds the nearest rat", "attack"),
        ("off to the chapel then", "go"),
        ("count me in", "accept"),
        ("what's my armor class?", "meta"),
    ],
)
def test_words_tell_a_deed(line: str, verb: str) -> None:
    odds = rank_verbs(line)
    assert next(iter(odds)) == verb
    assert sum(odds.values()) == pytest.approx(1)


def test_words_that_nobody_types_are_unclear() -> None:
    assert next(iter(rank_verbs("zzxq vvbk"))) == "unclear"
    assert sum(rank_verbs("").values()) == pytest.approx(1)


def test_a_hostile_line_takes_no_longer() -> None:
    """Only the first words are weighed."""
    assert rank_verbs("go " * 60) == rank_verbs("go " * 1_000)


def test_an_unlikely_reading_gives_way_to_a_likely_deed() -> None:
    assert coarse(read("stair", "the nearest rat gets my sword")) == "attack"


def test_what_cannot_be_done_stays_refused() -> None:
    """A refusal with its reason is worth more than a try at something that is not here."""
    found = read("green", "I shoot my crossbow at the reeve")
    assert found["verb"] == "refused"
    assert found["reason"]


def test_secrets_are_not_read_again() -> None:
    found = read("green", "whisper Ilvane count me in, the reeve lies")
    assert found["verb"] == "whisper"


@pytest.mark.parametrize("verb", ["ask", "tell", "parley"])
def test_words_to_one_never_go_to_another(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """However likely another way of saying it is: who hears it is decided by the line."""
    line = "tell Zara that the reeve lies to all of us"
    to_zara = read("green", line)
    assert to_zara["target"] == "Zara"
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {verb: 1.0})
    assert read("green", line)["target"] == "Zara"


def test_learning_gives_the_same_each_time() -> None:
    """The file follows from the lines alone."""
    lines = development_lines()[:60]
    assert learn(lines) == learn(lines)


def test_the_file_was_learned_from_these_lines() -> None:
    """Who adds lines learns from them: `python -m tests.game.input.learn_verb_odds`."""
    rarity = rarity_in(development_lines())
    stored = verb_odds().rarity
    assert {name: round(rarity[name], 2) for name in stored if name in rarity} == stored
