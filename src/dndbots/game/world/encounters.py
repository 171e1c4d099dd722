"""Foes: their reaction to the party, parley and bribes, wandering monsters, and loot."""

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import JsonValue

from dndbots.canon import claims
from dndbots.events import EventType
from dndbots.game.adventures.module import Foes, Place, Wanderers
from dndbots.game.referee import begin_fight, end_fight
from dndbots.game.referee.event_text import dice
from dndbots.game.referee.sightings import foes_at_facts, left_fact
from dndbots.game.state.game_notes import FoesNote as Group
from dndbots.game.state.pieces import PendingAct
from dndbots.game.world.narration import Narration, join_texts, with_article
from dndbots.game.world.search import askers_of, character_sheets, share_gold
from dndbots.game.world.world_state import MOOD, SHAKEN, beat
from dndbots.ids import opaque_slug
from dndbots.rules.checks import surprise
from dndbots.rules.dice import roll
from dndbots.rules.fights.monsters import monster
from dndbots.rules.reactions import Attitude, Reaction, reaction
from dndbots.text.word_forms import as_whereabouts, number_word, singular_of, without_article

_MOST: Final = 40
_FIGHTS: Final = frozenset((Attitude.ATTACKING, Attitude.HOSTILE))
_PEACE: Final = frozenset((Attitude.OPEN, Attitude.FRIENDLY))
_RESTLESS: Final = 0.2  # chance per round that watching foes decide
_EVERY: Final = 3  # rounds between checks for wanderers
_PRICED: Final = "priced"  # the beat of foes who have named their price
_YES: Final = re.compile(
    r"\b(?:pay|paid|gold|coins?|deal|agreed?|yes|ok|okay|fine|take it|take this|very well|here)\b",
    re.IGNORECASE,
)
_PRICE: Final = 5
_ASSAULT: Final = -5  # what a person thinks of somebody who attacked them


def meet_foes(narration: Narration, place: Place, uid: str) -> None:
    """Let the foes at a place notice the party: the hostile attack together, others react in turn."""
    world = narration.world
    attacking: dict[str, Group] = {}
    for foes in list(world.foes(place)):
        mood, rolls = _mood(narration, uid, foes)
        if mood in _FIGHTS:
            attacking[narration.atlas.uid("mon", foes.key)] = _group(narration, foes)
        elif mood in _PEACE:
            _make_peace(narration, place, uid, foes, rolls=rolls)
        elif not world.has_beat("wary", foes.key):
            _stand_off(narration, place, uid, foes, rolls=rolls)
    if attacking:
        _attack(narration, uid, attacking)


def _mood(narration: Narration, uid: str, foes: Foes) -> tuple[Attitude, list[JsonValue]]:
    """Return the foes' attitude and its dice. Wary foes stay wary for a while."""
    watched = narration.world.has_beat("wary", foes.key)
    if watched and narration.rng.random() >= _RESTLESS:
        return Attitude.WARY, []
    if foes.mood == "hostile":
        return Attitude.HOSTILE, []
    if foes.mood == "friendly":
        return Attitude.FRIENDLY, []
    if foes.mood == "wary" and not watched:
        return Attitude.WARY, []
    reaction_roll = _reaction(narration, narration.step.table.together(uid))
    return reaction_roll.attitude, dice(reaction_roll)


def _reaction(narration: Narration, who: Sequence[str], *, bonus: int = 0) -> Reaction:
    """Roll the foes' reaction with the best charisma of these characters."""
    charisma = max((sheet.stats.cha for sheet in character_sheets(narration, who)), default=10)
    return reaction(rng=narration.rng, charisma=charisma, bonus=bonus)


def _group(narration: Narration, foes: Wanderers, uid: str | None = None) -> Group:
    """Return the foes as a group; their number was counted before, or is rolled now."""
    uid = uid or narration.atlas.uid("mon", getattr(foes, "key", ""))
    counted = int(narration.step.table.fact(uid, claims.NUMBER, 0))
    number = counted or min(max(roll(foes.number, rng=narration.rng).total, 1), _MOST)
    kind = monster(foes.monster)
    return Group(
        monster=kind.name,
        name=foes.name or (kind.name if number == 1 else kind.plural).lower(),
        number=number,
    )


