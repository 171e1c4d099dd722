"""The DM's plot sheet in a story without a module: fronts, secrets, wishes, clues, clocks, and the act.

Its notes are events that nobody but the DM perceives. They are on the DM's table, and so in the next
question.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from dndbots.game.dm import tools
from dndbots.game.dm.sheet_calls import CallScene
from dndbots.game.state.game_notes import PlotLine
from dndbots.game.state.table import Table
from dndbots.ids import slug

MOST_LINES: Final = 24
_THREADS: Final = {"front": "threat", "secret": "mystery", "wish": "promise", "clue": "mystery"}
_HEADS: Final = {"front": "FRONTS", "secret": "SECRETS", "wish": "WHO WANTS WHAT", "clue": "CLUES"}


def plot_note(scene: CallScene, form: tools.PlotNote) -> str:
    """Write, change or settle a line of the plot sheet."""
    table = scene.narration.step.table
    name, text = " ".join(form.name.split())[:60], scene.plain(form.text)
    if not text:
        raise scene.refused("text is empty; say what it is now")
    key = slug(name)
    if not form.over and key not in table.plot and len(table.plot) >= MOST_LINES:
        raise scene.refused(f"the plot sheet has {MOST_LINES} lines already; settle one with over")
    if form.over and key not in table.plot:
        raise scene.refused(f"there is no {name!r} on the plot sheet; it has {_names(table)}")
    thread = {"id": f"plot_{key}", "kind": _THREADS[form.kind], "text": f"{name}: {text}"[:400]}
    line = None if form.over else PlotLine(kind=form.kind, name=name, text=text[:400]).model_dump()
    scene.narration.tell_dm(
        f"{name} is settled: {text}" if form.over else f"{name}: {text}",
        beats=(),
        threads=[{"id": f"plot_{key}", "state": "resolved"} if form.over else thread],
        play={"plot": {key: line}},
    )
    return f"{name} is settled." if form.over else f"{name} is on your plot sheet."


def begin_act(scene: CallScene, form: tools.BeginAct) -> str:
    """Begin an act: everybody here hears its title, only the DM its question."""
    table = scene.narration.step.table
    number = sum(key.startswith("act_") for key in table.plot) + 1
    title, key = scene.plain(form.title).rstrip("."), f"act_{number}"
    if not title:
        raise scene.refused("title is empty; name the act")
    scene.narration.tell_dm(
        f"The question of this act: {form.question}",
        beats=(),
        play={"plot": {key: PlotLine(kind="act", name=title, text=form.question).model_dump()}},
    )
    scene.narration.tell(
        scene.place, f"Act {number}: {title}.", gist=f"{title} began", act_id=slug(title), act_state="begun"
    )
    return f"Act {number} has begun."


def render_plot_sheet(table: Table, round_: int) -> Iterator[str]:
    """Yield the lines of the plot sheet, one for each head that has something under it."""
    acts = [line for line in table.plot.values() if line.kind == "act"]
    if acts:
        yield f"THE ACT: {acts[-1].name}. It decides: {acts[-1].text}"
    for kind, head in _HEADS.items():
        lines = [f"{line.name}: {line.text}" for line in table.plot.values() if line.kind == kind]
        if lines:
            yield f"{head}: {'; '.join(lines)}"
    clocks = [f"{clock.text} (in {max(clock.due - round_, 0)} rounds)" for clock in table.clocks.values()]
    if clocks:
        yield f"CLOCKS: {'; '.join(clocks)}"


def _names(table: Table) -> str:
    return ", ".join(line.name for line in table.plot.values()) or "nothing"


PLOT_METHODS: Final[Mapping[type[Any], Callable[[Any, Any], str]]] = {
    tools.PlotNote: plot_note,
    tools.BeginAct: begin_act,
}
