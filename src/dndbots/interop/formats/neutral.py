"""Neutral models: every chat, lorebook and card is read into these, and written from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dndbots.interop.history.messages import ChatMessage


class NotUnderstood(NamedTuple):
    """A part of a file that cannot be imported: where it stands, and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.place else self.reason


@dataclass(frozen=True)
class LoreEntry:
    """An entry of a lorebook: a note about somebody or something.

    `only_for` and `not_for` are the characters that the book names. `category` is that of the entity (`NPC`,
    `LOC` …), if the book tells it. `fields` is the entry as its format has it, for a lossless way back.
    """

    title: str
    text: str
    keys: tuple[str, ...] = ()
    secondary_keys: tuple[str, ...] = ()
    always: bool = False
    enabled: bool = True
    order: int = 100
    only_for: tuple[str, ...] = ()
    not_for: tuple[str, ...] = ()
    category: str | None = None
    for_players: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LoreBook:
    """A lorebook. `fields` are those of the book itself.

    `source` is the card or the folder that it stands in: there, another book may have the same title.
    """

    title: str
    entries: tuple[LoreEntry, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    @property
    def key(self) -> str:
        """The text by which the book is known when it is imported again."""
        return f"{self.source}/{self.title}" if self.source else self.title


@dataclass(frozen=True)
class CharacterCard:
    """A character card. Its texts are a persona: they stand beside the memory, and nobody perceived them."""

    name: str
    nickname: str = ""
    description: str = ""
    personality: str = ""
    scenario: str = ""
    greeting: str = ""
    greetings: tuple[str, ...] = ()
    examples: str = ""
    instructions: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    book: LoreBook | None = None
    is_narrator: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportedChat:
    """A chat that a file holds. `messages` can be iterated again and again.

    `people` perceive it beside those who speak. `parent` is the chat that this one branched off.
    """

    name: str
    messages: Iterable[ChatMessage]
    people: Mapping[str, str | None] = field(default_factory=dict)
    parent: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadFile:
    """The content of a file: its family, and what was found in it. `problems` grows while chats are read."""

    family: str
    chats: tuple[ImportedChat, ...] = ()
    books: tuple[LoreBook, ...] = ()
    cards: tuple[CharacterCard, ...] = ()
    problems: list[NotUnderstood] = field(default_factory=list)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportOptions:
    """The choices of a person for an import.

    `dm` are the names of the DM. `persona` is the name of the character that the user of a chat plays.
    `speakers` gives names, and roles, to the speakers of a file. `known_to` are the people, or the `party`,
    who know imported lore. `session` puts all messages into one session.
    """

    dm: tuple[str, ...] = ()
    persona: str | None = None
    speakers: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    known_to: tuple[str, ...] = ()
    session: str | None = None
