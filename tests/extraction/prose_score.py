"""Scores the default extractor on a passage of prose whose people and places are known.

    python -m tests.extraction.prose_score PASSAGE.jsonl KEY.json
    python -m tests.extraction.prose_score tests/extraction/english/told_prose/*.txt

The passage has a transcript line on each line. The key has `people` and `places`, each name with the names
that are accepted for it; `facts`, pairs of a name and a word that a fact about it contains; `traps`,
capitalised words that name nobody; and `speakers`.

A passage in one text has its key at its head: lines `# person NAME: OTHER NAMES`, `# place …`, `# speaker …`,
`# trap …` and `# fact NAME: KEY/KEY=WORD/WORD`, where one of the keys and one of the words is enough. With it
every fact that no key asks for is printed too, to be judged by hand.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from dndbots.campaign import Campaign
from dndbots.canon.entities import Entity
from dndbots.events import EventType
from dndbots.extraction.turn_evidence import untitled
from dndbots.ids import fold_name
from dndbots.testing import memory_campaign

TOLD_PROSE = Path(__file__).parent / "english" / "told_prose"
CATEGORIES = {"people": ("NPC", "PC", "MON"), "places": ("LOC",)}
NAMED = ("NPC", "PC", "MON", "LOC")


class Wanted(NamedTuple):
    """A fact that a passage states: about whom, under one of some keys, with one of some words."""

    name: str
    keys: tuple[str, ...]
    words: tuple[str, ...]


class Told(NamedTuple):
    """A passage in one text: its transcript lines, its key and the facts that it states."""

    lines: list[dict[str, Any]]
    key: dict[str, Any]
    wanted: list[Wanted]


class FactScore(NamedTuple):
    """The stated facts that were found and missed, and all facts that nobody asked for."""

    found: tuple[str, ...]
    missed: tuple[str, ...]
    unasked: tuple[str, ...]


class ProseScore(NamedTuple):
    """What was found of a passage's key, what was missed, and which entities are in no key."""

    found: tuple[str, ...]
    missed: tuple[str, ...]
    wrong: tuple[str, ...]
    doubled: tuple[str, ...]
    facts: tuple[str, ...]
    facts_missed: tuple[str, ...]


