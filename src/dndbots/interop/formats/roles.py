"""Roles of speakers: who is the DM, who plays the user's character, and which names a person gave them."""

import re
from typing import Final

from dndbots.ids import DM, fold_name
from dndbots.interop.formats.neutral import ImportOptions
from dndbots.interop.transcript_cast import DICE

_NARRATORS: Final = re.compile(
    r"narrat(?:or|rice|eur)|narrador|erzähler|(?:game|dungeon)[ -]?master|\b[gd]m\b|story ?teller|\bworld\b"
    r"|\brpg\b|\bspielleit(?:er|ung)|ma[iî]tre d[eu] jeu|meneu(?:r|se) de jeu|director(?:a)? de juego"
    r"|mestre de jogo|master di gioco",
    re.IGNORECASE,
)
_LEADER: Final = re.compile(r"\((?:[GD]M|(?:game|dungeon)[ -]?master)\)$", re.IGNORECASE)


def is_narrator(name: str) -> bool:
    """Return True for a name that tells the story instead of playing in it."""
    return _NARRATORS.search(name) is not None


class SpeakerRoles:
    """Gives each speaker of a file a name and a role, as the options say or the name tells."""

    def __init__(self, options: ImportOptions) -> None:
        self._options = options
        self._dms = {fold_name(name) for name in options.dm}
        self._mapped = {fold_name(name): mapped for name, mapped in options.speakers.items()}
        self._known: dict[tuple[str, str, bool], tuple[str, str]] = {}

    def is_mapped(self, name: str) -> bool:
        """Return True if a person said who a speaker is."""
        return fold_name(name) in self._mapped

    def cast(self, name: str, fallback: str, *, is_user: bool = False) -> tuple[str, str]:
        """Return the name and the role of a speaker. The fallback is for names that tell nothing."""
        key = name, fallback, is_user
        if key not in self._known:
            self._known[key] = self._cast(name, fallback, is_user=is_user)
        return self._known[key]

    def _cast(self, name: str, fallback: str, *, is_user: bool) -> tuple[str, str]:
        bare = _LEADER.sub("", name).rstrip()
        if bare != name and bare and fold_name(name) not in self._mapped:
            # "Matt (GM)" is Matt, who leads the game, unless a person says who does.
            name, fallback = bare, DM if not self._dms or fold_name(name) in self._dms else fallback
            if self._dms and fallback == DM:
                return name, DM
        if fold_name(name) in self._mapped:
            mapped, role = self._mapped[fold_name(name)]
            return mapped, role or self._role(mapped, fallback)
        if is_user and self._options.persona:
            name = self._options.persona
        return name, self._role(name, fallback)

    def _role(self, name: str, fallback: str) -> str:
        if name == DICE and fallback == DM:
            return DM
        if self._dms:
            return DM if fold_name(name) in self._dms else ("npc" if fallback == DM else fallback)
        return DM if is_narrator(name) else fallback
