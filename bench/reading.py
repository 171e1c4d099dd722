"""When what was read out of a line is what the line says: the rules by which compaction is marked.

Words are compared folded and without articles. A name may be longer or shorter than the one that was said
("Brandt", "Captain Brandt"). A value may have a few words more ("blacksmith", "blacksmith of Oakhurst"), or
be half of what was said. Whoever introduces a name must get right whether it is a person or a place. Who
said it, whether it is a rumor, and whether it is over must be as told.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dndbots.compaction.checks import check_all
from dndbots.compaction.data.models import SHELVES, CampaignData, Info, new_info
from dndbots.compaction.shared_state import SharedStateManager
from dndbots.extraction.port import CATEGORIES, LONGEST_PASSAGE, Extractor, KnownNames, Turn, Update
from dndbots.ids import mint
from dndbots.tokens import count_many
from told import Told, Truth

# So many words more than were said still tell the same; a whole sentence does not.
MOST_MORE = 5
STOPWORDS = frozenset(
    {
        "a",
        "an",
        "the",
        "of",
        "and",
        "to",
        "in",
        "at",
        "on",
        "by",
        "for",
        "from",
        "with",
        "his",
        "her",
        "their",
    }
    | {"its", "my", "your", "our", "is", "was", "are", "be", "been", "has", "have", "that", "it", "as"}
)
# Fields that introduce a name, and state nothing else.
INTRODUCING = frozenset({"alias", "kind"})
# A reader may call these by either name.
EQUIVALENT = (
    {"place", "home"},
    {"serves", "employer"},
    {"friend", "ally"},
    {"rival", "enemy"},
    {"brother", "sister", "twin"},
)
# Said of the one, these say something of the other.
REVERSED: Mapping[str, frozenset[str]] = {
    "brother": frozenset({"brother", "sister", "twin"}),
    "sister": frozenset({"brother", "sister", "twin"}),
    "twin": frozenset({"brother", "sister", "twin"}),
    "father": frozenset({"son", "daughter"}),
    "mother": frozenset({"son", "daughter"}),
    "son": frozenset({"father", "mother"}),
    "daughter": frozenset({"father", "mother"}),
    "husband": frozenset({"husband", "wife"}),
    "wife": frozenset({"husband", "wife"}),
    "uncle": frozenset({"nephew", "niece"}),
    "aunt": frozenset({"nephew", "niece"}),
    "nephew": frozenset({"uncle", "aunt"}),
    "niece": frozenset({"uncle", "aunt"}),
    "mentor": frozenset({"apprentice"}),
    "apprentice": frozenset({"mentor"}),
    "leader": frozenset({"faction"}),
    **{field: frozenset({field}) for field in ("cousin", "friend", "rival", "enemy", "ally", "lover")},
}


def content(text: str) -> frozenset[str]:
    """The words of a text that say something, folded. DCML writes several as one: FatherAldwin."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    plain = unicodedata.normalize("NFKD", apart).casefold()
    return frozenset(re.findall(r"[a-z0-9]+", plain.replace("'s", ""))) - STOPWORDS


def alike(one: str, other: str) -> bool:
    """Whether one is a longer or shorter form of the other."""
    first, second = sorted((content(one), content(other)), key=len)
    return bool(first) and first <= second and len(second) - len(first) <= MOST_MORE


def same_value(found: str, said: str) -> bool:
    """Whether a value is the one that was said, or one with a few words more, or at least half of it."""
    return alike(found, said) and 2 * len(content(found)) >= len(content(said))


def same_field(one: str, other: str) -> bool:
    return one == other or any(one in fields and other in fields for fields in EQUIVALENT)


def says_so(update: Update, truth: Truth) -> bool:
    """Whether it is said of the same, under the same field, with the same value."""
    if any(same_value(update.value, value) for value in truth.values):
        named = truth.kind == "quest" or alike(update.name, truth.name)
        if named and same_field(update.field, truth.field):
            return True
    return (
        update.field in REVERSED.get(truth.field, ())
        and alike(update.value, truth.name)
        and any(alike(update.name, value) for value in truth.values)
    )


