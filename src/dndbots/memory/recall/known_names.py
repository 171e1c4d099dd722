"""The names by which a viewer may call somebody: names, titles, nicknames and offices heard in play.

An office ends like a fact: after somebody else has the post, "the harbourmaster" means the other one.
"""

from collections.abc import Collection
from typing import Final

from dndbots.storage.views.view import View
from dndbots.text.words import words_of

_THE: Final = "the "
_ROLE: Final = "role"
_MOST_ROLES: Final = 8


def find_called(view: View, names: Collection[str]) -> dict[str, set[str]]:
    """Return the uids that each name means for the viewer now, without people who lost the office."""
    bearers = view.bearers_of(names)
    offices = {name for name, uids in bearers.items() if uids and name.casefold().startswith(_THE)}
    return {
        name: {uid for uid in uids if name not in offices or not _has_lost(view, uid, name)}
        for name, uids in bearers.items()
    }


def _has_lost(view: View, uid: str, office: str) -> bool:
    """Return whether a role with the words of an office is superseded, and no newer role has them."""
    asked = set(words_of(office)) - {"the"}
    held = [fact for fact in view.past_of(uid, _ROLE, limit=_MOST_ROLES) if _has_words(fact.value, asked)]
    return bool(held) and all(fact.superseded_by is not None for fact in held)


def _has_words(role: object, asked: set[str]) -> bool:
    return isinstance(role, str) and asked <= set(words_of(role))
