"""Phrases of the house bots: repeatable for a pick, varied in a row, never broken."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import hostile_text

from dndbots.canon.cues import cue_in
from dndbots.game.phrases import Phrasebook, PhraseError, Pick, _tidy, house_phrases

BOOK = house_phrases()
FRESH = house_phrases.__wrapped__()
MOST_OPTIONS = 8
T = TypeVar("T")
VALUES = {
    "class": "thief",
    "count": "three",
    "foe": "an ash goblin",
    "foes": "three ash goblins",
    "friend": "Zara",
    "friends": "Zara and Ilse",
    "gold": "12",
    "level": "2",
    "says": "The bell rang twice.",
    "others": "Zara and Ilse",
    "people": "an old ferryman and a boy",
    "text": "Somebody still owes the miller a goose",
    "thing": "a loose hearthstone",
    "title": "The Long Thaw",
    "topic": "bell",
    "trap": "a dart from the keyhole",
    "way": "north",
    "other": "cellar stairs",
    "ways": "north, the cellar stairs and down",
    "what": "the miller lied about the bell",
    "who": "Throk",
    "weapon": "longsword",
}
keys = st.sampled_from(BOOK.names)
picks = st.builds(Pick, st.text(max_size=9), st.integers(min_value=0, max_value=10_000))


def values_for(key: str) -> dict[str, str]:
    return {slot: VALUES.get(slot, slot.capitalize()) for slot in BOOK.slots(key)}


def book_of(*lines: str, **more: str) -> Phrasebook:
    return Phrasebook({"test.txt": "\n".join(lines), **more})


# Rules that callers rely on. A star: every temper has lines of its own.
TEMPERS = ["brave", "careful", "curious", "greedy", "kind", "wry"]
PLAYERS = """
greet {npc}; ask {npc} {topic}; ask_news {npc}; go {way}*; agree {way} {leader}*; disagree {way} {other}*;
stay*; grumble {way}; search*; look {thing}; take {thing}*; open {thing}; attack {foe}*; attack_last {foe};
cast {spell} {target}; cast_self {spell}; heal {friend}; bind {friend}; hurt*; flee {foe}*; parley {foe}*;
bribe {foe} {gold}; victory {foe}*; friend_down {friend}*; friend_dead {friend}*; rest*;
tell_intro {friends}; tell_place {place} {what}; tell_found {thing}; tell_fight {foe} {place};
tell_heard {who} {what}; tell_death {who}; believe {friend}*; doubt {friend}*;
whisper_secret {friend} {what}; accept {npc} {quest}*; refuse {npc} {quest}*; done {quest};
promise {npc} {what}; recall_promise {npc} {what}; callback {who} {what}; banter {friend}*;
banter_reply {friend}*; idle*; wonder {topic}; remember_place {place}; part {friend}; reunite {friends};
dark; levelled; hello {name} {class}; mourn {friend}; share {what}; thanks {friend}; warn {foe}; plan {way}
"""
DM = """
return_to {place}; ways {ways}; here {people}; sound {sound}; search_nothing {who};
search_found {who} {thing}; close_look {who} {thing}; nothing_more {thing}; taken {who} {what};
locked {way}; picked {who} {way}; unlocked {who} {way} {item}; stuck {way}; forced {who} {way};
hidden_way {who} {way}; trap {who} {trap}; trap_dodged {who} {trap}; answers {npc} {says};
does_not_know {npc} {topic}; wont_say {npc} {topic}; warms {npc}; cools {npc}; meets {people};
approach {foes}; ambush {foes}; surprised {foes}; wary {foes}; friendly {foes}; talks {foes} {says};
hit {who} {foe} {weapon}; miss {who} {foe} {weapon}; kill {who} {foe} {weapon}; fumble {who};
great_hit {who} {foe}; foe_hit {foe} {who}; foe_miss {foe} {who}; foes_flee {foes}; foes_yield {foes};
fight_won {foes}; fled {who}; spell {who} {spell}; spell_fails {who} {spell}; falls {who}; dying {who};
holds_on {who}; steadied {who} {friend}; dies {who}; dead_party {place}; rests {place};
broken_rest {place}; night {place}; dawn {place}; light_low {who}; light_out {who};
leave {who} {way} {place}; leave_unnamed {who} {way}; comes {who} {place}; arrive {place};
part_ways {who} {others}; meet_again {who} {others}; offers {npc} {quest}; step {quest} {text};
ended {quest}; returns {npc};
remembered {npc} {deed}; thread {text}; newcomer {who} {class}; chapter {title}; waits {place};
levels {who} {level}; loot {who} {what}; nothing_there {what};
foe_threat {foe}; foe_yield {foe}; foe_bargain {foe} {gold}
"""


@pytest.mark.parametrize("entry", [entry.strip() for entry in f"{PLAYERS};{DM}".split(";")])
def test_the_rules_that_bots_use_are_there(entry: str) -> None:
    """Every rule that a bot asks for takes the slots that it gives, and repeats itself late."""
    key, *slots = re.findall(r"[a-z_]+", entry)
    assert BOOK.slots(key) == set(slots)
    assert BOOK.alternatives(key) >= 6
    if entry.endswith("*"):
        assert {f"{key}.{temper}" for temper in TEMPERS} <= set(BOOK.names)


class Always(random.Random):
    """Chance that always takes the option of the same number, so that each is taken once."""

    def __init__(self, number: int) -> None:
        super().__init__(0)
        self._number = number

    def choice(self, seq: Sequence[T]) -> T:
        return seq[self._number % len(seq)]


CHANCES = [Always(number) for number in range(MOST_OPTIONS)]


@pytest.mark.parametrize("key", [key for key in BOOK.names if not key.startswith("word_")])
def test_every_alternative_of_every_rule_reads_as_sentences(key: str) -> None:
    """No alternative, no choice inside one, leaves markup behind or breaks off: all can be shown."""
    values = values_for(key)
    for line in BOOK._find(key).lines:
        for chance in CHANCES:
            said = _tidy(BOOK._expand(line.parts, values, chance, line.needs))
            assert not re.search(r"[\[\]{}<>|]|  | [.,!?;:]|(?<!\.)\.\.(?!\.)|,\.", said), said
            assert re.match(r'"?[A-Z0-9]', said), said
            assert re.search(r'[.!?…]"?$', said), said
            assert said.count('"') % 2 == 0, said


@given(key=keys, pick=picks)
def test_same_pick_says_the_same(key: str, pick: Pick) -> None:
    """A text follows from its arguments alone: a fresh book says it, too."""
    said = BOOK.say(key, pick=pick, **values_for(key))
    assert said == FRESH.say(key, pick=Pick(pick.seed, pick.count), **values_for(key))


@given(seed=st.text(max_size=9), start=st.integers(min_value=0, max_value=999), size=st.integers(1, 12))
def test_alternatives_take_turns(seed: str, start: int, size: int) -> None:
    """None returns before all were used, wherever the counting begins."""
    book = book_of("word", *(f"  Line {number}." for number in range(size)))
    said = [book.say("word", pick=Pick(seed, start + step)) for step in range(size * 2)]
    assert len(set(said[:size])) == size
    assert said[:size] == said[size:]


@given(value=hostile_text, pick=picks)
def test_values_are_never_expanded(value: str, pick: Pick) -> None:
    """Brackets, rule names and slots inside a value are nothing but text."""
    book = book_of("shout {what} {who}", '  {who}: "{what}"', "oath", "  Oh.")
    for hostile in (value, f"{{who}} <oath> [{value}|b]  c", "[", "{what"):
        said = book.say("shout", pick=pick, what=hostile, who="Zara")
        assert said == f'Zara: "{hostile}"'


def test_a_variant_that_nobody_wrote_is_the_plain_rule() -> None:
    """A temper without words of its own uses the plain rule."""
    book = book_of("greet", "  Hello.", "greet.wry", "  You again.")
    assert book.say("greet.brave", pick=Pick("s", 0)) == "Hello."
    assert book.say("greet.wry", pick=Pick("s", 0)) == "You again."
    assert book.has("greet.brave")
    assert not book.has("part.brave")


def test_a_variant_may_add_to_the_plain_rule() -> None:
    """With a plus, a temper has its own lines and everybody's."""
    book = book_of("greet", "  Hello.", "greet.wry +", "  You again.")
    assert {book.say("greet.wry", pick=Pick("s", count)) for count in range(2)} == {"Hello.", "You again."}


