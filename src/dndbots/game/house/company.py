"""New faces: whoever falls leaves a seat, and somebody comes along who takes it."""

from collections.abc import Sequence
from typing import Final

from dndbots.game.house.telling import Telling
from dndbots.game.referee import join
from dndbots.game.seating import GOALS, TEMPERS
from dndbots.ids import mint
from dndbots.rules.creation import new_character

_NAMES: Final = """
    Alder Anwen Arno Asta Bera Berin Bran Brida Cael Calla Cord Dagny Darrow Della Edda Egil Eira Elric
    Enna Fenn Freya Gerd Gorm Gwen Hakon Halla Hedda Idris Ilse Ivo Jarl Jora Kaja Kell Kester Lark Leif Lind
    Liv Lorn Maeve Marn Mirel Nessa Nial Odo Oren Orla Perrin Petra Quill Ragna Rook Runa Sable Senna Sigrun
    Stig Svea Tamsin Tarn Thea Tove Ulf Una Vesna Wenna Wulf Yrsa Yven
"""
_BYNAMES: Final = """
    Ash Barrow Birch Brook Crow Dale Fell Fen Finch Flint Frost Hale Heath Holt Marsh Moss North Pike Reed
    Rowan Rush Stone Thorn Vale Wick Wren
"""
_PATIENCE: Final = 0.2  # away from safe places, a newcomer takes a while


def fill_seats(telling: Telling) -> None:
    """Takes in a newcomer where a seat is empty: at a safe place at once, elsewhere after some time.

    If nobody is left, a new company comes to where the story began.
    """
    table = telling.step.table
    living = table.living()
    taken = {table.seats[uid].seat for uid in living}
    seats = (
        max((one.seat for one in table.seats.values()), default=0) if table.game is None else table.game.seats
    )
    empty = [seat for seat in range(1, seats + 1) if seat not in taken]
    if not empty:
        return
    if not living:
        _new_company(telling, empty)
        return
    uid = max(table.scenes().items(), key=lambda scene: len(scene[1]))[0]
    place = telling.world.place(uid)
    if place is None or uid in table.fights:
        return
    if place.safe or telling.rng.random() < _PATIENCE:
        newcomer(telling, uid, seat=empty[0], level=_level(telling, living))


def _new_company(telling: Telling, seats: Sequence[int]) -> None:
    for seat in seats:
        newcomer(telling, telling.atlas.start, seat=seat, level=max(telling.atlas.module.level_range[0], 1))


def _level(telling: Telling, living: Sequence[str]) -> int:
    """Newcomers are a little behind those who have come so far."""
    levels = [int(telling.step.table.fact(uid, "level", 1)) for uid in living]
    return max(1, min(levels) - 1)


def newcomer(telling: Telling, uid: str, *, seat: int, level: int) -> None:
    table, rng = telling.step.table, telling.rng
    name = _name(telling)
    char_id = mint("PC", name, taken=table.names)
    character = new_character(name, rng=rng, level=level, char_id=char_id, scores="4d6kh3")
    join(
        telling.step,
        character,
        seat=seat,
        temper=rng.choice(TEMPERS),
        goal=rng.choice(GOALS),
        place=uid,
        text=telling.words("newcomer", **{"who": name, "class": character.char_class.lower()}),
    )


def _name(telling: Telling) -> str:
    """A name that nobody bears or ever bore, not even in part."""
    borne = {word for name in telling.step.table.names.values() for word in name.split()}
    free = [name for name in _NAMES.split() if name not in borne]
    if free:
        return telling.rng.choice(free)
    names = {*telling.step.table.names.values()}
    pairs = [f"{name} {byname}" for name in _NAMES.split() for byname in _BYNAMES.split()]
    return telling.rng.choice([pair for pair in pairs if pair not in names] or pairs)
