"""Split a typed line into clauses: at joiners, at the ends of sentences, and where a deed runs on."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from dndbots.game.input.vocabulary.lexicon import (
    phrase_pattern,
    verb_lexicon,
    word_group,
    word_lists,
)
from dndbots.game.input.vocabulary.typed_words import ENDS, TypedWord

_JOINERS: Final = frozenset(("and", "then", "while", "before", "after", "but", "plus", "afterwards", "also"))
_LONGEST_OPENING: Final = 14  # words that are looked at to see whether a deed begins
_LEADS_ON: Final = frozenset(
    ("if", "that", "what", "when", "where", "who", "how", "why", "as", "before", "after", "until")
)
_LONGEST_SUBJECT: Final = 4
_RUN_ON: Final = frozenset(
    (
        ("let", "us"),
        ("i", "will"),
        ("we", "should"),
        ("we", "will"),
        ("i", "am"),
        ("i", "would"),
        ("i", "want"),
    )
)
_ONWARD: Final = frozenset(
    ("up", "down", "back", "over", "out", "in", "into", "to", "on", "onto", "through", "across", "along")
)
_IN_HAND: Final = re.compile(
    r"(?!hold|keep|carry|take|have|put)(?:\w+ ){1,2}in (?:(?:my|his|her|the|one|other) (?:\w+ )?)?hands?\b"
)
_GERUND_JOINERS: Final = frozenset(("while", "before", "after"))


def split_clauses(words: Sequence[TypedWord]) -> list[list[TypedWord]]:
    """Split words at joiners and ends of sentences behind which another deed or sentence begins."""
    parts: list[list[TypedWord]] = [[]]
    at = 0
    is_past = any(_is_past(word.text) for word in words[:_LONGEST_SUBJECT])
    while at < len(words):
        skip = _joiner(words, at, is_past=is_past) if parts[-1] else 0
        if parts[-1] and not skip and _runs_on(words, at):
            parts.append([])
        if skip:
            ended = words[at].is_mark and words[at].text in ENDS
            if ended:
                parts[-1].append(words[at])
            at += skip
            goes_on = _goes_on(words, at - skip, at)
            parts.append([words[at]._replace(text="go", end=words[at].start)] if goes_on else [])
            continue
        parts[-1].append(words[at])
        at += 1
    return [part for part in parts if any(not word.is_mark for word in part)] or [list(words)]


def _joiner(words: Sequence[TypedWord], at: int, *, is_past: bool = False) -> int:
    """Return how many words join what is before and behind this place; 0 if it goes on."""
    end = at
    kinds = set[str]()
    while end < len(words) and (
        words[end].text in _JOINERS or (words[end].is_mark and words[end].text in ",.;!?\u2026\u2014")
    ):
        kinds.add(words[end].text)
        end += 1
    if end == at or end == len(words):
        return 0
    behind = (word for word in islice(words, end, None) if not word.is_mark and not word.is_adverb)
    rest = [*islice(behind, _LONGEST_OPENING)]
    texts = [word.text for word in rest]
    is_apart = kinds == {","}
    if is_apart and _IN_HAND.match(" ".join(texts)) is not None:
        return 0
    if (
        "then" in kinds
        and at > 1
        and rest
        and rest[0].text in word_group("preposition") | word_group("heading")
    ):
        return end - at  # "a quick look, then onto the bridge"
    if "and" in kinds and _begins_question([word.text for word in rest[:2]]):
        return end - at
    if kinds & _GERUND_JOINERS:
        return end - at if rest and _begins_deed(rest, gerund=True) else 0
    joins = (
        (is_apart and _asks_behind_deed(words, at, texts))
        or _begins_deed(rest, gerund=False)
        or (is_past and rest and _is_past(rest[0].text))
        or kinds & ENDS
        or _goes_on(words, at, end)
    )
    return end - at if joins else 0


def _goes_on(words: Sequence[TypedWord], at: int, end: int) -> bool:
    """Check for the next part of a way, without a verb: "back to the square, then down the stairs"."""
    if "then" not in {word.text for word in words[at:end]} or words[end].text not in _ONWARD:
        return False
    first = [word.text for word in words[:at] if not word.is_mark and not word.is_adverb]
    moves = any(match.sense.verb in ("go", "flee") for match in verb_lexicon().match(_without_intent(first)))
    return moves or first[:1] == ["back"]


def _without_intent(texts: Sequence[str]) -> list[str]:
    intent = phrase_pattern("intent").match(" ".join(texts))
    return [*texts] if intent is None else " ".join(texts)[intent.end() :].split()


def _begins_question(rest: Sequence[str]) -> bool:
    """Check for a question of its own behind "and": "what do people say", not "what he says"."""
    return len(rest) > 1 and rest[0] in word_group("wh") and rest[1] in word_group("auxiliary")


def _asks_behind_deed(words: Sequence[TypedWord], at: int, rest: Sequence[str]) -> bool:
    """Check for a question behind a deed: "stick my ear against the wall, anything above us?"."""
    first = [word.text for word in words[:at] if not word.is_mark and not word.is_adverb]
    first = first[1:] if first[:1] in (["i"], ["we"]) else first
    no_deed = word_group("addressing") | word_group("stative")
    is_deed = len(first) > 2 and verb_lexicon().is_plain(first[0]) and first[0] not in no_deed
    return is_deed and words[-1].text == "?" and rest[0] in word_group("question_first") | word_group("wh")


def _runs_on(words: Sequence[TypedWord], at: int) -> bool:
    """Check that a deed begins here without a mark: "its getting dark | i will light a torch"."""
    texts = [word.text for word in words[at : at + 3]]
    if len(texts) < 3 or (texts[0], texts[1]) not in _RUN_ON:
        return False
    before = [word.text for word in words[:at]]
    start = next((n for n in range(at - 1, -1, -1) if words[n].is_mark), -1) + 1
    remark = before[start:]
    is_remark = (
        len(remark) > 2
        and remark[0] in word_group("remark_first")
        and remark[-1] not in _LEADS_ON | word_group("before_said")
    )
    is_deed = verb_lexicon().has(texts[2]) or texts[:2] == ["i", "am"]
    return is_remark and is_deed and not {*remark} & _LEADS_ON


def _begins_deed(rest: Sequence[TypedWord], *, gerund: bool) -> bool:
    """Check that a deed begins here: "I go", "let us go", "go", "if there is nothing, go"."""
    texts = [word.text for word in rest]
    lexicon = verb_lexicon()
    texts = skip_condition(texts)
    while len(texts) > 1 and texts[0] in word_lists().groups["opening"]:
        texts = texts[1:]
    if not texts:
        return False
    if gerund:
        return texts[0].endswith("ing") and lexicon.has(texts[0])
    intent = phrase_pattern("intent").match(" ".join(texts))
    if intent is not None and intent.group():
        rest_texts = " ".join(texts)[intent.end() :].split()
        return bool(rest_texts) and lexicon.has(rest_texts[0])
    return lexicon.has(texts[0]) and (lexicon.is_plain(texts[0]) or texts[0].endswith("s"))


def _is_past(text: str) -> bool:
    """Check for a verb in the past: a line that is told so goes on so, "Zara thanked her and left"."""
    lexicon = verb_lexicon()
    return lexicon.has(text) and not lexicon.is_plain(text) and not text.endswith(("s", "ing"))


def skip_condition(texts: list[str]) -> list[str]:
    """Skip a condition in front of a deed: "if there is nothing, go back"."""
    if len(texts) < 2 or texts[0] not in ("if", "unless", "once", "when"):
        return texts
    if texts[1] in word_group("auxiliary"):
        return texts  # "when do we start"
    lexicon = verb_lexicon()
    for number in range(3, len(texts)):
        if lexicon.is_plain(texts[number]) and texts[number - 1] not in ("to", "the", "a", "i", "can", "not"):
            return texts[number:]
    return texts
