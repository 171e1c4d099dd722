"""The included adventures are worth playing: decisions count, and no place reveals the whole mystery."""

import re

import pytest

from dndbots.game.adventures import Module, list_shipped, load_named
from dndbots.game.adventures.reachability import Reachability
from dndbots.game.phrases import Pick, house_phrases

LONG = ["apples_in_january", "the_unpaid_bridge"]


@pytest.fixture(params=LONG)
def module(request: pytest.FixtureRequest) -> Module:
    return load_named(request.param)


def test_the_stories_are_on_board() -> None:
    """The list of included modules has them."""
    assert set(LONG) <= set(list_shipped())


def test_there_is_a_town_and_an_underground(module: Module) -> None:
    """Somewhere to rest and be told things, and somewhere to need a light."""
    assert any(place.safe and place.people for place in module.places.values())
    assert sum(place.dark for place in module.places.values()) >= 4


def test_every_quest_may_end_in_several_ways(module: Module) -> None:
    """What the party decides makes a difference, and no ending is out of reach."""
    possible = Reachability(module)
    for quest in module.quests.values():
        assert len({ending.state for ending in quest.endings.values()}) >= 2
        assert all(possible.ended(quest.key, ending) for ending in quest.endings)


def test_every_lock_has_its_key_somewhere(module: Module) -> None:
    """A party without a thief can come everywhere."""
    held = {key for thing in module.things.values() for key in thing.items}
    locked = {way.locked for ways in module.ways.values() for way in ways.values() if way.locked}
    assert locked
    assert locked <= held


def test_whoever_lies_may_be_found_out(module: Module) -> None:
    """Some other person or thing also brings up whatever a liar lies about."""
    for liar in module.people.values():
        for saying in (saying for saying in liar.knows if saying.lie):
            others = {
                topic
                for person in module.people.values()
                for other in person.knows
                if not other.lie
                for topic in (*other.about, *other.topics)
            }
            things = {topic for thing in module.things.values() for topic in thing.topics}
            assert set(saying.about) & (others | things), saying.says


def test_no_one_place_tells_the_whole_mystery(module: Module) -> None:
    """Clues lie in many places: split parties learn different halves."""
    learned = {place: facts_at(module, place) for place in module.places}
    everything = set().union(*learned.values())
    assert sum(map(bool, learned.values())) >= 6
    assert all(len(facts) < len(everything) / 2 for facts in learned.values())


def facts_at(module: Module, key: str) -> set[tuple[str, str]]:
    """Return the facts that things and people of a place teach, each by subject and words."""
    place = module.places[key]
    told = [saying.teaches for who in place.people for saying in module.people[who].knows]
    led = [module.people[foes.leader] for foes in place.foes.values() if foes.leader]
    told += [saying.teaches for person in led for saying in person.knows]
    seen = [thing.teaches for thing in place.things.values()]
    facts = [fact for facts in (*told, *seen) for fact in facts]
    return {(fact.about, value) for fact in facts for value in fact.properties.values()}


def test_what_the_stories_name_fits_into_what_bots_say(module: Module) -> None:
    """Ways, things and topics read as English in a bot's mouth, with one article each."""
    say, pick = house_phrases().say, Pick("seed", 0)
    ways = [say("agree", pick=pick, way=way, leader="Zara") for ways in module.ways.values() for way in ways]
    looks = [say("look", pick=pick, thing=thing.looks) for thing in module.things.values()]
    asked = {topic for who in module.people.values() for saying in who.knows for topic in saying.about}
    topics = [say("wonder", pick=pick, topic=topic) for topic in asked]
    for said in (*ways, *looks, *topics):
        assert not re.search(r"\b(a|an|the) (a|an|the)\b", said, re.IGNORECASE), said
