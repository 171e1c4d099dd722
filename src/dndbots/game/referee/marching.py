"""Moving: all who said where to go, go together once everybody has spoken.

Who stays sees them leave, and who is there sees them come; the way between is known to those who go it.
"""

from collections import Counter
from typing import Any

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.acts import FOR_THE_DM, Act, Verb
from dndbots.game.pieces import Group, Waiting
from dndbots.game.referee.blows import foe_of
from dndbots.game.referee.fights import as_seen, end_fight
from dndbots.game.referee.harm import hurt
from dndbots.game.referee.meeting import as_they_look, gone_from, is_at, met_at
from dndbots.game.referee.telling import called, dice, tell
from dndbots.game.steps import Step
from dndbots.rules.combat import attack_all
from dndbots.rules.combatants import Combatant


def march(step: Step) -> None:
    """Everybody goes where they said. Who said nothing of it, and is not busy, goes with most of them."""
    table = step.table
    for place, here in list(table.scenes().items()):
        if place in table.fights:
            continue
        for way, movers in _groups(step, here).items():
            there = step.leads(table, place, way)
            if there is None:
                step.add(EventType.DM_NARRATION, tell(step, "stuck", way=way), place=place)
            else:
                go(step, movers, place, way, there)
    if not step.events:
        step.add(EventType.SYSTEM, "The party stays where it is.", witnesses=[])


def _groups(step: Step, here: list[str]) -> dict[str, list[str]]:
    """Who goes which way."""
    table = step.table
    said = {uid: act for uid in here if (act := table.intents.get(uid)) is not None}
    wanted = Counter(act.what for act in said.values() if act.verb is Verb.GO and act.what)
    if not wanted:
        return {}
    most = max(wanted, key=lambda way: wanted[way])
    busy = {one.who for one in table.waiting if one.act.verb in FOR_THE_DM}
    groups: dict[str, list[str]] = {str(way): [] for way in wanted}
    for uid in here:
        act = said.get(uid, Act(verb=Verb.STAY) if uid in busy else Act(verb=Verb.GO, what=most))
        if act.verb is Verb.GO and act.what:
            groups[act.what].append(uid)
    return groups


def go(step: Step, movers: list[str], place: str, way: str, there: str) -> None:
    """Some go from one place to another. Who stays sees them leave, and not where they come to."""
    who = called(step, movers)
    staying = [uid for uid in step.present(place) if uid not in movers]
    if staying:
        gone: list[JsonValue] = [gone_from(place, uid) for uid in movers]
        text = tell(step, "leave_unnamed", who=who, way=way)
        step.add(EventType.DM_NARRATION, text, place=place, witnesses=staying, facts=gone)
    named = all(step.knows(uid, there) for uid in movers)
    text = (
        tell(step, "leave", who=who, way=way, place=step.table.name(there))
        if named
        else tell(step, "leave_unnamed", who=who, way=way)
    )
    route: dict[str, Any] = {"way": way, "origin": place, "minutes": 10}
    meets = [uid for uid in step.present(there) if uid not in movers]
    # Of the party nobody hides from the others. Of anybody else who is there, the DM tells.
    friends = [uid for uid in meets if uid in step.table.seats]
    seen: list[JsonValue] = [is_at(there, uid) for uid in friends]
    if meets:
        # Whoever only sees them come does not see from where.
        step.add(EventType.DM_NARRATION, text, place=there, participants=movers, witnesses=[], play={**route})
        text, route = tell(step, "comes", who=who, place=_place_name(step, there)), {}
    foes = _foes_there(step, there)
    step.add(
        EventType.LOCATION_CHANGE,
        text,
        place=there,
        participants=movers,
        witnesses=meets,
        names={there: _place_name(step, there), **{uid: group.name for uid, group in foes.items()}},
        facts=seen + [fact for uid, group in foes.items() for fact in met_at(there, uid, group.number)],
        conditions=as_they_look(step, [*movers, *friends]),
        play={**route, "fight": as_seen(step.table.fights.get(there))},
    )


def _foes_there(step: Step, place: str) -> dict[str, Group]:
    """Those with whom somebody fights there: whoever comes sees them."""
    fight = step.table.fights.get(place)
    return {} if fight is None else {uid: group for uid, group in fight.foes.items() if group.number > 0}


def _place_name(step: Step, place: str) -> str:
    return step.table.names.get(place) or step.called(step.table, place)


def run_away(step: Step, declared: Waiting) -> None:
    """Out of a fight by some way, with a blow at one's back."""
    table, who = step.table, declared.who
    place, way = str(declared.place), str(declared.act.what)
    there, character = step.leads(table, place, way), table.character(who)
    fight = table.fights[place]
    play: dict[str, Any] = {"resolves": declared.event_id}
    if there is None or character is None:
        step.add(EventType.DICE_ROLL, tell(step, "stuck", way=way), place=place, play=play)
        return
    uid, group = next(iter(fight.standing.items()), (None, None))
    if uid is not None and group is not None:
        blows = attack_all(
            foe_of(group, 0, uid),
            Combatant.of_character(character, conditions=table.conditions(who)),
            rng=step.rng,
        )
        harm = sum(blow.damage for blow in blows)
        hurt(
            step,
            {who: harm},
            text=tell(step, "fled", who=table.name(who)),
            place=place,
            kind=EventType.COMBAT_ROUND,
            source=uid,
            rolls=dice(*blows),
            play=play,
            enemies=[uid],
        )
    if table.can_act(who):
        go(step, [who], place, way, there)
    if not any(table.can_act(one) for one in table.together(place)):
        foes = " and ".join(one.name for one in fight.foes.values())
        end_fight(step, place, how="lost", text=tell(step, "fight_lost", foes=foes))
