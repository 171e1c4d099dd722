"""Attacks: of a character on a group of foes, and of a group of foes in its turn."""

from collections import Counter
from typing import Any

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.event_text import dice, join_names, tell
from dndbots.game.referee.fights import end_if_decided, foes_flee, morale_fails
from dndbots.game.referee.growth import drain
from dndbots.game.referee.harm import hurt
from dndbots.game.state.pieces import Fight, FoeGroup, PendingAct, unharmed_beat
from dndbots.game.state.step import Step
from dndbots.rules.dice import bounds
from dndbots.rules.fights.attacks import Attack, attack, attack_all, can_hurt
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.fights.monsters import Monster, monster
from dndbots.rules.fights.strikes import Strike

_MOST_TOLD = 3
_TIMES = {2: "twice", 3: "three times"}


def attack_foes(step: Step, declared: PendingAct) -> None:
    """Play a character's attack on a group: on the weakest foe who stands, else on a helpless one."""
    table, who = step.table, declared.who
    place, character = str(declared.place), table.character(who)
    fight, target = table.fights[place], str(declared.act.target)
    group = fight.foes[target]
    which = max(group.able - 1, 0) if group.able else group.number - 1
    foe = foe_of(group, which, target)
    if character is None:
        return
    attacker = Combatant.of_character(character, conditions=table.conditions(who))
    made = attack(attacker, foe, rng=step.rng, strike=_best_strike(attacker, foe))
    before = group.able
    dead = made.hit and made.target_after.hp <= 0
    slots = {"who": table.name(who), "foe": foe.name, "weapon": made.strike}
    wound = made.target_after.hp - foe.hp
    play: dict[str, Any] = {"rolls": dice(made), "resolves": declared.event_id}
    if wound < 0:
        play["wounds"] = [[target, which, -wound]]
    if dead and group.able == 0:
        play["helpless"] = {target: group.helpless - 1}
    if made.harmless:
        play["beats"] = [unharmed_beat(target)]
    step.add(
        EventType.COMBAT_ROUND,
        tell(step, _rule_of(made, dead=dead), **slots),
        place=place,
        participants=[who],
        play=play,
        enemies=[target],
        enemy_count=group.number if dead else None,
        killed=[target] if dead else None,
        killed_by=who if dead else None,
    )
    broken = morale_fails(step, fight, target, before=before) if dead else None
    if broken is not None:
        foes_flee(step, place, target, broken)
    else:
        end_if_decided(step, place)


def _rule_of(made: Attack, *, dead: bool) -> str:
    """Return the phrase rule for a blow."""
    if not made.hit:
        return "miss"
    if made.harmless:
        return "no_harm"
    return "kill" if dead else "great_hit" if made.natural == 20 else "hit"


def _best_strike(attacker: Combatant, foe: Combatant) -> Strike:
    """Return the strike to use: one that can wound the foe, if there is one, and of those the best."""
    return max(attacker.routine, key=lambda strike: (can_hurt(strike, foe), _worth(strike)))


def _worth(strike: Strike) -> int:
    """Return how good a weapon is, by its damage and its bonus to hit."""
    return sum(bounds(strike.damage or "0")) + 2 * strike.bonus


def foe_of(group: FoeGroup, which: int, uid: str) -> Combatant:
    """Return one foe of a group as a combatant, with its own hit points."""
    kind: Monster = monster(group.monster)
    conditions = ["held"] if which >= group.able else []
    hp = group.hp[which] if which < len(group.hp) else None
    return Combatant.of_monster(kind, uid=uid, name=group.one, hp=hp, conditions=conditions)


def foes_act(step: Step, uid: str) -> None:
    """Play a group's turn: each foe attacks a random character who stands."""
    table = step.table
    fight = next(fight for fight in table.fights.values() if uid in fight.foes)
    group = fight.foes[uid]
    if fight.since == step.round and fight.order and uid == fight.order[-1]:
        _hesitate(step, fight, uid)
        return
    targets = {
        who: Combatant.of_character(sheet, conditions=table.conditions(who))
        for who in table.together(fight.place)
        if (sheet := table.character(who)) is not None and sheet.hp > 0
    }
    blows: list[Attack] = []
    for which in range(group.able):
        standing = [who for who in targets if targets[who].hp > 0]
        if standing:
            aimed_at = step.rng.choice(standing)
            made = attack_all(foe_of(group, which, uid), targets[aimed_at], rng=step.rng)
            blows += made
            targets[aimed_at] = made[-1].target_after
    _tell_blows(step, fight, uid, blows)
    end_if_decided(step, fight.place)


def _hesitate(step: Step, fight: Fight, uid: str) -> None:
    step.add(
        EventType.COMBAT_ROUND,
        tell(step, "hesitates", foes=fight.foes[uid].name),
        source=uid,
        place=fight.place,
        enemies=[uid],
    )


def _tell_blows(step: Step, fight: Fight, uid: str, blows: list[Attack]) -> None:
    table = step.table
    harm: Counter[str] = Counter()
    conditions: dict[str, JsonValue] = {}
    until: dict[str, dict[str, int]] = {}
    for blow in blows:
        effect = blow.effect
        harm[blow.target] += blow.damage + (effect.damage if effect else 0)
        if (
            effect is not None
            and effect.condition is not None
            and effect.condition not in table.conditions(blow.target)
        ):
            conditions[blow.target] = [effect.condition]
            if effect.rounds is not None:
                until.setdefault(blow.target, {})[effect.condition] = step.round + effect.rounds
    hurt(
        step,
        {who: harm[who] for who in dict.fromkeys(blow.target for blow in blows)},
        text=_words(step, fight, uid, blows),
        place=fight.place,
        kind=EventType.COMBAT_ROUND,
        source=uid,
        rolls=dice(*blows),
        play={"until": until},
        enemies=[uid],
        conditions=conditions,
    )
    for blow in blows:
        if blow.effect is not None and blow.effect.levels and table.alive(blow.target):
            drain(step, blow.target, fight.place)


def _words(step: Step, fight: Fight, uid: str, blows: list[Attack]) -> str:
    """Return the text of a group's attacks: the hits in detail, the misses in one sentence."""
    table, foe = step.table, fight.foes[uid].one
    hits = [blow for blow in blows if blow.hit]
    told = [tell(step, "foe_hit", foe=foe, who=table.name(blow.target)) for blow in hits[:1]]
    others = Counter(table.name(blow.target) for blow in hits[1:])
    told += [_hit_too(step, name, times) for name, times in others.items()]
    missed = list(dict.fromkeys(table.name(blow.target) for blow in blows if not blow.hit))
    if missed and not hits:
        told.append(tell(step, "foe_miss", foe=foe, who=missed[0]))
    elif missed and len(told) < _MOST_TOLD:
        told.append(tell(step, "foe_misses_more", who=join_names(missed)))
    return " ".join(told) or tell(step, "hesitates", foes=fight.foes[uid].name)


def _hit_too(step: Step, who: str, times: int) -> str:
    """Return a sentence on somebody else who is hit in the same turn."""
    rule = "foe_hits_more" if times == 1 else "foe_hits_more.often"
    return tell(step, rule, who=who, times=_TIMES.get(times, "again and again"))
