"""`memories`: show what somebody remembers, with the ids that decisions take."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dndbots.cli import console
from dndbots.cli.inspect.recap import say_list
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Viewer
from dndbots.cli.viewers import ViewerNames, open_for
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.memory.agents.agent_memory import CarriedMemory
    from dndbots.memory.human_gates import Gates
    from dndbots.memory.summaries.layers import SummaryBlock
    from dndbots.models import MemoryEntry


class MemorySubject(NamedTuple):
    """The subject of a memory under the viewer's name for it: a place, a person or the world."""

    name: str
    uid: str | None

    def __str__(self) -> str:
        return self.name if self.uid is None else f"{self.name} ({self.uid})"


class RememberedParts(NamedTuple):
    """Everything somebody remembers, and the decisions people made about it."""

    entries: list[tuple[MemorySubject, "MemoryEntry"]]
    summaries: list["SummaryBlock"]
    carried: "CarriedMemory"
    gates: "Gates"


def add_to(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("memories")(memories)


def memories(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer = None,
    about: Annotated[
        str | None, typer.Option("--about", metavar="NAME", help="Only memories of this place or person.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="KIND", help="Only one kind: location, npc or world.")
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Include the text of the summary and of recent events.")
    ] = False,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Show what a character remembers of places, people and the world, and the size of its summary.

    pin, lock, correct and forget take the ids shown here.
    """
    with open_for(viewer, campaign, branch, as_of=as_of) as (opened, who):
        parts = _read_parts(opened, who, about=about, source=source, as_of=as_of)
    if as_json:
        console.say_json(_parts_as_json(parts))
    else:
        _say_parts(parts, whole=summary)


def say_memories(campaign: "Campaign", viewer: str) -> None:
    """Print everything somebody remembers, in full."""
    _say_parts(_read_parts(campaign, viewer, about=None, source=None, as_of=None), whole=True)


def _read_parts(campaign: "Campaign", viewer: str, **filters: str | None) -> RememberedParts:
    as_of = filters["as_of"]
    names = ViewerNames(campaign, viewer, as_of)
    return RememberedParts(
        [(_subject_of(entry, names), entry) for entry in campaign.memories(viewer, **filters)],
        campaign.summaries(viewer, as_of=as_of),
        campaign.carried(viewer, as_of=as_of),
        campaign.gates(viewer, as_of=as_of),
    )


def _parts_as_json(parts: RememberedParts) -> dict[str, Any]:
    entries, summaries, carried, gates = parts
    return {
        "memories": [{"about": of._asdict(), **entry.model_dump(mode="json")} for of, entry in entries],
        "summaries": [block._asdict() for block in summaries],
        "buffer": [{"event_id": event_id, "text": text} for event_id, text in _buffer_of(carried)],
        "summary": carried.memory.long_term_summary,
        "gates": {
            "pinned": [*gates.pinned],
            "locked": sorted(gates.locked),
            "forgotten": sorted(gates.forgotten),
            "corrected": gates.corrected,
        },
    }


def _say_parts(parts: RememberedParts, *, whole: bool) -> None:
    entries, summaries, carried, gates = parts
    _say_entries(entries, gates)
    _say_carried(summaries, carried, gates, whole=whole)
    shown = {entry.memory_id for _, entry in entries}
    if whole:
        shown |= {block.id for block in summaries} | {*carried.ids}
    _say_decisions(gates, besides=shown)


def _subject_of(entry: "MemoryEntry", names: ViewerNames) -> MemorySubject:
    uid = entry.npc_ids[0] if entry.npc_ids else entry.location_id
    if uid is None or entry.source == "world":
        return MemorySubject("The world", None)
    return MemorySubject(*names.find(uid))


def _buffer_of(carried: "CarriedMemory") -> list[tuple[str, str]]:
    return [*zip(carried.ids, carried.memory.short_term_buffer, strict=True)]


def _say_entries(entries: Iterable[tuple[MemorySubject, "MemoryEntry"]], gates: "Gates") -> None:
    by_subject: dict[MemorySubject, list[MemoryEntry]] = {}
    for subject, entry in entries:
        by_subject.setdefault(subject, []).append(entry)
    for subject, of_subject in by_subject.items():
        console.say(console.inert(f"{subject}:"))
        for entry in of_subject:
            when = entry.created_at.isoformat() if entry.created_at else ""
            _say_with_id(entry.memory_id, (entry.session_id, when), entry.summary, gates)
    if not by_subject:
        console.say("no memories of places, people or the world yet; see `dndbots remember`")


def _say_with_id(memory_id: str, words: Iterable[str], text: str, gates: "Gates") -> None:
    head = filter(None, (memory_id, *words, ", ".join(gates.marks(memory_id))))
    console.say("  " + console.inert("  ".join(head)))
    for line in text.split("\n"):
        console.say_indented(line, 4)


def _say_carried(
    summaries: list["SummaryBlock"], carried: "CarriedMemory", gates: "Gates", *, whole: bool
) -> None:
    entries = _buffer_of(carried)
    summary = f"a summary in {console.counted(len(summaries), 'part')}" if summaries else "no summary"
    buffer = f"{console.counted(len(entries), 'recent event')}"
    if not whole:
        console.say(f"Also: {summary}, {buffer}; --summary shows them")
        return
    console.say(f"Also {summary}{':' if summaries else ''}")
    for block in summaries:
        _say_with_id(block.id, (block.layer, block.session), block.text, gates)
    console.say(f"and {buffer}{':' if entries else ''}")
    for event_id, text in entries:
        _say_with_id(event_id, (), text, gates)


def _say_decisions(gates: "Gates", *, besides: set[str]) -> None:
    """Print decisions on memories that are not shown, with the ids needed to undo them."""
    decided = dict.fromkeys([*gates.pinned, *sorted({*gates.locked, *gates.forgotten, *gates.corrected})])
    left = [name for name in decided if name not in besides]
    say_list("Decisions on other memories:", (f"{', '.join(gates.marks(name))}: {name}" for name in left))