def _told(foes: Group) -> str:
    """Return foes as narration names them: one by name, several with their number."""
    return (
        with_article(singular_of(foes.name))
        if foes.number == 1
        else f"{number_word(foes.number)} {without_article(foes.name)}"
    )


def _one_of(foes: Group) -> str:
    """Return the name of the one foe who speaks for the group."""
    return singular_of(foes.name)


def _rule(rule: str, foes: Group) -> str:
    """Return the name of the phrase rule for one foe or for several."""
    return f"{rule}.one" if foes.number == 1 else rule


def _attack(
    narration: Narration, uid: str, foes: dict[str, Group], *, before: str = "", rule: str = ""
) -> None:
    """Start a fight. If only one side is surprised, it acts last. `rule` tells it if the party begins."""
    kinds = [monster(group.monster) for group in foes.values()]
    party = surprise("the party", rng=narration.rng, chance=max(kind.surprises for kind in kinds)).success
    theirs = surprise("the foes", rng=narration.rng).success
    caught: Literal["party", "foes"] | None = None
    if party != theirs:
        caught = "party" if party else "foes"
    if rule and caught == "party":
        caught = None  # nobody is surprised by their own attack
    rule = rule or {"party": "ambush", "foes": "surprised"}.get(caught or "", "approach")
    if sum(group.number for group in foes.values()) == 1:
        rule = f"{rule}.one"
    text = narration.phrase(rule, foes=join_texts([_told(group) for group in foes.values()]))
    begin_fight(narration.step, uid, foes, text=" ".join(filter(None, (before, text))), surprised=caught)


def _stand_off(narration: Narration, place: Place, uid: str, foes: Foes, *, rolls: list[JsonValue]) -> None:
    """Tell that foes watch the party and do not attack yet."""
    group = _group(narration, foes)
    mon = narration.atlas.uid("mon", foes.key)
    beats = [beat("wary", foes.key)]
    speech = _speech(narration, foes, group)
    text = " ".join(filter(None, (narration.phrase(_rule("wary", group), foes=_told(group)), speech)))
    narration.tell(
        uid,
        text,
        beats=beats,
        names={mon: group.name},
        play={"rolls": rolls, **narration.sights_note(place, after=beats)},
        facts=foes_at_facts(uid, mon, group.number),
    )


def _make_peace(narration: Narration, place: Place, uid: str, foes: Foes, *, rolls: list[JsonValue]) -> None:
    """Tell that foes let the party be, and record them as spared."""
    group = _group(narration, foes)
    mon = narration.atlas.uid("mon", foes.key)
    beats = [beat("friendly", foes.key), beat("spared", narration.atlas.slug("mon", foes.key))]
    speech = _speech(narration, foes, group)
    narration.tell(
        uid,
        " ".join(filter(None, (narration.phrase(_rule("friendly", group), foes=_told(group)), speech))),
        beats=beats,
        names={mon: group.name},
        gist=f"{group.name} let us be {as_whereabouts(place.name)}",
        play={"rolls": rolls, **narration.sights_note(place, after=beats)},
        facts=foes_at_facts(uid, mon, group.number),
    )


def _speech(narration: Narration, foes: Foes, group: Group) -> str:
    """Return what the foes say, if they can talk."""
    if not foes.says or not monster(group.monster).parleys:
        return ""
    return narration.phrase(_rule("talks", group), foes=_told(group), says=narration.pick_text(foes.says))


