"""Parts of a table: deeds to retell, fights with their foes, and acts that wait for an answer."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from dndbots.events import EventType, StatedFact
from dndbots.game.acts import Act
from dndbots.game.state.game_notes import FightNote
from dndbots.text.word_forms import is_plural, number_word, singular_of, with_the, without_article


@dataclass(slots=True)
class TellableDeed:
    """An event worth retelling: where it was, who was there, and who was told since."""

    event_id: str
    kind: EventType
    gist: str
    place: str | None
    round: int
    present: frozenset[str]
    about: tuple[str, ...]
    facts: tuple[StatedFact, ...]
    told: set[str] = field(default_factory=set)

    def is_news_to(self, who: str) -> bool:
        """Check that somebody was neither there nor told."""
        return who not in self.present and who not in self.told


@dataclass(slots=True)
class FoeGroup:
    """A group of foes: how many are left, and the hit points of each if they are known.

    The strongest comes first; the helpless come last.
    """

    monster: str
    name: str
    number: int
    hp: tuple[int, ...] = ()
    helpless: int = 0

    @property
    def one(self) -> str:
        """The name of one foe of the group."""
        return singular_of(self.name)

    @property
    def able(self) -> int:
        """The number of foes who can fight."""
        return max(self.number - self.helpless, 0)

    def wounded(self, wounds: Iterable[tuple[int, int]]) -> None:
        """Take hit points from some foes. Their numbers are those from before this change."""
        hp = list(self.hp)
        for which, points in wounds:
            if which < len(hp):
                hp[which] -= points
        self.hp = tuple(sorted((left for left in hp if left > 0), reverse=True))


@dataclass(slots=True)
class Fight:
    """A fight at a place; `since` is the round in which it began."""

    id: str
    place: str
    order: tuple[str, ...]
    since: int
    foes: dict[str, FoeGroup]
    begun: dict[str, int]  # the number of foes in each group at the beginning

    @classmethod
    def of(cls, note: FightNote, place: str, *, since: int) -> "Fight":
        """Return a new fight from its note."""
        foes = {uid: FoeGroup(group.monster, group.name, group.number) for uid, group in note.foes.items()}
        begun = {uid: group.number for uid, group in note.foes.items()}
        return cls(id=note.id, place=place, order=note.order, since=since, foes=foes, begun=begun)

    @property
    def standing(self) -> dict[str, FoeGroup]:
        """The groups with foes who can still fight."""
        return {uid: group for uid, group in self.foes.items() if group.able > 0}


def left_of(group: FoeGroup, begun: int) -> str:
    """Return who of a group still fights: `two of the five dead gardeners`, or the group by its name."""
    if group.able >= begun or begun <= 1 or not is_plural(group.name):
        return with_the(group.name)
    return f"{number_word(group.able)} of the {number_word(begun)} {without_article(group.name)}"


def unharmed_beat(foes: str) -> str:
    """Return the beat of a blow that struck foes and did them no harm: they need other weapons."""
    return f"unharmed:{foes}"


@dataclass(slots=True, frozen=True)
class PendingAct:
    """An act that still waits for the DM or the dice."""

    event_id: str
    who: str
    act: Act
    place: str | None
