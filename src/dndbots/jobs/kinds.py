"""The kinds of jobs that a worker can do, by name. A caller may hand the worker other kinds."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from dndbots.errors import NoProjection
from dndbots.jobs.queue import COMPACT, PROJECT
from dndbots.storage.neo4j.server import check_address

if TYPE_CHECKING:
    from dndbots.storage.neo4j.projection import Projection

NAMES: Final = (COMPACT, PROJECT)
# A job ends after this many runs, so that the next campaign gets its turn.
_RUNS_IN_A_JOB: Final = 8


class RunCounts(Protocol):
    """The counts of a compaction run: turns it read, and updates it made."""

    @property
    def turns(self) -> int: ...
    @property
    def updates(self) -> int: ...


class JobCampaign(Protocol):
    """The part of a campaign that jobs use."""

    def compact(self, *, at_most: int | None = None) -> Sequence[RunCounts]: ...
    def projection(self, neo4j: str) -> "Projection": ...
    def close(self) -> None: ...


CampaignT = TypeVar("CampaignT", bound=JobCampaign)
_WorkedOn_contra = TypeVar("_WorkedOn_contra", contravariant=True)


class Done(NamedTuple):
    """The result of a job: a few words, whether more is left to do, and which kinds of jobs should follow."""

    words: str
    more: bool = False
    then: tuple[str, ...] = ()


class JobKind(Protocol[_WorkedOn_contra]):
    """A job on one branch of a campaign.

    It may be stopped at any moment and started again by another worker, even while the first one, which
    everybody took for dead, is still running. So it commits its progress together with its results.
    """

    def __call__(self, campaign: _WorkedOn_contra, /) -> Done: ...


def compact_campaign(campaign: JobCampaign) -> Done:
    """Extract facts from the turns since the last compaction. Asks no model."""
    runs = campaign.compact(at_most=_RUNS_IN_A_JOB)
    turns = sum(run.turns for run in runs)
    updates = sum(run.updates for run in runs)
    words = f"{turns} turns read, {updates} updates" if runs else "nothing new"
    return Done(words, more=len(runs) == _RUNS_IN_A_JOB)


def project_campaign(campaign: JobCampaign, *, neo4j: str) -> Done:
    """Bring the copy in Neo4j up to date. Each batch is committed, so a second attempt continues."""
    with closing(campaign.projection(neo4j)) as projection:
        caught = projection.catch_up()
    return Done(f"{caught.events} events projected; the graph is at {caught.seq}")


def compact_and_project(campaign: JobCampaign) -> Done:
    """Compact, then ask for a projection: the new events make the copy in Neo4j stale."""
    return compact_campaign(campaign)._replace(then=(PROJECT,))


def kinds_of(
    wanted: Collection[str] | None = None, *, neo4j: str | None = None
) -> Mapping[str, JobKind[JobCampaign]]:
    """Return the wanted kinds of jobs, or all that can be done here. Projection needs an address of Neo4j."""
    if neo4j is None:
        if wanted is not None and PROJECT in wanted:
            raise NoProjection
        return {COMPACT: compact_campaign}
    check_address(neo4j)
    kinds: dict[str, JobKind[JobCampaign]] = {
        COMPACT: compact_and_project,
        PROJECT: partial(project_campaign, neo4j=neo4j),
    }
    return kinds if wanted is None else {name: kinds[name] for name in wanted}
