"""Changes that a DM makes to sheets and to the world: things, gold, wounds, time, attitudes, secrets, places.

Each call is checked by the rules, and becomes an event that changes sheets and canon; or it is refused with a
reason in words for the caller.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from pydantic import JsonValue

from dndbots.errors import ActRefused, InvalidDice, UnknownThing
from dndbots.events import EventType
from dndbots.game.dm import tools
from dndbots.game.dm.inventions import find_mentions, name_heard_at
from dndbots.game.referee import heal, hurt
from dndbots.game.referee.event_text import dice
from dndbots.game.referee.handovers import (
    MOST_THINGS,
    check_gold,
    check_items,
    find_item,
    hand_over,
    price_of,
)
from dndbots.game.world.narration import Narration, as_sentence, join_texts, with_article
from dndbots.rules import conditions
from dndbots.rules.dice import Roll, roll
from dndbots.rules.outcomes import Outcome

# A blow of the DM's own may hurt, but not kill a hero of the first level outright more often than a fight.
_MOST_HARM: Final = 36
_MOST_MINUTES: Final = 24 * 60
_TRUST: Final = {"hostile": -4, "wary": -1, "neutral": 0, "friendly": 2, "devoted": 4}


class CallScene(Protocol):
    """The scene that a call is carried out in."""

    place: str

    @property
    def narration(self) -> Narration: ...
    def character(self, name: str) -> str: ...
    def anybody(self, name: str) -> str: ...
    def npc(self, name: str) -> str: ...
    def plain(self, text: str) -> str: ...
    def telling(self, text: str) -> str: ...
    def refused(self, reason: str) -> ActRefused: ...


def give(scene: CallScene, form: tools.Give) -> str:
    """Hand an item to somebody, out of the world or from somebody who is here."""
    table = scene.narration.step.table
    to = scene.anybody(form.to)
    giver = scene.anybody(form.giver) if form.giver else None
    item = scene.plain(form.item).rstrip(".")
    if giver == to:
        raise scene.refused("giver and receiver are the same")
    if giver is not None and giver.startswith("pc_"):
        item = find_item(table, giver, form.item)
        check_items(table, giver, item, form.number)
    _check_thing(scene, item, form.number)
    entry: dict[str, JsonValue] = {"item": item, "quantity": form.number, "to": to, "from": giver}
    things = _things(item, form.number)
    whole = f"{_called(scene, giver)} gives {_called(scene, to)} {things}" if giver else ""
    text = as_sentence(whole or f"{_called(scene, to)} gets {things}")
    _hand(scene, [entry], text, [uid for uid in (to, giver) if uid is not None])
    return text


def take(scene: CallScene, form: tools.TakeAway) -> str:
    """Take an item from a character: lost, used up, broken or stolen."""
    table = scene.narration.step.table
    who = scene.character(form.character)
    item = find_item(table, who, form.item)
    check_items(table, who, item, form.number)
    text = as_sentence(f"{table.name(who)} loses {_things(item, form.number)}")
    _hand(scene, [{"item": item, "quantity": form.number, "from": who}], text, [who])
    return text


def pay(scene: CallScene, form: tools.Pay) -> str:
    """Let gold change hands; without a payer it comes out of the world, without a receiver it is gone."""
    payer = scene.anybody(form.payer) if form.payer else None
    to = scene.anybody(form.to) if form.to else None
    if payer == to:
        raise scene.refused("say who pays, who gets it, or both")
    if payer is not None and payer.startswith("pc_"):
        check_gold(scene.narration.step.table, payer, form.gold)
    coins = f"{form.gold} gold"
    told = f"{_called(scene, payer)} pays {coins}" if payer else f"{_called(scene, to)} gets {coins}"
    text = as_sentence(f"{told} to {_called(scene, to)}" if payer and to else told)
    entry: dict[str, JsonValue] = {"gold": form.gold, "to": to, "from": payer}
    _hand(scene, [entry], text, [uid for uid in (payer, to) if uid is not None])
    return text


def trade(scene: CallScene, form: tools.Trade) -> str:
    """Let a character buy or sell a thing. The price is the caller's, else that of the rules."""
    table = scene.narration.step.table
    who = scene.character(form.character)
    trader = scene.npc(form.trader) if form.trader else None
    buys = form.deal == "buy"
    item = scene.plain(form.item).rstrip(".") if buys else find_item(table, who, form.item)
    _check_thing(scene, item, form.number)
    price = form.price if form.price is not None else price_of(item, used=not buys)
    if price is None:
        raise scene.refused(f"the rules have no price for {item!r}; say a price")
    whole = price * form.number
    if buys:
        check_gold(table, who, whole)
    else:
        check_items(table, who, item, form.number)
    to, giver = (who, trader) if buys else (trader, who)
    entries: list[dict[str, JsonValue]] = [{"item": item, "quantity": form.number, "to": to, "from": giver}]
    if whole:
        entries.append({"gold": whole, "to": giver, "from": to})
    verb, by = ("buys", "from") if buys else ("sells", "to")
    told = f"{table.name(who)} {verb} {_things(item, form.number)}"
    told += f" {by} {_called(scene, trader)}" if trader else ""
    text = as_sentence(f"{told} for {whole} gold")
    _hand(scene, entries, text, [uid for uid in (who, trader) if uid is not None])
    return text


