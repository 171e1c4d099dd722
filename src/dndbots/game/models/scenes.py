"""One scene as a DM is shown it: who is there, what they did and said, and what the adventure told them.

What happens in other scenes stands in the DM's own memory, and not here: what is asked for here is told here.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dndbots.events import EventType, GameEvent
from dndbots.game.house.telling import Telling
from dndbots.game.models.fitting import cut, fitted
from dndbots.game.models.making import CALLED, ROLE, WANTS, called_here, own_people, own_quests
from dndbots.game.played import Clock, played_of
from dndbots.game.table import Table
from dndbots.text.labels import write_label

MOST_TOKENS: Final = 1_000
_MOST_LINES: Final = 14
# How long a line may be, where there is room; else shorter. Some scripts have a token for every letter.
_LENGTHS: Final = (400, 200, 100, 50, 25)
_MOST_TOLD: Final = 6
_MOST_LISTED: Final = 10
_LONGEST_PERSON: Final = 320
_WANTED: Final = "Tell those who are here what they perceive now, and call for what is to happen."
# What the engine writes for itself.
_UNTOLD: Final = (EventType.SYSTEM, EventType.SESSION_START, EventType.SESSION_END)


def scene_text(
    telling: Telling,
    place: str,
    *,
    since: Sequence[GameEvent],
    told: Sequence[GameEvent],
    due: Sequence[Clock],
) -> str:
    """The question of one scene: what was played `since` the DM's last turn, and what was `told` in this."""

    def text(longest: int) -> str:
        return _scene(telling, place, longest, since=since, told=told, due=due)

    return fitted(text, _LENGTHS, most=MOST_TOKENS)


def _scene(
    telling: Telling,
    place: str,
    longest: int,
    *,
    since: Sequence[GameEvent],
    told: Sequence[GameEvent],
    due: Sequence[Clock],
) -> str:
    table = telling.step.table
    others = [table.name(uid) for uid in table.scenes() if uid != place]
    parts = [
        f"SCENE: {write_label(table.name(place))}, round {telling.step.round}",
        f"The rest of the party is elsewhere ({'; '.join(others)}) and perceives nothing of this."
        if others
        else "",
        _headed("HERE", [*_characters(table, place), *_people(telling, place, longest)]),
        _line("WAYS", _short(table.sights[place].ways if place in table.sights else (), longest)),
        _line(
            "THINGS", _short(table.sights[place].things.values() if place in table.sights else (), longest)
        ),
        _fight(table, place),
        _line("YOUR QUESTS", [f"{table.name(uid)} ({state})" for uid, state in own_quests(telling).items()]),
        _headed("TIME IS UP FOR", [cut(clock.text, longest) for clock in due]),
        _headed("SINCE YOUR LAST WORD HERE", _played(table, place, since, longest)),
        _headed(
            "THE ADVENTURE AND THE RULES JUST TOLD THEM", list(_told(place, told, longest))[-_MOST_TOLD:]
        ),
        _WANTED,
    ]
    return "\n".join(filter(None, parts))


def _characters(table: Table, place: str) -> Iterator[str]:
    for uid in table.together(place):
        sheet = table.character(uid)
        ails = ", ".join(table.conditions(uid))
        hp = f", {sheet.hp}/{sheet.hp_max} hit points" if sheet is not None else ""
        kind = f"{sheet.char_class} {sheet.level}" if sheet is not None else "character"
        yield f"{write_label(table.name(uid))}: player's character, {kind}{hp}{f', {ails}' if ails else ''}"


def _people(telling: Telling, place: str, longest: int) -> Iterator[str]:
    table, longest = telling.step.table, min(longest, _LONGEST_PERSON)
    for person in telling.world.people(place):
        said = [
            f"wants: {person.wants}" if person.wants else "",
            f"secret: {person.secret}" if person.secret else "",
        ]
        seen = called_here(telling, telling.atlas.uid("npc", person.key), place)
        known = "" if seen == person.name else f" (to them {seen!r})"
        yield cut(f"{person.name}{known}: {'; '.join(filter(None, said)) or 'a person'}", longest)
    for uid in own_people(table, place):
        name, seen = str(table.fact(uid, CALLED)), called_here(telling, uid, place)
        known = "" if seen == name else f" (to them {seen!r})"
        said = [
            str(table.fact(uid, ROLE) or ""),
            f"wants: {table.fact(uid, WANTS)}" if table.fact(uid, WANTS) else "",
        ]
        yield cut(f"{write_label(name)}{known}: {'; '.join(filter(None, said)) or 'a person'}", longest)


def _fight(table: Table, place: str) -> str:
    fight = table.fights.get(place)
    if fight is None:
        return ""
    return _line(
        "A FIGHT, which the rules play, AGAINST", [f"{one.name} ({one.able})" for one in fight.foes.values()]
    )


def _played(table: Table, place: str, since: Sequence[GameEvent], longest: int) -> list[str]:
    found = []
    for event in since:
        if event.known.location != place or event.event_type in _UNTOLD or not event.content:
            continue
        note = played_of(event)
        act = None if note is None else note.act
        deed = f" ({act.verb.value}{f' {act.what}' if act.what else ''})" if act is not None else ""
        who = f"{write_label(table.name(event.source))}{deed}: " if act is not None else ""
        found.append(cut(f"{who}{event.content}", longest))
    return found[-_MOST_LINES:]


def _told(place: str, events: Sequence[GameEvent], longest: int) -> Iterator[str]:
    for event in events:
        if event.known.location == place and event.event_type not in _UNTOLD and event.known.witnesses != []:
            yield cut(event.content, longest)


def _headed(head: str, lines: Sequence[str]) -> str:
    return "\n".join((f"{head}:", *(f"- {line}" for line in lines))) if lines else ""


def _short(names: Iterable[str], longest: int) -> Iterator[str]:
    return (cut(name, longest) for name in names)


def _line(head: str, said: Iterable[str]) -> str:
    names = [*said][:_MOST_LISTED]
    return f"{head}: {'; '.join(names)}" if names else ""