def answer_attack(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Answer an attack on watching foes, or on friendly ones who are still there: the fight begins.

    People get out of reach, and remember it.
    """
    acts = [act for act in acts if not _is_assault(narration, uid, act)]
    if not acts:
        return
    groups = _watching(narration, place)
    for foes in narration.world.befriended(place):
        mon = narration.atlas.uid("mon", foes.key)
        if any(act.act.target == mon for act in acts):
            narration.tell_dm(narration.phrase("offstage"), beats=[beat("turned", foes.key)])
            groups[mon] = _group(narration, foes)
    if groups:
        _attack(narration, uid, groups, rule="attacked")
    else:
        narration.tell(uid, narration.phrase("nothing_there", what="foe"), participants=askers_of(acts))


def _is_assault(narration: Narration, uid: str, act: PendingAct) -> bool:
    """Tell of an attack on a person, who gets away. Return whether it was one."""
    person = narration.world.person(act.act.target)
    if person is None or person not in narration.world.people(uid):
        return False
    npc = narration.atlas.uid("npc", person.key)
    called = narration.name_for(person, narration.step.table.together(uid))
    narration.tell(
        uid,
        narration.phrase("assaulted", npc=called, who=narration.step.table.name(act.who)),
        participants=[act.who, npc],
        names={npc: called},
        reputation={npc: _ASSAULT},
        facts=[{"subject": npc, "key": MOOD, "value": SHAKEN}],
    )
    return True


def _watching(narration: Narration, place: Place) -> dict[str, Group]:
    """Return the foes here who still watch."""
    wary = [foes for foes in narration.world.foes(place) if narration.world.has_beat("wary", foes.key)]
    return {narration.atlas.uid("mon", foes.key): _group(narration, foes) for foes in wary}


# Parley.


def answer_parley(narration: Narration, place: Place, uid: str, acts: Sequence[PendingAct]) -> None:
    """Answer an attempt to talk, in a fight or before one: dice, charisma and gold decide."""
    who = askers_of(acts)
    fight = narration.step.table.fights.get(uid)
    if fight is not None:
        groups = {
            mon: Group(monster=group.monster, name=group.name, number=max(group.number, 1))
            for mon, group in fight.standing.items()
        }
    else:
        groups = _watching(narration, place)
    friends = [foes for foes in narration.world.befriended(place) if foes.says] if fight is None else []
    if not groups and friends:
        text = _speech(narration, friends[0], _group(narration, friends[0]))
        narration.tell(uid, text or narration.phrase("nothing_there", what="foe"), participants=who)
        return
    if not groups:
        narration.tell(uid, narration.phrase("nothing_there", what="foe"), participants=who)
        return
    first = next(iter(groups.values()))
    if not all(monster(group.monster).parleys for group in groups.values()):
        narration.tell(uid, narration.phrase("no_tongue", foes=first.name), participants=who)
        return
    if narration.world.has_beat(_PRICED, next(iter(groups))) and any(map(_pays, acts)):
        _pay_off(narration, place, uid, groups, who)
        return
    reaction_roll = _reaction(narration, who, bonus=-1 if fight is not None else 1)
    is_willing = any(pending.act.phrases or not pending.act.words or _pays(pending) for pending in acts)
    _agree(narration, place, uid, groups, who, reaction_roll, is_willing=is_willing)


def _pays(pending: PendingAct) -> bool:
    """Return whether somebody's own words agree to pay; the house says nothing of it, and does."""
    return not pending.act.phrases and _YES.search(pending.act.words) is not None


def _payer(narration: Narration, who: Sequence[str], price: int) -> str | None:
    """Return the first of these characters who has the price."""
    gold = narration.step.table.fact
    return next((character for character in who if int(gold(character, "gold", 0)) >= price), None)


def _price_of(groups: dict[str, Group]) -> int:
    return _PRICE * sum(group.number for group in groups.values())


def _pay_off(
    narration: Narration, place: Place, uid: str, groups: dict[str, Group], who: Sequence[str]
) -> None:
    """Let a party pay the price that foes have named."""
    first, price = next(iter(groups.values())), _price_of(groups)
    payer = _payer(narration, who, price)
    if payer is None:
        price_asked = narration.phrase("foe_bargain", foe=_one_of(first), gold=str(price))
        narration.tell(uid, price_asked, participants=who)
        return
    paid = narration.phrase("pays", who=narration.step.table.name(payer), foes=first.name, gold=str(price))
    loot: list[JsonValue] = [{"gold": price, "from": payer}]
    _settle(narration, place, uid, groups, who, text=paid, rolls=[], loot=loot)


def _agree(
    narration: Narration,
    place: Place,
    uid: str,
    groups: dict[str, Group],
    who: Sequence[str],
    reaction_roll: Reaction,
    *,
    is_willing: bool,
) -> None:
    """Resolve a parley: peace, a price that somebody willing pays, or a refusal."""
    first = next(iter(groups.values()))
    if reaction_roll.attitude in _PEACE:
        text = narration.phrase(_rule("friendly", first), foes=first.name)
        text = f"{text} {_parting_words(narration, groups)}".strip()
        _settle(narration, place, uid, groups, who, text=text, rolls=dice(reaction_roll))
        return
    price = _price_of(groups)
    payer = _payer(narration, who, price) if is_willing else None
    price_asked = narration.phrase("foe_bargain", foe=_one_of(first), gold=str(price))
    if reaction_roll.attitude is Attitude.WARY and payer is not None:
        paid = narration.phrase(
            "pays", who=narration.step.table.name(payer), foes=first.name, gold=str(price)
        )
        loot: list[JsonValue] = [{"gold": price, "from": payer}]
        _settle(
            narration,
            place,
            uid,
            groups,
            who,
            text=f"{price_asked} {paid}",
            rolls=dice(reaction_roll),
            loot=loot,
        )
        return
    refused = (
        price_asked
        if reaction_roll.attitude is Attitude.WARY
        else narration.phrase("foe_threat", foe=_one_of(first))
    )
    if reaction_roll.attitude is Attitude.ATTACKING and uid not in narration.step.table.fights:
        _attack(narration, uid, groups, before=refused)
        return
    priced = [beat(_PRICED, mon) for mon in groups] if reaction_roll.attitude is Attitude.WARY else []
    narration.tell(uid, refused, participants=who, beats=priced, play={"rolls": dice(reaction_roll)})


def _parting_words(narration: Narration, groups: dict[str, Group]) -> str:
    """Return what foes who make peace have to say and have not said yet."""
    for mon, group in groups.items():
        foes = narration.atlas.module.foes.get(narration.atlas.key(mon) or "")
        says = narration.pick_text(foes.says, most=1) if foes is not None and foes.says else ""
        if says:
            return narration.phrase(_rule("talks", group), foes=group.name, says=says)
    return ""


def _settle(
    narration: Narration,
    place: Place,
    uid: str,
    groups: dict[str, Group],
    who: Sequence[str],
    *,
    text: str,
    rolls: list[JsonValue],
    **metadata: Any,
) -> None:
    """Record peace and its price."""
    fighting = uid in narration.step.table.fights
    keys = [key for mon in groups if (key := narration.atlas.key(mon))]
    beats = [beat("spared", narration.atlas.slug("mon", key)) for key in keys]
    if fighting and not metadata:
        end_fight(narration.step, uid, how="talked", text=text, rolls=rolls)
        return
    names = [group.name for group in groups.values()]
    rule = _rule("foes_leave", next(iter(groups.values()))) if len(groups) == 1 else "foes_leave"
    gone = "" if fighting else narration.phrase(rule, foes=join_texts(names))
    narration.tell(
        uid,
        f"{text} {gone}".rstrip(),
        participants=who,
        beats=beats,
        names={mon: group.name for mon, group in groups.items()},
        facts=[left_fact(uid, mon) for mon in groups] if not fighting else (),
        gist=f"we came to terms with {join_texts(names)} {as_whereabouts(place.name)}",
        play={"rolls": rolls, **({} if fighting else narration.sights_note(place, after=beats))},
        **metadata,
    )
    if fighting:
        end_fight(narration.step, uid, how="talked", text=narration.phrase("peace", foes=join_texts(names)))


# Wanderers and loot.


def send_wanderers(narration: Narration, place: Place, uid: str, *, surely_look: bool = False) -> bool:
    """Roll for wandering monsters, every few rounds. Return whether they attack."""
    table = narration.step.table
    if place.wandering is None or place.safe or uid in table.fights or not table.together(uid):
        return False
    if not surely_look and narration.step.round % _EVERY:
        return False
    times, of = place.wandering.odds
    if narration.rng.randint(1, of) > times:
        return False
    stray = narration.rng.choice(place.wandering.foes)
    mon = narration.atlas.uid("mon", opaque_slug(f"{stray.monster}/{uid}/{narration.step.round}"))
    group = _group(narration, stray, mon)
    reaction_roll = _reaction(narration, table.together(uid))
    if reaction_roll.attitude in _FIGHTS or (
        reaction_roll.attitude is Attitude.WARY and not monster(group.monster).parleys
    ):
        _attack(narration, uid, {mon: group})
        return True
    narration.tell(
        uid,
        narration.phrase(_rule("pass_by", group), foes=_told(group)),
        names={mon: group.name},
        play={"rolls": dice(reaction_roll)},
    )
    return False


def hand_out_spoils(narration: Narration, place: Place, uid: str) -> None:
    """Give what fallen foes carried to the party at the place. Their leader dies with them."""
    table, world = narration.step.table, narration.world
    here = table.together(uid)
    later = [foes for _, foes in narration.atlas.later_foes.get(place.key, ())]
    for foes in (*place.foes.values(), *later):
        if (
            uid in table.fights
            or not here
            or not world.has_fallen(foes.key)
            or world.has_beat("taken", foes.key)
        ):
            continue
        leader = None if foes.leader is None else narration.atlas.module.people.get(foes.leader)
        items = [
            narration.atlas.module.items[key] for key in foes.items if key in narration.atlas.module.items
        ]
        if not (foes.gold or items or leader):
            continue
        held = [*(with_article(item.name) for item in items), *([f"{foes.gold} gold"] if foes.gold else [])]
        dead = [] if leader is None else [narration.atlas.uid("npc", leader.key)]
        dead = [npc for npc in dead if table.alive(npc)]
        names = {narration.atlas.uid("item", item.key): item.name for item in items}
        called = "" if leader is None else narration.name_for(leader, here)
        parts = [
            narration.phrase("dies", who=called) if dead else "",
            narration.phrase("loot", who=table.name(here[0]), what=join_texts(held)) if held else "",
        ]
        fallen = [] if leader is None else [narration.atlas.slug("npc", leader.key) for _ in dead]
        beats = [beat("taken", foes.key), *(beat("killed", slug) for slug in fallen)]
        narration.tell(
            uid,
            " ".join(filter(None, parts)) or narration.phrase("nothing_there", what="foe"),
            kind=EventType.LOOT if held else EventType.DM_NARRATION,
            participants=[here[0]],
            beats=beats,
            names={**names, **dict.fromkeys(dead, called)},
            gist=f"{table.name(here[0])} took {join_texts(held)} from {foes.name or foes.monster}"
            if held
            else None,
            loot=[*({"item": item.name, "to": here[0]} for item in items), *share_gold(foes.gold, here)],
            killed=dead,
        )


def note_cleared(narration: Narration, place: Place, uid: str) -> None:
    """Tell once that a place is safe: foes fell there, and nobody who would fight is left."""
    world, table = narration.world, narration.step.table
    later = [foes for came, foes in narration.atlas.later_foes.get(place.key, ()) if world.happened(came)]
    fallen = any(world.has_fallen(foes.key) for foes in (*place.foes.values(), *later))
    if not fallen or world.has_beat("cleared", place.key) or uid in table.fights or any(world.foes(place)):
        return
    if table.together(uid):
        narration.tell(
            uid,
            narration.phrase("cleared", place=place.name),
            beats=[beat("cleared", place.key)],
            names={uid: place.name},
            gist=f"nothing is left to fight {as_whereabouts(place.name)}",
            danger_level="CLEARED",
        )
