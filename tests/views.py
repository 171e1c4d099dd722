"""All that anybody can be told of a campaign, to compare two of them byte for byte."""

from collections.abc import Callable
from typing import Any

from tests.storage.test_perspective import VIEWS

from dndbots.campaign import Campaign
from dndbots.errors import DndbotsError
from dndbots.ids import DM
from dndbots.testing import as_text, perceivers

# Somebody who may never have been there.
NEWCOMER = "npc_mirabel_quagmire_001"
WORD = "Quagmire"
ASKED = ("recall", "newcomer")  # for which the question itself has the name
MORE: dict[str, Callable[[Campaign, str], Any]] = {
    "context": lambda campaign, viewer: campaign.context(viewer, budget=1_500),
    "recall": lambda campaign, viewer: campaign.recall(viewer, f"Who is Mirabel {WORD}?", budget=400),
    "recap": lambda campaign, viewer: campaign.recap(viewer),
    "memory": lambda campaign, viewer: campaign.memory(viewer),
    "memories": lambda campaign, viewer: campaign.memories(viewer),
    "callbacks": lambda campaign, viewer: campaign.callbacks(viewer),
    "newcomer": lambda campaign, viewer: campaign.entity(NEWCOMER, viewer=viewer),
    "newcomer by name": lambda campaign, viewer: campaign.entity(f"Mirabel {WORD}", viewer=viewer),
    "newcomer's links": lambda campaign, viewer: campaign.graph(viewer=viewer).near(NEWCOMER),
    "links": lambda campaign, viewer: [
        campaign.graph(viewer=viewer).near(one.uid) for one in campaign.entities(viewer=viewer)
    ],
}
OF_THE_DM: dict[str, Callable[[Campaign], Any]] = {
    "campaign data": lambda campaign: campaign.data(),
    "usage": lambda campaign: campaign.usage(),
    "who knows": lambda campaign: [
        campaign.who_knows(fact) for one in campaign.entities(viewer=DM) for fact in one.facts
    ],
    "the newcomer as a viewer": lambda campaign: campaign.timeline(viewer=NEWCOMER),
    "state of all": lambda campaign: campaign.game_state()["agent_memories"],
    "head": lambda campaign: campaign.head,
}


def _answer(ask: Callable[[], Any]) -> str:
    """What a view says, or how it refuses."""
    try:
        return as_text(ask())
    except (DndbotsError, LookupError) as exc:
        return repr(exc)


def all_views(campaign: Campaign) -> dict[str, str]:
    """All that anybody can be told of a campaign."""
    viewers = [who for who in perceivers(campaign) if who == DM or who.startswith("pc_")]
    found = {
        f"{name} of {viewer}": _answer(lambda view=view, viewer=viewer: view(campaign, viewer))
        for viewer in viewers
        for name, view in (VIEWS | MORE).items()
    }
    return found | {name: _answer(lambda view=view: view(campaign)) for name, view in OF_THE_DM.items()}
