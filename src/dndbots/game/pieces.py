"""What lies on the table: deeds to tell of, fights with their foes, and acts that wait for an answer."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from dndbots.events import EventType, StatedFact
from dndbots.game.acts import Act
from dndbots.game.played import FightNote


@dataclass(slots=True)
class Deed:
    """Something worth telling of: what, where, who was there, and who was told since."""

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
        return who not in self.present and who not in self.told


@dataclass(slots=True)
class Group:
    """A group of foes: how many are left, and the hit points of each, where they are known.

    The strongest stands first; those who are helpless are the last.
    """

    monster: str
    name: str
    number: int
    hp: tuple[int, ...] = ()
    helpless: int = 0

    @property
    def able(self) -> int:
        """How many of them can fight."""
        return max(self.number - self.helpless, 0)

    def wounded(self, wounds: Iterable[tuple[int, int]]) -> None:
        """Takes hit points from some of them, who are counted as they stood before."""
        hp = list(self.hp)
        for which, points in wounds:
            if which < len(hp):
                hp[which] -= points
        self.hp = tuple(sorted((left for left in hp if left > 0), reverse=True))


@dataclass(slots=True)
class Fight:
    """A fight at a place, since a round."""

    id: str
    place: str
    order: tuple[str, ...]
    since: int
    foes: dict[str, Group]
    begun: dict[str, int]  # how many there were of each group

    @classmethod
    def of(cls, note: FightNote, place: str, *, since: int) -> "Fight":
        """A fight as it begins."""
        foes = {uid: Group(one.monster, one.name, one.number) for uid, one in note.foes.items()}
        begun = {uid: one.number for uid, one in note.foes.items()}
        return cls(id=note.id, place=place, order=note.order, since=since, foes=foes, begun=begun)

    @property
    def standing(self) -> dict[str, Group]:
        """The groups of which anybody can still fight."""
        return {uid: group for uid, group in self.foes.items() if group.able > 0}


@dataclass(slots=True, frozen=True)
class Waiting:
    """An act that the DM has not answered yet."""

    event_id: str
    who: str
    act: Act
    place: str | None
