"""Deeds: what an event decided, as clauses in the past tense that can be joined to sentences.

A deed has a subject (the names of those who did it) and a predicate. It uses no words of the engine: no ids,
no states, no chapters. Names are those that the viewer knows.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, NamedTuple

from dndbots.canon.loot import Loot, holder_of, loot_of
from dndbots.canon.states import ACCEPTED, OFFERED, REFUSED, is_completed, is_over
from dndbots.events import EventType, GameEvent, KnownMetadata, StatedFact
from dndbots.ids import DM, PARTY_UID, SYSTEM, category_of
from dndbots.text.clean import one_line
from dndbots.text.sentences import split_sentences
from dndbots.text.tenses import deed_of, infinitive_of
from dndbots.text.word_forms import is_plural, number_word, with_a, with_some, with_the, without_article
from dndbots.text.words import content_stems

NameOf = Callable[[str], str]
DeedKind = Literal[
    "died", "ended", "taken", "refused", "revived", "killed", "offered", "paid", "fight", "cleared", "step",
    "learned", "found", "got", "told", "moved",
]  # fmt: skip
PARTY: Final = "the party"
GOT: Final = "got "
A_PURSE: Final = 5  # gold
AS_REWARD: Final = " as a reward"
_LONGEST_GOAL: Final = 200
_LONGEST_TELLING: Final = 160
_A_FEW: Final = 6
# Others than those of the sentence before: without it, nobody knows whom they differ from.
_OTHERS: Final = re.compile(r"(?:the (?:others?|rest|next|second)|another|both|neither)\b", re.IGNORECASE)
_LOOKED: Final = "looked:"
_QUOTES: Final = str.maketrans({"\u201c": '"', "\u201d": '"'})
_TRUSTED_AMOUNTS: Final = frozenset(("hp", "hp_max", "xp", "gold", "ac", "level", "number", "spells_ready"))


class StoryDeed(NamedTuple):
    """Something that was decided.

    `who` are the names of the subject, `did` is the predicate in the past tense, and `place` is where it
    happened. `what` is the quest, place, thing or group of foes that it is about, `number` how many fell and
    `of` how many there were. `hero` marks the death of a player character, `reward` what was got for a quest.
    `how` is what was told of it, in the words of the event; `said` means that the event's own words tell the
    whole deed.
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
    reward: bool = False

    @property
    def sentence(self) -> str:
        """The deed as a sentence by itself; "" for one that only marks the event."""
        return as_sentence(f"{join_names(self.who)} {self.did}") if self.did else ""

    @property
    def is_petty(self) -> bool:
        """Return True for a coin or two, which nobody would tell of."""
        return self.kind == "got" and not self.what and not self.reward and self.number < A_PURSE

    def is_told_in(self, text: str) -> bool:
        """Return whether some words tell it: the gold that was got, or a quest and who decided on it."""
        words = text.casefold()
        if self.kind == "got":
            return not self.what and f"{self.number} gold" in words
        named = all(name.casefold() in words for name in (self.what.strip('"'), *self.who))
        return self.kind in ("taken", "refused") and named


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
            got = join_names(deed.did.removeprefix(GOT) for deed in group)
            reward = AS_REWARD if group[0].reward else ""
            group = [group[0]._replace(did=f"{GOT}{got}{reward}", who=who)]
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
        did = f"was {'safe' if level == 'cleared' else level} from then on"
        yield StoryDeed("cleared", (place,), did, what=place)
    if event.event_type is EventType.DIALOGUE and _teaches(known) and not event.source.startswith("pc_"):
        yield StoryDeed("told", (called(event.source),), "")


def _teaches(known: KnownMetadata) -> bool:
    """Return whether the hearers learn a fact, other than numbers of the rules."""
    return any(map(_is_lesson, known.facts))


def _is_lesson(fact: StatedFact) -> bool:
    return fact.key is not None and fact.key not in _TRUSTED_AMOUNTS


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


# Quests.


