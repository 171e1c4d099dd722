"""Fights as a whole: their beginning, morale, flight and end."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.event_text import dice, tell
from dndbots.game.referee.growth import shares_of
from dndbots.game.referee.sightings import left_fact
from dndbots.game.state.game_notes import FoesNote
from dndbots.game.state.pieces import Fight
from dndbots.game.state.step import Step
from dndbots.rules.dice import Roll, roll
from dndbots.rules.experience import xp_for
from dndbots.rules.fights.attacks import initiative, morale
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.fights.monsters import monster

Ending = Literal["won", "fled", "talked", "lost"]
_WORTH: Final[Mapping[Ending, float]] = {"won": 1, "talked": 1, "fled": 0.5, "lost": 0}
_LEAVE: Final = ("fled", "talked")
_BEATS: Final[Mapping[Ending, str]] = {"won": "killed", "fled": "spared", "talked": "spared"}


def begin_fight(
    step: Step,
    place: str,
    foes: Mapping[str, FoesNote],
    *,
    text: str,
    surprised: Literal["party", "foes"] | None = None,
) -> None:
    """Begin a fight between foes and the characters at a place. The surprised side acts last."""
    table = step.table
    here = table.together(place)
    rolled = {uid: [_hit_points(group, step) for _ in range(group.number)] for uid, group in foes.items()}
    characters = [_combatant(step, uid) for uid in here]
    groups = [
        Combatant.of_monster(monster(group.monster), uid=uid, name=group.name) for uid, group in foes.items()
    ]
    order = initiative([*filter(None, characters), *groups], rng=step.rng)
    late = {*here} if surprised == "party" else {*foes} if surprised == "foes" else set()
    in_order = sorted(order.order, key=lambda uid: uid in late)
    first, *others = foes
    step.add(
        EventType.COMBAT_START,
        text,
        place=place,
        participants=here,
        play={
            "rolls": dice(order),
            "fight": {
                "id": _fight_id(step),
                "order": in_order,
                "foes": {uid: group.model_dump() for uid, group in foes.items()},
            },
        },
        enemies=[*foes],
        enemy_count=foes[first].number,
        encounter_id=_fight_id(step),
        names={uid: group.name for uid, group in foes.items()},
        facts=[{"subject": uid, "key": "number", "value": foes[uid].number} for uid in others],
    )
    hp = {uid: sorted((max(made.total, 1) for made in rolls), reverse=True) for uid, rolls in rolled.items()}
    told = "; ".join(f"{foes[uid].name}: {', '.join(map(str, points))}" for uid, points in hp.items())
    step.add(
        EventType.DICE_ROLL,
        f"Hit points of {told}.",
        place=place,
        witnesses=[],
        play={"foe_hp": {**hp}},
        aside=True,
    )


def fight_as_seen(fight: Fight | None) -> dict[str, Any] | None:
    """Return a fight as newcomers see it, for an event's note."""
    if fight is None:
        return None
    foes = {
        uid: {"monster": group.monster, "name": group.name, "number": group.number}
        for uid, group in fight.foes.items()
        if group.number > 0
    }
    return {"id": fight.id, "order": fight.order, "foes": foes}


def _fight_id(step: Step) -> str:
    return f"fight_{step.round}_{step.name}"


def _hit_points(foes: FoesNote, step: Step) -> Roll:
    return roll(monster(foes.monster).hit_dice, rng=step.rng)


def _combatant(step: Step, uid: str) -> Combatant | None:
    character = step.table.character(uid)
    return (
        None
        if character is None
        else Combatant.of_character(character, conditions=step.table.conditions(uid))
    )


def morale_fails(step: Step, fight: Fight, uid: str, *, before: int) -> list[JsonValue] | None:
    """Return the dice if a group loses heart after a blow; else None.

    Morale is checked when the first of a group falls, and when half of it is gone.
    """
    group = fight.foes[uid]
    began = fight.begun[uid]
    tested = (before == began and group.able < began) or (before > began / 2 >= group.able)
    if not tested or group.able <= 0:
        return None
    made = morale(monster(group.monster).morale, rng=step.rng)
    return None if made.success else dice(made)


def end_fight(
    step: Step,
    place: str,
    *,
    how: Ending,
    text: str,
    rolls: Iterable[JsonValue] = (),
) -> None:
    """End a fight: share the experience, and note the outcome for the adventure."""
    table = step.table
    fight = table.fights[place]
    here = table.together(place)
    earned = sum(xp_for(monster(group.monster)) * fight.begun[uid] for uid, group in fight.foes.items())
    facts, grown = shares_of(step, here, int(earned * _WORTH[how]))
    beat = _BEATS.get(how)
    if how in _LEAVE:
        facts += [left_fact(place, uid) for uid, group in fight.foes.items() if group.number > 0]
    names = [group.name for group in fight.foes.values()]
    step.add(
        EventType.COMBAT_END,
        text,
        place=place,
        participants=here,
        play={
            "rolls": [*rolls],
            "ended": how,
            "beats": [f"{beat}:{_key(uid)}" for uid in fight.foes if beat],
            "gist": _gist(how, names),
        },
        encounter_id=fight.id,
        encounter_state="completed",
        facts=facts,
        conditions=_over(step, here),
    )
    for growth in grown:
        growth(place)


def _over(step: Step, here: Iterable[str]) -> JsonValue:
    """Return the end of all conditions that last for some rounds only."""
    table = step.table
    timed = {
        uid: [name for name in table.conditions(uid) if name in table.until.get(uid, {})] for uid in here
    }
    return {uid: [f"-{name}" for name in names] for uid, names in timed.items() if names} or None


def _gist(how: Ending, names: list[str]) -> str:
    foes = " and ".join(names)
    return {
        "won": f"we fought {foes} and won",
        "fled": f"we drove off {foes}",
        "talked": f"we came to terms with {foes}",
        "lost": f"we were beaten by {foes}",
    }[how]


def _key(uid: str) -> str:
    """Return the adventure's key of a group: the middle of its uid."""
    return "_".join(uid.split("_")[1:-1])


def end_if_decided(step: Step, place: str) -> None:
    """End a fight if one side has nobody left to fight."""
    table = step.table
    fight = table.fights.get(place)
    if fight is None:
        return
    foes = " and ".join(group.name for group in fight.foes.values())
    if not fight.standing:
        end_fight(step, place, how="won", text=tell(step, _rule("fight_won", fight), foes=foes))
    elif not any(table.can_act(uid) or "asleep" in table.conditions(uid) for uid in table.together(place)):
        end_fight(step, place, how="lost", text=tell(step, "fight_lost", foes=foes))


def _rule(key: str, fight: Fight) -> str:
    """Return the key of a phrase: a single foe has phrases of its own."""
    return f"{key}.one" if sum(fight.begun.values()) == 1 else key


def foes_flee(step: Step, place: str, uid: str, rolls: list[JsonValue]) -> None:
    """Let a group run away. The fight goes on with the other groups, if there are any."""
    table = step.table
    fight = table.fights[place]
    name = fight.foes[uid].name
    others = [other for other in fight.standing if other != uid]
    if others:
        step.add(
            EventType.COMBAT_ROUND,
            tell(step, _rule("foes_flee", fight), foes=name),
            place=place,
            play={
                "rolls": rolls,
                "helpless": {uid: fight.foes[uid].number},
                "beats": [f"spared:{_key(uid)}"],
            },
            facts=[left_fact(place, uid)],
        )
    else:
        end_fight(step, place, how="fled", text=tell(step, _rule("foes_flee", fight), foes=name), rolls=rolls)