@pytest.mark.parametrize(
    ("form", "value", "said"),
    [
        ("{A thing}", "loose stone", "A loose stone"),
        ("{A thing}", "iron key", "An iron key"),
        ("{A thing}", "the old key", "The old key"),
        ("{A thing}", "two keys", "Two keys"),
        ("{The thing}", "a loose stone", "The loose stone"),
        ("{The thing}", "The Broken Mill", "The Broken Mill"),
        ("{The thing}", "Saltmarsh", "Saltmarsh"),
        ("{The thing}", "his hat", "His hat"),
        ("{Route thing}", "north", "The way north"),
        ("{Route thing}", "northeast", "The way northeast"),
        ("{Route thing}", "down the well", "The way down the well"),
        ("{Route thing}", "onto the bridge", "The way onto the bridge"),
        ("{Route thing}", "overgrown path", "The overgrown path"),
        ("{Route thing}", "a cellar door", "The cellar door"),
        ("{Route thing}", "inner door", "The inner door"),
        ("{thing:Runs|Run}", "Throk", "Runs"),
        ("{thing:Runs|Run}", "Throk and Zara", "Run"),
    ],
)
def test_articles_and_verbs_follow_the_value(form: str, value: str, said: str) -> None:
    """The same line serves a name, a thing and a direction."""
    assert book_of("look {thing}", f"  {form}.").say("look", pick=Pick("s", 0), thing=value) == f"{said}."


