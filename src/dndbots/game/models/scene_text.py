"""Texts that show a model where it is: one scene for the DM, and the surroundings of one character.

The DM's text holds one scene only, because the answer is told in that scene; other scenes are in the DM's
memory. A character's text comes from its own table alone. Both stay short whatever is in them: lines are cut
shorter until the text fits.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from dndbots.events import EventType, GameEvent
from dndbots.game.acts import Verb
from dndbots.game.dm.inventions import CALLED, ROLE, invented_people, invented_quests, name_heard_at
from dndbots.game.dm.plot_sheet import render_plot_sheet
from dndbots.game.models.dm_brief import find_hidden, topics_of
from dndbots.game.state.game_notes import Clock, played_of
from dndbots.game.state.options import Surroundings, list_options
from dndbots.game.state.table import Table
from dndbots.game.world.narration import Narration
from dndbots.text.clean import one_line
from dndbots.text.labels import write_label
from dndbots.tokens import count_tokens

MOST_DM_TOKENS: Final = 1_000
MOST_PLAYER_TOKENS: Final = 600
_MOST_LINES: Final = 14
# Lengths of a line to try, longest first. Some scripts need a token for every letter.
_DM_LENGTHS: Final = (400, 200, 100, 50, 25)
# Lengths of a name to try for a player; news may be nearly twice as long.
_PLAYER_LENGTHS: Final = (80, 40, 20, 10)
_MOST_NAMES: Final = 8
_MOST_TOLD: Final = 6
_MOST_CARRIED: Final = 24
_MOST_LISTED: Final = 10
_LONGEST_PERSON: Final = 320
_WANTED: Final = (
    "Call the tools for what is to happen, then tell those who are here what happens now: a few sentences in "
    "your own words, with every name and number in them."
)
WANTED_OF_PLAYER: Final = "It is your turn. Call `act` once: what you try, and what you say while you do."
STALE: Final = "They heard this before, or it was no story. Tell in a few sentences what they perceive now."
WORDS_TOLD: Final = "Your words were told to them already; do not repeat them."
OTHERWISE: Final = "This turn was told before, and is told again: tell it in another way."
# What questions ask for, in our words: a model that says it repeats its instructions.
REQUESTS: Final = (_WANTED, WANTED_OF_PLAYER, STALE, WORDS_TOLD, OTHERWISE)
# Events that the engine writes for itself.
_UNTOLD: Final = (EventType.SYSTEM, EventType.SESSION_START, EventType.SESSION_END)


def render_dm_scene(
    narration: Narration,
    place: str,
    *,
    since: Sequence[GameEvent],
    told: Sequence[GameEvent],
    due: Sequence[Clock],
    hints: Sequence[str] = (),
) -> str:
    """Return the DM's question for one scene.

    `since` are the events since the DM's last turn, `told` those of this turn so far, `due` the clocks that
    ran out, `hints` what only a tool makes so.
    """

    def text(longest: int) -> str:
        return _scene(narration, place, longest, since=since, told=told, due=due, hints=hints)

    return fit_text(text, _DM_LENGTHS, most=MOST_DM_TOKENS)


def _scene(
    narration: Narration,
    place: str,
    longest: int,
    *,
    since: Sequence[GameEvent],
    told: Sequence[GameEvent],
    due: Sequence[Clock],
    hints: Sequence[str],
) -> str:
    table = narration.step.table
    others = [_elsewhere(table, uid) for uid in table.scenes() if uid != place]
    parts = [
        f"SCENE: {write_label(table.name(place))}, round {narration.step.round}",
        f"The rest of the party is elsewhere ({'; '.join(others)}) and perceives nothing of this."
        if others
        else "",
        _headed("HERE", [*_characters(table, place), *_people(narration, place, longest)]),
        _hidden(narration, place, longest),
        _line("WAYS", _short(table.sights[place].ways if place in table.sights else (), longest)),
        _line(
            "THINGS", _short(table.sights[place].things.values() if place in table.sights else (), longest)
        ),
        _fight(table, place),
        _line(
            "YOUR QUESTS",
            [f"{table.name(uid)} ({state})" for uid, state in invented_quests(narration).items()],
        ),
        *render_plot_sheet(table, narration.step.round),
        _headed("TIME IS UP FOR", [clip_line(clock.text, longest) for clock in due]),
        _headed("SINCE YOUR LAST WORD HERE", _played(table, place, since, longest)),
        _headed("WHAT HAPPENS NOW, FOR YOU TO TELL", list(_told(place, told, longest))[-_MOST_TOLD:]),
        _headed("NOT DECIDED YET, CALL FOR IT", [clip_line(hint, longest) for hint in hints]),
        _WANTED,
    ]
    return "\n".join(filter(None, parts))


def _elsewhere(table: Table, place: str) -> str:
    return f"{table.name(place)}: {', '.join(map(table.name, table.together(place)))}"


def _characters(table: Table, place: str) -> Iterator[str]:
    for uid in table.together(place):
        sheet = table.character(uid)
        ails = ", ".join(table.conditions(uid))
        hp = f", {sheet.hp}/{sheet.hp_max} hit points, {sheet.gold} gold" if sheet is not None else ""
        kind = f"{sheet.char_class} {sheet.level}" if sheet is not None else "character"
        yield f"{write_label(table.name(uid))}: player's character, {kind}{hp}{f', {ails}' if ails else ''}"


def _people(narration: Narration, place: str, longest: int) -> Iterator[str]:
    table, longest = narration.step.table, min(longest, _LONGEST_PERSON)
    for person in narration.world.people(place):
        seen = name_heard_at(narration, narration.atlas.uid("npc", person.key), place)
        tells = topics_of(narration.world, person)
        yield clip_line(f"{person.name}{_known(person.name, seen)}: a person. {tells}".rstrip(" ."), longest)
    for uid in invented_people(table, place):
        name = str(table.fact(uid, CALLED))
        role = str(table.fact(uid, ROLE) or "a person")
        yield clip_line(
            f"{write_label(name)}{_known(name, name_heard_at(narration, uid, place))}: {role}", longest
        )


def _known(name: str, seen: str) -> str:
    return "" if seen == name else f" (to them {seen!r})"


def _hidden(narration: Narration, place: str, longest: int) -> str:
    """Return what nobody has found here yet, from the adventure's file, which only the DM reads."""
    here = narration.world.place(place)
    hidden = "" if here is None else find_hidden(narration.world, here)
    return clip_line(f"UNSEEN HERE: {hidden}", longest) if hidden else ""


