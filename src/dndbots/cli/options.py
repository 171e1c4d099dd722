"""Options that several commands take: the campaign, the branch, the viewer, and the form of the answer."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from dndbots.campaign import Campaign

# The environment variable with the address of Neo4j.
NEO4J: Final = "NEO4J_URI"
# A count that nobody reads through, and that every database accepts.
MOST: Final = 1_000_000

Address = Annotated[
    str,
    typer.Option(
        "--campaign",
        "-c",
        metavar="PATH",
        envvar="DNDBOTS_CAMPAIGN",
        help="The campaign: a folder, or postgresql://…/database?campaign=name.",
    ),
]
OnBranch = Annotated[str, typer.Option("--branch", metavar="NAME", help="The branch of the campaign.")]
# Scripts may still write `--viewer`; see `dndbots.cli.app`.
Viewer = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="NAME", help="Whose view to show: a name, a uid, or dm, who sees everything."
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="EVENT", help="Answer as if the log ended with this event."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def open_campaign(where: str, branch: str, *, create: bool = False) -> "Campaign":
    """Open the campaign at an address. This loads the database code, which `--help` does not need."""
    from dndbots.campaign import Campaign

    return Campaign.open(where, create=create, branch=branch)
