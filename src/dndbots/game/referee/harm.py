"""Wounds and what comes of them: falling, dying, death; and healing."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.telling import dice, tell
from dndbots.game.steps import Step
from dndbots.ids import DM
from dndbots.rules.combatants import Combatant
from dndbots.rules.healing import Life, bind_wounds, death_watch, life

DYING = "dying"


def hurt(
    step: Step,
    hurts: Mapping[str, int],
    *,
    text: str,
    place: str,
    kind: EventType = EventType.DAMAGE,
    source: str = DM,
    rolls: Iterable[JsonValue] = (),
    play: Mapping[str, Any] | None = None,
    **metadata: Any,
) -> None:
    """Takes hit points from characters. Who comes to 0 falls, and is dying."""
    table = step.table
    wounds = {uid: -points for uid, points in hurts.items() if points > 0}
    falling = who_falls(step, wounds)
    said = " ".join([text, *(tell(step, "falls", who=table.name(uid)) for uid in falling)])
    step.add(
        kind,
        said,
        source=source,
        place=place,
        participants=[*hurts, *([source] if source != DM else [])],
        play={"rolls": [*rolls], **(play or {})},
        hp_delta={**wounds} or None,
        conditions=_with({uid: [DYING] for uid in falling}, metadata.pop("conditions", None)),
        **metadata,
    )
    bury(step, wounds, place=place)


def who_falls(step: Step, changes: Mapping[str, int]) -> list[str]:
    """Of those whose hit points are about to change, who then stands no more and stood before."""
    table = step.table
    left = {uid: table.fact(uid, "hp", 1) + points for uid, points in changes.items()}
    return [uid for uid, hp in left.items() if life(hp) is not Life.UP and DYING not in table.conditions(uid)]


def bury(step: Step, hurts: Iterable[str], *, place: str) -> None:
    """Whoever of those is past all help, now that they are hurt, dies."""
    table = step.table
    for uid in hurts:
        if life(table.fact(uid, "hp", 1)) is Life.DEAD and table.alive(uid):
            dies(step, uid, place=place)


def _with(first: dict[str, list[str]], more: JsonValue) -> JsonValue:
    """Conditions of several people from two sources, as one."""
    joined: dict[str, list[str]] = {uid: [*names] for uid, names in first.items()}
    if isinstance(more, dict):
        for uid, names in more.items():
            if isinstance(names, list):
                joined.setdefault(uid, []).extend(str(name) for name in names)
    return {uid: [*names] for uid, names in joined.items()} or None


def heal(
    step: Step,
    who: str,
    amount: int,
    *,
    text: str,
    place: str,
    source: str = DM,
    rolls: Iterable[JsonValue] = (),
    play: Mapping[str, Any] | None = None,
    **metadata: Any,
) -> None:
    """Gives hit points back, up to what somebody has when well. Healing counts from 0 for the dying."""
    table = step.table
    hp, most = table.fact(who, "hp", 0), table.fact(who, "hp_max", 0)
    gained = min(most, max(hp, 0) + amount) - hp
    cured = [f"-{DYING}"] if DYING in table.conditions(who) and amount > 0 else []
    step.add(
        EventType.HEALING,
        text,
        source=source,
        place=place,
        participants=[who, *([source] if source != DM else [])],
        play={"rolls": [*rolls], **(play or {})},
        hp_delta={who: gained} if gained else None,
        conditions={who: [*cured]} if cured else None,
        **metadata,
    )


def dying(step: Step) -> None:
    """Everybody who lies dying saves, or dies."""
    table = step.table
    for who in [uid for uid in table.living() if DYING in table.conditions(uid)]:
        sheet, place = table.character(who), table.place(who)
        if sheet is None or place is None:
            continue
        made = death_watch(Combatant.of_character(sheet, conditions=[DYING]), rng=step.rng)
        if made.result == "dies":
            dies(step, who, place=place, play={"rolls": dice(made)})
            continue
        change = made.hp_after - sheet.hp
        step.add(
            EventType.DICE_ROLL,
            tell(step, "dying" if made.result == "bleeds" else "holds_on", who=table.name(who)),
            place=place,
            participants=[who],
            play={"rolls": dice(made)},
            hp_delta={who: change} if change else None,
            conditions={who: [f"-{DYING}"]} if made.result == "rallies" else None,
        )


def dies(step: Step, who: str, *, place: str, play: Mapping[str, Any] | None = None) -> None:
    """A character's death. The seat is free again; what the dead carried stays with them."""
    name = step.table.name(who)
    step.add(
        EventType.DEATH,
        tell(step, "dies", who=name),
        place=place,
        participants=[who],
        play={"gist": f"{name} died", "left": who, **(play or {})},
        killed=[who],
    )


def bind(step: Step, who: str, friend: str, *, resolves: str) -> None:
    """Somebody binds a friend's wounds: no more dying, though far from well."""
    table = step.table
    sheet, place = table.character(friend), table.place(who)
    if sheet is None or place is None:
        return
    made = bind_wounds(Combatant.of_character(sheet, conditions=[DYING]))
    begins = [made.condition] if made.condition else []
    step.add(
        EventType.HEALING,
        tell(step, "steadied", who=table.name(friend), friend=table.name(who)),
        place=place,
        participants=[who, friend],
        play={
            "rolls": dice(made),
            "resolves": resolves,
            "until": {friend: dict.fromkeys(begins, step.round + 1)},
        },
        hp_delta={friend: made.healed},
        conditions={friend: [f"-{DYING}", *begins]},
    )
