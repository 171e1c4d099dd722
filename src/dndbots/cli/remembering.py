"""Commands about what somebody remembers: recaps, memories, threads; and those that see to it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dndbots.cli import faults, show
from dndbots.cli.names import Names
from dndbots.cli.options import Address, AsJson, AsOf, OnBranch, Viewer, opened
from dndbots.storage.ports import MAIN

if TYPE_CHECKING:
    from dndbots.campaign import Campaign
    from dndbots.memory.carrying import Carried
    from dndbots.memory.gates import Gates
    from dndbots.memory.layers import Block
    from dndbots.memory.recap import Recap
    from dndbots.memory.threads import Thread
    from dndbots.models import MemoryEntry


def add_to(app: typer.Typer) -> None:
    app.command("recap")(recap)
    app.command("memories")(memories)
    app.command("threads")(threads)
    app.command("remember")(remember)
    sessions = typer.Typer(no_args_is_help=True, help="Sessions of a campaign.")
    sessions.callback()(_sessions)  # with one command and no callback, typer would leave its name out
    sessions.command("start")(start_session)
    app.add_typer(sessions, name="session")


def recap(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Of which session; else of the last one.")
    ] = None,
    length: Annotated[
        str, typer.Option("--length", metavar="LENGTH", help="How long: short, medium or long.")
    ] = "medium",
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Previously on …: retells a session to the viewer, with what is still open. No model is asked."""
    with opened(campaign, branch) as source:
        found = source.recap(viewer, session, length, as_of=as_of)
    if as_json:
        show.say_json({**found.model_dump(mode="json"), "threads": [*map(_plain, found.threads)]})
    else:
        say_recap(found)


def say_recap(found: "Recap") -> None:
    if found.session is None:
        show.say("Previously on …: nothing yet.")
        return
    show.say(show.inert(f"Previously on {found.session}:"))
    for line in found.lines:
        show.say_indented(line.text)
    _say_list("To keep in mind:", found.pinned)
    _say_list("Open threads:", (f"{thread.kind}: {thread.text}" for thread in found.threads))


def _say_list(title: str, items: Iterable[str]) -> None:
    listed = [*items]
    if listed:
        show.say(title)
    for item in listed:
        show.say_indented(f"- {item}")


class _Subject(NamedTuple):
    """What memories are of: a place or somebody, as the viewer knows it, or the world."""

    name: str
    uid: str | None

    def __str__(self) -> str:
        return self.name if self.uid is None else f"{self.name} ({self.uid})"


