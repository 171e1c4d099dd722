"""What several commands take: the campaign, the branch, the viewer, and how to answer."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dndbots.campaign import Campaign

# The variable that says where Neo4j is.
NEO4J = "NEO4J_URI"
Address = Annotated[
    str,
    typer.Option(
        "--campaign",
        "-c",
        metavar="PATH",
        envvar="DNDBOTS_CAMPAIGN",
        help="The campaign: its folder, or postgresql://…/database?campaign=name.",
    ),
]
OnBranch = Annotated[str, typer.Option("--branch", metavar="NAME", help="The branch of the campaign.")]
Viewer = Annotated[
    str,
    typer.Option(
        "--viewer",
        metavar="WHO",
        help="Whose view it is: a uid, a name that only one has, or dm, who sees everything.",
    ),
]
Reader = Annotated[
    str,
    typer.Argument(
        metavar="VIEWER", help="Whose it is: a uid, a name that only one has, or dm, who sees everything."
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="EVENT", help="Answer as if the log ended with this event."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON, and nothing else.")]


def opened(where: str, branch: str, *, create: bool = False) -> "Campaign":
    """The campaign at an address. The database is loaded here, and not before."""
    from dndbots.campaign import Campaign

    return Campaign.open(where, create=create, branch=branch)
