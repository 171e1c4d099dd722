"""Acts of characters: recorded in the player's words if the rules allow them, then decided by dice."""

from typing import Any, Final, Literal

from pydantic import JsonValue

from dndbots.canon.claims import claim_of
from dndbots.errors import ActRefused
from dndbots.events import EventType
from dndbots.game.acts import MOVES, Act, Verb
from dndbots.game.referee.attempts import resolve_attempt
from dndbots.game.referee.belongings import use_item
from dndbots.game.referee.blows import attack_foes
from dndbots.game.referee.event_text import describe_deed
from dndbots.game.referee.harm import DYING, bind_friend
from dndbots.game.referee.magic import cast_spell
from dndbots.game.referee.movement import run_away
from dndbots.game.state.step import Step
from dndbots.game.state.table import Table
from dndbots.rules import conditions
from dndbots.text.word_forms import is_plural

_TALK: Final = frozenset((Verb.SAY, Verb.TELL, Verb.WHISPER))
# Deeds that are not possible in a fight.
_AT_PEACE: Final = frozenset(
    (Verb.GO, Verb.STAY, Verb.SEARCH, Verb.LOOK, Verb.TAKE, Verb.OPEN, Verb.ASK, Verb.ACCEPT, Verb.REST)
) | {Verb.BUY, Verb.SELL}


def record_act(step: Step, who: str, act: Act) -> None:
    """Record what a character says and tries, and a second deed if the turn allows it.

    `ActRefused` says why it cannot, and nothing is recorded.
    """
    then, act = act.then, act.model_copy(update={"then": None})
    _record_deed(step, who, act)
    if then is not None and can_follow(act, then) and refusal(step.table, who, then) is None:
        _record_deed(step, who, then)


def can_follow(first: Act, second: Act) -> bool:
    """Check that a turn has room for a second deed: words always, else what the first does not hold up."""
    if second.verb in _TALK:
        return True
    if second.verb is Verb.STAY and first.verb not in MOVES:
        return True  # who sits down where they are loses no answer
    if first.verb in MOVES or first.verb in (Verb.FLEE, Verb.REST, Verb.SEARCH):
        return False
    if second.verb in MOVES or second.verb is Verb.REST:
        return not first.awaits_dm  # whoever leaves hears no answer
    return not (first.awaits_dice and second.awaits_dice)


def _record_deed(step: Step, who: str, act: Act) -> None:
    reason = refusal(step.table, who, act)
    if reason is not None:
        raise ActRefused(who, verb=act.verb.value, reason=reason)
    place = step.table.place(who)
    others = [uid for uid in step.present(place) if uid != who] if place is not None else []
    act = _to_those_here(act, [who, *others])
    kind = _kind(act)
    own = step.of(who)
    tells = [deed.event_id for deed in own.deeds if deed.event_id in act.tells]
    play: dict[str, Any] = {"act": act.model_dump(mode="json", exclude_defaults=True), "tells": tells}
    metadata: dict[str, JsonValue] = {}
    participants = [who]
    if act.verb is Verb.WHISPER:
        metadata["told_to"] = [act.target]
        others = []
    elif act.verb is Verb.TELL:
        participants += [uid for uid in others if uid.startswith("pc_")]
    elif act.target is not None and act.target in others:
        participants.append(act.target)
    if act.tells:
        metadata |= _told(own, act)
    elif (act.what or "").startswith("qst_"):
        # Bystanders hear the name of the quest now, if not before.
        metadata["names"] = {str(act.what): own.name(str(act.what))}
    if act.verb is Verb.GIVE:
        metadata["loot"] = [_gift(who, act)]
    if act.target is not None and act.target.startswith("mon_"):
        metadata |= _foes(own, act, act.target, others)
    step.add(
        kind,
        act.words or describe_deed(own, who, act),
        source=who,
        place=place,
        participants=participants if act.verb is not Verb.WHISPER else [],
        witnesses=others,
        play=play,
        **metadata,
    )


def _gift(who: str, act: Act) -> dict[str, JsonValue]:
    """Return what changes hands. Foes keep no purse that the rules know of."""
    given: dict[str, JsonValue] = {"gold": act.gold} if act.gold else {"item": act.what}
    to = {} if str(act.target).startswith("mon_") else {"to": act.target}
    return {**given, **to, "from": who}


def _foes(own: Table, act: Act, foe: str, others: list[str]) -> dict[str, JsonValue]:
    """Return the foe as an enemy; or its name, for listeners who came in the middle of a fight."""
    if act.verb in (Verb.ATTACK, Verb.CAST):
        return {"enemies": [foe]}
    is_shown = foe in others or not any(uid.startswith("npc_") for uid in others)
    return {} if is_shown else {"names": {foe: own.name(foe)}}


def _to_those_here(act: Act, here: list[str]) -> Act:
    """Drop a target from the party who has left: bystanders may never have heard of them."""
    gone = act.target is not None and act.target.startswith("pc_") and act.target not in here
    return act.model_copy(update={"target": None}) if gone else act


def _kind(act: Act) -> EventType:
    if act.verb is Verb.WHISPER:
        return EventType.WHISPER
    return EventType.DIALOGUE if act.verb in _TALK or act.verb is Verb.ASK else EventType.PLAYER_ACTION


