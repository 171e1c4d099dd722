"""Who and what a typed line means, among all that is here."""

import pytest
from tests.game.input.understanding_score import table_of

from dndbots.game.input import likely_deeds
from dndbots.game.input.line_reader import understand_line
from dndbots.game.input.meanings import Understanding
from dndbots.game.input.talk.talk_reader import called_friend
from dndbots.game.input.vocabulary.scene_names import SceneNames


def meaning(scene: str, line: str) -> Understanding:
    return understand_line(*table_of(scene), line)


@pytest.mark.parametrize(
    ("scene", "line", "hearer"),
    [
        ("ladder", "and what's your name, sleepyhead?", "a boy who must not sleep"),
        (
            "inn",
            "what's that going to be when it's finished, grandmother, a scarf?",
            "an old woman who knits",
        ),
        ("ladder", "how long has it been since he slept, and how do you manage it?", "Bettany Crewe"),
        ("ladder", "which way did my friends go?", "Bettany Crewe"),
        ("inn", "are you married, does your boy have a father?", "Bettany Crewe"),
        ("ladder", "who was Elowen", "Granny Isbel"),
    ],
)
def test_of_several_people_the_one_who_is_called_or_may_know_is_asked(
    scene: str, line: str, hearer: str
) -> None:
    """Who is only spoken of is not asked; what nobody spoke of is for whoever keeps the house."""
    assert meaning(scene, line).target == hearer


@pytest.mark.parametrize(
    ("scene", "line", "hearer"),
    [
        ("roots", "you go first borra", "Borra Ironkettle"),
        ("roots", "listen Borra, you carry the coins, i carry the book", "Borra Ironkettle"),
        ("stair", '"Careful, Throk, it might be trapped."', "Throk"),
        ("goblins", '"Quillon! Save your spell. They won\'t hurt us."', "Quillon Ashby"),
        ("goblins", "thank ye kindly for the warning, small sirs", "rime goblins"),
    ],
)
def test_words_are_to_who_is_called_in_them(scene: str, line: str, hearer: str) -> None:
    """Wherever in the line the name stands; foes who talk hear what is said to nobody by name."""
    assert meaning(scene, line).target == hearer


def test_words_about_a_friend_are_not_only_for_that_friend() -> None:
    scene = SceneNames(*table_of("roots"))
    for line in ("Throk's boots are wet and we are tired", "I am with Throk on that", "Throk and Borra, run"):
        assert called_friend(scene, line) is None
    called = called_friend(scene, "run, Throk, run")
    assert called is not None
    assert called.label == "Throk"


@pytest.mark.parametrize(
    ("scene", "line", "target"),
    [
        ("ladder", "help her wind the wool", "Granny Isbel"),
        ("green", "crack my knuckles and glare at the reeve", "Wymond Pell"),
        ("chapel", "play dead in the snow until he comes over", "Old Jory"),
    ],
)
def test_an_attempt_is_at_who_is_named_beside_it(scene: str, line: str, target: str) -> None:
    found = meaning(scene, line)
    assert (found.verb, found.target) == ("try", target)


@pytest.mark.parametrize(
    ("scene", "line", "what"),
    [
        ("chapel", "look up the Lady in the register", "register"),
        ("square", "look over his shoulder at the paper", "notice"),
        ("span", "smash the lock with my axe", "lock"),
        ("span", "knock on the iron door", "iron door"),
        ("span", "peer through the keyhole", "pier door"),
        ("chapel", "hack at the grille with my sword", "grille"),
        ("ladder", "swing my sword at the shelf of jugs", "jugs"),
        ("goblins", "play something gentle for them", "lute"),
        ("goblins", "throw an apple at the goblin's head", "apple"),
        ("ladder", "a round for the entire house, on me, soup and beer for everyone!", "soup"),
        ("inn", "one soup for the boy, i pay", "soup"),
        ("arch", "beer. big.", "beer"),
    ],
)
def test_what_is_named_anywhere_in_a_deed_is_what_it_is_done_to(scene: str, line: str, what: str) -> None:
    assert what in (meaning(scene, line).what or "")


@pytest.mark.parametrize(
    ("scene", "line", "way"),
    [
        ("span", "go to the tall house", "off the bridge"),
        ("span", "go after Maren", "off the bridge"),
        ("square", "knock on the masons' gate and go in", "masons' gate"),
    ],
)
def test_a_way_leads_to_where_others_are_and_to_places_behind_the_last_one(
    scene: str, line: str, way: str
) -> None:
    found = meaning(scene, line)
    assert (found.verb, (found.what or "").partition(" (")[0]) == ("go", way)


def test_what_is_here_is_eaten_and_drunk_without_being_carried() -> None:
    found = meaning("goblins", "eat an apple")
    assert found.verb == "use"
    assert "apple" in (found.what or "")


def test_of_two_clauses_the_deed_is_done_to_what_is_named_in_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The odds of a deed are for the whole line; what it is done to stands in one part of it."""
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {"look": 1.0})
    found = meaning("square", "study the notice, then ask the thin man why a tithe")
    assert found.verb == "look"
    assert "notice" in (found.what or "")


@pytest.mark.parametrize(
    ("line", "verb"),
    [
        ("go on then, we're in", "accept"),
        ("consider them woken", "accept"),
        ("cheers but nah, not our problem mate", "refuse"),
        ("seventy and a hot meal", "parley"),
    ],
)
def test_an_offer_is_answered_in_any_words(line: str, verb: str) -> None:
    """Another sum than the one that was offered is a bargain."""
    assert meaning("green", line).verb == verb


def test_a_question_accepts_no_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    """However likely a yes: what is asked commits nobody."""
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {"accept": 1.0})
    assert meaning("inn", "is the reeve in on it").verb != "accept"


@pytest.mark.parametrize("verb", ["take", "try", "use", "go"])
def test_what_is_opened_by_name_is_opened(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {verb: 1.0})
    assert meaning("chapel", "open the church register").verb == "open"


def test_secrets_beside_a_quiet_deed_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """ "Quietly" beside a deed is no secret; words for one pair of ears are."""
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {"go": 1.0})
    assert meaning("stair", "go up the stair out of the water, as quietly as I can").verb == "go"
    for line in ("quietly tell Throk that the box is mine", "whisper Throk the way up is clear"):
        assert meaning("stair", line).verb == "whisper"


def test_a_likely_deed_keeps_the_one_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rules found the second deed of a line only."""
    monkeypatch.setattr(likely_deeds, "rank_verbs", lambda _: {"look": 1.0})
    found = meaning("square", "the notice first, then go to the inn")
    assert found.verb == "look"
    assert found.then is not None
    assert found.then.verb == "go"


def test_an_before_a_verb_is_and() -> None:
    found = meaning("goblins", "lob a rock at the nearest gob an leg it")
    assert found.verb == "attack"
    assert found.then is not None
    assert found.then.verb in ("go", "flee")
