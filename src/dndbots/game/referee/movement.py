"""Movement: all who said where to go leave together at the end of a round.

Those who stay see them leave, and those who are there see them come. Only the movers learn where the way
leads.
"""

from collections import Counter
from typing import Any

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.acts import Act, Verb
from dndbots.game.referee.blows import foe_of
from dndbots.game.referee.event_text import dice, party_names, tell
from dndbots.game.referee.fights import end_fight, fight_as_seen
from dndbots.game.referee.harm import hurt
from dndbots.game.referee.sightings import at_fact, foes_at_facts, left_fact, visible_conditions
from dndbots.game.state.pieces import FoeGroup, PendingAct
from dndbots.game.state.step import Step
from dndbots.rules.fights.attacks import attack_all
from dndbots.rules.fights.combatants import Combatant
from dndbots.text.word_forms import with_the


def march(step: Step) -> None:
    """Move the party. A character who named no way and is not busy goes with the majority."""
    table = step.table
    for place, here in list(table.scenes().items()):
        if place in table.fights:
            continue
        for way, movers in _groups(step, here).items():
            there = step.leads(table, place, way)
            if there is None:
                step.add(EventType.DM_NARRATION, tell(step, "stuck", way=way), place=place)
            else:
                move_group(step, movers, place, way, there)
    if not step.events:
        step.add(EventType.SYSTEM, "The party stays where it is.", witnesses=[], aside=True)


def _groups(step: Step, here: list[str]) -> dict[str, list[str]]:
    """Return the movers by way."""
    table = step.table
    wishes = {uid: act for uid in here if (act := table.intents.get(uid)) is not None}
    wanted = Counter(act.what for act in wishes.values() if act.verb is Verb.GO and act.what)
    if not wanted:
        return {}
    most = max(wanted, key=lambda way: wanted[way])
    busy = {pending.who for pending in table.waiting if pending.act.awaits_dm}
    groups: dict[str, list[str]] = {str(way): [] for way in wanted}
    for uid in here:
        act = wishes.get(uid, Act(verb=Verb.STAY) if uid in busy else Act(verb=Verb.GO, what=most))
        if act.verb is Verb.GO and act.what:
            groups[act.what].append(uid)
    return groups


def move_group(step: Step, movers: list[str], place: str, way: str, there: str) -> None:
    """Move some characters to another place. Those who stay see them leave, but not where to."""
    who = party_names(step, movers)
    staying = [uid for uid in step.present(place) if uid not in movers]
    if staying:
        gone: list[JsonValue] = [left_fact(place, uid) for uid in movers]
        text = tell(step, "leave_seen", who=who, way=way)
        step.add(EventType.DM_NARRATION, text, place=place, witnesses=staying, facts=gone, aside=True)
    text = _leaving(step, movers, place, way, there)
    route: dict[str, Any] = {"way": way, "origin": place, "minutes": 10}
    meets = [uid for uid in step.present(there) if uid not in movers]
    # Party members always see each other. The DM tells of anybody else who is there.
    friends = [uid for uid in meets if uid in step.table.seats]
    seen: list[JsonValue] = [at_fact(there, uid) for uid in friends]
    if meets:
        # Those who only see them come must not learn from where.
        step.add(
            EventType.DM_NARRATION,
            text,
            place=there,
            participants=movers,
            witnesses=[],
            play={**route},
            aside=True,
        )
        text, route = tell(step, "comes", who=who, place=_place_name(step, there)), {}
    foes = _foes_there(step, there)
    step.add(
        EventType.LOCATION_CHANGE,
        text,
        place=there,
        participants=movers,
        witnesses=meets,
        names={there: _place_name(step, there), **{uid: group.name for uid, group in foes.items()}},
        facts=seen
        + [fact for uid, group in foes.items() for fact in foes_at_facts(there, uid, group.number)],
        conditions=visible_conditions(step, [*movers, *friends]),
        play={**route, "fight": fight_as_seen(step.table.fights.get(there))},
    )


def _leaving(step: Step, movers: list[str], place: str, way: str, there: str) -> str:
    """Return what movers are told of their way: the whole party is "you", and a known way needs few words."""
    who = "you" if {*step.table.living()} == {*movers} else party_names(step, movers)
    if not all(step.knows(uid, there) for uid in movers):
        return tell(step, "leave_unnamed", who=who, way=way)
    name = step.table.name(there)
    is_known = all(step.of(uid).ways.get(place, {}).get(way) == there for uid in movers)
    # A way may be named after the place it leads to.
    rule = "leave_to" if with_the(way) == with_the(name) else "leave.again" if is_known else "leave"
    return tell(step, rule, who=who, place=name, **({} if rule == "leave_to" else {"way": way}))


def _foes_there(step: Step, place: str) -> dict[str, FoeGroup]:
    """Return the foes of a fight at a place: newcomers see them."""
    fight = step.table.fights.get(place)
    return {} if fight is None else {uid: group for uid, group in fight.foes.items() if group.number > 0}


def _place_name(step: Step, place: str) -> str:
    return step.table.names.get(place) or step.called(step.table, place)


def run_away(step: Step, declared: PendingAct) -> None:
    """Flee from a fight by some way; one group of foes gets a free attack."""
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
        move_group(step, [who], place, way, there)
    if not any(table.can_act(uid) for uid in table.together(place)):
        foes = " and ".join(group.name for group in fight.foes.values())
        end_fight(step, place, how="lost", text=tell(step, "fight_lost", foes=foes))
