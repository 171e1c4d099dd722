"""Attempts against the odds: an ability check, an outcome that is told, a consequence that is recorded."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from dndbots.events import EventType
from dndbots.game.acts import Act, Attempt
from dndbots.game.referee.event_text import dice, tell
from dndbots.game.referee.fights import foes_flee
from dndbots.game.state.options import Surroundings
from dndbots.game.state.pieces import PendingAct
from dndbots.game.state.step import Step
from dndbots.ids import DM
from dndbots.rules.checks import ability_check
from dndbots.rules.dice import roll
from dndbots.rules.fights.attacks import morale
from dndbots.rules.fights.monsters import monster
from dndbots.rules.outcomes import Check
from dndbots.text.english_words import STOP_WORDS
from dndbots.text.word_forms import with_the
from dndbots.text.words import stem, words_of

_BONUS: Final = {"easy": 4, "fair": 0, "hard": -4, "heroic": -8}
_HIDDEN: Final = "hidden"
_GUARDED: Final = "guarded"
_ROUNDS: Final = 1  # how long somebody stays hidden or guarded
_SCARED: Final = -2  # to the morale of foes who were scared
_PURSE: Final = "1d6"
_TAKING: Final = ("take", "pickpocket")
# What people think of somebody after it, if it works and if it fails.
_REPUTATION: Final[dict[str, tuple[int, int]]] = {
    "afraid": (-1, -1),
    "swayed": (1, 0),
    "helped": (1, 0),
    "comforted": (1, 0),
    "fooled": (0, -1),
    "stolen": (0, -3),
    "burnt": (-2, -1),
    "broken": (-1, 0),
}


@dataclass
class _Consequence:
    """The metadata of an outcome, for canon."""

    conditions: dict[str, JsonValue] = field(default_factory=dict)
    until: dict[str, dict[str, int]] = field(default_factory=dict)
    facts: list[JsonValue] = field(default_factory=list)
    loot: list[JsonValue] = field(default_factory=list)
    reputation: dict[str, JsonValue] = field(default_factory=dict)


def resolve_attempt(step: Step, declared: PendingAct) -> None:
    """Roll for an attempt, tell what comes of it, and record the consequence."""
    table, act, who = step.table, declared.act, declared.who
    attempt, sheet = act.attempt, table.character(who)
    if attempt is None:
        return
    if _grasps_at_nothing(step, declared, attempt):
        step.add(
            EventType.DM_NARRATION,
            tell(step, "nothing_there", what=_missing(step, declared)),
            place=declared.place,
            participants=[who],
            play={"resolves": declared.event_id},
            attempt={**_attempt_note(attempt, act, works=False), "effects": []},
        )
        return
    check: Check | None = None
    if attempt.level in _BONUS and sheet is not None:
        bonus = _BONUS[attempt.level]
        check = ability_check(
            sheet, attempt.ability, rng=step.rng, bonus=bonus, conditions=table.conditions(who)
        )
    works = check is None or check.success
    outcome = _consequence(step, declared, attempt, works=works)
    step.add(
        EventType.DM_NARRATION,
        _text(step, declared, attempt, works=works),
        place=declared.place,
        participants=[who, *_second(step, act, declared.place)],
        play={
            "resolves": declared.event_id,
            "rolls": dice(check) if check is not None else [],
            "until": outcome.until,
        },
        conditions=outcome.conditions or None,
        facts=outcome.facts,
        loot=outcome.loot,
        reputation=outcome.reputation or None,
        attempt=_attempt_note(attempt, act, works=works),
    )
    if works and attempt.effect == "afraid" and act.target is not None:
        _shake_morale(step, str(declared.place), act.target)


def _grasps_at_nothing(step: Step, declared: PendingAct, attempt: Attempt) -> bool:
    """Return whether something is tried on who has left, or on a thing that nobody saw or heard of here."""
    act, table, place = declared.act, step.table, declared.place
    if act.target is not None and act.target.startswith(("npc_", "mon_")):
        here = Surroundings(step.of(declared.who), declared.who)
        return act.target not in (*here.people(), *here.foes())
    if attempt.approach not in _TAKING or act.target is not None or not act.what or place is None:
        return False
    sights = table.sights.get(place)
    seen = [*sights.things.values(), *sights.ways] if sights is not None else []
    told = [event.content for event in table.lately if event.known.location == place and event.source == DM]
    shown = " ".join((*seen, *told, str(table.fact(place, "looks", "")), *table.items(declared.who)))
    wanted = {stem(word) for word in words_of(act.what) if word not in STOP_WORDS}
    return bool(wanted) and wanted.isdisjoint(map(stem, words_of(shown)))


def _missing(step: Step, declared: PendingAct) -> str:
    """Return what is not here, as whoever reaches for it calls it."""
    act, who = declared.act, declared.who
    return act.what or "that" if act.target is None else Surroundings(step.of(who), who).called(act.target)


def _second(step: Step, act: Act, place: str | None) -> list[str]:
    """Return the person or friend at whom it is aimed, if they are here."""
    present = step.present(place) if place is not None else []
    return [act.target] if act.target in present else []


def _attempt_note(attempt: Attempt, act: Act, *, works: bool) -> dict[str, JsonValue]:
    """Return what was tried and what came of it: `hidden`, `seen`, `afraid`, `burnt`, `noise` and so on."""
    effects = [attempt.effect] if works and attempt.effect else []
    if not works and attempt.approach in ("hide", "sneak", "pickpocket", "take"):
        effects.append("seen")
    if attempt.noise:
        effects.append("noise")
    note: dict[str, JsonValue] = {
        "approach": attempt.approach,
        "ability": attempt.ability,
        "level": attempt.level,
        "success": works,
        "effects": [*effects],
    }
    return {**note, "what": act.what} if act.what else note


def _consequence(step: Step, declared: PendingAct, attempt: Attempt, *, works: bool) -> _Consequence:
    act, who, place = declared.act, declared.who, declared.place
    found, effect, target = _Consequence(), attempt.effect or "", act.target or ""
    ends = step.round + _ROUNDS
    if works and effect == _HIDDEN:
        found.conditions[who], found.until[who] = [_HIDDEN], {_HIDDEN: ends}
    elif works and effect in (_GUARDED, "guarding"):
        guarded = target if effect == "guarding" and target.startswith("pc_") else who
        found.conditions[guarded], found.until[guarded] = [_GUARDED], {_GUARDED: ends}
    elif works and effect in ("burnt", "broken") and place is not None:
        found.facts.append({"subject": place, "key": effect, "value": act.what or "something"})
    if target.startswith("npc_"):
        gained = _REPUTATION.get(effect, (0, 0))[0 if works else 1]
        found.reputation = {target: gained} if gained else {}
        if works and effect in ("afraid", "swayed", "fooled", "comforted"):
            found.facts.append({"subject": target, "key": "mood", "value": effect})
        if works and effect == "stolen":
            found.loot.append({"gold": roll(_PURSE, rng=step.rng).total, "to": who})
    return found


def _text(step: Step, declared: PendingAct, attempt: Attempt, *, works: bool) -> str:
    """Return the outcome in the words of the house: those of the approach, or plain ones."""
    act, table = declared.act, step.table
    key = f"{'attempt_works' if works else 'attempt_fails'}.{attempt.approach}"
    whom = with_the(table.name(act.target)) if act.target is not None else "everybody"
    what = with_the(act.what) if act.what else "it"
    return tell(step, key, who=table.name(declared.who), whom=whom, what=what)


def _shake_morale(step: Step, place: str, target: str) -> None:
    """Let foes in a fight check their morale after a scare; those who break run."""
    fight = step.table.fights.get(place)
    if fight is None or target not in fight.standing:
        return
    made = morale(monster(fight.foes[target].monster).morale, rng=step.rng, bonus=_SCARED)
    if not made.success:
        foes_flee(step, place, target, dice(made))
