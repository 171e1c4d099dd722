"""What a character says: the house's phrases, in the voice of its temper, with names that it has heard."""

from typing import Final

from dndbots.game.acts import LONGEST_WORDS
from dndbots.game.house.minds import Mind
from dndbots.game.house.phrases import Phrasebook, Pick, house_phrases

STRANGER: Final = "the stranger"
FRIEND: Final = "my friend"
_TRIES: Final = 4


class Voice:
    """One character's voice in one turn. What was said lately is not said again, if it can be helped."""

    def __init__(self, mind: Mind, book: Phrasebook | None = None) -> None:
        self.mind = mind
        self._book = book or house_phrases()
        self._heard = {one.event.content for one in mind.recent}

    def say(self, key: str, **slots: str) -> str:
        """Something under a key, as this temper says it."""
        mind = self.mind
        count = mind.rng.randrange(1_000)
        said = ""
        for again in range(_TRIES):
            pick = Pick(f"{mind.seed}/{mind.who}", count + again)
            said = self._book.say(f"{key}.{mind.temper}" if mind.temper else key, pick=pick, **slots)
            if not any(said in heard for heard in self._heard):
                break
        return said

    def call(self, uid: str) -> str:
        """What it calls somebody: by the name, if it knows one."""
        return self.mind.name(uid) or (FRIEND if uid.startswith("pc_") else STRANGER)


def joined(*parts: str) -> str:
    """Several things said in one breath."""
    return " ".join(part for part in parts if part)[:LONGEST_WORDS]