def loot(scene: CallScene, form: tools.FindLoot) -> str:
    """Let a character find things and gold."""
    who = scene.character(form.character)
    items = [scene.plain(item).rstrip(".") for item in form.items if scene.plain(item)]
    if not items and not form.gold:
        raise scene.refused("say which items, how much gold, or both")
    for item in items:
        _check_thing(scene, item, 1)
    entries: list[dict[str, JsonValue]] = [{"item": item, "to": who} for item in items]
    if form.gold:
        entries.append({"gold": form.gold, "to": who})
    found = [*map(with_article, items), *([f"{form.gold} gold"] if form.gold else [])]
    text = as_sentence(f"{scene.narration.step.table.name(who)} finds {join_texts(found)}")
    _hand(scene, entries, text, [who])
    return text


def wound(scene: CallScene, form: tools.Hurt) -> str:
    """Hurt a character: a trap, a fall, a curse. At 0 hit points it falls."""
    who, rolled = scene.character(form.character), _roll(scene, form.amount)
    step, name = scene.narration.step, scene.narration.step.table.name(who)
    points = min(max(rolled.total, 1), _MOST_HARM)
    why = scene.telling(form.why).rstrip(".")
    text = f"{as_sentence(why)} {name} is hurt." if why else f"{name} is hurt."
    hurt(step, {who: points}, text=text, place=scene.place, rolls=_dice(rolled))
    return f"{name} loses {points} hit points and has {step.table.fact(who, 'hp', 0)}."


def mend(scene: CallScene, form: tools.Heal) -> str:
    """Give a character hit points back, up to the maximum."""
    who, rolled = scene.character(form.character), _roll(scene, form.amount)
    step, name = scene.narration.step, scene.narration.step.table.name(who)
    why = scene.telling(form.why).rstrip(".")
    text = f"{as_sentence(why)} {name} feels better." if why else f"{name} feels better."
    heal(step, who, max(rolled.total, 1), text=text, place=scene.place, rolls=_dice(rolled))
    return f"{name} has {step.table.fact(who, 'hp', 0)} hit points now."


def set_condition(scene: CallScene, form: tools.SetCondition) -> str:
    """Begin or end a condition that the rules know."""
    step, who = scene.narration.step, scene.character(form.character)
    try:
        known = conditions.condition(form.condition)
    except UnknownThing as exc:
        names = ", ".join(one.name for one in conditions.all_conditions())
        raise scene.refused(f"the rules have no condition {form.condition!r}; they have {names}") from exc
    name, has = step.table.name(who), known.name in step.table.conditions(who)
    if form.ends and not has:
        raise scene.refused(f"{name} is not {known.name}")
    if has and not form.ends:
        raise scene.refused(f"{name} is {known.name} already")
    until = {who: {known.name: step.round + form.rounds}} if form.rounds and not form.ends else {}
    text = f"{name} is {'no longer ' if form.ends else ''}{known.name}."
    step.add(
        EventType.CONDITION,
        text,
        place=scene.place,
        participants=[who],
        play={"until": until},
        conditions={who: [f"-{known.name}" if form.ends else known.name]},
    )
    return text


def spend_time(scene: CallScene, form: tools.SpendTime) -> str:
    """Let time pass at the table."""
    minutes = form.minutes + 60 * form.hours
    if not 0 < minutes <= _MOST_MINUTES:
        raise scene.refused(f"spend 1 minute to {_MOST_MINUTES // 60} hours at once")
    if scene.place in scene.narration.step.table.fights:
        raise scene.refused("there is a fight here; its rounds are the time")
    hours = round(minutes / 60)
    passed = f"{hours} hours" if hours > 1 else f"{minutes} minutes"
    text = scene.telling(form.text) or f"{passed} pass."
    scene.narration.tell(scene.place, text, play={"minutes": minutes})
    return f"{passed} have passed."