@pytest.mark.parametrize(
    ("line", "value", "said"),
    [
        ('"{what}."', "The bell rang.", '"The bell rang."'),
        ('"{what}."', "the bell", '"the bell."'),
        ("A [|] day, {what}[|].", "Zara", "A day, Zara."),
        ("It rains [|].", "", "It rains."),
    ],
)
def test_joints_are_smooth(line: str, value: str, said: str) -> None:
    """Empty choices leave no gap, and a sentence is not ended twice."""
    assert book_of("tell {what}", f"  {line}").say("tell", pick=Pick("s", 0), what=value) == said


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["  Hello."], "before the first rule"),
        (["Greet!", "  Hello."], "does not name a rule"),
        (["greet", "part", "  Bye."], "has no alternatives"),
        (["greet", "  Hello {npc}."], "no slot 'npc'"),
        (["greet", "  <oath> Hello."], "does not exist; add it"),
        (["greet", "  [Hello|Hi."], "never closed"),
        (["greet", "  Hello]."], "is not allowed there"),
        (["greet", "  Hello { you }."], "is not allowed there"),
        (["greet", "  <greet>"], "uses itself"),
        (["greet", "  <oath>", "oath {npc}", "  By {npc}!"], "needs slots"),
        (["greet.wry", "  You again."], "a rule that does not exist"),
        (["greet", "  Hello.", "greet", "  Hi."], "exists twice"),
    ],
)
def test_mistakes_in_the_words_are_found_when_they_are_read(lines: list[str], reason: str) -> None:
    """A bad rule never waits for somebody to say it."""
    with pytest.raises(PhraseError, match=reason):
        book_of(*lines)


def test_a_missing_value_is_an_error_whatever_is_picked() -> None:
    """A call that forgets a slot fails at once, not when chance finds the line that uses it."""
    book = book_of("greet {npc}", "  Hello.")
    with pytest.raises(PhraseError, match="npc"):
        book.say("greet", pick=Pick("s", 0))
    with pytest.raises(PhraseError, match="part"):
        book.say("part", pick=Pick("s", 0))


@pytest.mark.parametrize("key", ["promise", "recall_promise"])
def test_a_promise_reads_as_one(key: str) -> None:
    """Every promise line contains the word that promise tracking looks for."""
    for count in range(BOOK.alternatives(key)):
        said = BOOK.say(key, pick=Pick("seed", count), **values_for(key))
        assert re.search(r"\b([Pp]romised?|[Mm]y word|swear)\b", said), said


@pytest.mark.parametrize("key", [key for key in BOOK.names if not key.startswith("promise")])
def test_small_talk_opens_no_thread(key: str) -> None:
    """A joke about a debt would stand under "Still open" for the rest of the campaign."""
    values = values_for(key)
    for line in BOOK._find(key).lines:
        for chance in CHANCES:
            said = _tidy(BOOK._expand(line.parts, values, chance, line.needs))
            assert cue_in(said) is None, said


def test_an_alternative_is_only_said_where_it_fits() -> None:
    """No rain in a week of snow: tags name what a setting must have, one of each kind."""
    book = Phrasebook(
        {"a.txt": "waits\n  It rains. @outdoors @rain\n  It snows. @outdoors @snow\n  Time passes.\n"}
    )
    snowy = frozenset(("outdoors", "snow", "winter", "night"))
    said = {book.say("waits", pick=Pick("s", count), setting=snowy) for count in range(9)}
    assert said == {"It snows.", "Time passes."}
    assert {book.say("waits", pick=Pick("s", count)) for count in range(9)} == {"Time passes."}


def test_the_alternative_used_least_is_said_next() -> None:
    """A rule does not repeat itself before all of its alternatives were said."""
    book = Phrasebook({"a.txt": "go\n  One.\n  Two.\n  Three.\n\ngo.wry +\n  Four.\n"})
    used: Counter[str] = Counter()
    said = []
    for _ in range(4):
        text, name = book.say_next("go.wry", seed="s", used=used)
        used[name] += 1
        said.append(text)
    assert sorted(said) == ["Four.", "One.", "Three.", "Two."]


def test_an_unknown_tag_is_an_error_with_its_place() -> None:
    with pytest.raises(PhraseError, match=r"a\.txt, line 2.*'hail'"):
        Phrasebook({"a.txt": "waits\n  It hails. @hail\n"})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("Throk", "Throk goes."),
        ("Throk and Zara", "Throk and Zara go."),
        ("you", "You go."),
        ("four portraits of Wardens", "Four portraits of Wardens go."),
        ("a glass case", "A glass case goes."),
        ("two of the five goblins", "Two of the five goblins go."),
        ("one of the five goblins", "One of the five goblins goes."),
        ("tin mugs", "Tin mugs go."),
    ],
)
def test_a_verb_agrees_with_its_subject(value: str, said: str) -> None:
    """One goes, several go: pairs of names, counted groups, plain plurals and "you"."""
    book = Phrasebook({"x": "walk {who}\n  {Who} {who:goes|go}.\n"})
    assert book.say("walk", pick=Pick(seed="s", count=0), who=value) == said