def _told(own: Table, act: Act) -> dict[str, JsonValue]:
    """Return the facts and names of retold deeds, as far as the teller itself learnt them."""
    deeds = [deed for deed in own.deeds if deed.event_id in act.tells]
    # Facts from character sheets are no news. Of two values for one slot, only the newer one is told.
    told = (fact for deed in deeds for fact in deed.facts if not fact.subject.startswith("pc_"))
    facts = {(claim := claim_of(fact)).subject + claim.slot: fact for fact in told}
    names = {uid: own.names[uid] for deed in deeds for uid in deed.about if uid in own.names}
    return {
        "facts": [fact.model_dump(mode="json", exclude_defaults=True) for fact in facts.values()],
        "names": {**names},
    }


def refusal(table: Table, who: str, act: Act) -> str | None:
    """Return why a character cannot do something; None if it can."""
    if not table.alive(who):
        return "the dead cannot act"
    if not table.can_act(who):
        return f"you cannot act: you are {', '.join(table.conditions(who))}"
    fight = table.fights.get(table.place(who) or "")
    if fight is not None and act.verb in _AT_PEACE:
        return "there is a fight; attack, cast, bind, flee, parley, or say something"
    able = _ABLE.get(act.verb)
    if able is not None and not conditions.can(table.conditions(who), able):
        return f"you cannot do that while you are {', '.join(table.conditions(who))}"
    needs = _NEEDS.get(act.verb)
    return needs(table, who, act) if needs is not None else None


_ABLE: Final[dict[Verb, Literal["attacks", "casts", "moves"]]] = {
    Verb.ATTACK: "attacks",
    Verb.CAST: "casts",
    Verb.GO: "moves",
    Verb.FLEE: "moves",
}


def _target_here(table: Table, who: str, act: Act) -> str | None:
    if act.target is None:
        return "say whom you mean"
    if act.target == who:
        return "choose somebody other than yourself"
    if table.place(act.target) != table.place(who) or not table.alive(act.target):
        name = table.name(act.target)
        return f"{name} {'are' if is_plural(name) else 'is'} not here"
    return None


def _can_attack(table: Table, who: str, act: Act) -> str | None:
    fight = table.fights.get(table.place(who) or "")
    if fight is None:
        can_be_hit = act.target is not None and act.target.startswith(("mon_", "npc_"))
        return _target_here(table, who, act) if can_be_hit else "there is nobody here to fight"
    if act.target is None:
        return f"say whom you attack: {', '.join(group.name for group in fight.standing.values())}"
    if act.target not in fight.foes or fight.foes[act.target].number <= 0:
        foes = ", ".join(group.name for group in fight.standing.values())
        return f"{table.name(str(act.target))} cannot be fought here; the foes are {foes}"
    return None


def _can_cast(table: Table, who: str, act: Act) -> str | None:
    ready = table.spells(who)
    if act.what in ready:
        return None
    rest = f"your spells are {', '.join(ready)}" if ready else "you have no spell left"
    return f"{act.what!r} is not ready; {rest}"


def _can_bind(table: Table, who: str, act: Act) -> str | None:
    missing = _target_here(table, who, act)
    if missing is None and DYING not in table.conditions(str(act.target)):
        return f"{table.name(str(act.target))} is not dying"
    return missing


def _can_go(table: Table, who: str, act: Act) -> str | None:
    sights = table.sights.get(table.place(who) or "")
    ways = sights.ways if sights is not None else ()
    if act.what in ways:
        return None
    rest = f"the ways are {', '.join(ways)}" if ways else "you know of no way out"
    return f"there is no way {act.what!r} here; {rest}"


def _can_flee(table: Table, who: str, act: Act) -> str | None:
    if table.place(who) not in table.fights:
        return "there is nothing to flee from"
    return _can_go(table, who, act)


def _can_give(table: Table, who: str, act: Act) -> str | None:
    return _carries(table, who, act) or _target_here(table, who, act)


def _carries(table: Table, who: str, act: Act) -> str | None:
    if act.gold:
        has = int(table.fact(who, "gold", 0))
        return None if has >= act.gold else f"you have only {has} gold"
    return None if act.what in table.items(who) else f"you have no {act.what!r}"


def _names_something(_table: Table, _who: str, act: Act) -> str | None:
    return None if act.what else "say what you mean"


_NEEDS: Final = {
    Verb.WHISPER: _target_here,
    Verb.ASK: _target_here,
    Verb.ATTACK: _can_attack,
    Verb.CAST: _can_cast,
    Verb.BIND: _can_bind,
    Verb.GO: _can_go,
    Verb.FLEE: _can_flee,
    Verb.GIVE: _can_give,
    Verb.USE: _carries,
    Verb.SELL: _can_give,
    Verb.BUY: _target_here,
    Verb.LOOK: _names_something,
    Verb.TAKE: _names_something,
    Verb.OPEN: _names_something,
    Verb.ACCEPT: _names_something,
    Verb.REFUSE: _names_something,
}


def resolve_declared(step: Step) -> None:
    """Roll the dice for the declared act. It fails if it has become impossible in the meantime."""
    declared = step.table.declared
    if declared is None or not declared.act.awaits_dice:
        return
    if refusal(step.table, declared.who, declared.act) is not None:
        step.add(
            EventType.DICE_ROLL,
            "Nothing comes of it.",
            place=declared.place,
            play={"resolves": declared.event_id},
        )
    elif declared.act.verb is Verb.ATTACK:
        attack_foes(step, declared)
    elif declared.act.verb is Verb.CAST:
        cast_spell(step, declared)
    elif declared.act.verb is Verb.TRY:
        resolve_attempt(step, declared)
    elif declared.act.verb is Verb.USE:
        use_item(step, declared)
    elif declared.act.verb is Verb.BIND:
        bind_friend(step, declared.who, str(declared.act.target), resolves=declared.event_id)
    else:
        run_away(step, declared)
