"""The turn graph: which node plays when. Its state holds cursors only; the table says what to do.

    context_manager -> dm -> (referee | player)* -> march

A round may begin anywhere in it: after a restart, the table says whose step it is.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypedDict

from dndbots.game.played import DM_STEP, MARCH, REFEREE
from dndbots.game.table import PLAYER, Due

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

CONTEXT_MANAGER: Final = "context_manager"
# A round has a few steps for each seat and each group of foes; one that does not end is a fault of ours.
MOST_STEPS: Final = 500


class Cursor(TypedDict):
    """Where a round is: its number, and whose step was the last."""

    round: int
    who: str


class Round(Protocol):
    """What the nodes do. Each is one step, recorded whole or not at all."""

    def due(self) -> Due | None:
        """Whose step it is; None if the round is over, or if the game is to stop here."""
        ...

    def context_manager(self) -> None: ...
    def dm(self) -> None: ...
    def referee(self, who: str) -> None: ...
    def player(self, who: str) -> None: ...
    def march(self) -> None: ...


def graph_of(steps: Round) -> "CompiledStateGraph[Any, Any, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    nodes: dict[str, Callable[[str], None]] = {
        CONTEXT_MANAGER: lambda _: steps.context_manager(),
        DM_STEP: lambda _: steps.dm(),
        REFEREE: steps.referee,
        PLAYER: steps.player,
        MARCH: lambda _: steps.march(),
    }

    def next_of(_: Cursor) -> str:
        due = steps.due()
        return END if due is None else due.node

    def first_of(cursor: Cursor) -> str:
        """The DM's turn begins with everybody's memory in order."""
        found = next_of(cursor)
        return CONTEXT_MANAGER if found == DM_STEP else found

    def node(work: Callable[[str], None]) -> Any:
        def run(_: Cursor) -> dict[str, Any]:
            due = steps.due()
            who = "" if due is None else due.who
            work(who)
            return {"who": who}

        return run

    graph = StateGraph(Cursor)
    for name, work in nodes.items():
        graph.add_node(name, node(work))
    graph.add_conditional_edges(START, first_of, [*nodes, END])
    for name in nodes:
        graph.add_conditional_edges(name, next_of, [*nodes, END])
    return graph.compile()
