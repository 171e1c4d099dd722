"""The campaign of the benchmark: told scenes with a party that splits, planted secrets, lies, masks and vows.

Every line says who perceived it. What a line makes known is kept beside it, so that for any viewer and any
turn the answer to a question is known: what it perceived last, what was so before, what it never perceived.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.rot.told_path import Slots, Teller, Thing, Truth, either, with_capital

PROSE = Path(__file__).parent / "prose" / "episodes.txt"
# Of a hundred scenes: how many are without a part of the party, and how many have something planted in them.
APART, PLANTED = 45, 40
# A lie is found out, and a mask falls, so many scenes later.
LATER = (2, 40)
PLANTS = {"secret": 40, "lie": 20, "mask": 20, "vow": 20}
# Fields of told facts that a question can be asked about, and that only one answer fits.
ASKED_FIELDS = frozenset(
    {"role", "home", "place", "holder", "wants", "fears", "faction", "status", "race", "attitude"}
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a line makes known: `slot` of `names` is `values`. A later claim of the slot takes its place."""

    kind: str
    slot: str
    names: frozenset[str]
    values: frozenset[str]
    text: str  # the line's own words, which may mention more than it claims
    turn: int
    witnesses: frozenset[str]
    question: tuple[str, ...]  # its form, and what fills it