def fairly(update: Update, truth: Truth, speaker: str | None) -> bool:
    """Whether it is passed on as it was told: by whom, how surely, and whether it is over."""
    said_by = update.said_by or speaker
    return (
        (said_by is None) == (truth.said_by is None)
        and (said_by is None or truth.said_by is None or alike(said_by, truth.said_by))
        and update.sure == truth.sure
        and update.ended == truth.ended
    )


def in_the_name(update: Update) -> bool:
    """Sister Agathe's being a sister is in her name: neither right nor wrong."""
    return update.field in ("role", "status", "description", "age") and content(update.value) <= content(
        update.name
    )


def stands(lines: Iterable[frozenset[str]], name: str, values: Iterable[str]) -> bool:
    """Whether some line has the subject, by its first or last name, and one of the values, whole."""
    names = content(name)
    wanted = [content(value) for value in values]
    return any(names & line and any(value <= line for value in wanted) for line in lines)


def by_line(truths: Iterable[Truth]) -> defaultdict[str, list[Truth]]:
    found: defaultdict[str, list[Truth]] = defaultdict(list)
    for truth in truths:
        found[truth.line].append(truth)
    return found


class Made(NamedTuple):
    """An update, who speaks, what is wrong with it, and the line."""

    update: Update
    speaker: str
    fault: str | None
    text: str


class Said(NamedTuple):
    """A truth, who speaks, whether it was found, and the line."""

    truth: Truth
    speaker: str
    found: bool
    text: str


@dataclass
class Marks:
    """How an extractor did."""

    made: list[Made] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    raw: int = 0
    structured: int = 0

    @property
    def precision(self) -> float:
        return share(sum(one.fault is None for one in self.made), len(self.made))

    def recall(self, *, plain: bool) -> float:
        asked = [one.found for one in self.said if one.truth.plain or not plain]
        return share(sum(asked), len(asked))


def share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


class NameIsSomething:
    """The floor: every "Name is (a, the) something" is a fact about Name, a role if it has an article."""

    waits = False
    _IS = re.compile(r"((?:[A-Z][\w-]+ ?)+) is (a |an |the )?([\w' -]+)")

    def extract(self, turns: Sequence[Turn], known: KnownNames) -> Iterable[Update]:  # noqa: ARG002, the protocol's
        for turn in turns:
            for name, article, value in self._IS.findall(turn.text):
                kind, said = ("role" if article else "status"), value.strip()[:200]
                if said:
                    yield Update(kind="npc", name=name.strip(), field=kind, value=said, turn=turn.id)


def marked(campaigns: Iterable[Told], extractor: Extractor | None) -> Marks:
    """How an extractor does; without one, how somebody would who hears everything that is said."""
    marks = Marks()
    for campaign in campaigns:
        updates = extracted(campaign, extractor) if extractor else heard(campaign)
        accepted = dict.fromkeys(one for one in updates if not in_the_name(one))
        mark(campaign, accepted, marks)
        marks.raw += sum(count_many(as_raw(line) for line in campaign.lines))
        marks.structured += sum(count_many(f"{rendered(update)}\n" for update in accepted))
    return marks


def mark(campaign: Told, accepted: Iterable[Update], marks: Marks) -> None:
    """Compares what was made of a campaign with what it says."""
    lines = {line["id"]: line for line in campaign.lines}
    said, found = by_line(campaign.truths), set[int]()
    for update in accepted:
        line = lines[update.turn]
        speaker = None if line["role"] == "dm" else line["speaker"]
        so = [truth for truth in said[update.turn] if says_so(update, truth)]
        fair = [truth for truth in so if fairly(update, truth, speaker)]
        found.update(id(truth) for truth in fair)
        if update.field in INTRODUCING:
            fault = None if introduces(update, campaign) else "no such thing"
            marks.made.append(Made(update, speaking(line, update.said_by), fault, line["text"]))
            continue
        fault = None if fair else "said by another, or not so surely" if so else "not said"
        marks.made.append(Made(update, speaking(line, update.said_by), fault, line["text"]))
    for truth in campaign.truths:
        line = lines[truth.line]
        marks.said.append(Said(truth, speaking(line, truth.said_by), id(truth) in found, line["text"]))


