"""The DM's briefing: the adventure in brief, what is hidden, what people know, and who has not heard what.

It comes from the adventure's file and the DM's own table, and goes into the DM's prompt alone.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dndbots.events import EventType
from dndbots.game.adventures.module import ModuleQuest, Person, Place, Thing
from dndbots.game.state.table import Table
from dndbots.game.world.narration import first_clause, join_texts
from dndbots.game.world.world_state import World
from dndbots.memory.context.brief import Briefing, BriefLine
from dndbots.memory.deeds import quest_title
from dndbots.text.clean import one_line
from dndbots.text.sentences import split_sentences

LINES: Final = 10  # the newest lines of a prompt that stand word for word
_FILE: Final = "from the adventure's file, which only the DM reads"
_MOST_QUESTS: Final = 4
_MOST_HIDDEN: Final = 4
_MOST_TOPICS: Final = 6
_MOST_DEEDS: Final = 5
_LONGEST_OPENING: Final = 260
_LONGEST_SECRET: Final = 110
_LONGEST_GIST: Final = 120
_WE: Final = "we "
# A text that is cut ends before words that lead on.
_LEADS_ON: Final = frozenset(
    ["a", "an", "and", "as", "at", "but", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"]
)
_TOLD_US: Final = re.compile(r" (told|asked) us\b")


def brief_dm(world: World | None, table: Table) -> Briefing:
    """Return the DM's briefing. Without a `world`, as in an open game, it has no adventure."""
    return Briefing(
        adventure=tuple(_adventure(world)) if world is not None else (),
        knowledge=tuple(_unheard(table)),
        has_sheets=True,
        has_scene=True,
        lines=LINES,
    )


def _adventure(world: World) -> Iterator[BriefLine]:
    module = world.module
    opening = clip_text(module.opening or "", _LONGEST_OPENING)
    yield BriefLine(f"{module.title}. {opening}".strip(), f"the adventure in brief, {_FILE}")
    waiting = [quest for quest in module.quests.values() if world.quest(quest.key) is None]
    for rank, quest in enumerate(waiting[:_MOST_QUESTS], 1):
        yield BriefLine(_untold_quest(world, quest), f"a quest to come, {_FILE}", rank=rank)


def _untold_quest(world: World, quest: ModuleQuest) -> str:
    giver = None if quest.giver is None else world.module.people.get(quest.giver)
    where = world.place(world.where(giver.key)) if giver is not None else None
    by = f", from {giver.name}" if giver is not None else ""
    at = f" at {where.name}" if where is not None else ""
    return f"Not told yet: {quest_title(quest.name)}{by}{at}: {one_line(quest.goal or quest.name)}"


def find_hidden(world: World, place: Place) -> str:
    """Return what nobody has found at a place yet, and what waits there."""
    things = [_hidden_thing(thing) for thing in world.hidden_things(place)]
    places = world.module.places
    ways = [
        f"the way {way.label!r} to {places[way.to].name if way.to in places else way.to}"
        for way in world.hidden_ways(place)
    ]
    traps = [
        f"{thing.looks} has {one_line(thing.trap.looks)}"
        for thing in world.things(place).values()
        if thing.trap is not None
    ]
    foes = [
        f"{foes.name or foes.monster} ({foes.mood})"
        for foes in world.foes(place)
        if world.atlas.uid("mon", foes.key) not in world.table.fights and not world.is_seen(foes)
    ]
    hidden = [*things, *ways][:_MOST_HIDDEN]
    said = [
        f"Hidden: {'; '.join(hidden)}." if hidden else "",
        f"Trapped: {'; '.join(traps[:_MOST_HIDDEN])}." if traps else "",
        f"In wait: {'; '.join(foes[:_MOST_HIDDEN])}." if foes else "",
    ]
    return " ".join(filter(None, said))


def _hidden_thing(thing: Thing) -> str:
    tells = f" ({clip_text(first_clause(thing.text), _LONGEST_SECRET)})" if thing.text else ""
    return f"{thing.looks}{tells}"


def topics_of(world: World, person: Person) -> str:
    """Return the topics that somebody has not told of yet, and whether they would."""
    trust = world.trust(person)
    open_to, kept, lies = list[str](), list[str](), list[str]()
    for saying in person.knows:
        if world.has_beat("said", person.key, saying.key) or not world.holds(saying.when):
            continue
        listed = lies if saying.lie else open_to if saying.needs <= trust else kept
        listed.append(world.atlas.spelled(saying.about[0]))
    said = [
        f"Would tell of: {_listed(open_to)}." if open_to else "",
        f"Would lie about: {_listed(lies)}." if lies else "",
        f"Keeps back, for want of trust: {_listed(kept)}." if kept else "",
    ]
    return " ".join(filter(None, said))


def _listed(topics: Iterable[str]) -> str:
    return ", ".join(list(dict.fromkeys(topics))[:_MOST_TOPICS])


def _unheard(table: Table) -> Iterator[BriefLine]:
    """Yield who has not heard what, a line for each of the newest deeds."""
    living = table.living()
    # Where somebody went matters less than what was said and done.
    newest = list(reversed(table.deeds))
    newest.sort(key=lambda deed: deed.kind is EventType.DM_NARRATION)
    unheard = [(deed, [uid for uid in living if deed.is_news_to(uid)]) for deed in newest]
    for rank, (deed, without) in enumerate([pair for pair in unheard if pair[1]][:_MOST_DEEDS]):
        who = join_texts([table.name(uid) for uid in without])
        tellers = join_texts([table.name(uid) for uid in living if uid not in without])
        verb = "has" if len(without) == 1 else "have"
        yield BriefLine(
            f"[{who} {verb} not heard this{f' from {tellers}' if tellers else ''}]: "
            f"{_ended(clip_text(tell_by(tellers, deed.gist), _LONGEST_GIST))}",
            "some of the party were not there, and nobody told them",
            (deed.event_id,),
            rank,
        )


def tell_by(tellers: str, gist: str) -> str:
    """Return a deed in the third person: "we came to the mill" becomes "Zara came to the mill"."""
    if tellers and gist.startswith(_WE):
        return f"{tellers} {gist[len(_WE) :]}"
    return _TOLD_US.sub(r" \1 them", gist)


def _ended(text: str) -> str:
    return text if text.endswith("…") else f"{text.rstrip('.')}."


def clip_text(text: str, longest: int) -> str:
    """Return whole sentences of a text up to a length; of a long one, its first words."""
    plain = one_line(text)
    kept = ""
    for sentence in split_sentences(plain):
        if len(kept) + len(sentence) >= longest:
            break
        kept = f"{kept} {sentence}".strip()
    if kept or len(plain) <= longest:
        return kept or plain
    cut = plain[:longest].rsplit(" ", 1)[0]
    # A quotation that was cut open ends before it begins.
    whole = cut if cut.count('"') % 2 == 0 else cut.rpartition('"')[0]
    words = whole.rstrip(" ,;:").split(" ")
    while len(words) > 1 and words[-1].rstrip(",;:") in _LEADS_ON:
        words.pop()
    return f"{' '.join(words).rstrip(' ,;:')}…"
