"""Foes: how they take to the party, what talk and gold can do, and what the dead leave behind."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.events import EventType
from dndbots.game.adventures.values import Foes, Place, Wanderers
from dndbots.game.house.places import a, listed
from dndbots.game.house.searching import people_of, shares, sheets_of
from dndbots.game.house.telling import Telling
from dndbots.game.house.world import beat
from dndbots.game.pieces import Waiting
from dndbots.game.played import Foes as Group
from dndbots.game.referee import begin_fight, end_fight
from dndbots.game.referee.meeting import gone_from, met_at
from dndbots.game.referee.telling import dice
from dndbots.ids import opaque_slug
from dndbots.rules.checks import surprise
from dndbots.rules.dice import roll
from dndbots.rules.monsters import monster
from dndbots.rules.reactions import Attitude, Reaction, reaction

_MOST: Final = 40
_FIGHTS: Final = frozenset((Attitude.ATTACKING, Attitude.HOSTILE))
_PEACE: Final = frozenset((Attitude.OPEN, Attitude.FRIENDLY))
_RESTLESS: Final = 0.2  # how often foes who only watched make up their minds
_EVERY: Final = 3  # rounds between looks for who comes by
_PRICE: Final = 5


def meet(telling: Telling, place: Place, uid: str) -> None:
    """The foes at a place notice the party: all who want blood come at once, the others each in their way."""
    world = telling.world
    attacking: dict[str, Group] = {}
    for foes in list(world.foes(place)):
        mood, made = _mood(telling, uid, foes)
        if mood in _FIGHTS:
            attacking[telling.atlas.uid("mon", foes.key)] = _group(telling, foes)
        elif mood in _PEACE:
            _make_peace(telling, place, uid, foes, rolls=made)
        elif not world.came("wary", foes.key):
            _stand_off(telling, place, uid, foes, rolls=made)
    if attacking:
        _attack(telling, uid, attacking)


def _mood(telling: Telling, uid: str, foes: Foes) -> tuple[Attitude, list[JsonValue]]:
    """What foes make of the party now. Who is wary stays so for a while."""
    watched = telling.world.came("wary", foes.key)
    if watched and telling.rng.random() >= _RESTLESS:
        return Attitude.WARY, []
    if foes.mood == "hostile":
        return Attitude.HOSTILE, []
    if foes.mood == "friendly":
        return Attitude.FRIENDLY, []
    if foes.mood == "wary" and not watched:
        return Attitude.WARY, []
    made = _reaction(telling, telling.step.table.together(uid))
    return made.attitude, dice(made)


def _reaction(telling: Telling, who: Sequence[str], *, bonus: int = 0) -> Reaction:
    charisma = max((sheet.stats.cha for sheet in sheets_of(telling, who)), default=10)
    return reaction(rng=telling.rng, charisma=charisma, bonus=bonus)


def _group(telling: Telling, foes: Wanderers, uid: str | None = None) -> Group:
    """How many there are: as many as were counted before, or as the dice say."""
    uid = uid or telling.atlas.uid("mon", getattr(foes, "key", ""))
    counted = int(telling.step.table.fact(uid, claims.NUMBER, 0))
    number = counted or min(max(roll(foes.number, rng=telling.rng).total, 1), _MOST)
    kind = monster(foes.monster)
    return Group(
        monster=kind.name,
        name=foes.name or (kind.name if number == 1 else kind.plural).lower(),
        number=number,
    )


def _told(foes: Group) -> str:
    """Foes as one tells of them: a single one as it is called, several with their number."""
    return (
        a(foes.name)
        if foes.number == 1
        else f"{_WORDS.get(foes.number, str(foes.number))} {_bare(foes.name)}"
    )


_WORDS: Final = {
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
}


def _one_of(foes: Group) -> str:
    """One of them, who speaks for all."""
    return foes.name if foes.number == 1 else monster(foes.monster).name.lower()


def _bare(name: str) -> str:
    return next((name.removeprefix(one) for one in ("the ", "some ") if name.startswith(one)), name)


def _rule(rule: str, foes: Group) -> str:
    return f"{rule}.one" if foes.number == 1 else rule


def _attack(telling: Telling, uid: str, foes: dict[str, Group], *, before: str = "") -> None:
    """It comes to blows. If one side is caught unawares and the other is not, that side acts last."""
    kinds = [monster(one.monster) for one in foes.values()]
    party = surprise("the party", rng=telling.rng, chance=max(kind.surprises for kind in kinds)).success
    theirs = surprise("the foes", rng=telling.rng).success
    caught: Literal["party", "foes"] | None = None
    if party != theirs:
        caught = "party" if party else "foes"
    rule = {"party": "ambush", "foes": "surprised"}.get(caught or "", "approach")
    if sum(one.number for one in foes.values()) == 1:
        rule = f"{rule}.one"
    text = telling.words(rule, foes=listed([_told(one) for one in foes.values()]))
    begin_fight(telling.step, uid, foes, text=" ".join(filter(None, (before, text))), surprised=caught)


def _stand_off(telling: Telling, place: Place, uid: str, foes: Foes, *, rolls: list[JsonValue]) -> None:
    group = _group(telling, foes)
    mon = telling.atlas.uid("mon", foes.key)
    beats = [beat("wary", foes.key)]
    said = _speech(telling, foes, group)
    text = " ".join(filter(None, (telling.words(_rule("wary", group), foes=_told(group)), said)))
    telling.tell(
        uid,
        text,
        beats=beats,
        names={mon: group.name},
        play={"rolls": rolls, **telling.sights(place, after=beats)},
        facts=met_at(uid, mon, group.number),
    )


def _make_peace(telling: Telling, place: Place, uid: str, foes: Foes, *, rolls: list[JsonValue]) -> None:
    group = _group(telling, foes)
    mon = telling.atlas.uid("mon", foes.key)
    beats = [beat("friendly", foes.key), beat("spared", telling.atlas.slug("mon", foes.key))]
    said = _speech(telling, foes, group)
    telling.tell(
        uid,
        " ".join(filter(None, (telling.words(_rule("friendly", group), foes=_told(group)), said))),
        beats=beats,
        names={mon: group.name},
        gist=f"{group.name} let us be at {place.name}",
        play={"rolls": rolls, **telling.sights(place, after=beats)},
        facts=met_at(uid, mon, group.number),
    )


def _speech(telling: Telling, foes: Foes, group: Group) -> str:
    if not foes.says or not monster(group.monster).parleys:
        return ""
    return telling.words(_rule("talks", group), foes=_told(group), says=telling.one_of(foes.says))


def attacked(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """Somebody goes for foes who only watched: that is the end of watching."""
    groups = _watching(telling, place)
    if groups:
        _attack(telling, uid, groups)
    else:
        telling.tell(uid, telling.words("nothing_there"), participants=people_of(asked))


def _watching(telling: Telling, place: Place) -> dict[str, Group]:
    """The foes here who have not made up their minds."""
    wary = [foes for foes in telling.world.foes(place) if telling.world.came("wary", foes.key)]
    return {telling.atlas.uid("mon", foes.key): _group(telling, foes) for foes in wary}


# Talk.


def parley(telling: Telling, place: Place, uid: str, asked: Sequence[Waiting]) -> None:
    """Talk instead of blows, in a fight or before one: the dice, charisma and gold decide."""
    who = people_of(asked)
    fight = telling.step.table.fights.get(uid)
    if fight is not None:
        groups = {
            mon: Group(monster=one.monster, name=one.name, number=max(one.number, 1))
            for mon, one in fight.standing.items()
        }
    else:
        groups = _watching(telling, place)
    if not groups:
        telling.tell(uid, telling.words("nothing_there"), participants=who)
        return
    first = next(iter(groups.values()))
    if not all(monster(one.monster).parleys for one in groups.values()):
        telling.tell(uid, telling.words("no_tongue", foes=first.name), participants=who)
        return
    made = _reaction(telling, who, bonus=-1 if fight is not None else 1)
    _agree(telling, place, uid, groups, who, made)


def _agree(
    telling: Telling, place: Place, uid: str, groups: dict[str, Group], who: Sequence[str], made: Reaction
) -> None:
    first = next(iter(groups.values()))
    if made.attitude in _PEACE:
        text = telling.words(_rule("friendly", first), foes=first.name)
        _settle(telling, place, uid, groups, who, text=text, rolls=dice(made))
        return
    price = _PRICE * sum(one.number for one in groups.values())
    payer = next((one for one in who if int(telling.step.table.fact(one, "gold", 0)) >= price), None)
    asked = telling.words("foe_bargain", foe=_one_of(first), gold=str(price))
    if made.attitude is Attitude.WARY and payer is not None:
        paid = telling.words("pays", who=telling.step.table.name(payer), foes=first.name, gold=str(price))
        loot: list[JsonValue] = [{"gold": price, "from": payer}]
        _settle(telling, place, uid, groups, who, text=f"{asked} {paid}", rolls=dice(made), loot=loot)
        return
    refused = asked if made.attitude is Attitude.WARY else telling.words("foe_threat", foe=_one_of(first))
    if made.attitude is Attitude.ATTACKING and uid not in telling.step.table.fights:
        _attack(telling, uid, groups, before=refused)
        return
    telling.tell(uid, refused, participants=who, play={"rolls": dice(made)})


def _settle(
    telling: Telling,
    place: Place,
    uid: str,
    groups: dict[str, Group],
    who: Sequence[str],
    *,
    text: str,
    rolls: list[JsonValue],
    **metadata: Any,
) -> None:
    """Peace, and what it cost."""
    fighting = uid in telling.step.table.fights
    keys = [key for mon in groups if (key := telling.atlas.key(mon))]
    beats = [beat("spared", telling.atlas.slug("mon", key)) for key in keys]
    if fighting and not metadata:
        end_fight(telling.step, uid, how="talked", text=text, rolls=rolls)
        return
    names = [one.name for one in groups.values()]
    telling.tell(
        uid,
        text,
        participants=who,
        beats=beats,
        names={mon: one.name for mon, one in groups.items()},
        facts=[gone_from(uid, mon) for mon in groups] if not fighting else (),
        gist=f"we came to terms with {listed(names)} at {place.name}",
        play={"rolls": rolls, **({} if fighting else telling.sights(place, after=beats))},
        **metadata,
    )
    if fighting:
        end_fight(telling.step, uid, how="talked", text=telling.words("peace", foes=listed(names)))


# Those who come by, and what the dead leave.


def wander(telling: Telling, place: Place, uid: str, *, surely_look: bool = False) -> bool:
    """Whether somebody comes by who was not there before. One does not look every round."""
    table = telling.step.table
    if place.wandering is None or place.safe or uid in table.fights or not table.together(uid):
        return False
    if not surely_look and telling.step.round % _EVERY:
        return False
    times, of = place.wandering.odds
    if telling.rng.randint(1, of) > times:
        return False
    stray = telling.rng.choice(place.wandering.foes)
    mon = telling.atlas.uid("mon", opaque_slug(f"{stray.monster}/{uid}/{telling.step.round}"))
    group = _group(telling, stray, mon)
    made = _reaction(telling, table.together(uid))
    if made.attitude in _FIGHTS or (made.attitude is Attitude.WARY and not monster(group.monster).parleys):
        _attack(telling, uid, {mon: group})
        return True
    telling.tell(
        uid,
        telling.words(_rule("pass_by", group), foes=_told(group)),
        names={mon: group.name},
        play={"rolls": dice(made)},
    )
    return False


def spoils(telling: Telling, place: Place, uid: str) -> None:
    """What foes had on them goes to those who stand where they fell. Who led them lies there, too."""
    table, world = telling.step.table, telling.world
    here = table.together(uid)
    later = [foes for _, foes in telling.atlas.later_foes.get(place.key, ())]
    for foes in (*place.foes.values(), *later):
        if uid in table.fights or not here or not world.fell(foes.key) or world.came("taken", foes.key):
            continue
        leader = None if foes.leader is None else telling.atlas.module.people.get(foes.leader)
        items = [telling.atlas.module.items[key] for key in foes.items if key in telling.atlas.module.items]
        if not (foes.gold or items or leader):
            continue
        held = [*(a(item.name) for item in items), *([f"{foes.gold} gold"] if foes.gold else [])]
        dead = [] if leader is None else [telling.atlas.uid("npc", leader.key)]
        dead = [npc for npc in dead if table.alive(npc)]
        names = {telling.atlas.uid("item", item.key): item.name for item in items}
        called = "" if leader is None else telling.called(leader, here)
        parts = [
            telling.words("dies", who=called) if dead else "",
            telling.words("loot", who=table.name(here[0]), what=listed(held)) if held else "",
        ]
        fallen = [] if leader is None else [telling.atlas.slug("npc", leader.key) for _ in dead]
        beats = [beat("taken", foes.key), *(beat("killed", slug) for slug in fallen)]
        telling.tell(
            uid,
            " ".join(filter(None, parts)) or telling.words("nothing_there"),
            kind=EventType.LOOT if held else EventType.DM_NARRATION,
            participants=[here[0]],
            beats=beats,
            names={**names, **dict.fromkeys(dead, called)},
            gist=f"{table.name(here[0])} took {listed(held)} from {foes.name or foes.monster}"
            if held
            else None,
            loot=[*({"item": item.name, "to": here[0]} for item in items), *shares(foes.gold, here)],
            killed=dead,
        )
