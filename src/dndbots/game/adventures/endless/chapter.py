"""Endless adventures: chapter after chapter, each a small region with people, quests and foes.

A chapter is a pure function of a seed and its number. It is a module like any other and passes the same
checks. Its words come from the tables beside this package.
"""

from typing import Any, Final

from dndbots.errors import InvalidSetting
from dndbots.game.adventures.endless.deck import Deck, deal, fill_blanks
from dndbots.game.adventures.endless.plots import KINDS
from dndbots.game.adventures.endless.region import Region, Someone, add_person, make_region, pick_foes
from dndbots.game.adventures.module import Module

LICENCE: Final = "CC-BY-4.0"
# Kinds for a second quest beside the first.
_BESIDE: Final = {
    "fetch": ("slay", "rescue"),
    "rescue": ("fetch",),
    "slay": ("fetch",),
    "who": ("slay", "rescue", "fetch"),
    "message": ("slay", "fetch", "rescue"),
    "sides": ("slay", "rescue", "fetch"),
}
_TWO_QUESTS: Final = 0.6
_LIES: Final = 0.15
_AT_CAMP: Final = frozenset({"message", "sides"})


def make_chapter(seed: int, number: int) -> Module:
    """Return the chapter of a number, counted from 0 without end: always the same for a seed."""
    if number < 0:
        raise InvalidSetting("number", number, reason="is not a chapter number; chapters count from 0")
    deck = Deck(seed, number)
    kinds = _kinds(deck)
    region = make_region(deck, _parts(deck, kinds))
    _cast(region, kinds)
    for who in region.cast:
        _talk(region, who)
    _happenings(region)
    return _module(region)


def _kinds(deck: Deck) -> list[str]:
    """Return one or two kinds of quests. The first differs from that of the chapter before."""
    kind = deal(deck.seed, "kinds", deck.number, tuple(KINDS))
    return [kind, deck.rng.choice(_BESIDE[kind])] if deck.rng.random() < _TWO_QUESTS else [kind]


def _parts(deck: Deck, kinds: list[str]) -> tuple[str, ...]:
    """Return the kinds of places in the region."""
    parts = ["town", "road", "wilds", "ruin", "deep", "lair"]
    if _AT_CAMP & set(kinds) or deck.rng.random() < 0.5:
        parts.append("camp")
    parts += [part for part in ("inn", "far") if deck.rng.random() < 0.6]
    return tuple(parts)


def _cast(region: Region, kinds: list[str]) -> None:
    """Add the people of the region and their quests."""
    giver = add_person(region, "town")
    rival = add_person(region, "inn" if "inn" in region.parts else "road")
    friend = add_person(region, "camp" if "camp" in region.parts else "road")
    for kind in kinds:
        main = kind is kinds[0]
        who = giver if main else rival
        others: dict[str, Someone] = {}
        if kind in ("fetch", "message", "who"):
            others = {"rival": rival if main else giver, "friend": friend}
        if kind == "who":
            others["innocent"] = add_person(region, "town")
        if kind == "sides":
            others = {"rival": friend}
        if kind == "rescue":
            others = {"captive": add_person(region, "lair")}
        KINDS[kind](region, giver=who, **others)
    if len(region.cast) < 5 and region.deck.rng.random() < 0.6:
        add_person(region, region.deck.rng.choice(["town", "road", "wilds"]))


def _talk(region: Region, who: Someone) -> None:
    """Add what a person says: news, opinions of others, rumours and the way on."""
    deck, person = region.deck, region.people[who.key]
    others = [other for other in region.cast if other != who]
    deck.rng.shuffle(others)
    words = region.words(place=region.elsewhere(), other=others[0].name)
    for field in ("wants", "secret"):
        person[field] = fill_blanks(deck.draw(f"people.{field}", of=6), words)
    person["knows"] += [_news(region, who, others)]
    person["knows"] += [_tie(region, who, other) for other in others[:3]]
    person["knows"] += [_rumour(region, others[0])]
    if deck.rng.random() < 0.5:
        on = fill_blanks(deck.draw("people.road", of=3), region.words())
        person["knows"].append({"about": [region.words()["next"].lower(), "the road"], "says": on})
    for deed in ("killed", "spared"):
        said = deck.draw(f"people.reacts.{deed}", of=2)
        person["reacts"].append({"when": f"{deed} {region.foes['lair']}", "says": said, "trust": 1})


