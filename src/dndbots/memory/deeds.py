"""Deeds: what an event decided, as clauses in the past tense that can be joined to sentences.

A deed has a subject (the names of those who did it) and a predicate. It uses no words of the engine: no ids,
no states, no chapters. Names are those that the viewer knows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, Literal, NamedTuple

from dndbots.canon.loot import Loot, holder_of, loot_of
from dndbots.canon.states import ACCEPTED, OFFERED, REFUSED, is_completed, is_over
from dndbots.events import EventType, GameEvent, KnownMetadata
from dndbots.ids import DM, PARTY_UID, SYSTEM, category_of
from dndbots.text.clean import one_line
from dndbots.text.sentences import split_sentences
from dndbots.text.tenses import deed_of, infinitive_of
from dndbots.text.word_forms import is_plural, with_a, with_the

NameOf = Callable[[str], str]
DeedKind = Literal[
    "died", "ended", "taken", "refused", "revived", "killed", "offered", "paid", "fight", "cleared", "step",
    "learned", "found", "got", "told", "moved",
]  # fmt: skip
PARTY: Final = "the party"
_ARTICLES: Final = ("the ", "some ", "a ", "an ")
_NUMBERS: Final = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LONGEST_GOAL: Final = 200
_LONGEST_TELLING: Final = 160
_A_FEW: Final = 6
_TRUSTED_AMOUNTS: Final = frozenset(("hp", "hp_max", "xp", "gold", "ac", "level", "number", "spells_ready"))


class StoryDeed(NamedTuple):
    """Something that was decided.

    `who` are the names of the subject, `did` is the predicate in the past tense, and `place` is where it
    happened. `what` is the quest, place, thing or group of foes that it is about, `number` how many fell and
    `of` how many there were. `hero` marks the death of a player character. `how` is what was told of it, in
    the words of the event; `said` means that the event's own words tell the whole deed.
    """

    kind: DeedKind
    who: tuple[str, ...]
    did: str
    what: str = ""
    number: int = 0
    of: int | None = None
    hero: bool = False
    how: str = ""
    said: bool = False
    place: str = ""

    @property
    def sentence(self) -> str:
        """The deed as a sentence by itself; "" for one that only marks the event."""
        return as_sentence(f"{join_names(self.who)} {self.did}") if self.did else ""


def deeds_of(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    """Yield what an event decided, with the names that `called` returns for uids."""
    place = called(known.location) if known.location is not None else ""
    for deed in _decided_in(event, known, called):
        yield deed._replace(place=place)


def outcomes_of(deeds: Iterable[StoryDeed]) -> Iterator[str]:
    """Yield sentences for deeds that the event's own words do not tell. All that one person got is one."""
    telling = (deed for deed in deeds if deed.did and not deed.said)
    for (kind, who), together in groupby(telling, key=lambda deed: (deed.kind, deed.who)):
        group = list(together)
        if kind == "got":
            got = join_names(deed.did.removeprefix("got ") for deed in group)
            group = [group[0]._replace(did=f"got {got}", who=who)]
        yield from (deed.sentence for deed in group)


