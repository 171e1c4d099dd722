"""Spells: their targets, their effects, and the spells that are left."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.blows import foe_of
from dndbots.game.referee.event_text import dice, tell
from dndbots.game.referee.fights import end_if_decided
from dndbots.game.referee.harm import DYING, find_fallen, record_deaths
from dndbots.game.state.pieces import PendingAct
from dndbots.game.state.sheet_facts import SPELLS
from dndbots.game.state.step import Step
from dndbots.rules import conditions
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.fights.effects import Effect
from dndbots.rules.fights.healing import ROUNDS_IN_A_TURN
from dndbots.rules.fights.spells import Spell, cast, spell
from dndbots.text.word_forms import number_word

# Kinds of effect that are meant for friends.
_FRIENDLY: Final = frozenset(("healing", "blessing", "protection", "comfort", "change", "motion", "illusion"))
# Stands between a group's uid and the number of one foe in it: each foe is a target of its own.
_NTH: Final = "#"


@dataclass(slots=True)
class _SpellResult:
    """The effects of a spell, gathered over all its targets."""

    wounds: list[tuple[str, int, int]] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    out: Counter[str] = field(default_factory=Counter)
    hp: dict[str, int] = field(default_factory=dict)
    changed: dict[str, list[str]] = field(default_factory=dict)
    until: dict[str, dict[str, int]] = field(default_factory=dict)


def cast_spell(step: Step, declared: PendingAct) -> None:
    """Cast a ready spell of a character, and remove it from the ready ones."""
    table, who = step.table, declared.who
    place, sheet = str(declared.place), table.character(who)
    what = spell(str(declared.act.what))
    if sheet is None:
        return
    caster = Combatant.of_character(sheet, conditions=table.conditions(who))
    made = cast(what, caster, _targets(step, declared, what), rng=step.rng)
    found = _gather(step, place, made.effects)
    told = tell(step, "spell", who=table.name(who), spell=what.name)
    falling = find_fallen(step, {uid: points for uid, points in found.hp.items() if points < 0})
    for uid in falling:
        found.changed.setdefault(uid, []).append(DYING)
    fall = [tell(step, "falls", who=table.name(uid)) for uid in falling]
    fight = table.fights.get(place)
    struck = list(dict.fromkeys((*found.killed, *(uid for uid, _, _ in found.wounds))))
    step.add(
        EventType.COMBAT_ROUND if fight else EventType.PLAYER_ACTION,
        " ".join([told, *_words(step, made.effects), *fall]),
        place=place,
        participants=list(dict.fromkeys([who, *found.hp, *found.changed])),
        play=_note(step, place, found) | {"rolls": dice(made), "resolves": declared.event_id},
        enemies=[*struck] or None,
        enemy_count=fight.foes[struck[0]].number if fight and found.killed else None,
        killed=[*found.killed] or None,
        killed_by=who if found.killed else None,
        hp_delta={uid: points for uid, points in found.hp.items() if points} or None,
        conditions={uid: [*names] for uid, names in found.changed.items()} or None,
        facts=[_left(table.spells(who), what.name, who)],
    )
    record_deaths(step, found.hp, place=place)
    end_if_decided(step, place)


def _left(ready: list[str], used: str, who: str) -> JsonValue:
    rest = list(ready)
    rest.remove(used)
    if rest:
        return {"subject": who, "key": SPELLS, "value": [*rest]}
    return {"subject": who, "key": SPELLS, "value": [used], "ended": True}


def _targets(step: Step, declared: PendingAct, what: Spell) -> Sequence[Combatant]:
    """Return the targets: the named one; else all friends or all foes here, as fits the spell."""
    table, place, target = step.table, str(declared.place), declared.act.target
    fight = table.fights.get(place)
    if target is not None and fight is not None and target in fight.foes:
        group = fight.foes[target]
        return [foe_of(group, n, f"{target}{_NTH}{n}") for n in range(group.able)]
    friendly = all(effect.kind in _FRIENDLY for effect in what.effects)
    if fight is not None and not friendly and target is None:
        return [
            foe_of(group, n, f"{uid}{_NTH}{n}")
            for uid, group in fight.standing.items()
            for n in range(group.able)
        ]
    wanted = [target] if target is not None else table.together(place)
    return [
        Combatant.of_character(sheet, conditions=table.conditions(uid))
        for uid in wanted
        if (sheet := table.character(uid)) is not None
    ]


def _gather(step: Step, place: str, effects: Sequence[Effect]) -> _SpellResult:
    found = _SpellResult()
    for effect in effects:
        uid, nth, number = effect.target.partition(_NTH)
        if nth:
            _on_foe(step, place, effect, uid, int(number), found)
        else:
            _on_friend(step, effect, found)
    return found


def _on_foe(step: Step, place: str, effect: Effect, uid: str, which: int, found: _SpellResult) -> None:
    group = step.table.fights[place].foes[uid]
    hp = group.hp[which] if which < len(group.hp) else 1
    if effect.damage:
        found.wounds.append((uid, which, effect.damage))
        if effect.damage >= hp:
            found.killed.append(uid)
            return
    stops = effect.condition is not None and not conditions.can([effect.condition], "attacks")
    if stops or effect.condition in ("charmed", "frightened"):
        found.out[uid] += 1


def _on_friend(step: Step, effect: Effect, found: _SpellResult) -> None:
    table, uid = step.table, effect.target
    names = [f"-{name}" for name in effect.cured]
    if effect.healing:
        now = table.fact(uid, "hp", 0)
        found.hp[uid] = min(table.fact(uid, "hp_max", now), max(now, 0) + effect.healing) - now
        names += [f"-{DYING}"] if DYING in table.conditions(uid) else []
    if effect.damage:
        found.hp[uid] = found.hp.get(uid, 0) - effect.damage
    if effect.condition is not None and effect.condition not in table.conditions(uid):
        names.append(effect.condition)
        if effect.rounds is not None:
            rounds = effect.rounds if effect.rounds < ROUNDS_IN_A_TURN else effect.rounds // ROUNDS_IN_A_TURN
            found.until.setdefault(uid, {})[effect.condition] = step.round + rounds
    if names:
        found.changed.setdefault(uid, []).extend(dict.fromkeys(names))


def _note(step: Step, place: str, found: _SpellResult) -> dict[str, Any]:
    fight = step.table.fights.get(place)
    helpless = {uid: fight.foes[uid].helpless + count for uid, count in found.out.items()} if fight else {}
    return {"wounds": found.wounds, "helpless": helpless, "until": found.until}


def _words(step: Step, effects: Sequence[Effect]) -> list[str]:
    """Return short sentences on who is visibly hurt, healed or changed."""
    told: list[str] = []
    for effect in effects:
        if _NTH not in effect.target:
            name = step.table.name(effect.target)
            told += [f"{name} feels better."] if effect.healing else []
            told += [f"{name} is hurt."] if effect.damage else []
            told += [f"{name} is {effect.condition}."] if effect.condition else []
    foes = [effect for effect in effects if _NTH in effect.target]
    hurt = sum(1 for effect in foes if effect.damage)
    changed = Counter(effect.condition for effect in foes if effect.condition)
    told += [f"{_how_many(hurt)} hurt."] if hurt else []
    told += [f"{_how_many(number)} {name}." for name, number in changed.items()]
    return told


def _how_many(number: int) -> str:
    """Return how many foes are struck by a spell, with a verb."""
    return "One of them is" if number == 1 else f"{number_word(number).capitalize()} of them are"
