"""How likely a deed is for the traits of a line, and what becomes of a line whose reading is unlikely."""

import pytest
from tests.game.input.learn_verb_odds import Line, blocks_of, development_files, learn
from tests.game.input.understanding_score import coarse, read_lines, table_of

from dndbots.game.input import likely_deeds
from dndbots.game.input.line_reader import understand_line
from dndbots.game.input.line_traits import words_in
from dndbots.game.input.vocabulary.verb_odds import SIGNS, STEP, pack_weights, rank_verbs, verb_odds


def odds_of(line: str, scene: str = "healer") -> dict[str, float]:
    return rank_verbs(blocks_of({"scene": scene, "line": line}))


def read(scene: str, line: str) -> dict[str, object]:
    return understand_line(*table_of(scene), line).to_json()


@pytest.mark.parametrize(
    ("scene", "line", "verb"),
    [
        ("stair", "my blade finds the nearest rat", "attack"),
        ("green", "off to the chapel then", "go"),
        ("green", "count me in", "accept"),
        ("green", "what's my armor class?", "meta"),
    ],
)
def test_traits_tell_a_deed(scene: str, line: str, verb: str) -> None:
    odds = odds_of(line, scene)
    assert next(iter(odds)) == verb
    assert sum(odds.values()) == pytest.approx(1)


def test_words_that_nobody_types_are_unclear() -> None:
    assert next(iter(odds_of("zzxq vvbk"))) == "unclear"


def test_the_scene_counts() -> None:
    """The same words are likelier an answer where something is offered."""
    line = "count me in, I will do it"
    assert odds_of(line, "green")["accept"] > odds_of(line, "chapel")["accept"]


def test_a_hostile_line_takes_no_longer() -> None:
    """Only the first words are weighed."""
    longest, longer = words_in("go " * 60), words_in("go " * 1_000)
    assert longest == longer


def test_weights_are_packed_to_a_tenth() -> None:
    """The file has a sign for a number: what is read differs from what was learned by half a step at most."""
    row = [0.0, 1.234, -0.87, 0.04, 99.0]
    signs = pack_weights(row)
    assert len(signs) == 6
    number, weight = signs[0], signs[1]
    assert SIGNS.index(number) == 1
    assert (SIGNS.index(weight) - len(SIGNS) // 2) * STEP == pytest.approx(1.234, abs=STEP / 2)


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


def test_what_is_denied_is_not_done_however_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    for verb in ("attack", "take", "cast", "go", "use", "give", "try"):
        monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _, verb=verb: {verb: 1.0})
        for line in ("I will not attack the goblins", "don't take the bough", "never go to the stream"):
            assert coarse(read("goblins", line)) not in {"attack", "take", "cast", "go", "use", "give"}


@pytest.mark.parametrize("verb", ["attack", "take", "go", "give", "accept", "refuse", "unclear"])
def test_a_name_that_is_not_here_stays_refused(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """What was meant for somebody who is not here is told to nobody else, and nothing else is done."""
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {verb: 1.0})
    for line in ("tell Grimfang that we are in", "whisper Grimfang we go at dawn"):
        assert read("green", line)["verb"] == "refused"


@pytest.mark.parametrize("verb", ["attack", "use", "try"])
def test_gear_that_is_not_carried_is_not_used(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {verb: 1.0})
    assert read("green", "I shoot my crossbow at the reeve")["verb"] == "refused"


@pytest.mark.parametrize("verb", ["attack", "go", "tell", "accept", "take"])
def test_speech_in_quotes_stays_speech(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {verb: 1.0})
    found = read("goblins", '"I attack them and go to the stream!"')
    assert coarse(found) in ("say", "tell", "parley")


def test_what_is_unclear_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is likely no deed is not played; its readings are offered."""
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {"unclear": 1.0})
    table, who = table_of("green")
    found = understand_line(table, who, "my dog just knocked the map over")
    assert found.act is None
    assert found.readings


def test_learning_gives_the_same_each_time() -> None:
    """The file follows from the lines alone."""
    lines = [
        Line(line, blocks_of(line), is_known=False)
        for path in development_files()[:1]
        for line in read_lines(path)[:40]
    ]
    assert learn(lines) == learn(lines)


def test_the_file_was_learned_from_these_lines() -> None:
    """Who adds lines learns from them: `python -m tests.game.input.learn_verb_odds`."""
    known = verb_odds().packed
    for path in development_files():
        words = [word for line in read_lines(path) for word in words_in(line["line"])[0]]
        assert sum(word in known for word in words) > 0.7 * len(words), path.stem
