"""A proposal stands only on the words of the turn that it cites, whoever makes it and however much of it."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hostile_text

from dndbots.compaction.checks import Accepted, NameMention, Rejected, check_all, check_update
from dndbots.extraction.port import FIELDS, Turn, Update
from dndbots.ids import fold_name
from dndbots.text.english_words import FUNCTION_WORDS
from dndbots.text.words import stem, uids_of, words_of

KNOWN = {
    "throk": NameMention("Throk", "PC", "pc_throk_001"),
    "mirela": NameMention("Mirela", "NPC", "npc_mirela_001"),
    "darkwood": NameMention("Darkwood", "LOC", "loc_darkwood_001"),
}
HALL = Turn(
    "e1",
    "DM",
    "dm",
    'Grimfang, chief of the goblins, raises his axe. "I am the brother of Mirela," he says. '
    "Mirela lives in Darkwood, wants 50 gold and guards the Red Gate. Captain of nobody, she waits.",
)
THROK = Turn("e2", "Throk", "pc", "I am a blacksmith, mirela is my friend, and Grimfang is a coward.")
DOUBT = Turn(
    "e3",
    "DM",
    "dm",
    "Is Mirela a witch? Mirela is not a priest. Rumor has it that Mirela is a thief. "
    'They meet at the inn "The Red Lion". Find the lost bell of Darkwood, she asks.',
)
TURNS = {turn.id: turn for turn in (HALL, THROK, DOUBT)}


class Table:
    """Knows three, and takes everybody else for new."""

    def resolve(self, name: str, categories: Sequence[str], turn: Turn) -> NameMention | str:  # noqa: ARG002
        known = KNOWN.get(fold_name(name))
        if known:
            return known if known.category in categories else f"{name!r} is a {known.category}"
        return NameMention(name, next((one for one in categories if one != "PC"), "PC"))


def propose(
    kind: str, name: str, field: str, value: str, turn: str = "e1", **more: Any
) -> Accepted | Rejected:
    fields = {"kind": kind, "name": name, "field": field, "value": value, "turn": turn, **more}
    return check_update(Update.model_validate(fields), TURNS, Table())


def rule(*args: str, **more: Any) -> str:
    answer = propose(*args, **more)
    assert isinstance(answer, Rejected), answer
    assert answer.reason
    return answer.rule


def stands(*args: str, **more: Any) -> Accepted:
    answer = propose(*args, **more)
    assert isinstance(answer, Accepted), answer
    return answer


def test_narration_states_facts() -> None:
    """The DM's narration is fact, and a new person has no uid yet."""
    told = stands("npc", "Grimfang", "role", "chief of the goblins")
    assert (told.certainty, told.subject, told.said_by) == (
        "fact",
        NameMention("Grimfang", "NPC", None),
        None,
    )
    assert told.key == "role"


def test_link_is_resolved_like_a_subject() -> None:
    """The value of a link is a name of the turn, in any case if it is known."""
    assert stands("npc", "mirela", "place", "darkwood").object == KNOWN["darkwood"]
    assert rule("npc", "Mirela", "place", "Gull Rock") == "name"
    assert rule("npc", "Mirela", "brother", "Mirela") == "self"


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("npc", "Grimfang", "role", "chief", "e9"), "unknown_turn"),
        (("npc", "Grimfang", "holder", "Mirela"), "field"),
        (("npc", "Zara", "role", "chief"), "name"),
        (("npc", "Grim", "role", "chief"), "name"),
        (("npc", "grimfang", "role", "chief"), "name"),
        (("npc", "Captain", "role", "chief"), "name"),
        (("item", "axe", "description", "raised"), "name"),
        (("npc", "Throk", "role", "blacksmith", "e2"), "name"),
        (("npc", "npc_mirela_001", "role", "chief"), "text"),
        (("npc", "Mirela", "role", "chief of npc_mirela_001"), "text"),
        (("npc", "Mirela", "wants", "500 gold"), "unsupported"),
        (("npc", "Mirela", "wants", "gold for her brother's wedding"), "unsupported"),
        (("npc", "Mirela", "wants", "gold gold gold"), "unsupported"),
        (("npc", "Mirela", "wants", "no gold"), "unsupported"),
        (("npc", "Mirela", "wants", "50 goblins"), "unsupported"),
        (("npc", "Mirela", "description", "Mirela"), "unsupported"),
        (("npc", "Mirela", "description", "of the"), "unsupported"),
        (("npc", "Mirela", "friend", "Darkwood"), "name"),
        (("npc", "Mirela", "friend", "Grimfang"), "unsupported"),
        (("npc", "Mirela", "role", "**chief**"), "text"),
        (("npc", "Mirela", "role", "chief\ngoblins"), "text"),
        (("npc", "Mirela", "role", "chief\u202egoblins"), "text"),
        (("npc", "Mirela", "role", "SYSTEM: chief"), "text"),
        (("npc", "Mirela", "role", "## chief"), "text"),
        (("npc", "Mirela", "role", "NPC:chief"), "text"),
        (("quest", "lost crown", "giver", "Mirela", "e3"), "name"),
        (("quest", "Is Mirela a witch? Mirela is not a priest.", "goal", "bell", "e3"), "name"),
    ],
)
def test_what_the_turn_does_not_say_is_refused(args: tuple[str, ...], why: str) -> None:
    """Nothing is taken on trust: turn, field, name, and every word of the value must be there."""
    assert rule(*args) == why


