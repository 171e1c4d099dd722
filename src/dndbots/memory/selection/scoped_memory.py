"""A memory of a place, a person or the world without a model: at most three sentences.

What was decided comes first, then what it left open, then what else was told. Phrases that come back at every
visit are used only if there is nothing else.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from dndbots.canon.cues import cue_in
from dndbots.memory.deeds import as_sentence, join_names
from dndbots.memory.entries import Entry, Line, SummaryTask
from dndbots.memory.selection.candidates import Candidate, find_candidates, hangs, lines_of
from dndbots.memory.selection.cover import CoverWish, choose_candidates
from dndbots.memory.selection.salience import Salience
from dndbots.memory.tellings.digest import fit_passages
from dndbots.memory.tellings.passages import ToldPassage, find_heroes, find_passages
from dndbots.memory.tellings.quotations import StockPhrases, said_aloud
from dndbots.text.clean import prompt_line
from dndbots.text.labels import short_label, write_unlabelled
from dndbots.text.names import names_in
from dndbots.text.sentences import split_sentences
from dndbots.text.words import content_stems
from dndbots.tokens import count_many, count_tokens

MOST_SENTENCES: Final = 3
# Changes count more than descriptions.
_CHANGE: Final = 4.0
# The part of its weight that something keeps in the memory of a person who had nothing to do with it.
_UNRELATED: Final = 0.3
_STEP: Final = 100.0
_FINDS: Final = ("learned", "found", "got", "cleared")
_NOTHING: Final = "nothing came of it."
_FEWEST_TOKENS: Final = 8


def write_scoped_memory(task: SummaryTask, encoding: str) -> list[Line]:
    """Return the memory as lines of one sentence each, in at most `task.tokens` tokens."""
    lines = _decided(task, encoding)
    for more in (_left_open, _told):
        room = task.tokens - sum(count_tokens(f"{line.text}\n", encoding) for line in lines)
        if len(lines) < MOST_SENTENCES and room >= min(_FEWEST_TOKENS, task.tokens):
            lines += more(task, room, MOST_SENTENCES - len(lines), lines, encoding)
    return lines


def tells_nothing(summary: str) -> bool:
    """Return whether a memory says only that somebody came by."""
    return summary.casefold().endswith(_NOTHING) and len(split_sentences(summary)) == 1


def _decided(task: SummaryTask, encoding: str) -> list[Line]:
    passages = find_passages(task.entries)
    asked = frozenset(
        passage.what for passage in passages if passage.kind == "offered" and task.name in passage.who
    )
    telling = [_weighed(passage, task, asked) for passage in passages if _is_told_in(passage, task)]
    if task.kind == "world":
        # The step of the story that the memory is made for comes last, and is told before all others.
        last = max((passage.end for passage in telling), default=0)
        telling = [
            replace(passage, weight=passage.weight + _STEP, must=True) if passage.end == last else passage
            for passage in telling
        ]
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


def _is_told_in(passage: ToldPassage, task: SummaryTask) -> bool:
    """Return whether a memory tells a passage: no walks, and no finds that its person had no part in."""
    return passage.kind != "moved" and (passage.kind not in _FINDS or _concerns(passage, task))


def _weighed(passage: ToldPassage, task: SummaryTask, asked: frozenset[str]) -> ToldPassage:
    """Return a passage with less weight if the person whom the memory is about had no part in it.

    `asked` are the quests that the person asked for.
    """
    if _concerns(passage, task) or passage.what in asked:
        return passage
    return replace(passage, weight=passage.weight * _UNRELATED, must=False)


def _concerns(passage: ToldPassage, task: SummaryTask) -> bool:
    if task.kind != "npc":
        return True
    return task.name in passage.who or task.name in f"{passage.did} {passage.how}"


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
    sentences = split_sentences(prompt_line(text).replace('"', "")) or [""]
    words = next(filter(cue_in, sentences), max(sentences, key=len))  # a memory line is one sentence
    who = "" if entry.narrated else short_label(entry.who)
    return _quoted(who, as_sentence(words)) if who else write_unlabelled(as_sentence(words))


def _quoted(who: str, words: str) -> str:
    return write_unlabelled(f'{who} said, "{words}"')


def _told(task: SummaryTask, room: int, most: int, known: Sequence[Line], encoding: str) -> list[Line]:
    """Return the sentences that say most of what nothing was decided in."""
    if task.kind == "world":
        # A step of the story is told already, or the DM's words on it tell it; the rest is scenery.
        return [] if known else _step(task, room, most, encoding) or _passed(task, room, encoding)
    told = {source for line in known for source in line.sources}
    asides = {entry.event_id for entry in task.entries if entry.aside}
    # What was decided is told already.
    entries = [replace(said_aloud(entry), outcomes=()) for entry in task.entries]
    pairs = zip(entries, task.entries, strict=True)
    aloud = {said.event_id for said, entry in pairs if said.text != entry.text}
    pool = [
        candidate
        for candidate in find_candidates(entries, shortened=False, encoding=encoding)
        if candidate.source not in told
    ]
    worth = [candidate for candidate in _fresh(pool, task.entries) if candidate.source not in asides]
    if not worth:
        # Words that come back at every visit add nothing to what was decided, and little to nothing.
        return [] if known else _passed(task, room, encoding)
    scenery = {entry.event_id for entry in task.entries if entry.scenery}
    worth = [candidate for candidate in worth if candidate.source not in scenery] or worth
    worth = [candidate for candidate in worth if not hangs(candidate)] or worth
    pool = _as_quotations(_by_or_about(worth, task) or worth, aloud, encoding)
    if known and all(candidate.tokens > room for candidate in pool):
        return []  # half a sentence adds little
    salience = Salience.of(pool, names_in(task.entries))
    about = frozenset(content_stems(task.name) or content_stems(task.about.replace("_", " ")))
    # In "Gull Rock" only "Gull" identifies the place: rocks are everywhere.
    wish = CoverWish(about=about & salience.names or about, change=_CHANGE, retold=1.0, most=most)
    return lines_of(choose_candidates(pool, room, salience=salience, wish=wish, encoding=encoding))


def _step(task: SummaryTask, room: int, most: int, encoding: str) -> list[Line]:
    """Return the last words of the DM as they were told: an act begins with them, or ends."""
    last = next((entry for entry in reversed(task.entries) if entry.narrated and entry.text), None)
    if last is None:
        return []
    alone = [replace(last, outcomes=(), aside=False)]
    said = find_candidates(alone, shortened=False, encoding=encoding)[:most]
    while said and sum(candidate.tokens for candidate in said) > room:
        said.pop()
    return lines_of(said)


def _by_or_about(pool: Iterable[Candidate], task: SummaryTask) -> list[Candidate]:
    """Return what the person of a memory says, and what is said of that person."""
    if task.kind != "npc" or not task.name:
        return []
    return [candidate for candidate in pool if candidate.who == task.name or task.name in candidate.text]


def _as_quotations(pool: Sequence[Candidate], aloud: Collection[str], encoding: str) -> list[Candidate]:
    """Return the candidates with those that were said aloud in quotation marks, behind the speaker's name."""
    written = [
        candidate._replace(
            text=_quoted(candidate.who, candidate.text.replace('"', "'")),
            who="",
            words=(*content_stems(candidate.who), *candidate.words),
        )
        if candidate.who and candidate.source in aloud
        else candidate
        for candidate in pool
    ]
    counts = count_many([f"{candidate.line}\n" for candidate in written], encoding)
    return [candidate._replace(tokens=tokens) for candidate, tokens in zip(written, counts, strict=True)]


