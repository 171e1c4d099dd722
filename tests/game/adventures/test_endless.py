"""Endless chapters: always the same, always sound, never the same people twice."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dndbots.errors import InvalidSetting
from dndbots.game.adventures import Module, load, make_chapter, module_checks, reachability, render_module
from dndbots.game.adventures.endless.deck import read_table
from dndbots.rules.fights.monsters import monster

SEEDS = st.integers(-(2**40), 2**40)
NUMBERS = st.integers(0, 3_000)


def problems(module: Module) -> list[object]:
    return [*module_checks.find_problems(module), *reachability.find_unreachable(module)]


@given(SEEDS, NUMBERS)
def test_a_chapter_is_the_same_each_time(seed: int, number: int) -> None:
    """A chapter depends on seed and number alone: no clock, no chance, no chapters before it."""
    assert make_chapter(seed, number) == make_chapter(seed, number)
    assert make_chapter(seed, number) != make_chapter(seed + 1, number)


@given(SEEDS, NUMBERS)
def test_a_chapter_passes_all_checks(seed: int, number: int) -> None:
    """Keys, dice, conditions, names, and that all can be reached: the checks of any module."""
    assert not problems(make_chapter(seed, number))


@pytest.fixture(scope="module")
def thousand() -> list[Module]:
    return [make_chapter(7, number) for number in range(1_000)]


def test_hundreds_of_chapters_in_a_row_pass_all_checks(thousand: list[Module]) -> None:
    """As a soak test plays them."""
    assert not [(module.title, found) for module in thousand[:200] for found in problems(module)]


@settings(max_examples=20)
@given(SEEDS, NUMBERS)
def test_a_chapter_can_be_written_and_read(seed: int, number: int) -> None:
    """A chapter is a module like any other: its text loads as the same one."""
    module = make_chapter(seed, number)
    assert load(render_module(module)) == module


@given(SEEDS, NUMBERS)
def test_a_chapter_is_a_small_region_with_something_of_everything(seed: int, number: int) -> None:
    """Places, people, quests with several endings, a trap, hidden things, rumours, and time that passes."""
    module = make_chapter(seed, number)
    things = module.things.values()
    sayings = [saying for person in module.people.values() for saying in person.knows]
    assert 5 <= len(module.places) <= 9
    assert 3 <= len(module.people) <= 6
    assert 1 <= len(module.quests) <= 2
    assert all(2 <= len(quest.endings) <= 3 for quest in module.quests.values())
    assert all(len({end.state for end in quest.endings.values()}) > 1 for quest in module.quests.values())
    assert module.places[module.start].safe
    assert any(place.dark for place in module.places.values())
    assert any(thing.trap for thing in things)
    assert any(thing.hidden for thing in things)
    assert any(place.wandering for place in module.places.values())
    assert 1 <= len(module.happenings) <= 2
    assert all(person.wants and person.secret for person in module.people.values())
    assert all(any("rumours" in one.about for one in person.knows) for person in module.people.values())
    assert any(saying.teaches for saying in sayings)


def test_some_of_what_is_said_is_false() -> None:
    """Lies are told, but not by everybody and not always."""
    sayings = [
        one for n in range(50) for person in make_chapter(3, n).people.values() for one in person.knows
    ]
    assert 0.05 < sum(one.lie for one in sayings) / len(sayings) < 0.3


def unheard(module: Module) -> Iterator[str]:
    """Return the texts that reach a party without anybody saying them."""
    yield module.opening or ""
    yield from (happening.text for happening in module.happenings)
    for place in module.places.values():
        yield from (place.name, *place.looks, *place.again, *place.sounds, *place.exits)
        yield from (thing.looks for thing in place.things.values())
        yield from (foes.name or "" for foes in place.foes.values())
    yield from (person.seen_as for person in module.people.values())


@given(SEEDS, NUMBERS)
def test_nobody_is_named_before_somebody_says_the_name(seed: int, number: int) -> None:
    """No look, no sound and no happening gives a name away, nor does the opening."""
    module = make_chapter(seed, number)
    names = {word for person in module.people.values() for word in person.name.split()}
    told = set(re.findall(r"\w+", " ".join(unheard(module))))
    assert not names & told


@given(SEEDS, NUMBERS)
def test_a_quest_names_only_whom_its_offer_named(seed: int, number: int) -> None:
    """Goal, steps and endings speak of people in the words of the offer; the names of quests too."""
    module = make_chapter(seed, number)
    names = {person.name for person in module.people.values()}
    for quest in module.quests.values():
        told = f"{quest.offer} {module.people[quest.giver or ''].name}"
        later = [quest.name, quest.goal, *(step.text for step in quest.steps.values())]
        later += [ending.text for ending in quest.endings.values()]
        named = {name for name in names if any(name in (text or "") for text in later)}
        assert named <= {name for name in names if name in told}


def test_names_do_not_come_back(thousand: list[Module]) -> None:
    """In a thousand chapters no person, no given name and no place comes twice."""
    people = [person.name for module in thousand for person in module.people.values()]
    places = [place.name for module in thousand for place in module.places.values()]
    assert [name for name, times in Counter(people).items() if times > 1] == []
    assert [name for name, times in Counter(name.split()[0] for name in people).items() if times > 1] == []
    assert [name for name, times in Counter(places).items() if times > 1] == []


def test_texts_are_varied(thousand: list[Module]) -> None:
    """No look of a place is told more often than once in twenty chapters, and most are told once or twice."""
    looks = Counter(look for module in thousand for place in module.places.values() for look in place.looks)
    assert max(looks.values()) <= 50
    assert len(looks) > len(thousand) * 3


def test_no_quest_comes_twice_in_a_hundred_chapters(thousand: list[Module]) -> None:
    """Neither its name nor its goal; nor its offer, whatever people and places it is about."""
    told: dict[str, int] = {}
    for number, module in enumerate(thousand):
        for quest in module.quests.values():
            for text in (quest.name, quest.goal, blanked(module, quest.offer)):
                assert number - told.get(text, -100) >= 100, text
                told[text] = number


def blanked(module: Module, text: str) -> str:
    """Return a text without names and without what its quest turns on."""
    named = [*module.people.values(), *module.places.values(), *module.items.values(), *module.foes.values()]
    about = [*(one.name or "" for one in named), *read_table("plots.who.deed")]
    about += read_table("plots.sides.matter")
    names = "|".join(map(re.escape, sorted(filter(None, about), key=len, reverse=True)))
    return re.sub(rf"(?i:{names})|the [A-Z][\w'-]+ [A-Z][\w'-]+", "…", text)


@given(SEEDS, NUMBERS)
def test_neighbours_are_not_alike(seed: int, number: int) -> None:
    """Two chapters that follow each other share no name, no first kind of quest and no look of a town."""
    one, other = make_chapter(seed, number), make_chapter(seed, number + 1)
    words = [
        {word for person in module.people.values() for word in person.name.split()} for module in (one, other)
    ]
    assert not words[0] & words[1]
    assert not set(one.people) & set(other.people)
    assert not set(one.places) & set(other.places)
    assert next(iter(one.quests)).split("_")[0] != next(iter(other.quests)).split("_")[0]
    assert one.places[one.start].looks != other.places[other.start].looks


@given(SEEDS, st.integers(1, 3_000))
def test_the_road_leads_from_one_chapter_to_the_next(seed: int, number: int) -> None:
    """The opening tells of the town of the chapter before, and of this one."""
    before, here = make_chapter(seed, number - 1), make_chapter(seed, number)
    assert here.opening
    assert before.places[before.start].name in here.opening
    assert here.places[here.start].name in here.opening


def test_foes_grow_with_the_party_and_then_level_off() -> None:
    """Levels rise with the chapters up to a highest one; foes match them."""
    levels = [make_chapter(5, number).level_range[0] for number in range(60)]
    assert levels == sorted(levels)
    assert (levels[0], levels[-1]) == (1, levels[-20])
    for number in range(60):
        module = make_chapter(5, number)
        hardest = max(monster(foes.monster).level for foes in module.foes.values())
        assert hardest <= module.level_range[0] + 1


def test_chapters_are_counted_from_zero() -> None:
    """A negative number is refused with the remedy."""
    with pytest.raises(InvalidSetting, match="count from 0"):
        make_chapter(1, -1)


def test_there_are_names_for_thousands_of_chapters() -> None:
    """The tables of names are large enough, and hold no name twice."""
    given_names = read_table("names.given")
    assert len(given_names) > 20_000
    assert len(set(given_names)) == len(given_names)