def test_forms_of_a_word_are_the_same_word() -> None:
    """A value may inflect what the turn says, and leave out what only joins words."""
    assert stands("npc", "Mirela", "status", "waiting")
    assert stands("npc", "Mirela", "status", "guarding Red Gate")


def test_what_a_player_says_is_a_belief_of_theirs() -> None:
    """Only the DM states facts; the speaker may be meant by "I"."""
    told = stands("character", "Throk", "role", "blacksmith", "e2")
    assert (told.certainty, told.said_by) == ("belief", KNOWN["throk"])
    assert stands("npc", "Grimfang", "description", "a coward", "e2").said_by == KNOWN["throk"]
    assert stands("npc", "Mirela", "friend", "Throk", "e2").object == KNOWN["throk"]


def test_speech_in_narration_needs_its_speaker() -> None:
    """A fact that the DM only quotes needs the name of the person quoted."""
    assert rule("npc", "Grimfang", "brother", "Mirela") == "quoted"
    told = stands("npc", "Grimfang", "brother", "Mirela", said_by="Grimfang")
    assert (told.certainty, told.said_by) == ("belief", NameMention("Grimfang", "NPC", None))
    assert rule("npc", "Grimfang", "brother", "Mirela", said_by="Zara") == "name"


@pytest.mark.parametrize(
    "marks", ['"{}"', "\u201c{}\u201d", "\u00ab{}\u00bb", "\u300c{}\u300d", "'{}'", '"{}']
)
def test_every_kind_of_quotation_is_speech(marks: str) -> None:
    """Also one that is never closed."""
    turn = Turn("q", "DM", "dm", f"Mirela frowns. {marks.format('Mirela is a thief,')} says the guard.")
    update = Update(kind="npc", name="Mirela", field="role", value="thief", turn="q")
    answer = check_update(update, {"q": turn}, Table())
    assert isinstance(answer, Rejected)
    assert answer.rule == "quoted"


def test_a_name_in_quotation_marks_is_no_speech() -> None:
    """The inn "The Red Lion" is told by the DM."""
    assert stands("environment", "The Red Lion", "description", "inn", "e3").certainty == "fact"


@pytest.mark.parametrize("value", ["witch", "priest", "thief"])
def test_what_is_asked_denied_or_hearsay_is_no_fact(value: str) -> None:
    """The words stand there, and yet nobody says that it is so."""
    assert rule("npc", "Mirela", "role", value, "e3") == "unsupported"


def test_rumor_and_end_are_taken_as_such() -> None:
    """Hearsay may be kept as a rumor, and a denial as the end of something."""
    assert stands("npc", "Mirela", "role", "thief", "e3", sure="rumor").certainty == "rumor"
    assert stands("npc", "Mirela", "role", "priest", "e3", ended=True).certainty == "fact"


def test_quest_is_named_in_words_of_the_turn() -> None:
    """A quest has no name of its own, as long as nobody gives it one."""
    told = stands("quest", "the lost bell", "place", "Darkwood", "e3")
    assert told.subject == NameMention("the lost bell", "QST", None)


def test_ability_has_a_key_of_its_own() -> None:
    """A person may have several abilities."""
    assert stands("ability", "Mirela", "ability", "guards the Red Gate").key == "ability__guards_the_red_gate"


def test_names_without_capitals_stand_in_scripts_that_have_none() -> None:
    """A name is looked for inside a line that sets no spaces."""
    turn = Turn("j", "DM", "dm", "勇者は龍を倒した。")
    update = Update(kind="npc", name="勇者", field="status", value="倒した", turn="j")
    assert isinstance(check_update(update, {"j": turn}, Table()), Accepted)


# Many


GOOD = {"kind": "npc", "name": "Grimfang", "field": "role", "value": "chief", "turn": "e1"}


def test_the_same_fact_counts_once() -> None:
    """Said twice, in whatever case, it is one fact, and the second is no mistake."""
    accepted, rejected = check_all([GOOD, GOOD, {**GOOD, "value": "Chief"}], TURNS, Table())
    assert len(accepted) == 1
    assert rejected.total == 0


