"""The choice of passages for a telling of limited length: what must be told, then what weighs most."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from dndbots.memory.deeds import PARTY, join_names
from dndbots.memory.tellings.passages import ToldPassage
from dndbots.memory.tellings.prose import Sentence, write_prose
from dndbots.text.word_forms import number_word
from dndbots.tokens import DEFAULT_ENCODING, count_tokens

_LATE: Final = 5.0  # the end of a session matters a little more than its beginning


def fit_passages(
    passages: Sequence[ToldPassage],
    tokens: int,
    *,
    heroes: frozenset[str] = frozenset(),
    place: str | None = None,
    most: int | None = None,
    encoding: str = DEFAULT_ENCODING,
) -> list[Sentence]:
    """Return the weightiest passages as prose in at most `tokens` tokens and `most` sentences, in order.

    What must be told is told in fewer words where it does not fit otherwise. See `write_prose` for `heroes`
    and `place`.
    """

    def fits(sentences: Sequence[Sentence]) -> bool:
        text = " ".join(sentence.text for sentence in sentences)
        return (most is None or len(sentences) <= most) and count_tokens(text, encoding) <= tokens

    ranked = _ranked(passages)
    musts = [passage for passage in ranked if passage.must]
    others = [passage for passage in ranked if not passage.must]
    kept = musts
    while not fits(write_prose(_in_order(kept), heroes, place=place)):
        shorter = _condensed(kept)
        if shorter == kept:
            kept = kept[:-1]
            break
        kept = shorter
    while kept and not fits(write_prose(_in_order(kept), heroes, place=place)):
        kept = kept[:-1]
    for passage in others:
        more = [*kept, passage]
        if fits(write_prose(_in_order(more), heroes, place=place)):
            kept = more
    return write_prose(_in_order(kept), heroes, place=place)


def _in_order(passages: Iterable[ToldPassage]) -> list[ToldPassage]:
    return sorted(passages, key=lambda passage: (passage.at, passage.end))


def _ranked(passages: Sequence[ToldPassage]) -> list[ToldPassage]:
    """Return the passages, weightiest first; of two alike, the later one."""
    last = max((passage.at for passage in passages), default=0) or 1
    return sorted(passages, key=lambda passage: (-(passage.weight + _LATE * passage.at / last), -passage.at))


_QUESTS: Final = ("taken", "refused", "ended")
_VERBS: Final = {"taken": "took on", "refused": "turned down"}
_MOST_NAMED: Final = 6


def _condensed(passages: Sequence[ToldPassage]) -> list[ToldPassage]:
    """Return passages in fewer words: no quotations, and one list of quests for each kind of decision."""
    if any(passage.how for passage in passages):
        return [replace(passage, how="") for passage in passages]
    kept: list[ToldPassage] = [
        passage for passage in passages if passage.kind not in ("taken", "refused", "ended")
    ]
    for kind in ("taken", "refused", "ended"):
        same = _in_order(passage for passage in passages if passage.kind == kind)
        by_did: dict[str, list[ToldPassage]] = {}
        for passage in same:
            by_did.setdefault(passage.did if kind == "ended" else kind, []).append(passage)
        kept += [_listed(group) for group in by_did.values()]
    return kept


def _listed(group: Sequence[ToldPassage]) -> ToldPassage:
    """Return passages of one kind as one: "took on A, B and two more"."""
    first = group[0]
    names = list(dict.fromkeys(passage.what for passage in group))
    more = len(names) - _MOST_NAMED
    told = [*names[:_MOST_NAMED], f"{number_word(more)} more"] if more > 1 else names
    listing = join_names(told)
    sources = tuple(dict.fromkeys(source for passage in group for source in passage.sources))
    whole = replace(first, sources=sources, what=listing, place="", end=group[-1].end)
    if first.kind == "ended":
        return replace(whole, who=(listing,))
    return replace(whole, who=(PARTY,), did=f"{_VERBS[first.kind]} {listing}")
