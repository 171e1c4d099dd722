"""Measures DCML: tokens against other ways to write the same facts, and time.

    python bench/dcml.py [--seed N]

Everything is a ratio against something in the same run, or a time with its limit beside it.
"""

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from chronicle import FOES, PEOPLE, PLACES, chronicle, named, party
from dndbots.dcml import (
    Document,
    Event,
    Properties,
    Property,
    Ref,
    Relation,
    Statement,
    Text,
    Word,
    dense,
    parse,
    plain,
)
from dndbots.memory import MemoryBuilder
from dndbots.tokens import ENCODINGS, count_many

SIZES = (10, 100, 1000)
HEAVY = {"langchain", "langchain_core", "sqlalchemy", "lark", "pydantic", "toktok"}
LIMITS = {"plain": (0.40, 0.30, 0.28), "JSON": (0.50, 0.38, 0.36)}


def document(events: int, *, seed: int) -> Document:
    """Throk's memory of that many events, all of them told."""
    throk, *_ = members = party()
    text = MemoryBuilder(event_window=events).build_memory_document(
        throk.uid,
        throk,
        members,
        chronicle(events, seed=seed),
        npcs=named(PEOPLE) + named(FOES),
        locations=named(PLACES),
        party_id="fac_party_001",
    )
    tree = parse(text)
    assert sum(isinstance(item, Event) for item in tree.sections[0].groups[-1].items) == events
    return tree


# The same facts in other clothes


def as_data(tree: Document) -> dict[str, Any]:
    """What a developer would write as JSON: the same uids, names, events and texts, nothing twice."""
    (section,) = tree.sections
    identity, recent = section.groups[0], section.groups[-1]
    return {
        "lexicon": [{"uid": e.uid, "category": e.category.value, "name": e.name} for e in tree.lexicon],
        "memory_of": section.owner,
        "identity": [_statement(item) for item in identity.items if not isinstance(item, Event)],
        "events": [_event(item) for item in recent.items if isinstance(item, Event)],
    }


def _event(event: Event) -> dict[str, Any]:
    data: dict[str, Any] = {"id": event.id}
    if event.location:
        data["location"] = event.location.uid
    casts = [line.subjects for line in event.lines if isinstance(line, Relation)]
    for key, cast in zip(("participants", "enemies"), casts, strict=False):
        data[key] = [ref.uid if ref.count == 1 else {"uid": ref.uid, "count": ref.count} for ref in cast]
    for line in event.lines:
        if isinstance(line, Properties):
            data |= {prop.key: _value(prop) for prop in line.properties}
    return data


def _statement(line: Statement) -> dict[str, Any]:
    if isinstance(line, Relation):
        return {line.op.value: line.object.uid}
    assert isinstance(line, Properties)
    return {prop.key: _value(prop) for prop in line.properties}


def _value(prop: Property) -> Any:
    values = [
        value.value if isinstance(value, Word | Text) else value.uid if isinstance(value, Ref) else value
        for value in prop.values
    ]
    return values[0] if len(values) == 1 else values


def as_json(tree: Document) -> str:
    return json.dumps(as_data(tree), separators=(",", ":"), ensure_ascii=False)


def as_yaml(tree: Document) -> str:
    return "\n".join(_yaml(as_data(tree), ""))


def _yaml(value: Any, indent: str) -> list[str]:
    lines: list[str] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            flat = not isinstance(inner, dict | list) or all(not isinstance(x, dict | list) for x in inner)
            if flat:
                lines.append(f"{indent}{key}: {_flow(inner)}")
            else:
                lines += [f"{indent}{key}:", *_yaml(inner, indent)]
    else:
        for inner in value:
            first, *rest = _yaml(inner, indent + "  ") if isinstance(inner, dict) else [indent + _flow(inner)]
            lines += [f"{indent}- {first.strip()}", *rest]
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and " " in value else str(value)