def _decided_in(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    yield from _deaths(known, called)
    if known.revived:
        yield StoryDeed("revived", tuple(map(called, known.revived)), "came back to life")
    yield from _quests(event, known, called)
    yield from _fights(event, known, called)
    yield from _finds(event, known, called)
    yield from _loot(event, known, called)
    yield from _moves(event, known, called)
    if known.danger_level is not None and known.location is not None:
        level, place = one_line(known.danger_level).lower(), called(known.location)
        did = "was safe now" if level == "cleared" else f"was {level} now"
        yield StoryDeed("cleared", (place,), did, what=place)
    if event.event_type is EventType.DIALOGUE and _teaches(known) and not event.source.startswith("pc_"):
        yield StoryDeed("told", (called(event.source),), "")


def _teaches(known: KnownMetadata) -> bool:
    """Return whether the hearers learn a fact, other than numbers of the rules."""
    return any(fact.key is not None and fact.key not in _TRUSTED_AMOUNTS for fact in known.facts)


# Fights.


def killers_of(known: KnownMetadata) -> list[str]:
    """Return the uids of those who killed somebody in an event."""
    killers = [known.killed_by] if isinstance(known.killed_by, str) else known.killed_by or []
    return [who for who in killers if who not in (DM, SYSTEM)]


def _deaths(known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    killers = tuple(map(called, killers_of(known)))
    for uid, times in Counter(known.killed).items():
        name, group, count = called(uid), known.enemies[:1] == [uid], known.enemy_count
        of = count if group and count is not None and count >= times else None
        if category_of(uid) != "MON" or not (is_plural(name) or times > 1 or (of or 0) > 1):
            hero, dead = category_of(uid) == "PC", with_the(name)
            kind: DeedKind = "died" if category_of(uid) in ("PC", "NPC") else "killed"
            if killers:
                yield StoryDeed(kind, killers, f"killed {dead}", what=name, number=1, of=1, hero=hero)
            else:
                yield StoryDeed(kind, (dead,), "died", what=name, number=1, of=1, hero=hero)
            continue
        fallen = _fallen(without_article(name), times, of)
        if killers:
            yield StoryDeed("killed", killers, f"killed {fallen}", what=name, number=times, of=of)
        else:
            yield StoryDeed("killed", (fallen,), "fell", what=name, number=times, of=of)


def _fallen(group: str, times: int, of: int | None) -> str:
    """Return how many of a group fell: "the last of the rats", "two of the five rats"."""
    if of == 1:
        return f"the last of the {group}"
    if of == times:
        return f"all {number_word(of)} of the {group}"
    return f"{number_word(times)} of the {group if of is None else f'{number_word(of)} {group}'}"


def _fights(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    heroes = _heroes(event, known, called)
    if event.event_type is EventType.COMBAT_START and known.enemies:
        for number, foe in enumerate(dict.fromkeys(known.enemies)):
            count = known.enemy_count if number == 0 else None
            name = called(foe)
            yield StoryDeed("fight", heroes, f"fought {foes_in_words(name, count)}", what=name, of=count)
    elif event.event_type is EventType.COMBAT_END:
        yield StoryDeed("fight", heroes, "", how=_fight_result(event))


def _fight_result(event: GameEvent) -> str:
    """Return how a fight ended, as the game's own note says: won, lost, fled or talked."""
    note = event.metadata.get("play")
    result = note.get("ended") if isinstance(note, dict) else None
    return result if isinstance(result, str) else ""


def foes_in_words(name: str, count: int | None) -> str:
    """Return a group of foes with its number: "four goblins of the mill"."""
    if not is_plural(name):
        return with_a(name)
    if count is None or count < 2:
        return with_the(name)
    return f"{number_word(count)} {without_article(name)}"


def without_article(name: str) -> str:
    """Return a name without its leading article."""
    return next((name.removeprefix(article) for article in _ARTICLES if name.startswith(article)), name)


def number_word(number: int) -> str:
    """Return a number up to ten as a word."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


# Quests.


def _quests(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    if known.quest_id is None:
        return
    quest = f'"{called(known.quest_id).replace(chr(34), chr(39))}"'
    state = one_line(known.quest_state or "").casefold()
    heroes = _heroes(event, known, called)
    if state == OFFERED:
        yield _offer(event, known, called, quest)
    elif state == ACCEPTED:
        yield StoryDeed("taken", heroes, _with_goal(f"took on {quest}", event, known), what=quest)
    elif state == REFUSED:
        yield StoryDeed("refused", heroes, f"turned down {quest}", what=quest)
    elif state and is_over(state):
        yield StoryDeed("ended", (quest,), f"came to {_ending(state)}", what=quest, how=_told_in(event))
    if known.objective_id is not None and is_completed(known.objective_state or "completed"):
        how = next((deed for line in reversed(split_sentences(event.content)) if (deed := deed_of(line))), "")
        did = how or f"came a step further with {quest}"
        yield StoryDeed("step", heroes, did, what=quest)


def _offer(event: GameEvent, known: KnownMetadata, called: NameOf, quest: str) -> StoryDeed:
    goal = _goal(known)
    if event.source in (DM, SYSTEM):
        return StoryDeed("offered", (PARTY,), _with_goal(f"heard of {quest}", event, known), what=quest)
    wish = infinitive_of(goal)
    did = (
        f"asked {PARTY} to {wish}" if wish else f"asked for help with {quest}" + (f": {goal}" if goal else "")
    )
    return StoryDeed("offered", (called(event.source),), did.rstrip("."), what=quest)


def _with_goal(did: str, event: GameEvent, known: KnownMetadata) -> str:
    """Return a predicate with the goal that the event states, if it does."""
    goal = _goal(known)
    if not goal or event.source not in (DM, SYSTEM):
        return did
    return f"{did}: {infinitive_of(goal) or goal}".rstrip(".")


def _goal(known: KnownMetadata) -> str:
    """Return the goal of the event's quest, if the event states it."""
    goals = [fact.value for fact in known.facts if fact.subject == known.quest_id and fact.key == "goal"]
    return one_line(str(goals[0]))[:_LONGEST_GOAL] if goals else ""


def _ending(state: str) -> str:
    if is_completed(state):
        return "a good end"
    return "nothing" if state in ("failed", "abandoned") else "an end"


def _told_in(event: GameEvent, words: int = 1) -> str:
    """Return the first sentence, of at least some words, that an event tells; in a speech, of that speech."""
    spoken = first_quotation(event.content) if event.source not in (DM, SYSTEM) else ""
    sentences = (line.replace('"', "") for line in split_sentences(one_line(spoken or event.content)))
    fitting = (line for line in sentences if len(line.split()) >= words and len(line) <= _LONGEST_TELLING)
    return next(fitting, "")


def first_quotation(text: str) -> str:
    """Return the first words in quotation marks; "" if there are none."""
    parts = text.replace("\u201c", '"').replace("\u201d", '"').split('"', 2)
    return parts[1].strip() if len(parts) > 2 else ""


# Finds, loot and moves.


def _finds(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    """Yield the things and people found, and what was learned. The arrival itself tells of a new place."""
    if event.event_type is EventType.DISCOVERY and _teaches(known) and (how := _told_in(event, _A_FEW)):
        yield StoryDeed("learned", _heroes(event, known, called), "made a discovery", how=how, said=True)
    found = [uid for uid in dict.fromkeys(known.discovered) if category_of(uid) != "LOC"]
    names = [name for name in map(called, found) if not says(event, name)]
    if names:
        yield StoryDeed("found", _heroes(event, known, called), f"found {join_names(names)}")


def _loot(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    """Yield what changed hands. Equipment from a sheet did not, and what the event's words name is told."""
    if event.event_type is EventType.SYSTEM:
        return
    entries = _changed_hands(map(loot_of, known.loot))
    gold: dict[str, int] = {}
    for entry in entries:
        who = entry.to or (None if entry.giver else holder_of(event, known))
        if entry.gold > 0 and entry.giver is None and who is not None:
            gold[called(who)] = gold.get(called(who), 0) + entry.gold
        if entry.item is not None and entry.quantity > 0 and who is not None:
            yield from _item(event, entry, called(who), called)
        if entry.gold > 0 and entry.giver is not None:
            payee = entry.to or _bought_off(known)
            whom = f" to {with_the(called(payee))}" if payee else ""
            yield StoryDeed(
                "paid", (called(entry.giver),), f"paid {entry.gold} gold{whom}", number=entry.gold
            )
    if gold:
        yield StoryDeed("got", tuple(gold), f"got {sum(gold.values())} gold", number=sum(gold.values()))


def _changed_hands(loot: Iterable[Loot]) -> list[Loot]:
    """Return the loot without what somebody used up: six torches that become five are no gift and no find."""
    entries = list(loot)
    lost = {entry.giver for entry in entries if entry.item and entry.giver and entry.to is None}
    used = lost & {entry.to for entry in entries if entry.item and entry.giver is None}
    return [entry for entry in entries if not (entry.item and {entry.giver, entry.to} & used)]


def _bought_off(known: KnownMetadata) -> str | None:
    """Return the foes who leave in the event that pays them."""
    left = [fact.subject for fact in known.facts if fact.ended and category_of(fact.subject) == "MON"]
    return left[0] if len(left) == 1 else None


def _item(event: GameEvent, entry: Loot, who: str, called: NameOf) -> Iterator[StoryDeed]:
    item = called(entry.item or "")
    if entry.giver is not None:
        yield StoryDeed("paid", (called(entry.giver),), f"gave {item} to {who}", what=item)
        return
    what = item if entry.quantity == 1 else f"{number_word(entry.quantity)} {item}"
    yield StoryDeed("got", (who,), f"got {what}", what=item, said=says(event, item))


def _moves(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    if event.event_type is EventType.LOCATION_CHANGE and known.location is not None:
        movers = [who for who in (event.source, *known.participants) if who not in (DM, SYSTEM)]
        place = called(known.location)
        if movers:
            who = tuple(dict.fromkeys(map(called, movers)))
            yield StoryDeed("moved", who, f"went to {place}", what=place, said=says(event, place))


def _heroes(event: GameEvent, known: KnownMetadata, called: NameOf) -> tuple[str, ...]:
    """Return the player characters who act in an event, or else the party."""
    people = [who for who in (event.source, *known.participants) if who.startswith("pc_")]
    return tuple(dict.fromkeys(map(called, people))) or (PARTY,)


def says(event: GameEvent, name: str) -> bool:
    """Return whether an event's own words have a name, so that it need not be told again."""
    return name.casefold() in event.content.casefold()


# Words.


def join_names(names: Iterable[str]) -> str:
    """Return names with commas and a final "and"."""
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def as_sentence(text: str) -> str:
    """Return a clause as a sentence: a capital first, unless it is quoted, and a full stop."""
    whole = text.strip()
    start = 1 if whole[:1] in "\"'\u201c" else 0
    whole = whole[:start] + whole[start : start + 1].upper() + whole[start + 1 :]
    return whole if whole.endswith((".", "!", "?", "\u2026", '."', '!"', '?"')) else f"{whole}."


# The uids whose names a deed may need.


def uids_in_deeds(event: GameEvent, known: KnownMetadata) -> list[str]:
    """Return the uids whose names `deeds_of` asks for; none for an event that decided nothing."""
    fights = event.event_type in (EventType.COMBAT_START, EventType.COMBAT_END)
    moves = event.event_type is EventType.LOCATION_CHANGE
    uids = [*known.killed, *killers_of(known), *known.revived, *known.discovered]
    for entry in map(loot_of, known.loot):
        uids += [uid for uid in (entry.to, entry.giver, entry.item) if uid]
    uids += [payee] if known.loot and (payee := _bought_off(known)) else []
    learns = event.event_type in (EventType.DIALOGUE, EventType.DISCOVERY) and bool(known.facts)
    acts = fights or moves or learns or known.loot or known.quest_id is not None or known.discovered
    uids += [PARTY_UID] if known.loot else []
    uids += known.participants if acts else []
    uids += known.enemies if fights else []
    uids += [known.quest_id] if known.quest_id else []
    decided = uids or acts or known.danger_level is not None
    return uids + ([known.location] if known.location and decided else [])
