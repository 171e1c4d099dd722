"""A generated campaign with known truth, told in varied prose, for the measures of compaction.

`told(seed, turns)` plays a table: a DM, four or five players, people whom they meet. Most of it is dice,
banter, weather and plans. In between somebody says what a careful note-taker would write down, and each
such thing is listed as a truth of its line. The prose is in `told_prose/`, written by hand; whoever reads
facts out of play must not be fitted to it.

    python bench/told.py --turns 20000     checks the campaigns that it tells, and counts what is in them
"""

import argparse
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dndbots.extraction.port import FIELDS
from dndbots.tokens import count_many
from phrases import (
    Exchange,
    Mark,
    Saying,
    Slots,
    asides,
    either,
    exchanges,
    sayings,
    with_capital,
)
from told_world import Thing, World

# How often each topic comes up, among the lines that say something.
TOPICS = {
    "role": 8, "intro": 6, "race": 4, "look": 5, "age": 3, "wants": 5, "fears": 3, "promise": 4,
    "attitude": 6, "status": 4, "death": 2, "place": 8, "home": 4, "faction": 3, "kin": 6, "serves": 3,
    "enemy": 2, "ally": 2, "ability": 3, "environment": 9, "quest": 5, "holder": 4, "handed": 3, "item": 5,
    "group": 5, "newrole": 4, "replaced": 3, "rumor": 5, "lie": 4, "hero": 5,
}  # fmt: skip
# What mostly comes as news of somebody, or something, of whom the like has been told before.
CHANGES = ("place", "status", "attitude", "replaced", "handed")
# Whom these speak of is somewhere else.
AWAY = frozenset({"status", "death", "place", "replaced", "handed", "rumor"})
# What is told of somebody or something only once; other things change, or add up.
ONCE = frozenset(
    {"role", "race", "description", "age", "home", "wants", "fears", "known_for", "part_of", "maker", "power"}
)
# Of these only the newest is so. A holder also ends where a thing lay, and the other way round.
CHANGING = frozenset(
    {"role", "attitude", "status", "place", "home", "faction", "serves", "holder", "ruler", "leader"}
)
# Of a hundred exchanges, how many are followed by narration, by something that is worth a note, and by
# something that only sounds like it. Of a hundred things that are said, how many are news of what was told.
NARRATED, SAID, SOUNDS_SAID, NEWS = 40, 38, 30, 30
SCENES = {"town": 4, "road": 3, "dungeon": 4, "fight": 4, "camp": 2, "talk": 5}
BOTH_SEXES = ("cousin", "twin", "mentor", "apprentice", "friend", "rival", "lover")
KIN = {
    "m": ("brother", "father", "son", "husband", "uncle", "nephew", "grandfather", *BOTH_SEXES),
    "f": ("sister", "mother", "daughter", "wife", "aunt", "niece", "grandmother", *BOTH_SEXES),
}
PRONOUNS = {
    "m": {"he": "he", "him": "him", "his": "his", "himself": "himself", "man": "man"},
    "f": {"he": "she", "him": "her", "his": "her", "himself": "herself", "man": "woman"},
}
# Other words that say the same as a value.
SAME = {
    "dead": ("died", "dies", "killed", "slain", "buried"),
    "hostile": ("unfriendly",),
    "friendly": ("warm",),
    "suspicious": ("wary",),
}
# What some lines also say, in these words: true, and worth a note to some, but it changes nothing else.
ALSO = frozenset({"ruler", "leader", "maker", "owner", "member", "guide", "ally", "held", "hiding", "tired"})
# The slot that a field's value stands in, where a mark names none.
SLOT = {
    "description": "look", "wants": "want", "fears": "fear", "promise": "vow", "attitude": "mood",
    "status": "state", "home": "l", "place": "l", "faction": "f", "ability": "talent",
}  # fmt: skip
# In these the world stays as it was, whatever is said.
IDLE = frozenset({"rumor", "lie", "trap"})

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What a line says of somebody or something. `until` is the turn from which on it is so no longer.

    `said_by` is None where the DM says it. `plain` is what is said in so many words, not between the lines.
    """

    kind: str
    name: str
    field: str
    values: frozenset[str]
    line: str
    said_by: str | None
    sure: str
    ended: bool
    plain: bool
    since: int
    until: int | None = None


@dataclass(frozen=True, kw_only=True)
class Told:
    """Transcript lines, what they say, who plays, and everybody and everything there is, by name."""

    lines: list[dict[str, str]]
    truths: list[Truth]
    heroes: tuple[str, ...]
    things: dict[str, str]


class Teller:
    """Tells a campaign, scene by scene, and keeps the list of what it said."""

    def __init__(self, seed: int, phrasings: str) -> None:
        self.rng = random.Random(seed)
        self.phrasings = phrasings
        self.world = World(self.rng)
        self.party = self.world.heroes  # those who are in the scene
        self.lines: list[dict[str, str]] = []
        self.truths: list[Truth] = []
        self._standing: dict[tuple[str, str], list[int]] = {}
        self._session, self._session_ends = 0, 0
        self._left: dict[str, list] = {}

    def scene(self) -> None:
        """A place, somebody who is there, and a few exchanges, with things said in between."""
        rng = self.rng
        kind = rng.choices([*SCENES], weights=[*SCENES.values()])[0]
        self.place = self.world.thing("towns" if kind in ("town", "road") else "sites", new=0.4)
        self.present = self.world.person()
        self._narrate("opening")
        if rng.random() < 0.5:
            self._something_said()
        for _ in range(rng.randint(2, 5)):
            where = rng.choices((kind, "talk", "table", "plan"), weights=(60, 15, 12, 13))[0]
            self._exchange(self._next(where, exchanges()[where]))
            if rng.random() < NARRATED / 100:
                self._narrate("narration")
            if rng.random() < SAID / 100:
                self._something_said()
            if rng.random() < SOUNDS_SAID / 100:
                self._tell(self._next("traps", sayings("traps", self.phrasings)["traps"]), "trap")

    def _next(self, name: str, pool: Sequence[T]) -> T:
        """Each of a pool in turn, in an order that changes with every round."""
        if not self._left.get(name):
            self._left[name] = self.rng.sample(pool, len(pool))
        return self._left[name].pop()

    def _narrate(self, name: str) -> None:
        text = either(self.rng, self._next(name, asides()[name]))
        self._say("DM", "dm", text.format_map(self._slots()))

    def _exchange(self, exchange: Exchange) -> None:
        slots = self._slots()
        for who, text in exchange:
            speaker = {"D": "DM", "N": self.present.name}.get(who) or slots[who]
            role = {"D": "dm", "N": "npc"}.get(who, "pc")
            self._say(speaker, role, either(self.rng, text).format_map(slots))

    def _slots(self) -> Slots:
        first, second, third = self.rng.sample(self.party, 3)
        given = {"A": first.name, "B": second.name, "C": third.name, "N": self.present.name}
        return Slots(self.rng, given | {"Ahis": PRONOUNS[first.sex]["his"]})

    def _say(self, speaker: str, role: str, text: str) -> str:
        if len(self.lines) >= self._session_ends:
            self._session_ends += self.rng.randint(120, 260)
            self._session += 1
        line = {
            "id": f"T{len(self.lines) + 1:06d}",
            "session": f"s{self._session:03d}",
            "speaker": speaker,
            "role": role,
            "text": text,
            "location": with_capital(self.place.name),
        }
        self.lines.append(line)
        return line["id"]

    def _something_said(self) -> None:
        for _ in range(12):
            news = self.rng.random() < NEWS / 100
            topics = dict.fromkeys(CHANGES, 1) if news else TOPICS
            topic = self.rng.choices([*topics], weights=[*topics.values()])[0]
            if self._tell(self.rng.choice(sayings("facts", self.phrasings)[topic]), topic):
                return

    def _tell(self, saying: Saying, topic: str) -> bool:
        """Says it, and notes what it tells; not if that does not fit what has been told before."""
        cast = self._cast(saying, topic)
        if cast is None or not self._fits(saying, topic, cast):
            return False
        slots = self._slots()
        slots |= {key: one.name for key, one in cast.items()}
        for key, prefix in (("p", ""), ("q", "q"), ("s", "s")):
            slots |= {prefix + word: form for word, form in PRONOUNS[cast[key].sex].items()}
        slots["kin"] = self.rng.choice(KIN[cast["q"].sex])
        if topic == "replaced":
            slots["post"] = cast["p"].told["role"]
        text = self._among_asides(saying.who, either(self.rng, saying.text))
        speaker = {"D": "DM", "N": cast["p"].name, "P": cast["s"].name}[saying.who]
        role = {"D": "dm", "N": "npc", "P": "pc"}[saying.who]
        line = self._say(speaker, role, text.format_map(slots))
        for mark in saying.marks:
            said_by = slots[mark.speaker] if mark.speaker else None if saying.who == "D" else speaker
            self._note(mark, _subject(mark, saying, cast), slots, line, said_by, idle=topic in IDLE)
        return True

    def _among_asides(self, who: str, text: str) -> str:
        """With something before or after it that is no news, or with both."""
        prefix = {"D": "", "N": "person_", "P": "player_"}[who]
        before, after = f"{prefix}before", f"{prefix}after"
        chance = self.rng.random()
        if chance < 0.3:
            text = f"{either(self.rng, self._next(before, asides()[before]))} {text}"
        if 0.22 < chance < 0.5:
            text = f"{text} {either(self.rng, self._next(after, asides()[after]))}"
        return text

    def _cast(self, saying: Saying, topic: str) -> dict[str, Thing] | None:
        """Who and what a saying is about; None if there is nobody of that kind."""
        world, rng = self.world, self.rng
        p: Thing | None = self.present
        if topic in AWAY and saying.who != "N":
            p = world.person(self.present)
        if topic in CHANGES and saying.who == "D" and rng.random() < 0.7:
            p = world.person_of_whom(topic, self.present) or p
        i = world.thing("items", new=0.5)
        if topic == "replaced":
            p = world.person_of_whom("post", self.present)
        elif topic == "handed":
            owners = {person.name: person for person in [*world.people[-200:], *world.heroes]}
            held = [one for one in world.shelves["items"][-60:] if one.told.get("holder") in owners]
            i = rng.choice(held) if held else i
            p = owners[i.told["holder"]] if held else None
        if p is None:
            return None
        town = any(mark.field in ("home", "part_of", "ruler", "known_for") for mark in saying.marks)
        return {
            "p": p,
            "q": world.new_person() if topic in ("kin", "replaced") else world.person(p),
            "s": rng.choice(self.party),
            "l": world.thing("towns" if town or rng.random() < 0.6 else "sites", new=0.5),
            "f": world.thing("factions", new=0.4),
            "g": world.thing("factions", new=0.3),
            "i": i,
        }

    def _fits(self, saying: Saying, topic: str, cast: Mapping[str, Thing]) -> bool:
        if cast["p"] is cast["q"] or cast["f"] is cast["g"]:
            return False
        if topic in IDLE or topic == "replaced":
            return True
        for mark in saying.marks:
            subject = _subject(mark, saying, cast)
            if mark.field in ONCE and mark.slot not in ALSO and mark.field in subject.told:
                return False
            if subject.kind == "item" and mark.field in ("holder", "place") and "holder" in subject.told:
                return topic == "handed"
        return True

    def _note(
        self, mark: Mark, subject: Thing, slots: Slots, line: str, said_by: str | None, *, idle: bool
    ) -> None:
        name = slots["kin"] if mark.field == "kin" else mark.field
        slot = mark.slot or SLOT.get(mark.field, mark.field)
        value = slot if slot in SAME or slot in ALSO else slots[slot]
        truth = Truth(
            kind="ability" if name == "ability" else subject.kind,
            name=subject.name or slots["goal"],
            field=name,
            values=frozenset({value, *SAME.get(value, ())}),
            line=line,
            said_by=said_by,
            sure="rumor" if mark.rumor else "fact",
            ended=mark.ended,
            plain=mark.plain,
            since=len(self.lines),
        )
        if said_by is None and not idle and slot not in ALSO:
            self._supersede(truth)
        self.truths.append(truth)
        if idle or slot in ALSO:
            return
        if not mark.ended:
            subject.told[name] = value
        if slot == "post":
            subject.told["post"] = value
            if mark.ended:
                del subject.told["post"]
        if value == "dead":
            self.world.bury(subject.name)

    def _supersede(self, truth: Truth) -> None:
        """What was so of this until now is so no longer."""
        fields = {truth.field} & CHANGING
        if truth.kind == "item" and truth.field in ("holder", "place"):
            fields = {"holder", "place"}
        for name in sorted(fields):
            standing = self._standing.pop((truth.name, name), [])
            for number in standing:
                same = name == truth.field and self.truths[number].values == truth.values
                if same is truth.ended:
                    self.truths[number] = replace(self.truths[number], until=truth.since)
            stay = [number for number in standing if self.truths[number].until is None]
            self._standing[truth.name, name] = stay
        if not truth.ended:
            self._standing.setdefault((truth.name, truth.field), []).append(len(self.truths))


def _subject(mark: Mark, saying: Saying, cast: Mapping[str, Thing]) -> Thing:
    if mark.subject == "k":
        return Thing(kind="quest", name="")
    if mark.subject is None and saying.who == "P" and "{p}" not in saying.text:
        return cast["s"]
    return cast[mark.subject or "p"]


def told(seed: int, turns: int, phrasings: str = "all") -> Told:
    """The first turns of a campaign, and all that they say; the same for the same seed.

    `phrasings` is which of the ways to say a thing are used: all, or half of them.
    """
    teller = Teller(seed, phrasings)
    while len(teller.lines) < turns:
        teller.scene()
    truths = [
        truth if truth.until is None or truth.until <= turns else replace(truth, until=None)
        for truth in teller.truths
        if truth.since <= turns
    ]
    heroes = tuple(hero.name for hero in teller.world.heroes)
    return Told(lines=teller.lines[:turns], truths=truths, heroes=heroes, things=_things(teller.world))


def _things(world: World) -> dict[str, str]:
    """Everybody and everything there is, with its kind."""
    every = [*world.heroes, *world.people, *(thing for shelf in world.shelves.values() for thing in shelf)]
    return {thing.name: thing.kind for thing in every}


def check(campaign: Told) -> float:
    """The share of tokens in lines that say nothing; what is listed as said stands in its line."""
    lines = {line["id"]: line for line in campaign.lines}
    for truth in campaign.truths:
        line = lines[truth.line]
        fields = FIELDS["character"] if truth.kind == "character" else FIELDS[truth.kind]  # type: ignore[index]
        assert truth.field in fields, f"{truth.kind} has no {truth.field}"
        text = f"{line['speaker']}: {line['text']}".casefold()
        assert truth.name.casefold() in text, truth
        assert not truth.plain or any(value.casefold() in text for value in truth.values), truth
        assert truth.until is None or truth.until > truth.since, truth
    said = {truth.line for truth in campaign.truths}
    costs = count_many(line["text"] for line in campaign.lines)
    idle = sum(cost for cost, line in zip(costs, campaign.lines, strict=True) if line["id"] not in said)
    return idle / sum(costs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    campaign = told(args.seed, args.turns)
    assert campaign == told(args.seed, args.turns), "the same seed tells the same"
    idle = check(campaign)
    assert idle >= 0.85 or args.turns < 2_000, f"only {idle:.1%} of the tokens say nothing"
    texts = Counter(line["text"] for line in campaign.lines)
    plain = sum(truth.plain for truth in campaign.truths)
    print(f"{len(campaign.lines)} turns, {len(texts)} different; {idle:.1%} of the tokens say nothing")
    print(f"{len(campaign.truths)} truths, {plain} said plainly, ", end="")
    print(f"{sum(truth.until is not None for truth in campaign.truths)} not so any more at the end")
    for name, number in Counter(truth.field for truth in campaign.truths).most_common():
        print(f"  {name:<14}{number:>6}")


if __name__ == "__main__":
    main()
