"""Experience, levels, rest, and new faces: what changes a sheet outside of blows."""

from collections.abc import Callable, Iterable
from functools import partial

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.telling import dice, tell
from dndbots.game.sheets import SPELLS, XP, own_facts, public_facts
from dndbots.game.steps import Step
from dndbots.ids import PARTY_UID
from dndbots.models import Character
from dndbots.rules import healing
from dndbots.rules.classes import char_class
from dndbots.rules.experience import level_for, level_up, lose_level, share, xp_needed
from dndbots.rules.spells import spells_for

Growth = Callable[[str], None]


def shares_of(step: Step, who: Iterable[str], xp: int) -> tuple[list[JsonValue], list[Growth]]:
    """What everybody's experience comes to, as facts, and the levels that they reach by it."""
    facts: list[JsonValue] = []
    grown: list[Growth] = []
    party = [sheet for uid in who if (sheet := step.table.character(uid)) is not None]
    if xp <= 0:
        return facts, grown
    shares = dict(share(xp, party).shares)
    for sheet in party:
        total = int(step.table.fact(sheet.uid, XP, 0)) + shares[sheet.uid]
        facts.append({"subject": sheet.uid, "key": XP, "value": total})
        if level_for(sheet.char_class, total) > sheet.level:
            grown.append(partial(_level, step, sheet.uid))
    return facts, grown


def award(step: Step, who: Iterable[str], xp: int, *, text: str, place: str) -> None:
    """Experience for something done, shared among those who did it."""
    here = list(who)
    facts, grown = shares_of(step, here, xp)
    step.add(EventType.SYSTEM, text, place=place, participants=here, facts=facts)
    for growth in grown:
        growth(place)


def _level(step: Step, uid: str, place: str) -> None:
    """One level at a time, as the old books have it."""
    character = step.table.character(uid)
    if character is None:
        return
    made = level_up(character, rng=step.rng)
    name = step.table.name(uid)
    facts: list[JsonValue] = [
        {"subject": uid, "key": "level", "value": made.character.level},
        {"subject": uid, "key": "hp_max", "value": made.character.hp_max},
    ]
    step.add(
        EventType.SYSTEM,
        tell(step, "levels", who=name, level=str(made.character.level)),
        place=place,
        participants=[uid],
        play={"rolls": dice(made), "gist": f"{name} rose to level {made.character.level}"},
        facts=facts,
        hp_delta={uid: made.hp_change},
    )


def drain(step: Step, uid: str, place: str) -> None:
    """A level lost to something that feeds on life, and the experience that went into it."""
    character = step.table.character(uid)
    if character is None:
        return
    made = lose_level(character, rng=step.rng)
    after, name = made.character, step.table.name(uid)
    facts: list[JsonValue] = [
        {"subject": uid, "key": "level", "value": after.level},
        {"subject": uid, "key": "hp_max", "value": after.hp_max},
        {"subject": uid, "key": XP, "value": xp_needed(after.char_class, after.level) or 0},
    ]
    lost = after.hp - character.hp
    step.add(
        EventType.CONDITION,
        f"Something goes out of {name}, and does not come back.",
        place=place,
        participants=[uid],
        play={"rolls": dice(made), "gist": f"{name} lost a level of life"},
        facts=facts,
        hp_delta={uid: lost} if lost else None,
    )


def join(
    step: Step,
    character: Character,
    *,
    seat: int,
    temper: str,
    goal: str,
    place: str,
    text: str,
    witnesses: Iterable[str] | None = None,
) -> None:
    """Somebody takes a seat: all who are there learn each other's names, and the sheet is its own.

    `witnesses` are those who see it, where that is not everybody at the place.
    """
    uid = character.uid
    here = step.table.together(place)
    joined: dict[str, JsonValue] = {"uid": uid, "seat": seat}
    member: list[JsonValue] = [
        *public_facts(character),
        {"subject": uid, "op": "in", "object": PARTY_UID},
    ]
    step.add(
        EventType.DM_NARRATION,
        text,
        place=place,
        participants=[uid],
        witnesses=step.present(place) if witnesses is None else witnesses,
        play={"joined": {**joined}},
        names={uid: character.name, PARTY_UID: "the party", **{one: step.table.name(one) for one in here}},
        facts=member,
    )
    spells = spells_of(step, character)
    own: list[JsonValue] = [*own_facts(character)]
    if spells:
        own.append({"subject": uid, "key": SPELLS, "value": [*spells]})
    step.add(
        EventType.SYSTEM,
        f"{character.name} is ready.",
        witnesses=[uid],
        play={"joined": {**joined, "temper": temper, "goal": goal}},
        facts=own,
        loot=[{"item": item, "to": uid} for item in character.equipment],
    )


def rest(step: Step, place: str, *, text: str, hours: int = 8) -> None:
    """A night's rest: wounds close a little, spells come back, and most that ails passes."""
    table = step.table
    here = table.together(place)
    hp: dict[str, JsonValue] = {}
    facts: list[JsonValue] = []
    better: dict[str, JsonValue] = {}
    rolls: list[JsonValue] = []
    for uid in here:
        character = table.character(uid)
        if character is None:
            continue
        if character.hp > 0:
            made = healing.rest(character, rng=step.rng)
            rolls += dice(made)
            if made.healed:
                hp[uid] = made.healed
        spells = spells_of(step, character)
        if spells:
            facts.append({"subject": uid, "key": SPELLS, "value": [*spells]})
        passing = [f"-{name}" for name in table.conditions(uid) if name in table.until.get(uid, {})]
        if passing:
            better[uid] = [*passing]
    step.add(
        EventType.HEALING,
        text,
        place=place,
        participants=here,
        play={"rolls": rolls, "minutes": hours * 60},
        hp_delta=hp or None,
        conditions=better or None,
        facts=facts,
    )


def spells_of(step: Step, character: Character) -> list[str]:
    """The spells that somebody has ready after a night: as many as the class allows, of those that it knows.

    Those that do something in a fight are taken up before those that only change the scene.
    """
    ready: list[str] = []
    for level, slots in enumerate(char_class(character.char_class).slots_at(character.level), 1):
        known = list(spells_for(character.char_class, level))
        step.rng.shuffle(known)
        known.sort(key=lambda one: not one.effects)
        ready += [known[n % len(known)].name for n in range(slots if known else 0)]
    return ready