def read_passage(path: Path) -> list[dict[str, Any]]:
    """Return the transcript lines of a passage, with ids."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return _with_ids(lines)


def read_told(path: Path) -> Told:
    """Read a passage whose key stands at its head."""
    key: dict[str, Any] = {"people": {}, "places": {}, "traps": [], "speakers": []}
    wanted: list[Wanted] = []
    lines: list[dict[str, Any]] = []
    for line in path.read_text("utf-8").splitlines():
        if asked := re.match(r"# (person|place|speaker|trap|fact) ([^:]+)(?:: *(.*))?$", line):
            kind, name, rest = asked.group(1), asked.group(2), asked.group(3) or ""
            if kind in ("speaker", "trap"):
                key[f"{kind}s"].append(name)
            elif kind == "fact":
                keys, _, words = rest.partition("=")
                wanted.append(Wanted(name, tuple(keys.split("/")), tuple(words.split("/"))))
            else:
                accepted = [one.strip() for one in rest.split(",") if one.strip()]
                key["people" if kind == "person" else "places"][name] = accepted
        elif not line.startswith("#"):
            speaker, _, text = line.partition(": ")
            role = "dm" if speaker == "DM" else "pc"
            lines.append({"speaker": speaker, "role": role, "text": text})
    return Told(_with_ids(lines), key, wanted)


def _with_ids(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"id": f"line_{number:03d}", "session": "s1", **line} for number, line in enumerate(lines, 1)]


def score_facts(campaign: Campaign, told: Told) -> FactScore:
    """Compare the facts of a campaign with those that a passage states."""
    entities = {uid: one for one in campaign.entities(viewer="dm") for uid in (one.uid, *one.merged)}
    accepted = {name: {bare(one) for one in (name, *also)} for name, also in _all_names(told).items()}
    met: set[int] = set()
    unasked: dict[str, None] = {}
    for subject, key, value in _facts_of(campaign):
        who = entities.get(subject)
        shown = entities[value].name if value in entities else value
        hits = set()
        for number, one in enumerate(told.wanted):
            ends = [(who, shown)] + ([(entities[value], who.name)] if value in entities and who else [])
            hits |= {
                number
                for end, text in ends
                if end
                and key in one.keys
                and names_of(end) & accepted[one.name]
                and any(word.casefold() in text.casefold() for word in one.words)
            }
        met |= hits
        if not hits:
            unasked[f"{who.name if who else subject}: {key}={shown}"] = None
    texts = [f"{one.name}: {'/'.join(one.keys)}={'/'.join(one.words)}" for one in told.wanted]
    return FactScore(
        tuple(texts[number] for number in sorted(met)),
        tuple(text for number, text in enumerate(texts) if number not in met),
        tuple(unasked),
    )


def _all_names(told: Told) -> dict[str, list[str]]:
    return {
        **{name: [] for name in told.key["speakers"]},
        **told.key["people"],
        **told.key["places"],
    }


def _facts_of(campaign: Campaign) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for event in campaign.events(viewer="dm"):
        facts: Any = event.metadata.get("facts", ()) if event.event_type is EventType.EXTRACTION else ()
        for fact in facts:
            values = fact["value"] if isinstance(fact["value"], list) else [fact["value"]]
            found += [(fact["subject"], fact["key"].partition("__")[0], str(value)) for value in values]
    return found


def score_passage(lines: list[dict[str, Any]], key: dict[str, Any], *, most: int | None = None) -> ProseScore:
    """Import a passage, compact it (after every `most` lines, if given) and compare it with its key."""
    with memory_campaign() as campaign:
        for start in range(0, len(lines), most or len(lines)):
            campaign.import_transcript(lines[start : start + (most or len(lines))])
            campaign.compact()
        return compare(campaign, key)


def compare(campaign: Campaign, key: dict[str, Any]) -> ProseScore:
    """Compare the people and places of a campaign with a key."""
    entities = [one for one in campaign.entities(viewer="dm") if one.category in NAMED]
    speakers = {bare(name) for name in key.get("speakers", ())}
    found: list[str] = []
    missed: list[str] = []
    doubled: list[str] = []
    owner: dict[str, Entity] = {}
    for kind, categories in CATEGORIES.items():
        for name, accepted in key[kind].items():
            names = {bare(one) for one in (name, *accepted)}
            bearers = [one for one in entities if names & names_of(one) and one.category in categories]
            (found if bearers else missed).append(f"{name} ({kind})")
            if len(bearers) > 1:
                doubled.append(f"{name}: {', '.join(f'{one.name} ({one.uid})' for one in bearers)}")
            if bearers:
                owner[name] = bearers[0]
    known = {uid for one in owner.values() for uid in (one.uid, *one.merged)}
    wrong = [
        f"{one.category} {one.name}"
        for one in entities
        if one.uid not in known
        and not names_of(one) & speakers
        and not any(one.name in text for text in doubled)
    ]
    shared = {one.uid for one in owner.values()}
    if len(shared) < len(owner):
        doubled.append("one entity for two names")
    facts, lost = [], []
    for name, phrase in key.get("facts", ()):
        texts = said_of(campaign, owner[name]) if name in owner else []
        hit = any(phrase.casefold() in text.casefold() for text in texts)
        (facts if hit else lost).append(f"{name}: {phrase}")
    return ProseScore(*map(tuple, (found, missed, wrong, doubled, facts, lost)))


def said_of(campaign: Campaign, entity: Entity) -> list[str]:
    """Return all that is known of an entity: its names, and its facts with the names of whom they link to."""
    texts = [entity.name, *entity.aliases]
    names = {one.uid: one.name for one in campaign.entities(viewer="dm")}
    mine = {entity.uid, *entity.merged}
    for event in campaign.events(viewer="dm"):
        for fact in event.metadata.get("facts", ()) if event.event_type is EventType.EXTRACTION else ():
            values = fact["value"] if isinstance(fact["value"], list) else [fact["value"]]
            if not mine.isdisjoint((fact["subject"], *map(str, values))):
                about = names.get(fact["subject"], "")
                texts += [f"{about} {fact['key']} {names.get(str(value), value)}" for value in values]
    return texts


def names_of(entity: Entity) -> set[str]:
    """Return the names of an entity, without titles and articles."""
    return {bare(name) for name in (entity.name, *entity.aliases)}


def bare(name: str) -> str:
    """Return a name folded, without titles and articles before it."""
    return fold_name(re.sub(r"^(?:the|an?) ", "", untitled(name), flags=re.IGNORECASE))


def show(score: ProseScore, key: dict[str, Any]) -> str:
    """Return a score as lines to read."""
    traps = {bare(one) for one in key.get("traps", ())}
    total = len(score.found) + len(score.missed)
    trapped = [one for one in score.wrong if bare(one.partition(" ")[2]) in traps]
    lines = [
        f"found {len(score.found)} of {total}: {', '.join(score.found)}",
        f"missed {len(score.missed)}: {', '.join(score.missed)}",
        f"wrong entities {len(score.wrong)}: {', '.join(score.wrong)} (of them traps: {len(trapped)})",
        f"doubled {len(score.doubled)}: {'; '.join(score.doubled)}",
        f"facts {len(score.facts)} of {len(score.facts) + len(score.facts_missed)}: {'; '.join(score.facts)}",
        f"facts missed: {'; '.join(score.facts_missed)}",
    ]
    return "\n".join(lines)


def show_facts(score: FactScore) -> str:
    """Return a score of facts as lines to read."""
    total = len(score.found) + len(score.missed)
    return "\n".join(
        [
            f"facts {len(score.found)} of {total}: {'; '.join(score.found)}",
            f"facts missed: {'; '.join(score.missed)}",
            f"facts nobody asked for {len(score.unasked)}:",
            *(f"    {one}" for one in score.unasked),
        ]
    )


def score_told(path: Path, *, most: int | None) -> str:
    """Score a passage whose key stands at its head."""
    told = read_told(path)
    with memory_campaign() as campaign:
        for start in range(0, len(told.lines), most or len(told.lines)):
            campaign.import_transcript(told.lines[start : start + (most or len(told.lines))])
            campaign.compact()
        texts = show(compare(campaign, told.key), told.key).splitlines()[:4]
        return "\n".join([f"== {path.stem}", *texts, show_facts(score_facts(campaign, told))])


def main() -> None:
    """Score passages and print the scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--every", type=int, help="compact after so many lines, as in play")
    args = parser.parse_args()
    if args.files[0].suffix == ".txt":
        texts = [score_told(path, most=args.every) for path in args.files]
    else:
        passage, key_file = args.files
        key = json.loads(key_file.read_text("utf-8"))
        texts = [show(score_passage(read_passage(passage), key, most=args.every), key)]
    sys.stdout.write("\n".join(texts) + "\n")


if __name__ == "__main__":
    main()