def introduces(update: Update, campaign: Told) -> bool:
    """Whether there is something of this name and kind; the words for it stand in the line."""
    alive = ("npc", "character")
    kinds = alive if update.kind in alive else (update.kind,)
    return any(alike(update.name, name) and kind in kinds for name, kind in campaign.things.items())


def speaking(line: dict[str, str], said_by: str | None) -> str:
    if line["role"] == "dm":
        return "the DM" if said_by is None else "quoted by DM"
    return "a player" if line["role"] == "pc" else "a person"


def extracted(campaign: Told, extractor: Extractor, every: int = 5) -> Iterator[Update]:
    """Read as a campaign would be: a few turns at a time, with the names that are known by then."""
    names = dict.fromkeys(campaign.heroes, "PC")
    weigh = getattr(extractor, "likely_names", None)
    texts = [line["text"] for line in campaign.lines]
    for start in range(0, len(campaign.lines), every):
        lines = campaign.lines[start : start + every]
        for line in lines:
            if line["role"] == "npc":
                names.setdefault(line["speaker"], "NPC")
            names.setdefault(line["location"], "LOC")
        turns = [
            Turn(line["id"], line["speaker"], line["role"], line["text"], line["session"], line["location"])
            for line in lines
        ]
        # As compaction asks: the likely names of each turn, by the turns before it.
        first = max(0, start - LONGEST_PASSAGE)
        likely = weigh(texts[first : start + every])[start - first :] if weigh else [{}] * len(turns)
        for turn, of_turn in zip(turns, likely, strict=True):
            for update in extractor.extract([turn], KnownNames(names, of_turn)):
                names.setdefault(update.name, CATEGORIES[update.kind][0])
                yield update


class Accepted:
    """What the engine accepts of what an extractor proposes."""

    waits = False

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor

    def likely_names(self, texts: Sequence[str]) -> Sequence[Mapping[str, str]]:
        weigh = getattr(self._extractor, "likely_names", None)
        return weigh(texts) if weigh else [{}] * len(texts)

    def extract(self, turns: Sequence[Turn], known: KnownNames) -> list[Update]:
        shelves: dict[str, dict[str, Info]] = {}
        for name, category in known.names.items():
            uid = mint(category, name, taken=shelves.get(SHELVES[category], {}))
            shelves.setdefault(SHELVES[category], {})[uid] = new_info(category, uid, name)
        state = SharedStateManager(CampaignData(**shelves), turns)
        proposed = self._extractor.extract(turns, known)
        return [one.update for one in check_all(proposed, {turn.id: turn for turn in turns}, state)[0]]


def heard(campaign: Told) -> Iterator[Update]:
    """Everything that is said, as updates. If it is not all right, the marking is wrong."""
    roles = {line["id"]: line["role"] for line in campaign.lines}
    for truth in campaign.truths:
        yield Update(
            kind=truth.kind,
            name=truth.name,
            field=truth.field,
            value=min(truth.values),
            turn=truth.line,
            said_by=truth.said_by if roles[truth.line] == "dm" else None,
            sure=truth.sure,
            ended=truth.ended,
        )


def as_raw(line: dict[str, str]) -> str:
    return f"{line['speaker']}: {line['text']}\n"


def rendered(update: Update) -> str:
    by = f" (says {update.said_by})" if update.said_by else ""
    return f"{update.name}: {update.field} {update.value}{by}"
