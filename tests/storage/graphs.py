"""A campaign whose people have much to do with one another, and every question that can be asked of it."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

from tests.logs import EVERYTHING
from tests.table import event

from dndbots.errors import DndbotsError
from dndbots.events import EventType, GameEvent
from dndbots.storage.views.graph import Graph
from dndbots.testing import as_text

THROK, ZARA = "pc_throk_001", "pc_zara_001"
ELENA, HOB, RURIK, SPY = "npc_elena_001", "npc_hob_001", "npc_rurik_001", "npc_spy_001"
GUILD, WATCH, MILL, BELL = "fac_guild_001", "fac_watch_001", "loc_mill_001", "qst_bell_001"


def relation(subject: str, op: str, other: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "op": op, "object": other, **more}


def tangled() -> list[GameEvent]:
    """Elena of the guild gives a quest at the mill; only Zara learns that the watch's Rurik knows a spy."""
    both = [THROK, ZARA]
    return [
        event("e1", "dm", "A fair.", witnesses=[], discovered=[HOB, RURIK, SPY, GUILD, WATCH, BELL, ELENA]),
        event(
            "e2", ELENA, "Find the bell.", location=MILL, participants=both, quest_id=BELL,
            quest_state="offered", names={ELENA: "Elena", GUILD: "The Guild", BELL: "The Bell"},
            facts=[relation(ELENA, "in", GUILD)],
        ),
        event(
            "e3", "dm", "Elena is of the guild, and Hob her brother.", participants=both,
            facts=[relation(ELENA, "in", GUILD), relation(ELENA, "~", HOB)], names={HOB: "Old Hob"},
        ),
        event(
            "e4", "dm", "Rurik of the watch meets the spy.", participants=[RURIK, SPY], witnesses=[ZARA],
            facts=[relation(RURIK, "in", WATCH), relation(SPY, "in", GUILD)],
            names={RURIK: "Rurik", SPY: "a hooded man", WATCH: "The Watch"},
        ),
        event("e5", ZARA, "I saw Rurik with somebody.", kind=EventType.WHISPER, told_to=[THROK],
              facts=[relation(RURIK, "~", SPY)]),
        event("e6", "dm", "Hob dies.", participants=[RURIK, HOB], witnesses=both, killed=[HOB],
              killed_by=RURIK),
        event("e7", "dm", "The hooded man is Elena.", witnesses=[ZARA], same_as={SPY: ELENA}),
        event("e8", "dm", "She left the guild.", witnesses=[THROK],
              facts=[relation(ELENA, "in", GUILD, ended=True)]),
    ]  # fmt: skip


Ask = Callable[[Graph], Any]


def questions(things: list[str]) -> dict[str, Ask]:
    """Every question about some things, and pairs of them."""
    found: dict[str, Ask] = {}
    for who in things:
        found[f"near {who}"] = lambda graph, who=who: graph.near(who, steps=2)
        found[f"about {who}"] = lambda graph, who=who: graph.about(who, steps=1)
    for one, other in combinations(things, 2):
        found[f"path {one} {other}"] = lambda graph, a=one, b=other: graph.path(a, b, most=5)
        found[f"common {one} {other}"] = lambda graph, a=one, b=other: graph.common(a, b)
        found[f"bridges {one} {other}"] = lambda graph, a=one, b=other: graph.bridges(a, b)
    return found


def answers(graph: Graph, things: list[str] | None = None) -> dict[str, str]:
    """Return the answers of a graph to every question; an error is an answer too."""
    found = {}
    for name, ask in questions(things if things is not None else EVERYTHING[:1] + EVERYTHING[3:8]).items():
        try:
            found[name] = as_text(ask(graph))
        except DndbotsError as exc:
            found[name] = f"{type(exc).__name__}: {exc}"
    return found