def as_bullets(tree: Document) -> str:
    """English, as a person would list it; uids once, names after that."""
    names = {entity.uid: entity.name for entity in tree.lexicon}
    lines = [f"- {entity.name} is {entity.category.value} {entity.uid}" for entity in tree.lexicon]
    data = as_data(tree)
    lines += [f"- {names[data['memory_of']]}: {json.dumps(fact)}" for fact in data["identity"]]
    for event in data["events"]:
        who = " and ".join(names[uid] for uid in event.get("participants", ()))
        foes = ", ".join(
            names[foe] if isinstance(foe, str) else f"{foe['count']} {names[foe['uid']]}s"
            for foe in event.get("enemies", ())
        )
        place = f" at {names[event['location']]}" if "location" in event else ""
        against = f" against {foes}" if foes else ""
        lines.append(f"- Event {event['id']}{place}: {who}{against}: {event['summary']}")
    return "\n".join(lines)


SPELLINGS: dict[str, Callable[[Document], str]] = {
    "plain": plain,
    "JSON": as_json,
    "YAML": as_yaml,
    "bullets": as_bullets,
}


def measure_tokens(seed: int) -> None:
    print("tokens of a whole document, dense DCML as a share of other spellings of the same facts")
    lengths = [len(event.content) for event in chronicle(1000, seed=seed)]
    print(
        f"(an event's text has {statistics.mean(lengths):.0f} characters on average, {max(lengths)} at most)"
    )
    print(f"{'':14}{'events':>8}{'dense':>8}" + "".join(f"{name:>17}" for name in SPELLINGS))
    for encoding in ENCODINGS:
        for place, size in enumerate(SIZES):
            tree = document(size, seed=seed)
            assert parse(dense(tree)) == parse(plain(tree)) == tree
            texts = [dense(tree), *(spell(tree) for spell in SPELLINGS.values())]
            own, *others = count_many(texts, encoding)
            cells = []
            for name, other in zip(SPELLINGS, others, strict=True):
                limit = f" (≤{LIMITS[name][place]:.2f})" if name in LIMITS else ""
                cells.append(f"{own / other:.3f}{limit}")
            print(f"{encoding:14}{size:>8}{own:>8}" + "".join(f"{cell:>17}" for cell in cells))


# Time


def cpu(work: Callable[[], object], *, repeat: int) -> float:
    """The median CPU time of one call, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def measure_rendering(seed: int) -> None:
    print("\nrendering a document of about 2,000 tokens, CPU (limit 2 ms)")
    for name, spell in (("plain", plain), ("dense", dense)):
        sizes = range(20, 400, 2)
        size = next(n for n in sizes if count_many([spell(document(n, seed=seed))])[0] >= 2000)
        tree = document(size, seed=seed)
        tokens = count_many([spell(tree)])[0]
        seconds = cpu(lambda spell=spell, tree=tree: spell(tree), repeat=200)
        print(f"  {name:6} {tokens} tokens, {size} events: {seconds * 1e3:.2f} ms")


def measure_parsing(seed: int) -> None:
    print("\nparsing, CPU a megabyte (limit 6 s, and linear)")
    parse(dense(document(1, seed=seed)))  # the grammar's tables are built once
    for name, spell, size in (("plain", plain, 3400), ("dense", dense, 12_000)):
        rates = []
        for scale in (1, 2, 4):
            text = spell(document(size * scale, seed=seed))
            megabytes = len(text.encode()) / 1e6
            seconds = cpu(lambda text=text: parse(text), repeat=3)
            gc.disable()
            alone = cpu(lambda text=text: parse(text), repeat=3)
            gc.enable()
            rates.append((seconds / megabytes, alone / megabytes))
            print(f"  {name:6} {megabytes:5.2f} MB in {seconds:5.2f} s: {rates[-1][0]:.2f} s/MB")
        with_gc, alone = (last / first for first, last in zip(rates[0], rates[-1], strict=True))
        print(f"  {name:6} s/MB at 4x the size / at 1x: {with_gc:.2f}, collector off {alone:.2f}")


def measure_import() -> None:
    print("\nimport dndbots.dcml, beyond the interpreter's own start (limit 150 ms)")

    def started(program: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        return time.perf_counter() - start

    bare = min(started("pass") for _ in range(7))
    with_dcml = min(started("import dndbots.dcml") for _ in range(7))
    print(f"  {(with_dcml - bare) * 1e3:.0f} ms")
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, dndbots.dcml; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    heavy = {name.partition(".")[0] for name in loaded} & HEAVY
    print(f"  heavy libraries loaded: {', '.join(sorted(heavy)) or 'none'}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    measure_tokens(args.seed)
    measure_rendering(args.seed)
    measure_parsing(args.seed)
    measure_import()


if __name__ == "__main__":
    main()
