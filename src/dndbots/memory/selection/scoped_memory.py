"""A memory of a place, a person or the world without a model: at most three sentences.

What was decided comes first, then what it left open, then what else was told. Phrases that come back at every
visit are used only if there is nothing else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from dndbots.canon.cues import cue_in
from dndbots.memory.deeds import as_sentence
from dndbots.memory.entries import Entry, Line, SummaryTask
from dndbots.memory.selection.candidates import Candidate, find_candidates, lines_of
from dndbots.memory.selection.cover import CoverWish, choose_candidates
from dndbots.memory.selection.salience import Salience
from dndbots.memory.tellings.digest import fit_passages
from dndbots.memory.tellings.passages import ToldPassage, find_heroes, find_passages
from dndbots.memory.tellings.quotations import StockPhrases
from dndbots.text.clean import prompt_line
from dndbots.text.labels import short_label, write_unlabelled
from dndbots.text.names import names_in
from dndbots.text.words import content_stems
from dndbots.tokens import count_tokens

MOST_SENTENCES: Final = 3
# Changes count more than descriptions.
_CHANGE: Final = 4.0
# The part of its weight that something keeps in the memory of a person who had nothing to do with it.
_UNRELATED: Final = 0.3
_FEWEST_TOKENS: Final = 8


def write_scoped_memory(task: SummaryTask, encoding: str) -> list[Line]:
    """Return the memory as lines of one sentence each, in at most `task.tokens` tokens."""
    lines = _decided(task, encoding)
    for more in (_left_open, _told):
        room = task.tokens - sum(count_tokens(f"{line.text}\n", encoding) for line in lines)
        if len(lines) < MOST_SENTENCES and room >= min(_FEWEST_TOKENS, task.tokens):
            lines += more(task, room, MOST_SENTENCES - len(lines), lines, encoding)
    return lines


def _decided(task: SummaryTask, encoding: str) -> list[Line]:
    passages = find_passages(task.entries)
    telling = [_weighed(passage, task) for passage in passages if passage.kind != "moved"]
    # Each sentence is a line, so it costs a newline more than in running text.
    sentences = fit_passages(
        telling,
        task.tokens - MOST_SENTENCES,
        heroes=find_heroes(passages),
        place=task.name if task.kind == "location" else "",
        most=MOST_SENTENCES,
        encoding=encoding,
    )
    return [Line(write_unlabelled(prompt_line(sentence.text)), sentence.sources) for sentence in sentences]


def _weighed(passage: ToldPassage, task: SummaryTask) -> ToldPassage:
    """Return a passage with less weight if the person whom the memory is about had no part in it."""
    if task.kind != "npc" or task.name in passage.who or task.name in f"{passage.did} {passage.how}":
        return passage
    return replace(passage, weight=passage.weight * _UNRELATED, must=False)


def _left_open(task: SummaryTask, room: int, most: int, known: Sequence[Line], encoding: str) -> list[Line]:
    """Return promises, threats, debts and riddles in the words of their speakers, the latest ones."""
    told = {source for line in known for source in line.sources}
    lines: list[Line] = []
    for entry in reversed(task.entries):
        cue = None if entry.event_id in told else cue_in(entry.text)
        if cue is None or len(lines) == most:
            continue
        line = Line(_said(entry, cue.text), (entry.event_id,) if entry.event_id else ())
        cost = count_tokens(f"{line.text}\n", encoding)
        if cost <= room:
            lines.insert(0, line)
            room -= cost
    return lines


def _said(entry: Entry, text: str) -> str:
    words = prompt_line(text).replace('"', "").strip()
    who = "" if entry.narrated else short_label(entry.who)
    return f"{who}: {as_sentence(words)}" if who else write_unlabelled(as_sentence(words))


def _told(task: SummaryTask, room: int, most: int, known: Sequence[Line], encoding: str) -> list[Line]:
    """Return the sentences that say most of what nothing was decided in."""
    told = {source for line in known for source in line.sources}
    pool = [
        candidate
        for candidate in find_candidates(task.entries, shortened=False, encoding=encoding)
        if not candidate.outcome and candidate.source not in told
    ]
    pool = _fresh(pool, task.entries) or pool
    salience = Salience.of(pool, names_in(task.entries))
    about = frozenset(content_stems(task.name) or content_stems(task.about.replace("_", " ")))
    # In "Gull Rock" only "Gull" identifies the place: rocks are everywhere.
    wish = CoverWish(about=about & salience.names or about, change=_CHANGE, retold=1.0, most=most)
    return lines_of(choose_candidates(pool, room, salience=salience, wish=wish, encoding=encoding))


def _fresh(pool: Iterable[Candidate], entries: Iterable[Entry]) -> list[Candidate]:
    """Return the candidates that are no stock phrases."""
    stock = StockPhrases(entries)
    return [candidate for candidate in pool if not stock.has(candidate.text)]