def change_attitude(scene: CallScene, form: tools.ChangeAttitude) -> str:
    """Change how an NPC stands to the party; the adventure's own people trust it more or less by it."""
    narration, npc = scene.narration, scene.npc(form.npc)
    table, name = narration.step.table, name_heard_at(narration, npc, scene.place)
    before = int(table.fact(npc, "reputation", 0))
    text = scene.telling(form.text) or as_sentence(f"{name} is {form.attitude} now")
    narration.tell(
        scene.place,
        text,
        kind=EventType.REPUTATION_CHANGE,
        participants=[npc],
        witnesses=narration.step.present(scene.place),
        names={npc: name},
        facts=[{"subject": npc, "key": "attitude", "value": form.attitude}],
        reputation={npc: _TRUST[form.attitude] - before} if _TRUST[form.attitude] != before else None,
    )
    return f"{name} is {form.attitude} to them."


def reveal_secret(scene: CallScene, form: tools.RevealSecret) -> str:
    """Let everybody here learn a secret, of a person here or of the place."""
    narration = scene.narration
    secret = scene.plain(form.secret)
    if not secret:
        raise scene.refused("secret is empty; say what they learn")
    uid = scene.anybody(form.about) if form.about else scene.place
    names = {**find_mentions(narration.step.table, secret), **narration.atlas.mentions(secret)}
    if uid != scene.place:
        names.setdefault(uid, _called(scene, uid))
    narration.tell(
        scene.place,
        as_sentence(secret),
        kind=EventType.DISCOVERY,
        names=names,
        gist=f"we learned: {secret}",
        facts=[{"subject": uid, "key": "secret", "value": secret[:900]}],
    )
    return "They know it now."


def clear_place(scene: CallScene, form: tools.ClearPlace) -> str:
    """Mark the place as cleared of danger."""
    table, place = scene.narration.step.table, scene.place
    if place in table.fights:
        raise scene.refused("there is a fight here; it is not cleared yet")
    text = scene.telling(form.text) or f"{table.name(place)} is safe now."
    scene.narration.tell(place, text, danger_level="cleared", names={place: table.name(place)})
    return f"{table.name(place)} is cleared."


def end_scene(scene: CallScene, form: tools.EndScene) -> str:
    """Close a scene in a sentence that is remembered; time passes to the next one."""
    if scene.place in scene.narration.step.table.fights:
        raise scene.refused("there is a fight here; it ends by the rules")
    text = scene.telling(form.summary)
    if not text:
        raise scene.refused("summary is empty, or was told before; say in a sentence how the scene ended")
    scene.narration.tell(
        scene.place, as_sentence(text), gist=text, play={"minutes": min(60 * form.hours, _MOST_MINUTES)}
    )
    return "The scene is over."


def _hand(scene: CallScene, entries: list[dict[str, JsonValue]], text: str, people: list[str]) -> None:
    names: dict[str, JsonValue] = {uid: _called(scene, uid) for uid in people if uid.startswith("npc_")}
    step = scene.narration.step
    hand_over(step, entries, text=text, place=scene.place, participants=people, names=names or None)


def _called(scene: CallScene, uid: str | None) -> str:
    """Return what those who are here call somebody."""
    if uid is None:
        return "somebody"
    if uid.startswith("npc_"):
        return name_heard_at(scene.narration, uid, scene.place)
    return scene.narration.step.table.name(uid)


def _things(item: str, number: int) -> str:
    return with_article(item) if number == 1 else f"{number} {item}"


def _check_thing(scene: CallScene, item: str, number: int) -> None:
    if not item or len(item) > 80:
        raise scene.refused(f"{item!r} is no name of a thing")
    if not 1 <= number <= MOST_THINGS:
        raise scene.refused(f"{number} are too many at once; at most {MOST_THINGS}")


def _roll(scene: CallScene, amount: str) -> Roll:
    try:
        return roll(amount, rng=scene.narration.rng)
    except InvalidDice as exc:
        raise scene.refused(f"{amount!r} is no number and no dice, such as 4 or 1d6") from exc


def _dice(rolled: Roll) -> list[JsonValue]:
    return [*dice(Outcome(rolls=(rolled,), text=rolled.text))] if rolled.dice else []


SHEET_METHODS: Final[Mapping[type[Any], Callable[[Any, Any], str]]] = {
    tools.Give: give,
    tools.TakeAway: take,
    tools.Pay: pay,
    tools.Trade: trade,
    tools.BuyThing: trade,
    tools.SellThing: trade,
    tools.FindLoot: loot,
    tools.Hurt: wound,
    tools.Heal: mend,
    tools.SetCondition: set_condition,
    tools.CureCondition: set_condition,
    tools.SpendTime: spend_time,
    tools.ChangeAttitude: change_attitude,
    tools.RevealSecret: reveal_secret,
    tools.ClearPlace: clear_place,
    tools.EndScene: end_scene,
}