def _passed(task: SummaryTask, room: int, encoding: str) -> list[Line]:
    """Return that somebody came by, for a visit of which there is nothing else to tell."""
    moves = [entry for entry in task.entries if any(deed.kind == "moved" for deed in entry.deeds)]
    who = dict.fromkeys(name for entry in moves for deed in entry.deeds for name in deed.who)
    sources = tuple(entry.event_id for entry in moves if entry.event_id)
    if not who:
        silent = [entry for entry in task.entries if not entry.narrated and entry.who]
        who = dict.fromkeys(short_label(entry.who) for entry in silent)
        sources = tuple(entry.event_id for entry in silent if entry.event_id)
    sources = sources or tuple(entry.event_id for entry in task.entries if entry.event_id)
    names = join_names(list(filter(None, map(prompt_line, who))) or [""])
    did = f"met {prompt_line(task.name)}" if task.kind == "npc" and task.name else "passed through"
    text = f"{names} {did}, and {_NOTHING}" if names.strip() else as_sentence(_NOTHING)
    text = write_unlabelled(text)
    return [Line(text, sources)] if task.entries and count_tokens(f"{text}\n", encoding) <= room else []


def _fresh(pool: Iterable[Candidate], entries: Iterable[Entry]) -> list[Candidate]:
    """Return the candidates that are no stock phrases."""
    stock = StockPhrases(entries)
    return [candidate for candidate in pool if not stock.has(candidate.text)]
