"""Newcomers: replacements for characters who died."""

from collections.abc import Sequence
from typing import Final

from dndbots.game.referee import seat_character
from dndbots.game.state.game_notes import GOALS, TEMPERS
from dndbots.game.world.narration import Narration
from dndbots.ids import mint
from dndbots.rules.characters.creation import new_character

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
_PATIENCE: Final = 0.2  # chance per round, away from safe places


def fill_seats(narration: Narration) -> None:
    """Add a newcomer for an empty seat: at once in a safe place, later elsewhere.

    If no character is left, a new company starts where the story began.
    """
    table = narration.step.table
    living = table.living()
    taken = {table.seats[uid].seat for uid in living}
    seats = (
        max((seat.seat for seat in table.seats.values()), default=0)
        if table.game is None
        else table.game.seats
    )
    empty = [seat for seat in range(1, seats + 1) if seat not in taken]
    if not empty:
        return
    if not living:
        _new_company(narration, empty)
        return
    uid = max(table.scenes().items(), key=lambda scene: len(scene[1]))[0]
    place = narration.world.place(uid)
    if place is None or uid in table.fights:
        return
    if place.safe or narration.rng.random() < _PATIENCE:
        add_newcomer(narration, uid, seat=empty[0], level=_level(narration, living))


def _new_company(narration: Narration, seats: Sequence[int]) -> None:
    """Fill every seat at the start of the adventure."""
    for seat in seats:
        add_newcomer(
            narration, narration.atlas.start, seat=seat, level=max(narration.atlas.module.level_range[0], 1)
        )


def _level(narration: Narration, living: Sequence[str]) -> int:
    """Return the level for a newcomer: one below the lowest of the living."""
    levels = [int(narration.step.table.fact(uid, "level", 1)) for uid in living]
    return max(1, min(levels) - 1)


def add_newcomer(narration: Narration, uid: str, *, seat: int, level: int) -> None:
    """Let a new character join at a place."""
    table, rng = narration.step.table, narration.rng
    narration.enter(uid)  # at a door there is one
    name = _name(narration)
    char_id = mint("PC", name, taken=table.names)
    character = new_character(name, rng=rng, level=level, char_id=char_id, scores="4d6kh3")
    seat_character(
        narration.step,
        character,
        seat=seat,
        temper=rng.choice(TEMPERS),
        goal=rng.choice(GOALS),
        place=uid,
        text=narration.phrase("newcomer", **{"who": name, "class": character.char_class.lower()}),
    )


def _name(narration: Narration) -> str:
    """Return a name that shares no word with any name so far, as long as there is one."""
    borne = {word for name in narration.step.table.names.values() for word in name.split()}
    free = [name for name in _NAMES.split() if name not in borne]
    if free:
        return narration.rng.choice(free)
    names = {*narration.step.table.names.values()}
    pairs = [f"{name} {byname}" for name in _NAMES.split() for byname in _BYNAMES.split()]
    return narration.rng.choice([pair for pair in pairs if pair not in names] or pairs)
