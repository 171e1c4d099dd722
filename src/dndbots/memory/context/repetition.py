"""Repetition in a context: find sentences that stand twice, and take them out of all blocks but one."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

from dndbots.memory.context.blocks import Block
from dndbots.memory.context.xray import ContextItem, item_of
from dndbots.text.clean import prompt_line
from dndbots.text.sentences import split_sentences
from dndbots.tokens import count_tokens

TOLD: Final = "told elsewhere in this context"
# The bullet and the date of a memory, the name before its words or before a line of talk, and whom it is for.
_LABEL: Final = re.compile(
    r"^(?:- )?(?P<date>\d{4}-\d\d-\d\d: )?(?:(?P<name>[^.:!?\"]{1,80}): )?(?:\(whispers to [^()]{1,200}\) )?"
)
_WORD: Final = re.compile(r"\w+")
# "Agreed." may be said twice.
_FEWEST_WORDS: Final = 3
# A few words may stand inside another sentence and mean something else there.
_FEWEST_WORDS_INSIDE: Final = 5
# Single sentences are looked for in so many of the newest texts beside a context; whole texts in all of them.
_NEWEST: Final = 400
_LONGEST: Final = 20_000


def sentence_key(sentence: str) -> str:
    """Return the words of a sentence, to find it again in other spelling; "" for a very short one."""
    words = _WORD.findall(sentence.casefold())
    return " ".join(words) if len(words) >= _FEWEST_WORDS else ""


def is_told(key: str, told: frozenset[str]) -> bool:
    """Return whether a sentence stands among others, by itself or as a part of a longer one."""
    return key in told or (key.count(" ") + 1 >= _FEWEST_WORDS_INSIDE and f" {key} " in _running(told))


def key_of_words(sentence: str) -> str:
    """Return the key of a sentence without a name or a deed before the words that it quotes."""
    found = _LABEL.match(sentence)
    return sentence_key(sentence[found.end() :] if found else sentence)


def find_fresh(sentences: Sequence[tuple[str, str]], told: frozenset[str]) -> list[tuple[str, str]]:
    """Return the sentences of a line, with their keys, that are not `told`.

    A word or two that are left of a longer line say nothing by themselves.
    """
    fresh = [(sentence, key) for sentence, key in sentences if not is_told(key, told)]
    return fresh if len(fresh) == len(sentences) or any(key for _, key in fresh) else []


@lru_cache(maxsize=1 << 6)
def _running(told: frozenset[str]) -> str:
    return f" {' | '.join(sorted(told))} "


def split_outside_quotes(text: str) -> list[str]:
    """Return the sentences of a line; those of one quotation stay together."""
    whole: list[str] = []
    for sentence in split_sentences(text):
        if whole and whole[-1].count('"') % 2:
            whole[-1] += f" {sentence}"
        else:
            whole.append(sentence)
    return whole


def sentences_in(items: Iterable[ContextItem]) -> frozenset[str]:
    """Return the sentences of some lines: without what stands before them, and with their names in them."""
    return frozenset(chain.from_iterable(keys_of_line(item.text) for item in items))


@lru_cache(maxsize=1 << 11)
def keys_of_line(text: str) -> frozenset[str]:
    """Return the sentences of a line as `is_told` finds them.

    A name before a sentence says what a sentence may say itself: "Mill: A cat sat there." and "At Mill, a cat
    sat there.", or `Zara: "We go home."` and `Zara said, "We go home."`.
    """
    found = _LABEL.match(text)
    name = " ".join(_WORD.findall((found["name"] or "").casefold())) if found else ""
    keys = [(sentence, key) for sentence, key in _sentences(text)[1] if key]
    told = {key for _, key in keys}
    if found and name:
        told |= {f"{name} said {key}" for sentence, key in keys if sentence.startswith('"')}
        told |= {f"at {name} {key}" for _, key in keys if found["date"]}
    return frozenset(told)


def drop_told(
    block: Block, told: frozenset[str], encoding: str, *, keep: Sequence[ContextItem] = ()
) -> Block:
    """Return a block of sentences without those that are `told` elsewhere; the items of `keep` stay whole."""
    kept: list[ContextItem] = []
    gone: list[ContextItem] = []
    whole = {id(item) for item in keep}
    for item in block.items:
        if id(item) in whole:
            kept.append(item)
            continue
        label, sentences = _sentences(item.text)
        fresh = [sentence for sentence, _ in find_fresh(sentences, told)]
        if len(fresh) == len(sentences):
            kept.append(item)
        elif fresh:
            text = label + " ".join(fresh)
            kept.append(
                item_of(text, count_tokens(f"{text}\n", encoding), item.section, item.reason, item.sources)
            )
        else:
            gone.append(item_of(item.text, item.tokens, item.section, f"{TOLD}: {item.reason}", item.sources))
    if all(item is before for item, before in zip(kept, block.items, strict=False)) and not gone:
        return block
    return keep_items(block, kept)._replace(dropped=(*block.dropped, *gone))


def find_newest(recent: Block) -> tuple[ContextItem, ...]:
    """Return the lines that stand word for word, without those before them that were chosen."""
    return tuple(item for item in recent.items if item.section == "recent")


def told_in_full(blocks: Iterable[Block]) -> frozenset[str]:
    """Return the events whose lines stand among the newest without being cut."""
    items = (item for block in blocks for item in find_newest(block) if not item.text.endswith("…"))
    return frozenset(source for item in items for source in item.sources)


def drop_told_events(threads: Block, recent: Block) -> Block:
    """Return a block without the items whose events stand among the newest lines anyway."""
    told = told_in_full([recent])
    kept = tuple(item for item in threads.items if not told.issuperset(item.sources))
    return threads if len(kept) == len(threads.items) else keep_items(threads, kept)


def keep_items(block: Block, items: Sequence[ContextItem]) -> Block:
    """Return a block with other items under the same heading."""
    if not items:
        return Block(dropped=block.dropped)
    first = block.text.partition("\n")[0]
    head = [first] if first.startswith("## ") else []
    return Block("\n".join([*head, *(item.text for item in items)]) + "\n", tuple(items), block.dropped)


@lru_cache(maxsize=1 << 11)
def _sentences(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the label of a line, and its sentences with their keys."""
    found = _LABEL.match(text)
    label = found.group() if found else ""
    sentences = split_outside_quotes(text[len(label) :])
    return label, tuple((sentence, sentence_key(sentence)) for sentence in sentences)


@dataclass(frozen=True, slots=True)
class ToldBeside:
    """The words of texts that the reader has in front of it anyway, such as the chat that a client sends.

    They only take lines away: nothing in them is told, and what the viewer did not perceive is in no context.
    """

    texts: frozenset[str] = frozenset()
    newest: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str]) -> "ToldBeside":
        """Take in texts, oldest first."""
        keys = [key for text in texts if (key := _words(text[:_LONGEST]))]
        return cls(frozenset(keys), frozenset(keys[-_NEWEST:]))

    def has(self, text: str) -> bool:
        """Return whether a text is one of these, as a whole."""
        return _words(text[:_LONGEST]) in self.texts

    def tells(self, line: str) -> bool:
        """Return whether all sentences of a line stand in the newest texts."""
        keys = [key for _, key in _sentences(line)[1]]
        return bool(self.newest) and all(is_told(key, self.newest) for key in keys)


NOTHING_BESIDE: Final = ToldBeside()


# Chats are sent again with every request.
@lru_cache(maxsize=1 << 14)
def _words(text: str) -> str:
    return " ".join(_WORD.findall(prompt_line(text).casefold()))