def _news(region: Region, who: Someone, others: list[Someone]) -> dict[str, Any]:
    """Return news that mentions two more people and where to find them."""
    deck, place = region.deck, region.elsewhere()
    line = fill_blanks(deck.draw("people.news", of=6), region.words(place=place))
    pointed = " ".join(
        fill_blanks(
            deck.draw("people.points", of=12), {"other": other.name, "place": region.names[other.part]}
        )
        for other in others[:2]
    )
    topics = [*(other.topic for other in others[:2]), place.lower(), "rumours", "the road"]
    return {
        "about": ["news"],
        "says": f"{line} {pointed}",
        "topics": [*topics, *region.talk.get(who.key, [])],
    }


def _tie(region: Region, who: Someone, other: Someone) -> dict[str, Any]:
    """Return what a person thinks of another. Some of it is a lie, and some only friends hear."""
    deck = region.deck
    words = region.words(other=other.name, short=other.given, by=who.name, place=region.elsewhere())
    says, _, fact = deck.draw("people.ties", of=12).partition(" | ")
    word, _, value = fact.format_map(words).partition("=")
    return {
        "about": [other.topic],
        "says": fill_blanks(says, words),
        "teaches": [{"about": other.key, "is": {word: value}}],
        "lie": deck.rng.random() < _LIES,
        "needs": deck.rng.choice([0, 0, 0, 4, 6]),
    }


def _rumour(region: Region, other: Someone) -> dict[str, Any]:
    """Return a true or false rumour about a place."""
    kind = region.deck.rng.choice(["true", "false"])
    place = region.elsewhere()
    line = region.deck.draw(f"people.rumour.{kind}", of=3)
    return {
        "about": ["rumours", place.lower()],
        "says": fill_blanks(line, region.words(place=place, other=other.name)),
        "lie": kind == "false",
        "topics": [place.lower()],
    }


def _happenings(region: Region) -> None:
    """Add an omen, and often a raid on the road unless somebody stops the foes of the lair."""
    deck = region.deck
    thread = {"kind": "mystery", "text": deck.draw("plots.happening.mystery")}
    soon = deck.rng.randint(8, 30)
    omen = {"when": f"rounds {soon}", "text": deck.draw("plots.happening.omen"), "thread": thread}
    region.happenings.append(omen)
    if deck.rng.random() < 0.7:
        lair = region.at("lair")["foes"][region.foes["lair"]]
        _, number = pick_foes(region, (lair["monster"],))
        raiders = {
            "key": region.key("raiders"),
            "monster": lair["monster"],
            "number": number,
            "name": lair["name"],
        }
        region.happenings.append(
            {
                "when": f"rounds {soon + deck.rng.randint(30, 90)} and not killed {region.foes['lair']} "
                f"and not spared {region.foes['lair']}",
                "text": deck.draw("plots.happening.raid"),
                "foes": {region.keys["road"]: raiders},
                "thread": {"kind": "threat", "text": deck.draw("plots.happening.raid_thread")},
            }
        )


def _module(region: Region) -> Module:
    """Return the region as a module."""
    number, level = region.deck.number, region.level
    words = region.words()
    return Module.model_validate(
        {
            "key": f"chapter_{number}",
            "title": f"Chapter {number + 1}: {region.names['town']}",
            "licence": LICENCE,
            "levels": f"{level}-{level + 1}",
            "opening": fill_blanks(region.deck.draw("plots.opening"), words),
            "start": region.keys["town"],
            "places": region.places,
            "people": region.people,
            "items": region.items,
            "quests": region.quests,
            "happenings": region.happenings,
        }
    )
