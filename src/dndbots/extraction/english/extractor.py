"""The default extractor: reads each turn on its own, and proposes only facts that the turn states."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from dndbots.extraction.english.introductions import KIND, HowTold, find_introductions
from dndbots.extraction.english.marked_names import Lexicon, Marked, Mention, mark_names
from dndbots.extraction.english.name_kinds import find_cues
from dndbots.extraction.english.names.heard_names import likely_names
from dndbots.extraction.english.not_facts import (
    after_rumor,
    is_closed,
    is_fancied,
    is_sung,
    is_written,
    takes_back,
)
from dndbots.extraction.english.other_names import OtherName, find_other_names, write_out_names
from dndbots.extraction.english.passages import QUOTE, Passage, passages
from dndbots.extraction.english.plain_forms import rewrite_plainly
from dndbots.extraction.english.reader import SentenceContext, read_sentence
from dndbots.extraction.english.speakers import (
    antecedents,
    find_beat,
    find_own_name,
    find_speaker,
    is_by_another,
    is_only_tag,
    is_past,
    is_told,
    mark_first_person,
    mark_it,
    mark_pronouns,
    tell_now,
    things,
)
from dndbots.extraction.english.word_tables import OPENERS
from dndbots.extraction.port import ALIAS, FIELDS, LONGEST_VALUE, KnownNames, Turn, Update
from dndbots.text.english_words import FUNCTION_WORDS
from dndbots.text.words import stem, words_of

LONGEST_TURN: Final = 200_000
# "Is there an inn called the Blue Boar?" tells of none; "Have you seen Pip?" tells of Pip.
_ASKS_FOR: Final = re.compile(r"(?:is|are|was|were|isn't|aren't) there\b|(?:what|how) if\b", re.IGNORECASE)
# Words of the table that tell who is played.
_OWN_CHARACTER: Final = re.compile(r"\bmy character(?:['\u2019]s name)?(?=,? (?:is|[A-Z]))", re.IGNORECASE)
_MARKUP: Final = frozenset("@#[]{}<>|`*_\\=")


class _Sentence(NamedTuple):
    marked: Marked
    passage: Passage
    said_by: str | None  # the person quoted
    is_unattributed: bool  # a quotation whose speaker is unknown
    is_by_another: bool = False  # a quotation of somebody who is not the speaker of the turn
    is_written: bool = False  # words on a sign or in a letter
    is_own_name: bool = False  # a quotation of somebody who is known only by the name that it gives


class RuleExtractor:
    """Reads facts by rules. It keeps nothing between turns, and no text makes it raise."""

    waits = False
    turn_by_turn = True

    def extract(self, turns: Sequence[Turn], known: KnownNames) -> list[Update]:
        """Return the facts that the turns state."""
        known_names = Lexicon(known.names)
        names = {name: kind for name, kind in known.likely.items() if not known_names.category_of(name)}
        lexicon = Lexicon({**names, **known.names}) if names else known_names
        return [update for turn in turns for update in _updates_of(turn, lexicon, known_names, names)]

    def likely_names(self, texts: Sequence[str]) -> list[dict[str, str]]:
        """Return for each text its names that the texts up to it show to be of people or places."""
        return likely_names(texts)


def _updates_of(turn: Turn, lexicon: Lexicon, known: Lexicon, likely: Mapping[str, str]) -> list[Update]:
    """Return the facts of a turn. `lexicon` has the known and the likely names."""
    found: dict[Update, None] = {}
    text = rewrite_plainly(write_out_names(turn.text[:LONGEST_TURN]), narrated=turn.role == "dm")
    if is_sung(text):
        return []
    sentences = list(_sentences(text, lexicon, is_dm=turn.role == "dm"))
    narrated = turn.role == "dm" or is_told(
        one.passage.text for one in sentences if one.passage.quoted is None
    )
    past = narrated and is_past(one.passage.text for one in sentences if one.passage.quoted is None)
    known_by: dict[str, str] = {}  # the known names of people, by the other names that the turn gives them
    for before, heard, following in zip([None, *sentences], sentences, [*sentences[1:], None], strict=False):
        if following and takes_back(following.passage.text):
            continue
        others = _other_names(turn, heard, known)
        found.update(dict.fromkeys(_as_updates(others, turn, heard, lexicon)))
        known_by |= {name.other: name.name for name in others}
        told = tell_now(heard.marked) if past and heard.passage.quoted is None else heard.marked
        sentence = heard._replace(marked=told.renamed(known_by))
        found.update(dict.fromkeys(_likely_introductions(turn, sentence, likely)))
        found.update(dict.fromkeys(_introductions(turn, sentence, before, known, narrated=narrated)))
        speaker = sentence.said_by or (turn.speaker if turn.role != "dm" else None)
        marked = sentence.marked
        is_nobodys = sentence.is_unattributed and (turn.role != "dm" or sentence.is_written)
        if is_nobodys or sentence.passage.asks or is_closed(sentence.passage.text):
            continue
        if speaker:
            marked = mark_first_person(marked, speaker)
        context = SentenceContext(
            turn=turn,
            lexicon=lexicon,
            said_by=sentence.said_by,
            rumor=after_rumor(marked.text),
            unattributed=sentence.is_unattributed,
        )
        found.update(dict.fromkeys(read_sentence(marked, context)))
    words = _TurnWords(turn) if found else None
    supported = [update for update in found if words and words.support(update)]
    return _fullest(_without_bare_names(supported, likely))


def _without_bare_names(updates: list[Update], likely: Mapping[str, str]) -> list[Update]:
    """Return updates without those that only name a likely name of which another one states a fact.

    Names of several words stay: they also tell who is meant by one of the words, as Ilse Brandt by Brandt.
    """
    told = {_subject(update) for update in updates if update.field in ("role", "race") and not update.ended}
    return [
        update
        for update in updates
        if not (update.field == ALIAS and update.value == update.name and update.name in likely)
        or " " in update.name
        or _subject(update) not in told
    ]


def _subject(update: Update) -> tuple[str, str, str | None, str]:
    return update.kind, update.name, update.said_by, update.sure


def _fullest(updates: list[Update]) -> list[Update]:
    """Return updates without those that another one of the turn says in full: a priest is one of Oakhurst."""
    values: dict[tuple[str, str], list[str]] = {}
    for update in updates:
        values.setdefault((update.name, update.field), []).append(update.value)
    return [
        update
        for update in updates
        if update.field == ALIAS
        or not any(value.startswith(f"{update.value} ") for value in values[update.name, update.field])
    ]


def _other_names(turn: Turn, sentence: _Sentence, lexicon: Lexicon) -> list[OtherName]:
    if sentence.passage.asks or is_fancied(_OWN_CHARACTER.sub("", sentence.passage.text)):
        return []
    is_own = turn.role != "dm" and not sentence.is_by_another
    speaker = sentence.said_by or (turn.speaker if is_own else None)
    return list(find_other_names(sentence.marked, speaker, lexicon))


def _as_updates(
    names: Iterable[OtherName], turn: Turn, sentence: _Sentence, lexicon: Lexicon
) -> Iterator[Update]:
    for name, other in names:
        category = lexicon.category_of(name)
        is_played = category == "PC" or (turn.role == "pc" and name == turn.speaker)
        yield Update(
            kind="character" if is_played else "environment" if category == "LOC" else "npc",
            name=name,
            field=ALIAS,
            value=other,
            turn=turn.id,
            said_by=sentence.said_by,
            sure="rumor" if sentence.is_unattributed else "fact",
        )


def _introductions(
    turn: Turn, sentence: _Sentence, before: _Sentence | None, lexicon: Lexicon, *, narrated: bool
) -> Iterator[Update]:
    """Yield the new names of a sentence. The word of a stranger whom the DM quotes is only a rumor."""
    if sentence.passage.asks or is_fancied(sentence.passage.text):
        return
    told = HowTold(
        narrated=narrated,
        by_stranger=(sentence.is_unattributed or sentence.is_own_name)
        and (turn.role == "dm" or sentence.is_by_another),
        firm=not is_closed(sentence.passage.text),
    )
    found = find_introductions(sentence.marked, before.marked.text if before else "", lexicon, told)
    for name, kind, given, said in found:
        # What a stranger says of a person proves nothing, but an office is as good as a name.
        is_office = (
            sentence.is_unattributed and given == "role" and f"the {said}" in sentence.marked.text.lower()
        )
        field, value = (ALIAS, f"the {said}") if is_office else (given, said)
        if len(value) <= LONGEST_VALUE and not (sentence.is_unattributed and field not in (ALIAS, KIND)):
            yield Update(
                kind=kind,
                name=name,
                field=field,
                value=value,
                turn=turn.id,
                said_by=sentence.said_by,
                sure="rumor" if sentence.is_unattributed or after_rumor(sentence.marked.text) else "fact",
            )


def _likely_introductions(turn: Turn, sentence: _Sentence, likely: Mapping[str, str]) -> Iterator[Update]:
    """Yield the likely names of a sentence as introduced, if the sentence speaks of them as real."""
    if not likely or _ASKS_FOR.match(sentence.passage.text) or is_fancied(sentence.passage.text):
        return
    for mention in sentence.marked.mentions:
        if mention.name in likely:
            yield Update(
                kind="environment" if likely[mention.name] == "LOC" else "npc",
                name=mention.name,
                field=ALIAS,
                value=mention.name,
                turn=turn.id,
                said_by=sentence.said_by,
                sure="rumor" if sentence.is_unattributed else "fact",
            )


def _sentences(text: str, lexicon: Lexicon, *, is_dm: bool) -> Iterator[_Sentence]:
    """Yield the sentences of a turn with their names marked, and the person who says each."""
    split = list(passages(text))
    first = [mark_names(passage.text, lexicon) for passage in split]
    letters = _letters(first)
    speaker: str | None = None
    quoted_by: str | None = None
    by_another, written = False, False
    called: str | None = None  # the name that whoever is quoted gives
    placed: dict[int | None, list[Mention]] = {}
    # The people whom a pronoun may mean, separately for the narration and for each quotation.
    before: dict[int | None, list[Mention]] = {}
    for passage, plain in zip(split, first, strict=True):
        marked = mark_names(passage.text, lexicon, letters) if letters else plain
        marked = mark_it(marked, placed.get(passage.quoted, ()))
        placed[passage.quoted] = things(marked)
        marked = mark_pronouns(marked, before.get(passage.quoted, ()))
        before[passage.quoted] = antecedents(marked)
        if passage.quoted is None:
            called = called if passage.text.strip() == QUOTE else None
            if QUOTE in passage.text:
                written = is_written(passage.text)
                named = None if written else find_speaker(marked)
                by_another = by_another or is_by_another(plain)
                quoted_by = named or (speaker if passage.text.strip(" .") == QUOTE else None)
                speaker = named if is_only_tag(marked) or passage.text.startswith(QUOTE) else None
            elif passage.text.strip():
                beat = find_beat(marked)
                is_played = beat is not None and lexicon.category_of(beat.name) == "PC"
                speaker = beat.name if beat is not None and not is_played else None
            yield _Sentence(marked, passage, None, is_unattributed=False)
        else:
            # A player whose words nobody else says gives the own character's name.
            called = (find_own_name(marked) or called) if is_dm or by_another else None
            said_by = quoted_by or (None if written else called)
            yield _Sentence(
                marked,
                passage,
                said_by,
                is_unattributed=said_by is None,
                is_by_another=by_another and quoted_by is None,
                is_written=written,
                is_own_name=said_by is not None and quoted_by is None,
            )


def _letters(marked: list[Marked]) -> dict[str, str]:
    """Return the letters that the turn's own words give to unexplained names; none if they disagree."""
    cued: dict[str, set[str]] = {}
    for sentence in marked:
        for name, letter in find_cues(sentence):
            cued.setdefault(name, set()).add(letter)
    return {name: next(iter(letters)) for name, letters in cued.items() if len(letters) == 1}


class _TurnWords:
    """The words of a turn and of its speaker's name. Every proposal must be made of them."""

    def __init__(self, turn: Turn) -> None:
        self._words = set(words_of(turn.text))
        if turn.role != "dm":
            self._words.update(words_of(turn.speaker))
        self._stems = set(map(stem, self._words))

    def support(self, update: Update) -> bool:
        """Return whether the turn contains the name, and every word of the value that carries meaning."""
        named = set(words_of(update.name))
        value = {word for word in words_of(update.value) if word not in FUNCTION_WORDS}
        return (
            update.field in FIELDS[update.kind]
            and _is_clean((update.name, update.value, update.said_by or ""))
            and bool(named)
            and (update.field == "age" or not value <= OPENERS)
            and named <= self._words
            and all(word in self._words or stem(word) in self._stems for word in value)
        )


def _is_clean(texts: Iterable[str]) -> bool:
    return all(text.isprintable() and _MARKUP.isdisjoint(text) for text in texts)
