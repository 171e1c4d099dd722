"""Wounds, dying, death and healing of characters, and conditions that end with time."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.referee.event_text import dice, join_names, tell
from dndbots.game.state.step import Step
from dndbots.ids import DM
from dndbots.rules.fights.combatants import Combatant
from dndbots.rules.fights.healing import SENSELESS, Life, bind_wounds, death_watch, life

DYING = "dying"
_SLIGHT: Final = frozenset(("hidden", "guarded"))  # nobody tells later that these passed


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
    """Take hit points from characters. A character at 0 falls and is dying."""
    table = step.table
    wounds = {uid: -points for uid, points in hurts.items() if points > 0}
    falling = find_fallen(step, wounds)
    content = " ".join([text, *(tell(step, "falls", who=table.name(uid)) for uid in falling)])
    step.add(
        kind,
        content,
        source=source,
        place=place,
        participants=[*hurts, *([source] if source != DM else [])],
        play={"rolls": [*rolls], **(play or {})},
        hp_delta={**wounds} or None,
        conditions=_with({uid: [DYING] for uid in falling}, metadata.pop("conditions", None)),
        **metadata,
    )
    record_deaths(step, wounds, place=place)


def find_fallen(step: Step, changes: Mapping[str, int]) -> list[str]:
    """Return the characters who still stand and will fall by these changes of hit points."""
    table = step.table
    left = {uid: table.fact(uid, "hp", 1) + points for uid, points in changes.items()}
    return [uid for uid, hp in left.items() if life(hp) is not Life.UP and DYING not in table.conditions(uid)]


def record_deaths(step: Step, hurts: Iterable[str], *, place: str) -> None:
    """Record the death of each of these characters whose hit points are too low to live."""
    table = step.table
    for uid in hurts:
        if life(table.fact(uid, "hp", 1)) is Life.DEAD and table.alive(uid):
            record_death(step, uid, place=place)


def _with(first: dict[str, list[str]], more: JsonValue) -> JsonValue:
    """Merge conditions from two sources."""
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
    """Give hit points back, up to the maximum. For the dying, healing counts from 0."""
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


def roll_death_saves(step: Step) -> None:
    """Roll for each dying character: it bleeds, rallies or dies."""
    table = step.table
    for who in [uid for uid in table.living() if DYING in table.conditions(uid)]:
        sheet, place = table.character(who), table.place(who)
        if sheet is None or place is None:
            continue
        made = death_watch(Combatant.of_character(sheet, conditions=[DYING]), rng=step.rng)
        if made.result == "dies":
            record_death(step, who, place=place, play={"rolls": dice(made)})
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


def record_death(step: Step, who: str, *, place: str, play: Mapping[str, Any] | None = None) -> None:
    """Record a character's death. Its seat is free again; its belongings stay with it."""
    name = step.table.name(who)
    step.add(
        EventType.DEATH,
        tell(step, "dies", who=name),
        place=place,
        participants=[who],
        play={"gist": f"{name} died", "left": who, **(play or {})},
        killed=[who],
    )


def bind_friend(step: Step, who: str, friend: str, *, resolves: str) -> None:
    """Bind a friend's wounds: the friend stops dying but stays weak."""
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


def expire_conditions(step: Step) -> None:
    """End the conditions of characters whose time is up."""
    table = step.table
    for place, here in table.scenes().items():
        over: dict[str, list[str]] = {}
        for uid in here:
            ends = table.until.get(uid, {})
            names = [name for name in table.conditions(uid) if ends.get(name, step.round) < step.round]
            if names:
                over[uid] = names
        if over:
            told = [_told_over(step, uid, names) for uid, names in over.items()]
            ended: dict[str, JsonValue] = {uid: [f"-{name}" for name in names] for uid, names in over.items()}
            slight = _SLIGHT.issuperset(name for names in over.values() for name in names)
            step.add(EventType.CONDITION, " ".join(told), place=place, conditions=ended, aside=slight)


def _told_over(step: Step, uid: str, names: list[str]) -> str:
    """Return how a character is rid of conditions."""
    who = step.table.name(uid)
    if names == [SENSELESS]:
        return tell(step, "wakes", who=who)
    return tell(step, "over", who=who, what=join_names(names))
