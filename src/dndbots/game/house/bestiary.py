"""What a character makes of foes it sees: the rules' own table, for as far as it knows their kind."""

from dndbots.errors import UnknownMonster
from dndbots.game.pieces import Group
from dndbots.rules.monsters import Monster, monster


def kind_of(group: Group) -> Monster | None:
    """What the rules know of a group; None of one that they do not know."""
    try:
        return monster(group.monster)
    except UnknownMonster:
        return None


def level_of(group: Group) -> int:
    kind = kind_of(group)
    return kind.level if kind is not None else 1


def talks(group: Group) -> bool:
    """Whether there is anything to talk to."""
    kind = kind_of(group)
    return kind is not None and kind.parleys


def one_of(group: Group) -> str:
    """One of a group, as one says it in the heat: a group's own name may be that of many."""
    kind = kind_of(group)
    return group.name if kind is None or kind.plural.casefold() == kind.name.casefold() else kind.name.lower()