def _quests(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    if known.quest_id is None:
        return
    quest = quest_title(called(known.quest_id))
    state = one_line(known.quest_state or "").casefold()
    heroes = _heroes(event, known, called)
    if state == OFFERED:
        yield _offer(event, known, called, quest)
    elif state == ACCEPTED:
        yield StoryDeed("taken", heroes, _with_goal(f"took on {quest}", event, known), what=quest)
    elif state == REFUSED:
        yield StoryDeed("refused", heroes, f"turned down {quest}", what=quest)
    elif state and is_over(state):
        yield StoryDeed("ended", (quest,), f"came to {_ending(state)}", what=quest, how=_end_told_in(event))
    if known.objective_id is not None and is_completed(known.objective_state or "completed"):
        told = [*_stated_steps(known), *reversed(split_sentences(event.content))]
        how = next((deed for line in told if (deed := deed_of(line))), "")
        yield StoryDeed("step", heroes, how or f"came a step further with {quest}", what=quest)


def quest_title(quest: str) -> str:
    """Return the name of a quest as a title in quotation marks: `"The Long Sleep"`."""
    name = quest.replace('"', "'")
    return f'"{name[:1].upper()}{name[1:]}"'


def _stated_steps(known: KnownMetadata) -> Iterator[str]:
    """Yield the steps of the event's quest that the event states as facts."""
    for fact in known.facts:
        if fact.subject == known.quest_id and (fact.key or "").startswith("step"):
            yield one_line(str(fact.value))


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
    # A clause has room for one sentence; the quest itself keeps the whole goal.
    first = next(iter(split_sentences(one_line(str(goals[0])))), "") if goals else ""
    return first[:_LONGEST_GOAL]


# Endings that an adventure has words of its own for.
_ENDINGS: Final = {
    "failed": "nothing",
    "abandoned": "nothing",
    "truce": "an end in a truce",
    "ransomed": "an end with a ransom",
}


def _ending(state: str) -> str:
    return "a good end" if is_completed(state) else _ENDINGS.get(state, "an end")


def _end_told_in(event: GameEvent) -> str:
    """Return how an event tells the end of a quest: its first sentences, or those of its longest speech."""
    text = event.content.translate(_QUOTES)
    speeches = text.split('"')[1::2] if event.source not in (DM, SYSTEM) else []
    told = ""
    for sentence in split_sentences(one_line(max(speeches, key=len, default=text))):
        longer = f"{told} {_quotable(sentence)}".strip()
        if len(longer) > _LONGEST_TELLING or len(told.split()) >= _A_FEW:
            break
        told = longer
    return told


def _lesson_told_in(event: GameEvent, known: KnownMetadata) -> str:
    """Return the sentence of an event that comes closest to the facts that it teaches."""
    taught = set(content_stems(" ".join(str(fact.value) for fact in known.facts if _is_lesson(fact))))
    sentences = [_quotable(line) for line in split_sentences(one_line(event.content.translate(_QUOTES)))]
    fitting = [line for line in sentences if len(line.split()) >= _A_FEW and len(line) <= _LONGEST_TELLING]
    best = max(fitting, key=lambda line: len(taught.intersection(content_stems(line))), default="")
    before = sentences[sentences.index(best) - 1] if best in sentences[1:] and _OTHERS.match(best) else ""
    longer = f"{before} {best}".strip()
    return longer if len(longer) <= _LONGEST_TELLING else best


def _quotable(sentence: str) -> str:
    """Return a sentence without quotation marks that nothing closes or opens."""
    return sentence if sentence.count('"') % 2 == 0 else sentence.replace('"', "").strip()


# Finds, loot and moves.


def _finds(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    """Yield the things and people found, and what was learned. The arrival itself tells of a new place."""
    if event.event_type is EventType.DISCOVERY and _teaches(known) and (how := _lesson_told_in(event, known)):
        thing = _looked_at(event)
        did = f"looked at {thing}" if thing else "made a discovery"
        yield StoryDeed("learned", _heroes(event, known, called), did, how=how, said=True)
    found = [uid for uid in dict.fromkeys(known.discovered) if category_of(uid) != "LOC"]
    names = [name for name in map(called, found) if not says(event, name)]
    if names:
        yield StoryDeed("found", _heroes(event, known, called), f"found {join_names(names)}")


def _looked_at(event: GameEvent) -> str:
    """Return the thing that somebody looked at, as the game's own note says; "" if it does not."""
    note = event.metadata.get("play")
    beats, sights = (note.get("beats"), note.get("sights")) if isinstance(note, dict) else (None, None)
    things = sights.get("things") if isinstance(sights, dict) else None
    if not isinstance(beats, list) or not isinstance(things, dict):
        return ""
    looked = (things.get(str(beat).removeprefix(_LOOKED)) for beat in beats if str(beat).startswith(_LOOKED))
    return next((one_line(thing) for thing in looked if isinstance(thing, str)), "")


def _loot(event: GameEvent, known: KnownMetadata, called: NameOf) -> Iterator[StoryDeed]:
    """Yield what changed hands. Equipment from a sheet did not, and what the event's words name is told."""
    if event.event_type is EventType.SYSTEM:
        return
    entries = _changed_hands(map(loot_of, known.loot))
    gold: dict[str, int] = {}
    earners = _earners(known, entries, called)
    bought = _purchases(entries)
    for pay, things in bought:
        yield _purchase(event, pay, things, called)
    done = [entry for pay, things in bought for entry in (pay, *things)]
    for entry in (entry for entry in entries if entry not in done):
        who = entry.to or (None if entry.giver else holder_of(event, known))
        if entry.gold > 0 and entry.giver is None and who is not None:
            gold[called(who)] = gold.get(called(who), 0) + entry.gold
        if entry.item is not None and entry.quantity > 0 and who is not None:
            for deed in _item(event, entry, called(who), called):
                yield deed._replace(who=earners or deed.who, reward=bool(earners))
        if entry.gold > 0 and entry.giver is not None:
            payee = entry.to or _bought_off(known)
            whom = f" to {with_the(called(payee))}" if payee else ""
            yield StoryDeed(
                "paid", (called(entry.giver),), f"paid {entry.gold} gold{whom}", number=entry.gold
            )
    if gold:
        total = sum(gold.values())
        finders = [called(who) for who in (event.source, *known.participants) if who.startswith("pc_")]
        # One of the party found it, and the purse went to somebody else.
        kept = not finders or called(PARTY_UID) in gold or set(finders) & set(gold)
        getters = tuple(gold) if kept else (PARTY,)
        yield StoryDeed("got", earners or getters, f"{GOT}{total} gold", number=total, reward=bool(earners))


def _earners(known: KnownMetadata, entries: Iterable[Loot], called: NameOf) -> tuple[str, ...]:
    """Return all who get something for a quest that ends in the event: they earned it together."""
    if known.quest_id is None or not is_over(known.quest_state):
        return ()
    return tuple(dict.fromkeys(called(entry.to) for entry in entries if entry.to and not entry.giver))


def _changed_hands(loot: Iterable[Loot]) -> list[Loot]:
    """Return the loot without what somebody used up: six torches that become five are no gift and no find."""
    entries = list(loot)
    lost = {entry.giver for entry in entries if entry.item and entry.giver and entry.to is None}
    used = lost & {entry.to for entry in entries if entry.item and entry.giver is None}
    return [entry for entry in entries if not (entry.item and {entry.giver, entry.to} & used)]


def _purchases(entries: Sequence[Loot]) -> list[tuple[Loot, list[Loot]]]:
    """Return each payment together with the things that the payer gets for it."""
    pairs = []
    for pay in entries:
        things = [
            entry
            for entry in entries
            if entry.item and entry.quantity > 0 and entry.to == pay.giver and entry.giver in (None, pay.to)
        ]
        if pay.gold > 0 and pay.giver and pay.to and things:
            pairs.append((pay, things))
    return pairs


def _purchase(event: GameEvent, pay: Loot, things: Sequence[Loot], called: NameOf) -> StoryDeed:
    """Return what somebody bought as one deed, so that neither the thing nor the coins are told twice."""
    buyer, seller = called(pay.giver or ""), called(pay.to or "")
    names = [called(entry.item or "") for entry in things]
    bought = join_names(map(_counted, things, names))
    said = says(event, buyer) and all(says(event, name) for name in names)
    did = f"bought {bought} from {with_the(seller)} for {pay.gold} gold"
    return StoryDeed("paid", (buyer,), did, what=names[0], number=pay.gold, said=said)


def _counted(entry: Loot, item: str) -> str:
    """Return a thing with its number or article: "a lantern", "two torches"."""
    return with_some(item) if entry.quantity == 1 else f"{number_word(entry.quantity)} {item}"


def _bought_off(known: KnownMetadata) -> str | None:
    """Return the foes who leave in the event that pays them."""
    left = [fact.subject for fact in known.facts if fact.ended and category_of(fact.subject) == "MON"]
    return left[0] if len(left) == 1 else None


def _item(event: GameEvent, entry: Loot, who: str, called: NameOf) -> Iterator[StoryDeed]:
    item = called(entry.item or "")
    what = _counted(entry, item)
    if entry.giver is not None:
        giver = called(entry.giver)
        said = all(says(event, name) for name in (item, giver, who))
        yield StoryDeed("paid", (giver,), f"gave {what} to {who}", what=item, said=said)
        return
    yield StoryDeed("got", (who,), f"{GOT}{what}", what=item, said=says(event, item))


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
    return whole if whole.rstrip("\"'\u201d\u2019").endswith((".", "!", "?", "\u2026")) else f"{whole}."


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
