"""Questions whose answers are known: for a viewer, at a turn, from what that viewer perceived until then."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from bench.rot.story import Claim, Story

# Several ways to ask for a slot; a seeded draw takes one.
FORMS = {
    "role": ("What does {0} do for a living?", "What is {0}'s trade?", "Remind me, what work does {0} do?"),
    "home": ("Where does {0} come from?", "What place does {0} call home?", "Where does {0} live?"),
    "place": ("Where is {0} now?", "Where would we find {0}?", "Which place did {0} go to?"),
    "whereabouts": ("Where is {0} now?", "Who has {0}, or where is it?", "What has become of {0}?"),
    "wants": ("What does {0} want?", "What is {0} after?", "What would {0} give anything for?"),
    "fears": ("What is {0} afraid of?", "What does {0} fear?", "What could we frighten {0} with?"),
    "faction": ("Which group does {0} belong to?", "Whom does {0} stand with?", "What faction is {0} in?"),
    "status": ("How is {0} doing?", "What has become of {0}?", "Is {0} all right?"),
    "race": ("What kind of folk is {0}?", "What race is {0}?", "Is {0} human, or what?"),
    "attitude": ("How does {0} feel about us?", "What is {0}'s mood towards the party?", "Does {0} like us?"),
    "spot": ("Where is the {0}?", "Where was the {0} put?", "Does anybody know where the {0} is hidden?"),
    "errand": ("What were we to carry for {0}?", "What did {0} pay us to take to the coast?"),
    "vow": ("What did we promise {0} before {1}?", "What does {0} expect from us before {1}?"),
}
NOBODY = ("Hroswitha Quell", "Baldric Umber", "Tisander Voy", "Oona Blackfen", "Marchetto", "Widow Sprake")
NOTHING = (
    "porphyry hinge",
    "hourglass of soot",
    "tooth of the leviathan",
    "gilded trough",
    "oboe of Saint Ebb",
)
AGES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class Known:
    """A question with all that is needed to judge an answer.

    `values` answers it (none: the viewer cannot know), `older` was so before, `hidden` was never perceived.
    """

    number: int
    viewer: str
    text: str
    kind: str
    names: tuple[str, ...]
    values: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()  # lines of which any answers it, where no value is known
    age: int | None = None
    evidence: str = ""  # the id of the line that tells it

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def ask_questions(story: Story, turn: int, count: int, seed: int) -> list[Known]:
    """Draw questions for the moment after `turn` lines, of each kind and age as evenly as can be."""
    rng = random.Random(f"{seed} {turn}")
    pools: dict[tuple[str, int], list[Known]] = defaultdict(list)
    for known in _possible(story, turn, rng):
        pools[known.kind, _decade(known.age)].append(known)
    drawn: list[Known] = []
    order = sorted(pools)
    for pool in pools.values():
        rng.shuffle(pool)
    while len(drawn) < count and any(pools.values()):
        for key in order:
            if pools[key] and len(drawn) < count:
                drawn.append(pools[key].pop())
    return [
        replace(known, number=number, hidden=_unheard(story, turn, known))
        for number, known in enumerate(drawn, 1)
    ]


def _unheard(story: Story, turn: int, known: Known) -> tuple[str, ...]:
    """The hidden values that no line told to the viewer by chance, together with the name."""
    left = set(known.hidden)
    for line, hearers in zip(story.lines[:turn], story.hearers, strict=False):
        if left and known.viewer in hearers:
            text = f"{line['speaker']}: {line['text']}".casefold()
            if any(name.casefold() in text for name in known.names):
                left = {value for value in left if value.casefold() not in text}
    return tuple(sorted(left))


def _possible(story: Story, turn: int, rng: random.Random) -> Iterator[Known]:
    slots: dict[str, list[Claim]] = defaultdict(list)
    for claim in story.claims:
        if claim.turn <= turn:
            slots[claim.slot].append(claim)
    heroes = [hero.name for hero in story.world.heroes]
    unclear = _unclear_names(story, turn)
    for slot in sorted(slots):
        claims = sorted(slots[slot], key=lambda claim: claim.turn)
        if any(not claim.names.isdisjoint(unclear) for claim in claims):
            continue
        for viewer in heroes:
            if known := _of_slot(claims, viewer, turn, rng):
                line = story.lines[turn - known.age - 1]["id"] if known.age is not None else ""
                yield replace(known, evidence=line)
    for name in NOBODY:
        field = rng.choice(("role", "home", "wants", "status"))
        yield _ask(rng, (field, name), rng.choice(heroes), kind="never told", names=(name,))
    for thing in NOTHING:
        yield _ask(rng, ("spot", thing), rng.choice(heroes), kind="never told", names=(thing,))


def _unclear_names(story: Story, turn: int) -> set[str]:
    """Names that stand in other names: is Sister Rhea the same as Rhea? Neither is asked for."""
    names = {str(line["speaker"]) for line in story.lines[:turn]}
    names |= {name for claim in story.claims if claim.turn <= turn for name in claim.names}
    words = {name: name.casefold().split() for name in names}
    runs: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, parts in words.items():
        for first in range(len(parts)):
            for last in range(first + 1, len(parts) + 1):
                runs[tuple(parts[first:last])].append(name)
    return {one for name in names if len(runs[tuple(words[name])]) > 1 for one in runs[tuple(words[name])]}


def _of_slot(claims: Sequence[Claim], viewer: str, turn: int, rng: random.Random) -> Known | None:
    heard = [claim for claim in claims if viewer in claim.witnesses]
    missed = [claim for claim in claims if viewer not in claim.witnesses]
    names = tuple(sorted({name for claim in claims for name in claim.names}))
    hidden = {
        value
        for claim in missed
        for value in claim.values
        if not any(value.casefold() in other.text for other in heard)
    }
    if not heard:
        if not hidden or claims[0].kind == "mask":
            return None
        kind = "secret" if claims[0].kind == "secret" else "not perceived"
        return _ask(rng, claims[0].question, viewer, kind=kind, names=names, hidden=tuple(sorted(hidden)))
    newest = heard[-1]
    if not newest.values:
        return None
    older = {value for claim in heard[:-1] for value in claim.values} - newest.values
    kind = newest.kind
    if older and kind in ("fact", "death", "lie"):
        kind = "changed" if kind != "lie" else "lie found out"
    elif missed and missed[-1].turn > newest.turn and hidden and kind in ("fact", "lie"):
        kind = "changed unseen"
    elif newest.kind == "mask":
        kind = "mask" if len(newest.names) == 1 else "mask, true name"
    return _ask(
        rng,
        newest.question,
        viewer,
        kind=kind,
        names=names,
        values=tuple(sorted(newest.values)),
        older=tuple(sorted(older)),
        hidden=tuple(sorted(hidden)),
        age=turn - newest.turn,
    )


def _ask(rng: random.Random, question: tuple[str, ...], viewer: str, **rest: object) -> Known:
    form, *words = question
    return Known(number=0, viewer=viewer, text=rng.choice(FORMS[form]).format(*words), **rest)  # type: ignore[arg-type]


def _decade(age: int | None) -> int:
    return 0 if age is None else next(limit for limit in AGES if age <= limit)