def _fight(table: Table, place: str) -> str:
    fight = table.fights.get(place)
    if fight is None:
        return ""
    return _line(
        "A FIGHT, which the rules play, AGAINST", [f"{one.name} ({one.able})" for one in fight.foes.values()]
    )


def events_played(place: str, since: Sequence[GameEvent]) -> list[GameEvent]:
    """Return the events at a place that the DM's question shows as new."""
    shown = [
        event
        for event in since
        if event.known.location == place and event.event_type not in _UNTOLD and event.content
    ]
    return shown[-_MOST_LINES:]


def _played(table: Table, place: str, since: Sequence[GameEvent], longest: int) -> list[str]:
    found = []
    for event in events_played(place, since):
        note = played_of(event)
        act = None if note is None else note.act
        deed = f" ({act.verb.value}{f' {act.what}' if act.what else ''})" if act is not None else ""
        who = f"{write_label(table.name(event.source))}{deed}: " if act is not None else ""
        found.append(clip_line(f"{who}{event.content}", longest))
    return found


def _told(place: str, events: Sequence[GameEvent], longest: int) -> Iterator[str]:
    for event in events:
        if event.known.location == place and event.event_type not in _UNTOLD and event.known.witnesses != []:
            yield clip_line(event.content, longest)


def _headed(head: str, lines: Sequence[str]) -> str:
    return "\n".join((f"{head}:", *(f"- {line}" for line in lines))) if lines else ""


