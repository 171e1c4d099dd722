"""Answers of the game to a player's questions, from what the character knows. They cost no round."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Verb
from dndbots.game.input.meanings import Understanding
from dndbots.game.input.vocabulary.scene_names import SceneName, SceneNames
from dndbots.game.input.vocabulary.word_roots import root_of
from dndbots.game.state.options import list_options
from dndbots.game.state.scene_tags import BEGINNING
from dndbots.game.state.table import Table
from dndbots.text.english_words import STOP_WORDS
from dndbots.text.sentences import split_sentences
from dndbots.text.words import words_of

_MOST: Final = 5
_TOLD: Final = (EventType.DM_NARRATION, EventType.DIALOGUE, EventType.DISCOVERY, EventType.COMBAT_ROUND)
_NIGHT: Final = (21, 6)
_OFFERED: Final = "offered"
_LOOKS: Final = "looks"


def answer_question(table: Table, who: str, found: Understanding) -> str:
    """Return the answer to a question to the game, and to those behind it, in lines of plain text."""
    if found.then is not None:
        one = answer_question(table, who, replace(found, then=None))
        return "\n".join((one, answer_question(table, who, found.then)))
    scene = SceneNames(table, who)
    if found.question == "about":
        return "\n".join(_about(scene, found))
    answer = _ANSWERS.get(found.question or "", _where)
    return "\n".join(answer(scene))


def _where(scene: SceneNames) -> Iterator[str]:
    table, here = scene.table, scene.here
    yield f"You are at {table.name(here.uid)}." if here.uid else "You are nowhere that has a name."
    told = [event.content for event in table.lately if _shows(event, here.uid)]
    looks = str(table.fact(here.uid, _LOOKS, "")) or max(told, key=len, default="")
    if looks:
        yield looks
    if scene.things:
        yield f"In sight: {_listed(scene.things)}."
    yield from _who(scene)
    yield from _ways(scene)


def _shows(event: GameEvent, place: str) -> bool:
    return event.event_type is EventType.DM_NARRATION and event.known.location == place


def _who(scene: SceneNames) -> Iterator[str]:
    if scene.friends:
        yield f"With you: {_listed(scene.friends)}."
    if scene.persons:
        yield f"Also here: {_listed(scene.persons)}."
    if scene.foes:
        yield from _foes(scene)
    if not (scene.friends or scene.persons or scene.foes):
        yield "You are alone, as far as you can see."


def _ways(scene: SceneNames) -> Iterator[str]:
    known = scene.table.ways.get(scene.here.uid, {})
    names = scene.table.names
    ways = [
        f"{way.label} (to {names[there]})" if (there := known.get(way.key)) in names else way.label
        for way in scene.ways
    ]
    yield f"Ways from here: {', '.join(ways)}." if ways else "You know of no way out of here."


def _foes(scene: SceneNames) -> Iterator[str]:
    fight = scene.here.fight
    for foe in scene.foes:
        group = fight.foes.get(foe.key) if fight is not None else None
        number = group.number if group is not None else int(scene.table.fact(foe.key, "number", 1))
        state = "fighting you" if group is not None else "watching you"
        counted = f"{number} of them" if number > 1 else "only one"
        yield f"{foe.label[:1].upper()}{foe.label[1:]}: {counted}, {state}."
    if not scene.foes:
        yield "There is nobody here to fight."


def _items(scene: SceneNames) -> Iterator[str]:
    carried = ", ".join(item if n == 1 else f"{n} {item}" for item, n in scene.table.items(scene.who).items())
    gold, coppers = (int(scene.table.fact(scene.who, coins, 0)) for coins in ("gold", "coppers"))
    change = f" and {coppers} coppers" if coppers else ""
    yield f"You carry {carried or 'nothing'}, and {gold} gold{change}."


def _spells(scene: SceneNames) -> Iterator[str]:
    ready = scene.table.spells(scene.who)
    yield f"Spells ready: {', '.join(ready)}." if ready else "You have no spell ready."


def _health(scene: SceneNames) -> Iterator[str]:
    yield f"You are {_state(scene.table, scene.who)}."


def _state(table: Table, who: str) -> str:
    """Return how hurt somebody is, with the points if the viewer knows them."""
    points, most = table.fact(who, "hp"), table.fact(who, "hp_max")
    if not table.alive(who):
        return "dead"
    how = "unhurt"
    if isinstance(points, int) and isinstance(most, int) and points < most:
        how = "dying" if points <= 0 else "badly hurt" if points * 2 <= most else "hurt"
    ails = [name for name in table.conditions(who) if name != how]
    shown = f"{how} ({points} of {most} hit points)" if isinstance(points, int) else how
    return ", ".join((shown, *ails))


def _party(scene: SceneNames) -> Iterator[str]:
    table = scene.table
    for uid in table.living():
        place = table.place(uid)
        where = "" if place in (None, scene.here.uid) else f", last seen at {table.name(str(place))}"
        you = "You are" if uid == scene.who else f"{table.name(uid)} is"
        yield f"{you} {_state(table, uid)}{where}."


def _quests(scene: SceneNames) -> Iterator[str]:
    table = scene.table
    quests = scene.quests
    for uid in quests:
        state = str(table.fact(uid, "state", _OFFERED))
        waits = " (offered; nobody has answered yet)" if state == _OFFERED else f" ({state})"
        goal, reward = (_stated(table, uid, key) for key in ("goal", "reward"))
        promised = f" The reward is {reward}." if reward else ""
        yield f"{table.name(uid)}{waits}{': ' + goal if goal else ''}{promised}"
    if not quests:
        yield "Nobody has asked anything of you yet."


def _stated(table: Table, uid: str, key: str) -> str:
    """Return what is known of a quest, or what somebody said of it."""
    said, _ = table.told.get(uid, {}).get(key, ("", None))
    return str(table.fact(uid, key) or said or "").strip()


def _options(scene: SceneNames) -> Iterator[str]:
    options = list_options(scene.table, scene.who)
    shown = [option.said for option in options if option.verb not in (Verb.SAY, Verb.WHISPER, Verb.GIVE)]
    yield f"For example: {'; '.join(shown[:12])}."
    yield "Or type anything else that you want to try, in your own words. Speech goes in quotation marks."


def _rules(scene: SceneNames) -> Iterator[str]:
    yield 'Type what you do or say, in your own words: "go to the inn", "ask her about the apples", "hide".'
    yield "The game rolls all dice itself, by ability and by what is tried; you never have to roll."
    yield "Questions to the game cost nothing: where am I, who is here, inventory, what can I do."
    yield "/help lists commands."
    yield from _options(scene)


def _time(scene: SceneNames) -> Iterator[str]:
    now = BEGINNING + timedelta(minutes=scene.table.minutes)
    late, early = _NIGHT
    part = "at night" if now.hour >= late or now.hour < early else "by day"
    yield f"It is round {scene.table.round}, about {now:%H:%M}, {part}."


def _past(scene: SceneNames) -> Iterator[str]:
    told = [event.content for event in scene.table.lately if event.event_type in _TOLD]
    yield from told[-_MOST:] or ["Nothing has happened yet."]


def _me(scene: SceneNames) -> Iterator[str]:
    table, who = scene.table, scene.who
    sheet = table.character(who)
    if sheet is None:
        yield f"You are {table.name(who)}."
        return
    yield f"You are {sheet.name}, level {sheet.level} {sheet.char_class}, armour class {sheet.ac}."
    scores = ", ".join(f"{name} {getattr(sheet.stats, name)}" for name in type(sheet.stats).model_fields)
    yield f"{scores}; {table.fact(who, 'xp', 0)} experience."
    yield from _health(scene)


def _about(scene: SceneNames, found: Understanding) -> Iterator[str]:
    """Yield what the character knows of somebody or something: their state, and what was told lately."""
    table = scene.table
    being = next((name for name in scene.beings if name.label == found.target), None)
    wanted = {root_of(word) for word in words_of(found.what or "") if word not in STOP_WORDS}
    if being is not None:
        wanted |= {root_of(word) for word in words_of(being.label)}
        if being.key.startswith("pc_"):
            yield f"{being.label} is {_state(table, being.key)}."
        yield from _facts(table, being)
    heard = (event for event in table.lately if event.source != scene.who)
    told = [line for event in heard for line in _lines_about(event, being, wanted)]
    yield from dict.fromkeys(told[-_MOST:])
    if not told and being is None:
        yield f"You know nothing of {found.what}."


def _facts(table: Table, being: SceneName) -> Iterator[str]:
    looks = table.looks.get(being.key)
    if looks is not None and looks != being.label:
        yield f"{being.label}: {looks}."
    for key, value in table.facts.get(being.key, {}).items():
        if key.isalpha() and isinstance(value, str) and key != "class":
            yield f"{being.label}: {key} {value}."


def _lines_about(event: GameEvent, being: SceneName | None, wanted: set[str]) -> Sequence[str]:
    if event.event_type not in _TOLD:
        return ()
    if being is not None and event.source == being.key:
        return [event.content]
    return [
        line for line in split_sentences(event.content) if wanted and wanted & {*map(root_of, words_of(line))}
    ]


def _listed(names: Sequence[SceneName]) -> str:
    return ", ".join(name.label for name in names)


_ANSWERS: Final[dict[str, Callable[[SceneNames], Iterator[str]]]] = {
    "where": _where,
    "who": _who,
    "ways": _ways,
    "foes": _foes,
    "items": _items,
    "spells": _spells,
    "health": _health,
    "party": _party,
    "quests": _quests,
    "options": _options,
    "rules": _rules,
    "time": _time,
    "past": _past,
    "me": _me,
}