class Story(Teller):
    """Tells the campaign, and keeps what each line makes known to whom."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, "all")
        self.claims: list[Claim] = []
        self.hearers: list[frozenset[str]] = []
        self._due: list[tuple[int, str, dict[str, str]]] = []
        self._scenes = 0
        self._read_truths = 0
        self._given: set[str] = set()  # names of things and masks, and days of vows
        self._alone: str | None = None
        self._yielded = 0

    def scene(self) -> None:
        rng, heroes = self.rng, self.world.heroes
        self.party = rng.sample(heroes, 3) if rng.random() < APART / 100 else heroes
        self._scenes += 1
        start = len(self.lines) + 1
        super().scene()
        # Where somebody was met is where they are, whatever was told before: no question is asked about that.
        person = self.present.name
        self._claim("fact", f"place of {person}", {person}, set(), start, ("place", person))
        if rng.random() < PLANTED / 100:
            self._plant(rng.choices([*PLANTS], weights=[*PLANTS.values()])[0])
        for due in [due for due in self._due if due[0] <= self._scenes]:
            self._due.remove(due)
            self._reveal(due[1], due[2])
        self._take_truths()

    def _say(self, speaker: str, role: str, text: str) -> str:
        line_id = super()._say(speaker, role, text)
        present = {self._alone} if self._alone else {hero.name for hero in self.party}
        hearers = frozenset(present | ({speaker} if role == "npc" else set()))
        self.hearers.append(hearers)
        return line_id

    def _plant(self, kind: str) -> None:
        rng = self.rng
        hero = rng.choice(self.party)
        if kind == "mask" and f"mask of {self.present.name}" in self._given:
            kind = "secret"  # two errands for one person would have two answers
        used = {
            "n": self.present.name,
            "h": hero.name,
            "t": self._fresh("things"),
            "s": rng.choice(pool("spots")),
        }
        used |= _pronouns(self.present)
        if kind == "mask":
            used["w"] = self._fresh("masks")
            used["coins"] = str(rng.randrange(20, 400))
            self._given.add(f"mask of {used['n']}")
        if kind == "vow":
            days = [day for day in pool("days") if f"vow to {used['n']} {day}" not in self._given]
            used["d"] = rng.choice(days or pool("days"))
            self._given.add(f"vow to {used['n']} {used['d']}")
        self._alone = hero.name if kind == "secret" else None
        said = self._episode(kind, used)
        if kind in ("secret", "lie"):
            self._claim(kind, f"spot of {used['t']}", {used["t"]}, {used["s"]}, said, ("spot", used["t"]))
        elif kind == "mask":
            self._claim(kind, f"errand of {used['w']}", {used["w"]}, {used["t"]}, said, ("errand", used["w"]))
        else:
            self._claim(
                kind,
                f"vow to {used['n']} {used['d']}",
                {used["n"]},
                {used["t"]},
                said,
                ("vow", used["n"], used["d"]),
            )
        self._alone = None
        if kind in ("lie", "mask"):
            self._due.append((self._scenes + rng.randint(*LATER), kind, used))

    def _reveal(self, kind: str, used: dict[str, str]) -> None:
        if kind == "lie":
            other = self.rng.choice([spot for spot in pool("spots") if spot != used["s"]])
            said = self._episode("lie_found", used | {"u": other})
            self._claim("lie", f"spot of {used['t']}", {used["t"]}, {other}, said, ("spot", used["t"]))
            return
        said = self._episode("unmasked", used)
        # From now on the errand may be asked for under the true name; what tells it is the older line.
        slot = f"errand of {used['w']}"
        heard = next(claim.witnesses for claim in reversed(self.claims) if claim.slot == slot)
        names = {used["w"], used["n"]}
        self._claim("mask", f"{slot}, {used['n']}", names, {used["t"]}, said, ("errand", used["n"]), heard)

    def _episode(self, kind: str, used: dict[str, str]) -> int:
        """Say one of the episodes of a kind; return the turn of the line that says what it is about."""
        slots = Slots(self.rng, used)
        told = 0
        for who, text in self._next(kind, episodes(kind)):
            speaker = {"D": "DM", "N": used["n"], "H": used["h"]}[who]
            role = {"D": "dm", "N": "npc", "H": "pc"}[who]
            said = either(self.rng, text).format_map(slots)
            self._say(speaker, role, with_capital(said))
            if used["t"] in said or kind == "unmasked":
                told = len(self.lines)
        return told

    def _fresh(self, name: str) -> str:
        """A name of a pool that was not given yet; once all were, one mixed from their words."""
        left = [word for word in pool(name) if word not in self._given]
        if not left:
            left = [word for word in mixed(name) if word not in self._given]
        if not left:
            town = with_capital(self.world.thing("towns", new=1.0).name)
            left = [f"{word} of {town}" for word in pool(name) if f"{word} of {town}" not in self._given]
        chosen = self.rng.choice(left)
        self._given.add(chosen)
        return chosen

    def _take_truths(self) -> None:
        """Turn what the told scenes noted since the last time into claims."""
        for truth in self.truths[self._read_truths :]:
            if truth.field not in ASKED_FIELDS:
                continue
            # What is said in passing, or by somebody, or is over leaves a slot that nothing is asked about.
            values = set(truth.values) if _is_plain(truth) else set()
            kind = "death" if "dead" in values else "fact"
            thing = truth.kind == "item" and truth.field in ("place", "holder")
            field = "holder" if thing else truth.field
            question = ("whereabouts" if thing else field, truth.name)
            self._claim(kind, f"{field} of {truth.name}", {truth.name}, values, truth.since, question)
        self._read_truths = len(self.truths)

    def _claim(
        self,
        kind: str,
        slot: str,
        names: set[str],
        values: set[str],
        turn: int,
        question: tuple[str, ...],
        among: frozenset[str] | None = None,
    ) -> None:
        hearers = self.hearers[turn - 1]
        self.claims.append(
            Claim(
                kind=kind,
                slot=slot,
                names=frozenset(names),
                values=frozenset(values),
                text=self.lines[turn - 1]["text"].casefold(),
                turn=turn,
                witnesses=hearers if among is None else hearers & among,
                question=question,
            )
        )

    def take(self, turns: int) -> Iterator[dict[str, object]]:
        """Tell on until there are so many lines, and yield those that were not yielded before."""
        start, self._yielded = self._yielded, turns
        while len(self.lines) < turns:
            self.scene()
        for number in range(start, turns):
            yield self.lines[number] | {"witnesses": sorted(self.hearers[number])}


def _is_plain(truth: Truth) -> bool:
    return truth.plain and truth.said_by is None and truth.sure == "fact" and not truth.ended


def _pronouns(person: Thing) -> dict[str, str]:
    he, him = ("he", "him") if person.sex == "m" else ("she", "her")
    return {"he": he, "him": him, "He": with_capital(he)}


@cache
def _sections() -> dict[str, str]:
    text = re.sub(r"(?m)^#.*\n", "", PROSE.read_text(encoding="utf-8"))
    parts = re.split(r"(?m)^\[([a-z_]+)\]$", text)
    return {parts[at]: parts[at + 1].strip("\n") for at in range(1, len(parts), 2)}


@cache
def episodes(kind: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The episodes of a kind: who speaks, and what."""
    return tuple(
        tuple((line[0], line[3:]) for line in episode.split("\n"))
        for episode in re.split(r"\n\n+", _sections()[kind])
    )


@cache
def pool(name: str) -> tuple[str, ...]:
    """The words of a pool."""
    return tuple(word.strip() for word in _sections()[name].replace("\n", " ").split("|"))


@cache
def mixed(name: str) -> tuple[str, ...]:
    """The first word of one of a pool with the last of another, where both have two words."""
    pairs = [word.split() for word in pool(name) if len(word.split()) == 2]
    both = {f"{first} {last}" for first, _ in pairs for _, last in pairs}
    return tuple(sorted(both - set(pool(name))))