def _short(names: Iterable[str], longest: int) -> Iterator[str]:
    return (clip_line(name, longest) for name in names)


def _line(head: str, said: Iterable[str]) -> str:
    names = [*said][:_MOST_LISTED]
    return f"{head}: {'; '.join(names)}" if names else ""


def render_surroundings(table: Table, who: str) -> str:
    """Return where a character is, who is there and what it can try, in names that it knows."""
    return fit_text(lambda longest: _around(table, who, longest), _PLAYER_LENGTHS, most=MOST_PLAYER_TOKENS)


def _around(table: Table, who: str, longest: int) -> str:
    here, sheet = Surroundings(table, who), table.character(who)
    lines = [
        ("YOU", list(_own_state(table, who))),
        ("AT", [here.called(here.uid)] if here.uid else []),
        ("WITH YOU", [_state(table, here, uid) for uid in here.friends()]),
        ("ALSO HERE", [here.called(uid) for uid in here.people() if uid not in here.foes()]),
        ("FOES", list(_foes(here))),
        ("WAYS", here.sights.ways),
        ("THINGS", here.sights.things.values() if here.fight is None else ()),
        ("SPELLS READY", dict.fromkeys(table.spells(who))),
        ("OFFERED", [here.called(uid) for uid in here.quests()]),
    ]
    told = [f"{head}: {_listed(said, longest)}" for head, said in lines if said]
    if sheet is not None and sheet.equipment:
        told.insert(1, f"YOU CARRY: {_listed(sheet.equipment, longest, most=_MOST_CARRIED)}")
    news = [f'- "{clip_line(gist, longest * 7 // 4)}"' for gist in here.news().values()]
    if news:
        told.append("\n".join(("NEWS THAT OTHERS HERE HAVE NOT HEARD:", *news)))
    told.append(f"YOU CAN: {_listed(list_verbs(table, who), longest, most=len(Verb))}")
    return "\n".join(told)


def list_verbs(table: Table, who: str) -> list[str]:
    """Return the verbs that a character can try now."""
    return list(dict.fromkeys(one.verb.value for one in list_options(table, who)))


def _own_state(table: Table, who: str) -> Iterator[str]:
    """Yield what the sheet in the prompt leaves out, because it changes from turn to turn."""
    sheet = table.character(who)
    if sheet is not None:
        yield f"{sheet.hp} of {sheet.hp_max} hit points"
        yield f"{sheet.gold} gold"
    yield from table.conditions(who)


def _state(table: Table, here: Surroundings, uid: str) -> str:
    ails = ", ".join(table.conditions(uid))
    return f"{here.called(uid)} ({ails})" if ails else here.called(uid)


def _foes(here: Surroundings) -> Iterable[str]:
    fight = here.fight
    if fight is None:
        return [here.called(uid) for uid in here.foes()]
    return [f"{group.name} ({group.number})" for group in fight.standing.values()]


def _listed(said: Iterable[str], longest: int, *, most: int = _MOST_NAMES) -> str:
    """Join the first names, and say how many more there are."""
    names = [clip_line(name, longest) for name in said]
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return "; ".join((*names[:most], *more))


def ask_otherwise(wish: str) -> str:
    """Return the request to tell a turn again, with a wish if there is one."""
    wished = f" The players wish: {wish}" if wish else ""
    return f"{OTHERWISE}{wished}"


def fit_text(render: Callable[[int], str], lengths: Iterable[int], *, most: int) -> str:
    """Return the text for the first length that fits into `most` tokens; else the one for the last length."""
    text = ""
    for longest in lengths:
        text = render(longest)
        if count_tokens(text) <= most:
            break
    return text


def clip_line(text: str, longest: int) -> str:
    """Return a text on one line without markup, cut to a length."""
    plain = one_line(text)
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"