def memories(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    about: Annotated[
        str | None, typer.Option("--about", metavar="WHO", help="Only those of a place or of somebody.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="KIND", help="Only of a kind: location, npc or world.")
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Also the text of the summary and of what is not in it yet.")
    ] = False,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Shows what the viewer remembers of places, people and the world, and what it carries besides.

    The ids are those that pin, lock, correct and forget take.
    """
    with opened(campaign, branch) as table:
        kept = _kept(table, viewer, about=about, source=source, as_of=as_of)
    if as_json:
        told, parts, carried, gates = kept
        show.say_json(
            {
                "memories": [{"about": of._asdict(), **entry.model_dump(mode="json")} for of, entry in told],
                "summaries": [part._asdict() for part in parts],
                "buffer": [dict(zip(("event_id", "text"), one, strict=True)) for one in _buffer(carried)],
                "summary": carried.memory.long_term_summary,
                "gates": _gates(gates),
            }
        )
        return
    _say_kept(kept, whole=summary)


class _Kept(NamedTuple):
    """All that somebody remembers, and what people decided on it."""

    told: list[tuple[_Subject, "MemoryEntry"]]
    parts: list["Block"]
    carried: "Carried"
    gates: "Gates"


def _kept(table: "Campaign", viewer: str, **how: str | None) -> _Kept:
    as_of = how["as_of"]
    names = Names(table, viewer, as_of)
    return _Kept(
        [(_subject(entry, names), entry) for entry in table.memories(viewer, **how)],
        table.summaries(viewer, as_of=as_of),
        table.carried(viewer, as_of=as_of),
        table.gates(viewer, as_of=as_of),
    )


def say_memories(table: "Campaign", viewer: str) -> None:
    """All that somebody remembers, in full."""
    _say_kept(_kept(table, viewer, about=None, source=None, as_of=None), whole=True)


def _say_kept(kept: _Kept, *, whole: bool) -> None:
    told, parts, carried, gates = kept
    _say_memories(told, gates)
    _say_carried(parts, carried, gates, whole=whole)
    shown = {entry.memory_id for _, entry in told}
    if whole:
        shown |= {part.id for part in parts} | {*carried.ids}
    _say_decided(gates, besides=shown)


def _subject(entry: "MemoryEntry", names: Names) -> _Subject:
    uid = entry.npc_ids[0] if entry.npc_ids else entry.location_id
    if uid is None or entry.source == "world":
        return _Subject("The world", None)
    return _Subject(*names.known(uid))


def _buffer(carried: "Carried") -> list[tuple[str, str]]:
    return [*zip(carried.ids, carried.memory.short_term_buffer, strict=True)]


def _gates(gates: "Gates") -> dict[str, Any]:
    listed = {"pinned": [*gates.pinned], "locked": sorted(gates.locked), "forgotten": sorted(gates.forgotten)}
    return {**listed, "corrected": gates.corrected}


def _say_memories(told: Iterable[tuple[_Subject, "MemoryEntry"]], gates: "Gates") -> None:
    groups: dict[_Subject, list[MemoryEntry]] = {}
    for of, entry in told:
        groups.setdefault(of, []).append(entry)
    for of, entries in groups.items():
        show.say(show.inert(f"{of}:"))
        for entry in entries:
            when = entry.created_at.isoformat() if entry.created_at else ""
            _say_noted(entry.memory_id, (entry.session_id, when), entry.summary, gates)
    if not groups:
        show.say("no memories of places, people or the world; see `dndbots remember`")


def _say_noted(name: str, words: Iterable[str], text: str, gates: "Gates") -> None:
    show.say("  " + show.inert("  ".join(filter(None, (name, *words, ", ".join(gates.marks(name)))))))
    for line in text.split("\n"):
        show.say_indented(line, 4)


def _say_carried(parts: list["Block"], carried: "Carried", gates: "Gates", *, whole: bool) -> None:
    entries = _buffer(carried)
    summary = f"a summary in {show.counted(len(parts), 'part')}" if parts else "no summary"
    buffer = f"{show.counted(len(entries), 'entry', 'entries')} in the buffer"
    if not whole:
        show.say(f"Besides: {summary}, {buffer}; --summary shows them")
        return
    show.say(f"Besides: {summary}{':' if parts else ''}")
    for part in parts:
        _say_noted(part.id, (part.layer, part.session), part.text, gates)
    show.say(f"and {buffer}{':' if entries else ''}")
    for name, text in entries:
        _say_noted(name, (), text, gates)


def _say_decided(gates: "Gates", *, besides: set[str]) -> None:
    """Decisions on what is not shown, so that their ids are known when they are to be taken back."""
    decided = dict.fromkeys([*gates.pinned, *sorted({*gates.locked, *gates.forgotten, *gates.corrected})])
    left = [name for name in decided if name not in besides]
    _say_list("Decided on others:", (f"{', '.join(gates.marks(name))}: {name}" for name in left))


def threads(
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    viewer: Viewer,
    everything: Annotated[bool, typer.Option("--all", help="Also those that are resolved.")] = False,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Shows what may come back, as far as the viewer knows: what would do best as a callback first.

    Dormant is what nothing touched for twenty turns.
    """
    with opened(campaign, branch) as source:
        found = source.threads(viewer, resolved=everything, as_of=as_of)
    if as_json:
        show.say_json([*map(_plain, found)])
    elif not found:
        show.say("no threads")
    else:
        columns = ["kind", "text, and why", "state", "turns ago", "times", "score"]
        show.say_table(columns, map(_row, found), wide="text, and why")


def _plain(thread: "Thread") -> dict[str, Any]:
    return {**thread.model_dump(mode="json"), "reason": thread.reason}


def _row(thread: "Thread") -> list[object]:
    text = f"{show.inert(thread.text)}\n({thread.reason})"  # narrower than a column for each
    return [thread.kind, text, thread.state, thread.turns, thread.times, f"{thread.score:.2f}"]


def remember(*, campaign: Address, branch: OnBranch = MAIN, as_json: AsJson = False) -> None:
    """Sees to everybody's memory: makes the memories and summaries that are due. No model is asked.

    What was interrupted is gone on with the next time; what is done already is not done twice.
    """
    with opened(campaign, branch) as table:
        before = table.head
        with show.progress("remembering") as report:
            table.remember(progress=report)
        found = table.remembered(after=before)
    if as_json:
        show.say_json([one._asdict() for one in found])
    else:
        show.say_table(
            ["who", "", "new summaries", "new memories"],
            [(one.name, "" if one.who == "dm" else one.who, one.summaries, one.memories) for one in found],
        )


def _sessions() -> None:
    pass


def start_session(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the session is called, such as s02.")],
    *,
    campaign: Address,
    branch: OnBranch = MAIN,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What it is to be about.")] = "",
    as_json: AsJson = False,
) -> None:
    """Starts a session: everybody keeps summaries, facts and threads, and begins with an empty buffer."""
    from dndbots.errors import DuplicateEvent

    with opened(campaign, branch) as table:
        try:
            started = table.start_session(name, title=title)
        except DuplicateEvent as exc:
            raise faults.Refusal(f"the session {name!r} was started before; choose another name") from exc
    if as_json:
        show.say_json({"session": started.session_id, "event_id": started.event_id})
    else:
        show.say(show.inert(f"started the session {started.session_id}: {started.event_id}"))