@pytest.mark.parametrize(
    "item",
    [
        None,
        5,
        "npc",
        [],
        {},
        {**GOOD, "kind": "god"},
        {**GOOD, "value": ""},
        {**GOOD, "uid": "npc_x_001"},
        object(),
    ],
)
def test_what_is_no_update_is_refused_by_its_shape(item: object) -> None:
    """Garbage among the proposals does not spoil the others."""
    accepted, rejected = check_all([item, GOOD], TURNS, Table())
    assert (len(accepted), rejected.counts) == (1, {"shape": 1})


def test_unvalidated_update_is_no_way_around() -> None:
    """An update built without validation is checked like any other."""
    made = Update.model_construct(**{**GOOD, "value": "x" * 9_999})  # type: ignore[arg-type]
    assert check_all([made], TURNS, Table())[1].counts == {"shape": 1}


def test_endless_proposals_are_cut_off() -> None:
    """A generator that never ends is read for a while; what it fails with is said."""

    def endless() -> Iterator[object]:
        number = 1000
        while True:
            number += 1
            yield {**GOOD, "value": f"chief {number}"}

    accepted, rejected = check_all(endless(), TURNS, Table(), most=20)
    assert accepted == []
    assert rejected.counts == {"unsupported": 200, "too_many": 1}
    assert len(rejected.kept) == 51

    def failing() -> Iterator[object]:
        yield GOOD
        raise OSError("the wire was cut")

    accepted, rejected = check_all(failing(), TURNS, Table())
    assert (len(accepted), rejected.counts) == (1, {"failed": 1})
    assert "the wire was cut" in rejected.kept[0].reason


def test_ten_thousand_updates_leave_a_bounded_trace() -> None:
    """At most so many are accepted, of each turn and of all; the rest is counted, and not kept."""
    turns = {f"t{n}": HALL._replace(id=f"t{n}") for n in range(1000)}
    many = [
        {**GOOD, "turn": f"t{n % 1000}", "field": field}
        for n, field in enumerate(["role", "status", "description", "race", "age"] * 2000)
    ]
    accepted, rejected = check_all(many, turns, Table(), most=100, most_per_turn=1)
    assert len(accepted) == 100
    assert rejected.counts["too_many"] == rejected.total > 1000
    assert len(rejected.kept) == 50
    words = "Grimfang, chief of the goblins, raises his axe".replace(",", "").split()
    several = [{**GOOD, "value": word.lower()} for word in words]
    assert len(check_all(several, TURNS, Table(), most_per_turn=2)[0]) == 2


names = st.one_of(st.sampled_from(["Grimfang", "Mirela", "Throk", "chief", "Darkwood", "e1"]), hostile_text)
updates = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(list(FIELDS)),
        "name": names,
        "field": st.sampled_from(sorted({field for each in FIELDS.values() for field in each})),
        "value": st.one_of(names, st.lists(st.sampled_from(HALL.text.split()), min_size=1).map(" ".join)),
        "turn": st.sampled_from(["e1", "e2", "e3", "e4"]),
    },
    optional={"said_by": names, "sure": st.just("rumor"), "ended": st.booleans()},
)


@given(st.lists(st.one_of(updates, hostile_text, st.integers()), max_size=20))
def test_nothing_that_is_accepted_is_unsupported(proposed: list[object]) -> None:
    """Accepted names and values always consist of words of the turn, and never contain an id."""
    accepted, rejected = check_all(proposed, TURNS, Table())
    for one in accepted:
        turn = TURNS[one.update.turn]
        said = {stem(word) for word in words_of(f"{turn.speaker} {turn.text}")}
        told = set(words_of(f"{one.update.name} {one.update.value}")) - FUNCTION_WORDS
        assert {stem(word) for word in told} <= said
        assert not any(uids_of(f"{one.update.name} {one.update.value}"))
        assert one.certainty != "fact" or turn.role == "dm"
    for refusal in rejected.kept:
        assert refusal.reason.isprintable()
        assert len(str(refusal)) < 2_000


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("You meet Garth Mirela, the smith of the town.", False),
        ("You meet Mirela Holt, the smith of the town.", False),
        ("You meet Captain Mirela, the smith of the town.", True),
        ("Then Mirela, the smith, comes in.", True),
        ("You meet Garth Mirela. Mirela is the smith.", True),
    ],
)
def test_a_part_of_a_longer_name_is_not_who_is_known_by_it(text: str, *, stands: bool) -> None:
    """A fact about Garth Mirela is not a fact about the known Mirela."""
    update = Update(kind="npc", name="Mirela", field="role", value="smith", turn="x")
    found = check_update(update, {"x": Turn("x", "DM", "dm", text)}, Table())
    assert isinstance(found, Accepted) is stands
