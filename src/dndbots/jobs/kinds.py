"""What a worker can do, by name. Whoever has another kind of work hands the worker a table with it."""

from collections.abc import Collection, Mapping
from contextlib import closing
from functools import partial
from typing import Final, NamedTuple, Protocol

from dndbots.campaign import Campaign
from dndbots.errors import NoProjection
from dndbots.storage.neo4j.server import check_address
from dndbots.storage.queue import COMPACT, PROJECT

NAMES: Final = (COMPACT, PROJECT)
# So many runs, and the next campaign has its turn.
_RUNS_IN_A_JOB: Final = 8


class Done(NamedTuple):
    """What was done, in a few words, whether there is more of it, and which kinds of work it leads to."""

    words: str
    more: bool = False
    then: tuple[str, ...] = ()


class Kind(Protocol):
    """Work on one branch of a campaign.

    It may be stopped at any moment and begun again by another worker, also while the first, whom everybody
    took for dead, is still at it. So it keeps how far it came in one transaction with what it does.
    """

    def __call__(self, campaign: Campaign, /) -> Done: ...


def compact(campaign: Campaign) -> Done:
    """Reads facts out of what was said since the last time. No model is asked."""
    runs = campaign.compact(at_most=_RUNS_IN_A_JOB)
    turns = sum(run.turns for run in runs)
    updates = sum(run.updates for run in runs)
    words = f"{turns} turns read, {updates} updates" if runs else "nothing new"
    return Done(words, more=len(runs) == _RUNS_IN_A_JOB)


def project(campaign: Campaign, *, neo4j: str) -> Done:
    """Brings the copy in Neo4j up to date. A batch at a time is kept, so whoever begins again goes on."""
    with closing(campaign.projection(neo4j)) as projection:
        caught = projection.catch_up()
    return Done(f"{caught.events} events projected; the graph is at {caught.seq}")


def compact_and_project(campaign: Campaign) -> Done:
    """What was compacted has grown, so its copy is behind."""
    return compact(campaign)._replace(then=(PROJECT,))


def kinds_of(wanted: Collection[str] | None = None, *, neo4j: str | None = None) -> Mapping[str, Kind]:
    """Those kinds of work, or all that can be done here. Projecting takes an address of Neo4j."""
    if neo4j is None:
        if wanted is not None and PROJECT in wanted:
            raise NoProjection
        return {COMPACT: compact}
    check_address(neo4j)
    found: dict[str, Kind] = {COMPACT: compact_and_project, PROJECT: partial(project, neo4j=neo4j)}
    return found if wanted is None else {name: found[name] for name in wanted}
