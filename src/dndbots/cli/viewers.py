"""The viewer a command answers for, and the names this viewer knows.

Suggestions for a mistyped name come from what the viewer knows, never from the whole campaign.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from dndbots.cli import failures
from dndbots.cli.options import open_campaign
from dndbots.errors import UnknownEntity, UnknownViewer
from dndbots.ids import DM

if TYPE_CHECKING:
    from dndbots.campaign import Campaign

_MOST_CHARACTERS: Final = 10
_MOST_SUGGESTIONS: Final = 3
_ALIKE: Final = 0.7


class ViewerNames:
    """The names a viewer uses for uids. A uid that the viewer does not know stays a uid."""

    def __init__(self, campaign: "Campaign", viewer: str, as_of: str | None) -> None:
        self._campaign, self._viewer, self._as_of = campaign, viewer, as_of

    def find(self, uid: str) -> tuple[str, str]:
        """Return the name, and the uid in use now: two entities may have turned out to be one."""
        try:
            entity = self._campaign.entity(uid, viewer=self._viewer, as_of=self._as_of)
        except UnknownEntity:
            return uid, uid
        return entity.name, entity.uid

    def label(self, uid: str) -> str:
        """Return the name with the uid in use now, or the uid alone."""
        name, current = self.find(uid)
        return current if name == current else f"{name} ({current})"

    def render_cell(self, uid: str | None) -> str:
        """Return the name for a table cell, with the uid on its own line to keep the table narrow."""
        if uid is None:
            return ""
        name, current = self.find(uid)
        return uid if name == uid == current else f"{name}\n{uid}"


@contextmanager
def open_for(
    viewer: str | None, where: str, branch: str, *, as_of: str | None = None
) -> "Iterator[tuple[Campaign, str]]":
    """Open a campaign to answer one viewer; yield the campaign and the viewer.

    A part of a name is enough if only one character has it: "Quillon" for Quillon Ashby. Without a viewer
    this refuses and lists the characters: nobody is the DM by default. A name that is not known is refused
    with the closest names the viewer knows.
    """
    with open_campaign(where, branch) as campaign:
        if viewer is None:
            names = _join([*_character_names(campaign), DM])
            raise failures.Refusal(
                f"add --as NAME to choose whose view to show: {names}", code=failures.UNUSABLE
            )
        try:
            yield campaign, _find_viewer(campaign, viewer)
        except UnknownViewer as exc:
            names = _join([*_closest_first(exc.who, _character_names(campaign)), DM])
            raise failures.Refusal(f"no character has the name {exc.who!r}; choose {names}") from exc
        except UnknownEntity as exc:
            raise failures.Refusal(_explain_unknown(campaign, viewer, exc.who, as_of)) from exc


def _find_viewer(campaign: "Campaign", viewer: str) -> str:
    """Return the viewer as given, or the whole name of the one character with that part of a name."""
    try:
        with campaign.view(DM) as view:
            view.perceiver(viewer)
    except UnknownViewer:
        wanted = viewer.casefold()
        bearers = [name for name in _character_names(campaign) if wanted in name.casefold().split()]
        if len(bearers) == 1:
            return bearers[0]
    return viewer


def _explain_unknown(campaign: "Campaign", viewer: str, name: str, as_of: str | None) -> str:
    who = "the campaign" if viewer == DM else viewer
    with campaign.view(viewer, as_of) as view:
        known = view.called(view.everybody()).values()
    names = {name for entity in known for name in (entity.name, *entity.aliases)}
    similar = [other for other in _closest_first(name, names) if _likeness(name, other) >= _ALIKE]
    if similar:
        remedy = f"did you mean {_join(similar[:_MOST_SUGGESTIONS])}?"
    else:
        remedy = f"`dndbots entity --as {viewer}` lists all names"
    return f"{who} knows nothing called {name!r}; {remedy}"


def _character_names(campaign: "Campaign") -> list[str]:
    """Return the player characters by the names they know themselves by; uids where two share a name."""
    with campaign.view(DM) as view:
        uids = view.everybody("pc_")[:_MOST_CHARACTERS]
    named = {uid: ViewerNames(campaign, uid, None).find(uid)[0] for uid in uids}
    bearers = Counter(named.values())
    return [name if bearers[name] == 1 else uid for uid, name in named.items()]


def _closest_first(word: str, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (-_likeness(word, name), name))


def _likeness(word: str, name: str) -> float:
    """Compare a word with a name and with each part of it, from 0 to 1."""
    wanted, whole = word.casefold(), name.casefold()
    return max(SequenceMatcher(None, wanted, part).ratio() for part in (whole, *whole.split()))


def _join(names: list[str]) -> str:
    return " or ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])
