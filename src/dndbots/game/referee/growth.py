"""Changes to sheets outside of fights: experience, levels, rest, and new characters."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.event_text import dice, tell
from dndbots.game.state.scene_tags import A_NIGHT
from dndbots.game.state.sheet_facts import SPELLS, XP, nature_facts, own_facts, public_facts
from dndbots.game.state.step import Step
from dndbots.ids import PARTY_UID
from dndbots.models import Character
from dndbots.rules.characters.classes import char_class
from dndbots.rules.experience import level_for, level_up, lose_level, share, xp_needed
from dndbots.rules.fights import healing
from dndbots.rules.fights.spells import spells_for

Growth = Callable[[str], None]
_A_DAY: Final = 24 * 60


def shares_of(step: Step, who: Iterable[str], xp: int) -> tuple[list[JsonValue], list[Growth]]:
    """Return everybody's new experience as facts, and a function for each level gained."""
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
    """Share experience among some characters, and raise their levels."""
    here = list(who)
    facts, grown = shares_of(step, here, xp)
    step.add(EventType.SYSTEM, text, place=place, participants=here, facts=facts)
    for growth in grown:
        growth(place)


def _level(step: Step, uid: str, place: str) -> None:
    """Raise a character by one level: never more at once, as in the old rules."""
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
    """Take a level from a character, with the experience that went into it."""
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


def seat_character(
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
    """Give a character a seat: all who are there learn each other's names, and it learns its own sheet.

    `witnesses` see it arrive; by default everybody at the place.
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
        names={
            uid: character.name,
            PARTY_UID: "the party",
            **{other: step.table.name(other) for other in here},
        },
        facts=member,
        aside=True,
    )
    spells = spells_of(step, character)
    own: list[JsonValue] = [*own_facts(character), *nature_facts(character, temper=temper, goal=goal)]
    if spells:
        own.append({"subject": uid, "key": SPELLS, "value": [*spells]})
    step.add(
        EventType.SYSTEM,
        f"{character.name} is ready.",
        witnesses=[uid],
        play={"joined": {**joined, "temper": temper, "goal": goal}},
        facts=own,
        loot=[{"item": item, "to": uid} for item in character.equipment],
        aside=True,
    )


def rest_party(step: Step, place: str, *, text: str, nights: int = 1) -> None:
    """Let the party rest: wounds heal a little each night, spells come back, and timed conditions end."""
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
            made = healing.rest(character, rng=step.rng, nights=nights)
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
        play={"rolls": rolls, "minutes": A_NIGHT + (nights - 1) * _A_DAY},
        hp_delta=hp or None,
        conditions=better or None,
        facts=facts,
    )


def spells_of(step: Step, character: Character) -> list[str]:
    """Return the spells that a character has ready after a night, as many as its class allows.

    Spells with an effect in a fight come before those that only change the scene.
    """
    ready: list[str] = []
    for level, slots in enumerate(char_class(character.char_class).slots_at(character.level), 1):
        known = list(spells_for(character.char_class, level))
        step.rng.shuffle(known)
        known.sort(key=lambda spell: not spell.effects)
        ready += [known[n % len(known)].name for n in range(slots if known else 0)]
    return ready
